"""Gram matrices of points, in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.graph.number_rows import widest_extent
from dualfold.kernels.arithmetic import MIN_SQUARE_SUM
from dualfold.kernels.threads import in_shares, row_slices
from dualfold.weights.precision import (
    Products,
    gram_error,
    mean_error,
    more_terms,
    scale_share,
    sparse_error,
    weighted_gram_error,
    weighted_mean_error,
)
from dualfold.weights.row_passes import with_full_columns_centred
from dualfold.weights.row_weights import RowWeights, row_total

# Numbers in a tile that is copied and squared: enough for an n×n product at full speed.
TILE_NUMBERS = 2**21
# With fewer columns, adding the products would take longer than computing them.
MIN_TILE_COLUMNS = 512
# Up to this many rows matrices of distances are made float64.
MAX_FLOAT64_ROWS = 4_000
# Up to here float64 takes so little time that float32 saves nothing.
MAX_FLOAT64_FLOPS = 2**32
# As many rows as the dense solver accepts.
MAX_DENSE_ROWS = 20_000
# Mean squared distances are at least this many times the smallest normal number: squares
# that underflow then lose less than rounding does.
UNDERFLOW_MARGIN = 2.0**20
# Numbers of a block of rows that stays in the cache.
CACHED_NUMBERS = 2**17


def point_gram(
    X: Rows,
    mean: Array,
    scale: Array | None = None,
    *,
    precision: type[np.floating] | None = None,
    weights: RowWeights | None = None,
) -> Array:
    """Compute the inner products ⟨x_i − x̄, x_j − x̄⟩ of centred rows.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Rows of finite numbers.
    mean : ndarray of shape (n_features,)
        The vector x̄ that is subtracted from all rows.
    scale : ndarray of shape (n_features,) or None, default=None
        Numbers that the columns are divided by; None divides by none.
    precision : type or None, default=None
        `numpy.float64` forbids products in single precision; None allows them for large tables of
        float32 or small integers.
    weights : RowWeights or None, default=None
        How often each row counts: the products are those of √w(x − x̄), in float64.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        The Gram matrix. Its nonzero eigenvalues are those of the scatter matrix.

    See Also
    --------
    scatter : The smaller matrix if there are few columns.
    centred_gram : The same matrix from distances.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.weights import point_gram
    >>> X = np.array([[1.0, 0.0], [3.0, 2.0]])
    >>> point_gram(X, X.mean(axis=0))
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    n, width = X.shape
    refuse_large(n, "points", width)
    if sp.issparse(X):
        centred, left_over = with_full_columns_centred(X, mean)
        wide = centred.astype(float, copy=False)
        wide = wide if scale is None else sp.csr_array(wide @ sp.diags_array(1 / scale))
        middle = left_over if scale is None else left_over / scale
        along = wide @ middle
        total = np.asarray((wide @ wide.T).toarray())
        total -= along[:, None] + along[None, :] - float(middle @ middle)
        return total if weights is None else total * np.outer(weights.roots, weights.roots)
    kind, step = _gram_tiles(X, np.float64 if weights is not None else precision)
    total = np.zeros((n, n), order="F")
    with np.errstate(over="ignore", invalid="ignore"):  # refused by the trace (`refuse_scale`)
        for part in row_slices(width, step):
            # Shifted in float64: what a rounded shift leaves behind would stay.
            tile = X[:, part] - mean[part]
            tile = tile if scale is None else tile / scale[part]
            tile = tile if weights is None else tile * weights.roots[:, None]
            # BLAS' symmetric product, threads and all; float32 is multiplied in float32.
            thick = np.asfortranarray(tile, dtype=kind)
            total += thick @ thick.T
    return total


def refuse_scale(trace: float, X: Any) -> None:
    """Raise for rows whose squares overflow, or that differ by so little that squares underflow.

    trace : the sum of all squares of the centred rows, as computed
    """
    if not np.isfinite(trace):
        raise InvalidInput(
            "the squares of these data overflow; look whether the largest values are marks for "
            "missing ones, or divide the data by a constant first"
            if np.isfinite(X.data if sp.issparse(X) else X).all()
            else "the data hold NaN or infinite values; fill or drop them first"
        )
    # Two rows at the least extent have half of its square.
    if abs(trace) < MIN_SQUARE_SUM / 2 and widest_extent(X) > 0:
        raise InvalidInput("the squares of these data vanish; multiply them by a constant first")


def _gram_tiles(X: Rows, precision: type[np.floating] | None) -> tuple[type[np.floating], int]:
    """The precision of the products, and how many columns are multiplied at a time.

    In float32 as few as possible: every further product in a sum loses digits.
    """
    n, width = X.shape
    cheap = n * n * width <= MAX_FLOAT64_FLOPS
    kind = precision or (np.float64 if cheap else working_precision(X))
    return kind, MIN_TILE_COLUMNS if kind is np.float32 else max(
        TILE_NUMBERS // n, min(n, MIN_TILE_COLUMNS)
    )


def gram_kind(
    X: Rows, precision: type[np.floating] | None = None, weights: RowWeights | None = None
) -> type[np.floating]:
    """The precision that `point_gram` multiplies in."""
    wide = sp.issparse(X) or weights is not None
    return np.float64 if wide else _gram_tiles(X, precision)[0]


def point_gram_error(
    X: Any,
    total: Array,
    mean: Array,
    scale: Array | None = None,
    *,
    precision: type[np.floating] | None = None,
    weights: RowWeights | None = None,
) -> float:
    """A bound of ‖Ĝ − G‖₂ for `point_gram`, Ĝ (`total`) as computed."""
    (n, width), units = X.shape, np.ones(X.shape[1]) if scale is None else scale
    trace, middle = max(float(np.trace(total)), 0.0), mean / units
    if sp.issparse(X):
        left_over = with_full_columns_centred(X, mean)[1] / units
        deepest = int(np.diff(X.indptr).max(initial=0)) + 2 + more_terms(weights)
        mass, added = row_total(X, weights), n + more_terms(weights)
        error = sparse_error(trace, left_over, middle, mass, deepest, added)
    elif weights is not None:
        off = weighted_mean_error(X, trace, middle, weights)
        error = weighted_gram_error(trace, off, weights.total, width)
    else:
        kind, step = _gram_tiles(X, precision)
        off = mean_error(trace + n * float(middle @ middle), n, n)
        error = gram_error(trace, off, Products(n, width, kind, min(step, width)))
    return error if scale is None else error + scale_share(mean, scale, n, weights) * trace


def working_precision(X: Rows) -> type[np.floating]:
    """float32 where the entries fit into it, else float64."""
    return np.float32 if X.dtype.itemsize <= 2 or X.dtype == np.float32 else np.float64


def centred_gram(distances: ArrayLike, *, out: Array | None = None) -> Array:
    """Double centring: compute K = −½HΔH from distances, where Δ holds their squares.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        Symmetric matrix of distances.
    out : ndarray or None, default=None
        Array for the result; it may be the matrix of distances itself, which is lost then.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        The centred Gram matrix, in the precision of the distances (half precision: double).

    Raises
    ------
    InvalidInput
        If the matrix is not square, or has entries that are negative or not finite.

    See Also
    --------
    point_gram : The same matrix from rows of coordinates.

    Notes
    -----
    H = I − 11ᵀ/n. K_ij is rounded as K_ji is, so symmetric distances give a symmetric K to the last
    bit.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika, 17,
       401–419, 1952.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.weights import centred_gram
    >>> centred_gram(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    D = np.asarray(distances)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not len(D):
        raise InvalidInput(
            Argument("distances"),
            f" must be a square matrix, one row and column a point; the shape is {D.shape}",
        )
    # Squares of half precision would overflow from distances of 256 on.
    kind: Any = D.dtype if D.dtype in (np.float32, np.float64) else np.dtype(float)
    K: Array = np.empty(D.shape, kind) if out is None else out
    slices = list(row_slices(len(K), max(1, CACHED_NUMBERS // len(K))))

    def square_rows(slices: list[slice]) -> tuple[float, float, Array]:
        least, most, means = np.inf, 0.0, []
        for rows in slices:
            least, most = min(least, float(D[rows].min())), max(most, float(D[rows].max()))
            with np.errstate(over="ignore"):  # too large to square: infinite, and refused below
                np.square(D[rows], out=K[rows], dtype=K.dtype)
                means.append(K[rows].mean(axis=1, dtype=float))
        return least, most, np.concatenate(means)

    parts = in_shares(square_rows, slices)
    least, most = min(part[0] for part in parts), max(part[1] for part in parts)
    means = np.concatenate([part[2] for part in parts])
    if least < 0:
        raise InvalidInput(
            Argument("distances"),
            f" must not be negative; the smallest is {least:.3g} (similarities have to be "
            "turned into distances first)",
        )
    if not np.isfinite(means).all():
        raise InvalidInput(
            "the distances hold NaN, infinite entries, or some too large to be squared; a graph in "
            "several pieces gives infinite geodesics: join its pieces first"
        )
    if means.max() < np.finfo(kind).tiny * UNDERFLOW_MARGIN and most > 0:
        raise InvalidInput(
            "the distances are so small that their squares vanish in the precision of type "
            f"{kind}; multiply them by a constant first, or use double precision"
        )
    shares = means - means.mean() / 2

    def centre_rows(slices: list[slice]) -> None:
        for rows in slices:
            means_of_both = np.add.outer(shares[rows], shares)
            np.subtract(K[rows], means_of_both, out=K[rows], casting="same_kind")
            K[rows] *= -0.5

    in_shares(centre_rows, slices)
    return K


def centre_by_masses(K: Array, weights: RowWeights) -> None:
    """Replace a symmetric K in float64 by √w(I − 1mᵀ)K(I − m1ᵀ)√w, m the weights over their sum.

    Of K = −½HΔH that is −½√w(I − 1mᵀ)Δ(I − m1ᵀ)√w: H takes off what 1 takes off again.
    """
    means = K @ (weights.values / weights.total)
    shares = means - float(weights.values @ means) / weights.total / 2
    for rows in row_slices(len(K), max(1, CACHED_NUMBERS // len(K))):
        K[rows] -= np.add.outer(shares[rows], shares)
        K[rows] *= np.multiply.outer(weights.roots[rows], weights.roots)


def small_as_float64(distances: ArrayLike) -> Array:
    """Distances in float64 where their matrix stays small, else as they are."""
    D = np.asarray(distances)
    return D.astype(float) if D.dtype == np.float32 and len(D) <= MAX_FLOAT64_ROWS else D


def symmetrize(K: Array, mean: str = "the mean of the squared distances there and back") -> str:
    """Replace K by (K + Kᵀ)/2, block by block; how asymmetric it was, in words ("" for not).

    mean : what the result is, in words
    """
    off = 0.0
    for i, j in _block_pairs(len(K)):
        there, back = K[i, j], K[j, i].T
        off = max(off, float(np.abs(there - back).max()))
        if i == j or off:
            K[i, j] = middle = (there + back) / 2
            K[j, i] = middle.T
    if not off:
        return ""
    # The diagonal of a kernel has its largest entry; that of distances is 0.
    share = off / (float(np.abs(np.diagonal(K)).max()) or max(float(K.max()), -float(K.min())))
    return f"{mean}, which were {share:.1e} apart"


def mean_squares(distances: Array, weights: Array | None = None) -> Array:
    """The mean squared distance of each point to all of them, in float64, row by row.

    weights : how often each point counts
    """
    starts = range(0, len(distances), MIN_TILE_COLUMNS)
    squares = (np.square(distances[a : a + MIN_TILE_COLUMNS], dtype=float) for a in starts)
    if weights is not None:
        return np.concatenate([part @ weights for part in squares]) / weights.sum()
    return np.concatenate([part.mean(axis=1) for part in squares])


def refuse_asymmetry(distances: Array, name: str = "distances") -> None:
    """InvalidInput unless the square matrix equals its transpose, to 1e-5 as scikit-learn asks.

    Block against block: a transposed copy and its masks would take five times the matrix.
    """
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise InvalidInput(
            "array must be 2-dimensional and square, one row and column a point; the shape of the "
            f"{name} is {distances.shape}"
        )
    for i, j in _block_pairs(len(distances)):
        there, back = distances[i, j], distances[j, i].T
        off = np.abs(there - back)
        if np.any(off > 1e-10 + 1e-5 * np.abs(back)):
            a, b = np.unravel_index(int(np.nanargmax(off)), off.shape)
            row, column = i.start + a, j.start + b
            raise InvalidInput(
                f"Array must be symmetric, as {name} are; entry ({row}, {column}) is "
                f"{there[a, b]:.6g} and entry ({column}, {row}) is {back[a, b]:.6g}. Use "
                "(D + D.T) / 2 if that is noise"
            )


def _block_pairs(n: int) -> list[tuple[slice, slice]]:
    """The blocks of rows and columns of an n×n matrix on its diagonal and to the right of it."""
    blocks = list(row_slices(n, MIN_TILE_COLUMNS))
    return [(i, j) for count, i in enumerate(blocks) for j in blocks[count:]]


def refuse_large(rows: int, what: str, others: int) -> None:
    if rows > MAX_DENSE_ROWS:
        other = "points" if what == "features" else "features"
        raise TooLarge(
            f"a dense matrix of {rows}×{rows} {what} was needed ({others} {other}); up to "
            f"{MAX_DENSE_ROWS} are taken (n² memory). Bring the features down first: "
            "methods.random_projection, or a selection of columns"
        )
