"""Points strictly inside their edges, and one Newton step towards the centre.

    maximise  ½ Σ m_i ‖y_i‖² + ½ μ Σ_e log s_e,   s_e = d_e² − ‖y_i − y_j‖² > 0

is what the unfolding problem becomes with a logarithmic barrier and K = YYᵀ. Where its
gradient vanishes the weights w_e = μ/s_e satisfy L(w)Y = diag(m)Y, and if λ₂(L(w)) ≥ 1
they are feasible for the dual with the value

    Σ w d² = Σ w s + Σ w ‖y_e‖² = mμ + tr K :

the gap is mμ, no weight is 0 (so no part of the graph falls off), and Y need have no
more columns than K has rank. The steps are primal–dual: w is kept beside Y and only
tends to μ/s, so that steps stay long when μ shrinks.

Moving the points Y (n×r) by Δ changes the barrier function to second order by ½⟨Δ, HΔ⟩ with

    H = (L(w) − (1 − σ)·diag(m)) ⊗ I_r + Σ_e c_e (b_e b_eᵀ) ⊗ (y_e y_eᵀ)

b_e = e_i − e_j, y_e = y_i − y_j: the stiffness matrix of a net of springs that also pull
when rotated. It is made of r×r blocks where the graph has edges, so one ordering of the graph
serves every r. Where elimination costs too much, conjugate gradients solve with H (`springs.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.trace.sparse.factorisation import (
    Factorisation,
    Ordering,
    factorise,
    fill_reducing_ordering,
)
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solvers.springs import SpringMatrix, SpringNet

# The shift σ (in units of S = L(w) − diag(m), whose wanted eigenvalues are of size 1) starts
# here. Rotations of all points are free, so without it H is singular; the step is then
# right to a relative σ along the softest directions.
MIN_SHIFT = 1e-7
# Where H is indefinite the missing part is 1 − λ₂(L(w)) at most: mostly between these.
FIRST_SHIFT = 0.03
MAX_SHIFT = 1e6
# A step leaves these shares of every slack and every weight. Slacks fall with μ, which may shrink
# to a tenth in one step; weights have no reason to fall so fast.
MIN_SLACK_RATIO = 0.005
MIN_WEIGHT_RATIO = 0.05
# w may differ from μ/s by this factor: enough to profit from it, not enough to stray.
MAX_WEIGHT_RATIO = 1e3
ARMIJO_SHARE = 1e-4  # Armijo's constant of sufficient decrease
# Steps are tried shorter by this ratio, down to 1e-12.
STEP_SHRINK_RATIO = 0.75
MAX_STEP_ATTEMPTS = 100
BARRIER_ROUNDING = 1e-14  # of the barrier function's value, relative
# Conjugate gradients take about this many steps for one step of Newton down to EARLY_GAP, and as
# its cube root more beyond. They take the place of elimination where that costs more, for as many
# columns as images need. Elimination never gives way to them again, because it leaves large shifts
# behind where columns begin to grow (docs/dev/notes/unfolding-images.md).
N_EXPECTED_GRADIENT_STEPS = 400
EARLY_GAP = 1e-3
N_EXPECTED_COLUMNS = 6
# The residual that they leave, relative, as a share of the gap mμ/tr K, and at most.
RESIDUAL_GAP_SHARE = 1.0
MAX_RESIDUAL = 1e-2


@dataclass(frozen=True, eq=False)
class NewtonEquations:
    """Solution with H, the centred solution for a first force, and the σ that H has."""

    solve: Callable[[Array], Array]
    first: Array
    shift: float


@dataclass(frozen=True, eq=False)
class Net:
    """Where the blocks of H are, for points tied by the edges of one problem."""

    problem: UnfoldingProblem
    ordering: Ordering  # of the graph itself: one row a point

    @classmethod
    def of(cls, problem: UnfoldingProblem, *, most_flops: float | None = None) -> Net:
        pattern = problem.laplacian(np.ones(problem.m))
        return cls(problem, fill_reducing_ordering(pattern, most_flops=most_flops))

    @cached_property
    def ends(self) -> sp.csr_array:
        """n×m of ones: sums what edges carry into their two ends."""
        i, j = self.problem.edges.T
        both = np.tile(np.arange(self.problem.m), 2)
        shape = (self.problem.n, self.problem.m)
        return sp.csr_array((np.ones(len(both)), (np.concatenate([i, j]), both)), shape=shape)

    @cached_property
    def springs(self) -> SpringNet:
        return SpringNet(self.problem)

    def eliminates(self, gap: float) -> bool:
        """Whether H is factorised at this gap; else conjugate gradients solve with it."""
        r = N_EXPECTED_COLUMNS
        return self.ordering.flops * r**3 <= self._gradient_flops(r, gap)

    def step_flops(self, r: int, gap: float) -> float:
        """Multiply-adds of a step of Newton with r columns."""
        if self.eliminates(gap):
            return float(self.ordering.flops) * r**3
        return self._gradient_flops(r, gap)

    def _gradient_flops(self, r: int, gap: float) -> float:
        steps = N_EXPECTED_GRADIENT_STEPS * max(1.0, EARLY_GAP / gap) ** (1 / 3)
        return steps * self.springs.step_flops(r)

    def equations(self, here: BarrierPoint, edge_vectors: Array, force: Array) -> NewtonEquations:
        """Newton's equations at a point, with σ raised until H is positive beside translations.

        edge_vectors : y_e of the point
        force : a right-hand side, n×r, whose rows add up to 0
        """
        problem = self.problem
        springs = (here.weights, 2 * here.weights / here.slack, edge_vectors)
        gap = problem.m * here.mu / max(problem.value(here.points), np.finfo(float).tiny)
        if self.eliminates(gap):
            factor, shift = self.factorisation(*springs, here.shift)

            def solve(right: Array) -> Array:
                return problem.centred_points(factor.solve(right.ravel()).reshape(right.shape))

            return NewtonEquations(solve, solve(force), shift)
        tol = min(MAX_RESIDUAL, RESIDUAL_GAP_SHARE * gap)
        matrix = SpringMatrix.of(self.springs, *springs, here.shift)
        while True:
            first, positive = matrix.solution(force, tol)
            if positive or matrix.shift > MAX_SHIFT:
                break
            matrix = matrix.with_shift(_higher_shift(matrix.shift))

        def gradients(right: Array) -> Array:
            return matrix.solution(right, tol)[0]

        return NewtonEquations(gradients, first, matrix.shift)

    def stiffness(
        self, weights: Array, bend: Array, edge_vectors: Array, shift: float
    ) -> sp.csr_array:
        """H for weights w, curvatures c (`bend`) and y_e (`edge_vectors`, m×r)."""
        n, r = self.problem.n, edge_vectors.shape[1]
        blocks = (bend[:, None] * edge_vectors)[:, :, None] * edge_vectors[:, None, :]
        unit = np.arange(r)
        blocks[:, unit, unit] += weights[:, None]
        diagonal = (self.ends @ blocks.reshape(-1, r * r)).reshape(n, r, r)
        diagonal[:, unit, unit] -= (1 - shift) * self.problem.mass[:, None]
        pattern = self.problem.pattern
        blocks *= -1
        entries = np.concatenate([blocks, blocks, diagonal])[pattern.data - 1]
        shape = (n * r, n * r)
        return sp.csr_array(sp.bsr_array((entries, pattern.indices, pattern.indptr), shape).tocsr())

    def factorisation(
        self, weights: Array, bend: Array, edge_vectors: Array, shift: float
    ) -> tuple[Factorisation, float]:
        """L D Lᵀ of H, with σ raised until H is positive beside the translations.

        On translations of all points H is −(1 − σ)·diag(m), so r pivots are negative
        while σ < 1; the pivots' signs prove whether there are more.
        """
        r = edge_vectors.shape[1]
        order = block_ordering(self.ordering, r)
        while True:
            factor = factorise(self.stiffness(weights, bend, edge_vectors, shift), order)
            expected = r if shift < 1 else 0
            if (factor.negative == expected and not factor.zero) or shift > MAX_SHIFT:
                return factor, shift
            shift = _higher_shift(shift)


def block_ordering(ordering: Ordering, r: int) -> Ordering:
    """Order of elimination when each row stands for a block of r rows."""
    if r == 1:
        return ordering
    inside = np.arange(r)
    sizes = np.diff(ordering.first).astype(np.int64) * r
    below = np.diff(ordering.row_start) * r
    panel_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes * (sizes + below))])

    def block_rows(rows: Array) -> Array:
        return np.ascontiguousarray((rows[:, None] * r + inside).ravel(), dtype=np.int32)

    return replace(
        ordering,
        permutation=block_rows(ordering.permutation),
        factor_entries=int(panel_start[-1] - np.sum(sizes * (sizes - 1) // 2)),
        flops=ordering.flops * r**3,
        longest_row=ordering.longest_row * r + r - 1,
        first=(ordering.first * r).astype(np.int32),
        row_start=ordering.row_start * r,
        rows=block_rows(ordering.rows),
        panel_start=panel_start,
    )


@dataclass(frozen=True, eq=False)
class BarrierPoint:
    """Centred points with all edges shorter than allowed, weights, and μ."""

    points: Array
    weights: Array
    slack: Array
    mu: float
    shift: float = MIN_SHIFT
    # −⟨gradient, Newton step⟩/(mμ) where the last step began: far below 1 when centred
    decrement: float = np.inf
    step: float = 0.0
    damped: float = 0.0  # the shift of the last step: large where the matrix was indefinite

    @classmethod
    def at(cls, problem: UnfoldingProblem, points: Array, mu: float) -> BarrierPoint:
        """The state of these points with w = μ/s."""
        Y = problem.centred_points(points)
        slack = problem.squared - problem.squared_lengths(Y)
        return cls(Y, mu / slack, slack, mu)


def newton_step(net: Net, here: BarrierPoint) -> BarrierPoint:
    """Step at the μ of `here`, along an arc; the barrier function gets no worse.

    A rotation of some points moves them on circles, and a straight step stretches the
    edges by its square. So the step has the second derivative of the path (L(w)Y − diag(m)Y and
    ws − μ fall together, in t) as well: Y + tΔ + t²Γ, which costs one more solve with the
    same matrix.
    """
    problem = net.problem
    mu, Y, w, s = here.mu, here.points, here.weights, here.slack
    i, j = problem.edges.T
    edge_vectors = Y[i] - Y[j]
    gradient = problem.laplacian(mu / s) @ Y - problem.mass[:, None] * Y
    equations = net.equations(here, edge_vectors, -gradient)
    move, shift = equations.first, equations.shift
    slope = float(np.sum(gradient * move))
    stretch = move[i] - move[j]
    along = _dots(edge_vectors, stretch)
    change = mu / s - w + 2 * (w / s) * along
    pull = (w * _dots(stretch, stretch) + 2 * change * along) / s
    bend = equations.solve(-(problem.laplacian(change) @ move + problem.laplacian(pull) @ Y))
    bent = bend[i] - bend[j]
    swerve = pull + 2 * (w / s) * _dots(edge_vectors, bent)

    length = 1.0
    now = _barrier(problem, Y, s, mu)
    for _ in range(MAX_STEP_ATTEMPTS):
        points = Y + length * move + length**2 * bend
        slack = problem.squared - problem.squared_lengths(points)
        if np.all(slack > MIN_SLACK_RATIO * s):
            allowed = now + ARMIJO_SHARE * length * slope + BARRIER_ROUNDING * abs(now)
            if _barrier(problem, points, slack, mu) <= allowed:
                break
        length *= STEP_SHRINK_RATIO
    else:
        points, slack, length = Y, s, 0.0
    weights = w + length * change + length**2 * swerve
    weights = np.maximum(weights, MIN_WEIGHT_RATIO * w)
    weights = np.clip(weights, mu / slack / MAX_WEIGHT_RATIO, mu / slack * MAX_WEIGHT_RATIO)
    decrement = -slope / (problem.m * mu)
    return BarrierPoint(
        points, weights, slack, mu, _next_shift(shift, length), decrement, length, shift
    )


def with_column(net: Net, here: BarrierPoint, direction: Array) -> BarrierPoint:
    """A new column along `direction`, of the best size, while the other columns shrink.

    K grows by τuuᵀ, which stretches edges that are taut already; to first order in τ the
    other columns move by τΓ so that the weights, and with them the balance, do not change.
    τ is where the barrier function is best on that curve.
    """
    problem = net.problem
    mu, Y, w, s = here.mu, here.points, here.weights, here.slack
    i, j = problem.edges.T
    edge_vectors = Y[i] - Y[j]
    u = problem.centred_points(direction[:, None])
    pull = w * problem.squared_lengths(u) / s
    give = net.equations(here, edge_vectors, -(problem.laplacian(pull) @ Y)).first
    # The new column can never have more than all of tr K.
    amount = problem.value(Y) / problem.value(u)
    best, least = None, _barrier(problem, Y, s, mu)
    for _ in range(MAX_STEP_ATTEMPTS):
        points = np.hstack([Y + amount * give, np.sqrt(amount) * u])
        slack = problem.squared - problem.squared_lengths(points)
        if np.all(slack > 0):
            reached = _barrier(problem, points, slack, mu)
            if reached < least:
                best, least = (points, slack), reached
            elif best is not None:
                break
        amount *= STEP_SHRINK_RATIO
    if best is None:
        return here
    points, slack = best
    weights = np.clip(w, mu / slack / MAX_WEIGHT_RATIO, mu / slack * MAX_WEIGHT_RATIO)
    return BarrierPoint(points, weights, slack, mu, shift=here.shift)


def _barrier(problem: UnfoldingProblem, points: Array, slack: Array, mu: float) -> float:
    """The function of the module docstring, negated: a step must lower it."""
    return -0.5 * problem.value(points) - 0.5 * mu * float(np.sum(np.log(slack)))


def _dots(A: Array, B: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", A, B))


def _higher_shift(shift: float) -> float:
    """More damping, for an H that is not positive."""
    shift = max(FIRST_SHIFT, 2 * shift)
    return 1.2 if 0.9 < shift < 1.1 else shift  # at 1 the translations have no sign


def _next_shift(shift: float, length: float) -> float:
    """Less damping after a good step, more after a short one."""
    if length > 0.7:
        return max(shift / 10, MIN_SHIFT)
    return shift * 2 if length < 0.1 else shift
