"""Before a scan: for each row a search radius, within which it has k rows, from few comparisons.

Any such radius is right, and the shorter it is the fewer candidates the scan leaves. Rows of the
table itself have it from a forest (`forest_guess`). For queries there are two routes, both from
a sample of the rows:

* the k nearest of the sample: the farthest of them;
* the nearest of the sample, p, and R_p, within which p has k rows: d(q, p) + R_p, by the triangle
  inequality.

The second needs one minimum instead of a selection, and is shorter where rows lie along few
directions; in many directions it is nearly twice the first. Some queries decide
(docs/dev/notes/neighbours.md).
"""

from __future__ import annotations

import numpy as np

from dualfold.graph.distances import pair_distances
from dualfold.graph.forest import NO_NEIGHBOR, forest_lists, tree_leaves
from dualfold.graph.lower_bounds import Coordinates
from dualfold.kernels import kernel
from dualfold.kernels.reports import tally
from dualfold.kernels.threads import in_threads, row_slices

# The scan shortens a radius as it goes, so that few rows suffice: docs/dev/notes/neighbours.md
MIN_SAMPLE_ROWS = 256
# Neighbours of a row that a sample should contain; it is used for this many times as many or more.
EXPECTED_SAMPLE_NEIGHBORS = 7
MIN_NEIGHBORS_RATIO = 12
# The same where the sample has no more rows than a row meets in all leaves of a forest.
MIN_SMALL_RATIO = 3
# Queries that decide which of the two routes is taken.
TRIAL_QUERIES = 64
# A block of products takes a megabyte, which stays in the cache.
BLOCK_PRODUCTS = 1 << 18
# For the rounding of two distances and of their sum, which is 1e-14 at most.
ROUNDING_MARGIN = 1e-12
# More trees take longer than their shorter radius saves.
GUESS_TREES = 4
MIN_LEAF_ROWS = 256
_ROWS_PER_CHUNK = 4096
_DISTANCES_PER_CHUNK = 1 << 20

_sample_lists = kernel("sample_lists")


def query_radius(points: Coordinates, queries: Coordinates, k: int) -> np.ndarray:
    """For each query a distance within which k rows lie."""
    X, Q = points.table, queries.table
    size = min(len(X), max(MIN_SAMPLE_ROWS, 4 * k))
    sample = np.sort(np.random.default_rng(0).choice(len(X), size, replace=False))
    vectors, square = points.vectors[sample].T, points.square[sample]

    def shifted_squares(rows: np.ndarray) -> np.ndarray:
        return np.asarray(square - 2 * (queries.vectors[rows] @ vectors))

    def by_selection(rows: np.ndarray) -> np.ndarray:
        best = sample[np.argpartition(shifted_squares(rows), k - 1, axis=1)[:, :k]]
        return _distances_to(Q, X, rows, best).max(axis=1)

    route = by_selection
    if len(Q) > 4 * size:  # computing the sample's own radius is worthwhile
        sample_radius = _sample_radius(points, sample, k)

        def by_triangle(rows: np.ndarray) -> np.ndarray:
            first = np.argmin(shifted_squares(rows), axis=1)
            near = _distances_to(Q, X, rows, sample[first][:, None])[:, 0]
            return np.asarray((near + sample_radius[first]) * (1 + ROUNDING_MARGIN))

        trial = np.arange(0, len(Q), max(1, len(Q) // TRIAL_QUERIES))
        if k == 1 or by_triangle(trial).mean() < by_selection(trial).mean():
            route = by_triangle  # of one neighbour both are alike, and the minimum is found sooner
    step = max(1, BLOCK_PRODUCTS // size)
    starts = range(0, len(Q), step)
    parts = [route(np.arange(at, min(len(Q), at + step))) for at in starts]
    return np.concatenate([np.empty(0), *parts])


def _distances_to(
    queries: np.ndarray, X: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """True distances between queries and as many rows of X each."""
    pairs = np.repeat(rows, columns.shape[1]), columns.ravel()
    return pair_distances(queries, X, *pairs).reshape(columns.shape)


def _sample_radius(points: Coordinates, sample: np.ndarray, k: int) -> np.ndarray:
    """For each row of the sample a distance within which k rows lie, itself among them."""
    if k == 1:
        return np.zeros(len(sample))
    X = points.table
    radius = np.empty(len(sample))
    step = max(1, BLOCK_PRODUCTS // len(X))
    for at in range(0, len(sample), step):
        rows = sample[at : at + step]
        squares = points.square - 2 * (points.vectors[rows] @ points.vectors.T)
        best = np.argpartition(squares, k - 1, axis=1)[:, :k]
        radius[at : at + step] = _distances_to(X, X, rows, best).max(axis=1)
    return radius


def forest_guess(points: Coordinates, k: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row k others that are likely near, and a good order of the rows."""
    n, leaf, trees = len(points.vectors), _leaf_rows(k), GUESS_TREES
    if n <= trees * leaf:  # all pairs once are no more than those in the leaves of all trees
        leaf, trees = n, 1
    rng = np.random.default_rng(0)
    _, lists, order = forest_lists(points, k, trees=trees, leaf=leaf, threads=threads, rng=rng)
    return lists, order


def sample_guess(points: Coordinates, k: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """For each row k others, likely about as far as its k-th neighbour, and an order of rows.

    A forest finds few of many neighbours. Where the k nearest rows include about 7 of a sample,
    the radius that includes 2 standard deviations more is only some 8 % longer, and is found in
    half the time (docs/dev/notes/neighbours.md).
    """
    n, expected = len(points.vectors), EXPECTED_SAMPLE_NEIGHBORS
    size = -(-n * expected // k)
    small = size <= GUESS_TREES * _leaf_rows(k)
    if k < (MIN_SMALL_RATIO if small else MIN_NEIGHBORS_RATIO) * expected:
        return forest_guess(points, k, threads)
    rng = np.random.default_rng(0)
    order, _ = tree_leaves(points.vectors, _leaf_rows(k), rng)
    sample = np.sort(rng.choice(n, size, replace=False)).astype(np.int32)
    tally("sample multiply-adds", n * size * points.vectors.shape[1])
    length = int(expected + 2 * np.sqrt(expected)) + 1
    distance = np.full((n, length), np.inf, dtype=np.float32)
    index = np.full((n, length), NO_NEIGHBOR, dtype=np.int32)
    table = points.vectors, *points.vectors.shape, points.square

    def work(rows: slice) -> None:
        asked = sample, len(sample), order, rows.start, rows.stop
        if _sample_lists(*table, *asked, length, distance, index):
            raise MemoryError("no memory for a sample of the rows")

    in_threads(work, row_slices(n, _ROWS_PER_CHUNK), threads)
    return index, order


def _leaf_rows(k: int) -> int:
    """The most rows of a leaf of a tree for lists of k."""
    return max(MIN_LEAF_ROWS, 4 * k)


def listed_radius(X: np.ndarray, lists: np.ndarray, threads: int) -> np.ndarray:
    """For each row a distance within which it has all rows that it lists."""
    k = lists.shape[1]
    radius = np.full(len(X), np.inf)
    full = np.flatnonzero(lists[:, -1] != NO_NEIGHBOR)

    def measure(part: slice) -> None:
        rows = full[part]
        radius[rows] = _distances_to(X, X, rows, lists[rows]).max(axis=1)

    in_threads(measure, row_slices(len(full), max(1, _DISTANCES_PER_CHUNK // k)), threads)
    return radius


def places_in_order(lists: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Lists of places in the order, instead of rows; NO_NEIGHBOR stays beyond them."""
    n = len(order)
    position = np.full(n + 1, NO_NEIGHBOR)
    position[order] = np.arange(n, dtype=np.int32)
    return np.asarray(position[np.minimum(lists[order], n)])
