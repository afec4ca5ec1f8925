"""Proved bounds of the eigenvalues of a symmetric matrix; no eigensolver is trusted.

If Cholesky's factorisation of a symmetric matrix M runs to its end in floating point, then
RᵀR = M + Δ with ‖Δ‖ ≤ γ/(1 − γ)·tr M, γ = (n+1)u/(1 − (n+1)u), so

    λ_min(M) ≥ −γ/(1 − γ)·tr M

(Higham, "Accuracy and stability of numerical algorithms", theorem 10.3; Rump 2006). An
estimate s of λ_min is made a bound by factorising M − sI for an s a little lower.
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.games.intervals import EPS, TINY, Sure, length

TRIES = 6  # each eight times lower; the first one is the rule


def least_eigenvalue(matrix: Sure, estimate: float | None = None) -> float:
    """A number not above the least eigenvalue of any symmetric matrix that `matrix` holds.

    A good `estimate` saves the eigensolver's time; a bad one makes a poor bound, not a wrong one.
    """
    M = matrix.mid
    if not (np.isfinite(M).all() and np.isfinite(matrix.off).all()):
        return -np.inf
    slack = length(matrix.off * np.ones_like(M)) if np.any(matrix.off) else 0.0
    if not np.any(M - np.diag(np.diag(M))):
        return _down(float(M.diagonal().min()), slack)
    scale = 2.0 ** -int(np.clip(np.frexp(np.abs(M).max())[1], -1000, 1000))
    guess = None if estimate is None else estimate * scale
    bound = _floor(M * scale, guess) / scale  # powers of two: exact but for underflow
    return _down(bound, slack + len(M) * TINY / scale)


def largest_eigenvalue(matrix: Sure) -> float:
    """A number not below the largest eigenvalue."""
    return -least_eigenvalue(-matrix)


def squares_of(rows: Array) -> Sure:
    """AᵀA of the rows A, every entry from both sides."""
    size = np.abs(rows)
    return Sure(rows.T @ rows, (2 * len(rows) + 8) * EPS * (size.T @ size) + len(rows) * TINY)


def _floor(M: Array, estimate: float | None) -> float:
    """A lower bound of λ_min for entries of size 1."""
    n = len(M)
    estimate = float(np.linalg.eigvalsh(M)[0]) if estimate is None else estimate
    room = 2 * (n + 4) * EPS * (float(np.abs(M.diagonal()).sum()) + n * abs(estimate))
    for _ in range(TRIES):
        shift = estimate - room
        shifted = M.copy()
        shifted[np.diag_indices(n)] -= shift
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            room *= 8
            continue
        trace = float(np.abs(shifted.diagonal()).sum())
        return shift - (2 * (n + 4) * EPS * trace + EPS * abs(shift) + n * n * 2.0**-900)
    around = np.abs(M).sum(axis=1) - np.abs(M.diagonal())  # Gershgorin
    return float((M.diagonal() - around).min()) - 4 * n * EPS * float(np.abs(M).sum(axis=1).max())


def _down(number: float, slack: float) -> float:
    return number if slack == 0 else float(np.nextafter(number - slack * (1 + EPS), -np.inf))
