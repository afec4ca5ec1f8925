"""The smallest eigenvalues of A = MᵀM, judged as singular values of M.

In units of λ = σ² rounding is u‖M‖², which drowns λ = 2e-15; in units of σ it is u‖M‖ against
σ = 4e-8. The singular values are eigenvalues of J = [[0, M], [Mᵀ, 0]], and Lehmann's theorem
also bounds eigenvalues inside a spectrum: with pairs (u, v), Rayleigh quotients s < η and
residuals Mv − su, Mᵀu − sv, the c eigenvalues of J next below η are not smaller than his
bounds. If at most c singular values lie below η, these are all of them.

With the excluded directions N (null vectors of M to rounding: ν ≥ ‖MN‖) everything is said of
M on the complement of N: its singular values are within ν of those of M(I − NNᵀ), which has 0
once more for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.trace.bounds import NOTHING, Bracket, Height, temple_loss
from dualfold.trace.completeness import Floor, counted_height
from dualfold.trace.factorisation import factorise
from dualfold.trace.metric import Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.rounding import UNIT, UP, column_norms, gamma, longest_row
from dualfold.trace.trial import Trial

Array = np.ndarray[Any, np.dtype[Any]]
# Null vectors are null to some rounding of M; N further off is no null space.
NULL = 1e-10
# A gap of singular values this wide, against ‖M‖, survives the rounding of a factorisation.
PLAIN = 1e-6


def judged_by_singular_values(problem: TraceProblem) -> bool:
    """Whether the problem asks for the small end of MᵀM, B = I, off null vectors at most."""
    if not isinstance(problem.A, Gramian) or problem.sense != "min":
        return False
    if not isinstance(problem.metric, Identity):
        return False
    return null_error(problem) <= NULL * factor_norm(problem)


def factor_norm(problem: TraceProblem) -> float:
    """A number that ‖M‖₂ does not exceed."""
    M = abs(problem.A.factor)
    return float(np.sqrt(M.sum(axis=0).max() * M.sum(axis=1).max())) * UP


def null_error(problem: TraceProblem) -> float:
    """A bound of ‖MP‖, P the projection on the excluded directions."""
    N = problem.trivial
    if not N.shape[1]:
        return 0.0
    M = problem.A.factor
    sizes = column_norms(M @ N) + gamma(longest_row(M) + 2) * column_norms(abs(M) @ np.abs(N))
    return 2 * float(np.linalg.norm(sizes))  # N is orthonormal to far better than a half


def ritz_directions(problem: TraceProblem, V: Array) -> tuple[Array, Array]:
    """An orthonormal basis of the span of V off N, by growing ‖Mv‖, and these lengths."""
    Q = np.linalg.qr(problem.off_trivial(V))[0]
    Q = problem.off_trivial(Q)
    _, s, turn = np.linalg.svd(problem.A.factor @ Q, full_matrices=False)
    return Q @ turn.T[:, ::-1], s[::-1]


def singular_heights(s: Array, d: int, norm: float) -> list[Height]:
    """Floors (in units of λ) worth trying: behind the answer, in the widest gaps, under it."""
    gaps = np.diff(s)
    behind = [Height(d, float(s[d - 1] + gaps[d - 1] / 2) ** 2)] if len(s) > d else []
    order = [c for c in np.argsort(-gaps) + 1 if c > d][:3]
    further = [Height(int(c), float(s[c - 1] + gaps[c - 1] / 2) ** 2) for c in order]
    plain = len(s) > d and gaps[d - 1] > PLAIN * norm
    found = behind + further if plain else further[:1] + behind + further[1:]
    for widen in (1.0, 30.0, 1000.0):
        under = widen * max(2.5e-8 * float(s[d - 1]), 1e-13 * norm)
        c = d - 1
        while c and s[c] - s[c - 1] < 2 * under:
            c -= 1
        if s[c] > under:
            found.append(Height(c, float(s[c] - under) ** 2, under * float(2 * s[c] - under)))
    found += [Height(d, float(1.2 * s[d - 1]) ** 2), Height(d, float(1.03 * s[d - 1]) ** 2)]
    return [height for height in found if height.at > 0]


def singular_floor(problem: TraceProblem, below: int, height: float) -> Floor:
    """At most `below` singular values of M off N lie under √height, by counting pivots.

    `inertia_floor` with the null vectors taken away: their error ν is charged in units of σ,
    by `singular_bracket`.
    """
    matrix = problem.shifted(height)
    factor = factorise(matrix, problem.ordering)
    reached = counted_height(problem, factor, matrix, height)
    if factor.zero or not reached > null_error(problem) ** 2:
        return Floor(below, -np.inf, "inertia", seen=None, error=np.inf)
    seen = factor.negative - problem.auxiliary - problem.trivial.shape[1]
    return Floor(below, reached, "inertia", seen=seen, error=height - reached, factor=factor)


def singular_bracket(
    problem: TraceProblem,
    answer: Array,
    off_span: float,
    wider: Array,
    floor: Floor,
    height: float,
) -> Bracket:
    """What a floor at `height` (λ) proves of the answer's columns.

    `wider` holds at least c orthonormal columns by growing ‖Mv‖, the answer's span first
    where that is all there is.
    """
    d, c = answer.shape[1], floor.below
    if floor.seen is None or floor.seen > c or floor.height <= 0 or wider.shape[1] < c:
        return NOTHING
    top = float(np.sqrt(floor.height)) * (1 - 4 * UNIT) - null_error(problem)
    value, blur = _value(problem, answer, off_span)
    if top <= 0:
        return Bracket(0.0, value + blur, value + blur, value, blur)
    pairs = _pairs(problem, wider[:, :c], floor, height) if c else None
    lower = max(0, d - c) * top**2 * (1 - 8 * UNIT)
    blurred = max(0, d - c) * floor.error + blur
    if pairs is not None:
        lost, rounded = temple_loss(pairs, top)
        few = min(c, d)
        s = np.maximum(pairs.h[:few] - pairs.blur, 0.0)
        most = float(pairs.h[few - 1]) + pairs.blur
        lower += (1 - 8 * UNIT * few) * float(s @ s) - 2 * most * lost
        blurred += 2 * most * (rounded + few * pairs.blur)
    lower = max(lower - problem.trivial_error * d * top**2, 0.0)
    return Bracket(lower, value + blur - lower, blurred, value, blur)


def _value(problem: TraceProblem, V: Array, off_span: float) -> tuple[float, float]:
    """Σ‖Mv‖² over the span of the answer, `off_span` from that of V, and how far off it may be."""
    M = problem.A.factor
    images = M @ V
    value = float(np.einsum("ij,ij->", images, images))
    size = float(np.linalg.norm(abs(M) @ np.abs(V)))
    off = gamma(longest_row(M) + 4) * size + off_span * factor_norm(problem)
    skew = float(np.linalg.norm(V.T @ V - np.eye(V.shape[1]))) + gamma(len(V) + 4) * V.shape[1]
    skew += 3 * off_span
    length = np.sqrt(value)
    blur = (2 * length + off) * off + 2 * (skew + gamma(M.shape[0] + 2)) * (length + off) ** 2
    return value, float(blur) * UP


def _pairs(problem: TraceProblem, V: Array, floor: Floor, height: float) -> Trial | None:
    """Singular pairs near the columns of V as a trial of J, by one solve with the floor's factor.

    v from a solver is right to u, which makes Mv/σ right to u/σ only. The solve gives u and v
    together, both right to u; any pairs would do, and their residuals are measured.
    """
    if floor.factor is None:
        return None
    M = problem.A.factor
    X, Y = problem.solved_pairs(floor.factor, height, V)
    for _ in range(2):
        Y = problem.off_trivial(Y)
        scale = np.abs(Y).max(axis=0)
        X, Y = X / scale, Y / scale
        Q, R = np.linalg.qr(Y)
        if not np.isfinite(R).all() or np.abs(np.diagonal(R)).min() < 1e-12:
            return None
        X, Y = np.linalg.solve(R.T, X.T).T, Q
    U, s, turn = np.linalg.svd(problem.balance(height) * X, full_matrices=False)
    U, V, s = -U[:, ::-1], Y @ turn.T[:, ::-1], s[::-1]
    MV, MU = M @ V, M.T @ U
    s = np.einsum("ij,ij->j", U, MV)
    R1, R2 = MV - U * s, MU - V * s
    size = abs(M)
    wrong1 = gamma(longest_row(M) + 4) * column_norms(size @ np.abs(V)) + 4 * UNIT * np.abs(s)
    wrong2 = gamma(longest_row(M.T.tocsr()) + 4) * column_norms(size.T @ np.abs(U))
    wrong2 = wrong2 + 4 * UNIT * np.abs(s)
    along = problem.trivial.T @ V
    stray = (float(np.linalg.norm(along)) + gamma(len(V)) * V.shape[1]) * UP
    wrong1 = wrong1 + null_error(problem) * stray
    return _as_trial(U, V, s, R1, R2, np.hypot(wrong1, wrong2), stray)


def _as_trial(
    U: Array, V: Array, s: Array, R1: Array, R2: Array, wrong: Array, stray: float
) -> Trial:
    """The pairs as directions (u, v)/√2 of J."""
    c, tall = len(s), gamma(len(U) + len(V) + 4)
    skew = np.linalg.norm((U.T @ U + V.T @ V) / 2 - np.eye(c)) + tall * c + stray**2
    lengths = np.sqrt((column_norms(R1) ** 2 + column_norms(R2) ** 2) / 2)
    rounded = wrong / np.sqrt(2) * UP
    leak = np.linalg.norm(U.T @ R1 + V.T @ R2) / 2 + tall * np.sqrt(c) * np.linalg.norm(lengths)
    leak += np.sqrt(c * (1 + skew)) * np.linalg.norm(rounded) + stray * np.linalg.norm(lengths)
    order = np.argsort(s)
    return Trial(
        V[:, order],
        s[order],
        ((lengths + rounded) ** 2 * UP)[order],
        rounded[order],
        float(skew) * UP,
        float(leak) * UP,
    )
