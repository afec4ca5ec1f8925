"""Neighbour maps by descent on the points, which stay white: YᵀY = n·s·I, Yᵀ1 = 0.

Gradients along the set of such points (Stiefel's manifold), step lengths of Barzilai and Borwein,
a search that lets the value rise a little now and then (Zhang and Hager), and the polar factor as
the way back onto the set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.neighbor_map.problem import NeighborProblem, edge_attraction, shares_of, slope_times


@dataclass(frozen=True, eq=False)
class StiefelDescent:
    """Where a descent ended.

    points : the map; value : its Σ p t + log Σ exp(−t)
    slope : length of the gradient along the set, over the value's range of change per unit
    rounds : steps that it took; arrived : whether the slope fell below the tolerance
    """

    points: Array
    value: float
    slope: float
    rounds: int
    arrived: bool


def descended(
    problem: NeighborProblem, start: Array, *, tol: float = 1e-6, most: int = 500
) -> StiefelDescent:
    """The map that descent from `start` (n×d) leads to.

    tol : the length of the gradient along the set, in nats for a turn of one radian, that ends it
    most : steps at the most
    """
    U = whitened(start)
    value, gradient = _value_and_gradient(problem, U)
    reference, weight, step = value, 1.0, 1.0 / max(float(np.linalg.norm(gradient)), 1e-300)
    rounds = 0
    size = float(np.linalg.norm(gradient))
    for rounds in range(1, most + 1):
        size = float(np.linalg.norm(gradient))
        if size <= tol:
            break
        while True:
            new = whitened(U - step * gradient)
            there, turned = _value_and_gradient(problem, new)
            if there <= reference - 1e-4 * step * size**2 or step * size < 1e-12:
                break
            step /= 3
        moved, change = new - U, turned - gradient
        across = abs(float(np.vdot(moved, change)))
        longer = float(np.vdot(moved, moved)) / across if across > 0 else step
        if rounds % 2:
            longer = across / max(float(np.vdot(change, change)), 1e-300)
        step = float(np.clip(longer, 1e-10, 1e10))
        reference = (0.85 * weight * reference + there) / (0.85 * weight + 1)
        weight = 0.85 * weight + 1
        U, value, gradient = new, there, turned
    return StiefelDescent(U * np.sqrt(problem.size), value, size, rounds, size <= tol)


def whitened(points: Array) -> Array:
    """The nearest centred points with orthonormal columns (the polar factor)."""
    centred = points - points.mean(axis=0)
    left, _, right = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(left @ right)


def _value_and_gradient(problem: NeighborProblem, U: Array) -> tuple[float, Array]:
    Y = U * np.sqrt(problem.size)
    shares = shares_of(Y)
    value = edge_attraction(problem, Y) + shares.log_total
    whole = 2 * problem.size * slope_times(problem, shares, U)
    inner = U.T @ whole
    return value, np.asarray(whole - U @ ((inner + inner.T) / 2))
