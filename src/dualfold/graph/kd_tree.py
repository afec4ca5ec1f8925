"""Exact search in few dimensions: a kd-tree finds, the true distances decide.

The tree's own rounding differs from ours, so it is asked for a few more than k;
a row is settled when the last one fetched lies clearly beyond the k-th. Rows that
are not (ties, duplicates) go to the scan, which resolves any number of ties.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.graph.lower_bounds import frame_of
from dualfold.graph.neighbor_lists import without_self
from dualfold.graph.number_rows import pair_distances
from dualfold.graph.scan import scan_queries
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

__all__ = ["tree_pairs_within", "tree_search"]

_EXTRA_NEIGHBORS = 4  # fetched beyond k and the point itself
_CLEAR_RATIO = 1 + 1e-9  # the tree and the kernel round alike to about 1e-15 per dimension
_MAX_FETCHED_ENTRIES = 1 << 21  # entries fetched at a time


def tree_of(X: np.ndarray) -> cKDTree:
    """Midpoint splits: as fast to ask as medians here, faster to build, safe with duplicates."""
    from scipy.spatial import cKDTree  # its import takes longer than most searches

    return cKDTree(X.astype(np.float64), balanced_tree=False, compact_nodes=False)


def tree_search(
    X: np.ndarray, queries: np.ndarray | None, k: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest rows of X to each query, or to each row of X but itself."""
    asked = X if queries is None else queries
    own = 0 if queries is None else -1
    n, fetch = len(asked), min(len(X), k + (queries is None) + _EXTRA_NEIGHBORS)
    tally("distances", n * fetch)
    tree = tree_of(X)
    indices, distances = np.empty((n, k), dtype=np.int32), np.empty((n, k))
    open_rows = []
    step = max(1, _MAX_FETCHED_ENTRIES // fetch)
    with steps("asking the tree", n) as done:
        for first in range(0, n, step):
            rows = np.arange(first, min(n, first + step))
            far, found = _query_in_threads(
                lambda part: tree.query(part, fetch), asked[rows].astype(np.float64), threads
            )
            found = np.reshape(found, (len(rows), fetch)).astype(np.int32)
            far = np.reshape(far, (len(rows), fetch))[:, -1]
            true = pair_distances(asked, X, np.repeat(rows, fetch), found.ravel())
            true = true.reshape(found.shape)
            if own == 0:
                true[found == rows[:, None]] = np.inf
            by = np.lexsort((found, true), axis=-1)[:, :k]
            indices[rows] = np.take_along_axis(found, by, axis=1)
            distances[rows] = np.take_along_axis(true, by, axis=1)
            if fetch < len(X):
                open_rows.append(rows[~(far > distances[rows, -1] * _CLEAR_RATIO)])
            done(len(rows))
    left = np.concatenate(open_rows) if open_rows else np.empty(0, dtype=np.int64)
    if len(left):
        indices[left], distances[left] = nearest_by_scan(X, queries, left, k, threads)
    return indices, distances


def _query_in_threads(
    ask: Callable[[np.ndarray], tuple[Any, ...]], points: np.ndarray, threads: int
) -> tuple[np.ndarray, ...]:
    """The answers for all points, asked for in as many parts as there are threads.

    SciPy's own `workers` are not waited for when Ctrl-C interrupts them: they read on in
    memory that is freed meanwhile, and the process crashes. `in_threads` waits.
    """
    answers = in_threads(ask, np.array_split(points, threads), threads)
    return tuple(np.concatenate(part) for part in zip(*answers, strict=True))


def nearest_by_scan(
    X: np.ndarray, queries: np.ndarray | None, rows: np.ndarray, k: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The exact lists of some rows only, by the scan; a row of X does not list itself."""
    asked = np.ascontiguousarray(X[rows] if queries is None else queries[rows])
    frame = frame_of(X, asked, None)
    points, asked_points = frame.coordinates(X), frame.coordinates(asked)
    extra = 1 if queries is None else 0
    indices, distances = scan_queries(
        X, points, asked, asked_points, frame.scale, k + extra, threads
    )
    return without_self(indices, distances, rows) if extra else (indices, distances)


def tree_pairs_within(
    X: np.ndarray, radius: float, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs row < column at distance <= radius."""
    tree = tree_of(X)
    reach = radius * _CLEAR_RATIO
    (counts,) = _query_in_threads(
        lambda part: (tree.query_ball_point(part, reach, return_length=True),),
        X.astype(np.float64),
        threads,
    )
    parts = []
    edges = np.searchsorted(np.cumsum(counts), np.arange(0, counts.sum(), 1 << 22), side="right")
    for first, last in zip(edges, [*edges[1:], len(X)], strict=True):
        if first == last:
            continue
        (lists,) = _query_in_threads(
            lambda part: (tree.query_ball_point(part, reach),),
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
