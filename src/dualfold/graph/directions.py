"""Which exact road, and how many principal directions to scan in."""

from __future__ import annotations

import numpy as np

from dualfold.graph.coordinates import principal_directions
from dualfold.graph.points import pair_distances

__all__ = ["direction_count", "tree_pays"]


# PLACEHOLDER for the measured table
def tree_pays(n: int, width: int, joined: bool) -> bool:
    """Whether a kd-tree beats the scan."""
    return width <= 3 or (width <= 8 and n > 5000)


# Measured on two cores with AVX-512, MNIST 70,000: a scanned pair costs 0.012 ns per
# coordinate and core, plus 0.1 ns; a true distance 0.25 ns per column, plus 100 ns for memory.
_SCAN, _SCAN_FIXED, _TRUE, _TRUE_FIXED = 0.012, 0.1, 0.25, 100.0
_SMALL = 3000  # rows below which choosing costs more than it saves
_ROWS, _COLUMNS = 96, 2048


def direction_count(
    X: np.ndarray, asked: int, *, must_filter: bool
) -> tuple[int, np.ndarray | None]:
    """How many principal directions make the scan cheapest; all of them: do not project.

    Costs are estimated on a sample of rows and columns: with q directions, how
    many of its pairs are not proved farther than the nearest column of the sample
    (which stands for the k-th neighbour in all of X: the sample is thinner)?
    """
    n, width = X.shape
    counts = [q for q in (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384) if q <= 0.75 * width]
    if not counts or (min(n, asked) < _SMALL and not must_filter):
        return (max(1, width // 2), None) if must_filter and width > 1 else (width, None)
    rng = np.random.default_rng(0)
    columns = np.sort(rng.choice(n, min(n, _COLUMNS), replace=False))
    rows = columns[:: max(1, len(columns) // _ROWS)][:_ROWS]
    basis = principal_directions(X, counts[-1])
    some = X[columns] - X[columns].mean(axis=0, dtype=np.float64)
    kept, length = some @ basis, np.einsum("ij,ij->i", some, some)
    at = np.searchsorted(columns, rows)
    true = pair_distances(X, X, np.repeat(rows, len(columns)), np.tile(columns, len(rows))).reshape(
        len(rows), -1
    )
    true[np.arange(len(rows)), at] = np.inf
    reach = true.min(axis=1, keepdims=True) ** 2
    cost = {width: _SCAN * width + _SCAN_FIXED}
    for q in counts:
        short, square = kept[:, :q], np.einsum("ij,ij->i", kept[:, :q], kept[:, :q])
        dropped = np.sqrt(np.maximum(length - square, 0))
        bound = square[at, None] + square - 2 * short[at] @ short.T
        bound += (dropped[at, None] - dropped) ** 2
        share = max(0.0, np.mean(bound <= reach) - 1 / len(columns))
        cost[q] = _SCAN * (q + 1) + _SCAN_FIXED + share * (_TRUE * width + _TRUE_FIXED)
    if must_filter:
        del cost[width]
    return min(cost, key=lambda q: cost[q]), basis
