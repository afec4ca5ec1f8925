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

from dualfold.errors import InvalidInput, TooLarge
from dualfold.trace.completeness import (
    MOST_DENSE_ROWS,
    MOST_FILLED_ROWS,
    UNIT,
    Answer,
    Floor,
    cholesky_floor,
    deflated_norm_floor,
    inertia_floor,
    norm_floor,
    random_floor,
    spectrum_ceiling,
)
from dualfold.trace.metric import Identity
from dualfold.trace.problem import Gramian, TraceProblem

Array = np.ndarray[Any, np.dtype[Any]]
# Gaps of this size, relative to the spectrum, can be hidden by the rounding of a
# factorisation (LLE of a roll of 70,000 points: 1e-11).
HIDDEN = 1e-11
# A random search resolves less than a proof; a gap it leaves wider than this says nothing.
COARSE = 0.5
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
    complete : no wanted eigenvalue was missed (None: not decided)
    eigengap : distance from the last wanted eigenvalue to the next one (proved lower
        bound when the level is "proved", else measured; None: unknown). Small means
        that the last directions could be turned at almost no cost.
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

    def __str__(self) -> str:
        if self.level == "failed":
            return "failed: " + "; ".join(self.reasons)
        words = f"{self.level}: optimal to {_short(self.gap)} (relative)"
        if self.level == "measured":
            words += f" but for a chance of {self.chance:.0e}"
        return f"{words}; {PROOFS.get(str(self.proof), '')}"

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
    """
    V = _as_columns(problem, vectors)
    if not np.isfinite(V).all():
        return _failure(problem, "the vectors hold NaN or infinite entries", tolerance)
    count, metric = problem.count, problem.metric
    given, extra = V[:, :count], V[:, count:]
    gram = given.T @ metric.times(given)
    overlap = problem.trivial.T @ metric.times(given)
    orthogonality = float(np.linalg.norm(gram - np.eye(count), 2))
    if overlap.size:
        orthogonality = max(orthogonality, float(np.linalg.norm(overlap, 2)))
    if orthogonality > 1e-6:
        reason = (
            "the vectors are not orthonormal in B and to the trivial directions "
            f"(off by {orthogonality:.1e})"
        )
        return _failure(problem, reason, tolerance, orthogonality=orthogonality)

    scale = max(abs(spectrum_ceiling(problem)), np.finfo(float).tiny)
    quotients, residuals = _residuals(problem, given)
    answer = _ritz_answer(problem, given, extra)
    reasons = _mismatch(values, problem.sign * quotients, residuals, scale, tolerance)
    floor = _floor(problem, answer, scale)
    missed = floor.seen is None or floor.seen > floor.below
    bound = -np.inf if missed else _trace_bound(answer, floor)
    value = float(answer.values.sum())
    bound -= _rounding(problem, answer, scale)
    gap = _relative_gap(problem, value, bound, scale * count)
    if missed and floor.seen is not None:
        reasons.append(
            f"a better direction was missed: {floor.seen} or more eigenvalues lie beyond "
            f"{_short(problem.sign * floor.height)}, the answer has {floor.below} of them"
        )
    elif missed:
        reasons.append("the count of eigenvalues was spoiled by rounding; nothing is proved")
    elif floor.proof == "random" and gap > COARSE:
        reasons.append(
            "the wanted eigenvalues lie too close together, against the width of the spectrum, "
            "for a random search to tell; nothing is proved"
        )
    elif floor.proof != "random" and gap > tolerance:
        reasons.append(f"the value is within {_short(gap)} of the optimum, not {tolerance:.0e}")
    level = "failed" if reasons else "measured" if floor.proof == "random" else "proved"
    following = floor.height if level == "proved" and floor.below == count else answer.following
    return Certificate(
        level=level,  # type: ignore[arg-type]
        gap=gap,
        value=problem.sign * value,
        bound=problem.sign * bound,
        sense=problem.sense,
        residuals=tuple(float(r) for r in residuals),
        orthogonality=orthogonality,
        complete=None if floor.seen is None else not missed,
        proof=floor.proof,
        floor=problem.sign * floor.height,
        chance=floor.chance,
        eigengap=None if following is None else max(0.0, float(following - answer.values[-1])),
        tolerance=tolerance,
        reasons=tuple(reasons),
    )


def _floor(problem: TraceProblem, answer: Answer, scale: float) -> Floor:
    """The best floor that can be proved at a bearable cost, else a random one."""
    for norms in (norm_floor, deflated_norm_floor):
        cheap = norms(problem, answer)
        if cheap is not None and cheap.height > answer.values[-1]:
            return Floor(cheap.below, cheap.height, cheap.proof, seen=cheap.below)
    if not isinstance(problem.A, np.ndarray):
        counted = _counted(problem, answer, scale)
        if counted is not None:
            return counted
    most = MOST_DENSE_ROWS if isinstance(problem.A, np.ndarray) else MOST_FILLED_ROWS
    if problem.n > most:
        return random_floor(problem, answer)
    return _first_holding(
        problem,
        answer,
        scale,
        lambda below, height: cholesky_floor(problem, answer, below, height),
    )


def _counted(problem: TraceProblem, answer: Answer, scale: float) -> Floor | None:
    """A floor by counting pivots; None where that is too costly or spoiled by rounding."""
    try:
        _ = problem.ordering
    except TooLarge:
        return None
    floor = _first_holding(
        problem, answer, scale, lambda below, height: inertia_floor(problem, below, height)
    )
    return None if floor.seen is None else floor


def _first_holding(problem: TraceProblem, answer: Answer, scale: float, prove: Any) -> Floor:
    """Try a height inside the eigengap; if that does not hold, one under the last cluster.

    A height just past θ_d would call the twin of a repeated eigenvalue missing, so
    the second try stays δ below the cluster that θ_d belongs to and pays d·δ.
    """
    values, worst = answer.values, float(answer.residuals.max())
    count, last = len(values), float(values[-1])
    finest = 1e-14 if isinstance(problem.A, Gramian) else 1e-12
    delta = max(2.5e-8 * abs(last), 8 * worst, finest * scale)
    for below, height, needed in _gaps(problem, answer, delta, scale):
        floor: Floor = prove(below, height)
        if floor.seen is not None and floor.seen <= below and floor.height > needed:
            return floor
    for widen in (1.0, 30.0, 1000.0):
        gap = widen * delta
        below = count - 1
        while below and values[below] - values[below - 1] < 2 * gap:
            below -= 1
        height = float(values[below]) - gap
        floor = prove(below, height)
        usable = floor.height > (values[below - 1] if below else -np.inf) + gap / 4
        # A count taken closer to θ than its own error may hold θ itself: widen first.
        decided = floor.seen is not None and (floor.seen <= below or height - floor.height < gap)
        if decided and usable:
            return floor
    return Floor(below, floor.height, floor.proof, seen=None)


def _gaps(
    problem: TraceProblem, answer: Answer, delta: float, scale: float
) -> list[tuple[int, float, float]]:
    """(c, height, least height of use) in the gap behind θ_d and in a wider one further up.

    The latter, with c > d Ritz values of the wider space below it, is for gaps that
    rounding may hide; where that is likely it comes first.
    """
    last, found = float(answer.values[-1]), []
    # Nothing known of what follows: a third of θ_d is a guess that a count proves or not.
    guess = last / 3 if isinstance(problem.A, Gramian) else 0.0
    room = guess if answer.following is None else float(answer.following - last)
    if room > 4 * delta:
        found.append((len(answer.values), last + room / 3, last + delta))
    if answer.wider is None:
        return found
    values, residuals = answer.wider.values, answer.wider.residuals
    for c in range(len(answer.values) + 1, len(values)):
        gap = float(values[c] - values[c - 1])
        if gap > 4 * max(HIDDEN * scale, room, float(residuals[:c].max())):
            found.append((c, float(values[c]) - gap / 4, float(values[c - 1])))
            break
    return found if room > HIDDEN * scale else found[::-1]


def _rounding(problem: TraceProblem, answer: Answer, scale: float) -> float:
    """What rounding can have done to the sum of the Rayleigh quotients.

    A few units of ‖A‖ each; but ‖Mv‖² from Mv, whose error is a few units ρ of ‖|M|‖
    (the longest row counts), is right to 2√θρ + ρ².
    """
    count = len(answer.values)
    if not isinstance(problem.A, Gramian):
        return 32 * UNIT * scale * count
    size = abs(problem.A.factor)
    longest = int(np.diff(size.indptr).max(initial=0))
    norm = float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()))
    rho = (longest + 4) * UNIT * norm / np.sqrt(max(problem.metric.lowest, 1e-300))
    lengths = np.sqrt(np.abs(answer.values))
    # A sum of m squares adds a relative m·u at worst (its terms are positive).
    added = problem.A.factor.shape[0] * UNIT * float(np.abs(answer.values).sum())
    return float((2 * lengths * rho + rho**2).sum()) + added


def _trace_bound(answer: Answer, floor: Floor) -> float:
    """The least value that the d smallest eigenvalues can add up to (module docstring)."""
    values, squares = answer.values, answer.residuals**2
    c = floor.below
    if c > len(values) and answer.wider is not None:
        wider = answer.wider
        lost = wider.residuals[:c] ** 2 / (floor.height - wider.values[:c])
        return float(wider.values[: len(values)].sum() - lost.sum())
    under = values < floor.height
    if floor.below == len(values) and not under.all():
        # A floor of the complement that does not reach θ_d: eigenvalues of the block
        # matrix [[Θ, Rᵀ], [R, C]] move by at most ‖R‖ from those of its diagonal.
        loss = len(values) * float(np.sqrt(squares.sum()))
        return float(np.minimum(values, floor.height).sum()) - loss
    temple = values[:c] - squares[:c] / (floor.height - values[:c])
    return float(temple.sum() + (len(values) - c) * floor.height)


def _ritz_answer(problem: TraceProblem, given: Array, extra: Array) -> Answer:
    """The given subspace in its own eigenbasis, smallest sign·value first."""
    metric = problem.metric
    gram = given.T @ metric.times(given)
    V = np.linalg.solve(np.linalg.cholesky(gram), given.T).T
    values, S = np.linalg.eigh(problem.quadratic(V))
    V = V @ S
    _, residuals = _residuals(problem, V)
    following = None
    if extra.shape[1]:
        rest = problem.off_trivial(extra[:, :1])
        rest = rest - V @ (metric.times(V).T @ rest)
        length = float(np.sqrt(max(np.einsum("ij,ij->", rest, metric.times(rest)), 0.0)))
        if length > 1e-8:
            quotient, _ = _residuals(problem, rest / length)
            following = float(quotient[0])
    wider = None
    if extra.shape[1] > 1 and isinstance(problem.A, Gramian):
        Q, R = np.linalg.qr(np.hstack([V, problem.off_trivial(extra)]))
        if np.abs(np.diagonal(R)).min() > 1e-8 and isinstance(metric, Identity):
            wider = _ritz_answer(problem, Q, extra[:, :0])
    return Answer(V, values, residuals, following, wider)


def _residuals(problem: TraceProblem, V: Array) -> tuple[Array, Array]:
    """Rayleigh quotients of sign·A and ‖Av − θBv‖ in the B⁻¹ norm, column by column."""
    AV, BV = problem.descent(V), problem.metric.times(V)
    lengths = np.einsum("ij,ij->j", V, BV)
    if isinstance(problem.A, Gramian):
        images = problem.A.factor @ V
        quotients = problem.sign * np.einsum("ij,ij->j", images, images) / lengths
    else:
        quotients = np.einsum("ij,ij->j", V, AV) / lengths
    R = AV - BV * quotients
    squares = np.einsum("ij,ij->j", R, problem.metric.solve(R)) / lengths
    return quotients, np.sqrt(np.maximum(squares, 0.0))


def _mismatch(
    values: Any, quotients: Array, residuals: Array, scale: float, tolerance: float
) -> list[str]:
    reasons = []
    if values is not None:
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


def _relative_gap(problem: TraceProblem, value: float, bound: float, scale: float) -> float:
    """(value − bound)/|bound|, or against the spectrum when the value is near 0.

    Near is what rounding cannot tell from 0: 10⁻¹⁰ of the spectrum, and 10⁻¹⁴ for a
    Gramian, whose tiny values keep their digits.
    """
    if not np.isfinite(bound):
        return float("inf")
    near = 1e-14 if isinstance(problem.A, Gramian) else 1e-10
    size = max(abs(bound), abs(value)) if isinstance(problem.A, Gramian) else abs(bound)
    return max(0.0, value - bound) / (size if size > near * scale else scale)


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
