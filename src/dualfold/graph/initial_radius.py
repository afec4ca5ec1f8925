"""Before a scan: for each point a distance within which it has k rows, from few comparisons.

Any such distance is right, and the shorter it is the fewer pairs the scan has to look at closely.
Rows of the table itself have it from a forest (`first_lists`). Queries have two ways to one, both
from a sample of the rows:

* the k nearest of the sample: the farthest of them;
* the nearest of the sample, p, and R_p, within which p has k rows: d(q, p) + R_p, by the triangle.

The second needs one minimum instead of a selection, and is the shorter one where rows lie along few
directions (2,000 rows of a surface in 50 columns: 1.1 µs a query instead of 2.6, and 54 pairs to
look at instead of 69). In many directions it is nearly twice the first. Some queries decide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.graph.forest import NO_NEIGHBOR, forest_lists, tree_leaves
from dualfold.graph.lower_bounds import Coordinates
from dualfold.graph.number_rows import pair_distances
from dualfold.kernels import kernel
from dualfold.kernels.threads import in_threads, row_slices

__all__ = ["forest_guess", "listed_radius", "places_in_order", "query_radius", "sample_guess"]

# Rows of the sample. The scan shortens a reach at once, so that few will do: with 256 instead of
# 4,096 queries of 11 neighbours took a half (5,000 images of MNIST) to a quarter (surfaces, 20
# normal columns).
MIN_SAMPLE_ROWS = 256
# Neighbours of a row that a sample is to hold, and how many times as many are asked for at least.
EXPECTED_SAMPLE_NEIGHBORS, MIN_NEIGHBORS_RATIO = 7, 12
ROWS_PER_CHUNK = 4096  # of a part of the work
# Queries that tell which way is the shorter one.
TRIAL_QUERIES = 64
# Numbers of a block of products: a megabyte, which stays in the cache.
BLOCK_PRODUCTS = 1 << 18
# For the rounding of two distances and of their sum, which is 1e-14 at most.
ROUNDING_MARGIN = 1e-12

_sample_lists = kernel("sample_lists")
Way = Callable[[np.ndarray], np.ndarray]


def query_radius(
    X: np.ndarray, points: Coordinates, queries: np.ndarray, query_points: Coordinates, k: int
) -> np.ndarray:
    """For each query a distance within which k rows of X lie."""
    size = min(len(X), max(MIN_SAMPLE_ROWS, 4 * k))
    sample = np.sort(np.random.default_rng(0).choice(len(X), size, replace=False))
    some, square = points.vectors[sample].T, points.square[sample]

    def apart(rows: np.ndarray) -> np.ndarray:
        return np.asarray(square - 2 * (query_points.vectors[rows] @ some))

    def selected(rows: np.ndarray) -> np.ndarray:
        best = sample[np.argpartition(apart(rows), k - 1, axis=1)[:, :k]]
        return _distances_to(queries, X, rows, best).max(axis=1)

    way: Way = selected
    if len(queries) > 4 * size:  # the own reach of the sample pays
        beyond = _sample_radius(X, points, sample, k)

        def triangle(rows: np.ndarray) -> np.ndarray:
            first = np.argmin(apart(rows), axis=1)
            near = _distances_to(queries, X, rows, sample[first][:, None])[:, 0]
            return np.asarray((near + beyond[first]) * (1 + ROUNDING_MARGIN))

        tried = np.arange(0, len(queries), len(queries) // TRIAL_QUERIES)
        if triangle(tried).mean() < selected(tried).mean():
            way = triangle
    step = max(1, BLOCK_PRODUCTS // size)
    return np.concatenate(
        [way(np.arange(at, min(len(queries), at + step))) for at in range(0, len(queries), step)]
    )


def _distances_to(
    queries: np.ndarray, X: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """True distances between queries and as many rows of X each."""
    pairs = np.repeat(rows, columns.shape[1]), columns.ravel()
    return pair_distances(queries, X, *pairs).reshape(columns.shape)


def _sample_radius(X: np.ndarray, points: Coordinates, sample: np.ndarray, k: int) -> np.ndarray:
    """For each row of the sample a distance within which k rows lie, itself among them."""
    found = np.empty(len(sample))
    step = max(1, BLOCK_PRODUCTS // len(X))
    for at in range(0, len(sample), step):
        rows = sample[at : at + step]
        apart = points.square - 2 * (points.vectors[rows] @ points.vectors.T)
        best = np.argpartition(apart, k - 1, axis=1)[:, :k]
        found[at : at + step] = _distances_to(X, X, rows, best).max(axis=1)
    return found


def forest_guess(points: Coordinates, k: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row k others that are likely near, and a good order of the rows.

    Trees and leaves: on MNIST 70,000 more trees cost more than their better reach saves.
    """
    rng = np.random.default_rng(0)
    leaf = max(256, 4 * k)
    _, lists, order = forest_lists(points, k, trees=4, leaf=leaf, threads=threads, rng=rng)
    return lists, order


def sample_guess(points: Coordinates, k: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """The same, of others that are likely to be as far as the k-th neighbour, or a little farther.

    A forest finds few of many neighbours: on MNIST 70,000 the farthest of 91 listed ones is 18 %
    farther than the 91st neighbour. Where the k nearest rows hold about EXPECTED of a sample, one
    that holds 2 standard deviations more is only some 8 % farther, and is found in half the time.
    """
    n = len(points.vectors)
    if k < MIN_NEIGHBORS_RATIO * EXPECTED_SAMPLE_NEIGHBORS:
        return forest_guess(points, k, threads)
    rng = np.random.default_rng(0)
    order, _ = tree_leaves(points.vectors, max(256, 4 * k), rng)
    sample = np.sort(rng.choice(n, -(-n * EXPECTED_SAMPLE_NEIGHBORS // k), replace=False)).astype(
        np.int32
    )
    length = int(EXPECTED_SAMPLE_NEIGHBORS + 2 * np.sqrt(EXPECTED_SAMPLE_NEIGHBORS)) + 1
    distance = np.full((n, length), np.inf, dtype=np.float32)
    index = np.full((n, length), NO_NEIGHBOR, dtype=np.int32)

    def work(rows: slice) -> None:
        failed = _sample_lists(
            points.vectors, *points.vectors.shape, points.square, sample, len(sample), order,
            rows.start, rows.stop, length, distance, index,
        )  # fmt: skip
        if failed:
            raise MemoryError("no memory for a sample of the rows")

    in_threads(work, row_slices(n, ROWS_PER_CHUNK), threads)
    return index, order


def listed_radius(X: np.ndarray, lists: np.ndarray, threads: int) -> np.ndarray:
    """For each row a distance within which it has all rows that it lists."""
    k = lists.shape[1]
    reach = np.full(len(X), np.inf)
    full = np.flatnonzero(lists[:, -1] != NO_NEIGHBOR)
    step = max(1, (1 << 20) // k)

    def measure(some: slice) -> None:
        rows = full[some]
        pairs = lists[rows].ravel()
        reach[rows] = pair_distances(X, X, np.repeat(rows, k), pairs).reshape(-1, k).max(axis=1)

    in_threads(measure, row_slices(len(full), step), threads)
    return reach


def places_in_order(lists: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Lists of places in the order, instead of rows; NOBODY stays beyond them."""
    n = len(order)
    place = np.full(n + 1, NO_NEIGHBOR)
    place[order] = np.arange(n, dtype=np.int32)
    return np.asarray(place[np.minimum(lists[order], n)])
