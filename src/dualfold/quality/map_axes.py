"""What the axes of a map have to do with the columns, and whether they can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array

__all__ = ["close_axes", "column_correlations", "far_rows"]

# Few rows are a hundredth of all; among fewer than 30 rows there are no "few among many". Far is
# four times as far: of a million normal numbers the farthest is 1.9 times as far out as the
# nearest 99 %, of ten thousand exponential ones twice.
ROWS_PER_FAR_ROW, MIN_ROWS, FAR_RATIO = 100, 30, 4.0
CHI_SQUARE_QUANTILE = -2 * float(np.log(0.05))  # 95 % of χ² with two degrees of freedom lie below


def column_correlations(X: Any, Y: Any) -> Array:
    """Pearson's correlation of each column of X (a row of the answer) with each axis of Y.

    0 where one of the two does not vary. X may be sparse.

    >>> import numpy as np
    >>> t = np.arange(5.0)
    >>> print(column_correlations(np.column_stack([t, -t, np.ones(5)]), t[:, None]).T)
    [[ 1. -1.  0.]]
    """
    axes = np.asarray(Y, dtype=np.float64)
    axes = axes - axes.mean(axis=0)
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        products = np.asarray(X.T @ axes)
    else:
        centred = np.asarray(X, dtype=np.float64) - np.mean(X, axis=0, dtype=np.float64)
        squares, products = np.square(centred).mean(axis=0), centred.T @ axes
    lengths = np.sqrt(len(axes) * np.maximum(squares, 0))[:, None] * np.linalg.norm(axes, axis=0)
    return np.divide(products, lengths, out=np.zeros(products.shape), where=lengths > 0)


def close_axes(variances: Any, n: int) -> list[tuple[int, int]]:
    """Neighbouring principal axes, counted from 1, that n rows do not tell apart.

    Two equal variances λ, of n rows of normal data, come out apart by δ with n(δ/2λ)² ~ χ² of two
    degrees (Anderson 1963). Where δ is within what that gives 19 times out of 20, another sample
    may turn the two axes within their plane by any angle: read the plane and not the axes.

    Anderson, "Asymptotic theory for principal component analysis" (1963), §3.

    >>> close_axes([4.0, 1.0, 0.99], 500)
    [(2, 3)]
    """
    values = np.asarray(variances, dtype=float)
    between = (values[:-1] + values[1:]) / 2
    near = n * np.diff(values) ** 2 < 4 * CHI_SQUARE_QUANTILE * between**2
    return [(int(place) + 1, int(place) + 2) for place in np.flatnonzero(near)]


@dataclass(frozen=True)
class FarRows:
    """Few rows that are far out on an axis of a map.

    axis : counted from 0; rows : counted from 0, the farthest first
    times : how far out the farthest is, in reaches of the other 99 % (infinite where these are at
        one place)
    """

    axis: int
    times: float
    rows: tuple[int, ...]


def far_rows(Y: Any) -> list[FarRows]:
    """The axes of a map on which few rows make all others share a small part of the picture.

    Few: at most one in a hundred. Far: four times as far from the median as all but the farthest
    hundredth. Such an axis says who these rows are and little of the others.

    Y : the map, n × d; of fewer than 30 rows none are few

    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> Y[17, 1] = 90.0
    >>> [(one.axis, one.rows) for one in far_rows(Y)]
    [(1, (17,))]
    """
    n, found = len(Y), list[FarRows]()
    if n < MIN_ROWS:
        return found
    for axis, column in enumerate(np.asarray(Y, dtype=np.float64).T):
        out = np.abs(column - np.median(column))
        order = np.argsort(-out, kind="stable")[: max(1, n // ROWS_PER_FAR_ROW) + 1]
        *few, reach = out[order]
        rows = tuple(
            int(row) for row, far in zip(order, few, strict=False) if far > FAR_RATIO * reach
        )
        if rows:
            times = float(few[0] / reach) if reach > 0 else np.inf
            found.append(FarRows(axis, times, rows))
    return found
