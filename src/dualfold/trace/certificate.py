"""How far from optimal an answer can be, from the problem and the answer alone.

A certificate never trusts a solver (an import contract keeps it from importing one). It finds a
floor μ under which a known number of eigenvalues lie (`completeness`, `random_search`), and from it
the largest distance that the value can have from the optimum (`lehmann_bounds`, `singular_values`),
with a bound for every rounding error. `docs/proofs.md` has the inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.certificate import (
    DEFAULT_TOLERANCE,
    MAX_GAP,
    Certificate,
    Level,
    bound_text,
    checked_tolerance,
    level_of,
    refuse_no_problem,
)
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.trace.equivalent_problems import balanced_problem, reordered_problem, rescaled_problem
from dualfold.trace.matrix_entries import (
    ASYMMETRY_TOLERANCE,
    asymmetry,
    not_symmetric,
    real_entries,
)
from dualfold.trace.metric import Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof.completeness import SpectralFloor, dense_entries
from dualfold.trace.proof.rounding import MAX_SPECTRUM, MIN_SPECTRUM, norm_bound, squares_in_metric
from dualfold.trace.proof.routes import AnswerEvidence, answer_evidence, is_zero
from dualfold.trace.proof.singular_values import null_error, uses_singular_values

# A random search resolves less than a proof; a wider gap than this is no information.
MAX_RANDOM_GAP = 0.5
PROOF_SENTENCES = {
    "inertia": "the eigenvalues below were counted by the signs of a factorisation",
    "Cholesky": "a positive definite dual matrix excludes a better direction",
    "norm": "the norm of the matrix leaves no room for a better direction",
    "random": "a random search of the complement found nothing better",
    "exact": "the eigenvalues below were counted in exact arithmetic",
    "whole": "the directions asked for are all there are",
    "zero": "the matrix is 0, and every answer as good as any other",
}
NO_PROBLEM_MESSAGE = (
    "the functions of dualfold.methods state problems. dualfold.audit(X, Y) judges a map Y of a "
    "table X, and a fitted estimator has its certificate_"
)
ROTATED_MESSAGE = (
    "The columns span the best space, but are turned within it: they are no eigenvectors"
)
FIXED_OPERATOR_SCOPE = (
    "an operator whose products are right to 1e-13 of its norm and that was fixed before the "
    "random start was drawn"
)


@dataclass(frozen=True, kw_only=True)
class TraceCertificate(Certificate):
    """Certificate of an answer to a trace problem; print it.

    The level "measured" means that a random search found nothing better: gap and bound hold but for
    the probability `chance`.

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        Bound of `(value − optimum)/|optimum|`; 0 is optimal.
    value : float
        Trace that the span of the answer reaches.
    bound : float
        Trace that no answer is better than.
    tolerance : float
        Largest gap that is called "proved".
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about, if that is not all of the data.
    chance : float
        Probability that a measured statement is wrong; 0 if it is proved.
    complete : bool or None
        Whether no wanted eigenvalue was missed; None if that is not decided.
    sense : {"min", "max"}
        Sense of the problem.
    residuals : tuple of float
        Bounds of ‖Av − θBv‖ in the norm of B⁻¹, one for each direction: an eigenvalue lies this
        near to θ.
    orthogonality : float
        The orthonormality error ‖VᵀBV − I‖.
    proof : str or None
        How completeness was decided.
    floor : float or None
        Height that at most `count` eigenvalues lie beyond; None if none was found.
    eigengap : float or None
        Proved lower bound of the distance from the last wanted eigenvalue to the next; None if it
        is not known. If it is small, rotated last directions are almost as good.
    eigenvectors : bool
        Whether each column is an eigenvector, to `tolerance` of the spectrum. An optimal span has
        the optimal value in any basis, so its columns may be rotated.

    See Also
    --------
    certify : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace import TraceProblem, certify
    >>> found = certify(TraceProblem(np.diag([1.0, 2.0, 4.0]), count=1), np.eye(3)[:, :1])
    >>> found.level, found.complete, 0 < found.eigengap <= 1
    ('proved', True, True)
    """

    sense: Literal["min", "max"]
    residuals: tuple[float, ...]
    orthogonality: float
    proof: str | None
    floor: float | None
    eigengap: float | None
    eigenvectors: bool = True

    @property
    def grounds(self) -> str:
        """Why no better direction was missed, in words."""
        return PROOF_SENTENCES.get(str(self.proof), "")

    @property
    def caveat(self) -> str:
        """Whether the columns are rotated within their span, in words; "" if not."""
        if self.eigenvectors or self.level not in ("proved", "within", "measured"):
            return ""
        return ROTATED_MESSAGE


def certify(
    problem: TraceProblem,
    vectors: ArrayLike,
    values: ArrayLike | None = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    fresh: bool = False,
) -> TraceCertificate:
    """Certify vectors as an answer to a trace problem.

    Only the problem and the vectors are used, and never what a solver reports.

    Parameters
    ----------
    problem : TraceProblem
        The problem.
    vectors : array-like of shape (n, k)
        The first `problem.count` columns are the answer. Further columns are no part of it; they
        hint where the next eigenvalues lie.
    values : array-like of shape (count,) or None, default=None
        Eigenvalues that are compared with the vectors.
    tolerance : float in [0, 1], default=1e-4
        Largest relative gap that is called "proved".
    fresh : bool, default=False
        Where the random search starts: False takes the seed from a hash of problem and answer,
        so that runs agree; True takes it from the operating system. Use True for an answer of
        somebody who could have tried many answers.

    Returns
    -------
    TraceCertificate
        How far from the optimum the answer can be.

    Raises
    ------
    InvalidInput
        If `problem` is no `TraceProblem`, or the shape of the vectors does not fit it.

    See Also
    --------
    dualfold.embed : Solves the problem first.

    Examples
    --------
    >>> import numpy as np
    >>> problem = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2)
    >>> certify(problem, np.eye(4)[:, :2]).level
    'proved'
    >>> certify(problem, np.eye(4)[:, [0, 2]]).complete  # exact eigenvectors, but one was missed
    False
    """
    tolerance = checked_tolerance(tolerance)
    refuse_no_problem(problem, TraceProblem, NO_PROBLEM_MESSAGE)
    V = _as_columns(problem, vectors)
    problem, V = balanced_problem(_spelled_out(problem), V)
    problem, power = rescaled_problem(problem)
    if power:
        given = None if values is None else np.ldexp(np.asarray(values, dtype=float), -power)
        scaled = certify(problem, V, given, tolerance=tolerance, fresh=fresh)
        if not _is_exact_in_data_units(scaled, power):
            reason = "the optimum is too small or too large for double precision; rescale A"
            return _failure(problem, reason, tolerance)
        return _in_units_of_data(scaled, power)
    reordered = reordered_problem(problem)
    if reordered is not None:
        problem, V = reordered[0], V[reordered[1]]
    given = V[:, : problem.count]
    if not np.isfinite(given).all():
        return _failure(problem, "the vectors hold NaN or infinite entries", tolerance)
    off = _orthogonality(problem, given)
    cancelled = float(squares_in_metric(problem, given).max())  # an ill-conditioned B rounds more
    if not off <= 1e-6 + min(64 * problem.n * UNIT_ROUNDOFF * cancelled, 1e-4):
        reason = f"the vectors are not orthonormal in B and to the trivial directions ({off:.1e})"
        return _failure(problem, reason, tolerance, orthogonality=off)
    scale = max(_spectrum_scale(problem), np.finfo(float).tiny)
    if not MIN_SPECTRUM < scale < MAX_SPECTRUM and not is_zero(problem.A):
        reason = "squares of the entries of A underflow or overflow; rescale A"
        if not problem.metric.lowest > 0:
            reason = "B could not be proved to be positive definite"
        return _failure(problem, reason, tolerance, orthogonality=off)
    evidence = answer_evidence(problem, V, scale, tolerance, fresh)
    doubts = _mismatch(values, problem.sign * evidence.quotients, _entry_scale(problem))
    level, reasons = _level(problem, evidence, doubts, tolerance)
    return _certificate(problem, evidence, level, reasons, off, tolerance)


def _is_exact_in_data_units(certificate: TraceCertificate, power: int) -> bool:
    """Whether value and bound times 2^power are doubles: a rounded bound may be none."""
    numbers = [number for number in (certificate.value, certificate.bound) if np.isfinite(number)]
    with np.errstate(over="ignore", under="ignore"):
        return all(np.ldexp(np.ldexp(number, power), -power) == number for number in numbers)


def _in_units_of_data(certificate: TraceCertificate, power: int) -> TraceCertificate:
    """Verdict with its numbers times 2^power; those in words name their unit."""

    def back(number: float | None) -> Any:
        return None if number is None else float(np.ldexp(number, power))

    unit = f"(numbers in units of 2^{power})"
    return replace(
        certificate,
        value=back(certificate.value),
        bound=back(certificate.bound),
        floor=back(certificate.floor),
        eigengap=back(certificate.eigengap),
        residuals=tuple(back(length) for length in certificate.residuals),
        reasons=tuple(f"{reason} {unit}" for reason in certificate.reasons),
    )


def _certificate(
    problem: TraceProblem,
    evidence: AnswerEvidence,
    level: Level,
    reasons: tuple[str, ...],
    off: float,
    tolerance: float,
) -> TraceCertificate:
    floor, bracket, d = evidence.floor, evidence.bracket, problem.count
    following = None
    # At most d lie below the height. A random search resolves ends, not gaps: no eigengap there.
    height = _proved_height(problem, floor)
    if level == "proved" and np.isfinite(height) and floor.below == d:
        following = height - float(evidence.answer.h[-1]) - evidence.answer.blur
    about = problem.about
    if isinstance(problem.A, LinearOperator) and not isinstance(problem.A, Gramian):
        about = f"{about}, {FIXED_OPERATOR_SCOPE}" if about else FIXED_OPERATOR_SCOPE
    return TraceCertificate(
        level=level,
        gap=bracket.gap,
        value=problem.sign * (evidence.answer.total if np.isnan(bracket.value) else bracket.value),
        bound=problem.sign * bracket.lower,
        sense=problem.sense,
        residuals=tuple(float(r) for r in evidence.residuals),
        orthogonality=off,
        complete=False if evidence.missed else True if level in ("proved", "measured") else None,
        proof=None if floor.proof == "none" else floor.proof,
        floor=problem.sign * floor.height,
        chance=floor.chance,
        eigengap=None if following is None else max(0.0, float(following)),
        tolerance=tolerance,
        reasons=reasons,
        about=about,
        eigenvectors=bool(evidence.residuals.max() <= max(tolerance, 1e-6) * evidence.scale),
    )


def _proved_height(problem: TraceProblem, floor: SpectralFloor) -> float:
    """The floor's height, for singular values less the error of the null vectors."""
    if floor.proof != "inertia" or not uses_singular_values(problem):
        return floor.height
    return max(float(np.sqrt(max(floor.height, 0.0))) - null_error(problem), 0.0) ** 2


def _level(
    problem: TraceProblem, evidence: AnswerEvidence, doubts: list[str], tolerance: float
) -> tuple[Level, tuple[str, ...]]:
    """The level of the certificate, and the reasons why it is not a better one."""
    floor, bracket = evidence.floor, evidence.bracket
    if evidence.missed:
        words = (
            f"a better direction was missed: {floor.seen} or more eigenvalues lie beyond "
            f"{_short(problem.sign * floor.height)}, the answer has {floor.below} of them"
        )
        return "failed", (*doubts, words)
    if doubts:
        return "failed", tuple(doubts)
    gap = bracket.gap
    random = floor.proof == "random"
    if gap <= (MAX_RANDOM_GAP if random else tolerance):
        return ("measured" if random else "proved"), ()
    if random:
        return "unresolved", (
            "the wanted eigenvalues lie too close together, against the width of the spectrum, "
            "for a random search to tell; nothing is proved",
        )
    if not np.isfinite(bracket.apart):
        words = "the count of eigenvalues was spoiled by rounding; nothing is proved"
        return "unresolved", (words,)
    # A matrix in double precision does not resolve less than a unit of the spectrum.
    negligible = gap >= MAX_GAP and bracket.apart <= problem.count * UNIT_ROUNDOFF * evidence.scale
    if negligible or bracket.blurred >= proofs.ROUNDING_SHARE * bracket.apart:
        share = bound_text(bracket.apart / evidence.scale)
        return "unresolved", (
            f"the value is within {share} of the spectrum from "
            "the optimum, and double precision resolves no more: no word relative to the optimum",
            *_angle(evidence),
        )
    level = level_of(gap, tolerance)
    return level, (
        f"the value is within {bound_text(gap)} of the optimum, not {tolerance:g}"
        if np.isfinite(gap)
        else f"the value is {_short(bracket.apart / evidence.scale)} of the spectrum above what is "
        "excluded",
    )


def _angle(evidence: AnswerEvidence) -> tuple[str, ...]:
    """Angle of the directions that a floor allows: value − optimum ≥ (μ − λ_d)·Σ sin²."""
    answer, floor = evidence.answer, evidence.floor
    room = floor.height - float(answer.h[-1]) - answer.blur
    if floor.below != len(answer.h) or not room > 0:
        return ()
    sine = float(np.sqrt(evidence.bracket.apart / room))
    if not sine < 0.1:
        return ()
    return (f"the directions are right all the same, to an angle of {_short(1.01 * sine)}",)


def _spelled_out(problem: TraceProblem) -> TraceProblem:
    """A small operator as the matrix of its products with the unit vectors."""
    A = problem.A
    small = problem.n <= proofs.MAX_FILLED_ROWS
    if not isinstance(A, LinearOperator) or isinstance(A, Gramian) or not small:
        return problem
    entries = real_entries(dense_entries(A), "A")
    if not np.isfinite(entries).all():
        raise InvalidInput(Argument("A"), ", an operator, returns NaN or infinite numbers")
    size, difference = float(np.linalg.norm(entries)), asymmetry(entries)
    if difference > ASYMMETRY_TOLERANCE * size:
        raise not_symmetric("A", entries)
    return replace(problem, A=entries)


def _entry_scale(problem: TraceProblem) -> float:
    """The size of the spectrum if B were its diagonal: no condition number enters."""
    metric = problem.metric
    middle = 1.0 if isinstance(metric, Identity) else np.median(metric.diagonal)
    return norm_bound(problem) / float(middle)


def _spectrum_scale(problem: TraceProblem) -> float:
    """The size of the spectrum, from above (a guess for a large operator)."""
    return norm_bound(problem) / max(problem.metric.lowest, 1e-300)


def _orthogonality(problem: TraceProblem, V: Array) -> float:
    """Distance of VᵀBV from I and of VᵀBN from 0."""
    BV = problem.metric.times(V)
    off = _spectral_norm(V.T @ BV - np.eye(V.shape[1]))
    overlap = problem.excluded_basis.T @ BV
    return max(off, _spectral_norm(overlap)) if overlap.size else off


def _spectral_norm(matrix: Array) -> float:
    """As `np.linalg.norm(matrix, 2)`, in half of its time on a small matrix."""
    return float(np.linalg.svd(matrix, compute_uv=False).max())


def _mismatch(values: ArrayLike | None, quotients: Array, scale: float) -> list[str]:
    reasons = []
    if values is not None:
        if np.shape(values) != quotients.shape:
            raise InvalidInput(
                f"{np.size(values)} values were given for {len(quotients)} directions"
            )
        off = np.abs(np.asarray(values, dtype=float) - quotients)
        if not np.all(off <= 1e-6 * np.maximum(np.abs(quotients), 1e-6 * scale)):
            reasons.append(f"the values do not belong to the vectors (off by {off.max():.1e})")
    return reasons


def _as_columns(problem: TraceProblem, vectors: ArrayLike) -> Array:
    V = real_entries(vectors, "the answer")
    V = V[:, None] if V.ndim == 1 else V
    if V.ndim != 2 or V.shape[0] != problem.n or V.shape[1] < problem.count:
        raise InvalidInput(
            f"the answer has shape {V.shape}; this problem needs {problem.n} rows and at least "
            f"{problem.count} columns, one for each direction"
        )
    return V


def _failure(
    problem: TraceProblem, reason: str, tolerance: float, orthogonality: float = float("inf")
) -> TraceCertificate:
    nothing = float("nan")
    return TraceCertificate(
        level="failed",
        gap=float("inf"),
        value=nothing,
        bound=nothing,
        sense=problem.sense,
        residuals=(),
        orthogonality=orthogonality,
        complete=None,
        proof=None,
        floor=None,
        chance=1.0,
        eigengap=None,
        tolerance=tolerance,
        reasons=(reason,),
    )


def _short(number: float) -> str:
    return f"{number:.2g}"
