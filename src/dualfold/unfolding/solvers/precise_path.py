"""Equal lengths kept by springs so stiff that doubles cannot resolve them.

The problem and the steps are those of `elastic_path`, in double-doubles (`kernels.pairs`):

    maximise ⟨C, K⟩ − ½ Σ_e (q_e − d_e²)²/t_e        K ⪰ 0,  K1 = 0
    minimise Σ w d² + ½ Σ t w²                       S = L(w) − C ⪰ 0 off 1,  any signs

C = M − mmᵀ/Σm, so that ⟨C, K⟩ is the variance. In this convex form no columns of points appear
and disappear on the way, where Newton steps on points fail. Without an interior of the equal
lengths K has eigenvalues from 10⁴ to 10⁻¹³ and S from 10⁻⁹ to 10⁹ at the end, and a
Schur matrix in doubles leaves the lengths off by 10⁻⁶. The solution is optimal for its own
lengths whatever t is; t shrinks until these are the given ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic.double_double import (
    DoubleDouble,
    backward,
    cholesky,
    forward,
    inverse,
    products,
)
from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.bounds import (
    ROUNDED_LENGTHS_TOLERANCE,
    asked_lengths,
    contradiction_share,
)
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import (
    STOPPED_BY_CALLBACK,
    Callback,
    Record,
    UnfoldingSolution,
    relative_gap,
)
from dualfold.unfolding.solvers.elastic_path import elastic_point
from dualfold.unfolding.solvers.interior_point import CentralPath
from dualfold.unfolding.solvers.semidefinite import mehrotra_ratio, step_shares

# Shares of the way to the boundary, by how far the predictor got.
BOUNDARY_SHARE = 0.9
MAX_BOUNDARY_SHARE = 0.99
# When lengths follow their springs to FOLLOWED_SHARE of the springs' extension and are not yet the
# given ones, the compliance is multiplied by STIFFENING_RATIO.
FOLLOWED_SHARE = 0.5
STIFFENING_RATIO = 0.2
CHUNK_ROWS = 128  # rows of the Schur matrix in one chunk
# The first compliance and the least, in units of d⁴ over the first bound. With less, lengths that
# contradict each other by rounding would be refused: docs/dev/notes/unfolding-equal-lengths.md.
# Lengths of rows contradict nothing, and stiffer springs bound their problem better.
SPRING_COMPLIANCE = 1e-13
MIN_COMPLIANCE = 1e-14
MIN_COMPLIANCE_OF_ROWS = 1e-18
# Lengths of rows are followed to this share of d².
ROWS_GOAL = 1e-13
# Steps in doubles are good to this gap: later ones lose the centre, earlier ones cost more here.
DOUBLES_GAP = 1e-3
# The gap at the end, of `tol`: the certificate adds the rounding of the weights.
FINAL_GAP_SHARE = 0.02
MAX_STEPS = 100


@dataclass(frozen=True, eq=False)
class PrecisePoint:
    """K, weights and S = L(w) − C; `gap` is ⟨K, S⟩ over the variance.

    off, off_elastic : how far lengths are from d², and from d² + tw, relatively, at most
    """

    K: DoubleDouble
    weights: DoubleDouble
    S: DoubleDouble
    gap: float
    off: float
    off_elastic: float


class PrecisePath:
    """The constants of one problem."""

    def __init__(self, problem: UnfoldingProblem) -> None:
        n, mass = problem.n, problem.mass
        self.problem = problem
        self.ends = problem.edges.T
        self.asked = asked_lengths(problem, problem.edges)
        self.along = DoubleDouble(np.ones((n, n))) / n
        self.C = DoubleDouble(np.diag(mass)) - (DoubleDouble(mass[:, None]) * mass) / float(
            mass.sum()
        )

    def at(self, K: DoubleDouble, weights: DoubleDouble, compliance: Array) -> PrecisePoint:
        """The point of these matrices and weights, with its gap and errors."""
        S = self._laplacian(weights) - self.C
        away = self._edge_values(K) - self.asked
        beside = away - weights * compliance
        d2, variance = self.problem.squared, (K * self.C).total()
        off, off_elastic = (float(np.max(np.abs(x.high) / d2)) for x in (away, beside))
        return PrecisePoint(K, weights, S, (K * S).total() / variance, off, off_elastic)

    def centred_matrix(self, K: Array) -> DoubleDouble:
        """K as pairs, symmetric, with K1 = 0."""
        return self._without_ones(DoubleDouble((K + K.T) / 2))

    def step(self, here: PrecisePoint, compliance: Array) -> PrecisePoint | None:
        """Predictor and corrector step; None when rounding has spoiled the matrices."""
        K, S, n = here.K, here.S, self.problem.n
        factor_S, factor_K = cholesky(S + self.along), cholesky(K + self.along)
        if factor_S is None or factor_K is None:
            return None
        R = inverse(factor_S) - self.along
        solve = self._schur(K, R, compliance)
        if solve is None:
            return None
        wanted = self.asked + here.weights * compliance

        def direction(
            level: float, affine: tuple[DoubleDouble, DoubleDouble] | None
        ) -> tuple[Any, ...]:
            ideal = R * level
            if affine is not None:
                ideal = ideal - products(products(affine[0], affine[1]), R).symmetric()
            change = solve(self._edge_values(ideal) - wanted)
            dS = self._laplacian(change)
            moved = ideal - K - products(products(K, dS), R).symmetric()
            return self._without_ones(moved), dS, change

        def reach(move: tuple[Any, ...], share: float) -> tuple[float, float]:
            primal, dual = (
                longest_precise_step(factor_K, move[0]),
                longest_precise_step(factor_S, move[1]),
            )
            return step_shares(share, primal, dual)

        affine = direction(0.0, None)
        primal, dual = reach(affine, 1.0)
        before = (K * S).total()
        after = ((K + affine[0] * primal) * (S + affine[1] * dual)).total()
        level = mehrotra_ratio(before, after, primal, dual) * before / (n - 1)
        move = direction(level, affine[:2])
        primal, dual = reach(
            move, BOUNDARY_SHARE + (MAX_BOUNDARY_SHARE - BOUNDARY_SHARE) * min(primal, dual)
        )
        weights = here.weights + move[2] * dual
        return self.at((K + move[0] * primal).symmetric(), weights, compliance)

    def next_compliance(self, here: PrecisePoint, compliance: Array, wanted: float) -> Array:
        """The compliances of the next step."""
        followed = here.off_elastic < FOLLOWED_SHARE * here.off
        return STIFFENING_RATIO * compliance if followed and here.off > wanted else compliance

    def points(self, here: PrecisePoint, wanted: float) -> Array:
        """The fewest columns of K that keep the lengths to `wanted`, or to what K keeps."""
        values, vectors = np.linalg.eigh(here.K.high)
        values, vectors = values[::-1].clip(0.0), vectors[:, ::-1]
        columns = vectors * np.sqrt(values)
        i, j = self.ends
        lengths = np.cumsum((columns[i] - columns[j]) ** 2, axis=1)
        off = np.max(np.abs(lengths / self.problem.squared[:, None] - 1), axis=0)
        enough = off <= max(wanted, 1.01 * float(off[-1]))
        return self.problem.centred_points(columns[:, : int(np.argmax(enough)) + 1])

    def _laplacian(self, w: DoubleDouble) -> DoubleDouble:
        i, j = self.ends
        L = DoubleDouble(np.zeros((self.problem.n,) * 2))
        L.put((i, j), -w)
        L.put((j, i), -w)
        L.put(np.diag_indices(self.problem.n), -L.row_sums())
        return L

    def _edge_values(self, A: DoubleDouble) -> DoubleDouble:
        i, j = self.ends
        return (A[i, i] + A[j, j]) - A[i, j] * 2.0

    def _without_ones(self, A: DoubleDouble) -> DoubleDouble:
        """A symmetric matrix without its part along 1."""
        means = products(self.along, A)
        return (A - means - means.transpose) + products(self.along, means)

    def _schur(
        self, K: DoubleDouble, R: DoubleDouble, diagonal: Array
    ) -> Callable[[DoubleDouble], DoubleDouble] | None:
        """Solves with (b_eᵀKb_f)(b_eᵀRb_f) + diag(t); None where that is not definite."""
        i, j = self.ends
        m = self.problem.m
        H = DoubleDouble(np.empty((m, m)), np.empty((m, m)))
        for first in range(0, m, CHUNK_ROWS):
            rows = slice(first, min(m, first + CHUNK_ROWS))
            k, r = (A[i[rows]] - A[j[rows]] for A in (K, R))
            H.put(rows, (k[:, i] - k[:, j]) * (r[:, i] - r[:, j]))
        both = np.diag_indices(m)
        H.put(both, H[both] + DoubleDouble(diagonal))
        factor = cholesky(H)
        if factor is None:
            return None
        return lambda rhs: backward(factor, forward(factor, rhs[None]))[0]


def longest_precise_step(factor: DoubleDouble, move: DoubleDouble) -> float:
    """The largest α with LLᵀ + α·move ⪰ 0."""
    inner = forward(factor, forward(factor, move).transpose)
    lowest = float(np.linalg.eigvalsh(inner.symmetric().high)[0])
    return np.inf if lowest >= 0 else -1.0 / lowest


def precise_solution(
    problem: UnfoldingProblem,
    *,
    wanted: float,
    tol: float = 1e-6,
    max_iter: int = MAX_STEPS,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with lengths within `wanted` of d² and weights of any sign, each the other's proof.

    The last steps of the interior point are in double-doubles.

    The mean d² is to be about 1. `tol` is the gap wanted, `max_iter` the most steps; `callback`
    gets a `Record` after each, and True stops.
    """
    begin = perf_counter()
    with one_blas_thread():
        path = CentralPath(problem, 0.0)
        start, compliance = elastic_point(path, SPRING_COMPLIANCE, DOUBLES_GAP)
        least = MIN_COMPLIANCE / SPRING_COMPLIANCE * compliance
        if problem.positions is not None:
            least, wanted = MIN_COMPLIANCE_OF_ROWS / MIN_COMPLIANCE * least, ROWS_GOAL
        exact = PrecisePath(problem)
        K = exact.centred_matrix(path.in_point_units(start.X))
        here = exact.at(K, DoubleDouble(start.weights), compliance)
        history: list[Record] = []
        story = ["the last steps were in double-doubles"]
        while len(history) < min(max_iter, MAX_STEPS):
            compliance = np.maximum(exact.next_compliance(here, compliance, wanted), least)
            following = exact.step(here, compliance)
            if following is None:
                story.append("rounding ended the steps")
                break
            here = following
            history.append(_record(exact, here, len(history), perf_counter() - begin))
            if callback is not None and callback(history[-1]):
                story.append(STOPPED_BY_CALLBACK)
                break
            if _is_done(
                exact, here, wanted, FINAL_GAP_SHARE * tol, bool(np.all(compliance <= least))
            ):
                break
        factor = exact.points(here, wanted)
    return UnfoldingSolution(
        factor=factor,
        weights=here.weights.high,
        history=tuple(history),
        solver="elastic",
        status="converged" if here.off <= wanted else "stopped",
        story=tuple(story),
    )


def _is_done(
    path: PrecisePath, here: PrecisePoint, wanted: float, gap: float, stiffest: bool
) -> bool:
    """Whether the point is optimal for the given lengths, or its weights prove that none exist."""
    if contradiction_share(path.problem, here.weights.high) > ROUNDED_LENGTHS_TOLERANCE:
        return True
    # At the least compliance lengths get no better: there the gap alone decides.
    return here.gap < gap and (
        here.off <= wanted or (stiffest and here.off_elastic < 0.1 * here.off)
    )


def _record(path: PrecisePath, here: PrecisePoint, number: int, seconds: float) -> Record:
    lower = (here.K * path.C).total()
    upper = lower + max(0.0, here.gap * lower)
    return Record(number, lower, upper, relative_gap(lower, upper), seconds)
