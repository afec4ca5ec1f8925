"""Matrix–vector products only: the algorithm for when A cannot or should not be factored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.errors import Argument, Message, TooLarge
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import tally
from dualfold.kernels.threads import in_threads, thread_count
from dualfold.trace.metric import Diagonal, Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers.block_krylov import iterate_block_krylov
from dualfold.trace.solvers.factored import gershgorin
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Directions, Iteration, Progress, Through, iterate
from dualfold.trace.sparse.shifted_matrices import shifted_matrices

# Up to this many rows the basis is as cheap as the products, and a filter gains nothing.
MAX_UNFILTERED_ROWS = 2_000
_step = kernel("sparse_recurrence")
MAX_FILTER_COLUMNS = c_constant("WIDEST")  # that the kernel takes together
# Degree = DEGREE_FACTOR·√(damped interval / distance from the cut to the wanted end), and the
# cut at this share of the Ritz values: the best of 27 settings (docs/dev/notes/trace-solvers.md).
# Beyond MAX_DEGREE the Ritz values do not say exactly enough where to cut.
DEGREE_FACTOR = 2.0
MIN_DEGREE = 4
MAX_DEGREE = 60
# Directions that the narrow blocks of an operator are stored up to.
MIN_KRYLOV_MEMORY = 64
KRYLOV_MEMORY_A_DIRECTION = 3
CUT_SHARE = 0.4


@dataclass(frozen=True)
class Lanczos(Solver):
    """Thick-restart block Lanczos, which needs products with A alone.

    It is fast if the wanted end of the spectrum is well separated.

    Parameters
    ----------
    tol : float, default=1e-6
        Largest ‖Av − θBv‖, relative to θ; the trace is then right to about tol² of the eigengap.
    most_products : int, default=20000
        Largest number of products with A.
    memory : int, default=32
        Number of directions that are stored before the basis is shrunk.
    seed : int, default=0
        Seed of the random start.
    watch : callable or None, default=None
        Called with a `Progress` in every iteration; it stops the iteration by returning True.
    start : ndarray or None, default=None
        Directions of an earlier solution.

    See Also
    --------
    Auto : Chooses a solver.

    References
    ----------
    .. [1] K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric eigenvalue
       problems", SIAM Journal on Matrix Analysis and Applications, 22(2), 602–616, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import Lanczos
    >>> solution = Lanczos().solve(TraceProblem(np.diag(np.arange(1.0, 31.0)), count=1))
    >>> round(float(solution.values[0]), 6), solution.status
    (1.0, 'converged')
    """

    tol: float = 1e-6
    most_products: int = 20_000
    memory: int = 32
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None
    start: Array | None = field(default=None, compare=False, repr=False)

    def attempt(self, problem: TraceProblem) -> Solution:
        settings = Iteration(
            name="Lanczos",
            tol=self.tol,
            most_products=self.most_products,
            block=problem.count + 2,
            memory=max(self.memory, 6 * problem.count),
            seed=self.seed,
            watch=self.watch,
            start=self.start,
        )
        if _has_products_alone(problem):
            memory = max(MIN_KRYLOV_MEMORY, KRYLOV_MEMORY_A_DIRECTION * problem.count)
            return iterate_block_krylov(problem, replace(settings, memory=memory))
        return iterate(problem, self._directions(problem), settings)

    def _directions(self, problem: TraceProblem) -> Directions:
        thin = isinstance(problem.metric, Identity | Diagonal)
        if sp.issparse(problem.A) and thin and problem.n > MAX_UNFILTERED_ROWS:
            return ChebyshevFilter.of(problem)
        return Through(problem.metric.solve)

    def remedy(self) -> Message:
        return Message(
            "the wanted eigenvalues lie close together: use Factored() or Preconditioned() "
            "when A is sparse, Dense() when n is small, or raise ",
            Argument("most_products"),
        )


def _has_products_alone(problem: TraceProblem) -> bool:
    """Whether A is an operator, at an end of its spectrum that is no low end of squares."""
    low_end = isinstance(problem.A, Gramian) and problem.sense == "min"
    plain = isinstance(problem.metric, Identity)
    return isinstance(problem.A, LinearOperator) and plain and not low_end


@dataclass(eq=False)
class ChebyshevFilter:
    """T: X ↦ p(B⁻¹A)·X on the Ritz vectors, p small on [cut, top], growing fast below.

    Products with a sparse A are cheap compared with the orthogonalisation of the basis of a
    Krylov method. A Chebyshev filter spends many products on one new block of directions (Zhou
    and Saad, "A Chebyshev–Davidson algorithm for large symmetric eigenproblems", 2007), so the
    basis is touched ten times less often.
    """

    matrix: sp.csr_array  # sign·B⁻¹A
    problem: TraceProblem
    top: float
    products: int = 0

    @cached_property
    def shares(self) -> list[tuple[int, int]]:
        """Ranges of rows with about the same number of entries, one for each thread."""
        shares = np.linspace(0, self.matrix.nnz, thread_count() + 1)
        bounds = np.searchsorted(self.matrix.indptr, shares)
        bounds[-1] = self.matrix.shape[0]
        return list(pairwise(bounds.tolist()))

    @classmethod
    def of(cls, problem: TraceProblem) -> ChebyshevFilter:
        A = shifted_matrices(problem).at(0.0)
        if A.nnz >= 2**31:
            raise TooLarge(
                f"the matrix has {A.nnz} entries and the polynomial filter takes fewer than 2³¹; "
                "use fewer neighbours"
            )
        rows = np.repeat(problem.metric.solve(np.ones(problem.n)), np.diff(A.indptr))
        matrix = sp.csr_array(
            (A.data * rows, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape
        )
        return cls(matrix, problem, gershgorin(problem)[1])

    def __call__(self, residuals: Array, vectors: Array, ritz: Array) -> Array:
        low = float(ritz[0])
        cut = float(ritz[int(CUT_SHARE * len(ritz)) if len(ritz) > 2 * vectors.shape[1] else -1])
        reach = max(cut - low, 1e-12 * self.top)
        degree = int(
            np.clip(DEGREE_FACTOR * np.sqrt((self.top - cut) / reach), MIN_DEGREE, MAX_DEGREE)
        )
        parts = [
            vectors[:, c : c + MAX_FILTER_COLUMNS]
            for c in range(0, vectors.shape[1], MAX_FILTER_COLUMNS)
        ]
        return np.hstack([self._filtered_block(part, low, cut, degree) for part in parts])

    def _filtered_block(self, X: Array, low: float, cut: float, degree: int) -> Array:
        """Scaled Chebyshev recurrence: p(low) = 1, |p| small on [cut, top]."""
        half, centre = (self.top - cut) / 2, (self.top + cut) / 2
        sigma = first = half / (low - centre)
        X = np.ascontiguousarray(X)
        Z = np.zeros_like(X)
        self._advance(X, Z, sigma / half, centre, 0.0)
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            # The old X becomes the new value in place; the roles then swap.
            self._advance(Z, X, 2 * following / half, centre, sigma * following)
            X, Z, sigma = Z, X, following
        self.products += degree * X.shape[1]
        tally("products", degree * X.shape[1])
        return Z

    def _advance(self, X: Array, Z: Array, scale: float, centre: float, weight: float) -> None:
        A, width = self.matrix, X.shape[1]

        def advance(share: tuple[int, int]) -> None:
            _step(*share, width, A.indptr, A.indices, A.data, scale, centre, weight, X, Z)

        in_threads(advance, self.shares, len(self.shares))
