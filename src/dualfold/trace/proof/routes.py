"""From an answer to a bracket of the optimum: the routes, in order of their cost.

Floors are tried until one proves the gap that is wanted: norms of a dense matrix, pivots of a
sparse one, a Cholesky factorisation where the matrix may be filled, and a random search where
everything else costs too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.errors import DualfoldError, TooLarge
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.trace.metric import Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.completeness import (
    SpectralFloor,
    cholesky_floor,
    deflated_norm_floor,
    dense_entries,
    excluded_trial,
    inertia_floor,
    norm_floor,
    pivot_floor,
)
from dualfold.trace.proof.exact_arithmetic import exact_proof
from dualfold.trace.proof.lehmann_bounds import (
    NO_BRACKET,
    Bracket,
    TrialHeight,
    bracket,
    trial_heights,
)
from dualfold.trace.proof.random_search import random_floor
from dualfold.trace.proof.rounding import UP
from dualfold.trace.proof.singular_values import (
    dense_singular_floor,
    factor_norm,
    ritz_directions,
    singular_bracket,
    singular_floor,
    singular_heights,
    uses_singular_values,
)
from dualfold.trace.proof.trial_directions import Trial, residual_lengths, span_error, trial
from dualfold.trace.sparse.shifted_matrices import (
    MAX_SMALL_ROWS,
    prefers_filled_square,
    shifted_matrices,
)

# The limits are those of time: docs/dev/notes/trace-certificates.md.
# A dense problem is proved by a Cholesky factorisation up to this size.
MAX_DENSE_ROWS = 8_000
# A sparse matrix or an operator is filled for such a proof up to this size.
MAX_FILLED_ROWS = 3_000
# Up to this size LAPACK estimates the next eigenvalue where no guard vector does. The estimate is
# not trusted: it only decides where to count.
MAX_HINTED_ROWS = 300
# Rows of M and of A together up to which [[0, M], [Mᵀ, 0]] is filled.
MAX_PAIRED_ROWS = 900
# A distance of which rounding is at least this share cannot be made better.
ROUNDING_SHARE = 0.1
# A gap this many times wider than the rounding of a Cholesky factorisation is resolved by one.
MIN_GAP_IN_ROUNDINGS = 16
# Factorisations that may be spent on finding a height, in small problems and in large ones.
MAX_ATTEMPTS = 12
MAX_LARGE_ATTEMPTS = 5
MIN_LARGE_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class AnswerEvidence:
    """All that is known about an answer."""

    quotients: Array
    residuals: Array
    answer: Trial
    bracket: Bracket
    floor: SpectralFloor
    scale: float
    missed: bool


@dataclass(frozen=True, eq=False)
class _Case:
    """An answer to a problem, with what all floors need."""

    problem: TraceProblem
    answer: Trial
    further: Array
    beyond: Array  # quotients of `further`
    excluded: Trial | None
    lift: float
    scale: float
    extra: float  # what V's rounding and N's inexact span add to the distance
    tolerance: float

    @cached_property
    def next_value(self) -> float | None:
        """An estimate of the next eigenvalue; computed only if a floor needs a height."""
        return _next_value(self.problem, self.answer, self.beyond, self.lift)

    @cached_property
    def wider(self) -> Trial | None:
        """The answer and all further directions; made only if a floor further up is tried."""
        if not _wants_wider(self.problem, self.further):
            return None
        return trial(self.problem, np.hstack([self.answer.V, self.further]), self.lift)


def answer_evidence(
    problem: TraceProblem, V: Array, scale: float, tolerance: float, fresh: bool
) -> AnswerEvidence:
    """Certify the first `count` columns of V; the others hint where the next eigenvalues lie."""
    d = problem.count
    given = V[:, :d]
    seen = problem.descent(given)
    quotients, residuals = residual_lengths(problem, given, seen)
    basis, turn = _orthonormal(problem, given)
    off_span = span_error(problem, given, basis)
    further = _further(problem, basis, V[:, d:])
    beyond = _quotients(problem, further)
    excluded = excluded_trial(problem)
    lift = _lift(quotients, beyond, excluded)
    # These images only decide how to rotate the basis; exact ones follow, but for a large dense A.
    exact = not problem.excluded_basis.shape[1]
    answer = trial(problem, basis, lift, seen @ turn, exact=exact)
    length = float(np.sqrt(answer.squares.sum()))
    size = scale + float(np.abs(answer.h).max())
    extra = 2 * off_span * length + 4 * off_span**2 * size + d * lift * problem.excluded_error**2
    case = _Case(problem, answer, further, beyond, excluded, lift, scale, extra * UP, tolerance)
    found, floor, missed = _best_route(case, given, further, fresh)
    return AnswerEvidence(quotients, residuals, answer, found, floor, scale, missed)


def _wants_wider(problem: TraceProblem, further: Array) -> bool:
    """Whether floors further up may be tried; singular values have their own way to do so."""
    if isinstance(problem.A, np.ndarray) or further.shape[1] < 2:
        return False
    return problem.n <= MAX_FILLED_ROWS or not uses_singular_values(problem)


def _orthonormal(problem: TraceProblem, given: Array) -> tuple[Array, Array]:
    """A B-orthonormal basis of the columns off N, and how it is mixed from them."""
    inside = problem.without_excluded(given)
    lower = np.linalg.cholesky(inside.T @ problem.metric.times(inside))
    turn = np.linalg.inv(lower).T
    return inside @ turn, turn


def _further(problem: TraceProblem, basis: Array, extra: Array) -> Array:
    """B-orthonormal further directions: what is left of the guards off the answer and N."""
    metric = problem.metric
    extra = extra[:, np.isfinite(extra).all(axis=0)]
    extra = extra / np.abs(extra).max(axis=0, initial=np.finfo(float).tiny)
    first = count = basis.shape[1]
    known, images = np.empty((2, extra.shape[1] + count, problem.n)).transpose(0, 2, 1)
    known[:, :count], images[:, :count] = basis, metric.times(basis)
    for column in extra.T:
        x = column[:, None]
        length = np.sqrt(max(float(np.sum(x * metric.times(x))), 1e-300))
        x = x / length
        for _ in range(2):
            x = problem.without_excluded(x)
            x = x - known[:, :count] @ (images[:, :count].T @ x)
        left = float(np.sqrt(max(float(np.sum(x * metric.times(x))), 0.0)))
        if left > 1e-8:
            known[:, count : count + 1] = x / left
            images[:, count : count + 1] = metric.times(x / left)
            count += 1
    return np.ascontiguousarray(known[:, first:count])


def _quotients(problem: TraceProblem, V: Array) -> Array:
    """Rayleigh quotients of B-orthonormal columns: hints, whose rounding is not bounded."""
    if not V.shape[1]:
        return np.zeros(0)
    if isinstance(problem.A, Gramian):  # half a product
        return np.asarray(np.diagonal(problem.quadratic(V)))
    return np.asarray(np.einsum("ij,ij->j", V, problem.descent(V)))


def _lift(quotients: Array, beyond: Array, excluded: Trial | None) -> float:
    """Lift of the excluded directions: beyond every height that is tried."""
    if excluded is None:
        return 0.0
    highest = float(np.abs(quotients).max()) + float(np.abs(beyond).max(initial=0.0))
    return 8 * (highest + float(np.abs(excluded.h).max()) + excluded.blur)


def _next_value(problem: TraceProblem, answer: Trial, beyond: Array, lift: float) -> float | None:
    """An estimate of the next eigenvalue: where to count; it is not trusted."""
    if len(beyond):
        return float(beyond.min())
    if problem.n > MAX_HINTED_ROWS or isinstance(problem.A, Gramian):
        return None
    A = problem.sign * dense_entries(problem.A).astype(float)
    BN = problem.metric.times(problem.excluded_basis)
    A = (A + A.T) / 2 + lift * (BN @ BN.T)
    B = None if isinstance(problem.metric, Identity) else problem.metric.sparse().toarray()
    try:
        values = scipy.linalg.eigh(A, B, eigvals_only=True)
    except np.linalg.LinAlgError:
        return None
    d, last = len(answer.h), float(answer.h[-1])
    apart = max(1e-9 * abs(last), 1e-13 * float(np.abs(values).max()))
    return float(values[d]) if values[d] > last + apart else None  # n > d (`_best`)


def _best_route(
    case: _Case, given: Array, further: Array, fresh: bool
) -> tuple[Bracket, SpectralFloor, bool]:
    """The routes in turn, the cheapest first, until one proves the gap that is wanted."""
    problem, answer = case.problem, case.answer
    dense = isinstance(problem.A, np.ndarray)
    if is_zero(problem.A):
        floor = SpectralFloor(problem.count, np.inf, "zero", seen=problem.count)
        return Bracket(0.0, 0.0, 0.0, 0.0, 0.0), floor, False
    if problem.n == problem.count + problem.excluded_basis.shape[1]:
        return _whole_space_route(case)
    by_norm = _norm_route(case)
    if by_norm is not None:
        return by_norm
    found: list[tuple[Bracket, SpectralFloor, bool]] = []
    filled_first = _is_resolved_filled(case)
    if filled_first:
        found.append(_cholesky_route(case))
    if not dense and not _is_decided(found, case) and _can_be_counted(problem):
        found.append(_inertia_route(case, given, further))
    rows = MAX_DENSE_ROWS if dense else MAX_FILLED_ROWS
    if (
        not filled_first
        and not _is_decided(found, case)
        and problem.n <= rows
        and not _is_hopeless_in_squares(found, case)
    ):
        found.append(_cholesky_route(case))
    small = problem.n <= min(MAX_HINTED_ROWS, MAX_FILLED_ROWS)
    if not _is_decided(found, case) and small:
        found.append(_dense_inertia_route(case, given, further))
    exact = (
        exact_proof(problem, given, case.tolerance)
        if small and not _is_decided(found, case)
        else None
    )
    if exact is not None:
        return *exact, False
    if not any(np.isfinite(one[0].apart) or one[2] for one in found):
        floor = random_floor(problem, answer, case.scale, case.tolerance, fresh)
        missed = floor.seen is not None and floor.seen > floor.below
        found.append((_with_extra(bracket(answer, None, floor), case), floor, missed))
    return min(found, key=lambda one: (not one[2], one[0].gap, one[0].apart))


def is_zero(A: Any) -> bool:
    """Whether no entry of A is other than 0 (of an operator that is not known)."""
    if isinstance(A, Gramian):
        return not A.factor.data.any()
    if isinstance(A, LinearOperator):
        return False
    return not (A if isinstance(A, np.ndarray) else A.data).any()


def _is_decided(found: list[tuple[Bracket, SpectralFloor, bool]], case: _Case) -> bool:
    """Whether the gap is proved, a direction was missed, or the answer is far off without rounding.

    Small problems try every route.
    """
    small = case.problem.n <= MAX_HINTED_ROWS
    return any(
        one[0].gap <= case.tolerance
        or one[2]
        or (not small and one[0].gap < np.inf and one[0].blurred < ROUNDING_SHARE * one[0].apart)
        for one in found
    )


def _is_resolved_filled(case: _Case) -> bool:
    """Whether LAPACK is the quick way to a floor of a sparse A, and rounds less than the gap."""
    problem, A = case.problem, case.problem.A
    small = sp.issparse(A) and problem.n <= min(MAX_SMALL_ROWS, MAX_FILLED_ROWS)
    if not (small or prefers_filled_square(problem)) or case.next_value is None:
        return False
    trace = float(np.abs(A.diagonal()).sum()) if small else A.trace
    room = case.next_value - float(case.answer.h[-1])
    rounding = 4 * problem.n * UNIT_ROUNDOFF * trace
    return room * problem.metric.lowest > MIN_GAP_IN_ROUNDINGS * rounding


def _is_hopeless_in_squares(found: list[tuple[Bracket, SpectralFloor, bool]], case: _Case) -> bool:
    """Whether singular values did not resolve it: then their squares do not either."""
    counted = any(np.isfinite(one[0].apart) for one in found)
    return counted and uses_singular_values(case.problem)


def _whole_space_route(case: _Case) -> tuple[Bracket, SpectralFloor, bool]:
    """All directions there are: any basis of them has the one value."""
    value, blur = case.answer.total, case.answer.total_blur
    floor = SpectralFloor(case.problem.count, np.inf, "whole", seen=case.problem.count)
    return _with_extra(Bracket(value - blur, 0.0, 0.0, value, blur), case), floor, False


def _norm_route(case: _Case) -> tuple[Bracket, SpectralFloor, bool] | None:
    for norms in (norm_floor, deflated_norm_floor):
        if norms is deflated_norm_floor and case.problem.n <= MAX_FILLED_ROWS:
            break  # a Cholesky factorisation is as quick there, and decides more
        cheap = norms(case.problem, case.answer)
        if cheap is not None and cheap.height > case.answer.h[-1]:
            floor = replace(cheap, seen=cheap.below)
            found = _with_extra(bracket(case.answer, None, floor), case)
            if found.gap <= case.tolerance:
                return found, floor, False
    return None


def _can_be_counted(problem: TraceProblem) -> bool:
    try:
        _ = shifted_matrices(problem).ordering
    except TooLarge:
        return False
    return True


def _inertia_route(
    case: _Case, given: Array, further: Array
) -> tuple[Bracket, SpectralFloor, bool]:
    """Floors by counting pivots of a sparse factorisation."""
    problem = case.problem
    if uses_singular_values(problem):
        return _singular_route(case, given, further, singular_floor)
    return _first_proof(
        case,
        trial_heights(case.answer, lambda: case.wider, case.next_value, case.scale, case.tolerance),
        lambda h: inertia_floor(problem, h.below, h.at, case.excluded),
    )


def _cholesky_route(case: _Case) -> tuple[Bracket, SpectralFloor, bool]:
    """Floors by Cholesky factorisations of the filled matrix."""
    return _first_proof(
        case,
        trial_heights(case.answer, lambda: case.wider, case.next_value, case.scale, case.tolerance),
        lambda h: cholesky_floor(
            case.problem, _trial_to_lift(case, h.below), h.below, h.at, case.lift
        ),
    )


def _dense_inertia_route(
    case: _Case, given: Array, further: Array
) -> tuple[Bracket, SpectralFloor, bool]:
    """Floors by counting LAPACK's pivots of the filled matrix, for small problems that are hard."""
    problem = case.problem
    if uses_singular_values(problem) and sum(problem.A.factor.shape) <= MAX_PAIRED_ROWS:
        found = _singular_route(case, given, further, dense_singular_floor)
        if _is_decided([found], case):
            return found
    return _first_proof(
        case,
        trial_heights(case.answer, lambda: case.wider, case.next_value, 0.0, case.tolerance),
        lambda h: pivot_floor(problem, case.answer, h.below, h.at, case.lift),
    )


def _singular_route(
    case: _Case,
    given: Array,
    further: Array,
    prove: Callable[[TraceProblem, int, float], SpectralFloor],
) -> tuple[Bracket, SpectralFloor, bool]:
    """The small end of MᵀM in units of singular values."""
    problem, d = case.problem, case.problem.count
    own, s = ritz_directions(problem, case.answer.V)
    off_span = span_error(problem, given, own)
    wide = own
    if further.shape[1]:
        wide, s = ritz_directions(problem, np.hstack([own, further]))
    return _first_proof(
        case,
        singular_heights(s, d, factor_norm(problem), case.tolerance),
        lambda h: prove(problem, h.below, h.at),
        lambda floor, h: singular_bracket(
            problem, own, off_span, wide if h.below > d else own, floor
        ),
    )


def _first_proof(
    case: _Case,
    tries: Iterable[TrialHeight],
    prove: Callable[[TrialHeight], SpectralFloor],
    weigh: Callable[[SpectralFloor, TrialHeight], Bracket] | None = None,
) -> tuple[Bracket, SpectralFloor, bool]:
    """The first floor that proves the wanted gap, else the best; whether a direction was missed.

    A count above c at a height δ under h_c+1, rightly counted, is a direction that the
    answer does not have. It is reported only where no other height proves that it does not matter.
    """
    best: tuple[Bracket, SpectralFloor, bool] = (
        NO_BRACKET,
        SpectralFloor(0, -np.inf, "none"),
        False,
    )
    missed: SpectralFloor | None = None
    most = MAX_ATTEMPTS if case.problem.n <= MIN_LARGE_ROWS else MAX_LARGE_ATTEMPTS

    def bracket_at(floor: SpectralFloor, height: TrialHeight) -> Bracket:
        return _with_extra(
            _bracket_of_floor(case, floor) if weigh is None else weigh(floor, height), case
        )

    for _, height in zip(range(most), tries, strict=False):
        if _reaches_the_lift(case, height):
            continue
        floor = prove(height)
        if _counts_too_many(floor):
            error = floor.error + _coupling_loss(case, height)
            if height.under is not None and error < height.under / 2:
                missed = missed or floor
            continue
        found = bracket_at(floor, height)
        sharper = floor.sharper() if floor.sharper and _is_blurred(found, case) else None
        # It counts too many rather than too few, so it never reports a missed direction.
        if sharper is not None and not _counts_too_many(sharper):
            again = bracket_at(sharper, height)
            if (again.gap, again.apart) < (found.gap, found.apart):
                floor, found = sharper, again
        if best[1].proof == "none" or (found.gap, found.apart) < (best[0].gap, best[0].apart):
            best = (found, floor, False)
        if found.gap <= case.tolerance:
            return best
    return best if missed is None else (replace(NO_BRACKET, value=case.answer.total), missed, True)


def _counts_too_many(floor: SpectralFloor) -> bool:
    return floor.seen is not None and floor.seen > floor.below


def _is_blurred(found: Bracket, case: _Case) -> bool:
    """Whether rounding is what keeps a floor from proving more."""
    if found.gap <= case.tolerance:
        return False
    return not np.isfinite(found.apart) or found.blurred >= ROUNDING_SHARE * found.apart


def _bracket_of_floor(case: _Case, floor: SpectralFloor) -> Bracket:
    """The bracket of a floor; where the answer is too rough for it, with better directions.

    Errors in directions far up cost Temple's bound (λ_max δ)²/μ and the value only λ_max δ². One
    step of inverse iteration removes it from the trial directions; the value stays the answer's.
    """
    c, d = floor.below, len(case.answer.h)
    within = case.wider.first(c) if c > d and case.wider is not None else None
    found = bracket(case.answer, within, floor)
    if found.gap <= case.tolerance or floor.solve is None or not c or found is NO_BRACKET:
        return found
    refined = _refined_trial(case, floor, (within or case.answer.first(c)).V)
    better = found if refined is None else bracket(case.answer, refined, floor)
    return min(found, better, key=lambda one: (one.gap, one.apart))


def _refined_trial(case: _Case, floor: SpectralFloor, V: Array) -> Trial | None:
    problem, solve = case.problem, floor.solve
    assert solve is not None
    try:
        Y = problem.without_excluded(solve(problem.metric.times(V)))
        Y = Y / np.abs(Y).max(axis=0)
        for _ in range(2):
            gram = Y.T @ problem.metric.times(Y)
            Y = np.linalg.solve(np.linalg.cholesky((gram + gram.T) / 2), Y.T).T
    except (np.linalg.LinAlgError, DualfoldError):
        return None
    return trial(problem, Y, case.lift) if np.isfinite(Y).all() else None


def _reaches_the_lift(case: _Case, height: TrialHeight) -> bool:
    """Whether excluded directions, lifted, might still lie below the height."""
    return case.excluded is not None and _least_lifted_value(case, case.excluded) <= height.at


def _least_lifted_value(case: _Case, excluded: Trial) -> float:
    """The least value of an excluded direction after the lift."""
    return case.lift * (1 - 2 * excluded.skew) + float(excluded.h.min()) - excluded.blur


def _coupling_loss(case: _Case, height: TrialHeight) -> float:
    """Bound of what excluded directions pull eigenvalues down, if not invariant, or not exact.

    Coupled by κ they cost κ²/(lifted − h). A direction off a basis that is ε from N has a component
    of ε along N; without it the value is larger by 2κε and by squares of ε.
    """
    excluded, off = case.excluded, case.problem.excluded_error
    if excluded is None:
        return 0.0
    if not off < 0.1:
        return np.inf
    coupled = float(np.sqrt(excluded.squares.sum())) * (1 + excluded.skew) * UP
    inexact = 4 * off * coupled + 16 * off**2 * case.scale
    return coupled**2 / (_least_lifted_value(case, excluded) - height.at) + inexact


def _trial_to_lift(case: _Case, below: int) -> Trial:
    return case.answer if below <= len(case.answer.h) else case.wider or case.answer


def _with_extra(found: Bracket, case: _Case) -> Bracket:
    """The bracket with what V's own rounding and N's inexact span can add."""
    return replace(
        found,
        lower=found.lower - case.extra,
        apart=found.apart + case.extra,
        blurred=found.blurred + case.extra,
    )
