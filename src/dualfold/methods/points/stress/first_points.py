"""Where descents of stress begin: classical scaling, or points drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.threads import row_slices
from dualfold.methods.points.stress.problem import (
    BLOCK_ROWS,
    MAX_DISTANCE,
    MIN_DISTANCE,
    StressProblem,
)
from dualfold.trace.solution import with_signs

# Up to this many rows LAPACK finds all eigenvectors faster than an iteration finds some.
MAX_LAPACK_ROWS = 200
# Of the size of a start, what points in one place and empty coordinates are moved by: stress has
# no slope out of them.
JITTER_SHARE = 1e-3


def classical_start(problem: StressProblem) -> Array:
    """Points of classical scaling; a missing square counts as the mean of those of its two points.

    The matrix −½HΔH is not stored: products with it are made from blocks of the distances.
    """
    n, count = problem.n, problem.count
    kept = min(count, n)
    if n <= MAX_LAPACK_ROWS or kept > n // 8:
        values, vectors = np.linalg.eigh(_product(problem, np.eye(n)))
    else:
        operator = LinearOperator((n, n), matvec=lambda v: _product(problem, v), dtype=float)
        start = np.cos(1.7 * np.arange(n))
        try:
            values, vectors = eigsh(operator, k=kept, which="LA", v0=start - start.mean(), tol=1e-9)
        except ArpackNoConvergence:  # any points are a start
            return random_start(problem, np.random.RandomState(0))
    order = np.argsort(values)[::-1][:kept]
    points = np.zeros((n, count))
    points[:, :kept] = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    return np.asarray(with_signs(points))


def random_start(problem: StressProblem, random: np.random.RandomState) -> Array:
    """Uniform in a unit cube, the same numbers as scikit-learn draws."""
    return random.uniform(size=problem.n * problem.count).reshape((problem.n, problem.count))


def given_start(start: ArrayLike, problem: StressProblem) -> Array:
    """Points of the caller."""
    Y = np.array(start, dtype=float)
    if Y.ndim != 2 or len(Y) != problem.n or not np.isfinite(Y).all():
        raise InvalidInput(
            Argument("init"),
            f" must be {problem.n} rows of finite numbers; its shape is {Y.shape}",
        )
    extent = float(np.abs(Y).max())
    if extent > MAX_DISTANCE or 0 < extent < MIN_DISTANCE:
        raise InvalidInput(
            Argument("init"),
            f" holds numbers up to {extent:g}, and squares of these are no doubles; give points in "
            "the unit of the distances",
        )
    return Y


def without_coincidences(Y: Array, distances: Array, random: np.random.RandomState) -> Array:
    """Y, or Y moved a little where a coordinate is empty or different points are in one place.

    Rows that are the same, at distance 0, may stay in one place.
    """
    size = float(np.sqrt(np.square(Y - Y.mean(axis=0)).sum() / len(Y)))
    empty = np.ptp(Y, axis=0) <= 1e-9 * size
    _, spot, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    spot = spot.ravel()
    shared = [np.flatnonzero(spot == k) for k in np.flatnonzero(counts > 1)]
    copies = any(np.nanmax(distances[np.ix_(rows, rows)], initial=0.0) > 0 for rows in shared)
    if not empty.any() and not copies:
        return Y
    jitter = JITTER_SHARE * (size or 1.0) * random.standard_normal(Y.shape)
    return Y + (jitter if copies else jitter * empty)


def _product(problem: StressProblem, V: Array) -> Array:
    """−½HΔH·V in blocks of rows, H = I − 11ᵀ/n."""
    V = V.reshape(problem.n, -1)
    V = V - V.mean(axis=0)
    out = np.empty_like(V)
    for rows in row_slices(problem.n, BLOCK_ROWS):
        squares = np.square(problem.distances[rows])
        if problem.has_gaps:
            means = problem.mean_squares
            both = np.add.outer(means[rows], means) / 2
            squares = np.where(np.isnan(squares), both, squares)
        out[rows] = squares @ V
    out *= -0.5
    return np.asarray(out - out.mean(axis=0))
