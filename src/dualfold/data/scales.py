"""Columns measured in different units: how far their ranges differ, and making them equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput

# Squares of more, summed over any number of rows, do not fit into a float64 (1.8e308).
LARGEST = 1e140


def ranges(X: Any) -> Array:
    """Largest minus smallest value of each column; 0 where a column is constant."""
    if isinstance(X, np.ndarray):
        return np.asarray(X.max(axis=0) - X.min(axis=0), dtype=np.float64)
    return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray(), dtype=np.float64).ravel()


@dataclass(frozen=True, eq=False)
class Standard:
    """What makes columns equal: (x − mean)/deviation, also for rows that come later.

    The deviation of a constant column is infinite: whatever is in it becomes 0.
    """

    mean: Array
    deviation: Array

    def applied(self, X: Any) -> Array:
        return np.asarray(np.subtract(X, self.mean, dtype=np.float64) / self.deviation)


def standard_of(X: Any) -> Standard:
    """The means and standard deviations of the columns of X."""
    if not isinstance(X, np.ndarray):
        raise InvalidInput(
            "standardizing would fill a sparse matrix with numbers; scale its columns without "
            "shifting them, or give it as a dense table"
        )
    largest = np.abs(X).max(axis=0)
    if float(largest.max(initial=0.0)) > LARGEST:
        raise InvalidInput(
            f"the largest value is {largest.max():.1e}, and the squares of such numbers overflow; "
            "look whether it is a mark for a missing value, or divide the column by a constant"
        )
    mean = X.mean(axis=0, dtype=np.float64)
    # Rounding may leave a constant column a deviation that is not quite 0.
    unit = np.finfo(X.dtype if X.dtype.kind == "f" else np.float64).eps
    varying = ranges(X) > 16 * unit * largest
    deviation = np.subtract(X, mean, dtype=np.float64).std(axis=0)
    return Standard(mean, np.where(varying, deviation, np.inf))
