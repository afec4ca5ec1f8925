"""Shift-invert: a sparse LDLᵀ of A − σB and a few solves with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dualfold.arrays import Array
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers.shift import gershgorin, margin_of, shift_below
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Iteration, Progress, Through, iterate
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.sparse.shifted_matrices import shifted

# Directions that travel along. For MᵀM a certificate may need a floor further up than the
# first gap, and good directions below it; solves take eight columns for the price of a few.
GRAMIAN_GUARDS = 4
# Residuals of a Krylov space span no more than its block: 20 eigenvectors need no block of 21. For
# a roll of 1:10 they take 182 products so, and 109 from 6 known ones with 8 that travel (solves
# take eight columns together). A repeated eigenvalue needs as many directions as it has twins,
# hence not without a start, which is an answer in which few are missing.
TRAVEL = 8


@dataclass(frozen=True)
class Factored(Solver):
    """The solver for graphs with small separators (manifolds of low dimension).

    A − σB is factored once with σ just below the spectrum; its inverse turns the
    tightest cluster at the wanted end into a well-spread one. `start` are directions of an
    earlier solve; with them `TRAVEL` directions take steps in a round instead of all.
    """

    tol: float = 1e-6
    most_products: int = 2_000
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None
    start: Array | None = field(default=None, compare=False, repr=False)

    def attempt(self, problem: TraceProblem) -> Solution:
        settings = Iteration(
            name="Factored",
            tol=self.tol,
            most_products=self.most_products,
            block=problem.count + (GRAMIAN_GUARDS if isinstance(problem.A, Gramian) else 1),
            seed=self.seed,
            watch=self.watch,
            travel=None if self.start is None else TRAVEL,
            start=self.start,
        )
        return iterate(problem, Through(inverse_below(problem)), settings)


def inverse_below(problem: TraceProblem) -> Callable[[Array], Array]:
    """(sign·A − σB)⁻¹ with σ below the spectrum, as high as is easily found.

    The signs of the pivots tell whether σ is below; if not, it steps down.
    """
    shift = shift_below(problem)
    sure, size = gershgorin(problem)
    step = 1e-3 * max(size, abs(shift))
    pencil = shifted(problem)
    expected = pencil.auxiliary if problem.sense == "min" else 0
    for _ in range(60):  # doubling steps: enough to cross any spectrum of doubles
        factor = factorise(pencil.at(shift), pencil.ordering)
        if factor.negative == expected and not factor.zero:
            break
        shift, step = max(sure - margin_of(problem) * size, shift - step), 2 * step
    return lambda R: pencil.solved_by(factor, shift, R)
