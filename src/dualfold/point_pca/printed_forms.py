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

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.point_pca.point_descent import MAX_PAIRED_POINTS, double_centred
from dualfold.weights.row_passes import numeric_table


def algorithm_one(
    X: Any, n_components: int = 2, *, n_epochs: int = 100, rate: float, seed: int = 0
) -> list[Array]:
    """The iterates Y of "PCA by gradient descent on the points", first the start.

    As printed, but for its sign: the update adds the gradient and so climbs. Distances
    are squared, start and step are the paper's (N(0, 1), a constant rate ν), the gradient is
    half of ∇f. `n_components` columns of Y are drawn by `seed`; X and Y meet only through
    their distances. O(n²) memory each epoch; ν must be below 1/(8σ₁²) to converge (the
    Hessian's largest eigenvalue at the minimum is 32σ₁²). A negative ν is the algorithm as
    printed.

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
    """K with K·vec(A) = vec(Aᵀ) for every A of this shape; vec stacks columns.

    >>> commutation_matrix(2, 1).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    places = np.arange(rows * columns).reshape(columns, rows).T  # of vec(A), as entries of A
    return np.eye(rows * columns)[places.ravel()]


def kronecker_gradient(X: Any, Y: Any) -> Array:
    """∇f(Y) by the products above: n²×nd matrices, for few points."""
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    n, d = Y.shape
    L = np.eye(n) - 1 / n
    pull = (L @ (Y @ Y.T - X @ X.T) @ L).ravel(order="F")
    turned = np.kron(Y.T, np.eye(n)) + commutation_matrix(n, d).T @ np.kron(np.eye(n), Y.T)
    return np.asarray(8 * (turned @ pull).reshape(n, d, order="F"))
