"""LAPACK on the whole matrix: always right, O(n³)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.lapack import dsyevr, dsyevr_lwork
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array, Matrix
from dualfold.errors import TooLarge
from dualfold.kernels.reports import long_call, tally
from dualfold.trace.metric import DenseMetric, Diagonal, SparseMetric, not_positive
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.solver import Solver

# Of LAPACK's tridiagonalisation, on one core of 2.8 GHz.
DENSE_FLOPS_A_SECOND = 1e10


@dataclass(frozen=True)
class Dense(Solver):
    """Eigenvectors of the full matrix by LAPACK, only the wanted ones.

    The excluded directions are moved to the far end of the spectrum, so that they cannot be
    returned.

    Parameters
    ----------
    most_rows : int, default=20000
        Largest number of rows; more are refused.

    See Also
    --------
    Auto : Chooses a solver.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import Dense
    >>> solution = Dense().solve(TraceProblem(np.diag([1.0, 2.0, 4.0]), count=1))
    >>> round(float(solution.values[0]), 6), solution.status
    (1.0, 'converged')
    """

    most_rows: int = 20_000  # 3.2 GB; beyond, an iteration is faster anyway

    def attempt(self, problem: TraceProblem) -> Solution:
        n = problem.n
        if n > self.most_rows:
            raise TooLarge(
                f"the dense solver was given {n} rows; it takes up to {self.most_rows} "
                "(n² memory). Use Auto(), Lanczos() or Factored()"
            )
        tally("dense eigen-solves, rows³", n**3)
        A = problem.sign * _dense(problem.A)
        scales = None
        B = None
        if isinstance(problem.metric, Diagonal):
            scales = 1 / np.sqrt(problem.metric.entries)
            A *= scales
            A *= scales[:, None]
        elif isinstance(problem.metric, DenseMetric | SparseMetric):
            B = _dense(problem.metric.matrix)
        if problem.excluded_basis.shape[1]:
            N = problem.metric.times(problem.excluded_basis)
            N = N if scales is None else N * scales[:, None]
            far = 2 * np.abs(A).sum(axis=1).max() / (problem.metric.lowest if B is not None else 1)
            A += (far or 1.0) * (N @ N.T)  # 1 where A is 0
        last = min(problem.count, n - problem.excluded_basis.shape[1] - 1)  # one more, as the guard
        with long_call("LAPACK at work", 4 / 3 * n**3 / DENSE_FLOPS_A_SECOND):
            try:
                V = _first_eigenvectors(A, B, last + 1)
            except np.linalg.LinAlgError as error:
                if B is None:
                    raise
                raise not_positive() from error
        V = V if scales is None else V * scales[:, None]
        # Once more from A itself: lifting the excluded directions has rounded the values.
        V = problem.without_excluded(V)
        images = V.T @ problem.metric.times(V)
        values = np.diagonal(problem.quadratic(V)) / np.diagonal(images)
        return Solution(
            vectors=with_signs(V[:, : problem.count]),
            values=problem.sign * values[: problem.count],
            guard=V[:, problem.count :],
            solver="Dense",
            status="converged",
            products=n,
        )


def _first_eigenvectors(A: Array, B: Array | None, count: int) -> Array:
    """Eigenvectors of the smallest eigenvalues of A, or of (A, B), by LAPACK."""
    if B is not None:
        return scipy.linalg.eigh(A, B, subset_by_index=[0, count - 1], driver="gvx")[1]
    return eigenpairs(A, range="I", il=1, iu=count)[1]


def eigenpairs(A: Array, **wanted: object) -> tuple[Array, Array]:
    """All eigenvalues of a symmetric A, ascending, with their vectors, or those that are `wanted`.

    `scipy.linalg.eigh` gives the same bits, and takes five times as long on four rows.
    """
    work, whole_work, _ = dsyevr_lwork(len(A), lower=1)
    sizes = {"lwork": int(work), "liwork": int(whole_work)}
    given = np.asarray_chkfinite(A)
    values, V, found, _, failed = dsyevr(given, lower=1, **sizes, **wanted)
    if failed:
        raise np.linalg.LinAlgError(f"LAPACK's dsyevr failed: {failed}")
    return values[:found], V[:, :found]


def _dense(A: Matrix | LinearOperator) -> Array:
    """A copy of the entries of A."""
    if isinstance(A, np.ndarray):
        return np.array(A, dtype=float)
    if isinstance(A, Gramian):
        return A.square_entries.copy()
    return np.asarray(A.toarray() if sp.issparse(A) else A @ np.eye(A.shape[0]))
