"""The axes of a map: their correlations with columns, close variances, far rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.number_rows import rows_in_units
from dualfold.inputs import measurable_rows
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.row_passes import combined_rows, numeric_table

# At most one row in a hundred is far; in fewer than 30 rows no row counts as far.
ROWS_PER_FAR_ROW = 100
MIN_ROWS = 30
# Of a million normal numbers the farthest is 1.9 times as far from the median as the nearest
# 99 %, of ten thousand exponential ones twice.
FAR_RATIO = 4.0
CHI_SQUARE_QUANTILE = -2 * float(np.log(0.05))  # 95 % of χ² with two degrees of freedom lie below


def column_correlations(X: Any, Y: ArrayLike) -> Array:
    """Pearson's correlation of each column of X with each axis of a map.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Data.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.

    Returns
    -------
    ndarray of shape (n_features, n_components)
        The correlations; 0 where a column or an axis does not vary.

    Raises
    ------
    InvalidInput
        If the numbers of rows differ, or X has NaN or infinity.

    See Also
    --------
    column_directions : The direction of the map along which a column rises, beside chance.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import column_correlations
    >>> t = np.arange(5.0)
    >>> print(column_correlations(np.column_stack([t, -t, np.ones(5)]), t[:, None]).T)
    [[ 1. -1.  0.]]
    """
    axes, rows = rows_in_units(Y, "Y")[0].astype(float), numeric_table(measurable_rows(X))
    if rows.shape[0] != len(axes):
        raise InvalidInput(
            Argument("X"), f" has {rows.shape[0]} rows and ", Argument("Y"), f" has {len(axes)}"
        )
    axes = axes - column_means(axes)
    mean = column_means(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        products = combined_rows(rows, axes, mean)
    if not np.isfinite(products).all():
        raise InvalidInput(
            Argument("X"),
            " holds NaN, infinity or numbers whose sums overflow; leave them out",
        )
    deviations = column_deviations(rows, mean, constant=0.0)
    lengths = np.sqrt(len(axes)) * np.linalg.norm(axes, axis=0)
    varies = (deviations > 0)[:, None] & (lengths > 0)
    # One after the other: their product may be no double.
    shares = products / np.where(deviations > 0, deviations, 1.0)[:, None]
    return np.divide(shares, lengths, out=np.zeros(products.shape), where=varies)


def close_axes(variances: ArrayLike, n: int) -> list[tuple[int, int]]:
    """Neighbouring principal axes, counted from 1, that n rows cannot distinguish.

    Two equal variances λ, estimated from n rows of normal data, differ by δ with n(δ/2λ)² ~ χ² of
    two degrees (Anderson 1963). Where δ is within the 95 % quantile of that, another sample
    may rotate the two axes within their plane by any angle: read the plane and not the axes.

    Anderson, "Asymptotic theory for principal component analysis" (1963), §3.

    >>> close_axes([4.0, 1.0, 0.99], 500)
    [(2, 3)]
    """
    values = np.asarray(variances, dtype=float)
    between = (values[:-1] + values[1:]) / 2
    near = n * np.diff(values) ** 2 < 4 * CHI_SQUARE_QUANTILE * between**2
    return [(int(axis) + 1, int(axis) + 2) for axis in np.flatnonzero(near)]


@dataclass(frozen=True)
class FarRows:
    """Few rows that are far from the others along an axis of a map.

    axis : counted from 0; rows : counted from 0, the farthest first
    times : how far the farthest is from the median, as a multiple of the farthest of the other
        99 % (infinite where these are at one place)
    """

    axis: int
    times: float
    rows: tuple[int, ...]


def far_rows(Y: ArrayLike) -> list[FarRows]:
    """The axes of a map along which few rows leave a small part of the picture to all others.

    Few: at most one in a hundred. Far: four times as far from the median as all but the farthest
    hundredth. Such an axis separates these rows and shows little of the others.

    Y : the map, n × d; in fewer than 30 rows none are far

    >>> import numpy as np
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> Y[17, 1] = 90.0
    >>> [(one.axis, one.rows) for one in far_rows(Y)]
    [(1, (17,))]
    """
    points, _ = rows_in_units(Y, "Y")
    n, far_along = len(points), list[FarRows]()
    if n < MIN_ROWS:
        return far_along
    for axis, column in enumerate(points.astype(float).T):
        out = np.abs(column - np.median(column))
        order = np.argsort(-out, kind="stable")[: max(1, n // ROWS_PER_FAR_ROW) + 1]
        *few, reach = out[order]
        rows = tuple(
            int(row) for row, far in zip(order, few, strict=False) if far > FAR_RATIO * reach
        )
        if rows:
            times = float(few[0] / reach) if reach > 0 else np.inf
            far_along.append(FarRows(axis, times, rows))
    return far_along
