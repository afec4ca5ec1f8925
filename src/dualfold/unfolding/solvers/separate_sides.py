"""Equal lengths, each side on its own: weights by stiff springs, then points alone.

The weights bound every K whatever lengths it has, so they are kept. Springs leave lengths off by
1e-9 of d² at best, and without an interior of the problem that is worth 1e-4 of the variance. So
points come from a second interior point, on the lengths themselves (`face_points`).

Up to some thousand edges the weights are those of `precise_path`. Beyond, doubles bring them to
a gap of 1e-6 or to where rounding ends the steps (`elastic_path`).
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
from dualfold.unfolding.solvers.elastic_path import ElasticPoint, elastic_first, elastic_steps
from dualfold.unfolding.solvers.face_points import FacePoints
from dualfold.unfolding.solvers.interior_point import CentralPath

# The measurements behind these constants: docs/dev/notes/unfolding-equal-lengths.md.
SPRING_COMPLIANCE = 1e-13  # of the springs, as in `precise_path`
# The gap at which the weights are good enough, of `tol`.
WEIGHTS_GAP_SHARE = 0.1
# Below LATE_GAP, steps in a row that leave more than SLOW_STEP_RATIO of the gap are rounding.
LATE_GAP = 1e-3
SLOW_STEP_RATIO = 0.9
MAX_SLOW_STEPS = 3
# Beyond this many edges, where late steps cost twice as much and gain little, larger gaps are
# enough for the weights and for the points.
COSTLY_STEP_EDGES = 2_000
COSTLY_STEP_GAP = 4e-4
COSTLY_POINTS_GAP = 2e-4
POINTS_GAP_SHARE = 0.1  # of `tol`


@dataclass(eq=False)
class _History:
    """Lines of the history so far, and when to stop."""

    max_iter: int
    callback: Callback | None
    lines: list[Record]
    story: list[str]
    begin: float

    def stops_after(self, lower: float, upper: float) -> bool:
        """Write a line; whether to stop."""
        gap, seconds = relative_gap(lower, upper), perf_counter() - self.begin
        self.lines.append(Record(len(self.lines), lower, upper, gap, seconds))
        if self.callback is not None and self.callback(self.lines[-1]):
            self.story.append(STOPPED_BY_CALLBACK)
            return True
        if len(self.lines) >= self.max_iter:
            self.story.append(f"stopped after {self.max_iter} steps")
            return True
        return False


def weights_in_doubles(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Weights to a gap of `tol`, or as far as rounding allows, and the points of their springs.

    The mean d² is to be about 1. `max_iter` is the most steps; `callback` gets a `Record` after
    each, and True stops.
    """
    squared, path = problem.squared, CentralPath(problem, 0.0)
    story = ["the weights by an interior point in doubles"]
    history = _History(max_iter, callback, [], story, perf_counter())
    best = elastic_first(path)
    enough = WEIGHTS_GAP_SHARE * tol
    if problem.m > COSTLY_STEP_EDGES:
        enough = max(enough, COSTLY_STEP_GAP)
    compliance = SPRING_COMPLIANCE * squared**2 / float(best.weights @ squared)
    slow = 0
    for current in elastic_steps(path, best, compliance):
        no_better = current.gap > SLOW_STEP_RATIO * best.gap and best.gap < LATE_GAP
        slow = slow + 1 if no_better else 0
        if current.gap < best.gap or not no_better:
            best = current
        upper = float(current.weights @ squared)
        stopped = history.stops_after(upper * (1 - min(1.0, current.gap)), upper)
        # A negative bound proves that no points have these lengths.
        if stopped or upper < 0 or slow >= MAX_SLOW_STEPS or current.gap < enough:
            break
    return UnfoldingSolution(
        factor=_columns(problem, path, best),
        weights=best.weights,
        history=tuple(history.lines),
        solver="elastic",
        status="stopped",
        story=tuple(story),
    )


def with_points_on_lengths(
    problem: UnfoldingProblem,
    found: UnfoldingSolution,
    *,
    wanted: float,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """The same weights, with points whose lengths are those asked to `wanted` of d² or better.

    Where none are found, the points stay those that were `found`.
    """
    upper = float(found.weights @ problem.squared)
    is_over = STOPPED_BY_CALLBACK in found.story or len(found.history) >= max_iter
    if is_over or upper < 0:
        return found
    seconds = found.history[-1].seconds if found.history else 0.0
    story = [*found.story, "then points on the lengths asked"]
    history = _History(max_iter, callback, list(found.history), story, perf_counter() - seconds)
    tol *= POINTS_GAP_SHARE
    if problem.m > COSTLY_STEP_EDGES:
        tol = max(tol, COSTLY_POINTS_GAP)
    sides = FacePoints(problem, tol)
    for points, gap in sides.steps():
        lower = problem.value(points) if _off(problem, points) <= wanted else upper * (1 - gap)
        if history.stops_after(max(0.0, min(lower, upper)), upper):
            break
    result = replace(found, history=tuple(history.lines), story=tuple(story))
    is_unproved = sides.points is None or sides.value == 0
    if is_unproved and _off(problem, found.factor) <= max(wanted, sides.off):
        return result
    if sides.off > wanted:
        story.append(f"no step got lengths nearer; they are off by {sides.off:.1e}")
    assert sides.points is not None
    is_stopped = sides.off > wanted or len(story) > len(found.story) + 1
    return replace(
        result,
        factor=_largest_first(sides.points),
        status="stopped" if is_stopped else "converged",
        story=tuple(story),
    )


def _off(problem: UnfoldingProblem, points: Array) -> float:
    """How far squared lengths are off, as a share of d² at most."""
    return float(np.max(np.abs(problem.squared_lengths(points) / problem.squared - 1), initial=0.0))


def _columns(problem: UnfoldingProblem, path: CentralPath, best: ElasticPoint) -> Array:
    """The columns of K of the springs."""
    values, vectors = np.linalg.eigh(best.X)
    columns = vectors * np.sqrt(np.maximum(values, 0.0)) / path.root[:, None]
    return problem.centred_points(columns)


def _largest_first(points: Array) -> Array:
    """The same points, rotated so that columns are orthogonal and the largest is first."""
    return np.asarray(points @ np.linalg.eigh(points.T @ points)[1][:, ::-1])
