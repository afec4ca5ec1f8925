"""Neighbour maps from eigenmaps on: the spread grows as long as the gap allows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import lapack_threads
from dualfold.methods.points.neighbor_map.certificate import NeighborCertificate, certify_neighbors
from dualfold.methods.points.neighbor_map.fantope import fantope_minimum
from dualfold.methods.points.neighbor_map.problem import (
    MAX_PAIRED_ROWS,
    NeighborProblem,
    edge_attraction,
    pair_shares,
    slope_times,
    white_basis,
)

# Spreads that are tried: squared distances are about 4s, so that the first map is nearly eigenmaps,
# and beyond the largest spread the bound is trivial (docs/dev/notes/neighbour-maps.md).
FIRST_SPREAD = 0.02
MAX_SPREAD = 50.0
SPREAD_FACTOR = 2.0
BISECTION_STEPS = 2
# Up to this many rows the relaxed problem is solved at every spread where the map's own bound is
# not enough; the cost grows as rows³.
MAX_THOROUGH_ROWS = 800
# Below it a map is eigenmaps in all digits that are drawn.
MIN_SPREAD = 1e-7


@dataclass(frozen=True, eq=False)
class NeighborAnswer:
    """A neighbour map with its verdict.

    problem, descent, certificate : what was asked, where the descent ended, and how far off it is
    """

    problem: NeighborProblem
    descent: StiefelDescent
    certificate: NeighborCertificate


def neighbor_answer(
    problem: NeighborProblem,
    start: Array,
    *,
    tolerance: float,
    max_iter: int = 500,
    thorough: bool = True,
) -> NeighborAnswer:
    """The map of one spread from `start` (n×d), judged.

    tolerance : the gap that is enough; a better bound is looked for where it is larger
    max_iter : steps of the descent at the most
    thorough : whether the relaxed problem, of up to 8,000 rows, is solved where the map's own
        bound is not enough
    """
    with lapack_threads(problem.n):
        descent = stiefel_descent(problem, start, most=max_iter)
        verdict = certify_neighbors(problem, descent.points, tolerance=tolerance)
        if verdict.gap <= tolerance or not thorough or problem.n > MAX_PAIRED_ROWS:
            return NeighborAnswer(problem, descent, verdict)
        fine = 0.05 * max(tolerance, 1e-6) * abs(verdict.value)
        near = fantope_minimum(problem, descent.points, tol=fine)
        other = stiefel_descent(problem, near.start, most=max_iter)
        best = other if other.value < descent.value else descent
        verdict = certify_neighbors(problem, best.points, weights=near.weights, tolerance=tolerance)
    return NeighborAnswer(problem, best, verdict)


def widest_answer(
    problem: NeighborProblem,
    start: Array,
    *,
    tolerance: float,
    max_iter: int = 500,
    report: Callable[[NeighborAnswer], None] = lambda answer: None,
) -> NeighborAnswer:
    """The map of the largest spread, among those tried, whose gap is at most `tolerance`.

    start : n×d, the eigenmaps
    max_iter : steps of each descent
    report : sees every answer

    Where not even the least spread is proved, its map is returned with what is known of it.
    """
    thorough = problem.n <= MAX_THOROUGH_ROWS

    def at(spread: float, points: Array) -> NeighborAnswer:
        asked = replace(problem, spread=spread)
        answer = neighbor_answer(
            asked, points, tolerance=tolerance, max_iter=max_iter, thorough=thorough
        )
        report(answer)
        return answer

    spread = FIRST_SPREAD
    best = at(spread, start)
    while best.certificate.gap > tolerance and spread > MIN_SPREAD:
        spread /= 8
        best = at(spread, start)
    over = None
    while best.certificate.gap <= tolerance and over is None and spread < MAX_SPREAD:
        spread *= SPREAD_FACTOR
        further = at(spread, best.descent.points)
        if further.certificate.gap <= tolerance:
            best = further
        else:
            over = spread
    for _ in range(BISECTION_STEPS):
        if over is None:
            break
        middle = float(np.sqrt(best.problem.spread * over))
        further = at(middle, best.descent.points)
        if further.certificate.gap <= tolerance:
            best = further
        else:
            over = middle
    return best


@dataclass(frozen=True, eq=False)
class StiefelDescent:
    """Where a descent ended.

    points : the map; value : its Σ p t + log Σ exp(−t)
    slope : length of the gradient along the set, over the value's range of change per unit
    rounds : the number of steps; arrived : whether the slope fell below the tolerance
    """

    points: Array
    value: float
    slope: float
    rounds: int
    arrived: bool


def stiefel_descent(
    problem: NeighborProblem, start: Array, *, tol: float = 1e-6, most: int = 500
) -> StiefelDescent:
    """The map that descent from `start` (n×d) leads to, along white maps: YᵀY = n·s·I, Yᵀ1 = 0.

    Gradients along the set of such points (Stiefel's manifold), step lengths of Barzilai and
    Borwein, a search that lets the value rise a little now and then (Zhang and Hager), and the
    polar factor, which leads back onto the set.

    tol : the length of the gradient along the set, in nats for a turn of one radian, that ends it
    most : steps at the most
    """
    U = white_basis(start)
    value, gradient = _value_and_gradient(problem, U)
    reference, weight, step = value, 1.0, 1.0 / max(float(np.linalg.norm(gradient)), 1e-300)
    rounds = 0
    size = float(np.linalg.norm(gradient))
    for rounds in range(1, most + 1):
        size = float(np.linalg.norm(gradient))
        if size <= tol:
            break
        while True:
            new = white_basis(U - step * gradient)
            there, turned = _value_and_gradient(problem, new)
            if there <= reference - 1e-4 * step * size**2 or step * size < 1e-12:
                break
            step /= 3
        moved, change = new - U, turned - gradient
        across = abs(float(np.vdot(moved, change)))
        longer = float(np.vdot(moved, moved)) / across if across > 0 else step
        if rounds % 2:
            longer = across / max(float(np.vdot(change, change)), 1e-300)
        # `step·size` is the turn in radians: a steep value needs shorter steps.
        step = float(np.clip(longer, 1e-10 / max(1.0, size), 1e10))
        reference = (0.85 * weight * reference + there) / (0.85 * weight + 1)
        weight = 0.85 * weight + 1
        U, value, gradient = new, there, turned
    return StiefelDescent(U * np.sqrt(problem.size), value, size, rounds, size <= tol)


def _value_and_gradient(problem: NeighborProblem, U: Array) -> tuple[float, Array]:
    Y = U * np.sqrt(problem.size)
    shares = pair_shares(Y)
    value = edge_attraction(problem, Y) + shares.log_total
    whole = 2 * problem.size * slope_times(problem, shares, U)
    inner = U.T @ whole
    return value, np.asarray(whole - U @ ((inner + inner.T) / 2))
