"""The objective of attraction and repulsion at given points, with what is proved of its errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import Threads, thread_count
from dualfold.methods.points.problem import AttractionProblem


@dataclass(frozen=True, eq=False)
class Objective:
    """F and ∇F at some points.

    value, plain_value : F, and F with the attraction 1
    error : how far both can be from it, by rounding and by sums that are not exact; None where no
        bound is proved for these forces
    gradient : ∇F, n × d; its norm is right to `gradient_error` (None, too)
    pull, push : norms of the attractive and of the repulsive part of the gradient
    exact : whether all pairs were summed
    """

    value: float
    plain_value: float
    error: float | None
    gradient: Array
    gradient_error: float | None
    pull: float
    push: float
    exact: bool

    @property
    def slope(self) -> float:
        """‖∇F‖."""
        return norm(self.gradient)

    @property
    def unbalanced_share(self) -> float:
        """‖∇F‖ over the norms of attraction and repulsion, from 0 to 1.

        It is an upper bound where an error of the gradient is proved. It is 0 where all points lie
        in one place, and 1 where rounding hides the forces.
        """
        forces, unbalanced = self.pull + self.push, self.slope + (self.gradient_error or 0.0)
        return unbalanced / forces if unbalanced < forces else float(unbalanced > 0)


def unproved_objective(problem: AttractionProblem, Y: Array, n_jobs: int | None) -> Objective:
    """The objective of forces whose rounding nobody has bounded: all pairs, in doubles."""
    (n, width), forces = Y.shape, problem.forces
    attraction, pull, costs = (
        forces.attraction(problem.P, width, True),
        np.zeros_like(Y),
        np.zeros(n),
    )
    repulsion = forces.repulsion(n, width, True, 0.0)
    rows = attraction.order(Y)
    placed = np.ascontiguousarray(Y[rows])
    threads = thread_count(n_jobs)
    pool = Threads(threads)
    tasks = attraction.tasks(placed, pull, threads) + attraction.costs(placed, costs, threads)
    pool.map(lambda task: task(), [*tasks, *repulsion.before(placed)])
    Z = repulsion.after(placed, pool, threads)
    gradient = np.empty_like(Y)
    gradient[rows] = 4 * (problem.attraction * pull - repulsion.push / Z)
    cost = float(costs.sum())
    return Objective(
        value=forces.value(problem, problem.attraction, cost, Z),
        plain_value=forces.value(problem, 1.0, cost, Z),
        error=None,
        gradient=gradient,
        gradient_error=None,
        pull=4 * problem.attraction * norm(pull),
        push=4 * norm(repulsion.push) / abs(Z),
        exact=True,
    )


def norm(array: Any) -> float:
    """‖array‖ where squares may underflow or overflow."""
    largest = float(np.abs(array).max(initial=0.0))
    return largest * float(np.linalg.norm(array / largest)) if largest > 0 else 0.0
