"""Equal lengths of many edges: weights by an interior point in doubles, then points alone.

Doubles bring the weights to a gap of 1e-6, but the lengths only to 1e-6 of d² (`elastic_path`). The
weights bound every K whatever lengths it has, so they are kept. Points come from a second interior
point, among the K that keep cliques rigid (`rigid`, `face_path`). While its gap is not lowered,
every direction of such a K has room, so that full steps reach the given lengths.
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

# The measurements behind these constants: docs/dev/notes/unfolding-equal-lengths.md.
SPRING_COMPLIANCE = 1e-13  # of the springs, as in `precise_path`
# The gap at which the weights are good enough, of `tol`.
WEIGHTS_GAP_SHARE = 0.1
# Below LATE_GAP, steps in a row that leave more than SLOW_STEP_RATIO of the gap are rounding.
LATE_GAP = 1e-3
SLOW_STEP_RATIO = 0.9
MAX_SLOW_STEPS = 3
# Beyond this many edges, where late steps cost twice as much and gain little, a larger gap is
# enough for the weights.
COSTLY_STEP_EDGES = 2_000
COSTLY_STEP_GAP = 4e-4
# Points are brought onto the lengths at ROOM_GAP, where every direction of K still has room. With
# the lengths kept they go on to POINTS_GAP, or to PRECISE_POINTS_GAP where doubles lose lengths.
ROOM_GAP = 2e-3
PRECISE_POINTS_GAP = 2e-4
POINTS_GAP = 1e-7
MAX_POINT_STEPS = 80
GAP_MARGIN_RATIO = 1.1  # a gap is reached within this ratio


def separate_sides(
    problem: UnfoldingProblem,
    *,
    wanted: float,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with lengths within `wanted` of d², and weights of any sign that bound them.

    The mean d² is to be about 1. `tol` is the gap wanted of the weights, `max_iter` the most
    steps; `callback` gets a `Record` after each, and True stops.
    """
    sides = _SeparateSides(problem, wanted, max_iter, callback)
    if sides.find_weights(tol):
        sides.find_points()
    return sides.solution()


@dataclass(frozen=True, eq=False)
class Placement:
    """Points, and how far their squared lengths are off, as a share of d² at most."""

    points: Array
    off: float


def placement_of(problem: UnfoldingProblem, points: Array) -> Placement:
    """These points, centred, and how far their lengths are off."""
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
        self.best = elastic_first(self.path)
        self.here: Placement | None = None

    def find_weights(self, tol: float) -> bool:
        """Weights to a gap of `tol`, or as far as rounding allows; whether to continue."""
        squared = self.problem.squared
        enough = (
            WEIGHTS_GAP_SHARE * tol
            if self.problem.m <= COSTLY_STEP_EDGES
            else max(WEIGHTS_GAP_SHARE * tol, COSTLY_STEP_GAP)
        )
        compliance = SPRING_COMPLIANCE * squared**2 / float(self.best.weights @ squared)
        slow = 0
        for current in elastic_steps(self.path, self.best, compliance):
            no_better = current.gap > SLOW_STEP_RATIO * self.best.gap and self.best.gap < LATE_GAP
            slow = slow + 1 if no_better else 0
            if current.gap < self.best.gap or not no_better:
                self.best = current
            upper = float(current.weights @ squared)
            if self._record(upper * (1 - min(1.0, current.gap)), upper):
                return False
            if upper < 0:  # a proof that no points have these lengths
                return False
            if slow >= MAX_SLOW_STEPS or current.gap < enough:
                break
        return True

    def find_points(self) -> None:
        """Points of the given lengths that keep cliques rigid, or the nearest ones found.

        Once on the lengths, steps keep them. Where steps in doubles lose them, steps in
        double-doubles continue from the last points that had them.
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
        p, upper = self.problem, float(self.best.weights @ self.problem.squared)
        if here.off > self.wanted:
            return self._record(upper * (1 - min(1.0, gap)), upper)
        lower = p.value(here.points)
        own = float(self.best.weights @ p.squared_lengths(here.points))
        return self._record(lower, max(lower, own))

    def _columns(self) -> Array:
        """The columns of K, for the time before any points are found."""
        values, vectors = np.linalg.eigh(self.best.X)
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
            weights=self.best.weights,
            history=tuple(self.history),
            solver="elastic",
            status="converged" if here.off <= self.wanted else "stopped",
            story=tuple(self.story),
        )


def _largest_first(points: Array) -> Array:
    """The same points, rotated so that columns are orthogonal and the largest is first."""
    return np.asarray(points @ np.linalg.eigh(points.T @ points)[1][:, ::-1])
