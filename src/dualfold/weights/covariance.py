"""The covariance of features: formed in one pass over the rows, or known by its products."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array, Rows
from dualfold.errors import InvalidInput
from dualfold.kernels import c_constant, kernel, kernels_by_dtype
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, one_blas_thread, row_slices, thread_count
from dualfold.weights.column_moments import (
    column_deviations,
    column_means,
    offset_sums,
    sampled_rows,
    tight_columns,
)
from dualfold.weights.gram import refuse_large, refuse_scale, working_precision
from dualfold.weights.precision import (
    Products,
    mean_error,
    more_terms,
    products_error,
    scale_share,
    sparse_error,
    sparse_mean_error,
    squares_error,
    weighted_mean_error,
    weighted_squares_error,
)
from dualfold.weights.row_passes import (
    combined_rows,
    projected_rows,
    with_full_columns_centred,
)
from dualfold.weights.row_weights import RowWeights, row_total

# The kernel's blocks (`scatter.h`): slabs are short in narrow tables and long in wide ones.
PANEL_COLUMNS = c_constant("PANEL")
SHORT_SLAB_ROWS = c_constant("SHORT_SLAB")
LONG_SLAB_ROWS = c_constant("LONG_SLAB")
GROUP_ROWS = c_constant("MOST_ROWS")
WIDE_BYTES = c_constant("WIDE_BYTES")
SLAB_ROWS = SHORT_SLAB_ROWS
# Numbers of one call of the kernel; rows of another type are copied, fewer at a time.
CONTIGUOUS_TILE_NUMBERS = 2**24
COPIED_TILE_NUMBERS = 2**20
# Fewer numbers are not worth another thread, and NumPy is fastest with this many.
MIN_TILE_NUMBERS = 2**16
# Up to this many columns the kernel would multiply more padding than numbers.
MAX_NARROW_COLUMNS = 6
# Up to here float64 takes so little time that float32 saves nothing.
MAX_FLOAT64_FLOPS = 2**32
# A mean within this many deviations of 0 needs no shift: 1 + 2² is less than a digit.
MAX_MEAN_DEVIATIONS = 2.0
# In the scatter matrices of all threads; where one for each would need more, threads share one.
MAX_TOTAL_NUMBERS = 2**23

_scatter = kernels_by_dtype("scatter")
_take_off_mean = kernel("take_off_mean")


@dataclass(frozen=True, eq=False)
class RowShift:
    """Shift of dense rows before they are multiplied, from a sample of them.

    whole : the shift, D numbers in float64
    tight : columns that spread little, whose sums are of offsets from the shift
    """

    whole: Array
    tight: Array

    @classmethod
    def of(cls, X: Any) -> RowShift | None:
        """Shift of X; None if X is sparse, which is not shifted."""
        return None if sp.issparse(X) else cls(_safe_shift(X), tight_columns(X))


def scatter(
    X: Any, *, precision: type[np.floating] | None = None, weights: RowWeights | None = None
) -> tuple[Array, Array]:
    """Compute the scatter matrix Σ(x − x̄)(x − x̄)ᵀ and the mean x̄ in one pass over the rows.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows of finite numbers; X is read in tiles and never copied, and a sparse X is not filled.
    precision : type or None, default=None
        `numpy.float64` forbids products in single precision; None allows them for large tables of
        float32 or small integers.
    weights : RowWeights or None, default=None
        How often each row counts: Σ w(x − x̄)(x − x̄)ᵀ with the weighted mean x̄, in float64 and
        in two passes.

    Returns
    -------
    scatter : ndarray of shape (n_features, n_features)
        The covariance matrix times n, or times Σw.
    mean : ndarray of shape (n_features,)
        The mean of the columns.

    Raises
    ------
    TooLarge
        If the matrix does not fit into memory.

    See Also
    --------
    point_gram : Inner products of rows, the smaller matrix if there are few rows.

    Notes
    -----
    Rows are shifted by the mean of some of them before they are multiplied, so that a mean far from
    0 costs no digits; the remaining mean is subtracted at the end. Constant columns have entries
    that are exactly 0. `dualfold.weights.covariance.scatter_error` bounds the rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.weights import scatter
    >>> total, mean = scatter(np.array([[1.0, 0.0], [3.0, 2.0]]))
    >>> total, mean
    (array([[2., 2.],
           [2., 2.]]), array([2., 1.]))
    """
    n, width = X.shape
    if n == 0:
        raise InvalidInput("the data has no rows; at least one is needed")
    if sp.issparse(X) or weights is not None:
        refuse_large(width, "features", n)
        mean = column_means(X, weights)
        with np.errstate(over="ignore", invalid="ignore"):  # refused in the next lines
            total = (
                _sparse_squares(X, mean, weights)
                if weights is None or sp.issparse(X)
                else _weighted_squares(X, mean, weights)
            )
            trace = float(np.trace(total))
        refuse_scale(trace, X)
        return total, mean
    return shifted_scatter(X, RowShift(_safe_shift(X), tight_columns(X)), precision)


def shifted_scatter(
    X: Array, by: RowShift, precision: type[np.floating] | None = None
) -> tuple[Array, Array]:
    """`scatter` of dense rows whose shift is known."""
    n, width = X.shape
    refuse_large(width, "features", n)
    shift, tight = by.whole.astype(scatter_kind(X, precision)), by.tight
    tally("scatter multiply-adds", n * width**2)
    with steps("multiplying columns", n) as done:
        total, sums, offsets = _squares(X, shift, tight, done)
    mean = sums / n
    with np.errstate(invalid="ignore", over="ignore"):  # refused below
        left_over = mean - shift
        left_over[tight] = offsets / n
        mean[tight] = shift[tight] + left_over[tight]
    _take_off_mean(width, total, n, left_over)
    with np.errstate(over="ignore", invalid="ignore"):
        trace = float(np.trace(total))
    refuse_scale(trace, X)
    return total.T, mean  # its transpose is what LAPACK takes without a copy


def _sparse_squares(X: Rows, mean: Array, weights: RowWeights | None) -> Array:
    """Scatter of a sparse X, which is not filled: the mean enters by algebra."""
    centred, left_over = with_full_columns_centred(X, mean)
    wide = centred.astype(float, copy=False)
    wide = wide if weights is None else sp.diags_array(weights.roots) @ wide
    squares = np.asarray((wide.T @ wide).toarray())
    return np.asarray(squares - row_total(X, weights) * np.outer(left_over, left_over))


def _weighted_squares(X: Array, mean: Array, weights: RowWeights) -> Array:
    """Scatter of a dense X, tile by tile, by the products of √w(x − x̄)."""
    total = np.zeros((X.shape[1], X.shape[1]))
    with steps("multiplying columns", len(X)) as done:
        for rows in row_slices(len(X), _weighted_rows(X)):
            tile = (X[rows] - mean) * weights.roots[rows, None]
            total += tile.T @ tile
            done(len(tile))
    tally("scatter multiply-adds", len(X) * X.shape[1] ** 2)
    return total


def _weighted_rows(X: Array) -> int:
    """Number of rows that are multiplied at a time."""
    return max(SLAB_ROWS, COPIED_TILE_NUMBERS // X.shape[1])


def scatter_kind(
    X: Rows, precision: type[np.floating] | None = None, weights: RowWeights | None = None
) -> type[np.floating]:
    """The precision that rows are multiplied in."""
    if sp.issparse(X) or weights is not None:
        return np.float64
    if precision is not None:
        return precision
    cheap = X.shape[0] * X.shape[1] ** 2 <= MAX_FLOAT64_FLOPS
    return np.float64 if cheap else working_precision(X)


def scatter_error(
    X: Any,
    total: Array,
    mean: Array,
    scale: Array | None = None,
    *,
    precision: type[np.floating] | None = None,
    weights: RowWeights | None = None,
    shift: RowShift | None = None,
) -> float:
    """A bound of ‖Ŝ − S‖₂, Ŝ the scatter (`total`) as computed, features divided by `scale`.

    shift : that of dense rows, where it is known

    The kernel adds the products of a slab of rows in registers, then the slabs of a group,
    both in its own precision; narrow tables are multiplied by BLAS, tile by tile.
    """
    (n, width), units = X.shape, np.ones(X.shape[1]) if scale is None else scale
    spread = np.maximum(np.diagonal(total), 0) / units**2
    trace, middle = float(spread.sum()), mean / units
    if sp.issparse(X):
        left_over = with_full_columns_centred(X, mean)[1] / units
        deepest = int(np.bincount(X.indices, minlength=width).max(initial=0))
        deepest, added = deepest + more_terms(weights), n + more_terms(weights)
        error = sparse_error(trace, left_over, middle, row_total(X, weights), deepest, added)
    elif weights is not None:
        off = weighted_mean_error(X, trace, middle, weights)
        tiles = n / _weighted_rows(X)
        error = weighted_squares_error(
            trace, off, weights.total, min(n, _weighted_rows(X)) + tiles + 1
        )
    else:
        kind = scatter_kind(X, precision)
        left, off = _offset_error(X, shift, trace, mean, units, kind=kind)
        error = squares_error(trace, left, off, _products(X.shape, kind))
    return error if scale is None else error + scale_share(mean, scale, n, weights) * trace


def scatter_mean_error(
    X: Any,
    total: Array,
    mean: Array,
    *,
    precision: type[np.floating] | None = None,
    weights: RowWeights | None = None,
    shift: RowShift | None = None,
) -> float:
    """A bound of the error ‖fl(x̄) − x̄‖ of the mean that comes with a scatter (`total`)."""
    n, trace = row_total(X, weights), float(np.maximum(np.diagonal(total), 0).sum())
    if sp.issparse(X):
        left_over = with_full_columns_centred(X, mean)[1]
        square_sum = trace + n * float(left_over @ left_over)
        return sparse_mean_error(square_sum, mean, n, X.shape[0] + more_terms(weights))
    if weights is not None:
        return weighted_mean_error(X, trace, mean, weights)
    kind = scatter_kind(X, precision)
    off = _offset_error(X, shift, trace, mean, np.ones(X.shape[1]), kind=kind)[1]
    return off + np.finfo(float).eps * float(np.linalg.norm(mean))


def _products(shape: tuple[int, int], kind: type[np.floating]) -> Products:
    """Order in which `_squares` adds products: narrow tables by BLAS, others by the kernel."""
    n, width = shape
    if width <= MAX_NARROW_COLUMNS:
        return Products(n, width, np.float64, min(n, MIN_TILE_NUMBERS))
    # Additions in the kernel's own precision: rows of a slab, then slabs (`scatter.h`).
    wide = -(-width // PANEL_COLUMNS) * PANEL_COLUMNS * np.dtype(kind).itemsize > WIDE_BYTES
    slab = LONG_SLAB_ROWS if wide else SHORT_SLAB_ROWS
    return Products(n, width, kind, slab + GROUP_ROWS // slab + 1)


def _offset_error(
    X: Array,
    by: RowShift | None,
    trace: float,
    mean: Array,
    units: Array,
    *,
    kind: type[np.floating],
) -> tuple[float, float]:
    """(‖x̄ − s‖, a bound of its error), s the shift of dense rows; all divided by `units`."""
    by = by or RowShift(_safe_shift(X), tight_columns(X))
    n, middle, tight = len(X), mean / units, by.tight
    shift = by.whole.astype(kind).astype(float) / units
    left = np.abs(middle - shift) + np.finfo(float).eps * np.abs(middle)
    # The sums of tight columns are of offsets, added row by row.
    summed, subtracted = np.abs(middle), np.abs(middle) + np.abs(shift)
    summed[tight], subtracted[tight] = left[tight], 0.0
    deepest = float(n) if len(tight) else _products(X.shape, kind).depth + n / SLAB_ROWS + 64
    off = mean_error(trace + n * float(summed @ summed), n, deepest)
    off += np.finfo(float).eps * float(np.linalg.norm(subtracted))
    return float(np.linalg.norm(left)), off


class CentredScatter(LinearOperator):
    """v ↦ S⁻¹XᵀHXS⁻¹v/m: the features' covariance, known by its products alone.

    For X with too many rows *and* columns to form either matrix; nothing is filled. S
    holds the `scale` of the features (None: 1), m is the `divisor` (None: the number of rows).
    `trace` is then the total variance. With `weights` rows count as often as these say.
    """

    def __init__(
        self,
        X: Rows,
        mean: Array,
        scale: Array | None = None,
        divisor: float | None = None,
        weights: RowWeights | None = None,
    ) -> None:
        self.data, self.mean, self.units, self.weights = X, mean, scale, weights
        self.left_over = mean
        self.divisor = row_total(X, weights) if divisor is None else divisor
        deviations = column_deviations(X, mean, weights, constant=0.0)
        if sp.issparse(X):
            self.data, self.left_over = with_full_columns_centred(X, mean)
        shares = deviations if scale is None else deviations / scale
        self.diagonal = np.square(shares) * (row_total(X, weights) / self.divisor)
        self.trace = float(self.diagonal.sum())
        super().__init__(np.dtype(float), (X.shape[1], X.shape[1]))

    def over_power(self, power: int) -> CentredScatter:
        """A·2^-power, without rounding."""
        divisor = float(np.ldexp(float(self.divisor), power))
        return CentredScatter(self.data, self.mean, self.units, divisor, self.weights)

    @property
    def norm_bound(self) -> float:
        """A number that ‖A‖₂ does not exceed."""
        return 1.01 * self.trace + self.product_error

    @property
    def product_error(self) -> float:
        """A bound of ‖fl(Av) − Av‖/‖v‖, with A as exact arithmetic on the rows gives it."""
        n, units = self.data.shape[0], 1.0 if self.units is None else self.units
        m, total, added = self.divisor, row_total(self.data, self.weights), more_terms(self.weights)
        middle, trace = self.mean / units, m * self.trace
        if sp.issparse(self.data):
            left_over, deepest = self.left_over / units, sum(self.shape) + n + added
            return 2 * sparse_error(trace, left_over, middle, total, deepest, n + added) / m
        off = mean_error(trace + total * float(middle @ middle), total, n + added)
        error = products_error(trace, off, (n + added, self.data.shape[1]), total)
        if self.units is not None:
            error += scale_share(self.mean, self.units, n, self.weights) * trace
        return error / m

    def _matmat(self, V: Array) -> Array:
        V = V if self.units is None else V / self.units[:, None]
        shift = self.left_over
        points = projected_rows(self.data, V, shift)
        if self.weights is not None:
            points *= self.weights.values[:, None]
        image = combined_rows(self.data, points, shift)
        image /= self.divisor
        return image if self.units is None else image / self.units[:, None]

    def _adjoint(self) -> CentredScatter:
        return self


def _squares(
    X: Array, shift: Array, tight: Array, done: Callable[[int], object]
) -> tuple[Array, Array, Array]:
    """(Σ (x − s)(x − s)ᵀ, its lower half only, Σ x, Σ (x − s) of the `tight` columns).

    They are multiplied in the precision of the shift s.
    """
    (n, width), kind, threads = X.shape, shift.dtype.type, thread_count()
    panels = -(-width // PANEL_COLUMNS)
    padded = np.zeros(panels * PANEL_COLUMNS, kind)
    padded[:width] = shift
    lying = X.dtype == kind and X.flags.c_contiguous
    tile = (
        MIN_TILE_NUMBERS
        if width <= MAX_NARROW_COLUMNS
        else CONTIGUOUS_TILE_NUMBERS
        if lying
        else COPIED_TILE_NUMBERS
    )
    height = max(SLAB_ROWS, tile // width)
    height = -(-n // (threads * -(-n // (threads * height))))  # as many rows for each thread
    slices = list(row_slices(n, max(SLAB_ROWS, MIN_TILE_NUMBERS // width, height)))
    threads = min(threads, len(slices))
    groups = max(1, min(threads, MAX_TOTAL_NUMBERS // width**2))
    parts = [
        (np.zeros((width, width)), np.zeros(width), np.zeros(len(tight))) for _ in range(groups)
    ]
    # Threads of one group have all its rows, and each the columns between two cuts.
    across = min(threads // groups, panels)
    cuts = _panel_cuts(panels, across)
    shares = [
        slices[i * len(slices) // groups : (i + 1) * len(slices) // groups] for i in range(groups)
    ]
    jobs = [(group, cut) for group in range(groups) for cut in pairwise(cuts)]

    def work(job: tuple[int, tuple[int, int]]) -> None:
        group, (first, last) = job
        for rows in shares[group]:
            tile = np.ascontiguousarray(X[rows], dtype=kind)
            total, sums, offsets = parts[group]
            _add_squares(tile, padded, first, last, total, sums)
            if first == 0:
                offsets += offset_sums(tile, tight, shift[tight].astype(float))
                done(len(tile))

    with one_blas_thread() if len(jobs) > 1 else nullcontext():
        in_threads(work, jobs, len(jobs))
    total_parts, *others = parts
    for more in others:
        for mine, added in zip(total_parts, more, strict=True):
            mine += added
    return total_parts


def _panel_cuts(panels: int, across: int) -> list[int]:
    """Where panels are divided among threads: the first columns of a triangle are the longest."""
    if across == 1:
        return [0, panels]
    shares = 1 - np.sqrt(1 - np.linspace(0, 1, across + 1))
    return sorted(set(np.rint(panels * shares).astype(int).tolist()))


def _add_squares(
    tile: Array, shift: Array, first: int, last: int, total: Array, sums: Array
) -> None:
    """Add the lower half of Σ (x − s)(x − s)ᵀ, of panels first..last, and Σ x of them."""
    width = tile.shape[1]
    if width <= MAX_NARROW_COLUMNS:
        with np.errstate(invalid="ignore", over="ignore"):  # NaN is refused when all is summed
            wide = tile.astype(float, copy=False)
            shifted = wide - shift[:width]
            total += shifted.T @ shifted
            sums += np.ones(len(tile)) @ wide
        return
    kernel_of_kind = _scatter[tile.dtype]
    if kernel_of_kind(width, tile, len(tile), shift, first, last, total, sums):
        raise MemoryError("no memory is left to multiply columns in")


def _safe_shift(X: Array) -> Array:
    """Shift of all rows before they are squared: about the mean, or 0 if that is near.

    A mean of t deviations adds t² to squares of 1: up to MAX_MEAN_DEVIATIONS that is less than
    a digit.
    """
    sample = sampled_rows(X)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN is refused when all is summed
        mean = sample[0] + (sample - sample[0]).mean(axis=0)  # of equal values it is that value
        centred = sample - mean
        spread = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(sample))
    return mean if (np.abs(mean) > MAX_MEAN_DEVIATIONS * spread).any() else np.zeros_like(mean)
