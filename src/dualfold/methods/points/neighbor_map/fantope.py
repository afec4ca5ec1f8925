"""The convex problem that neighbour maps relax to, over the Fantope.

    minimise F(G) = Σ p t + log Σ exp(−t),   t_ij = G_ii + G_jj − 2G_ij
    over 0 ⪯ G ⪯ n·s·I,  tr G = n·s·d,  G1 = 0

the convex hull of the Gram matrices of all maps. Accelerated projected gradients up to
`MOST_PROJECTED` rows: the projection acts on eigenvalues, which are moved by one number and cut to
[0, n·s]. Beyond, Frank–Wolfe: each step needs d eigenvectors, and only t is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.kernels.threads import lapack_threads
from dualfold.methods.points.neighbor_map.problem import (
    NeighborProblem,
    attraction,
    kernel,
    log_sum,
    slope,
    squared_distances,
)

# One step of the projected gradients decomposes a matrix of this size in less than a second.
MAX_PROJECTED_ROWS = 1_500
# Each step of Frank–Wolfe gains less than the one before.
MAX_FRANK_WOLFE_STEPS = 12


@dataclass(frozen=True, eq=False)
class FantopeMinimum:
    """Where the relaxed problem ended; nothing here is proved.

    weights : exp(−t), which a bound needs
    start : n×d orthonormal, the leading directions of G: a start for the map
    value : F(G)
    rounds : how many steps it took
    """

    weights: Array
    start: Array
    value: float
    rounds: int


def fantope_minimum(
    problem: NeighborProblem, Y: Array, *, tol: float = 1e-6, most: int = 400
) -> FantopeMinimum:
    """The minimum of the `problem` over the Fantope, from the map Y on.

    tol : of the gap of Frank and Wolfe, in nats
    most : rounds
    """
    with lapack_threads(problem.n):
        if problem.n > MAX_PROJECTED_ROWS:
            return _frank_wolfe(problem, Y, tol)
        return _projected_gradients(problem, Y @ Y.T, tol, most)


def distances_of(G: Array) -> Array:
    """t of a Gram matrix."""
    diagonal = np.diagonal(G)
    return np.asarray(np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * G, 0.0))


def objective(problem: NeighborProblem, t: Array) -> tuple[float, Array]:
    """F, and exp(−t)."""
    w = kernel(t)
    return attraction(problem, t) + log_sum(t, w), w


def in_fantope(G: Array, size: float, count: int) -> Array:
    """The nearest point of {0 ⪯ G ⪯ size·I, tr G = size·count, G1 = 0}."""
    G = G - G.mean(axis=0)
    G = G - G.mean(axis=1)[:, None]
    values, Q = scipy.linalg.eigh((G + G.T) / 2, driver="evd")
    values = _clipped_eigenvalues(values, size, count)
    first = int(np.argmax(values > 0))  # most are cut to 0
    nearest = (Q[:, first:] * values[first:]) @ Q[:, first:].T
    return np.asarray((nearest + nearest.T) / 2)


def _clipped_eigenvalues(values: Array, size: float, count: int) -> Array:
    """Ascending values moved by one number and cut to [0, size], with the sum size·count.

    The sum is piecewise linear in the number; its corners are where a value meets 0 or `size`.
    """

    def above(corners: Array, ends: Array) -> Array:
        """Σ max(end − corner, 0)."""
        tails = np.append(np.cumsum(ends[::-1])[::-1], 0.0)
        first = np.searchsorted(ends, corners)
        return np.asarray(tails[first] - (len(ends) - first) * corners)

    corners = np.sort(np.concatenate([values, values - size]))
    sums = above(corners, values) - above(corners, values - size)
    moved = values - np.interp(-size * count, -sums, corners)
    free = (moved > 0) & (moved < size)
    if free.any():  # what rounding of long sums left
        moved += (size * count - np.clip(moved, 0, size).sum()) / free.sum()
    return np.asarray(np.clip(moved, 0, size))


def _projected_gradients(
    problem: NeighborProblem, G: Array, tol: float, most: int
) -> FantopeMinimum:
    """FISTA with backtracking, begun anew where it would climb."""
    size, d = problem.size, problem.count
    G = in_fantope(G, size, d)
    value, w = objective(problem, distances_of(G))
    ahead, momentum, step = G, 1.0, size
    rounds = 0
    for rounds in range(1, most + 1):
        base, at = objective(problem, distances_of(ahead))
        M = slope(problem, at)
        while True:
            new = in_fantope(ahead - step * M, size, d)
            there, v = objective(problem, distances_of(new))
            move = new - ahead
            bend = float(np.vdot(move, move)) / (2 * step)
            if there <= base + float(np.vdot(M, move)) + bend + 1e-14 * abs(base) or step < 1e-12:
                break
            step /= 2
        if there > value and momentum > 1:
            ahead, momentum = G, 1.0
            continue
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - G)
        G, value, w, momentum, step = new, there, v, following, step * 1.3
        if rounds % 5 == 0 and _frank_wolfe_gap(problem, G, w) <= tol:
            break
    start = scipy.linalg.eigh(G, subset_by_index=[len(G) - d, len(G) - 1])[1]
    return FantopeMinimum(w, start, value, rounds)


def _frank_wolfe_gap(problem: NeighborProblem, G: Array, w: Array) -> float:
    """⟨M, G⟩ − min over the Fantope: a bound of F(G) − minimum, as computed."""
    M = slope(problem, w)
    lowest = scipy.linalg.eigvalsh(M + 1.0 / len(M), subset_by_index=[0, problem.count - 1])
    return float(np.vdot(M, G)) - problem.size * float(lowest.sum())


def _frank_wolfe(problem: NeighborProblem, Y: Array, tol: float) -> FantopeMinimum:
    """Towards the best vertex each round, as far as a search along the line says."""
    t = squared_distances(Y)
    value, w = objective(problem, t)
    best = Y / np.sqrt(problem.size)
    rounds = 0
    while rounds < MAX_FRANK_WOLFE_STEPS:
        rounds += 1
        U = scipy.linalg.eigh(slope(problem, w) + 1.0, subset_by_index=[0, problem.count - 1])[1]
        vertex = squared_distances(U * np.sqrt(problem.size))
        share, there = _line_minimum(problem, t, vertex)
        if value - there <= tol:
            break
        t += share * (vertex - t)
        value, w = objective(problem, t)
    return FantopeMinimum(w, best, value, rounds)


def _line_minimum(problem: NeighborProblem, t: Array, vertex: Array) -> tuple[float, float]:
    """The least of F between two points: a convex function of one number, by golden section."""
    low, high, cut = 0.0, 1.0, (np.sqrt(5) - 1) / 2

    def at(share: float) -> float:
        return objective(problem, t + share * (vertex - t))[0]

    inner, outer = high - cut * (high - low), low + cut * (high - low)
    a, b = at(inner), at(outer)
    for _ in range(8):
        if a < b:
            high, outer, b = outer, inner, a
            inner = high - cut * (high - low)
            a = at(inner)
        else:
            low, inner, a = inner, outer, b
            outer = low + cut * (high - low)
            b = at(outer)
    return (inner, a) if a < b else (outer, b)
