"""Distances between rows: one kernel, how right it is, and what it does where squares underflow.

Below 2⁻⁴⁸⁰ (3e-145) the squares of differences come near 2⁻¹⁰²², where double precision runs out
of digits, and the kernel's distance may be anything from 0 to twice the true one. Differences
themselves are right there (a difference that small is exact), so they are first multiplied
by 2⁶⁰⁰, exactly: the smallest possible one, 2⁻¹⁰⁷⁴, has the square 2⁻⁹⁴⁸ then. Above 2⁻⁴⁸⁰
squares that underflow add less than 2⁻¹⁰⁷⁴·width/2⁻⁹⁶⁰ to a distance, which is negligible.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dualfold.kernels import c_constant, kernels_by_dtype
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.kernels.threads import row_slices

UNDERFLOW_DISTANCE = 2.0**-480
_UNDERFLOW_SCALE = 2.0**600
# Numbers of one working block in float64.
_NUMBERS_PER_CHUNK = 1 << 22
# Sums that run side by side in a distance.
SQUARE_LANES = c_constant("SQUARE_LANES")

_pair_distances = kernels_by_dtype("pair_distances")


def chunks(n: int, width: int) -> Iterator[slice]:
    """Slices of rows whose float64 copies stay small."""
    return row_slices(n, max(1, _NUMBERS_PER_CHUNK // max(1, width)))


def pair_distances(
    X: np.ndarray, Y: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """|X[rows[p]] - Y[columns[p]]| for each p, the one source of true distances.

    Differences, squares and sums in float64 in a fixed order: every algorithm returns
    the same bits. How right they are: `distance_rounding`.
    """
    distances = np.empty(len(rows))
    first, second = (np.ascontiguousarray(part, dtype=np.int32) for part in (rows, columns))
    _pair_distances[X.dtype](X, Y, X.shape[1], first, second, len(rows), distances)
    return distances


def distance_rounding(width: int) -> float:
    """A bound of the relative error of a computed distance between rows of `width` columns.

    With u = 2⁻⁵³ a difference is off by u, its square by 3u, and 32 lanes add ⌈width/32⌉
    squares each, all of one sign, and are folded in 5 steps: d² is off by (L + 7)u at
    most, L = ⌈width/32⌉, and d, with the rounding of the root, by (L + 9)u/2 (a hundredth
    for products of errors). It holds where no square underflows; `correct_underflow_lists` and
    `correct_underflow_pairs` compute the others again.
    """
    rounds = -(-width // SQUARE_LANES) + SQUARE_LANES.bit_length() - 1  # of a lane, then to fold
    return 1.01 * (rounds + 4) / 2 * UNIT_ROUNDOFF


def correct_underflow_lists(
    X: np.ndarray, queries: np.ndarray | None, indices: np.ndarray, distances: np.ndarray
) -> None:
    """Correct, in place, the lists in which distances between different rows underflow.

    A list that ends beyond UNDERFLOW_DISTANCE has the right members, whose first ones may be in
    the wrong order. From a list that ends within it any row may be missing: all rows are
    compared again. Rows that equal the query are at 0 and need nothing.
    """
    asked = X if queries is None else queries
    at, column = np.nonzero(distances < UNDERFLOW_DISTANCE)
    different = [
        at[part][(X[indices[at[part], column[part]]] != asked[at[part]]).any(axis=1)]
        for part in chunks(len(at), X.shape[1])
    ]
    for row in np.unique(np.concatenate([*different, np.empty(0, np.int64)])):
        count = int((distances[row] < UNDERFLOW_DISTANCE).sum())
        k = len(indices[row])
        among = np.arange(len(X), dtype=np.int32) if count == k else indices[row, :count]
        scaled = _scaled_distances(asked[row], X[among])
        if queries is None and count == k:
            scaled[row] = np.inf
        best = np.lexsort((among, scaled))[:count]
        indices[row, :count] = among[best]
        distances[row, :count] = scaled[best] / _UNDERFLOW_SCALE


def correct_underflow_pairs(
    X: np.ndarray, Y: np.ndarray, rows: np.ndarray, columns: np.ndarray, distances: np.ndarray
) -> None:
    """Correct, in place, those of the distances |X[rows[p]] - Y[columns[p]]| that underflow."""
    tiny = np.flatnonzero(distances < UNDERFLOW_DISTANCE)
    for part in chunks(len(tiny), X.shape[1]):
        pairs = tiny[part]
        scaled = _scaled_distances(X[rows[pairs]], Y[columns[pairs]])
        distances[pairs] = scaled / _UNDERFLOW_SCALE


def _scaled_distances(x: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """2⁶⁰⁰|x − y| for each row y of Y (x: one row, or as many); infinite where that overflows."""
    with np.errstate(over="ignore"):
        scaled = (Y.astype(np.float64) - x) * _UNDERFLOW_SCALE
        return np.asarray(np.sqrt(np.square(scaled).sum(axis=1)))
