"""Which exact algorithm, and how many principal directions to scan in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.graph.distances import pair_distances
from dualfold.graph.lower_bounds import principal_directions

# (up to this many columns, from this many rows): docs/dev/notes/neighbours.md
_TREE_FASTER_FROM = ((4, 0), (6, 30_000), (8, 150_000))
# Nanoseconds of one core, of which only the ratios count: docs/dev/notes/neighbours.md
_SCAN_PAIR_NS = 0.3
_SCAN_COORDINATE_NS = 0.0155
_DISTANCE_PAIR_NS = 200.0
_DISTANCE_COLUMN_NS = 0.25
_SECOND_PAIR_NS = 12.0
_SECOND_COORDINATE_NS = 0.08
_PRODUCT_NUMBER_NS = 0.06  # of the second stage's coordinates, a row and a number of X
_EIGEN_NS = 1.0  # times the cube of the columns
_SAMPLE_COLUMN_NS = 5e5
_MIN_SAVED_NS = 1e8
# Wider tables get their directions from products with a thin sample.
_MAX_EIGEN_COLUMNS = 1500
_MAX_WIDE_DIRECTIONS = 128
# Together with the length of the rest these fill whole registers.
_SECOND_DIRECTION_COUNTS = (63, 127, 191, 255, 383)
_DIRECTION_COUNTS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
# Pairs of the sample on which costs are estimated.
_SAMPLE_ROWS = 96
_SAMPLE_OTHER_ROWS = 2048
_MAX_SAMPLE_NUMBERS = 1 << 24


def is_tree_faster(n: int, width: int) -> bool:
    """Whether a kd-tree is faster than the scan."""
    return any(width <= columns and n >= rows for columns, rows in _TREE_FASTER_FROM)


def _is_projection_worthwhile(pairs: int, width: int) -> bool:
    """Whether the whole scan takes longer than finding the directions."""
    directions = _EIGEN_NS * width**3 if width <= _MAX_EIGEN_COLUMNS else _SAMPLE_COLUMN_NS * width
    scan = pairs / 2 * (_SCAN_PAIR_NS + _SCAN_COORDINATE_NS * width)
    return scan > directions + _MIN_SAVED_NS


def direction_counts(
    X: np.ndarray, n_queries: int, k: int, *, must_filter: bool, second_stage: bool = False
) -> tuple[int, int, np.ndarray | None]:
    """(directions of the fastest scan, those of a second stage or 0, the directions themselves).

    All columns as the first number mean: do not project. Costs are estimated on a sample of rows
    and columns: with q directions, how many of its pairs are not proved farther than the k-th
    neighbour in all of X? The distance of that neighbour is taken from the sample, at the rank
    that is as much smaller as the sample is.
    """
    n, width = X.shape
    most = _MAX_WIDE_DIRECTIONS if width > _MAX_EIGEN_COLUMNS else 0.75 * width
    counts = [q for q in _DIRECTION_COUNTS if q <= most]
    if not counts or not (must_filter or _is_projection_worthwhile(n * n_queries, width)):
        return (max(1, width // 2) if must_filter and width > 1 else width), 0, None
    basis = principal_directions(X, counts[-1])
    share_left = _candidate_share(X, basis, k)
    cost = {(width, 0): _SCAN_COORDINATE_NS * width + _SCAN_PAIR_NS}
    true = _DISTANCE_COLUMN_NS * width + _DISTANCE_PAIR_NS
    for q in counts:
        scan = _SCAN_COORDINATE_NS * (q + 1) + _SCAN_PAIR_NS
        cost[q, 0] = scan + share_left(q) * true
        for more in _SECOND_DIRECTION_COUNTS if second_stage else ():
            if q < more <= counts[-1]:
                second = _SECOND_COORDINATE_NS * more + _SECOND_PAIR_NS
                # The coordinates, for each of n·n_queries/2 pairs.
                made = 2 * _PRODUCT_NUMBER_NS * width * more / n_queries
                cost[q, more] = scan + share_left(q) * second + share_left(more) * true + made
    if must_filter:
        del cost[width, 0]
    return *min(cost, key=lambda pair: cost[pair]), basis


def _candidate_share(X: np.ndarray, basis: np.ndarray, k: int) -> Callable[[int], float]:
    """About the share of pairs that a scan in q directions leaves, as a function of q."""
    n, width = X.shape
    rng = np.random.default_rng(0)
    size = min(n, _SAMPLE_OTHER_ROWS, _MAX_SAMPLE_NUMBERS // width + 16)
    columns = np.sort(rng.choice(n, size, replace=False))
    rows = columns[:: max(1, len(columns) // _SAMPLE_ROWS)][:_SAMPLE_ROWS]
    centred = X[columns] - X[columns].mean(axis=0, dtype=np.float64)
    kept, length = centred @ basis, np.einsum("ij,ij->i", centred, centred)
    at = np.searchsorted(columns, rows)
    true = pair_distances(X, X, np.repeat(rows, len(columns)), np.tile(columns, len(rows)))
    true = true.reshape(len(rows), -1)
    true[np.arange(len(rows)), at] = np.inf
    rank = min(len(columns) - 1, -(-k * len(columns) // n))
    radius = np.sort(true, axis=1)[:, rank - 1 : rank] ** 2

    def share_left(q: int) -> float:
        short, square = kept[:, :q], np.einsum("ij,ij->i", kept[:, :q], kept[:, :q])
        dropped = np.sqrt(np.maximum(length - square, 0))
        bound = square[at, None] + square - 2 * short[at] @ short.T
        bound += (dropped[at, None] - dropped) ** 2
        return max(0.0, float(np.mean(bound <= radius)) - (rank + 1) / len(columns)) + k / n

    return share_left
