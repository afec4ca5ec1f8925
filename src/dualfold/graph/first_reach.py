"""Before a scan: for each query a distance within which it has k rows, from few comparisons.

Any such distance is right, and the shorter it is the fewer pairs the scan has to look at closely.
Two ways to one, both from a sample of the rows:

* the k nearest of the sample: the farthest of them;
* the nearest of the sample, p, and R_p, within which p has k rows: d(q, p) + R_p, by the triangle.

The second needs one minimum instead of a selection, and is the shorter one where rows lie along few
directions (2,000 rows of a surface in 50 columns: 1.1 µs a query instead of 2.6, and 54 pairs to
look at instead of 69). In many directions it is nearly twice the first. Some queries decide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.graph.coordinates import Coordinates
from dualfold.graph.points import pair_distances

__all__ = ["query_reach"]

# Rows of the sample. The scan shortens a reach at once, so that few will do: with 256 instead of
# 4,096 queries of 11 neighbours took a half (5,000 images of MNIST) to a quarter (surfaces, 20
# normal columns).
FEW = 256
# Queries that tell which way is the shorter one.
TRIED = 64
# Numbers of a block of products: a megabyte, which stays in the cache.
BLOCK = 1 << 18
# For the rounding of two distances and of their sum, which is 1e-14 at most.
SLACK = 1e-12

Way = Callable[[np.ndarray], np.ndarray]


def query_reach(
    X: np.ndarray, points: Coordinates, queries: np.ndarray, query_points: Coordinates, k: int
) -> np.ndarray:
    """For each query a distance within which k rows of X lie."""
    size = min(len(X), max(FEW, 4 * k))
    sample = np.sort(np.random.default_rng(0).choice(len(X), size, replace=False))
    some, square = points.vectors[sample].T, points.square[sample]

    def apart(rows: np.ndarray) -> np.ndarray:
        return np.asarray(square - 2 * (query_points.vectors[rows] @ some))

    def selected(rows: np.ndarray) -> np.ndarray:
        best = sample[np.argpartition(apart(rows), k - 1, axis=1)[:, :k]]
        return _measured(queries, X, rows, best).max(axis=1)

    way: Way = selected
    if len(queries) > 4 * size:  # the own reach of the sample pays
        beyond = _own_reach(X, points, sample, k)

        def triangle(rows: np.ndarray) -> np.ndarray:
            first = np.argmin(apart(rows), axis=1)
            near = _measured(queries, X, rows, sample[first][:, None])[:, 0]
            return np.asarray((near + beyond[first]) * (1 + SLACK))

        tried = np.arange(0, len(queries), len(queries) // TRIED)
        if triangle(tried).mean() < selected(tried).mean():
            way = triangle
    step = max(1, BLOCK // size)
    return np.concatenate(
        [way(np.arange(at, min(len(queries), at + step))) for at in range(0, len(queries), step)]
    )


def _measured(
    queries: np.ndarray, X: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """True distances between queries and as many rows of X each."""
    pairs = np.repeat(rows, columns.shape[1]), columns.ravel()
    return pair_distances(queries, X, *pairs).reshape(columns.shape)


def _own_reach(X: np.ndarray, points: Coordinates, sample: np.ndarray, k: int) -> np.ndarray:
    """For each row of the sample a distance within which k rows lie, itself among them."""
    found = np.empty(len(sample))
    step = max(1, BLOCK // len(X))
    for at in range(0, len(sample), step):
        rows = sample[at : at + step]
        apart = points.square - 2 * (points.vectors[rows] @ points.vectors.T)
        best = np.argpartition(apart, k - 1, axis=1)[:, :k]
        found[at : at + step] = _measured(X, X, rows, best).max(axis=1)
    return found
