"""Draganov's Algorithm 1 line by line, and the gradient by Kronecker products, for few points.

With G = YYᵀ (samples are rows), Δ = G_Y − G_X and L the centring matrix,

    f = 4 tr(LΔLΔ),   df = 8 vec(LΔL)ᵀ vec(dY·Yᵀ + Y·dYᵀ)
    vec(∇f) = 8 [(Yᵀ ⊗ I) + Kᵀ(I ⊗ Yᵀ)] vec(LΔL) = 16 vec(LΔLY)

K turns vec(dY) into vec(dYᵀ). The text has YᵀY for YYᵀ, loses the outer L and the dY of the
term with G_X, and so keeps a constant in df (docs/errata.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array, Numbers
from dualfold.errors import TooLarge
from dualfold.theory.point_pca.point_descent import MAX_PAIRED_POINTS, double_centred
from dualfold.weights.row_passes import numeric_table


def algorithm_one(
    X: Any, n_components: int = 2, *, n_epochs: int = 100, rate: float, seed: int = 0
) -> list[Array]:
    """Run Draganov's Algorithm 1, "PCA by gradient descent on the points", line by line.

    The sign of its update is corrected: as printed it climbs, which a negative rate shows.
    Distances are squared, start and step are those of the text, and the gradient is half of ∇f.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    n_components : int, default=2
        Number of coordinates.
    n_epochs : int, default=100
        Number of steps.
    rate : float
        Length ν of a step; it must be below 1/(8σ₁²) to converge.
    seed : int, default=0
        Seed of the start, N(0, 1).

    Returns
    -------
    list of ndarray
        The iterates, first the start.

    Raises
    ------
    TooLarge
        If the n×n distances would need too much memory.

    See Also
    --------
    descend_points : A descent without n×n matrices.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", 2022.

    Examples
    --------
    >>> steps = algorithm_one([[0.0], [1.0], [2.0]], 1, n_epochs=200, rate=0.02)
    >>> [round(abs(float(y)), 6) for y in (steps[-1] - steps[-1].mean()).ravel()]
    [1.0, 0.0, 1.0]
    """
    data = numeric_table(X)
    n = data.shape[0]
    if n > MAX_PAIRED_POINTS:
        raise TooLarge(
            f"Algorithm 1 holds {n}×{n} distances; up to {MAX_PAIRED_POINTS} points are taken. "
            "descend_points does the same in O(nDd) a step"
        )
    dense = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=float)
    wanted = double_centred(dense)
    Y = np.random.default_rng(seed).standard_normal((n, n_components))
    iterates = [Y]
    for _ in range(n_epochs):
        vectors = Y[:, None, :] - Y[None, :, :]
        gradient = -4 * ((wanted - double_centred(Y))[:, :, None] * vectors).sum(axis=1)
        Y = Y - rate * gradient  # the paper adds it
        iterates.append(Y)
    return iterates


def commutation_matrix(rows: int, columns: int) -> Array:
    """Compute the matrix K with K·vec(A) = vec(Aᵀ) for every A of a shape; vec stacks columns.

    Parameters
    ----------
    rows : int
        Number of rows of A.
    columns : int
        Number of columns of A.

    Returns
    -------
    ndarray of shape (rows·columns, rows·columns)
        The matrix.

    See Also
    --------
    kronecker_gradient : Needs it.

    Examples
    --------
    >>> from dualfold.point_pca import commutation_matrix
    >>> commutation_matrix(2, 1).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    places = np.arange(rows * columns).reshape(columns, rows).T  # of vec(A), as entries of A
    return np.eye(rows * columns)[places.ravel()]


def kronecker_gradient(X: Any, Y: Numbers) -> Array:
    """Compute the gradient of `point_error` by Kronecker products, for few points.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows of numbers.
    Y : array-like of shape (n_samples, n_components)
        The points.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        The gradient; matrices of size n²×nd are formed.

    See Also
    --------
    point_gradient : The same in O(nDd) operations.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", section 1.2, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.point_pca import kronecker_gradient, point_gradient
    >>> X, Y = np.array([[0.0], [1.0], [5.0]]), np.array([[1.0], [0.0], [2.0]])
    >>> bool(np.allclose(kronecker_gradient(X, Y), point_gradient(X, Y)))
    True
    """
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    n, d = Y.shape
    L = np.eye(n) - 1 / n
    pull = (L @ (Y @ Y.T - X @ X.T) @ L).ravel(order="F")
    turned = np.kron(Y.T, np.eye(n)) + commutation_matrix(n, d).T @ np.kron(np.eye(n), Y.T)
    return np.asarray(8 * (turned @ pull).reshape(n, d, order="F"))
