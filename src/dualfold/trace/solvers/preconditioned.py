"""Residuals sent through a rough inverse: algebraic multigrid or an incomplete LU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from dualfold.arrays import Array
from dualfold.errors import MissingDependency
from dualfold.kernels.threads import ForkedLock
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers.factored import shift_below
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Iteration, Progress, Through, iterate
from dualfold.trace.sparse.shifted_matrices import shifted_matrices

_seeded = ForkedLock()  # held by the thread whose seed NumPy's global generator has


@dataclass(frozen=True)
class Preconditioned(Solver):
    """Iteration with an approximate inverse, between `Factored` and `Lanczos`.

    It is for sparse matrices that are too dense to factorise and converge too slowly without help.

    Parameters
    ----------
    tol : float, default=1e-6
        Largest ‖Av − θBv‖, relative to θ; the trace is then right to about tol² of the eigengap.
    most_products : int, default=5000
        Largest number of products with A.
    inverse : {"auto", "multigrid", "incomplete"}, default="auto"
        Approximate inverse: algebraic multigrid, or an incomplete LU. "auto" takes multigrid if
        pyamg is installed (`pip install 'dualfold[amg]'`).
    seed : int, default=0
        Seed of the random start.
    watch : callable or None, default=None
        Called with a `Progress` in every iteration; it stops the iteration by returning True.

    See Also
    --------
    Auto : Chooses a solver.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import Preconditioned
    >>> A = sp.diags_array(np.arange(1.0, 31.0), format="csr")
    >>> solution = Preconditioned(inverse="incomplete").solve(TraceProblem(A, count=1))
    >>> round(float(solution.values[0]), 6), solution.status
    (1.0, 'converged')
    """

    tol: float = 1e-6
    most_products: int = 5_000
    inverse: Literal["auto", "multigrid", "incomplete"] = "auto"
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None

    def attempt(self, problem: TraceProblem) -> Solution:
        settings = Iteration(
            name="Preconditioned",
            tol=self.tol,
            most_products=self.most_products,
            memory=max(30, 5 * problem.count),
            seed=self.seed,
            watch=self.watch,
        )
        return iterate(problem, Through(self._rough_inverse(problem)), settings)

    def _rough_inverse(self, problem: TraceProblem) -> Callable[[Array], Array]:
        shift = shift_below(problem)
        if isinstance(problem.A, Gramian):
            M = problem.A.factor
            matrix = sp.csr_array(problem.sign * (M.T @ M) - shift * problem.metric.sparse())
        else:
            matrix = shifted_matrices(problem).at(shift)
        if self.inverse == "multigrid" or (self.inverse == "auto" and find_spec("pyamg")):
            return _multigrid(matrix, self.seed)
        return _incomplete(matrix)


def _multigrid(matrix: sp.csr_array, seed: int) -> Callable[[Array], Array]:
    try:
        import pyamg
    except ImportError as error:
        raise MissingDependency(
            "the multigrid preconditioner needs pyamg: pip install 'dualfold[amg]', "
            "or use Preconditioned(inverse='incomplete')"
        ) from error
    # pyamg draws from NumPy's global generator: seed it, so that bits repeat, and restore the
    # caller's state. Two fits at the same time would draw from one another's seed.
    with _seeded:
        state = np.random.get_state()  # noqa: NPY002
        np.random.seed(seed)  # noqa: NPY002
        try:
            levels = pyamg.smoothed_aggregation_solver(
                sp.csr_matrix(matrix), symmetry="symmetric", max_coarse=200
            )
        finally:
            np.random.set_state(state)  # noqa: NPY002
    cycle = levels.aspreconditioner(cycle="V")
    return lambda R: np.column_stack([cycle.matvec(column) for column in R.T])


def _incomplete(matrix: sp.csr_array) -> Callable[[Array], Array]:
    # The loosest drop_tol and fill_factor that halve the products of plain Lanczos
    # (docs/dev/notes/trace-solvers.md).
    factor = scipy.sparse.linalg.spilu(
        sp.csc_matrix(matrix), drop_tol=1e-3, fill_factor=10, diag_pivot_thresh=0.0
    )
    return lambda R: np.asarray(factor.solve(np.ascontiguousarray(R)))
