"""Equal lengths of many edges: weights by an interior point in doubles, then points alone.

Doubles bring the weights to a gap of 1e-6, but the lengths only to 1e-6 of d² (`elastic_path`). The
weights bound every K whatever lengths it has, so they stay. Points come from a second interior
point, among the K that keep cliques rigid (`rigid`, `face_path`). At a gap that is held every
direction of such a K has room, so that full steps get onto the lengths asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import (
    STOPPED_BY_CALLBACK,
    Callback,
    Record,
    UnfoldingSolution,
    relative_gap,
)
from dualfold.unfolding.solvers.elastic_path import elastic_first, elastic_steps
from dualfold.unfolding.solvers.face_path import FacePath, FacePoint, face_of
from dualfold.unfolding.solvers.interior_point import CentralPath
from dualfold.unfolding.solvers.rigid import dependencies

# The compliance of the springs, as in `precise`: the optimum for lengths off by tw is then above
# that for the lengths asked by 3e-4 on a roll of 500 points, 1.5e-3 on one of 300 with short cuts.
COMPLIANCE = 1e-13
# The gap at which the weights are good enough, of the `tol` asked; below LATE three steps in a
# row that leave more than SLOW of the gap are rounding (a roll of 1,000 points stays at 5e-4).
WEIGHTS_GAP_SHARE, LATE_GAP, SLOW_STEP_RATIO, MAX_SLOW_STEPS = 0.1, 1e-3, 0.9, 3
# Beyond COSTLY edges weights of this gap are good enough: late steps take twice as long (rounding
# breaks the first factorisations) and on a roll of 1,000 points change the bound by 3e-5 only.
COSTLY_STEP_EDGES, COSTLY_STEP_GAP = 2_000, 4e-4
# Points are brought onto the lengths at a gap of ROOM, where every direction of K still has room,
# and with the lengths kept to a gap of HELD; where doubles suffice for that, to CLOSED. The Schur
# matrix of a roll of 1,000 points has no eigenvalue below 1e-15 at 1e-3, 19 at 1e-4.
ROOM_GAP, PRECISE_POINTS_GAP, POINTS_GAP = 2e-3, 2e-4, 1e-7
MAX_POINT_STEPS, GAP_MARGIN_RATIO = 80, 1.1


def separate_sides(
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
    found = _SeparateSides(problem, wanted, max_iter, callback)
    if found.weigh(tol):
        found.place()
    return found.solution()


@dataclass(frozen=True, eq=False)
class Placement:
    """Points, and how far their squared lengths are off, as a share of d² at most."""

    points: Array
    off: float


def placement_of(problem: UnfoldingProblem, points: Array) -> Placement:
    """Where these points stand, centred."""
    Y = problem.centred_points(points)
    off = np.abs(problem.squared_lengths(Y) / problem.squared - 1)
    return Placement(Y, float(np.max(off, initial=0.0)))


def _gap_goal(here: FacePoint) -> float:
    """The gap to which the lengths are kept."""
    return PRECISE_POINTS_GAP if here.precise else POINTS_GAP


class _SeparateSides:
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
        self.here: Placement | None = None

    def weigh(self, tol: float) -> bool:
        """Weights to a gap of `tol`, or as far as rounding lets them; whether to go on."""
        squared = self.problem.squared
        enough = (
            WEIGHTS_GAP_SHARE * tol
            if self.problem.m <= COSTLY_STEP_EDGES
            else max(WEIGHTS_GAP_SHARE * tol, COSTLY_STEP_GAP)
        )
        compliance = COMPLIANCE * squared**2 / float(self.inside.weights @ squared)
        slow = 0
        for inside in elastic_steps(self.path, self.inside, compliance):
            no_better = (
                inside.gap > SLOW_STEP_RATIO * self.inside.gap and self.inside.gap < LATE_GAP
            )
            slow = slow + 1 if no_better else 0
            if inside.gap < self.inside.gap or not no_better:
                self.inside = inside
            upper = float(inside.weights @ squared)
            if self._record(upper * (1 - min(1.0, inside.gap)), upper):
                return False
            if upper < 0:  # a proof that no points have these lengths
                return False
            if slow >= MAX_SLOW_STEPS or inside.gap < enough:
                break
        return True

    def place(self) -> None:
        """Points of the lengths asked that keep cliques rigid, or the nearest ones found.

        Once on the lengths, steps keep them. Where steps in doubles lose them, double-doubles go on
        from the last ones that had them.
        """
        p = self.problem
        face = face_of(p, dependencies(p))
        path = FacePath(face, p.squared[face.edges])
        here, kept = path.first, None
        for _ in range(MAX_POINT_STEPS):
            found = path.step(here, ROOM_GAP if kept is None else _gap_goal(here))
            if found is None:
                break
            points = placement_of(p, face.basis @ found.F / self.path.root[:, None])
            on = points.off <= self.wanted
            self.here = points if on or kept is None else self.here
            if self._record_points(points, found.gap) or (
                on and found.gap < GAP_MARGIN_RATIO * _gap_goal(found)
            ):
                break
            if kept is not None and not on:
                if kept.precise or kept.gap < GAP_MARGIN_RATIO * PRECISE_POINTS_GAP:
                    break
                here = kept = replace(kept, precise=True)
                continue
            here, kept = found, found if on else kept
        if self.here is not None and self.here.off > self.wanted:
            self.story.append(f"no step got lengths nearer; they are off by {self.here.off:.1e}")

    def _record_points(self, here: Placement, gap: float) -> bool:
        """Write a line for points; whether to stop."""
        p, upper = self.problem, float(self.inside.weights @ self.problem.squared)
        if here.off > self.wanted:
            return self._record(upper * (1 - min(1.0, gap)), upper)
        lower = p.value(here.points)
        own = float(self.inside.weights @ p.squared_lengths(here.points))
        return self._record(lower, max(lower, own))

    def _columns(self) -> Array:
        """Those of K where no points were placed yet."""
        values, vectors = np.linalg.eigh(self.inside.X)
        columns = vectors * np.sqrt(np.maximum(values, 0.0)) / self.path.root[:, None]
        return self.problem.centred_points(columns)

    def _record(self, lower: float, upper: float) -> bool:
        """Write a line; whether to stop."""
        gap, seconds = relative_gap(lower, upper), perf_counter() - self.begin
        self.history.append(Record(len(self.history), lower, upper, gap, seconds))
        if self.callback is not None and self.callback(self.history[-1]):
            self.story.append(STOPPED_BY_CALLBACK)
            return True
        if len(self.history) >= self.max_iter:
            self.story.append(f"stopped after {self.max_iter} steps")
            return True
        return False

    def solution(self) -> UnfoldingSolution:
        here = placement_of(
            self.problem, self._columns() if self.here is None else self.here.points
        )
        return UnfoldingSolution(
            factor=_largest_first(here.points),
            weights=self.inside.weights,
            history=tuple(self.history),
            solver="elastic",
            status="converged" if here.off <= self.wanted else "stopped",
            story=tuple(self.story),
        )


def _largest_first(points: Array) -> Array:
    """The same points, turned so that columns have no products and the largest is first."""
    return np.asarray(points @ np.linalg.eigh(points.T @ points)[1][:, ::-1])
