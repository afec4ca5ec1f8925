"""What a search works on: rows of finite float32 or float64 numbers, in C order.

Small integers become float32 (exactly), other numbers float64; float32 data and
memory maps are used as they are, never copied to float64 as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import InvalidInput, TooLarge
from dualfold.kernels import kernel

__all__ = ["chunks", "pair_distances", "rows_of_numbers", "same_kind"]

_CHUNK = 1 << 22  # numbers in one float64 working block: 32 MiB
# Squares beyond these leave the range of double precision.
_LARGEST, _SMALLEST = 1e150, 1e-140

_pair_distances = {
    np.dtype(real): kernel(
        f"pair_distances{bits}",
        None,
        f"{real}[]",
        f"{real}[]",
        "int64",
        "int32[]",
        "int32[]",
        "int64",
        "float64[]",
    )
    for real, bits in (("float32", 32), ("float64", 64))
}


def rows_of_numbers(X: Any, name: str = "X") -> np.ndarray:
    """X as a two-dimensional C-ordered float32 or float64 array of finite numbers."""
    table: Any = X
    X = np.asanyarray(table.toarray() if sp.issparse(X) else X)
    if X.ndim != 2 or X.shape[1] == 0:
        raise InvalidInput(
            f"{name} must be a table with one row per point and at least one column; "
            f"its shape is {X.shape}. For points on a line pass {name}.reshape(-1, 1)"
        )
    if X.shape[0] >= 2**31 - 1:
        raise TooLarge(f"{name} has {X.shape[0]} rows; the search counts up to 2^31 - 2. Sample it")
    if X.dtype.kind not in "fiub":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"{name} must hold numbers, its type is {X.dtype}; encode or drop the other columns"
            ) from None
    small = (X.dtype.kind in "iub" and X.dtype.itemsize <= 2) or X.dtype == np.float16
    wanted = np.float32 if small or X.dtype == np.float32 else np.float64
    X = np.ascontiguousarray(X, dtype=wanted)
    _check_range(X, name)
    return X


def _check_range(X: np.ndarray, name: str) -> None:
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for rows in chunks(len(X), X.shape[1]):
        np.minimum(low, X[rows].min(axis=0), out=low)  # NaN wins in both
        np.maximum(high, X[rows].max(axis=0), out=high)
        if not (np.isfinite(low) & np.isfinite(high)).all():
            bad = np.flatnonzero(~np.isfinite(X[rows]).all(axis=1))[0] + rows.start
            raise InvalidInput(
                f"{name} must be finite; row {bad} holds NaN or infinity. "
                "Fill or drop such values first (sklearn.impute, DataFrame.dropna)"
            )
    if max(np.abs(low).max(), np.abs(high).max()) > _LARGEST and len(X):
        raise InvalidInput(
            f"{name} holds numbers beyond {_LARGEST:g}, whose squares overflow; "
            f"divide {name} by a constant first"
        )
    extent = float((high - low).max()) if len(X) else 0.0
    if 0 < extent < _SMALLEST:
        raise InvalidInput(
            f"all rows of {name} lie within {extent:.1e} of each other and the squares of such "
            f"differences vanish in double precision; multiply {name} by a constant first"
        )


def chunks(n: int, width: int) -> Iterator[slice]:
    """Slices of rows whose float64 copies stay small."""
    step = max(1, _CHUNK // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))


def same_kind(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays in the wider of their two types."""
    wide = np.result_type(X, Y)
    return np.ascontiguousarray(X, dtype=wide), np.ascontiguousarray(Y, dtype=wide)


def pair_distances(
    X: np.ndarray, Y: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """|X[rows[p]] - Y[columns[p]]| for each p, the one source of true distances.

    Differences, squares and sums in float64 in a fixed order: every road returns
    the same bits.
    """
    distances = np.empty(len(rows))
    _pair_distances[X.dtype](
        X,
        Y,
        X.shape[1],
        np.ascontiguousarray(rows, dtype=np.int32),
        np.ascontiguousarray(columns, dtype=np.int32),
        len(rows),
        distances,
    )
    return distances
