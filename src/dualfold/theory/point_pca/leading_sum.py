"""The sum Σ_{i≤d}σ_i⁴ of the centred data, from below and from above.

A quarter of what f can fall by from Y = 0. With S the smaller of X_cᵀX_c and X_cX_cᵀ, λ_i = σ_i²
its eigenvalues, and d orthonormal directions of any origin, Cauchy gives θ_i ≤ λ_i for their
Rayleigh–Ritz values, and the certificate of the trace problem Σ_{i≤d}λ_i ≤ B. Squares are
convex, so the largest Σλ_i² that both allow has all the room s = B − Σθ_i on the first:

    Σθ_i² ≤ Σ_{i≤d}λ_i² ≤ (θ_1 + s)² + Σ_{1<i≤d}θ_i²

Small S are decomposed instead (`_decomposed_sum`). Rounding of S as computed
(`dualfold.weights.precision`) and of θ is taken off θ and added to B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from dualfold.arrays import Array, Matrix, Numbers
from dualfold.errors import InvalidInput
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem
from dualfold.trace.proof.decomposition import all_eigenvalues
from dualfold.weights.column_moments import column_means
from dualfold.weights.covariance import CentredScatter, scatter, scatter_error
from dualfold.weights.gram import point_gram, point_gram_error
from dualfold.weights.row_passes import numeric_table

# LAPACK finds the first eigenvectors of a matrix of this size in seconds.
MAX_SPECTRUM_ROWS = 3_000
# Up to this size all eigenvectors are computed, and repeated eigenvalues do not matter.
MAX_DECOMPOSED_ROWS = 1_000
# The tolerance of the proof of Σλ; any proof that is found is used.
SUM_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class LeadingSum:
    """Bounds of Σ_{i≤d}σ_i⁴, and what else is known of the spectrum.

    lower, upper : of the sum; upper is infinite where nothing was proved
    chance : that upper is wrong, 0 where it is proved
    total, rest : Σσ_i² (about), and a lower bound of Σ_{i>d}σ_i⁴ (None: unknown)
    why : what is missing, in words
    """

    lower: float
    upper: float
    chance: float
    total: float
    rest: float | None
    why: str = ""


def leading_directions(X: Any, count: int) -> Array | None:
    """The first eigenvectors, one more than `count`, of the smaller of X_cᵀX_c and X_cX_cᵀ.

    By LAPACK; None where both have more than `MOST_SPECTRUM` rows.
    """
    data = numeric_table(X)
    if min(data.shape) > MAX_SPECTRUM_ROWS:
        return None
    S, _ = _matrix(data)
    m = len(S)
    least = max(0, m - count - 1)
    return np.asarray(scipy.linalg.eigh(S, subset_by_index=[least, m - 1])[1][:, ::-1])


def leading_fourth_powers(X: Any, count: int, directions: Numbers | None = None) -> LeadingSum:
    """Bounds of Σ_{i≤count}σ_i⁴ with the help of `directions` (None: found by LAPACK).

    They are columns of D numbers; of n where n < D and n ≤ 3,000.
    """
    data = numeric_table(X)
    V = leading_directions(data, count) if directions is None else np.asarray(directions, float)
    S, error = _matrix(data) if min(data.shape) <= MAX_SPECTRUM_ROWS else _operator(data)
    unit = 1.0 if isinstance(S, np.ndarray) else float(data.shape[0])  # S is X_cᵀX_c/unit
    if V is None or V.shape[0] != S.shape[0] or V.shape[1] < count:
        raise InvalidInput(
            f"the data has {data.shape} rows and columns; directions must be {S.shape[0]} numbers "
            f"in each of {count} columns or more, about its leading principal axes"
        )
    m = S.shape[0]
    if not _trace(S) > 0:
        return LeadingSum(0.0, (unit * count * error) ** 2, 0.0, 0.0, 0.0)
    if m <= MAX_DECOMPOSED_ROWS and isinstance(S, np.ndarray):
        return _decomposed_sum(S, count, error)
    return _certified_sum(S, V, count, error, unit)


def _decomposed_sum(S: Array, count: int, error: float) -> LeadingSum:
    """From enclosures of all eigenvalues."""
    values, radii = all_eigenvalues(S)
    off = radii + error
    high = np.sort(np.maximum(values + off, 0.0))[::-1]
    low = np.sort(np.maximum(values - off, 0.0))[::-1]
    sums = [float(np.square(part).sum()) for part in (low[:count], high[:count], low[count:])]
    total = float(np.maximum(values, 0).sum())
    return LeadingSum(
        sums[0] * (1 - 1e-13), sums[1] * (1 + 1e-13), 0.0, total, sums[2] * (1 - 1e-13)
    )


def _certified_sum(
    S: Array | CentredScatter, V: Array, count: int, error: float, unit: float
) -> LeadingSum:
    """From the certificate of the directions V, as derived above."""
    m, trace = S.shape[0], _trace(S)
    verdict = certify(TraceProblem(S, None, count, "max"), V, tolerance=SUM_TOLERANCE)
    known = verdict.level in ("proved", "within", "measured") and np.isfinite(verdict.bound)
    Q = np.linalg.qr(V[:, :count])[0]
    values = np.linalg.eigvalsh(Q.T @ (S @ Q))[::-1]
    rounding = 1.02 * (2 * m + 16) * UNIT_ROUNDOFF * trace + error
    theta = np.maximum(values - rounding, 0.0)
    lower = float(np.square(theta).sum()) * (1 - 1e-14)
    if not known:
        why = f"the leading axes are not known: {'; '.join(verdict.reasons)}"
        return LeadingSum(lower * unit**2, np.inf, 1.0, trace * unit, None, why)
    room = max(verdict.bound + count * error - float(theta.sum()), 0.0)
    upper = float(np.square(theta[1:]).sum()) + (float(theta[0]) + room) ** 2
    upper *= 1 + 1e-14
    rest = None
    if isinstance(S, np.ndarray):
        size = max(float(np.linalg.norm(S)) * (1 - 4 * m * UNIT_ROUNDOFF) - np.sqrt(m) * error, 0.0)
        rest = max(size**2 - upper, 0.0)
    return LeadingSum(lower * unit**2, upper * unit**2, verdict.chance, trace * unit, rest)


def _matrix(data: Matrix) -> tuple[Array, float]:
    """The smaller of X_cᵀX_c and X_cX_cᵀ in float64, and a bound of its error."""
    n, width = data.shape
    if width <= n:
        S, mean = scatter(data, precision=np.float64)
        return S, scatter_error(data, S, mean, precision=np.float64)
    mean = column_means(data)
    S = point_gram(data, mean, precision=np.float64)
    return S, point_gram_error(data, S, mean, precision=np.float64)


def _operator(data: Matrix) -> tuple[CentredScatter, float]:
    """X_cᵀX_c/n by its products alone, and a bound of their error."""
    known = CentredScatter(data, column_means(data))
    return known, known.product_error


def _trace(S: Array | CentredScatter) -> float:
    return float(np.trace(S)) if isinstance(S, np.ndarray) else float(S.trace)
