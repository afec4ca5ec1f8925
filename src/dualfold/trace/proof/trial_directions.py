"""Trial directions with the bounds that a bracket needs, rounding included.

For any V (n×c), any numbers h and R = A'V − BV·diag(h):

    skew    ≥ ‖VᵀBV − I‖                how far from B-orthonormal V is
    leak    ≥ ‖VᵀR‖                     the exact Ritz values lie within leak/(1 − skew) of h
    squares ≥ ‖r_i‖² in the B⁻¹ norm    an eigenvalue lies so near to h_i

A' = sign·A + τ·BN(BN)ᵀ lifts the excluded directions N out of the way: on the constraint
VᵀBN = 0 it is sign·A, so the smallest eigenvalues of A', in the whole space, are never above
those of the problem. Nothing has to be projected exactly, and N need not be invariant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF, gamma
from dualfold.kernels.sparse import sparse_product
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.rounding import (
    MAX_ABSOLUTE_ROWS,
    UP,
    column_norms,
    dual_lengths,
    inner,
    inner_depth,
    metric_errors,
    norm_bound,
    product_errors,
    squares_in_metric,
)


@dataclass(frozen=True, eq=False)
class Trial:
    """c directions with ascending Rayleigh quotients h of A' and the bounds above."""

    V: Array
    h: Array
    squares: Array
    rounded: Array  # the part of √squares that only bounds rounding
    skew: float
    leak: float

    def first(self, c: int) -> Trial:
        """The first c of them; a part of a matrix has no larger norm than the whole."""
        few = slice(c)
        return Trial(
            self.V[:, few], self.h[few], self.squares[few], self.rounded[few], self.skew, self.leak
        )

    @property
    def total(self) -> float:
        return float(self.h.sum())

    @property
    def blur(self) -> float:
        """Bound of the distance of an exact Ritz value from its h."""
        return UP * self.leak / (1 - self.skew) if self.skew < 1 else np.inf

    @property
    def total_blur(self) -> float:
        """Bound of the distance of the exact trace over the span from `total`."""
        added = len(self.h) * UNIT_ROUNDOFF * float(np.abs(self.h).sum())
        return float(np.sqrt(len(self.h))) * self.blur + added


def trial(
    problem: TraceProblem,
    V: Array,
    lift: float = 0.0,
    AV: Array | None = None,
    *,
    exact: bool = False,
) -> Trial:
    """The columns of V, rotated to diagonalise A' in their span, ascending.

    `AV` saves a product where it is known: it decides how to rotate V, and where it is `exact` (to
    the rounding of a product) it is used for a large dense A, which is then read once.
    """
    rotates = _rotates_images(problem) and (exact or AV is None)
    AV, BV = _images(problem, V, lift, AV)
    _, S = np.linalg.eigh(_quadratic(problem, V, AV))
    if rotates:  # a second pass over n² entries would cost too much
        V, AV, BV = V @ S, AV @ S, problem.metric.times(V @ S)
    else:
        V = V @ S
        AV, BV = _images(problem, V, lift, None)
    lengths = np.einsum("ij,ij->j", V, BV)
    h = np.diagonal(_quadratic(problem, V, AV)) / lengths
    order = np.argsort(h)
    V, AV, BV, h = V[:, order], AV[:, order], BV[:, order], h[order]
    return _trial_with_bounds(problem, V, AV, BV, h, lift)


def span_error(problem: TraceProblem, given: Array, basis: Array) -> float:
    """Distance, in the B-norm, of `basis` from the span of `given` less its part in N."""
    mixed = np.linalg.lstsq(given, basis, rcond=None)[0]
    rest = problem.without_excluded(basis - given @ mixed)
    # Where columns are only chosen, and their signs, it is the same, exactly.
    if rest.any() or not (np.abs(mixed) == (mixed != 0)).all():
        rest = np.abs(rest) + gamma(given.shape[1] + 4) * (np.abs(given) @ np.abs(mixed))
    off = float(np.sqrt(squares_in_metric(problem, rest).sum()))
    N = problem.excluded_basis
    if N.shape[1]:
        BV = problem.metric.times(basis)
        stray = np.linalg.norm(inner(N, BV)) + gamma(inner_depth(problem.n)) * np.linalg.norm(
            np.abs(N).T @ np.abs(BV)
        )
        off += 2 * float(stray) + 2 * problem.excluded_error
    return off * UP


def residual_lengths(
    problem: TraceProblem, V: Array, AV: Array | None = None
) -> tuple[Array, Array]:
    """Rayleigh quotients of the columns as they are, and bounds of their residuals."""
    AV, BV = _images(problem, V, 0.0, AV)
    squares = np.einsum("ij,ij->j", V, BV)
    quotients = np.diagonal(_quadratic(problem, V, AV)) / squares
    errors = _residual_errors(problem, V, BV, quotients, 0.0)
    lengths = dual_lengths(problem, AV - BV * quotients, errors)
    return quotients, np.asarray(lengths / np.sqrt(squares))


def _images(problem: TraceProblem, V: Array, lift: float, AV: Array | None) -> tuple[Array, Array]:
    AV, BV = problem.descent(V) if AV is None else AV, problem.metric.times(V)
    N = problem.excluded_basis
    if lift:
        AV = AV + lift * (problem.metric.times(N) @ inner(N, BV))
    return AV, BV


def _rotates_images(problem: TraceProblem) -> bool:
    return isinstance(problem.A, np.ndarray) and problem.n > MAX_ABSOLUTE_ROWS


def _quadratic(problem: TraceProblem, V: Array, AV: Array) -> Array:
    """VᵀAV; from MV where A = MᵀM, which keeps the digits of tiny values."""
    if isinstance(problem.A, Gramian):
        MV = sparse_product(problem.A.factor, V)
        return problem.sign * (MV.T @ MV)
    form = V.T @ AV
    return (form + form.T) / 2


def _trial_with_bounds(
    problem: TraceProblem, V: Array, AV: Array, BV: Array, h: Array, lift: float
) -> Trial:
    n = problem.n
    R = AV - BV * h
    errors = _residual_errors(problem, V, BV, h, lift)
    lengths = dual_lengths(problem, R, errors)
    rounded = dual_lengths(problem, np.zeros_like(R), errors)
    sizes = np.sqrt(squares_in_metric(problem, V))
    gram, depth = inner(V, BV) - np.eye(V.shape[1]), gamma(inner_depth(n))
    widths = metric_errors(problem, V)
    skew = np.linalg.norm(gram) + depth * float(sizes @ sizes)
    skew += float(np.linalg.norm(column_norms(V)) * np.linalg.norm(widths))
    # ‖VᵀR‖ for the R that was computed, its sums' rounding, and the R that was not.
    seen = np.linalg.norm(inner(V, R)) + depth * np.linalg.norm(column_norms(V)) * np.linalg.norm(
        column_norms(R)
    )
    long = float(np.sqrt(1 + skew)) * np.sqrt(len(h))
    leak = float(seen) + long * float(np.linalg.norm(rounded))
    return Trial(V, h, lengths**2 * UP, rounded, float(skew) * UP, leak * UP)


def _residual_errors(problem: TraceProblem, V: Array, BV: Array, h: Array, lift: float) -> Array:
    """Bounds of the rounding of A'V − BV·h, 2-norm, column by column."""
    errors = product_errors(problem, V)
    if _rotates_images(problem):  # AV and V were rotated, each with its own rounding
        wide = V.shape[1]
        errors = np.sqrt(wide) * (errors + 3 * gamma(wide + 2) * norm_bound(problem))
    errors = errors + np.abs(h) * metric_errors(problem, V)
    errors = (
        errors
        + 3 * UNIT_ROUNDOFF * (np.abs(h) * column_norms(BV))
        + 3 * UNIT_ROUNDOFF * column_norms(BV * h)
    )
    N = problem.excluded_basis
    if lift:
        BN = problem.metric.times(N)
        thick = float(np.linalg.norm(column_norms(BN)))
        rounding = gamma(inner_depth(problem.n) + N.shape[1] + 4) * np.linalg.norm(
            np.abs(N).T @ np.abs(BV), axis=0
        )
        rounding += float(np.linalg.norm(metric_errors(problem, N))) * column_norms(V)
        rounding += float(np.linalg.norm(column_norms(N))) * metric_errors(problem, V)
        errors = errors + lift * thick * rounding
    return np.asarray(errors * UP)
