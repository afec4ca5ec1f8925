"""Repulsion of old points on new ones: Student's t, summed over all of them or read from a grid."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel
from dualfold.kernels.threads import Threads
from dualfold.methods.points.forces import Field
from dualfold.methods.points.tsne.grid import Grid

_all_pairs = kernel("all_pairs_repulsion")
# Up to this many old points the repulsion is summed over all of them.
MAX_POINTS_BY_PAIRS = 1_500
# Z is not 0 where a new point lies far from all old ones.
LEAST_SUM = 1e-12


def student_field(points: Array) -> Field:
    """The force of all points on each new one: the gradient of Σ 1/(1 + t) over the sum."""
    n, width = points.shape
    return (
        field_by_pairs(points) if n <= MAX_POINTS_BY_PAIRS or width > 2 else field_by_grid(points)
    )


def field_by_pairs(points: Array) -> Field:
    """The force by sums over all points; exact but for rounding."""
    columns = np.ascontiguousarray(points.T)

    def force(Y: Array) -> Array:
        (n, width), count = Y.shape, len(points)
        phi, gradient = np.empty(n), np.empty((n, width))
        rows = np.ascontiguousarray(Y)
        _all_pairs(0, n, count, width, 0, rows, columns, phi, gradient)
        return gradient / np.maximum(phi, LEAST_SUM)[:, None]

    return force


def field_by_grid(points: Array) -> Field:
    """The force by a grid around the points, made once; new points beyond are read at its edge."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.05 * (high - low) + 2
    grid = Grid(np.vstack([points, low - margin, high + margin]))
    grid.holds(np.vstack([low - margin, high + margin]))
    grid.spread_points(points)
    grid.convolve(Threads(1), 1)

    def force(Y: Array) -> Array:
        n, width = Y.shape
        phi, gradient = np.empty(n), np.empty((n, width))
        grid.reader(np.clip(Y, *grid.edges()), phi, gradient)(slice(0, n))
        return gradient / np.maximum(phi, LEAST_SUM)[:, None]

    return force
