"""The lowest eigenpairs of a weighted graph: λ₂(L(w)) and its directions.

The values are Ritz values, which lie above the eigenvalues: they steer a solver and prove
nothing (`spectral_floor.py` proves).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.trace.sparse.factorisation import Ordering, factorise
from dualfold.unfolding.problem import UnfoldingProblem

# Blocks of inverse iteration that the Rayleigh–Ritz step uses.
KRYLOV_BLOCKS = 4
MAX_RESTARTS = 30
# L itself is singular, so L + εM is factorised; ε is this share of L's mean diagonal.
SHIFT_SHARE = 1e-11
# A column that keeps less than this of its length beside the others is rounding.
DEPENDENT_TOLERANCE = 1e-11


def lowest_eigenpairs(
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
    if 2 * (KRYLOV_BLOCKS + 1) * start.shape[1] >= problem.n:
        # The Krylov space would be most of the full space.
        values, vectors = scipy.linalg.eigh(L.toarray(), np.diag(mass))
        return values[1 : count + 1], problem.centred_points(vectors[:, 1 : count + 1])
    scale = float(np.sum(L.diagonal()) / mass.sum())
    factor = factorise(sp.csr_array(L + sp.diags_array(SHIFT_SHARE * scale * mass)), ordering)
    block = orthonormal_columns(problem, start)
    for _ in range(MAX_RESTARTS):
        blocks = [block]
        for _ in range(KRYLOV_BLOCKS):
            new = factor.solve(mass[:, None] * blocks[-1])
            fresh = orthonormal_columns(problem, new, blocks)
            if not fresh.shape[1]:  # symmetric graphs have few distinct eigenvalues: no more
                break
            blocks.append(fresh)
        basis = np.hstack(blocks)
        small = basis.T @ (L @ basis)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        block = basis @ turn[:, : start.shape[1]]
        ritz, wanted = values[:count], block[:, :count]
        residual = L @ wanted - mass[:, None] * wanted * ritz
        # rᵀL⁻¹r bounds the error of a Ritz value far from the others.
        energy = np.sum(residual * problem.centred_points(factor.solve(residual)), axis=0)
        if np.all(energy <= tol * ritz):
            break
    return ritz, wanted


def orthonormal_columns(
    problem: UnfoldingProblem, block: Array, others: list[Array] | None = None
) -> Array:
    """Columns centred, orthonormal in diag(m), and orthogonal to the blocks before.

    Columns that add nothing new are left out: QR would put rounding in their place, the constant
    vector included, whose eigenvalue 0 would pass for λ₂.
    """
    root = np.sqrt(problem.mass)[:, None]
    X = problem.centred_points(block)
    X = X / np.maximum(np.linalg.norm(root * X, axis=0), np.finfo(float).tiny)
    for _ in range(2):  # twice is enough (Kahan, Parlett)
        for other in others or []:
            X = X - other @ (other.T @ (problem.mass[:, None] * X))
        Q, R, _ = scipy.linalg.qr(root * problem.centred_points(X), mode="economic", pivoting=True)
        X = Q[:, : np.count_nonzero(np.abs(np.diagonal(R)) > DEPENDENT_TOLERANCE)] / root
    return X
