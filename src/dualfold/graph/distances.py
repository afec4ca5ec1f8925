"""Points so close that the squares of their differences vanish.

Below 2⁻⁴⁸⁰ (3e-145) the squares come near 2⁻¹⁰²², where double precision runs out of
digits, and the kernel's distance may be anything from 0 to twice the true one. Differences
themselves are right there (a difference that small is exact), so they are first multiplied
by 2⁶⁰⁰, exactly: the smallest possible one, 2⁻¹⁰⁷⁴, has the square 2⁻⁹⁴⁸ then.
Above 2⁻⁴⁸⁰ what vanishing squares add is under 2⁻¹⁰⁷⁴·width/2⁻⁹⁶⁰, nothing.
"""

from __future__ import annotations

import numpy as np

from dualfold.graph.number_rows import chunks

__all__ = ["UNDERFLOW_DISTANCE", "correct_underflow_lists", "correct_underflow_pairs"]

UNDERFLOW_DISTANCE = 2.0**-480
_UP_SCALE = 2.0**600


def correct_underflow_lists(
    X: np.ndarray, queries: np.ndarray | None, indices: np.ndarray, distances: np.ndarray
) -> None:
    """Put rows that list faint distances between different points right, in place.

    A list that ends beyond FAINT has the right members, whose first ones may be in the
    wrong order. Of one that ends within, any point may be missing: it is found again
    among all points. Points that equal the row are at 0 and need nothing.
    """
    asked = X if queries is None else queries
    at, place = np.nonzero(distances < UNDERFLOW_DISTANCE)
    different = [
        at[part][(X[indices[at[part], place[part]]] != asked[at[part]]).any(axis=1)]
        for part in chunks(len(at), X.shape[1])
    ]
    for row in np.unique(np.concatenate([*different, np.empty(0, np.int64)])):
        count = int((distances[row] < UNDERFLOW_DISTANCE).sum())
        k = len(indices[row])
        among = np.arange(len(X), dtype=np.int32) if count == k else indices[row, :count]
        apart = _scaled_distances(asked[row], X[among])
        if queries is None and count == k:
            apart[row] = np.inf
        best = np.lexsort((among, apart))[:count]
        indices[row, :count], distances[row, :count] = among[best], apart[best] / _UP_SCALE


def correct_underflow_pairs(
    X: np.ndarray, Y: np.ndarray, rows: np.ndarray, columns: np.ndarray, distances: np.ndarray
) -> None:
    """Put the faint ones among |X[rows[p]] - Y[columns[p]]| right, in place."""
    faint = np.flatnonzero(distances < UNDERFLOW_DISTANCE)
    for part in chunks(len(faint), X.shape[1]):
        some = faint[part]
        distances[some] = _scaled_distances(X[rows[some]], Y[columns[some]]) / _UP_SCALE


def _scaled_distances(x: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """2⁶⁰⁰|x − y| for each row y of Y (and row x, if they are many); infinite for far ones."""
    with np.errstate(over="ignore"):
        apart = (Y.astype(np.float64) - x) * _UP_SCALE
        return np.asarray(np.sqrt(np.square(apart).sum(axis=1)))
