"""Means and deviations of the columns of a table, and which columns are constant.

Every sum over rows that a user gave is taken here, in `weights/covariance.py` or in
`weights/row_passes.py`, in float64 whatever the type of the rows: NumPy and SciPy add float32
in float32, which loses digits with every row, and integers of one byte in integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic import EPS, MIN_SQUARE_SUM
from dualfold.kernels.sparse import canonical_rows
from dualfold.kernels.threads import in_shares, thin_tiles
from dualfold.weights.row_weights import RowWeights, row_total

# The mean of this many rows is within a sixteenth of the spread of the mean of all.
MAX_SAMPLE_ROWS = 256
# Of its mean: a sum of n numbers is off by n·2⁻⁵³ of them, which is less than a thousandth of a
# larger spread. Columns of less have their mean taken from their offsets.
MIN_SPREAD_RATIO = 2.0**-43


def column_means(X: Any, weights: RowWeights | None = None) -> Array:
    """Compute the mean of each column in float64, without a float64 copy of X.

    Of a column whose values are all equal it is that value, to the last bit.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    weights : RowWeights or None, default=None
        Weights of the rows; None weighs all alike.

    Returns
    -------
    ndarray of shape (n_features,)
        The means.

    See Also
    --------
    scatter : Products of the centred columns.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.weights import column_means
    >>> column_means(np.array([[1.0, 2.0], [3.0, 2.0]]))
    array([2., 2.])
    """
    if sp.issparse(X):
        return _sparse_means(canonical_rows(X, "X"), weights)

    def share(slices: list[slice]) -> Array:
        # Widened first: NumPy adds doubles at full speed, and casts while adding at a fifth.
        with np.errstate(over="ignore", invalid="ignore"):  # refused where squares are summed
            wide = (_column_sums(X[rows], rows, weights) for rows in slices)
            return sum(wide, np.zeros(X.shape[1]))

    total = row_total(X, weights)
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.asarray(sum(in_shares(share, thin_tiles(X))) / total)
    tight = tight_columns(X)
    if len(tight):
        means[tight] += offset_sums(X, tight, means[tight], weights) / total
    return means


def _column_sums(tile: Array, rows: slice, weights: RowWeights | None) -> Array:
    """Σ x or Σ wx of some rows, in float64."""
    wide = tile.astype(float, copy=False)
    return np.asarray(wide.sum(axis=0) if weights is None else weights.values[rows] @ wide)


def column_deviations(
    X: Any, mean: Array, weights: RowWeights | None = None, *, constant: float = 1.0
) -> Array:
    """Each column's standard deviation (divisor n or Σw), and `constant` where it is constant.

    Unless `constant` is 0, columns that vary by so little that their squares vanish are refused:
    they would be divided by a deviation that is not known.
    """
    n = row_total(X, weights)
    if sp.issparse(X):
        X = canonical_rows(X, "X")
        squares = _sparse_squares(X, mean, weights)
    else:
        squares = np.zeros(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):  # computed again, or NaN
            for rows in thin_tiles(X):
                squares += _column_sums(np.square(X[rows] - mean), rows, weights)
    if constant:
        refuse_vanishing(vanishing_columns(X, squares))
    deviations = deviations_of(squares, n, mean, constant)
    far = ~(squares >= MIN_SQUARE_SUM) | np.isinf(squares)  # NaN: 0 times an infinite square
    for column in np.flatnonzero(far & np.isfinite(mean)):
        values = X[:, [column]]
        values = values.toarray() if sp.issparse(values) else values.astype(float)
        deviation = _deviation_in_units(values[:, 0] - mean[column], weights)
        if deviation > EPS * abs(mean[column]):
            deviations[column] = deviation
    return deviations


def _deviation_in_units(offsets: Array, weights: RowWeights | None) -> float:
    """Their root mean square, in a unit of its own, a power of 2: squares have room then."""
    power = int(np.frexp(np.abs(offsets).max())[1])
    squares = np.square(np.ldexp(offsets, -power))
    mean = squares.mean() if weights is None else weights.values @ squares / weights.total
    return float(np.ldexp(np.sqrt(mean), power))


def _sparse_squares(X: Any, mean: Array, weights: RowWeights | None) -> Array:
    """Σ (x − mean)² of each column."""
    stored = None if weights is None else np.repeat(weights.values, np.diff(X.indptr))
    counts = np.bincount(X.indices, stored, X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        offsets = np.square(X.data - mean[X.indices])
        offsets = offsets if stored is None else stored * offsets
        zeros = np.maximum(row_total(X, weights) - counts, 0)
        return np.asarray(np.bincount(X.indices, offsets, X.shape[1]) + zeros * mean**2)


def deviations_of(squares: Array, n: float, mean: Array, constant: float = 1.0) -> Array:
    """√(squares/n), and `constant` for columns that are constant. The one rule for all tables.

    squares : Σ (x − mean)² of each column

    A column is constant where all its values are equal: then its mean is that value and its
    squares are 0, in memory and in tiles. It also counts as constant where its deviation is within
    the spacing of doubles at its mean, 2⁻⁵²·|mean|: x − mean is then rounding alone. Columns of
    float32 with two different values deviate by more.
    """
    deviations = np.sqrt(np.maximum(squares, 0.0) / n)
    return np.where(deviations > EPS * np.abs(mean), deviations, constant)


def vanishing_columns(X: Any, squares: Array) -> Array:
    """Which columns vary although their `squares`, around the mean, are about 0."""
    small = np.flatnonzero(squares < MIN_SQUARE_SUM)
    if not len(small) or np.finfo(X.dtype if X.dtype.kind == "f" else float).tiny > 1e-200:
        return small[:0]  # squares of float32 have room
    if sp.issparse(X):
        ends = X[:, small].max(axis=0), X[:, small].min(axis=0)
        return small[ends[0].toarray().ravel() != ends[1].toarray().ravel()]
    varying = np.zeros(len(small), bool)
    for rows in thin_tiles(X):
        varying |= (X[rows][:, small] != X[0, small]).any(axis=0)
    return small[varying]


def refuse_vanishing(columns: Array) -> None:
    """InvalidInput where there are such columns."""
    if len(columns):
        raise InvalidInput(
            f"column {int(columns[0])} of ",
            Argument("X"),
            ", counted from 0, varies by so little that its squares vanish in double precision and "
            "its deviation is not known; multiply it by a constant first",
        )


def tight_columns(X: Array) -> Array:
    """Which columns of a dense X spread so little that the rounding of their sum may count.

    All constant columns are among them; rows that are not in the sample may spread more.
    """
    sample, n = sampled_rows(X), len(X)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN is refused where it is summed
        spread = np.ptp(sample, axis=0)
        size = np.abs(sample[0])
    return np.flatnonzero((spread <= n * MIN_SPREAD_RATIO * size) & (size > 0))


def sampled_rows(X: Array) -> Array:
    """At most MAX_SAMPLE_ROWS rows of X in float64, spread over all of it."""
    return np.asarray(X[:: -(-len(X) // MAX_SAMPLE_ROWS)], dtype=float)


def offset_sums(X: Array, columns: Array, shift: Array, weights: RowWeights | None = None) -> Array:
    """Σ (x − shift) of some columns: offsets from a number nearby lose no digits."""
    if not len(columns):
        return np.zeros(0)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = (
            _column_sums(X[rows][:, columns].astype(float) - shift, rows, weights)
            for rows in thin_tiles(X)
        )
        return sum(parts, np.zeros(len(columns)))


def _sparse_means(X: Any, weights: RowWeights | None) -> Array:
    (n, width), total = X.shape, row_total(X, weights)
    each = None if weights is None else np.repeat(weights.values, np.diff(X.indptr))
    means = np.bincount(X.indices, X.data if each is None else each * X.data, width) / total
    full = np.bincount(X.indices, minlength=width) == n
    if full.any():  # a column with a zero spreads about as much as its mean
        stored = np.flatnonzero(full[X.indices])
        columns = X.indices[stored]
        with np.errstate(over="ignore", invalid="ignore"):
            offsets = X.data[stored] - means[columns]
            offsets = offsets if each is None else each[stored] * offsets
            means += np.bincount(columns, offsets, width) / total
    return means
