"""Exact search in few dimensions: a kd-tree finds candidates, true distances decide.

The tree's own rounding differs from ours, so a few more than k are fetched; a list is final when
the last row fetched lies clearly beyond the k-th. Rows whose lists are not (ties, duplicates)
go to the scan, which resolves any number of ties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.graph.distances import pair_distances
from dualfold.graph.lower_bounds import frame_of
from dualfold.graph.neighbor_lists import without_self
from dualfold.graph.scan import scan_queries
from dualfold.kernels import c_constant, kernel, kernel_in_shares
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

# Fetched beyond k and the row itself.
_EXTRA_NEIGHBORS = 4
# The tree and the kernel round alike to about 1e-15 per dimension.
_CLEAR_RATIO = 1 + 1e-9
_ENTRIES_PER_CHUNK = 1 << 21
_PAIRS_PER_CHUNK = 1 << 22
LEAF_ROWS = c_constant("LEAF_ROWS")
# In more columns the box of a leaf is far wider than a row's own neighbourhood, and SciPy's tree,
# which is asked row by row, is faster (docs/dev/notes/neighbours.md).
MAX_LEAF_TREE_COLUMNS = 4
# An entry of a longer list moves too many others, and SciPy's heap is faster
# (docs/dev/notes/neighbours.md).
MAX_LEAF_TREE_NEIGHBORS = 400
SHARES_A_THREAD = 8
# To start a thread takes as long as some 20 queries (docs/dev/notes/small-problems.md).
_MIN_QUERIES_A_THREAD = 256


_leaf_tree = kernel("leaf_tree")
_leaf_neighbors = kernel_in_shares("leaf_neighbors")


def tree_of(X: np.ndarray) -> cKDTree:
    """A tree of midpoint splits: as fast to query as medians here, faster to build, and safe with
    duplicates."""
    from scipy.spatial import cKDTree  # its import takes longer than most searches

    return cKDTree(X.astype(np.float64), balanced_tree=False, compact_nodes=False)


@dataclass(frozen=True, eq=False)
class LeafTree:
    """Rows in the order of the leaves that they were divided into, for their own neighbours.

    Rows of one leaf search together, which takes a third of `cKDTree`'s time
    (docs/dev/notes/neighbours.md).

    order : the rows, leaf by leaf
    boxes : least and most coordinates of every node
    columns : the coordinates in this order, one column after the other
    """

    depth: int
    order: np.ndarray
    boxes: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> LeafTree:
        n, width = X.shape
        depth = max(0, -(-n // LEAF_ROWS) - 1).bit_length()
        order, columns = np.empty(n, np.int32), np.empty((n + LEAF_ROWS) * width)
        boxes = np.empty((4 << depth) * width)
        points = np.ascontiguousarray(X, dtype=np.float64)
        _refuse_without_memory([_leaf_tree(n, width, depth, points, order, boxes, columns)])
        return cls(depth, order, boxes, columns)

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays, as the kernel takes them."""
        return self.order, self.boxes, self.columns


def tree_search(
    X: np.ndarray, queries: np.ndarray | None, k: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest rows of X to each query, or to each row of X but itself."""
    n = len(X if queries is None else queries)
    tally("distances", n * min(len(X), k + (queries is None) + _EXTRA_NEIGHBORS))
    with steps("asking the tree", n) as done:
        few = X.shape[1] <= MAX_LEAF_TREE_COLUMNS and k <= MAX_LEAF_TREE_NEIGHBORS
        if queries is None and few:
            indices, distances, rest = _lists_by_leaves(X, k, threads, done)
        else:
            indices, distances, rest = _lists_by_rows(X, queries, k, threads, done)
    if len(rest):
        indices[rest], distances[rest] = nearest_by_scan(X, queries, rest, k, threads)
    return indices, distances


def _lists_by_leaves(
    X: np.ndarray, k: int, threads: int, done: Callable[[float], None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lists of the rows of X, and the rows whose lists are not clear."""
    tree = LeafTree.of(X)
    n, depth = len(X), tree.depth
    indices, distances = np.empty((n, k), dtype=np.int32), np.empty((n, k))
    unclear = np.empty(n, np.int32)
    sizes = n, X.shape[1], depth, min(n - 1, k + _EXTRA_NEIGHBORS), k, _CLEAR_RATIO

    share = _leaf_neighbors(*sizes, *tree.parts(), indices, distances, unclear)

    def search(leaves: slice) -> int:
        state: int = share(leaves.start, leaves.stop)
        done(n * (leaves.stop - leaves.start) / 2**depth)
        return state

    used = max(1, min(threads, n // _MIN_QUERIES_A_THREAD))
    share_rows = max(_MIN_QUERIES_A_THREAD, n // (SHARES_A_THREAD * used))
    parts = row_slices(1 << depth, max(1, (share_rows << depth) // n))
    _refuse_without_memory(in_threads(search, list(parts), used))
    return indices, distances, np.flatnonzero(unclear)


def _refuse_without_memory(states: list[int]) -> None:
    if any(states):
        raise MemoryError("the search of neighbours could not have its working memory")


def _lists_by_rows(
    X: np.ndarray, queries: np.ndarray | None, k: int, threads: int, done: Callable[[float], None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lists of the queries (None: of the rows of X), and of which the list is not clear."""
    asked = X if queries is None else queries
    n, fetch = len(asked), min(len(X), k + (queries is None) + _EXTRA_NEIGHBORS)
    tree = tree_of(X)
    indices, distances = np.empty((n, k), dtype=np.int32), np.empty((n, k))
    # Rows of one leaf ask for the same nodes, which are then in the cache: 2.4 times as fast for
    # 300,000 rows in random order (docs/dev/notes/neighbours.md).
    order = np.asarray(tree.indices) if queries is None else np.arange(n)

    def search(part: slice) -> np.ndarray:
        """Write the lists of some rows; returns those among them whose list is not clear."""
        rows = order[part]
        far, candidates = tree.query(asked[rows].astype(np.float64), fetch)
        candidates = np.reshape(candidates, (len(rows), fetch)).astype(np.int32)
        far = np.reshape(far, (len(rows), fetch))[:, -1]
        true = pair_distances(asked, X, np.repeat(rows, fetch), candidates.ravel())
        true = true.reshape(candidates.shape)
        if queries is None:
            true[candidates == rows[:, None]] = np.inf
        by = np.lexsort((candidates, true), axis=-1)[:, :k]
        indices[rows] = np.take_along_axis(candidates, by, axis=1)
        distances[rows] = np.take_along_axis(true, by, axis=1)
        done(len(rows))
        clear = far > distances[rows, -1] * _CLEAR_RATIO
        return rows[~clear] if fetch < len(X) else rows[:0]

    # Threads of ours, not SciPy's `workers`: `_query_in_threads` says why.
    used = max(1, min(threads, n // _MIN_QUERIES_A_THREAD))
    step = max(1, min(_ENTRIES_PER_CHUNK // (fetch * used), -(-n // used)))
    unclear = in_threads(search, list(row_slices(n, step)), used)
    return indices, distances, np.sort(np.concatenate([*unclear, order[:0]]))


def _query_in_threads(
    query: Callable[[np.ndarray], tuple[Any, ...]], points: np.ndarray, threads: int
) -> tuple[np.ndarray, ...]:
    """The answers for all points, which are divided among the threads.

    SciPy's own `workers` are not waited for when Ctrl-C interrupts them: they read on in
    memory that is freed meanwhile, and the process crashes. `in_threads` waits.
    """
    threads = max(1, min(threads, len(points) // _MIN_QUERIES_A_THREAD))
    if threads == 1:
        return query(points)
    answers = in_threads(query, np.array_split(points, threads), threads)
    return tuple(np.concatenate(part) for part in zip(*answers, strict=True))


def nearest_by_scan(
    X: np.ndarray, queries: np.ndarray | None, rows: np.ndarray, k: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The exact lists of some rows only, by the scan; a row of X does not list itself."""
    asked = np.ascontiguousarray(X[rows] if queries is None else queries[rows])
    frame = frame_of(X, asked, None)
    is_self_join = queries is None
    lists = scan_queries(frame.coordinates(X), frame.coordinates(asked), k + is_self_join, threads)
    return without_self(*lists, rows) if is_self_join else lists


def tree_pairs_within(
    X: np.ndarray, radius: float, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs row < column at distance <= radius."""
    if not len(X):
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    tree = tree_of(X)
    clear_radius = radius * _CLEAR_RATIO
    (counts,) = _query_in_threads(
        lambda part: (tree.query_ball_point(part, clear_radius, return_length=True),),
        X.astype(np.float64),
        threads,
    )
    parts = []
    edges = np.searchsorted(
        np.cumsum(counts), np.arange(0, counts.sum(), _PAIRS_PER_CHUNK), side="right"
    )
    for first, last in zip(edges, [*edges[1:], len(X)], strict=True):
        if first == last:
            continue
        (lists,) = _query_in_threads(
            lambda part: (tree.query_ball_point(part, clear_radius),),
            X[first:last].astype(np.float64),
            threads,
        )
        row = np.repeat(np.arange(first, last), counts[first:last]).astype(np.int32)
        column = np.concatenate([np.asarray(each, dtype=np.int32) for each in lists])
        upper = row < column
        row, column = row[upper], column[upper]
        distance = pair_distances(X, X, row, column)
        near = distance <= radius
        parts.append((row[near], column[near], distance[near]))
    if not parts:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]
