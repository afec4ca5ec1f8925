"""Where to put a floor under the rest of the spectrum, and what it proves of a value.

The inequalities are in the docstring of `certificate`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.errors import TooLarge
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
)
from dualfold.trace.metric import Dense, Sparse
from dualfold.trace.problem import Gramian, TraceProblem

# Gaps of this size, relative to the spectrum, can be hidden by the rounding of a
# factorisation (LLE of a roll of 70,000 points: 1e-11).
HIDDEN = 1e-11


def best_floor(problem: TraceProblem, answer: Answer, scale: float) -> Floor:
    """The best floor that can be proved at a bearable cost, else a random one."""
    for norms in (norm_floor, deflated_norm_floor):
        if norms is deflated_norm_floor and problem.n <= MOST_FILLED_ROWS:
            break  # a Cholesky factorisation is as quick there, and decides more
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


def trace_bound(answer: Answer, floor: Floor) -> float:
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


def rounding(problem: TraceProblem, answer: Answer, scale: float) -> float:
    """What rounding can have done to the sum of the Rayleigh quotients.

    A few units of ‖A‖ each; but ‖Mv‖² from Mv, whose error is a few units ρ of ‖|M|‖
    (the longest row counts), is right to 2√θρ + ρ².
    """
    count, metric = len(answer.values), problem.metric
    cancelled = 1.0  # |v|ᵀ|B||v| for vᵀBv = 1: up to the condition of B
    if isinstance(metric, Dense | Sparse):
        V = np.abs(answer.V)
        cancelled = float(np.einsum("ij,ij->j", V, abs(metric.matrix) @ V).max())
    if not isinstance(problem.A, Gramian):
        return 32 * UNIT * scale * count * cancelled
    size = abs(problem.A.factor)
    longest = int(np.diff(size.indptr).max(initial=0))
    norm = float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()))
    rho = (longest + 4) * UNIT * norm / np.sqrt(max(problem.metric.lowest, 1e-300))
    lengths = np.sqrt(np.abs(answer.values))
    # A sum of m squares adds a relative m·u at worst (its terms are positive).
    added = problem.A.factor.shape[0] * UNIT * float(np.abs(answer.values).sum())
    added += 32 * UNIT * (cancelled - 1) * float(np.abs(answer.values).sum())
    return float((2 * lengths * rho + rho**2).sum()) + added


def relative_gap(problem: TraceProblem, value: float, bound: float, scale: float) -> float:
    """(value − bound)/|bound|, or against the spectrum when the value is near 0.

    Near is what rounding cannot tell from 0: 10⁻¹⁰ of the spectrum, and 10⁻¹⁴ for a
    Gramian, whose tiny values keep their digits.
    """
    if not np.isfinite(bound):
        return float("inf")
    near = 1e-14 if isinstance(problem.A, Gramian) else 1e-10
    size = max(abs(bound), abs(value)) if isinstance(problem.A, Gramian) else abs(bound)
    return max(0.0, value - bound) / (size if size > near * scale else scale)
