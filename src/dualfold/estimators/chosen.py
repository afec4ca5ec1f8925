"""Estimators whose coordinates may be others than the first eigenvectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding, judged
from dualfold.errors import Argument, InPython, InvalidInput, Overtone, warn
from dualfold.estimators.coordinates import (
    Choice,
    chosen,
    in_words,
    ladder,
    overtones,
)
from dualfold.estimators.dimension import LOOKED_AT, widest_gap
from dualfold.estimators.some_rows import SomeRows
from dualfold.estimators.stated import Stated
from dualfold.graph import Graph
from dualfold.kernels.reports import time_stage
from dualfold.kernels.threads import lapack_threads
from dualfold.trace.certificate import certify
from dualfold.trace.lift import EigenvalueScale, Scale, SelectedColumns
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Auto, Factored
from dualfold.trace.solvers.auto import krylov_space_for
from dualfold.trace.sparse.shifted_matrices import share_ordering

COORDINATE_RULES: dict[str, Any] = {
    "coordinates": [StrOptions({"first", "independent"}), "array-like"]
}
# Eigenvalues below this share of the largest have no digits that a second look would find again
# to 1e-7.
NO_DIGITS = 1e-9


class ChoosesCoordinates(SomeRows):
    """One with `coordinates`: the "first" eigenvectors, "independent" ones, or their numbers."""

    coordinates: Any = "first"
    coordinates_: tuple[int, ...]

    def _scale(self, graph: Graph, problem: TraceProblem) -> Scale:
        """How coordinates that were chosen are scaled by their eigenvalues."""
        raise NotImplementedError

    @property
    def _takes_first(self) -> bool:
        return isinstance(self.coordinates, str) and self.coordinates == "first"

    def _answered(
        self, graph: Graph, problem: TraceProblem, solver: Any, wanted: Any, settled: bool
    ) -> tuple[Embedding, str | None]:
        if self._takes_first:
            embedding, reason = super()._answered(graph, problem, solver, wanted, settled)
            self.coordinates_ = tuple(range(embedding.points.shape[1]))
            return embedding, reason
        if isinstance(self.coordinates, str) and not settled:
            return self._independent(graph, problem, solver, wanted)
        if wanted == "auto":
            problem = replace(problem, count=len(self._given()))
        indices = self._known(problem)
        if not settled:
            self.coordinates_ = indices
        solution = solver.solve(self._showing(graph, problem, indices))
        return self._shown(graph, problem, indices, solution), None

    def _independent(
        self, graph: Graph, problem: TraceProblem, solver: Any, wanted: Any
    ) -> tuple[Embedding, str | None]:
        """As many eigenvectors as it takes until enough of them are independent."""
        space = krylov_space_for(problem, solver)
        if space is not None:
            looked = self._looked(graph, problem, wanted, space.first)
            if looked is not None:
                found = self._judged_whole(graph, problem, looked.indices, looked.solution)
                # A single vector misses the twin of a repeated eigenvalue: then once more.
                if found.certificate.level not in ("failed", "within"):
                    self.coordinates_ = looked.indices
                    return found, looked.reason
        looked = self._looked(graph, problem, wanted, _Continued(problem, solver).first)
        assert looked is not None
        self.coordinates_ = looked.indices
        return self._shown(graph, problem, looked.indices, looked.solution), looked.reason

    def _looked(
        self,
        graph: Graph,
        problem: TraceProblem,
        wanted: Any,
        first: Callable[[int], Solution | None],
    ) -> _Looked | None:
        """The choice among the `first` eigenvectors, of more and more; None where they end."""
        count, reason = problem.count, None
        scale = self._scale(graph, problem)
        for most in ladder(problem.n - problem.trivial.shape[1], count) or [count]:
            found = first(most)
            if found is None:
                return None
            solution: Solution = found
            if wanted == "auto" and reason is None:
                cut = widest_gap(solution.values[:LOOKED_AT])
                count, reason = cut.count, cut.reason
            choice = _choice(graph, solution, count, scale)
            if choice.settled:
                break
        return _Looked(choice.indices, solution, reason)

    def _keep_answers(self, parts: list[tuple[Array, Embedding | None]]) -> None:
        """Overtones among the coordinates of the largest piece are told, once."""
        first = parts[0][1]
        if first is None:
            return
        problem, solution = first.problem, first.solution
        V = problem.lift.selected_columns(solution.vectors, solution.values)[0]
        found = overtones(V)
        if found and self._takes_first:
            _warn_of_overtone(*found[0])
        elif found and problem.count > V.shape[1] and isinstance(self.coordinates, str):
            _warn_of_a_curve(problem.count)

    def _shown(
        self, graph: Graph, problem: TraceProblem, indices: tuple[int, ...], solution: Solution
    ) -> Embedding:
        """The certificate is about all of the eigenvectors, the points are those chosen.

        Where only the eigenvectors up to the last one chosen can be proved, it is about these:
        a flat sheet has some whose values are rounding, beside which others have no digits.
        """
        found = self._judged_whole(graph, problem, indices, solution)
        if found.certificate.level not in ("failed", "within"):
            return found
        stated = self._showing(graph, problem, indices)
        solution = self._solver().solve(stated)
        certificate = judged(stated, solution, tolerance=self.tolerance)
        return _lifted(stated, solution, certificate, indices)

    def _judged_whole(
        self, graph: Graph, problem: TraceProblem, indices: tuple[int, ...], solution: Solution
    ) -> Embedding:
        """All of the eigenvectors judged."""
        whole = np.hstack([solution.vectors, solution.guard])
        stated = self._showing(graph, problem, indices, len(solution.values))
        share_ordering(problem, stated)
        with time_stage("certify"), lapack_threads(stated.n):
            certificate = certify(stated, whole, solution.values, tolerance=self.tolerance)
        return _lifted(stated, solution, certificate, indices)

    def _showing(
        self,
        graph: Graph,
        problem: TraceProblem,
        indices: tuple[int, ...],
        count: int | None = None,
    ) -> TraceProblem:
        """The problem of the first `count` eigenvectors (None: up to the last that is shown)."""
        count = max(indices) + 1 if count is None else count
        words = (
            f"the first {count} eigenvectors, of which the coordinates are number "
            f"{in_words(indices)}"
        )
        return replace(
            problem,
            count=count,
            lift=SelectedColumns(indices, self._scale(graph, problem)),
            about="; ".join(filter(None, [problem.about, words])),
        )

    def _known(self, problem: TraceProblem) -> tuple[int, ...]:
        """The numbers as given, or those of the largest piece; a piece too small has its first."""
        found = self.coordinates_ if isinstance(self.coordinates, str) else self._given()
        room = problem.n - problem.trivial.shape[1]
        if max(found) < room and len(found) == problem.count:
            return found
        return tuple(range(min(problem.count, room)))

    def _given(self) -> tuple[int, ...]:
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

    def _stated_piece(self, graph: Graph, count: int) -> Stated:
        stated = super()._stated_piece(graph, count)
        if self._takes_first:
            return stated
        if isinstance(self.coordinates, str):
            raise InvalidInput(
                Argument("coordinates", "independent"),
                " is a choice that fitting makes, so the problem is not known before; state the "
                "numbers that were chosen",
                InPython(": coordinates=fitted.coordinates_"),
            )
        problem = stated.problem
        return replace(stated, problem=self._showing(graph, problem, self._known(problem)))

    def found_parameters(self) -> dict[str, Any]:
        """Parameters that state the fitted problem again where they were left open."""
        found = super().found_parameters()
        return found if self._takes_first else found | {"coordinates": list(self.coordinates_)}


def evened(problem: TraceProblem) -> EigenvalueScale:
    """The scale by the eigenvalues of a Laplacian."""
    masses = np.asarray(problem.metric.sparse().diagonal(), dtype=float)
    return EigenvalueScale(NO_DIGITS * float((problem.A.diagonal() / masses).max()))


@dataclass(frozen=True, eq=False)
class _Looked:
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
        asked = replace(self.problem, count=count)
        share_ordering(self.problem, asked)
        solver = self.solver
        if self.before is not None and isinstance(solver, Auto | Factored):
            solver = replace(solver, start=np.hstack([self.before.vectors, self.before.guard]))
        self.before = solver.solve(asked)
        share_ordering(asked, self.problem)
        return self.before


def _lifted(
    stated: TraceProblem, solution: Solution, certificate: Any, indices: tuple[int, ...]
) -> Embedding:
    points = stated.lift(solution.vectors, solution.values)
    return Embedding(points, solution.values[list(indices)], certificate, stated, solution)


def _choice(graph: Graph, solution: Solution, count: int, scale: Scale) -> Choice:
    """The first eigenvectors where rows or eigenvectors are too few to choose."""
    V, values = solution.vectors, solution.values
    if V.shape[1] <= count:
        return Choice(tuple(range(count)), True)
    found = chosen(graph, V, values, count, scale)
    return found if overtones(V[:, :count]) else replace(found, settled=True)


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
