"""Enclosures of all eigenvalues of a small dense matrix, from the eigenpairs that LAPACK found.

|λ_i(S) − λ̂_i| ≤ ω|λ̂_i| + ρ with ω ≥ ‖QᵀQ − I‖ and ρ ≥ ‖S − QΛ̂Qᵀ‖: Ostrowski for QΛ̂Qᵀ, Weyl for
the rest. The products that ω and ρ are read off are rounded by (m + 4)u, of m and of Σ|λ̂|, in
Frobenius norms.
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF


def all_eigenvalues(S: Array) -> tuple[Array, Array]:
    """λ̂ of a symmetric matrix from the smallest on, and how far each can be from λ."""
    values, Q = np.linalg.eigh(S)
    m, u = len(S), 1.02 * (len(S) + 4) * UNIT_ROUNDOFF
    skew = float(np.linalg.norm(Q.T @ Q - np.eye(m))) * 1.01 + u * m
    total = float(np.abs(values).sum())
    left = float(np.linalg.norm(S - (Q * values) @ Q.T)) * 1.01 + u * (1 + skew) * total
    return values, skew * np.abs(values) + left
