"""Covariance of features and Gram matrices of points, in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.errors import InvalidInput, TooLarge
from dualfold.kernels.progress import steps
from dualfold.kernels.tally import tally
from dualfold.weights.rows import (
    FEWEST,
    TILE,
    column_deviations,
    column_means,
    combined_rows,
    in_shares,
    projected_rows,
    slices_of,
    tiles,
)

Array = np.ndarray[Any, np.dtype[Any]]

# Rows of a tile that a D×D sum takes at least: fewer, and adding the products up would
# cost more than making them.
THICK = 512
# Numbers that are summed, shifted and soon squared: half a MB in float64, for the nearer cache.
LOW_TILE = 2**16
# Rows whose mean shifts all of them: it lies within a thirtieth of the spread.
SAMPLE = 1_000
# Deviations from 0 within which a mean needs no shift: 1 + 2² is less than a digit.
NEAR = 2.0
# Up to this width (128 MB in float64) every thread sums a scatter matrix of its own.
MOST_SHARED = 4_000
# A square matrix of this many rows takes 3.2 GB, as much as the dense solver accepts.
MOST_ROWS = 20_000


def scatter(X: Any, *, precision: type[np.floating] | None = None) -> tuple[Array, Array]:
    """(Σ (x − x̄)(x − x̄)ᵀ, x̄): n times the covariance, and the mean.

    X is read once. Where the mean is far from 0, rows are shifted by the mean of some of
    them before they are multiplied, so that it costs no digits; what is left of the mean
    is within the spread and comes off at the end. float32 and small integers are
    multiplied in float32 (unless `precision` is np.float64), tile by tile, and summed in
    float64; X itself is never copied. Sparse X stays sparse
    (XᵀX − n·x̄x̄ᵀ, which is accurate while the mean is not large against the spread).
    """
    n, width = X.shape
    if n == 0:
        raise InvalidInput("the data has no rows; at least one is needed")
    _refuse_large(width, "features", n)
    if sp.issparse(X):
        mean = column_means(X)
        wide = X.astype(float, copy=False)
        return np.asarray((wide.T @ wide).toarray()) - n * np.outer(mean, mean), mean
    kind = precision or working_precision(X)
    shift = _shift(X[:: -(-n // SAMPLE)]).astype(kind)
    # Products of rows with steps between their numbers bypass BLAS (NumPy before 2.3).
    copied = bool(shift.any()) or X.dtype != kind or X.itemsize not in X.strides
    slices = list(tiles(X, least=min(width, THICK), copied=copied))
    low = max(FEWEST, LOW_TILE // max(1, width))

    def share(slices: list[slice]) -> tuple[Array, Array]:
        total, sums = np.zeros((width, width), order="F"), np.zeros(width)
        # Made once: fresh pages for every tile would cost as much as the shift.
        height = min(n, max(rows.stop - rows.start for rows in slices))
        room = np.empty((height if copied else 0, width), kind)
        square = np.empty((width, width), kind)
        for rows in slices:
            tile = X[rows]
            shifted = room[: len(tile)] if copied else tile
            for few in slices_of(len(tile), low):  # read from memory once, then from the cache
                sums += tile[few].astype(float, copy=False).sum(axis=0)
                if copied:
                    np.subtract(tile[few], shift, out=shifted[few], dtype=kind)
            total += np.matmul(shifted.T, shifted, out=square)
            done(len(tile))
        return total, sums

    tally("scatter multiply-adds", n * width**2)
    with steps("multiplying columns", n) as done:
        # Each thread needs a total of its own; wide ones leave the threads to BLAS.
        parts = in_shares(share, iter(slices)) if width <= MOST_SHARED else [share(slices)]
    total, sums = parts[0]
    for other, more in parts[1:]:
        total += other
        sums += more
    mean = sums / n
    left_over = mean - shift
    total -= n * np.outer(left_over, left_over)
    _refuse_scale(total, X)
    return _both_halves(total), mean


def _shift(sample: Array) -> Array:
    """What to take off all rows before they are squared: the mean, or 0 where it is near.

    A mean of t deviations adds t² to squares of 1: up to `NEAR` that is less than a digit,
    and rows that stay as they are need not be copied.
    """
    mean = column_means(sample)
    spread = column_deviations(sample, mean, constant=0.0)
    return mean if (np.abs(mean) > NEAR * spread).any() else np.zeros_like(mean)


def point_gram(
    X: Any,
    mean: Array,
    scale: Array | None = None,
    *,
    precision: type[np.floating] | None = None,
) -> Array:
    """The n×n inner products ⟨x_i − x̄, x_j − x̄⟩ of the rows of X, features divided by `scale`.

    x̄ is `mean`.
    The other road to the scatter's eigenvalues, for n ≪ D. Tiles run over columns, in
    float32 for float32 and small integers (unless `precision` is np.float64) and summed
    in float64, like `scatter`.
    """
    n, width = X.shape
    _refuse_large(n, "points", width)
    if sp.issparse(X):
        wide = X.astype(float, copy=False)
        wide = wide if scale is None else sp.csr_array(wide @ sp.diags_array(1 / scale))
        middle = mean if scale is None else mean / scale
        along = wide @ middle
        total = np.asarray((wide @ wide.T).toarray())
        total -= along[:, None] + along[None, :] - float(middle @ middle)
        return total
    kind = precision or working_precision(X)
    total = np.zeros((n, n), order="F")
    step = max(TILE // n, min(n, THICK))
    for start in range(0, width, step):
        part = slice(start, start + step)
        # Shifted in float64: what a rounded shift leaves behind would stay.
        tile = X[:, part] - mean[part]
        tile = tile if scale is None else tile / scale[part]
        total = _plus_square(total, np.asfortranarray(tile, dtype=kind))
    return _both_halves(total)


class CentredScatter(LinearOperator):
    """v ↦ S⁻¹XᵀHXS⁻¹v/n: the features' covariance, known by its products alone.

    For X with too many rows *and* columns to form either matrix; nothing is filled. S
    holds the `scale` of the features (None: 1). `trace` is the total variance.
    """

    def __init__(self, X: Any, mean: Array, scale: Array | None = None) -> None:
        self.data, self.mean, self.units = X, mean, scale
        deviations = column_deviations(X, mean, constant=0.0)
        shares = deviations if scale is None else deviations / scale
        self.trace = float(np.square(shares).sum())
        super().__init__(np.dtype(float), (X.shape[1], X.shape[1]))

    def _matmat(self, V: Array) -> Array:
        V = V if self.units is None else V / self.units[:, None]
        image = combined_rows(self.data, projected_rows(self.data, V, self.mean), self.mean)
        image /= self.data.shape[0]
        return image if self.units is None else image / self.units[:, None]

    def _matvec(self, v: Array) -> Array:
        return self._matmat(v.reshape(-1, 1))[:, 0]

    def _adjoint(self) -> CentredScatter:
        return self


def working_precision(X: Any) -> type[np.floating]:
    """float32 where the entries fit into it, else float64."""
    return np.float32 if X.dtype.itemsize <= 2 or X.dtype == np.float32 else np.float64


def centred_gram(distances: Any, *, out: Array | None = None) -> Array:
    """K = −½HΔH from a matrix of distances (Δ: their squares), in their precision (half: double).

    `out` takes the result; it may be the matrix of distances itself (then lost, also when
    they are refused). K_ij is rounded
    just as K_ji is, so symmetric distances give a symmetric K to the last bit.
    """
    D = np.asarray(distances)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not len(D):
        raise InvalidInput(
            f"distances must be a square matrix, one row and column a point; the shape is {D.shape}"
        )
    # Squares of half precision would overflow from distances of 256 on.
    kind = D.dtype if D.dtype in (np.float32, np.float64) else np.dtype(float)
    K: Array = np.empty(D.shape, kind) if out is None else out
    height = max(1, 2**17 // len(K))  # 1 MB in float64: stays in the cache
    slices = [slice(start, start + height) for start in range(0, len(K), height)]

    def squared(slices: list[slice]) -> tuple[float, Array]:
        least, means = np.inf, []
        for rows in slices:
            least = min(least, float(D[rows].min()))
            with np.errstate(over="ignore"):  # too large to square: infinite, and refused below
                np.square(D[rows], out=K[rows], dtype=K.dtype)
            means.append(K[rows].mean(axis=1, dtype=float))
        return least, np.concatenate(means)

    parts = in_shares(squared, iter(slices))
    least, means = min(part[0] for part in parts), np.concatenate([part[1] for part in parts])
    if least < 0:
        raise InvalidInput(
            f"distances must not be negative; the smallest is {least:.3g} (similarities have to "
            "be turned into distances first)"
        )
    if not np.isfinite(means).all():
        raise InvalidInput(
            "the distances hold NaN, infinite entries, or some too large to be squared; a graph in "
            "several pieces gives infinite geodesics: join its pieces first"
        )
    shares = means - means.mean() / 2

    def centred(slices: list[slice]) -> None:
        for rows in slices:
            around = np.add.outer(shares[rows], shares)
            np.subtract(K[rows], around, out=K[rows], casting="same_kind")
            K[rows] *= -0.5

    in_shares(centred, iter(slices))
    return K


def _refuse_scale(total: Array, X: Any) -> None:
    """Data whose squares leave the range of numbers."""
    if not np.isfinite(np.diagonal(total)).all():
        raise InvalidInput(
            "the squares of these data overflow; look whether the largest values are marks for "
            "missing ones, or divide the data by a constant first"
            if np.isfinite(X).all()
            else "the data hold NaN or infinite values; fill or drop them first"
        )
    if not total.any() and (X[:1] != X).any():
        raise InvalidInput("the squares of these data vanish; multiply them by a constant first")


def _plus_square(total: Array, tile: Array) -> Array:
    """total + tile·tileᵀ; float32 tiles are multiplied in float32.

    NumPy takes BLAS' symmetric product here and, unlike SciPy's wrapper of it, lets
    other threads run meanwhile.
    """
    total += tile @ tile.T
    return total


def _both_halves(lower: Array) -> Array:
    """The symmetric matrix with this lower half, written in place block by block."""
    for start in range(0, len(lower), THICK):
        block = slice(start, start + THICK)
        lower[:start, block] = lower[block, :start].T
        corner = lower[block, block]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
    return lower


def mean_squares(distances: Array) -> Array:
    """The mean squared distance of each point to all of them, in float64, row by row."""
    starts = range(0, len(distances), THICK)
    parts = (np.square(distances[a : a + THICK], dtype=float).mean(axis=1) for a in starts)
    return np.concatenate(list(parts))


def refuse_asymmetry(distances: Array) -> None:
    """InvalidInput unless the square matrix equals its transpose, to 1e-5 as scikit-learn asks.

    Block against block: a transposed copy and its masks would take five times the matrix.
    """
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise InvalidInput(
            "array must be 2-dimensional and square, one row and column a point; the shape is "
            f"{distances.shape}"
        )
    n = len(distances)
    for i in range(0, n, THICK):
        for j in range(i, n, THICK):
            there, back = (
                distances[i : i + THICK, j : j + THICK],
                distances[j : j + THICK, i : i + THICK].T,
            )
            off = np.abs(there - back)
            if np.any(off > 1e-10 + 1e-5 * np.abs(back)):
                a, b = np.unravel_index(int(np.argmax(off)), off.shape)
                raise InvalidInput(
                    f"Array must be symmetric, as distances are; entry ({i + a}, {j + b}) is "
                    f"{there[a, b]:.6g} and entry ({j + b}, {i + a}) is {back[a, b]:.6g}. Use "
                    "(D + D.T) / 2 if that is noise"
                )


def _refuse_large(rows: int, what: str, others: int) -> None:
    if rows > MOST_ROWS:
        other = "points" if what == "features" else "features"
        raise TooLarge(
            f"a dense matrix of {rows}×{rows} {what} was needed ({others} {other}); up to "
            f"{MOST_ROWS} are taken (n² memory). Bring the features down first: "
            "methods.random_projection, or a selection of columns"
        )
