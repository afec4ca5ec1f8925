"""The smallest eigenvalues of A = MᵀM, judged as singular values of M.

In units of λ = σ² rounding is u‖M‖², which hides λ = 2e-15; in units of σ it is u‖M‖ against
σ = 4e-8. The singular values are eigenvalues of J = [[0, M], [Mᵀ, 0]], and Lehmann's theorem
also bounds eigenvalues inside a spectrum: with pairs (u, v), Rayleigh quotients s < η and
residuals Mv − su, Mᵀu − sv, the c eigenvalues of J next below η are not smaller than his
bounds. If at most c singular values lie below η, these are all of them.

With the excluded directions N (null vectors of M to rounding: ν ≥ ‖MN‖) all statements are about
M on the complement of N: its singular values are within ν of those of M(I − NNᵀ), which has 0
once more for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import LENGTH_UNDERFLOW, UNIT_ROUNDOFF, gamma
from dualfold.kernels.sparse import sparse_product
from dualfold.trace.metric import Diagonal
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.completeness import SpectralFloor, counted_height, factor_with_room
from dualfold.trace.proof.dense_inertia import dense_inertia
from dualfold.trace.proof.lehmann_bounds import (
    HEIGHT_STEP_FACTORS,
    NO_BRACKET,
    Bracket,
    TrialHeight,
    temple_loss,
)
from dualfold.trace.proof.rounding import (
    UP,
    column_norms,
    dual_lengths,
    inner,
    inner_depth,
    longest_row,
    metric_errors,
    squares_in_metric,
    underflow,
)
from dualfold.trace.proof.trial_directions import Trial
from dualfold.trace.sparse.factorisation import Factorisation, factorise
from dualfold.trace.sparse.shifted_matrices import shifted_matrices

# Null vectors are null to rounding, at most this share of ‖M‖; else N is no null space.
MAX_NULL_ERROR = 1e-10
# A gap of singular values of this share of ‖M‖ is wider than the rounding of a factorisation.
WIDE_GAP_SHARE = 3e-8
# Heights closer to a value than this share of ‖M‖ are decided by rounding.
MIN_SINGULAR_STEP = 1e-14


def uses_singular_values(problem: TraceProblem) -> bool:
    """Whether the problem asks for the small end of MᵀM, off null vectors at most."""
    if not isinstance(problem.A, Gramian) or problem.sense != "min":
        return False
    return problem.metric.lowest > 0 and null_error(problem) <= MAX_NULL_ERROR * factor_norm(
        problem
    )


def factor_norm(problem: TraceProblem) -> float:
    """A number that ‖Mv‖ does not exceed for vᵀBv = 1."""
    M = problem.A.absolute
    norm = float(np.sqrt(M.sum(axis=0).max() * M.sum(axis=1).max())) * UP
    return norm / float(np.sqrt(problem.metric.lowest))


def null_error(problem: TraceProblem) -> float:
    """A bound of ‖MP‖, P the projection on the excluded directions."""
    N = problem.excluded_basis
    if not N.shape[1]:
        return 0.0
    M = problem.A.factor
    sizes = column_norms(M @ N) + gamma(longest_row(M) + 2) * column_norms(
        problem.A.absolute @ np.abs(N)
    )
    return 2 * float(np.linalg.norm(sizes))  # N is orthonormal to far better than a half


def ritz_directions(problem: TraceProblem, V: Array) -> tuple[Array, Array]:
    """The columns of a B-orthonormal V rotated so that ‖Mv‖ grows, and these lengths."""
    _, s, turn = np.linalg.svd(sparse_product(problem.A.factor, V), full_matrices=False)
    if len(s) < V.shape[1]:  # fewer rows than directions: the rest is mapped to 0
        _, s, turn = np.linalg.svd(sparse_product(problem.A.factor, V))
        s = np.concatenate([s, np.zeros(V.shape[1] - len(s))])
    return V @ turn.T[:, ::-1], s[::-1]


def singular_heights(s: Array, d: int, norm: float, tolerance: float) -> list[TrialHeight]:
    """Floors (in units of λ) worth trying: behind the answer, in the widest gaps, under it."""
    gaps = np.diff(s)
    behind = [TrialHeight(d, float(s[d - 1] + gaps[d - 1] / 2) ** 2)] if len(s) > d else []
    order = [c for c in np.argsort(-gaps) + 1 if c > d][:3]
    further = [TrialHeight(int(c), float(s[c - 1] + gaps[c - 1] / 2) ** 2) for c in order]
    plain = len(s) > d and gaps[d - 1] > WIDE_GAP_SHARE * norm
    found = behind + further if plain else further[:1] + behind + further[1:]
    for widen in HEIGHT_STEP_FACTORS:
        under = widen * max(min(2.5e-8, tolerance / 64) * float(s[d - 1]), MIN_SINGULAR_STEP * norm)
        c = d - 1
        while c and s[c] - s[c - 1] < 2 * under:
            c -= 1
        if s[c] > under:
            found.append(TrialHeight(c, float(s[c] - under) ** 2, under * float(2 * s[c] - under)))
    found += [
        TrialHeight(d, float(1.2 * s[d - 1]) ** 2),
        TrialHeight(d, float(1.03 * s[d - 1]) ** 2),
    ]
    return [height for height in found if height.at > 0]


def singular_floor(problem: TraceProblem, below: int, height: float) -> SpectralFloor:
    """At most `below` singular values of M off N lie under √height, by counting pivots.

    `inertia_floor` with the null vectors taken away: their error ν is charged in units of σ,
    by `singular_bracket`.
    """
    pencil = shifted_matrices(problem)
    matrix = pencil.at(height)
    factor = factorise(matrix, pencil.ordering)
    reached = counted_height(problem, factor, matrix, height)
    plain = _counted_floor(problem, below, height, factor, reached)

    def sharper() -> SpectralFloor | None:
        lowered = factor_with_room(problem, factor, matrix, height)
        if lowered is None:
            return None
        return _counted_floor(problem, below, height, lowered, height * (1 - 16 * UNIT_ROUNDOFF))

    return replace(plain, sharper=sharper)


def _counted_floor(
    problem: TraceProblem, below: int, height: float, factor: Factorisation, reached: float
) -> SpectralFloor:
    if factor.zero or not reached > null_error(problem) ** 2:
        return SpectralFloor(below, -np.inf, "inertia", seen=None, error=np.inf)
    seen = factor.negative - shifted_matrices(problem).auxiliary - problem.excluded_basis.shape[1]

    def solve(R: Array) -> tuple[Array, Array]:
        return shifted_matrices(problem).solve_pairs(factor, height, R)

    return SpectralFloor(below, reached, "inertia", seen=seen, error=height - reached, solve=solve)


def dense_singular_floor(problem: TraceProblem, below: int, height: float) -> SpectralFloor:
    """Floor for a small M, filled: J − η·diag(I, B) with LAPACK's pivoting, no small pivots."""
    M, eta = problem.A.factor.toarray(), float(np.sqrt(height))
    m, n = M.shape
    S = np.zeros((m + n, m + n))
    S[:m, m:], S[m:, :m] = M, M.T
    S[:m, :m] = -eta * np.eye(m)
    S[m:, m:] = -eta * problem.metric.sparse().toarray()
    counted = dense_inertia(S)
    if counted is None:
        return SpectralFloor(below, -np.inf, "inertia", seen=None, error=np.inf)
    negative, off = counted
    errors = (off + 2 * UNIT_ROUNDOFF * np.abs(S)).sum(axis=1) * UP
    metric = problem.metric
    spread = metric.entries if isinstance(metric, Diagonal) else metric.lowest
    above = eta * (1 - 4 * UNIT_ROUNDOFF) - float(errors[:m].max(initial=0.0))
    beneath = eta * (1 - 4 * UNIT_ROUNDOFF) - float((errors[m:] / spread).max())
    low = above * beneath * (1 - 8 * UNIT_ROUNDOFF)
    if not min(above, beneath) > 0 or not low > null_error(problem) ** 2:
        return SpectralFloor(below, -np.inf, "inertia", seen=None, error=np.inf)

    def solve(R: Array) -> tuple[Array, Array]:
        solution = np.linalg.solve(S, np.vstack([np.zeros((m, R.shape[1])), R]))
        return -solution[:m], solution[m:]

    seen = negative - m - problem.excluded_basis.shape[1]
    return SpectralFloor(below, low, "inertia", seen=seen, error=height - low, solve=solve)


def singular_bracket(
    problem: TraceProblem,
    answer: Array,
    off_span: float,
    wider: Array,
    floor: SpectralFloor,
) -> Bracket:
    """Bracket that a floor (in units of λ) proves of the answer's columns.

    `wider` holds at least c orthonormal columns by growing ‖Mv‖, the answer's span first
    where that is all there is.
    """
    d, c = answer.shape[1], floor.below
    if floor.seen is None or floor.seen > c or floor.height <= 0 or wider.shape[1] < c:
        return NO_BRACKET
    top = float(np.sqrt(floor.height)) * (1 - 4 * UNIT_ROUNDOFF) - null_error(problem)
    value, blur = _value(problem, answer, off_span)
    if top <= 0:
        return Bracket(0.0, value + blur, value + blur, value, blur)
    pairs = _pairs(problem, wider[:, :c], floor, top) if c else None
    if c and pairs is None:
        return Bracket(0.0, value + blur, blur, value, blur)
    lower = max(0, d - c) * top**2 * (1 - 8 * UNIT_ROUNDOFF)
    blurred = max(0, d - c) * floor.error + blur
    if pairs is not None:
        lost, rounded = temple_loss(pairs, top)
        few = min(c, d)
        s = np.maximum(pairs.h[:few] - pairs.blur, 0.0)
        most = float(pairs.h[few - 1]) + pairs.blur
        lower += (1 - 8 * UNIT_ROUNDOFF * few) * float(s @ s) - 2 * most * lost
        blurred += 2 * most * (rounded + few * pairs.blur)
    # A direction off N has so much of ‖v‖ along the computed basis of N, where ‖Mv‖ ≤ ν‖v‖.
    inexact = problem.excluded_error * d * top * (top + 2 * null_error(problem))
    lower = max(lower - inexact * UP - LENGTH_UNDERFLOW, 0.0)
    return Bracket(lower, value + blur - lower, blurred, value, blur)


def _value(problem: TraceProblem, V: Array, off_span: float) -> tuple[float, float]:
    """Σ‖Mv‖² over the span of the answer, `off_span` from that of V, and how far off it may be."""
    M = problem.A.factor
    images = M @ V
    value = float(np.trace(inner(images, images)))
    size = float(np.linalg.norm(sparse_product(problem.A.absolute, np.abs(V))))
    off = gamma(longest_row(M) + 4) * size + off_span * factor_norm(problem)
    skew = _skew(problem, V)
    skew += 3 * off_span
    off += float(underflow(problem.A.absolute, V).sum())
    length = np.sqrt(value)
    blur = (2 * length + off) * off + 2 * (skew + gamma(inner_depth(M.shape[0]))) * (
        length + off
    ) ** 2
    return value, float(blur + underflow(problem.A.absolute, V).sum()) * UP


def _skew(problem: TraceProblem, V: Array) -> float:
    """A bound of ‖VᵀBV − I‖."""
    sizes = squares_in_metric(problem, V)
    gram = inner(V, problem.metric.times(V)) - np.eye(V.shape[1])
    wide = metric_errors(problem, V) @ column_norms(V)
    return float(np.linalg.norm(gram) + gamma(inner_depth(len(V))) * sizes.sum() + wide) * UP


def _pairs(problem: TraceProblem, V: Array, floor: SpectralFloor, top: float) -> Trial | None:
    """Singular pairs near the columns of V as a trial of J: the better of two ways to find them.

    Mv/σ is right to u|M||v|/σ, which is fine where the columns of M have sizes of many orders
    and v is small on the large ones. Else a solve with the floor's factor gives u and v
    together, both right to u. Any pairs would do, and their residuals are measured.
    """
    plain = _measured_pairs(problem, -(sparse_product(problem.A.factor, V)), V)
    if plain is not None and temple_loss(plain, top)[0] < 1e-12 * float(plain.h[0]):
        return plain
    solved = None if floor.solve is None else _solved_pairs(problem, V, floor.solve)
    candidates = [pairs for pairs in (plain, solved) if pairs is not None]
    return min(candidates, key=lambda pairs: temple_loss(pairs, top)[0], default=None)


def _solved_pairs(
    problem: TraceProblem, V: Array, solve: Callable[[Array], tuple[Array, Array]]
) -> Trial | None:
    """Pairs by one step of inverse iteration."""
    metric = problem.metric
    try:
        X, Y = solve(metric.times(V))
    except np.linalg.LinAlgError:
        return None
    for _ in range(2):
        Y = problem.without_excluded(Y)
        scale = np.abs(Y).max(axis=0)
        if not np.isfinite(scale).all() or not scale.all():
            return None
        X, Y = X / scale, Y / scale
        gram = Y.T @ metric.times(Y)
        values, turn = np.linalg.eigh((gram + gram.T) / 2)
        if values[0] <= 1e-13 * values[-1]:
            return None
        X, Y = X @ (turn / np.sqrt(values)), Y @ (turn / np.sqrt(values))
    return _measured_pairs(problem, X, Y)


def _measured_pairs(problem: TraceProblem, X: Array, Y: Array) -> Trial | None:
    """Pairs from B-orthonormal Y and X ~ −MY, with their residuals."""
    M, metric = problem.A.factor, problem.metric
    if not np.isfinite(X).all() or X.shape[0] < X.shape[1]:
        return None
    U, _, turn = np.linalg.svd(X, full_matrices=False)
    U, V = -U[:, ::-1], Y @ turn.T[:, ::-1]
    MV, MU = sparse_product(M, V), sparse_product(problem.A.factor_transpose, U)
    BV = metric.times(V)
    s = np.einsum("ij,ij->j", U, MV)
    size, transpose = problem.A.absolute, problem.A.absolute_transpose
    wrong1 = gamma(longest_row(M) + 4) * column_norms(
        sparse_product(size, np.abs(V))
    ) + 4 * UNIT_ROUNDOFF * np.abs(s)
    wrong2 = gamma(longest_row(transpose) + 4) * column_norms(sparse_product(transpose, np.abs(U)))
    wrong2 = wrong2 + np.abs(s) * (metric_errors(problem, V) + 4 * UNIT_ROUNDOFF * column_norms(BV))
    stray = _stray(problem, V)
    wrong1 = wrong1 + null_error(problem) * stray
    return _as_trial(problem, (U, V, s), (MV - U * s, MU - BV * s), (wrong1, wrong2), stray)


def _stray(problem: TraceProblem, V: Array) -> float:
    """A bound of ‖NᵀBV‖."""
    N, BV = problem.excluded_basis, problem.metric.times(V)
    rounding = gamma(inner_depth(len(V))) * np.linalg.norm(np.abs(N).T @ np.abs(BV))
    rounding += np.linalg.norm(column_norms(N)) * np.linalg.norm(metric_errors(problem, V))
    return float(np.linalg.norm(inner(N, BV)) + rounding) * UP


def _as_trial(
    problem: TraceProblem,
    pairs: tuple[Array, Array, Array],
    residuals: tuple[Array, Array],
    wrong: tuple[Array, Array],
    stray: float,
) -> Trial:
    """The pairs as directions (u, v)/√2 of J in the metric diag(I, B)."""
    U, V, s = pairs
    R1, R2 = residuals
    c, tall = len(s), gamma(inner_depth(len(U)) + inner_depth(len(V)))
    skew = np.linalg.norm(inner(U, U) - np.eye(c)) / 2 + _skew(problem, V) / 2 + tall * c + stray**2
    none = np.zeros(c)
    below = dual_lengths(problem, R2, none)
    lengths = np.hypot(column_norms(R1), below) / np.sqrt(2)
    rounded = np.hypot(wrong[0], dual_lengths(problem, np.zeros_like(R2), wrong[1])) / np.sqrt(2)
    leak = np.linalg.norm(inner(U, R1) + inner(V, R2)) / 2
    leak += (
        tall
        * np.sqrt(c)
        * (np.linalg.norm(column_norms(V)) + 2)
        * np.linalg.norm(np.hypot(column_norms(R1), column_norms(R2)))
    )
    leak += np.sqrt(c * (1 + skew)) * np.linalg.norm(rounded) + stray * np.linalg.norm(lengths)
    order = np.argsort(s)
    return Trial(
        V[:, order],
        s[order],
        ((lengths + rounded) ** 2 * UP)[order],
        rounded[order] * UP,
        float(skew) * UP,
        float(leak) * UP,
    )
