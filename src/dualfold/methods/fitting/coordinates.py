"""Which eigenvectors are the coordinates: the first, independent ones, or those listed.

The certificate is about all eigenvectors that were looked at; the points are those chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding, certificate_of_solution, embed
from dualfold.errors import Argument, InPython, InvalidInput, Overtone, warn
from dualfold.graph import Graph
from dualfold.kernels.reports import time_stage
from dualfold.kernels.threads import lapack_threads
from dualfold.methods.fitting.dimension import MAX_AUTO_COMPONENTS, cut_at_eigengap, widest_gap
from dualfold.methods.fitting.overtones import (
    ColumnChoice,
    direction_counts,
    in_words,
    independent_columns,
    overtones,
)
from dualfold.trace.certificate import certify
from dualfold.trace.lift import EigenvalueScale, Scale, SelectedColumns
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Auto, Factored
from dualfold.trace.solvers.auto import krylov_space_for
from dualfold.trace.sparse.shifted_matrices import share_ordering

COORDINATE_CONSTRAINTS: dict[str, Any] = {
    "coordinates": [StrOptions({"first", "independent"}), "array-like"]
}
# Eigenvalues below this share of the largest have no digits that a second look would find again
# to 1e-7.
NEGLIGIBLE_EIGENVALUE_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class Answer:
    """The embedding of one piece, with what was decided on the way.

    embedding : the points, certified
    reason : why so many coordinates, in words, where that was left open
    coordinates : the numbers, from 0, of the eigenvectors that are the coordinates
    details : what else a method keeps of its answer
    """

    embedding: Embedding
    reason: str | None = None
    coordinates: tuple[int, ...] = ()
    details: Any = None

    @property
    def width(self) -> int:
        """How many coordinates the points have."""
        return int(self.embedding.points.shape[1])


@dataclass(frozen=True, eq=False)
class CoordinateSettings:
    """How an answer becomes coordinates.

    coordinates : "first", "independent", or the numbers of eigenvectors, as the user gave it
    n_components : how many, or "auto"
    solver, tolerance : of the problem and its certificate
    scale : by what chosen coordinates are multiplied, of a graph and its problem
    """

    coordinates: Any
    n_components: Any
    solver: Any
    tolerance: float
    scale: Callable[[Graph, TraceProblem], Scale]

    @property
    def takes_first(self) -> bool:
        """Whether the coordinates are the first eigenvectors."""
        return isinstance(self.coordinates, str) and self.coordinates == "first"

    def numbers(self) -> tuple[int, ...]:
        """The numbers that `coordinates` lists, checked."""
        found = np.asarray(self.coordinates)
        whole = found.ndim == 1 and found.dtype.kind in "iu" and len(found) > 0
        if not whole or found.min() < 0 or not (np.diff(found) > 0).all():
            raise InvalidInput(
                Argument("coordinates"),
                " is 'first', 'independent', or the numbers of eigenvectors, rising, the first "
                f"being 0; it is {self.coordinates!r}",
            )
        wanted = self.n_components
        if wanted != "auto" and len(found) != wanted:
            raise InvalidInput(
                Argument("coordinates"),
                f" names {len(found)} eigenvectors, and ",
                Argument("n_components", wanted),
            )
        return tuple(int(k) for k in found)

    def numbers_for(self, problem: TraceProblem, earlier: tuple[int, ...]) -> tuple[int, ...]:
        """The numbers listed, or `earlier` ones; of fewer eigenvectors the first."""
        found = earlier if isinstance(self.coordinates, str) else self.numbers()
        room = problem.n - problem.excluded_basis.shape[1]
        if max(found) < room and len(found) == problem.count:
            return found
        return tuple(range(min(problem.count, room)))


def answer_with_coordinates(
    graph: Graph,
    problem: TraceProblem,
    wanted: Any,
    earlier: tuple[int, ...] | None,
    settings: CoordinateSettings,
) -> Answer:
    """The answer to the problem, with its coordinates chosen.

    wanted : how many coordinates, or "auto"
    earlier : the numbers that were chosen for a larger piece; None where there is none
    """
    if settings.takes_first:
        found = embed(problem, solver=settings.solver, tolerance=settings.tolerance)
        embedding, reason = cut_at_eigengap(found, wanted, settings.tolerance)
        return Answer(embedding, reason, tuple(range(embedding.points.shape[1])))
    if isinstance(settings.coordinates, str) and earlier is None:
        return _independent_answer(graph, problem, wanted, settings)
    if wanted == "auto":
        problem = problem.with_count(len(settings.numbers()))
    indices = settings.numbers_for(problem, earlier or ())
    solution = settings.solver.solve(problem_up_to(graph, problem, indices, settings))
    embedding = _certified_embedding(graph, problem, indices, solution, settings)
    return Answer(embedding, None, indices if earlier is None else earlier)


def _independent_answer(
    graph: Graph, problem: TraceProblem, wanted: Any, settings: CoordinateSettings
) -> Answer:
    """As many eigenvectors as it takes until enough of them are independent."""
    space = krylov_space_for(problem, settings.solver)
    if space is not None:
        looked = _choice_among(graph, problem, wanted, space.first, settings)
        if looked is not None:
            found = _certified_whole(graph, problem, looked.indices, looked.solution, settings)
            # A single vector misses the copy of a repeated eigenvalue: then once more.
            if found.certificate.level not in ("failed", "within"):
                return Answer(found, looked.reason, looked.indices)
    first = _Continued(problem, settings.solver).first
    looked = _choice_among(graph, problem, wanted, first, settings)
    assert looked is not None
    embedding = _certified_embedding(graph, problem, looked.indices, looked.solution, settings)
    return Answer(embedding, looked.reason, looked.indices)


def _choice_among(
    graph: Graph,
    problem: TraceProblem,
    wanted: Any,
    first: Callable[[int], Solution | None],
    settings: CoordinateSettings,
) -> _Choice | None:
    """The choice among the `first` eigenvectors, of more and more; None where they end."""
    count, reason = problem.count, None
    scale = settings.scale(graph, problem)
    for most in direction_counts(problem.n - problem.excluded_basis.shape[1], count) or [count]:
        found = first(most)
        if found is None:
            return None
        solution: Solution = found
        if wanted == "auto" and reason is None:
            cut = widest_gap(solution.values[:MAX_AUTO_COMPONENTS])
            count, reason = cut.count, cut.reason
        choice = _independent_columns(graph, solution, count, scale)
        if choice.settled:
            break
    return _Choice(choice.indices, solution, reason)


def _certified_embedding(
    graph: Graph,
    problem: TraceProblem,
    indices: tuple[int, ...],
    solution: Solution,
    settings: CoordinateSettings,
) -> Embedding:
    """The certificate is about all of the eigenvectors, the points are those chosen.

    Where only the eigenvectors up to the last one chosen can be proved, it is about these:
    a flat sheet has some whose values are rounding, beside which others have no digits.
    """
    found = _certified_whole(graph, problem, indices, solution, settings)
    if found.certificate.level not in ("failed", "within"):
        return found
    stated = problem_up_to(graph, problem, indices, settings)
    solution = settings.solver.solve(stated)
    certificate = certificate_of_solution(stated, solution, tolerance=settings.tolerance)
    return _embedding_of(stated, solution, certificate, indices)


def _certified_whole(
    graph: Graph,
    problem: TraceProblem,
    indices: tuple[int, ...],
    solution: Solution,
    settings: CoordinateSettings,
) -> Embedding:
    """All of the eigenvectors judged."""
    whole = np.hstack([solution.vectors, solution.guard])
    stated = problem_up_to(graph, problem, indices, settings, len(solution.values))
    share_ordering(problem, stated)
    with time_stage("certify"), lapack_threads(stated.n):
        certificate = certify(stated, whole, solution.values, tolerance=settings.tolerance)
    return _embedding_of(stated, solution, certificate, indices)


def problem_up_to(
    graph: Graph,
    problem: TraceProblem,
    indices: tuple[int, ...],
    settings: CoordinateSettings,
    count: int | None = None,
) -> TraceProblem:
    """The problem of the first `count` eigenvectors (None: up to the last coordinate)."""
    count = max(indices) + 1 if count is None else count
    words = f"the first {count} eigenvectors, of which the map shows number "
    return replace(
        problem,
        count=count,
        lift=SelectedColumns(indices, settings.scale(graph, problem)),
        about="; ".join(filter(None, [problem.about, words + in_words(indices)])),
    )


def eigenvalue_scale(graph: Graph, problem: TraceProblem) -> EigenvalueScale:
    """The scale by the eigenvalues of a Laplacian."""
    masses = problem.metric.diagonal
    largest = float((problem.A.diagonal() / masses).max())
    return EigenvalueScale(NEGLIGIBLE_EIGENVALUE_SHARE * largest)


@dataclass(frozen=True, eq=False)
class _Choice:
    """Which eigenvectors were chosen, among which, and why so many."""

    indices: tuple[int, ...]
    solution: Solution
    reason: str | None


@dataclass(eq=False)
class _Continued:
    """A solver that is asked for more and more, and goes on from what it has, if it can."""

    problem: TraceProblem
    solver: Any
    before: Solution | None = None

    def first(self, count: int) -> Solution:
        asked = self.problem.with_count(count)
        share_ordering(self.problem, asked)
        solver = self.solver
        if self.before is not None and isinstance(solver, Auto | Factored):
            solver = replace(solver, start=np.hstack([self.before.vectors, self.before.guard]))
        self.before = solver.solve(asked)
        share_ordering(asked, self.problem)
        return self.before


def _embedding_of(
    stated: TraceProblem, solution: Solution, certificate: Any, indices: tuple[int, ...]
) -> Embedding:
    points = stated.lift(solution.vectors, solution.values)
    return Embedding(points, solution.values[list(indices)], certificate, stated, solution)


def _independent_columns(
    graph: Graph, solution: Solution, count: int, scale: Scale
) -> ColumnChoice:
    """The first eigenvectors where rows or eigenvectors are too few to choose."""
    V, values = solution.vectors, solution.values
    if V.shape[1] <= count:
        return ColumnChoice(tuple(range(count)), True)
    found = independent_columns(graph, V, values, count, scale)
    return found if overtones(V[:, :count]) else replace(found, settled=True)


def warn_of_overtones(embedding: Embedding, settings: CoordinateSettings) -> None:
    """`Overtone` where a coordinate is a function of those before it."""
    problem, solution = embedding.problem, embedding.solution
    V: Array = problem.lift.selected_columns(solution.vectors, solution.values)[0]
    found = overtones(V)
    if found and settings.takes_first:
        _warn_of_overtone(*found[0])
    elif found and problem.count > V.shape[1] and isinstance(settings.coordinates, str):
        _warn_of_a_curve(problem.count)


def _warn_of_overtone(number: int, share: float) -> None:
    """Column `number` is a function of those before it but for `share` of its deviation."""
    before = "coordinate 1" if number == 1 else f"coordinates 1 to {number}"
    warn(
        Overtone(
            f"coordinate {number + 1} is an overtone: it is a function of {before} but for "
            f"{share**2:.2g} of its variance, and shows no direction of its own; ",
            Argument("coordinates", "independent"),
            " looks for one among further eigenvectors",
        )
    )


def _warn_of_a_curve(most: int) -> None:
    warn(
        Overtone(
            f"among the first {most} eigenvectors are not as many independent ones as coordinates "
            "were asked for; the data may be a curve, or lie in clusters: fewer ",
            Argument("n_components"),
            " say as much",
        )
    )


def refuse_unknown_coordinates() -> None:
    """A problem with independent coordinates is not known before it is solved."""
    raise InvalidInput(
        Argument("coordinates", "independent"),
        " is a choice that fitting makes, so the problem is not known before; state the "
        "numbers that were chosen",
        InPython(": coordinates=fitted.coordinates_"),
    )
