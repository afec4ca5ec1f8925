"""Maximum variance unfolding by a primal–dual interior point, to eight digits and more.

Off the constant direction, with a_e = e_i − e_j (in coordinates √mass·y) and S = L(w) − I:

    maximise tr X    subject to  a_eᵀXa_e + s_e = d_e²,   X ≻ 0,  s > 0
    minimise Σ w d²  subject to  S = Σ w_e a_e a_eᵀ − I ≻ 0,      w > 0

w is scaled at the start so that S ≻ 0, and steps keep it so: the dual is feasible all
along and Σ w d² is an upper bound at every iteration. The direction is that of
Helmberg–Rendl–Vanderbei–Wolkowicz, Kojima and Monteiro with Mehrotra's corrector.
Constraints have rank one, so its Schur matrix is a Hadamard product,

    (a_eᵀXa_f)(a_eᵀS⁻¹a_f) + diag(s/w),

m²/2 products and one Cholesky factorisation of order m. For equal lengths both sides are
kept within ε, (1 ± ε)d², because without that there is no interior (a clique of more
points than dimensions fixes a singular block of X): w = w⁺ − w⁻ and s/w becomes
1/(w⁺/s⁺ + w⁻/s⁻).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from dualfold.arrays import Array
from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution, relative_gap
from dualfold.unfolding.solvers.semidefinite import (
    longest_step,
    lower_factor,
    mehrotra_ratio,
    schur_factor,
    step_shares,
)
from dualfold.unfolding.solvers.taut_edges import polished_sides

# Share of the way to the boundary that a step takes; up to MORE_BOUNDARY_SHARE is added the further
# the predictor got (as SDPT3 does).
BOUNDARY_SHARE = 0.9
MORE_BOUNDARY_SHARE = 0.09
# λ₂ of the first weights; anything from 1.1 to 2 does as well: docs/dev/notes/unfolding.md.
FIRST_EIGENVALUE = 1.2
# μ, for a unit mean squared length, from which on products are formed in the eigenbasis of X.
EIGENBASIS_MU = 1e-4
MAX_STALLED_STEPS = 4  # iterations without progress: what is left is rounding


@dataclass(frozen=True, eq=False)
class Sides:
    """Slacks and multipliers of the bounds: upper ones, and lower ones for "equal"."""

    upper: Array  # (1 + ε)d²
    lower: Array | None  # (1 − ε)d²
    slack: Array  # one row for each side
    weight: Array

    @property
    def limits(self) -> Array:
        return self.upper[None] if self.lower is None else np.stack([self.upper, self.lower])

    @property
    def signs(self) -> Array:
        return np.array([[1.0], [-1.0]])[: len(self.slack)]

    @property
    def net(self) -> Array:
        """The weights that the Laplacian is made of."""
        return np.asarray((self.signs * self.weight).sum(axis=0))


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A point of the path.

    X and S are orthogonal to u = √mass; both have a 1 along u added where they are factorised,
    which changes no edge.
    """

    X: Array
    sides: Sides
    S: Array


@dataclass(frozen=True, eq=False)
class PrimalDualPair:
    """X and S⁻¹, and products with them that keep the digits of small eigenvalues.

    Towards the end X has eigenvalues from 10⁴ to 10⁻¹⁰ and S⁻¹ from 10¹⁰ to 1, mixed in every
    entry: X·dS·S⁻¹ loses the small ones, and X leaves the cone after steps of a hundredth. In
    the eigenbasis of X rounding is relative to each entry.
    """

    X: Array
    inverse: Array
    values: Array | None = None
    basis: Array | None = None
    rotated_inverse: Array | None = None  # S⁻¹ in the eigenbasis of X

    @classmethod
    def of(cls, X: Array, inverse: Array, *, late: bool) -> PrimalDualPair:
        if not late:
            return cls(X, inverse)
        values, Q = np.linalg.eigh(X)
        return cls(X, inverse, values, Q, Q.T @ inverse @ Q)

    def product(self, left: Array | None, dS: sp.csr_array) -> Array:
        """The symmetric part of left·dS·S⁻¹ (None: X·dS·S⁻¹)."""
        if self.basis is None or self.values is None:
            P = (dS @ (self.X if left is None else left)).T @ self.inverse
            return np.asarray((P + P.T) / 2)
        Q = self.basis
        P = Q.T @ (dS @ Q) @ self.rotated_inverse
        P = self.values[:, None] * P if left is None else Q.T @ left @ Q @ P
        return np.asarray(Q @ ((P + P.T) / 2) @ Q.T)


class CentralPath:
    """The constants of one solve."""

    def __init__(self, problem: UnfoldingProblem, relaxation: float) -> None:
        self.problem = problem
        self.relaxation = relaxation if problem.constraints == "equal" else 0.0
        self.root = np.sqrt(problem.mass)
        self.u = self.root / np.linalg.norm(self.root)
        self.along = np.outer(self.u, self.u)
        self.centring = np.eye(problem.n) - self.along

    def without_u(self, A: Array) -> Array:
        """A without what rounding has added along u, which S⁻¹ would magnify."""
        Au = A @ self.u
        twice = Au - (self.u @ Au) / 2 * self.u
        return A - np.outer(twice, self.u) - np.outer(self.u, twice)

    def scaled_laplacian(self, weights: Array) -> sp.csr_array:
        """Σ w_e a_e a_eᵀ."""
        L = self.problem.laplacian(weights)
        if self.problem.masses is not None:
            L = sp.csr_array(L / self.root[:, None] / self.root)
        return L

    def edge_values(self, A: Array) -> Array:
        """a_eᵀAa_e of every edge."""
        i, j = self.problem.edges.T
        ends = np.diagonal(A) / self.problem.mass
        return np.asarray(ends[i] + ends[j] - 2 * A[i, j] / (self.root[i] * self.root[j]))

    def in_point_units(self, A: Array) -> Array:
        """A in the coordinates of the points instead of √mass times them."""
        return A if self.problem.masses is None else A / self.root[:, None] / self.root

    def first_weights(self) -> tuple[Array, Array, Array]:
        """Weights w with λ₂ = FIRST_EIGENVALUE, their S, and its inverse off u.

        w is like 1/d: half way between equal weights and equal parts of Σ w d².
        """
        even = 1.0 / np.sqrt(self.problem.squared)
        second = np.linalg.eigvalsh(self.scaled_laplacian(even).toarray())[1]
        w = FIRST_EIGENVALUE * even / second
        S = self.scaled_laplacian(w).toarray() - self.centring
        return w, S, np.linalg.inv(S + self.along) - self.along

    def inverse_off_u(self, factor: Array) -> Array:
        """S⁻¹ off u, from the Cholesky factor of S + uuᵀ."""
        inverse = lapack.dpotri(factor, lower=1)[0]
        return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T - self.along)

    def start(self) -> PathPoint:
        """X = μS⁻¹ and s = μ/w of the first weights: exactly on a central path.

        μ is the one that fits the lengths best.
        """
        p, equal = self.problem, self.problem.constraints == "equal"
        net, S, inverse = self.first_weights()
        weight = np.stack([2 * net, net]) if equal else net[None]
        mu = float(p.squared.sum() / (self.edge_values(inverse) + 1 / net).sum())
        upper = (1 + self.relaxation) * p.squared
        lower = (1 - self.relaxation) * p.squared if equal else None
        return PathPoint(mu * inverse, Sides(upper, lower, mu / weight, weight), S)

    def bounds(self, state: PathPoint) -> tuple[float, float]:
        """A feasible value, by scaling X into the constraints, and Σ w d²."""
        lengths, sides = self.edge_values(state.X), state.sides
        upper = float((sides.signs * sides.weight * sides.limits).sum())
        fit = float(np.min(sides.upper / lengths))
        # A hundredth beyond ε still counts as a value; the certificate measures it.
        near = (1 - 1.01 * self.relaxation) * self.problem.squared
        if sides.lower is not None and np.any(fit * lengths < near):
            return -np.inf, upper
        return fit * float(np.trace(state.X)), upper

    def merit(self, state: PathPoint, upper: float) -> float:
        """Rest of the products and of the constraints, relatively."""
        sides = state.sides
        missing = sides.signs * (sides.limits - self.edge_values(state.X)) - sides.slack
        products = np.sum(state.X * state.S) + np.sum(sides.slack * sides.weight)
        return float(products / max(abs(upper), 1e-300) + np.abs(missing).max())

    def step(self, state: PathPoint) -> PathPoint | None:
        """Predictor and corrector step; None when rounding has spoiled the matrices."""
        p, sides = self.problem, state.sides
        factor_S, factor_X = lower_factor(state.S + self.along), lower_factor(state.X + self.along)
        if factor_S is None or factor_X is None:
            return None
        inverse = self.inverse_off_u(factor_S)
        steepness = (sides.weight / sides.slack).sum(axis=0)
        solve = schur_factor(
            p.edges, self.in_point_units(state.X), self.in_point_units(inverse), 1 / steepness
        )
        if solve is None:
            return None
        products = float(np.sum(state.X * state.S) + np.sum(sides.slack * sides.weight))
        mu = products / (p.n - 1 + sides.slack.size)
        ends = (
            state,
            PrimalDualPair.of(state.X, inverse, late=mu < EIGENBASIS_MU),
            steepness,
            solve,
        )
        affine = self._direction(*ends, 0.0, None)
        reach = self._reach(state, factor_X, factor_S, affine, 1.0)
        moved = self._point_after(state, affine, *reach)
        after = float(np.sum(moved.X * moved.S) + np.sum(moved.sides.slack * moved.sides.weight))
        target = mehrotra_ratio(products, after, *reach) * mu
        direction = self._direction(*ends, target, affine)
        share = BOUNDARY_SHARE + MORE_BOUNDARY_SHARE * min(reach)
        return self._point_after(
            state, direction, *self._reach(state, factor_X, factor_S, direction, share)
        )

    def _direction(
        self,
        state: PathPoint,
        pair: PrimalDualPair,
        steepness: Array,
        solve: Any,
        mu: float,
        affine: Any,
    ) -> tuple[Array, Array, Array, Array]:
        """(dX, d slack, d weight, dS) towards XS = μI, sw = μ, less the affine products."""
        sides = state.sides
        lengths, ideal = self.edge_values(state.X), np.zeros_like(state.X)
        if mu:
            ideal = mu * pair.inverse
        products = mu - sides.slack * sides.weight
        if affine is not None:
            ideal = ideal - pair.product(affine[0], affine[3])
            products = products - affine[1] * affine[2]
        # slack = ±(limit − length): what is missing of it, and of the weights' own equation
        missing = sides.signs * (sides.limits - lengths) - sides.slack
        pull = ((products - sides.weight * missing) / sides.slack * sides.signs).sum(axis=0)
        change = solve(self.edge_values(ideal) - lengths + pull / steepness)
        dS = self.scaled_laplacian(change)
        dX = self.without_u(ideal - state.X - pair.product(None, dS))
        # The change of the lengths from that of the weights, not from dX: the weights must
        # follow `change` to the last digit or S leaves the cone.
        d_slack = missing - sides.signs * (change - pull) / steepness
        d_weight = (products - sides.weight * d_slack) / sides.slack
        return dX, d_slack, d_weight, dS

    def _reach(
        self, state: PathPoint, factor_X: Array, factor_S: Array, direction: Any, share: float
    ) -> tuple[float, float]:
        dX, d_slack, d_weight, dS = direction
        primal = min(longest_step(factor_X, dX), _ratio(state.sides.slack, d_slack))
        dual = min(longest_step(factor_S, dS), _ratio(state.sides.weight, d_weight))
        return step_shares(share, primal, dual)

    def _point_after(
        self, state: PathPoint, direction: Any, primal: float, dual: float
    ) -> PathPoint:
        dX, d_slack, d_weight, _ = direction
        sides = replace(
            state.sides,
            slack=state.sides.slack + primal * d_slack,
            weight=state.sides.weight + dual * d_weight,
        )
        # S from the weights themselves, so that rounding never parts the two.
        S = self.scaled_laplacian(sides.net).toarray() - self.centring
        return PathPoint(state.X + primal * dX, sides, S)

    def answer(self, state: PathPoint) -> tuple[Array, Array]:
        """Points of the smallest useful rank, and weights; polished where that helps."""
        p, weights = self.problem, state.sides.net
        values, vectors = np.linalg.eigh(state.X)
        values, vectors = values[::-1].clip(0.0), vectors[:, ::-1]
        columns = vectors * np.sqrt(values) / self.root[:, None]
        if p.constraints == "equal":
            # A tenth of ε is no loss; the smaller eigenvalues are rounding.
            rank = int(np.argmax(np.cumsum(values[::-1])[::-1] < 0.1 * self.relaxation * 1e-3))
            return p.centred_points(columns[:, : max(1, rank)]), weights
        squares = (columns[p.edges[:, 0]] - columns[p.edges[:, 1]]) ** 2
        lengths = np.cumsum(squares, axis=1)
        worth = np.min(p.squared[:, None] / lengths.clip(1e-300), axis=0) * np.cumsum(values)
        # A rank is enough when it loses less than a hundredth of the gap.
        upper = float(weights @ p.squared)
        enough = worth >= worth.max() - 0.01 * max(upper - worth.max(), 1e-12 * upper)
        rank = int(np.argmax(enough)) + 1
        taut = weights > p.squared - lengths[:, rank - 1]
        return polished_sides(p, p.centred_points(columns[:, :rank]), weights, taut)


def _ratio(values: Array, change: Array) -> float:
    """The longest step that keeps all values positive."""
    down = change < 0
    return float(np.min(-values[down] / change[down])) if down.any() else np.inf


def interior_point(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    relaxation: float = 1e-4,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Solve both sides of an unfolding problem by a primal–dual interior-point method.

    It is for up to about 9,000 edges: memory is one m×m matrix for m edges and some n×n matrices.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    tol : float, default=1e-8
        Relative gap between both sides at which it stops.
    max_iter : int, default=100
        Largest number of iterations.
    relaxation : float, default=1e-4
        The ε by which equal lengths may differ; "at_most" ignores it.
    callback : callable or None, default=None
        Called with a `Record` after each iteration; it stops the solver by returning True.

    Returns
    -------
    UnfoldingSolution
        Points, weights and history.

    See Also
    --------
    Unfolder : Chooses a solver.
    certify_unfolding : Certifies the solution.

    References
    ----------
    .. [1] C. Helmberg, F. Rendl, R. J. Vanderbei and H. Wolkowicz, "An interior-point method for
       semidefinite programming", SIAM Journal on Optimization, 6(2), 342–361, 1996.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem, interior_point
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> found = interior_point(chain)
    >>> [round(float(w), 6) for w in found.weights]
    [1.0, 1.0]
    """
    begin = perf_counter()
    # Unit mean squared length: the numbers below do not depend on the units of the data.
    unit = float(problem.squared.mean())
    work = CentralPath(replace(problem, squared=problem.squared / unit), relaxation)
    history: list[Record] = []
    least, least_merit, stalled, status = np.inf, np.inf, 0, "stopped"
    # One thread: a second one gains little and costs much on a busy machine (same note).
    with one_blas_thread():
        state = best = work.start()
        for iteration in range(max_iter + 1):
            lower, upper = work.bounds(state)
            gap, merit = relative_gap(lower, upper), work.merit(state, upper)
            seconds = perf_counter() - begin
            history.append(Record(iteration, unit * lower, unit * upper, gap, seconds))
            stalled = 0 if merit < 0.9 * least_merit else stalled + 1
            least_merit = min(merit, least_merit)
            if gap < least or not np.isfinite(least):
                best, least = state, gap
            status = "converged" if gap <= tol else "stopped"
            stop = callback is not None and callback(history[-1])
            if gap <= tol or stop or stalled > MAX_STALLED_STEPS or iteration == max_iter:
                break
            following = work.step(state)
            if following is None:
                break
            state = following
        factor, weights = work.answer(best)
    return UnfoldingSolution(
        factor=np.sqrt(unit) * factor,
        weights=weights,
        history=tuple(history),
        solver="interior point",
        status=status,  # type: ignore[arg-type]
    )
