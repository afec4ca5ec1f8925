"""Matrix–vector products only: the algorithm for when A cannot or should not be factored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import scipy.sparse as sp

from dualfold.errors import Argument, Message
from dualfold.trace.metric import Diagonal, Identity
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers.chebyshev import ChebyshevFilter
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Directions, Iteration, Progress, Through, iterate

# Below, the basis is as cheap as the products and a filter gains nothing.
SMALL = 2_000


@dataclass(frozen=True)
class Lanczos(Solver):
    """Thick-restart block Lanczos. Fast when the wanted end of the spectrum is spread.

    `tol` bounds ‖Av − θBv‖ relative to |θ|; the value of the trace is then right to
    about tol² of the eigengap.
    """

    tol: float = 1e-6
    most_products: int = 20_000
    memory: int = 32
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None

    def attempt(self, problem: TraceProblem) -> Solution:
        settings = Iteration(
            name="Lanczos",
            tol=self.tol,
            most_products=self.most_products,
            block=problem.count + 2,
            memory=max(self.memory, 6 * problem.count),
            seed=self.seed,
            watch=self.watch,
        )
        return iterate(problem, self._directions(problem), settings)

    def _directions(self, problem: TraceProblem) -> Directions:
        thin = isinstance(problem.metric, Identity | Diagonal)
        if sp.issparse(problem.A) and thin and problem.n > SMALL:
            return ChebyshevFilter.of(problem)
        return Through(problem.metric.solve)

    def remedy(self) -> Message:
        return Message(
            "the wanted eigenvalues lie close together: use Factored() or Preconditioned() "
            "when A is sparse, Dense() when n is small, or raise ",
            Argument("most_products"),
        )
