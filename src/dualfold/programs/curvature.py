"""How much a symmetric matrix curves, for certain: κ and D with Q ⪰ κD⁻².

D holds powers of 2 that bring the diagonal to about 1, so small units are not lost beside
large ones. κ = 0 is proved for small matrices by elimination over the integers: all pivots
are ≥ 0, and where one is 0 its whole row is. κ ≠ 0 is proved by Cholesky's factorisation in
floating point: if it runs through on S = fl(DQD − σI), then

    S + tr(S)·γ·I ⪰ 0,   γ = 2(n + 2)·EPS     (Demmel, "On floating point errors in
    Cholesky", 1989; Rump, "Verification of positive definiteness", 2006),

so DQD ⪰ (σ − that − the rounding of the diagonal)·I. A negative κ says how far from
convexity Q may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.programs.entries import diagonal_units
from dualfold.programs.exact import ZERO, integers
from dualfold.programs.linear_systems import EPS, TINY

# Rows of a matrix that is eliminated over the integers: so many take a few seconds.
MOST_EXACT = 100


@dataclass(frozen=True, eq=False)
class Curvature:
    """Q ⪰ floor·D⁻², D the powers of 2 in `units`; the floor is None if nothing is proved."""

    floor: Fraction | None
    units: Array


def curvature(matrix: Any, size: int) -> Curvature:
    """What is proved of a symmetric matrix (None is 0)."""
    if matrix is None or not np.any(matrix.data if sp.issparse(matrix) else matrix):
        return Curvature(ZERO, np.ones(size))
    Q = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
    units = diagonal_units(np.diagonal(Q))
    with np.errstate(all="ignore"):
        scaled = Q * units[:, None] * units
        same = scaled / units / units[:, None]
    lossless = bool(np.isfinite(scaled).all()) and bool((same == Q).all())
    floor = _floor(scaled) if lossless else None
    if (floor is None or floor < 0) and size <= MOST_EXACT and _semidefinite(Q):
        floor = ZERO
    return Curvature(floor, units)


def _floor(scaled: Array) -> Fraction | None:
    """A proved lower bound of the eigenvalues, near the least of them; None if none is."""
    n = len(scaled)
    try:
        least = float(scipy.linalg.eigvalsh(scaled, subset_by_index=[0, 0])[0])
    except (np.linalg.LinAlgError, ValueError):
        return None
    noise = 4 * n * n * EPS * float(np.abs(np.diagonal(scaled)).max())
    for shift in (0.9 * least, least - noise, least - 100 * noise):
        shifted = scaled.copy()
        np.fill_diagonal(shifted, np.diagonal(scaled) - shift)
        diagonal = np.diagonal(shifted)
        if not (diagonal > 0).all() or scipy.linalg.lapack.dpotrf(shifted, lower=1)[1] != 0:
            continue
        # γ is four times what the theorem asks: that covers the rounding of the trace.
        lost = 2 * (n + 2) * EPS * float(diagonal.sum()) + n * n * TINY
        rounded = 2 * EPS * float(diagonal.max() + abs(shift))
        return Fraction(shift) - Fraction(lost) - Fraction(rounded)
    return None


def _semidefinite(Q: Array) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by exact elimination."""
    n = len(Q)
    whole = integers(Q.ravel())[0].reshape(n, n).tolist()
    left = list(range(n))
    last = 1
    while left:
        if any(whole[i][i] < 0 for i in left):
            return False
        pivots = [i for i in left if whole[i][i] > 0]
        if not pivots:
            return all(whole[i][j] == 0 for i in left for j in left)
        at = min(pivots, key=lambda i: whole[i][i])
        left.remove(at)
        pivot, row = whole[at][at], whole[at]
        for i in left:
            factor = whole[i][at]
            for j in left:
                whole[i][j] = (whole[i][j] * pivot - row[j] * factor) // last
        last = pivot
    return True
