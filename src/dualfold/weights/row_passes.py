"""Passes over the rows of X, dense or sparse, that never copy it as a whole or make it dense.

Dense rows of any type (float32, uint8, memory maps) are read in tiles, shifted by the
mean and multiplied in float64. Sparse rows stay sparse: columns without a zero are shifted by
their mean, and the other means enter by algebra, (X − 1x̄ᵀ)V = XV − 1(x̄ᵀV). A column with a
zero spreads by |x̄|/√n or more, so that few digits are lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.errors import InvalidInput
from dualfold.graph.metrics import double_table, refuse_long_integers
from dualfold.graph.number_rows import as_array
from dualfold.kernels.sparse import canonical_rows, sparse_product
from dualfold.kernels.threads import in_shares, thin_tiles

# Rows that show, before all entries are counted, that no column is stored in every row.
MAX_FIRST_ROWS = 64


def numeric_table(X: Rows) -> Any:
    """X as a CSR matrix if it is sparse, else as a two-dimensional array of numbers.

    Arrays (memory maps too) are not copied; data frames and lists are.
    """
    if np.ma.is_masked(X):
        raise InvalidInput("the data has masked entries; fill (X.filled) or drop them first")
    rows: Any = canonical_rows(X, "X") if sp.issparse(X) else as_array(X, "X")
    if rows.ndim != 2 or 0 in rows.shape:
        raise InvalidInput(
            "the data must be a table with at least one row and one column, a row a point; "
            f"its shape is {rows.shape}"
        )
    if rows.dtype.kind not in "fiub":
        raise InvalidInput(
            f"the data must hold numbers, its type is {rows.dtype}; encode or drop other columns"
        )
    if rows.dtype.itemsize > 8:  # long doubles
        return double_table(rows, "X")
    refuse_long_integers(rows.data if sp.issparse(rows) else rows, "X")
    return rows


def with_full_columns_centred(X: Any, mean: Array) -> tuple[Any, Array]:
    """(X − 1·sᵀ, mean − s) of a sparse X, s the mean of columns stored in every row, else 0.

    The same entries are stored as before, in float64. X itself where it has no such column.
    """
    n, width = X.shape
    firsts = X[: min(n, MAX_FIRST_ROWS)]
    near = np.bincount(firsts.indices, minlength=width) == firsts.shape[0]
    if not mean[near].any():
        return X, mean
    full = np.bincount(X.indices, minlength=width) == n
    shift = np.where(full, mean, 0.0)
    data = X.data - shift[X.indices]
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape), mean - shift


def projected_rows(X: Any, V: Any, mean: Array | None = None) -> Array:
    """(X − 1·meanᵀ)V, n×k in float64 (float32 where X and V are); V may be sparse."""
    kind = np.float32 if X.dtype == V.dtype == np.float32 else np.float64
    middle = np.zeros(X.shape[1]) if mean is None else mean.astype(float, copy=False)
    if sp.issparse(X):
        X, middle = with_full_columns_centred(X, middle)
        wide = V.astype(float, copy=False)  # float32 would be added in float32
        image = (X @ wide).toarray() if sp.issparse(wide) else sparse_product(X, wide)
        return np.asarray(image - middle @ wide, dtype=kind)
    points = np.empty((X.shape[0], V.shape[1]), dtype=kind)
    # What a mean of fewer digits leaves is taken from the points.
    shift = middle.astype(kind)
    left_over = np.asarray((middle - shift) @ V)

    def share(slices: list[slice]) -> None:
        tile = np.empty((max((len(X[rows]) for rows in slices), default=0), X.shape[1]), kind)
        for rows in slices:
            # XV − 1·(meanᵀV) would lose digits when the mean is far from 0, of few rows even.
            shifted = tile[: len(X[rows])]
            np.subtract(X[rows], shift, out=shifted, dtype=kind, casting="same_kind")
            if sp.issparse(V):
                points[rows] = (V.T @ shifted.T).T
            else:
                np.matmul(shifted, V, out=points[rows])
            if left_over.any():
                points[rows] -= left_over.astype(kind)

    in_shares(share, thin_tiles(X))
    return points


def combined_rows(X: Any, C: Array, mean: Array) -> Array:
    """(X − 1·meanᵀ)ᵀC, D×k in float64: combinations of the centred rows."""
    C, mean = (part.astype(float, copy=False) for part in (C, mean))
    if sp.issparse(X):
        X, mean = with_full_columns_centred(X, mean)
        return np.asarray(sparse_product(X.T, C) - np.outer(mean, C.sum(axis=0)))

    def share(slices: list[slice]) -> Array:
        total = np.zeros((X.shape[1], C.shape[1]))
        for rows in slices:
            total += (X[rows] - mean).T @ C[rows]
        return total

    first, *others = in_shares(share, thin_tiles(X))
    return np.asarray(sum(others, first))
