"""A Krylov space of (A − σB)⁻¹ that grows, where the number of directions is not known beforehand.

It begins with a single vector, and every new one is made orthogonal to all before it: a third of
the products that `Factored` takes (docs/dev/notes/trace-solvers.md). But a single vector finds one
copy of a repeated eigenvalue, where blocks find as many as they are wide: a certificate notices
this, since its count of eigenvalues is larger.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels.threads import one_blas_thread
from dualfold.trace.equivalent_problems import rescaled_problem
from dualfold.trace.metric import Diagonal, Identity
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.factored import gershgorin, inverse_below

# Directions beyond the wanted ones that are returned: a certificate counts in the gap behind them.
GUARD_VECTORS = 3
# The largest dimension of the space: for each direction wanted, and in addition.
MAX_A_DIRECTION = 6
MAX_BESIDE = 60
# Products between two evaluations of the Ritz values.
CHECKPOINT_PRODUCTS = 4
# The residuals of the inverse are this much smaller than those of A that are wanted (on rolls and
# images that is enough); where it is not enough, the space grows on.
INVERSE_TOLERANCE_RATIO = 0.1


class KrylovSpace:
    """Answers to a problem for one count after another; each goes on from the last.

    tol : of the residuals, as in every solver
    """

    def __init__(self, problem: TraceProblem, tol: float, seed: int = 0) -> None:
        scaled, self._power = rescaled_problem(problem)
        self._problem, self._tol = scaled, tol
        metric = scaled.metric
        entries = metric.entries if isinstance(metric, Diagonal) else np.ones(problem.n)
        self._root = np.sqrt(entries)[:, None]
        self._outside = self._root * scaled.excluded_basis
        self._inverse = inverse_below(scaled)
        self._size = gershgorin(scaled)[1]
        self._basis = np.empty((problem.n, 0), order="F")
        self._form = np.zeros((0, 0))  # of the inverse, in the basis
        self._next = self._off(np.random.default_rng(seed).standard_normal((problem.n, 1)))
        self._steps = 0

    @staticmethod
    def fits(problem: TraceProblem) -> bool:
        """Whether A is a sparse matrix and B a diagonal one."""
        return sp.issparse(problem.A) and isinstance(problem.metric, Identity | Diagonal)

    def first(self, count: int) -> Solution | None:
        """The first `count` directions and some guards; None where the space lacks them."""
        most = min(MAX_A_DIRECTION * count + MAX_BESIDE, self._problem.n // 2)
        with one_blas_thread():
            while self._steps < most:
                if not all(self._grow(most) for _ in range(CHECKPOINT_PRODUCTS)):
                    return None
                values, turns = scipy.linalg.eigh(self._form[: self._steps, : self._steps])
                values, turns = values[::-1], turns[:, ::-1]
                left = float(np.linalg.norm(self._next)) * np.abs(turns[-1, :count])
                if (
                    self._steps <= count
                    or (left > INVERSE_TOLERANCE_RATIO * self._tol * values[:count]).any()
                ):
                    continue
                answer = self._answer(count, turns)
                if answer is not None:
                    return answer
        return None

    def _grow(self, most: int) -> bool:
        """Grow the space by a product; False where there is nothing new."""
        k, length = self._steps, float(np.linalg.norm(self._next))
        if not length > 0:
            return False
        if k == self._basis.shape[1]:
            wider = np.empty((self._problem.n, most + CHECKPOINT_PRODUCTS), order="F")
            wider[:, :k] = self._basis
            form = np.zeros((most + CHECKPOINT_PRODUCTS, most + CHECKPOINT_PRODUCTS))
            form[:k, :k] = self._form
            self._basis, self._form = wider, form
        self._basis[:, k] = self._next[:, 0] / length
        self._steps = k + 1
        image = self._root * self._inverse(self._root * self._basis[:, k : k + 1])
        before = self._basis[:, : k + 1]
        shares = np.zeros((k + 1, 1))
        for _ in range(2):  # the second pass removes what rounding left of the first
            share = before.T @ image
            image = self._off(image - before @ share)
            shares += share
        self._form[: k + 1, k] = self._form[k, : k + 1] = shares[:, 0]
        self._next = image
        return True

    def _off(self, W: Array) -> Array:
        return W - self._outside @ (self._outside.T @ W) if self._outside.shape[1] else W

    def _answer(self, count: int, turns: Array) -> Solution | None:
        """Rayleigh and Ritz by A itself, if residuals by A itself are small enough."""
        problem = self._problem
        shown = min(count + GUARD_VECTORS, self._steps)
        X = (self._basis[:, : self._steps] @ turns[:, :shown]) / self._root
        AX = problem.descent(X)
        values, turn = scipy.linalg.eigh((X.T @ AX + AX.T @ X) / 2)
        X, AX = X @ turn, AX @ turn
        residual = (AX - self._root**2 * X * values) / self._root
        target = self._tol * np.abs(values) + 64 * np.finfo(float).eps * self._size
        if (np.linalg.norm(residual, axis=0) > target)[:count].any():
            return None
        values = np.ldexp(problem.sign * values[:count], self._power)
        V, guard = with_signs(X[:, :count]), X[:, count:]
        return Solution(V, values, guard, "Krylov", "converged", self._steps)
