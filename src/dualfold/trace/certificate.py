"""How far from optimal an answer can be, from the problem and the answer alone.

A certificate never trusts a solver (and an import contract keeps it from seeing
one). With Ritz values θ of a B-orthonormal V, residual norms r and a proved floor μ
under which at most c eigenvalues lie, the sum of the d smallest eigenvalues is at
least

    Σ_{i≤c} (θ_i − r_i²/(μ − θ_i)) + (d − c)·μ          (Temple, Lehmann)

so the distance of Σθ from the optimum is known, whatever produced V. Where rounding
hides the gap behind θ_d, a floor further up serves as well: with c > d Ritz pairs of a
wider space below it, Lehmann's matrix Θ − P^-½RᵀRP^-½, P = μ − Θ, has eigenvalues below
those of the problem, and its d smallest add up to at least

    Σ_{i≤d} θ_i − Σ_{i≤c} r_i²/(μ − θ_i)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.trace.bounds import best_floor, relative_gap, rounding, trace_bound
from dualfold.trace.completeness import Answer, Floor, spectrum_scale
from dualfold.trace.metric import Identity
from dualfold.trace.problem import Gramian, TraceProblem

Array = np.ndarray[Any, np.dtype[Any]]
# A random search resolves less than a proof; a gap it leaves wider than this says nothing.
COARSE = 0.5
UNRESOLVED = (
    "the wanted eigenvalues lie too close together, against the width of the spectrum, for a "
    "random search to tell; nothing is proved"
)
PROOFS = {
    "inertia": "the eigenvalues below were counted by the signs of a factorisation",
    "Cholesky": "a positive definite dual matrix excludes a better direction",
    "norm": "the norm of the matrix leaves no room for a better direction",
    "random": "a random search of the complement found nothing better",
}


@dataclass(frozen=True)
class Certificate:
    """The verdict on an answer to a trace problem; `print` it.

    level : "proved" (rigorous), "measured" (a random search found nothing better; gap and
        bound hold but for the probability `chance`), "failed"
    gap : relative distance of `value` from `bound`; 0 is optimal
    value, bound, sense : Σθ of the answer, what no answer is better than, "min" or "max"
    residuals : ‖Av − θBv‖ in the B⁻¹ norm, one a direction: an eigenvalue lies so near to θ
    orthogonality : ‖VᵀBV − I‖, rounding where all is well
    proof, floor : how completeness was decided, and the height μ that at most `count`
        eigenvalues lie beyond (None: no floor was found)
    chance : the probability that a measured statement is wrong; 0 where it is proved
    complete : no wanted eigenvalue was missed (None: not decided)
    eigengap : distance from the last wanted eigenvalue to the next one (proved lower
        bound when the level is "proved", else measured; None: unknown). Small means
        that the last directions could be turned at almost no cost.
    about : what the proof is about when that is not all of the data
    tolerance, reasons : the largest gap that passes, and what failed, in words
    """

    level: Literal["proved", "measured", "failed"]
    gap: float
    value: float
    bound: float
    sense: Literal["min", "max"]
    residuals: tuple[float, ...]
    orthogonality: float
    complete: bool | None
    proof: str | None
    floor: float | None
    chance: float
    eigengap: float | None
    tolerance: float
    reasons: tuple[str, ...] = ()
    about: str = ""

    def __str__(self) -> str:
        if self.level == "failed":
            return "failed: " + "; ".join(self.reasons)
        words = f"{self.level}: optimal to {_short(self.gap)} (relative)"
        if self.level == "measured":
            words += f" but for a chance of {self.chance:.0e}"
        words += f"; {PROOFS.get(str(self.proof), '')}"
        return f"{words}. This is about {self.about}" if self.about else words

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings (infinite numbers become None)."""
        plain = asdict(self) | {"verdict": str(self), "schema": "dualfold.certificate/1"}
        return {key: _json(item) for key, item in plain.items()}


def certify(
    problem: TraceProblem, vectors: Any, values: Any = None, *, tolerance: float = 1e-4
) -> Certificate:
    """Judge `vectors` (n×count or more columns) as an answer to `problem`.

    Columns past `problem.count` are no part of the answer: they hint where the next
    eigenvalue lies. `values`, if given, are checked against the vectors. An answer
    passes when gap and residuals (relative to the spectrum) are within `tolerance`.

    >>> import numpy as np
    >>> problem = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2)
    >>> certify(problem, np.eye(4)[:, :2]).level
    'proved'
    >>> certify(problem, np.eye(4)[:, [0, 2]]).complete  # exact eigenvectors, but one was missed
    False
    """
    V = _as_columns(problem, vectors)
    if not np.isfinite(V).all():
        return _failure(problem, "the vectors hold NaN or infinite entries", tolerance)
    given, extra = V[:, : problem.count], V[:, problem.count :]
    off = _orthogonality(problem, given)
    if off > 1e-6:
        reason = f"the vectors are not orthonormal in B and to the trivial directions ({off:.1e})"
        return _failure(problem, reason, tolerance, orthogonality=off)
    scale = max(spectrum_scale(problem), np.finfo(float).tiny)
    if not 1e-140 < scale < 1e140 and np.any(problem.descent(given)):
        reason = "squares of the entries of A underflow or overflow; rescale A"
        return _failure(problem, reason, tolerance, orthogonality=off)
    (quotients, residuals), answer = _ritz_answer(problem, given, extra)
    doubts = _mismatch(values, problem.sign * quotients, residuals, scale, tolerance)
    floor = best_floor(problem, answer, scale)
    missed = floor.seen is None or floor.seen > floor.below
    value, bound = float(answer.values.sum()), -np.inf
    if not missed:
        bound = trace_bound(answer, floor) - rounding(problem, answer, scale)
        if isinstance(problem.A, Gramian) and problem.sense == "min":
            bound = max(bound, 0.0)
    gap = relative_gap(problem, value, bound, scale * problem.count)
    reasons = (*doubts, *_shortcomings(problem, floor, gap, tolerance))
    level = "failed" if reasons else "measured" if floor.proof == "random" else "proved"
    following = answer.following
    if level == "proved":  # a Rayleigh quotient is no lower bound
        following = floor.height if floor.below == problem.count else None
    return Certificate(
        level=level,  # type: ignore[arg-type]
        gap=gap,
        value=problem.sign * value,
        bound=problem.sign * bound,
        sense=problem.sense,
        residuals=tuple(float(r) for r in residuals),
        orthogonality=off,
        # An answer that is far off may hold as many low values as there are: no word then.
        complete=False if missed and floor.seen is not None else None if reasons else True,
        proof=floor.proof,
        floor=problem.sign * floor.height,
        chance=floor.chance,
        eigengap=None if following is None else max(0.0, float(following - answer.values[-1])),
        tolerance=tolerance,
        reasons=reasons,
        about=problem.about,
    )


def _orthogonality(problem: TraceProblem, V: Array) -> float:
    """How far VᵀBV is from I and VᵀBN from 0."""
    BV = problem.metric.times(V)
    off = float(np.linalg.norm(V.T @ BV - np.eye(V.shape[1]), 2))
    overlap = problem.trivial.T @ BV
    return max(off, float(np.linalg.norm(overlap, 2))) if overlap.size else off


def _shortcomings(
    problem: TraceProblem, floor: Floor, gap: float, tolerance: float
) -> tuple[str, ...]:
    """Why the floor and the gap are not good enough; nothing when they are."""
    if floor.seen is None:
        return ("the count of eigenvalues was spoiled by rounding; nothing is proved",)
    if floor.seen > floor.below:
        return (
            f"a better direction was missed: {floor.seen} or more eigenvalues lie beyond "
            f"{_short(problem.sign * floor.height)}, the answer has {floor.below} of them",
        )
    if floor.proof == "random":
        return () if gap <= COARSE else (UNRESOLVED,)
    if gap > tolerance:
        return (f"the value is within {_short(gap)} of the optimum, not {tolerance:.0e}",)
    return ()


@dataclass(frozen=True, eq=False)
class _Images:
    """V with sign·A·V, and MV where A = MᵀM: one pass over A, turned as often as needed."""

    V: Array
    AV: Array
    MV: Array | None

    @classmethod
    def of(cls, problem: TraceProblem, V: Array) -> _Images:
        gramian = isinstance(problem.A, Gramian)
        return cls(V, problem.descent(V), problem.A.factor @ V if gramian else None)

    def times(self, C: Array) -> _Images:
        return _Images(self.V @ C, self.AV @ C, None if self.MV is None else self.MV @ C)

    def columns(self, some: slice) -> _Images:
        few = None if self.MV is None else self.MV[:, some]
        return _Images(self.V[:, some], self.AV[:, some], few)

    def quadratic(self, sign: float) -> Array:
        """Vᵀ(sign·A)V; from MV it keeps the digits of tiny values."""
        return self.V.T @ self.AV if self.MV is None else sign * (self.MV.T @ self.MV)


def _ritz_answer(
    problem: TraceProblem, given: Array, extra: Array
) -> tuple[tuple[Array, Array], Answer]:
    """Quotients and residuals of what was given, and its span in its own eigenbasis.

    The latter has the smallest sign·value first.
    """
    metric = problem.metric
    inside = problem.off_trivial(given)  # up to 1e-6 of N was let pass
    lower = np.linalg.cholesky(inside.T @ metric.times(inside))
    basis = np.linalg.solve(lower, inside.T).T
    # Unit length first: the 1e-8 below is relative, and a long guard keeps 1e-16 of N.
    extra = extra / np.abs(extra).max(axis=0, initial=np.finfo(float).tiny)
    extra = extra / np.sqrt(np.einsum("ij,ij->j", extra, metric.times(extra)).clip(1e-300))
    rest = problem.off_trivial(extra[:, :1])
    rest = rest - basis @ (metric.times(basis).T @ rest)
    lengths = np.sqrt(np.einsum("ij,ij->j", rest, metric.times(rest)).clip(0.0))
    rest = rest[:, lengths > 1e-8] / lengths[lengths > 1e-8]
    images = _Images.of(problem, np.hstack([basis, rest]))
    own = images.columns(slice(basis.shape[1]))
    values, S = np.linalg.eigh(own.quadratic(problem.sign))
    turned = own.times(S)
    following = None
    if rest.shape[1]:
        further = images.columns(slice(basis.shape[1], None))
        following = float(_residuals(problem, further)[0][0])
    wider = None
    if extra.shape[1] > 1 and isinstance(problem.A, Gramian):
        Q, R = np.linalg.qr(np.hstack([turned.V, problem.off_trivial(extra)]))
        if np.abs(np.diagonal(R)).min() > 1e-8 and isinstance(metric, Identity):
            _, wider = _ritz_answer(problem, Q, extra[:, :0])
    as_given = _Images.of(problem, given) if problem.trivial.shape[1] else own.times(lower.T)
    answer = Answer(turned.V, values, _residuals(problem, turned)[1], following, wider)
    return _residuals(problem, as_given), answer


def _residuals(problem: TraceProblem, images: _Images) -> tuple[Array, Array]:
    """Rayleigh quotients of sign·A and ‖Av − θBv‖ in the B⁻¹ norm, column by column."""
    V, AV, MV = images.V, images.AV, images.MV
    BV = problem.metric.times(V)
    lengths = np.einsum("ij,ij->j", V, BV)
    if MV is None:
        quotients = np.einsum("ij,ij->j", V, AV) / lengths
    else:
        quotients = problem.sign * np.einsum("ij,ij->j", MV, MV) / lengths
    R = AV - BV * quotients
    squares = np.einsum("ij,ij->j", R, problem.metric.solve(R)) / lengths
    return quotients, np.sqrt(np.maximum(squares, 0.0))


def _mismatch(
    values: Any, quotients: Array, residuals: Array, scale: float, tolerance: float
) -> list[str]:
    reasons = []
    if values is not None:
        if np.shape(values) != quotients.shape:
            raise InvalidInput(
                f"{np.size(values)} values were given for {len(quotients)} directions"
            )
        off = np.abs(np.asarray(values, dtype=float) - quotients)
        if not np.all(off <= 1e-6 * np.maximum(np.abs(quotients), 1e-6 * scale)):
            reasons.append(f"the values do not belong to the vectors (off by {off.max():.1e})")
    if residuals.max() > tolerance * scale:
        worst = int(np.argmax(residuals))
        reasons.append(
            f"vector {worst + 1} is no eigenvector (residual {residuals[worst]:.1e}, "
            f"{residuals[worst] / scale:.1e} of the spectrum)"
        )
    return reasons


def _as_columns(problem: TraceProblem, vectors: Any) -> Array:
    V = np.asarray(vectors, dtype=float)
    V = V[:, None] if V.ndim == 1 else V
    if V.ndim != 2 or V.shape[0] != problem.n or V.shape[1] < problem.count:
        raise InvalidInput(
            f"the answer has shape {V.shape}; this problem needs {problem.n} rows and at least "
            f"{problem.count} columns, one a direction"
        )
    return V


def _failure(
    problem: TraceProblem, reason: str, tolerance: float, orthogonality: float = float("inf")
) -> Certificate:
    nothing = float("nan")
    return Certificate(
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


def _json(item: Any) -> Any:
    if isinstance(item, tuple):
        return [_json(entry) for entry in item]
    if isinstance(item, float) and not np.isfinite(item):
        return None
    return item
