"""Passes over the rows of X, dense or sparse, that never copy it as a whole or make it dense.

Dense rows of any type (float32, uint8, memory maps) are read in tiles, shifted by the
mean and multiplied in float64. Sparse rows stay sparse: the mean enters by algebra,
(X − 1x̄ᵀ)V = XV − 1(x̄ᵀV), which is accurate while the mean is not large against the
spread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.threads import in_shares, thin_tiles


def numeric_table(X: Any) -> Any:
    """X as a CSR matrix if it is sparse, else as a two-dimensional array of numbers.

    Arrays (memory maps too) are not copied; data frames and lists are.
    """
    if np.ma.is_masked(X):
        raise InvalidInput("the data has masked entries; fill (X.filled) or drop them first")
    rows: Any = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if rows.ndim != 2 or 0 in rows.shape:
        raise InvalidInput(
            "the data must be a table with at least one row and one column, a row a point; "
            f"its shape is {rows.shape}"
        )
    if rows.dtype.kind not in "fiub":
        raise InvalidInput(
            f"the data must hold numbers, its type is {rows.dtype}; encode or drop other columns"
        )
    return rows


def column_means(X: Any) -> Array:
    """The mean of each column in float64, without a float64 copy of X."""
    if sp.issparse(X):
        return np.asarray(X.mean(axis=0, dtype=float)).ravel()

    def share(slices: list[slice]) -> Array:
        # Widened first: NumPy adds doubles at full speed, and casts while adding at a fifth.
        wide = (X[rows].astype(float, copy=False).sum(axis=0) for rows in slices)
        return sum(wide, np.zeros(X.shape[1]))

    return np.asarray(sum(in_shares(share, thin_tiles(X))) / len(X))


def column_deviations(X: Any, mean: Array, *, constant: float = 1.0) -> Array:
    """Each column's standard deviation (divisor n), and `constant` where it does not vary.

    A column whose deviation is within rounding of its mean counts as constant: divided
    by 1 it stays as flat as it is, divided by itself it would become noise.
    """
    n, squares = X.shape[0], np.zeros(X.shape[1])
    if sp.issparse(X):
        stored = X.tocsc()
        counts = np.diff(stored.indptr)
        columns = np.repeat(np.arange(X.shape[1]), counts)
        offsets = stored.data - mean[columns]
        squares = np.bincount(columns, offsets**2, X.shape[1]) + (n - counts) * mean**2
    else:
        for rows in thin_tiles(X):
            squares += np.square(X[rows] - mean).sum(axis=0)
    deviations = np.sqrt(squares / n)
    unit = np.finfo(X.dtype if X.dtype.kind == "f" else float).eps
    return np.where(deviations > 10 * unit * np.abs(mean), deviations, constant)


def projected_rows(X: Any, V: Any, mean: Array | None = None) -> Array:
    """(X − 1·meanᵀ)V, n×k in float64 (float32 where X and V are); V may be sparse."""
    kind = np.float32 if X.dtype == V.dtype == np.float32 else np.float64
    if sp.issparse(X):
        image = X @ V
        image = np.asarray(image.toarray() if sp.issparse(image) else image, dtype=kind)
        return image if mean is None else image - (mean @ V).astype(kind)
    points = np.empty((X.shape[0], V.shape[1]), dtype=kind)
    shift = np.zeros(1, kind) if mean is None else mean
    fine = np.result_type(kind, shift)  # unsigned rows less an unsigned mean would wrap around

    def share(slices: list[slice]) -> None:
        tile = np.empty((max((len(X[rows]) for rows in slices), default=0), X.shape[1]), kind)
        for rows in slices:
            # XV − 1·(meanᵀV) would lose digits when the mean is far from 0, of few rows even.
            shifted = tile[: len(X[rows])]
            np.subtract(X[rows], shift, out=shifted, dtype=fine, casting="same_kind")
            if sp.issparse(V):
                points[rows] = (V.T @ shifted.T).T
            else:
                np.matmul(shifted, V, out=points[rows])

    in_shares(share, thin_tiles(X))
    return points


def combined_rows(X: Any, C: Array, mean: Array) -> Array:
    """(X − 1·meanᵀ)ᵀC, D×k in float64: combinations of the centred rows."""
    if sp.issparse(X):
        return np.asarray(X.T @ C - np.outer(mean, C.sum(axis=0)))

    def share(slices: list[slice]) -> Array:
        total = np.zeros((X.shape[1], C.shape[1]))
        for rows in slices:
            total += (X[rows] - mean).T @ C[rows]
        return total

    first, *others = in_shares(share, thin_tiles(X))
    return np.asarray(sum(others, first))
