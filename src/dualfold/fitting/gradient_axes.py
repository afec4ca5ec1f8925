"""PCA's directions by gradient descent: settings of the estimator turned into a solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dualfold.arrays import Array
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Gradient, PaperGradient
from dualfold.weights.covariance import CentredScatter

DESCENTS = ("gradient", "gradient-paper")


@dataclass(frozen=True, eq=False)
class DescentSettings:
    """How to descend: PCA's parameters `gradient_start`, `gradient_step`, `gradient_rounds`."""

    name: str
    start: Any
    step: float | None
    rounds: int
    tol: float
    random_state: Any

    def solution(self, problem: TraceProblem, count: Any) -> Solution:
        """The directions in the order of their variances, guards behind them.

        The paper's polar factor is any basis of its subspace; turning it to its own
        principal axes changes neither the subspace nor a distance.
        """
        asked = replace(problem, count=max(int(count.wanted), 1))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        start = None if isinstance(self.start, str) else np.asarray(self.start)
        if self.name == "gradient":
            found = Gradient(tol=self.tol or 1e-7, seed=seed, start=start).solve(asked)
        else:
            found = PaperGradient(self.rounds, self.step, seed, start).attempt(asked)
        values, turn = np.linalg.eigh(asked.quadratic(found.vectors))
        vectors = np.hstack([found.vectors @ turn, found.guard])
        return replace(found, vectors=vectors, values=asked.sign * values)


def descent_settings(estimator: Any) -> DescentSettings:
    """Those of a PCA's parameters."""
    return DescentSettings(
        estimator.svd_solver,
        estimator.gradient_start,
        estimator.gradient_step,
        estimator.gradient_rounds,
        estimator.tol,
        estimator.random_state,
    )


def error_history(problem: TraceProblem, solution: Solution) -> Array:
    """A row a step: ‖XUUᵀ − X‖²/‖X‖², and how much of it could still be too much (a bound)."""
    known: Any = problem.A
    total = known.trace if isinstance(known, CentredScatter) else float(np.trace(known))
    total = total or 1.0
    history = np.zeros((0, 2)) if solution.history is None else solution.history
    excess = history[:, 1] * np.abs(history[:, 0]) / total
    return np.column_stack([1 + history[:, 0] / total, excess])
