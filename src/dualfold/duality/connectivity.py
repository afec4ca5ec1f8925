"""The bottom of the spectrum of a weighted graph: λ₂(L(w)) and the directions there.

The values are Ritz values, which lie above the eigenvalues: they steer a solver and prove
nothing (`bounds.py` proves).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.duality.unfolding import UnfoldingProblem
from dualfold.trace.factorisation import Ordering, factorise

Array = np.ndarray[Any, np.dtype[Any]]

# Blocks of inverse iteration kept for the Rayleigh–Ritz step, and restarts at most.
DEPTH = 4
RESTARTS = 30


def bottom(
    problem: UnfoldingProblem,
    weights: Array,
    ordering: Ordering,
    start: Array,
    count: int,
    *,
    tol: float = 1e-7,
) -> tuple[Array, Array]:
    """The `count` smallest eigenpairs of (L(w), diag(m)) beside the constant.

    Block inverse iteration in a Krylov space of a few blocks, from the columns of
    `start` (at least `count` of them). Vectors come back diag(m)-orthonormal; values are
    right to about `tol` relative (the error of a Ritz value is the residual's square).
    """
    L = problem.laplacian(weights)
    mass = problem.mass
    scale = float(np.sum(L.diagonal()) / mass.sum())
    # A tiny shift makes L definite; the constant vector is projected out all along.
    shifted = sp.csr_array(L + sp.diags_array(1e-11 * scale * mass))
    factor = factorise(shifted, ordering)
    block = _orthonormal(problem, start)
    for _ in range(RESTARTS):
        blocks = [block]
        for _ in range(DEPTH):
            new = factor.solve(mass[:, None] * blocks[-1])
            blocks.append(_orthonormal(problem, new, blocks))
        basis = np.hstack(blocks)
        small = basis.T @ (L @ basis)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        block = basis @ turn[:, : start.shape[1]]
        ritz = values[:count]
        wanted = block[:, :count]
        residual = L @ wanted - mass[:, None] * wanted * ritz
        # ‖r‖ in the norm of L⁻¹ bounds the relative error of the value by its square.
        energy = np.sum(residual * problem.centred(factor.solve(residual)), axis=0)
        if np.all(energy <= tol * ritz):
            break
    return ritz, wanted


def _orthonormal(problem: UnfoldingProblem, block: Array, others: list[Array] | None = None) -> Array:
    """Columns centred, orthonormal in diag(m), and orthogonal to the blocks before."""
    root = np.sqrt(problem.mass)[:, None]
    X = problem.centred(block)
    X = X / np.maximum(np.linalg.norm(root * X, axis=0), np.finfo(float).tiny)
    for _ in range(2):  # twice is enough (Kahan, Parlett)
        for other in others or []:
            X = X - other @ (other.T @ (problem.mass[:, None] * X))
        X = problem.centred(X)
        Q, _ = np.linalg.qr(root * X)
        X = Q / root
    return X
