"""Columns measured in different units: how far their ranges differ, and making them equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.errors import InvalidInput

Array = np.ndarray[Any, np.dtype[Any]]


def ranges(X: Any) -> Array:
    """Largest minus smallest value of each column; 0 where a column is constant."""
    if isinstance(X, np.ndarray):
        return np.asarray(X.max(axis=0) - X.min(axis=0), dtype=np.float64)
    return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray(), dtype=np.float64).ravel()


def standardized(X: Any) -> Array:
    """Each column shifted to mean 0 and scaled to standard deviation 1.

    Constant columns become 0. Every feature then weighs the same in a distance,
    whatever unit it was measured in.
    """
    if not isinstance(X, np.ndarray):
        raise InvalidInput(
            "standardizing would fill a sparse matrix with numbers; scale its columns without "
            "shifting them, or give it as a dense table"
        )
    centred = np.subtract(X, X.mean(axis=0, dtype=np.float64), dtype=np.float64)
    # Rounding may leave a constant column a deviation that is not quite 0.
    unit = np.finfo(X.dtype if X.dtype.kind == "f" else np.float64).eps
    varying = ranges(X) > 16 * unit * np.abs(X).max(axis=0)
    deviation = np.where(varying, centred.std(axis=0), 1.0)
    return np.where(varying, centred, 0.0) / deviation
