"""Draganov §1.2, the gradient by Kronecker products, in its right form.

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
