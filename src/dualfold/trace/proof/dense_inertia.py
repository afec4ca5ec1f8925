"""Counts of negative eigenvalues of small dense matrices, by pivots of Bunch and Kaufman.

S = LDLᵀ + E, and E is measured: what LAPACK gave is multiplied out again and compared with S,
entry by entry, with the rounding of that product bounded: the signs of D are those of S − E. For
any positive t, |xᵀEx| ≤ Σ e_i x_i² with e_i = Σ_j |E_ij|t_j/t_i, because 2|x_i x_j| is at most
(t_j/t_i)x_i² + (t_i/t_j)x_j²; with t_i = 1/√s_ii the large rows do not add to the errors of the
small ones.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF, gamma
from dualfold.trace.proof.rounding import UP


def dense_inertia(S: Array) -> tuple[int, Array] | None:
    """The number of negative pivots and a bound of |E|; None where a sign is not clear."""
    n = len(S)
    try:
        L, D, _ = scipy.linalg.ldl(S, lower=True)
    except (np.linalg.LinAlgError, ValueError):
        return None
    if not np.isfinite(L).all() or not np.isfinite(D).all():
        return None
    negative = _negative_blocks(D)
    if negative is None:
        return None
    size = np.abs(L) @ (np.abs(D) @ np.abs(L.T))
    off = np.abs(S - L @ (D @ L.T)) + gamma(2 * n + 6) * size + UNIT_ROUNDOFF * np.abs(S)
    return negative, np.asarray(off * UP)


def row_errors(off: Array, sizes: Array) -> Array:
    """e of the module's docstring for t = 1/√sizes."""
    t = 1 / np.sqrt(sizes)
    return np.asarray((off @ t) / t * UP)


def _negative_blocks(D: Array) -> int | None:
    """Negative eigenvalues of the 1×1 and 2×2 blocks; None where rounding hides a sign."""
    negative, i, n = 0, 0, len(D)
    while i < n:
        beside = D[i + 1, i] if i + 1 < n else 0.0
        if beside == 0:
            if D[i, i] == 0:
                return None
            negative += int(D[i, i] < 0)
            i += 1
            continue
        product, square = D[i, i] * D[i + 1, i + 1], beside * beside
        if abs(product - square) <= 8 * UNIT_ROUNDOFF * (abs(product) + square):
            return None
        # A negative determinant has one of each sign, a positive one two of the trace's.
        negative += 1 if product < square else 2 * int(D[i, i] < 0)
        i += 2
    return negative


def form_bound(T: Array, errors: Array) -> bool:
    """Whether diag(errors) ⪯ 2T, by a Cholesky factorisation of T − diag(errors).

    The factorisation that runs to its end proves T − diag(errors) + F ⪰ 0 with
    |F_ij| ≤ γ√(t_ii t_jj) (Demmel 1989), hence F ⪯ nγ·diag(t): small against `errors` row by
    row, also where the rows of T have sizes of many orders.
    """
    n = len(T)
    shifted = T - np.diag(errors)
    diagonal = np.diagonal(shifted)
    if not (diagonal > 0).all():
        return False
    rounding = (n * gamma(n + 4) + 8 * UNIT_ROUNDOFF) * diagonal
    rounding = rounding + row_errors(4 * UNIT_ROUNDOFF * np.abs(T), np.diagonal(T))
    if not np.all(rounding * UP <= errors / 2):
        return False
    return bool(scipy.linalg.lapack.dpotrf(shifted, lower=1)[1] == 0)
