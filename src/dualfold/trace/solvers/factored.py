"""Shift-invert: a sparse LDLᵀ of A − σB and a few solves with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dualfold.trace.factorisation import Factorisation, factorise
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers.shift import gershgorin, shift_below
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Progress, iterate


@dataclass(frozen=True)
class Factored(Solver):
    """The road for graphs with small separators (manifolds of low dimension).

    A − σB is factored once with σ just below the spectrum; its inverse turns the
    tightest cluster at the wanted end into a well-spread one.
    """

    tol: float = 1e-6
    most_products: int = 2_000
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None

    def attempt(self, problem: TraceProblem) -> Solution:
        return iterate(
            problem,
            inverse_below(problem).solve,
            name="Factored",
            tol=self.tol,
            most_products=self.most_products,
            seed=self.seed,
            watch=self.watch,
        )


def inverse_below(problem: TraceProblem) -> Factorisation:
    """LDLᵀ of sign·A − σB with every eigenvalue positive, σ as high as is easily found."""
    ordering = problem.ordering
    shift = shift_below(problem)
    sure, size = gershgorin(problem)
    step = 1e-3 * max(size, abs(shift))
    for _ in range(40):
        factor = factorise(problem.shifted(shift), ordering)
        if factor.negative + factor.zero == 0:
            return factor
        # An eigenvalue hides below the guess: step down, doubling, to the sure bound.
        shift = max(sure - 1e-9 * size, shift - step)
        step *= 2
    return factor
