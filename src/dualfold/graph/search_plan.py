"""Which exact algorithm, and how many principal directions to scan in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.graph.lower_bounds import principal_directions
from dualfold.graph.number_rows import pair_distances

__all__ = ["direction_counts", "is_tree_faster"]


# Seconds of kd-tree / scan, k = 10, two shared cores: 3-D roll n = 20,000 .10/.27, 60,000
# .24/1.06; uniform 5-D n = 20,000 .39/.25, 60,000 .58/1.11; 8-D n = 3,000 .05/.03, 60,000
# 2.8/1.3; 12-D n = 20,000 7.6/.5; 8-D inside 30-D n = 20,000 9.8/.5; digits 64-D .13/.02.
# The scan grows with n², the tree hardly more than n; the last line is extrapolated from that.
_TREE_PAYS_FROM = ((4, 0), (6, 30_000), (8, 150_000))  # (up to this many columns, rows)


def is_tree_faster(n: int, width: int) -> bool:
    """Whether a kd-tree beats the scan."""
    return any(width <= columns and n >= rows for columns, rows in _TREE_PAYS_FROM)


# Nanoseconds of one core (AVX-512, MNIST 70,000; q = 48, 64, 96 directions took 1.1, 1.35,
# 1.8 a scanned pair): fixed and per coordinate. A true distance of 784 columns took 280 to
# 400 with the lists that it enters, half of it waiting for memory. What counts is the ratio, which
# other machines share.
_SCAN_PAIR_NS, _SCAN_COORDINATE_NS, _DISTANCE_PAIR_NS, _DISTANCE_COLUMN_NS = (
    0.3,
    0.0155,
    200.0,
    0.25,
)
# A second look at a pair (`narrowing`), and the coordinates for it, a row and number of X each.
_SECOND_PAIR_NS, _SECOND_COORDINATE_NS, _PRODUCT_NUMBER_NS = 12.0, 0.08, 0.06
# Finding the directions, in nanoseconds: an eigendecomposition (784 columns: .5 s), or, when
# wide, some products with a thin sample (6,000 columns: 3 s).
_EIGEN_NS, _MAX_EIGEN_COLUMNS, _SAMPLE_COLUMN_NS = 1.0, 1500, 5e5
_SECOND_DIRECTION_COUNTS = (63, 127, 191, 255, 383)  # with the length of the rest whole registers
_DIRECTION_COUNTS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
_SAMPLE_ROWS, _SAMPLE_OTHER_ROWS, _MAX_SAMPLE_NUMBERS = 96, 2048, 1 << 24  # of the sample


def _is_projection_worthwhile(pairs: int, width: int) -> bool:
    """Whether the whole scan takes longer than finding the directions."""
    directions = _EIGEN_NS * width**3 if width <= _MAX_EIGEN_COLUMNS else _SAMPLE_COLUMN_NS * width
    return pairs / 2 * (_SCAN_PAIR_NS + _SCAN_COORDINATE_NS * width) > directions + 1e8


def direction_counts(
    X: np.ndarray, asked: int, k: int, *, must_filter: bool, second_look: bool = False
) -> tuple[int, int, np.ndarray | None]:
    """How many principal directions make the scan cheapest; all of them: do not project.

    The second number is that of directions for a second look at what the scan leaves, 0 for none;
    the directions themselves follow. Costs are estimated on a sample of rows and columns: with q
    directions, how many of its pairs are not proved farther than the k-th neighbour in all of X?
    That one's distance is taken from the sample, at the rank thinned as X was.
    """
    n, width = X.shape
    most = 128 if width > _MAX_EIGEN_COLUMNS else 0.75 * width
    counts = [q for q in _DIRECTION_COUNTS if q <= most]
    if not counts or not (must_filter or _is_projection_worthwhile(n * asked, width)):
        return (max(1, width // 2) if must_filter and width > 1 else width), 0, None
    basis = principal_directions(X, counts[-1])
    left = _left_pairs(X, basis, k)
    cost = {(width, 0): _SCAN_COORDINATE_NS * width + _SCAN_PAIR_NS}
    true = _DISTANCE_COLUMN_NS * width + _DISTANCE_PAIR_NS
    for q in counts:
        scan = _SCAN_COORDINATE_NS * (q + 1) + _SCAN_PAIR_NS
        cost[q, 0] = scan + left(q) * true
        for more in _SECOND_DIRECTION_COUNTS if second_look else ():
            if q < more <= counts[-1]:
                look = _SECOND_COORDINATE_NS * more + _SECOND_PAIR_NS
                made = 2 * _PRODUCT_NUMBER_NS * width * more / asked  # for each of n·asked/2 pairs
                cost[q, more] = scan + left(q) * look + left(more) * true + made
    if must_filter:
        del cost[width, 0]
    return *min(cost, key=lambda pair: cost[pair]), basis


def _left_pairs(X: np.ndarray, basis: np.ndarray, k: int) -> Callable[[int], float]:
    """The share of pairs that q directions leave, about, as a function of q."""
    n, width = X.shape
    rng = np.random.default_rng(0)
    columns = np.sort(
        rng.choice(n, min(n, _SAMPLE_OTHER_ROWS, _MAX_SAMPLE_NUMBERS // width + 16), replace=False)
    )
    rows = columns[:: max(1, len(columns) // _SAMPLE_ROWS)][:_SAMPLE_ROWS]
    some = X[columns] - X[columns].mean(axis=0, dtype=np.float64)
    kept, length = some @ basis, np.einsum("ij,ij->i", some, some)
    at = np.searchsorted(columns, rows)
    true = pair_distances(X, X, np.repeat(rows, len(columns)), np.tile(columns, len(rows))).reshape(
        len(rows), -1
    )
    true[np.arange(len(rows)), at] = np.inf
    rank = min(len(columns) - 1, -(-k * len(columns) // n))
    reach = np.sort(true, axis=1)[:, rank - 1 : rank] ** 2

    def left(q: int) -> float:
        short, square = kept[:, :q], np.einsum("ij,ij->i", kept[:, :q], kept[:, :q])
        dropped = np.sqrt(np.maximum(length - square, 0))
        bound = square[at, None] + square - 2 * short[at] @ short.T
        bound += (dropped[at, None] - dropped) ** 2
        return max(0.0, float(np.mean(bound <= reach)) - (rank + 1) / len(columns)) + k / n

    return left
