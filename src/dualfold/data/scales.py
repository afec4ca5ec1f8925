"""Columns measured in different units: how far their spreads differ, and making them equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.errors import InvalidInput

Array = np.ndarray[Any, np.dtype[Any]]


def spreads(X: Any) -> Array:
    """The standard deviation of each column, in float64 (0 where a column is constant)."""
    if isinstance(X, np.ndarray):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(squares - mean**2, 0.0))


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
    deviation = spreads(X)
    return centred / np.where(deviation > 0, deviation, 1.0)
