"""Covariance of features and Gram matrices of points, in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg.blas
import scipy.sparse as sp

from dualfold.errors import InvalidInput

Array = np.ndarray[Any, np.dtype[Any]]

# Numbers in a tile: 8 MB in float32, which stays in the cache between the shift by
# the mean and the product.
TILE = 2**21


def scatter(X: Any) -> tuple[Array, Array]:
    """(Σ (x − x̄)(x − x̄)ᵀ, x̄): n times the covariance, and the mean.

    Rows are shifted by the mean before they are multiplied, so a mean far from 0
    costs no digits. float32 and small integers are multiplied in float32, tile by
    tile, and summed in float64; X itself is never copied. Sparse X stays sparse
    (XᵀX − n·x̄x̄ᵀ, which is accurate while the mean is not large against the spread).
    """
    n, width = X.shape
    if n == 0:
        raise InvalidInput("the data has no rows; at least one is needed")
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return np.asarray((X.T @ X).todense()) - n * np.outer(mean, mean), mean
    mean = column_means(X)
    kind = np.float32 if X.dtype.itemsize <= 2 or X.dtype == np.float32 else np.float64
    product = scipy.linalg.blas.ssyrk if kind is np.float32 else scipy.linalg.blas.dsyrk
    total = np.zeros((width, width), order="F")
    shift = mean.astype(kind)
    left_over = np.zeros(width)  # what the shift, rounded to `kind`, left of the mean
    for tile in _tiles(X):
        rows = np.subtract(tile, shift, dtype=kind)
        left_over += rows.sum(axis=0, dtype=float)
        total += product(1.0, rows.T, lower=1)
    total -= np.outer(left_over, left_over) / n
    lower = np.tril_indices(width, -1)
    total.T[lower] = total[lower]
    return total, mean


def column_means(X: Array) -> Array:
    """The mean of each column in float64, without a float64 copy of X."""
    total = np.zeros(X.shape[1])
    for tile in _tiles(X):
        total += tile.sum(axis=0, dtype=float)
    return np.asarray(total / len(X))


def centred_gram(distances: Any, *, out: Array | None = None) -> Array:
    """K = −½HΔH from a matrix of distances (Δ: their squares), in the input's precision.

    `out` takes the result; it may be the matrix of distances itself. K_ij is rounded
    just as K_ji is, so symmetric distances give a symmetric K to the last bit.
    """
    D = np.asarray(distances)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not len(D):
        raise InvalidInput(
            f"distances must be a square matrix, one row and column a point; the shape is {D.shape}"
        )
    with np.errstate(over="ignore"):  # too large to square: infinite, and refused below
        K = np.square(D, out=out, dtype=D.dtype if D.dtype.kind == "f" else float)
    means = np.concatenate([tile.mean(axis=1, dtype=float) for tile in _tiles(K)])
    if not np.isfinite(means).all():
        raise InvalidInput(
            "the distances hold NaN or infinite entries; a graph in several pieces gives infinite "
            "geodesics: join its pieces first"
        )
    share = means - means.mean() / 2
    height = max(1, 2**17 // len(K))  # 1 MB in float64: stays in the cache
    for start in range(0, len(K), height):
        rows = slice(start, start + height)
        around = np.add.outer(share[rows], share)
        np.subtract(K[rows], around, out=K[rows], casting="same_kind")
        K[rows] *= -0.5
    return K


def _tiles(X: Array) -> Any:
    height = max(1, TILE // max(1, X.shape[1]))
    return (X[start : start + height] for start in range(0, len(X), height))
