"""Neighbour maps from eigenmaps on: the spread grows as long as the gap allows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import lapack_threads
from dualfold.neighbor_map.certificate import NeighborCertificate, certify_neighbors
from dualfold.neighbor_map.fantope import relaxed
from dualfold.neighbor_map.problem import MOST_PAIRED, NeighborProblem
from dualfold.neighbor_map.stiefel import StiefelDescent, descended

# Spreads that are tried: squared distances are about 4s, so that the first is nearly eigenmaps,
# and beyond the last the bound is nothing on every graph that was measured.
FIRST, LAST, FACTOR, HALVINGS = 0.02, 50.0, 2.0, 2
# Up to so many rows the relaxed problem is solved at every spread that is tried, where the map's
# own bound is not enough: 569 rows take 9 s of a core in all, and the cost grows as rows³.
MOST_THOROUGH = 800
# Below it a map is eigenmaps in all digits that are drawn.
LEAST = 1e-7


@dataclass(frozen=True, eq=False)
class NeighborAnswer:
    """A neighbour map with its verdict.

    problem, descent, certificate : what was asked, where the descent ended, and how far off it is
    """

    problem: NeighborProblem
    descent: StiefelDescent
    certificate: NeighborCertificate


def answered(
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
        found = descended(problem, start, most=max_iter)
        verdict = certify_neighbors(problem, found.points, tolerance=tolerance)
        if verdict.gap <= tolerance or not thorough or problem.n > MOST_PAIRED:
            return NeighborAnswer(problem, found, verdict)
        fine = 0.05 * max(tolerance, 1e-6) * abs(verdict.value)
        near = relaxed(problem, found.points, tol=fine)
        other = descended(problem, near.start, most=max_iter)
        best = other if other.value < found.value else found
        verdict = certify_neighbors(problem, best.points, weights=near.weights, tolerance=tolerance)
    return NeighborAnswer(problem, best, verdict)


def widest(
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
    thorough = problem.n <= MOST_THOROUGH

    def at(spread: float, points: Array) -> NeighborAnswer:
        asked = replace(problem, spread=spread)
        found = answered(asked, points, tolerance=tolerance, max_iter=max_iter, thorough=thorough)
        report(found)
        return found

    spread = FIRST
    best = at(spread, start)
    while best.certificate.gap > tolerance and spread > LEAST:
        spread /= 8
        best = at(spread, start)
    over = None
    while best.certificate.gap <= tolerance and over is None and spread < LAST:
        spread *= FACTOR
        further = at(spread, best.descent.points)
        if further.certificate.gap <= tolerance:
            best = further
        else:
            over = spread
    for _ in range(HALVINGS):
        if over is None:
            break
        middle = float(np.sqrt(best.problem.spread * over))
        further = at(middle, best.descent.points)
        if further.certificate.gap <= tolerance:
            best = further
        else:
            over = middle
    return best
