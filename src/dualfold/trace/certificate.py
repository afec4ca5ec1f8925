"""How far from optimal an answer can be, from the problem and the answer alone.

A certificate never trusts a solver (and an import contract keeps it from seeing
one). With Ritz values θ of a B-orthonormal V, residual norms r and a proved floor μ
under which at most c eigenvalues lie, the sum of the d smallest eigenvalues is at
least

    Σ_{i≤c} (θ_i − r_i²/(μ − θ_i)) + (d − c)·μ          (Temple, Lehmann)

so the distance of Σθ from the optimum is known, whatever produced V.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator

from dualfold.errors import InvalidInput, TooLarge
from dualfold.trace.completeness import (
    MOST_DENSE_ROWS,
    UNIT,
    Answer,
    Floor,
    cholesky_floor,
    inertia_floor,
    norm_floor,
    random_floor,
    spectrum_ceiling,
)
from dualfold.trace.problem import Gramian, TraceProblem

Array = np.ndarray[Any, np.dtype[Any]]
PROOFS = {
    "inertia": "the eigenvalues below were counted by the signs of a factorisation",
    "Cholesky": "a positive definite dual matrix excludes a better direction",
    "norm": "the norm of the matrix leaves no room for a better direction",
    "random": "a random search of the complement found nothing better",
}


@dataclass(frozen=True)
class Certificate:
    """The verdict on an answer to a trace problem; `print` it.

    level : "proved" (rigorous), "measured" (a random search found nothing better;
        `chance` bounds the probability that it is wrong about `floor`), "failed"
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
        best = "smallest" if self.sense == "min" else "largest"
        words = f"{self.level}: optimal to {_short(self.gap)} (relative); "
        words += PROOFS.get(str(self.proof), "")
        if self.level == "measured":
            side = "below" if self.sense == "min" else "above"
            words += (
                f"; one {side} {_short(self.floor or 0.0)} was missed with probability "
                f"under {self.chance:.0e} (the {best} eigenvalues were looked for)"
            )
        return words

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
    bound = -np.inf if missed and floor.proof != "random" else _trace_bound(answer, floor)
    value = float(answer.values.sum())
    # The quotients themselves carry rounding of a few units of ‖A‖ each.
    bound -= 32 * UNIT * scale * count
    gap = _relative_gap(value, bound, scale * count)
    if floor.proof == "random":
        # What a random search can prove is coarse; what it saw is what is reported.
        gap = _relative_gap(value, value - float(np.sum(answer.residuals)), scale * count)
    if missed and floor.seen is not None:
        reasons.append(
            f"a better direction was missed: {floor.seen} or more eigenvalues lie beyond "
            f"{_short(problem.sign * floor.height)}, the answer has {floor.below} of them"
        )
    elif missed:
        reasons.append("the count of eigenvalues was spoiled by rounding; nothing is proved")
    elif gap > tolerance:
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
    cheap = norm_floor(problem, answer)
    if cheap is not None and cheap.height > answer.values[-1]:
        return Floor(cheap.below, cheap.height, cheap.proof, seen=cheap.below)
    if isinstance(problem.A, np.ndarray):
        if problem.n > MOST_DENSE_ROWS:
            return random_floor(problem, answer, steps=100)
        return _first_holding(
            answer, scale, lambda below, height: cholesky_floor(problem, answer, below, height)
        )
    if isinstance(problem.A, LinearOperator) and not isinstance(problem.A, Gramian):
        # Known by products alone, as dense matrices beyond LAPACK are.
        return random_floor(problem, answer, steps=100)
    try:
        _ = problem.ordering
    except TooLarge:
        return random_floor(problem, answer, steps=300)
    counted = _first_holding(
        answer, scale, lambda below, height: inertia_floor(problem, below, height)
    )
    # Where rounding spoils the count (weights over many orders of magnitude), a search
    # that measures is still better than no word at all.
    return counted if counted.seen is not None else random_floor(problem, answer, steps=300)


def _first_holding(answer: Answer, scale: float, prove: Any) -> Floor:
    """Try a height inside the eigengap; if that does not hold, one under the last cluster.

    A height just past θ_d would call the twin of a repeated eigenvalue missing, so
    the second try stays δ below the cluster that θ_d belongs to and pays d·δ.
    """
    values, worst = answer.values, float(answer.residuals.max())
    count, last = len(values), float(values[-1])
    delta = max(2.5e-8 * abs(last), 8 * worst, 1e-12 * scale)
    if answer.following is not None and answer.following - last > 4 * delta:
        floor: Floor = prove(count, last + (answer.following - last) / 3)
        if floor.seen is not None and floor.seen <= count and floor.height > last + delta:
            return floor
    for widen in (1.0, 30.0, 1000.0):
        gap = widen * delta
        below = count - 1
        while below and values[below] - values[below - 1] < 2 * gap:
            below -= 1
        height = float(values[below]) - gap
        floor = prove(below, height)
        usable = floor.height > (values[below - 1] if below else -np.inf) + gap / 4
        if floor.seen is not None and usable:
            return floor
    return Floor(below, floor.height, floor.proof, seen=None)


def _trace_bound(answer: Answer, floor: Floor) -> float:
    """The least value that the d smallest eigenvalues can add up to (module docstring)."""
    values, squares = answer.values, answer.residuals**2
    under = values < floor.height
    if floor.below == len(values) and not under.all():
        # A floor of the complement that does not reach θ_d: eigenvalues of the block
        # matrix [[Θ, Rᵀ], [R, C]] move by at most ‖R‖ from those of its diagonal.
        loss = len(values) * float(np.sqrt(squares.sum()))
        return float(np.minimum(values, floor.height).sum()) - loss
    c = floor.below
    temple = values[:c] - squares[:c] / (floor.height - values[:c])
    return float(temple.sum() + (len(values) - c) * floor.height)


def _ritz_answer(problem: TraceProblem, given: Array, extra: Array) -> Answer:
    """The given subspace in its own eigenbasis, smallest sign·value first."""
    metric = problem.metric
    gram = given.T @ metric.times(given)
    V = np.linalg.solve(np.linalg.cholesky(gram), given.T).T
    values, S = np.linalg.eigh(V.T @ problem.descent(V))
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
    return Answer(V, values, residuals, following)


def _residuals(problem: TraceProblem, V: Array) -> tuple[Array, Array]:
    """Rayleigh quotients of sign·A and ‖Av − θBv‖ in the B⁻¹ norm, column by column."""
    AV, BV = problem.descent(V), problem.metric.times(V)
    lengths = np.einsum("ij,ij->j", V, BV)
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


def _relative_gap(value: float, bound: float, scale: float) -> float:
    """(value − bound)/|bound|, or against the spectrum when the bound is near 0."""
    if not np.isfinite(bound):
        return float("inf")
    return max(0.0, value - bound) / (abs(bound) if abs(bound) > 1e-10 * scale else scale)


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
