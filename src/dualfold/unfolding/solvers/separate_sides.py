"""Equal lengths, each side on its own: weights first, then points alone.

The weights bound every K whatever lengths it has, so they are kept. Points that come with them
leave lengths off by 1e-12 to 1e-9 of d², and without an interior of the problem that may be worth
1e-4 of the variance. So points come from a second interior point, on the lengths themselves
(`face_points`).

Up to some thousand edges the weights are those of `precise_path`. Beyond, an interior point on the
face that cliques leave (`face_path`) finds weights that bound the K of that face, and `stresses`
makes of them weights that bound every K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.bounds import asked_lengths_value, upper_bound
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import (
    STOPPED_BY_CALLBACK,
    Callback,
    Record,
    UnfoldingSolution,
    relative_gap,
)
from dualfold.unfolding.solvers.face_path import FacePath, face_of
from dualfold.unfolding.solvers.face_points import FacePoints
from dualfold.unfolding.solvers.rigid import clique_dependencies
from dualfold.unfolding.solvers.stresses import Stresses
from dualfold.unfolding.spectral_floor import second_eigenvalue

# The measurements behind these constants: docs/dev/notes/unfolding-equal-lengths.md.
# The gap at which the weights of the face are good enough: a share of `tol`, and at least.
WEIGHTS_GAP_SHARE = 0.1
WEIGHTS_GAP = 1e-6
COSTLY_WEIGHTS_GAP = 1e-5
# And how near the lengths of their points are to be, as a share of d².
FACE_LENGTHS_TOLERANCE = 5e-10
# Below this gap steps are in double-doubles.
PRECISE_STEPS_GAP = 1e-3
MAX_FACE_STEPS = 60
# Shares of the bound by which weights of the face are made larger before the rest is balanced, one
# after another while the bound falls.
MARGINS = (1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
# Beyond this many edges, where a step takes seconds, larger gaps are enough.
COSTLY_STEP_EDGES = 2_000
COSTLY_POINTS_GAP = 2e-4
POINTS_GAP_SHARE = 0.1  # of `tol`
# Points with exactly the lengths asked are preferred to those that come with the weights where at
# least this share of the bound is proved of them; certificates call less a failure.
MIN_PROVED_SHARE = 0.5


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


def weights_on_face(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Weights that bound every K, from a path on the face that cliques leave, and its points.

    The mean d² is to be about 1. `tol` is the gap wanted, `max_iter` the most steps; `callback`
    gets a `Record` after each, and True stops.
    """
    story = ["the weights by an interior point on the face that cliques leave"]
    history = _History(max_iter, callback, [], story, perf_counter())
    rows = clique_dependencies(problem)
    face = face_of(problem, rows)
    squared = problem.squared[face.edges]
    path = FacePath(face, squared)
    best = here = path.first
    enough = WEIGHTS_GAP if problem.m <= COSTLY_STEP_EDGES else COSTLY_WEIGHTS_GAP
    enough = max(enough, WEIGHTS_GAP_SHARE * tol)
    for _ in range(MAX_FACE_STEPS):
        # Doubles would go on to a point that is not the best one.
        here = replace(here, precise=here.gap < PRECISE_STEPS_GAP)
        point = path.step(here, 0.0)
        if point is None:
            break
        here = point
        best = here if path.bounds(here.weights, MARGINS[-1]) else best
        upper = float(here.weights @ squared)
        stopped = history.stops_after(upper * (1 - min(1.0, here.gap)), upper)
        is_done = here.gap < enough and here.off < FACE_LENGTHS_TOLERANCE
        # A negative bound proves that no points have these lengths.
        if stopped or upper < 0 or is_done:
            break
    points = problem.centred_points(face.basis @ here.F / np.sqrt(problem.mass)[:, None])
    weights = np.zeros(problem.m)
    weights[face.edges] = best.weights
    return UnfoldingSolution(
        factor=points,
        weights=_weights_for_every_point(Stresses(problem, rows, face.basis), weights, points),
        history=tuple(history.lines),
        solver="elastic",
        status="stopped",
        story=tuple(story),
    )


def _weights_for_every_point(stresses: Stresses, weights: Array, points: Array) -> Array:
    """Weights for every K, made from those of the face, with the least bound that is proved.

    A smaller margin costs less by itself, and more by the rounding of larger weights.
    """
    best, least = None, np.inf
    for margin in MARGINS if stresses.stresses else ():
        balanced = stresses.balanced_weights(weights, margin)
        if balanced is None:
            break
        floor = second_eigenvalue(stresses.problem, balanced, points).proved
        bound = upper_bound(asked_lengths_value(stresses.problem, balanced), floor)
        if best is not None and not bound < least:
            break
        best, least = balanced, bound
    return weights if best is None else best


def with_points_on_lengths(
    problem: UnfoldingProblem,
    solution: UnfoldingSolution,
    *,
    wanted: float,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Weights as they are, with points whose lengths are those asked to `wanted` of d² or better.

    Where none are found, the points stay those that were `found`.
    """
    upper = float(solution.weights @ problem.squared)
    is_over = STOPPED_BY_CALLBACK in solution.story or len(solution.history) >= max_iter
    if is_over or upper < 0:
        return solution
    seconds = solution.history[-1].seconds if solution.history else 0.0
    story = [*solution.story, "then points on the lengths asked"]
    history = _History(max_iter, callback, list(solution.history), story, perf_counter() - seconds)
    tol *= POINTS_GAP_SHARE
    if problem.m > COSTLY_STEP_EDGES:
        tol = max(tol, COSTLY_POINTS_GAP)
    sides = FacePoints(problem, tol)
    for points, gap in sides.steps():
        lower = problem.value(points) if _off(problem, points) <= wanted else upper * (1 - gap)
        if history.stops_after(max(0.0, min(lower, upper)), upper):
            break
    result = replace(solution, history=tuple(history.lines), story=tuple(story))
    # What is proved of the last face may be no more than the variance of the data.
    is_unproved = sides.points is None or sides.value < MIN_PROVED_SHARE * upper
    if is_unproved and _off(problem, solution.factor) <= max(wanted, sides.off):
        return result
    if sides.off > wanted:
        story.append(f"no step got lengths nearer; they are off by {sides.off:.1e}")
    assert sides.points is not None
    is_stopped = sides.off > wanted or len(story) > len(solution.story) + 1
    # Rotated so that columns are orthogonal and the largest is first.
    rotation = np.linalg.eigh(sides.points.T @ sides.points)[1][:, ::-1]
    return replace(
        result,
        factor=np.asarray(sides.points @ rotation),
        status="stopped" if is_stopped else "converged",
        story=tuple(story),
    )


def _off(problem: UnfoldingProblem, points: Array) -> float:
    """Largest error of squared lengths, as a share of d²."""
    return float(np.max(np.abs(problem.squared_lengths(points) / problem.squared - 1), initial=0.0))
