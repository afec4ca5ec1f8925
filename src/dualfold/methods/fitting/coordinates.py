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
from dualfold.methods.parameters import Constraints
from dualfold.trace.certificate import certify
from dualfold.trace.lift import CoordinateScale, EigenvalueScale, SelectedColumns
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Auto, Factored
from dualfold.trace.solvers.auto import krylov_space_for
from dualfold.trace.sparse.shifted_matrices import share_ordering

COORDINATE_CONSTRAINTS: Constraints = {
    "coordinates": [StrOptions({"first", "independent"}), "array-like"]
}
# Eigenvalues below this share of the largest have no digits that a second look would find again
# to 1e-7.
NEGLIGIBLE_EIGENVALUE_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class PieceAnswer:
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
        """Number of coordinates of the points."""
        return int(self.embedding.points.shape[1])


@dataclass(frozen=True, eq=False)
class AnswerSettings:
    """Settings by which a graph's problem is answered, and the answer becomes coordinates.

    solver, tolerance : of the problem and its certificate
    n_components : how many coordinates, or "auto"
    coordinates : "first", "independent", or the numbers of eigenvectors, as the user gave it
    scale : by what chosen coordinates are multiplied, of a graph and its problem; None where a
        method leaves no choice
    """

    solver: Any
    tolerance: float
    n_components: Any
    coordinates: Any = "first"
    scale: Callable[[Graph, TraceProblem], CoordinateScale] | None = None

    @property
    def takes_first(self) -> bool:
        """Whether the coordinates are the first eigenvectors."""
        return isinstance(self.coordinates, str) and self.coordinates == "first"

    def answer(
        self, graph: Graph, problem: Any, wanted: int | str, before: PieceAnswer | None
    ) -> PieceAnswer:
        """The answer to a problem, certified, with its coordinates chosen.

        wanted : how many coordinates, or "auto"
        before : the answer of a larger piece, which has decided what was left open
        """
        if self.takes_first:
            whole = embed(problem, solver=self.solver, tolerance=self.tolerance)
            embedding, reason = cut_at_eigengap(whole, wanted, self.tolerance)
            return PieceAnswer(embedding, reason, tuple(range(embedding.points.shape[1])))
        if isinstance(self.coordinates, str) and before is None:
            return _independent_answer(graph, problem, wanted, self)
        earlier = () if before is None else before.coordinates
        if wanted == "auto":
            problem = problem.with_count(len(self.numbers()))
        indices = self.numbers_for(problem, earlier)
        solution = self.solver.solve(problem_up_to(graph, problem, indices, self))
        embedding = _certified_embedding(graph, problem, indices, solution, self)
        return PieceAnswer(embedding, None, indices if before is None else earlier)

    def scale_of(self, graph: Graph, problem: TraceProblem) -> CoordinateScale:
        """The scale of chosen coordinates."""
        assert self.scale is not None  # such a method has no parameter `coordinates`
        return self.scale(graph, problem)

    def numbers(self) -> tuple[int, ...]:
        """The numbers that `coordinates` lists, checked."""
        listed = np.asarray(self.coordinates)
        whole = listed.ndim == 1 and listed.dtype.kind in "iu" and len(listed) > 0
        if not whole or listed.min() < 0 or not (np.diff(listed) > 0).all():
            raise InvalidInput(
                Argument("coordinates"),
                " is 'first', 'independent', or the numbers of eigenvectors, rising, the first "
                f"being 0; it is {self.coordinates!r}",
            )
        wanted = self.n_components
        if wanted != "auto" and len(listed) != wanted:
            raise InvalidInput(
                Argument("coordinates"),
                f" names {len(listed)} eigenvectors, and ",
                Argument("n_components", wanted),
            )
        return tuple(int(k) for k in listed)

    def numbers_for(self, problem: TraceProblem, earlier: tuple[int, ...]) -> tuple[int, ...]:
        """The numbers listed, or `earlier` ones; of fewer eigenvectors the first."""
        numbers = earlier if isinstance(self.coordinates, str) else self.numbers()
        room = problem.n - problem.excluded_basis.shape[1]
        if max(numbers) < room and len(numbers) == problem.count:
            return numbers
        return tuple(range(min(problem.count, room)))


def _independent_answer(
    graph: Graph, problem: TraceProblem, wanted: int | str, settings: AnswerSettings
) -> PieceAnswer:
    """As many eigenvectors as it takes until enough of them are independent."""
    space = krylov_space_for(problem, settings.solver)
    if space is not None:
        looked = _choice_among(graph, problem, wanted, space.first, settings)
        if looked is not None:
            embedding = _certified_whole(graph, problem, looked.indices, looked.solution, settings)
            # A single vector misses the copy of a repeated eigenvalue: then once more.
            if embedding.certificate.level not in ("failed", "within"):
                return PieceAnswer(embedding, looked.reason, looked.indices)
    first = _Continued(problem, settings.solver).first
    looked = _choice_among(graph, problem, wanted, first, settings)
    assert looked is not None
    embedding = _certified_embedding(graph, problem, looked.indices, looked.solution, settings)
    return PieceAnswer(embedding, looked.reason, looked.indices)


def _choice_among(
    graph: Graph,
    problem: TraceProblem,
    wanted: int | str,
    first: Callable[[int], Solution | None],
    settings: AnswerSettings,
) -> _Choice | None:
    """The choice among the `first` eigenvectors, of more and more; None where they end."""
    count, reason = problem.count, None
    scale = settings.scale_of(graph, problem)
    for most in direction_counts(problem.n - problem.excluded_basis.shape[1], count) or [count]:
        answer = first(most)
        if answer is None:
            return None
        solution: Solution = answer
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
    settings: AnswerSettings,
) -> Embedding:
    """The chosen points, with a certificate about all of the eigenvectors.

    Where only the eigenvectors up to the last one chosen can be proved, it is about these:
    a flat sheet has some whose values are rounding, beside which others have no digits.
    """
    whole = _certified_whole(graph, problem, indices, solution, settings)
    if whole.certificate.level not in ("failed", "within"):
        return whole
    stated = problem_up_to(graph, problem, indices, settings)
    solution = settings.solver.solve(stated)
    certificate = certificate_of_solution(stated, solution, tolerance=settings.tolerance)
    return _embedding_of(stated, solution, certificate, indices)


def _certified_whole(
    graph: Graph,
    problem: TraceProblem,
    indices: tuple[int, ...],
    solution: Solution,
    settings: AnswerSettings,
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
    settings: AnswerSettings,
    count: int | None = None,
) -> TraceProblem:
    """The problem of the first `count` eigenvectors (None: up to the last coordinate)."""
    count = max(indices) + 1 if count is None else count
    words = f"the first {count} eigenvectors, of which the map shows number "
    return replace(
        problem,
        count=count,
        lift=SelectedColumns(indices, settings.scale_of(graph, problem)),
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
    graph: Graph, solution: Solution, count: int, scale: CoordinateScale
) -> ColumnChoice:
    """The first eigenvectors where rows or eigenvectors are too few to choose."""
    V, values = solution.vectors, solution.values
    if V.shape[1] <= count:
        return ColumnChoice(tuple(range(count)), True)
    choice = independent_columns(graph, V, values, count, scale)
    return choice if overtones(V[:, :count]) else replace(choice, settled=True)


def warn_of_overtones(embedding: Embedding, settings: AnswerSettings) -> None:
    """`Overtone` where a coordinate is a function of those before it."""
    problem, solution = embedding.problem, embedding.solution
    V: Array = problem.lift.selected_columns(solution.vectors, solution.values)[0]
    functions = overtones(V)
    if functions and settings.takes_first:
        _warn_of_overtone(*functions[0])
    elif functions and problem.count > V.shape[1] and isinstance(settings.coordinates, str):
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
