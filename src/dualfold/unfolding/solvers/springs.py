"""Points held by stiff springs: Newton steps on points and weights together.

    L(w)Y = MY      ‖y_i − y_j‖² = d_ij² + t_ij w_ij

are the conditions of `elastic_path` with K = YYᵀ. Whatever t is, such Y and w are both sides of
the problem whose lengths are those that Y has, and with λ₂(L(w)) ≥ 1 they prove each other.
Newton's matrix keeps w beside Y,

    [ (L(w) − M + σ) ⊗ I   Jᵀ  ]
    [         J           −t/2 ],      J the derivative of the lengths,

because with w eliminated 1/t = 10¹⁵ would bury L(w). Where λ₂ < 1 its eigenvector becomes a new
column and σ lifts the matrix above the saddle: the column grows by a factor a step until its
edges push back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dualfold.arrays import Array
from dualfold.trace.factorisation import Ordering, fill_reducing_ordering
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solvers.connectivity import bottom

STEPS = 25
# Balance and lengths to which a level is solved: ‖L(w)Y − MY‖/‖MY‖, and the share of tw/d².
BALANCED, FITTED = 1e-7, 0.1
# λ₂ may stay below 1 by this; far from balance nothing is read from it.
SHORT, READABLE = 1e-7, 0.1
# After so many steps that did not settle it, an eigenvalue this little above 1 is one whose column
# is missing: steps without it only turn Y towards it.
REST, NEARLY = 6, 1e-5
LEAST_SHIFT, MOST_SHIFT = 1e-6, 10.0
STIFFER, TRIES = 30.0, 5  # σ grows where a step did harm
LONGEST = 0.3  # of ‖Y‖, what a step may move
# A new column's share of tr K; a direction of which Y has less than this (of its length) is new.
NEW_SHARE, NEW = 1e-6, 0.5
BEGINNING, NOTHING = 1e-8, 1e-12  # shares of the largest: columns that are only beginning; none
LOOK_BEYOND, RANDOM = 4, 3  # eigenvectors looked at beside the columns of Y, and random starts


@dataclass(frozen=True, eq=False)
class Springs:
    """Points, weights and the bottom of L(w), for compliances t.

    balance, misfit : how far the two conditions fail, relatively
    """

    points: Array
    weights: Array
    values: Array
    vectors: Array
    balance: float
    misfit: float

    @property
    def settled(self) -> bool:
        """Whether points and weights are both sides of one problem."""
        fits = self.balance < BALANCED and self.misfit < FITTED
        return bool(fits and self.values[0] > 1 - SHORT)


class SpringNet:
    """One problem, its ordering, and the eigenvectors seen last."""

    def __init__(self, problem: UnfoldingProblem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.ordering: Ordering = fill_reducing_ordering(problem.laplacian(np.ones(problem.m)))
        self.last: Array | None = None

    def at(self, points: Array, weights: Array, compliance: Array) -> Springs:
        """Where points and weights stand."""
        balance, misfit = self._misses(points, weights, compliance)
        values, vectors = self._look(points, weights)
        return Springs(points, weights, values, vectors, balance * BALANCED, misfit * FITTED)

    def settle(self, here: Springs, compliance: Array) -> tuple[Springs, int]:
        """Newton steps to the balance of other compliances, and their number."""
        here = self.at(_in_use(here.points), here.weights, compliance)
        for step in range(STEPS):
            if here.settled or not np.isfinite(here.balance) or here.balance > 1 / BALANCED:
                return here, step
            here = self._step(here, compliance, NEARLY if step % REST == REST - 1 else -SHORT)
            if step % REST == REST // 2:
                here = replace(here, points=_in_use(here.points))
        return here, STEPS

    def _step(self, here: Springs, compliance: Array, low: float) -> Springs:
        """One Newton step; directions with λ < 1 + low become columns."""
        p, Y, w, shift = self.problem, here.points, here.weights, LEAST_SHIFT
        if here.values[0] < 1 - SHORT:
            shift = min(2 * (1 - float(here.values[0])), MOST_SHIFT)
        if here.balance < READABLE:
            Y = self._with_columns(here, here.values < 1 + low)
        worth = self._misses(Y, w, compliance)
        for _ in range(TRIES):
            force, miss = self._residuals(Y, w, compliance)
            move, change = self._solver(Y, w, compliance, shift)(-force, -miss / 2)
            far = float(np.linalg.norm(move)) / float(np.linalg.norm(Y))
            length = min(1.0, LONGEST / max(far, 1e-300))
            points, weights = p.centred(Y + length * move), w + length * change
            if sum(self._misses(points, weights, compliance)) < 2 * sum(worth):
                break
            shift *= STIFFER
        return self.at(points, weights, compliance)

    def _misses(self, Y: Array, w: Array, compliance: Array) -> tuple[float, float]:
        """How far balance and lengths are off, in units of what is good enough."""
        p = self.problem
        force, miss = self._residuals(Y, w, compliance)
        most = max(float(np.max(np.abs(compliance * w) / p.squared)), 1e-14)
        balance = float(np.linalg.norm(force) / np.linalg.norm(p.mass[:, None] * Y))
        return balance / BALANCED, float(np.max(np.abs(miss) / p.squared)) / most / FITTED

    def _residuals(self, Y: Array, w: Array, compliance: Array) -> tuple[Array, Array]:
        p = self.problem
        force = p.laplacian(w) @ Y - p.mass[:, None] * Y
        return force, p.squared_lengths(Y) - p.squared - compliance * w

    def _look(self, points: Array, weights: Array) -> tuple[Array, Array]:
        n = self.problem.n
        count = min(points.shape[1] + LOOK_BEYOND, n - 1)
        known = points if self.last is None else np.hstack([points, self.last])
        fresh = self.rng.standard_normal((n, max(0, count + RANDOM - known.shape[1])))
        start = np.hstack([known[:, : count + RANDOM], fresh])
        values, self.last = bottom(self.problem, weights, self.ordering, start, count)
        return values, self.last

    def _with_columns(self, here: Springs, low: Array) -> Array:
        """Y and a small column for each low direction that it does not have."""
        Y = here.points
        if not low.any():
            return Y
        U, sizes, _ = np.linalg.svd(Y, full_matrices=False)
        U = U[:, sizes**2 > BEGINNING * sizes[0] ** 2]
        grown = float(np.sqrt(NEW_SHARE * np.sum(Y**2)))
        for u in here.vectors[:, low].T:
            u = u / np.linalg.norm(u)
            rest = u - U @ (U.T @ u)
            size = float(np.linalg.norm(rest))
            if size > NEW and Y.shape[1] < self.problem.n - 1:
                Y = np.hstack([Y, grown * rest[:, None] / size])
        return Y

    def _solver(
        self, Y: Array, w: Array, compliance: Array, shift: float
    ) -> Callable[[Array, Array], tuple[Array, Array]]:
        """Solves with Newton's matrix, off the rotations of all points."""
        p, (n, r) = self.problem, Y.shape
        S = p.laplacian(w) - sp.diags_array((1 - shift) * p.mass)
        H = sp.kron(S, sp.eye_array(r), format="csr")
        J = _derivative(p, Y)
        A = sp.block_array([[H, J.T], [J, sp.diags_array(-compliance / 2)]], format="csc")
        own = 1 / np.sqrt(np.abs(H.diagonal()) + 1)
        rows = np.sqrt((J.power(2) @ own**2).clip(1e-300))
        scale = np.concatenate([own, 1 / rows])
        D = sp.diags_array(scale)
        lu = splu(sp.csc_array(D @ A @ D))
        turns = _rotations(Y)

        def solve(force: Array, miss: Array) -> tuple[Array, Array]:
            f = force.ravel()
            rhs = np.concatenate([f - turns @ (turns.T @ f), miss])
            x = scale * lu.solve(scale * rhs)
            for _ in range(2):
                x = x + scale * lu.solve(scale * (rhs - A @ x))
            y = x[: n * r]
            return p.centred((y - turns @ (turns.T @ y)).reshape(n, r)), x[n * r :]

        return solve


def _derivative(problem: UnfoldingProblem, Y: Array) -> sp.csr_array:
    """J, half the derivative of the squared lengths (edges × n·r)."""
    r = Y.shape[1]
    apart = Y[problem.edges[:, 0]] - Y[problem.edges[:, 1]]
    columns = problem.edges[:, :, None] * r + np.arange(r)
    entries = np.stack([apart, -apart], axis=1)
    starts = np.arange(0, 2 * r * problem.m + 1, 2 * r)
    shape = (problem.m, problem.n * r)
    return sp.csr_array((entries.ravel(), columns.ravel(), starts), shape=shape)


def _rotations(Y: Array) -> Array:
    """An orthonormal basis of the moves YA, A skew: they change no length."""
    n, r = Y.shape
    turns = []
    for a, b in zip(*np.tril_indices(r, -1), strict=True):
        turn = np.zeros((n, r))
        turn[:, a], turn[:, b] = Y[:, b], -Y[:, a]
        turns.append(turn.ravel())
    return np.linalg.qr(np.array(turns).T)[0] if turns else np.zeros((n * r, 0))


def _in_use(points: Array) -> Array:
    """The same K in as few columns as it has, sorted by size."""
    U, sizes, _ = np.linalg.svd(points, full_matrices=False)
    used = sizes**2 > NOTHING * sizes[0] ** 2
    return np.asarray(U[:, used] * sizes[used])
