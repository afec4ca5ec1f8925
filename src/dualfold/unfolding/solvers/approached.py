"""Equal lengths of many edges: weights by an interior point in doubles, then points alone.

Doubles bring the weights to a gap of 1e-6, but the lengths only to 1e-6 of d² (`elastic_path`). The
weights bound every K whatever lengths it has, so they stay. Points come from a second interior
point, among the K that keep cliques rigid (`rigid`, `face_path`): it gets lengths to 1e-7 and
better, and a few columns of its K are moved onto the lengths asked (`exact_lengths`).
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution, relative
from dualfold.unfolding.solvers.central_path import CentralPath
from dualfold.unfolding.solvers.elastic_path import elastic_first, elastic_steps
from dualfold.unfolding.solvers.exact_lengths import Placed, placed, towards_lengths
from dualfold.unfolding.solvers.face_path import FacePoint, face_of, face_steps, first_point
from dualfold.unfolding.solvers.precise_face import PreciseFace
from dualfold.unfolding.solvers.progress import STOPPED_BY_CALLBACK
from dualfold.unfolding.solvers.rigid import dependencies

# The compliance of the springs, as in `precise`: the optimum for lengths off by tw is then above
# that for the lengths asked by 3e-4 on a roll of 500 points, 1.5e-3 on one of 300 with short cuts.
SOFTNESS = 1e-13
# The gap at which the weights are good enough, of the `tol` asked; below LATE three steps in a
# row that leave more than SLOW of the gap are rounding (a roll of 1,000 points stays at 5e-4).
SPARE, LATE, SLOW, PATIENCE = 0.1, 1e-3, 0.9, 3
# Beyond COSTLY edges weights of this gap are good enough: late steps take twice as long (rounding
# breaks the first factorisations) and on a roll of 1,000 points change the bound by 3e-5 only.
COSTLY, ENOUGH = 2_000, 4e-4
# The most steps onto the lengths, and where they do not get there, the gap at which the second path
# goes on in double-doubles, up to so many lengths (2,150 take 24 s a step).
MOVES, HELD, MOST_REFINED = 60, 1e-4, 2_500
# The gap to which K is found among those that keep cliques rigid, and the steps at most: below
# it K has no more columns than the answer, and rounding keeps lengths at 1e-7 whatever is done.
CLOSED, STEPS = 1e-7, 60
# Columns beside those that the edges need to have freedom (m/n), and the share of the largest
# above which a column of K is always taken. 8 and 12 did the same on rolls of 300 and 500 points.
MORE_COLUMNS, LARGE_SHARE = 4, 1e-4


def approached(
    problem: UnfoldingProblem,
    *,
    wanted: float,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with lengths within `wanted` of d², and weights of any sign that bound them.

    The mean d² is to be about 1. `tol` is the gap asked of the weights, `max_iter` the most
    steps; `callback` gets a `Record` after each, and True stops.
    """
    found = _Approach(problem, wanted, max_iter, callback)
    start = found.approach() if found.weigh(tol) else None
    if start is not None:
        with one_blas_thread():  # columns are thin
            if found.place(*start):
                found.refine()
    return found.solution()


class _Approach:
    """The best weights and points so far, and the history."""

    def __init__(
        self, problem: UnfoldingProblem, wanted: float, max_iter: int, callback: Callback | None
    ) -> None:
        self.problem, self.wanted, self.callback = problem, wanted, callback
        self.max_iter = max_iter
        self.path = CentralPath(problem, 0.0)
        self.begin = perf_counter()
        self.history: list[Record] = []
        self.story = ["weights by an interior point in doubles, then points onto the lengths"]
        self.inside = elastic_first(self.path)
        self.here: Placed | None = None
        self.held: PreciseFace | None = None

    def weigh(self, tol: float) -> bool:
        """Weights to a gap of `tol`, or as far as rounding lets them; whether to go on."""
        squared = self.problem.squared
        enough = SPARE * tol if self.problem.m <= COSTLY else max(SPARE * tol, ENOUGH)
        compliance = SOFTNESS * squared**2 / float(self.inside.weights @ squared)
        slow = 0
        for inside in elastic_steps(self.path, self.inside, compliance):
            no_better = inside.gap > SLOW * self.inside.gap and self.inside.gap < LATE
            slow = slow + 1 if no_better else 0
            if inside.gap < self.inside.gap or not no_better:
                self.inside = inside
            upper = float(inside.weights @ squared)
            if self._record(upper * (1 - min(1.0, inside.gap)), upper):
                return False
            if upper < 0:  # a proof that no points have these lengths
                return False
            if slow >= PATIENCE or inside.gap < enough:
                break
        return True

    def approach(self) -> tuple[Array, Array, sp.csr_array] | None:
        """Points of nearly the lengths asked that keep cliques rigid, what their moves cost, and
        what they keep; None to stop."""
        p = self.problem
        kept = dependencies(p)
        face = face_of(p, kept)
        squared = p.squared[face.edges]
        upper = float(self.inside.weights @ p.squared)
        best, stopped = first_point(face, squared), False
        held: FacePoint | None = None
        for _, found in zip(range(STEPS), face_steps(face, squared, best), strict=False):
            best = found if found.gap < best.gap else best
            held = found if held is None and found.gap < 2 * HELD else held
            stopped = self._record(upper * (1 - min(1.0, found.gap)), upper)
            if stopped or found.gap < CLOSED:
                break
        if held is not None and len(squared) <= MOST_REFINED:
            self.held = PreciseFace(face, squared, held)
        costs = np.zeros(p.m)
        costs[face.edges] = best.weights
        self.here = placed(p, self._largest(face.basis, best.F))
        return None if stopped else (self.here.points, costs, kept)

    def _largest(self, basis: Array, factor: Array) -> Array:
        """The largest columns of K = UFFᵀUᵀ."""
        p = self.problem
        turned, sizes, _ = np.linalg.svd(factor)
        needed = int(np.ceil(p.m / p.n)) + MORE_COLUMNS
        count = max(needed, int(np.sum(sizes**2 > LARGE_SHARE * sizes[0] ** 2)))
        return basis @ (turned[:, :count] * sizes[:count]) / self.path.root[:, None]

    def place(self, start: Array, costs: Array, kept: sp.csr_array) -> bool:
        """These points onto the lengths asked; whether that is still to be done."""
        p, wanted = self.problem, self.wanted
        if placed(p, start).off <= wanted:
            return False
        moves = towards_lengths(p, start, costs, kept, wanted=wanted)
        return not any(self._stop_at(here) for _, here in zip(range(MOVES), moves, strict=False))

    def refine(self) -> None:
        """Points with more columns, by steps in double-doubles."""
        if self.held is not None:
            for points, _ in zip(self.held.steps(HELD), range(STEPS), strict=False):
                if self._stop_at(placed(self.problem, points / self.path.root[:, None])):
                    return
        if self.here is not None:
            self.story.append(f"no step got lengths nearer; they are off by {self.here.off:.1e}")

    def _stop_at(self, here: Placed) -> bool:
        """Take these points, with a line; whether they will do, or to stop."""
        p, self.here = self.problem, here
        lower = p.value(here.points)
        upper = float(self.inside.weights @ p.squared_lengths(here.points))
        return self._record(lower, max(lower, upper)) or here.off <= self.wanted

    def _columns(self) -> Array:
        """Those of K where no points were placed yet."""
        values, vectors = np.linalg.eigh(self.inside.X)
        columns = vectors * np.sqrt(np.maximum(values, 0.0)) / self.path.root[:, None]
        return self.problem.centred(columns)

    def _record(self, lower: float, upper: float) -> bool:
        """Write a line; whether to stop."""
        gap, seconds = relative(lower, upper), perf_counter() - self.begin
        self.history.append(Record(len(self.history), lower, upper, gap, seconds))
        if self.callback is not None and self.callback(self.history[-1]):
            self.story.append(STOPPED_BY_CALLBACK)
            return True
        if len(self.history) >= self.max_iter:
            self.story.append(f"stopped after {self.max_iter} steps")
            return True
        return False

    def solution(self) -> UnfoldingSolution:
        here = self.here or placed(self.problem, self._columns())
        return UnfoldingSolution(
            factor=here.points,
            weights=self.inside.weights,
            history=tuple(self.history),
            solver="elastic",
            status="converged" if here.off <= self.wanted else "stopped",
            story=tuple(self.story),
        )
