"""Choose the solver: predict, try the cheap one, extrapolate, switch.

Fill-in and spectral gap are complementary. A graph with small separators (a surface)
is factorised quickly and has a spectrum too tight for Lanczos; a graph without them
(images) cannot be factorised, but plain products find its eigenvectors. Costs are
predicted in multiply-adds, so the choice does not depend on how busy the machine is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.errors import Argument, Message, TooLarge
from dualfold.kernels.ordering import is_small_world, small_world_steps
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers.dense import DENSE_FLOPS_A_SECOND, Dense
from dualfold.trace.solvers.factored import Factored
from dualfold.trace.solvers.filled import filled_solution
from dualfold.trace.solvers.krylov import KrylovSpace
from dualfold.trace.solvers.lanczos import Lanczos
from dualfold.trace.solvers.preconditioned import Preconditioned
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Iteration, Progress
from dualfold.trace.sparse.shifted_matrices import prefers_filled_square, shifted_matrices

# On one core of a 2.8 GHz machine: sparse products (bound by memory), the sparse factorisation.
PRODUCT_FLOPS_A_SECOND = 4e8
FACTOR_FLOPS_A_SECOND = 4e9
# Products with a dense matrix, a few columns at a time, and what a round of them takes beside.
DENSE_PRODUCT_FLOPS_A_SECOND = 2e9
SECONDS_A_DENSE_PRODUCT = 8e-5
# Up to this many rows LAPACK is faster than any other solver.
MAX_LAPACK_ROWS = 400
# From this many rows on, a quick test precedes the prediction of a factorisation's cost.
MIN_SMALL_WORLD_ROWS = 20_000
# A factor this thin (entries a row, and for each doubling of the rows) means small separators,
# hence small eigengaps, on which Lanczos is slow: it is not tried. See
# docs/dev/notes/trace-solvers.md.
THIN_ENTRIES_A_ROW = 64
THIN_ENTRIES_A_DOUBLING = 4
# The low end of MᵀM is squared, and Lanczos takes thousands of products; it is tried only where a
# factorisation is predicted to take longer than this.
HOPELESS_LANCZOS_SECONDS = 20.0
# Rounds after which a forecast is made: of sparse products, and of long ones.
MIN_ROUNDS, MIN_LONG_ROUNDS = 24, 6
# Beyond this predicted time of the products so far, a few checkpoints are enough for a forecast.
LONG_PRODUCTS_SECONDS = 20.0


@dataclass(frozen=True)
class Auto(Solver):
    """The solver that is predicted to need the least work; `story` of the solution says why.

    Parameters
    ----------
    tol : float, default=1e-6
        Largest ‖Av − θBv‖, relative to θ; the trace is then right to about tol² of the eigengap.
    seed : int, default=0
        Seed of the random start.
    start : ndarray or None, default=None
        Directions of an earlier solution, for the solvers that can use them (`Factored`,
        `Lanczos`); one of another number of rows is not used.

    See Also
    --------
    Dense : Small problems.
    Factored : Sparse matrices with small separators.
    Lanczos : Products with A alone.
    Preconditioned : Sparse matrices that are hard for both.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import Auto
    >>> solution = Auto().solve(TraceProblem(np.diag([1.0, 2.0, 4.0]), count=1))
    >>> round(float(solution.values[0]), 6), solution.status
    (1.0, 'converged')
    """

    tol: float = 1e-6
    seed: int = 0
    start: Array | None = field(default=None, compare=False, repr=False)

    def attempt(self, problem: TraceProblem) -> Solution:
        if self.start is not None and len(self.start) != problem.n:
            return replace(self, start=None).attempt(problem)
        story: list[str] = []
        dense = _dense_seconds(problem)
        if problem.n <= MAX_LAPACK_ROWS or problem.count > problem.n // 4:
            story.append(f"{problem.n} rows: LAPACK on the whole matrix")
            return _with_story(Dense().attempt(problem), story)
        filled = self._filled_attempt(problem, story)
        if filled is not None:
            return _with_story(filled, story)
        factored = (
            float("inf") if _is_small_world(problem, story) else _factored_seconds(problem, story)
        )
        thin = factored < np.inf and _is_thin(problem)
        hopeless = _is_low_end_of_gramian(problem) and (
            factored < HOPELESS_LANCZOS_SECONDS or shifted_matrices(problem).is_rotated
        )
        if thin or (hopeless and factored < np.inf):
            return _with_story(self._factored_solver().attempt(problem), story)
        budget = min(factored, dense)
        whole = isinstance(problem.A, np.ndarray)
        pace = Pace(_product_seconds(problem), budget, rents=whole)
        alternative = sp.issparse(problem.A) or isinstance(problem.A, Gramian) or budget < np.inf
        watch = pace if alternative else None
        trial = Lanczos(tol=self.tol, seed=self.seed, watch=watch, start=self.start).attempt(
            problem
        )
        if trial.status == "converged":
            story.append(f"Lanczos arrived after {trial.products} products")
            return _with_story(trial, story)
        story.append(
            f"Lanczos left after {trial.products} products: it was heading for "
            f"{pace.forecast:.3g} s, the next solver is predicted to take {budget:.3g} s"
        )
        if np.isfinite(budget):
            solver: Solver = self._factored_solver()
            solver = Dense() if dense < factored else solver
        elif not sp.issparse(problem.A) and not isinstance(problem.A, Gramian):
            solver = Lanczos(tol=self.tol, seed=self.seed)
        else:
            solver = Preconditioned(tol=self.tol, seed=self.seed)
        return _with_story(solver.attempt(problem), story)

    def _filled_attempt(self, problem: TraceProblem, story: list[str]) -> Solution | None:
        """The solution from the filled square MᵀM, where that is quick and resolves it."""
        if not prefers_filled_square(problem):
            return None
        settings = Iteration("Filled", self.tol, 2_000, seed=self.seed, start=self.start)
        solution = filled_solution(problem, settings)
        rows = problem.A.factor.shape[0] / problem.n
        reason = "its Cholesky factor is dense" if solution else "its rounding hides the small end"
        story.append(f"{rows:.0f} rows of M a point: MᵀM is formed, {reason}")
        return solution

    def _factored_solver(self) -> Factored:
        return Factored(tol=self.tol, seed=self.seed, start=self.start)

    def remedy(self) -> Message:
        return Message(
            "eigenvalues at the wanted end lie too close together for every solver tried; "
            "ask for more or fewer ",
            Argument("n_components"),
            ", or loosen ",
            Argument("tol"),
        )


@dataclass
class Pace:
    """Watches an iteration and stops it when its forecast exceeds the budget.

    Residuals of a Krylov method fall geometrically in the long run: the forecast
    extrapolates the rate seen over the last half of the products.

    rents : whether it stops as soon as half of the budget is spent and what is left is forecast to
        take more than the other solver: then both take little more than twice the quicker one
        (docs/dev/notes/trace-solvers.md)
    """

    seconds_per_product: float
    budget: float
    rents: bool = False
    forecast: float = float("inf")
    seen: list[tuple[int, float]] = field(default_factory=list)

    def __call__(self, progress: Progress) -> bool:
        self.seen.append((progress.products, np.log(max(progress.excess, 1.0))))
        products, excess = self.seen[-1]
        spent = products * self.seconds_per_product
        # Fewer, if rounds are long and the other solver would have converged by now.
        long = self.rents or spent > max(self.budget, LONG_PRODUCTS_SECONDS)
        enough = MIN_LONG_ROUNDS if long else MIN_ROUNDS
        if len(self.seen) < enough or not np.isfinite(excess):
            return False
        # Restarts make the residual jump: fit a line through the later half.
        later = np.array(self.seen[len(self.seen) // 2 :])
        along, heights = (later - later.mean(axis=0)).T
        slope = float(along @ heights) / float(along @ along)
        left = excess / -slope if slope < 0 else np.inf
        self.forecast = (products + left) * self.seconds_per_product
        if self.rents:
            return spent > self.budget / 2 and self.forecast - spent > self.budget
        patience = self.budget if np.isfinite(self.budget) else 60.0
        return self.forecast > 2 * patience and spent > min(0.1 * patience, 2.0)


def krylov_space_for(problem: TraceProblem, solver: Solver) -> KrylovSpace | None:
    """A space that grows with the count of directions, where the solver would factor A anyway."""
    if (
        not isinstance(solver, Auto)
        or problem.n <= MAX_LAPACK_ROWS
        or not KrylovSpace.fits(problem)
    ):
        return None
    if _is_small_world(problem, []) or not _factored_seconds(problem, []) < np.inf:
        return None
    return KrylovSpace(problem, solver.tol, solver.seed) if _is_thin(problem) else None


def _is_thin(problem: TraceProblem) -> bool:
    most = problem.n * max(THIN_ENTRIES_A_ROW, THIN_ENTRIES_A_DOUBLING * np.log2(problem.n))
    return bool(shifted_matrices(problem).ordering.factor_entries <= most)


def _is_low_end_of_gramian(problem: TraceProblem) -> bool:
    return isinstance(problem.A, Gramian) and problem.sense == "min"


def _is_small_world(problem: TraceProblem, story: list[str]) -> bool:
    """Whether a large sparse A has a graph without small separators; `story` says so."""
    if not sp.issparse(problem.A) or problem.n < MIN_SMALL_WORLD_ROWS:
        return False
    small = is_small_world(problem.A)
    if small:
        steps = small_world_steps(problem.n)
        story.append(f"not factored: nine in ten rows lie within {steps} steps of one another")
    return small


def _dense_seconds(problem: TraceProblem) -> float:
    if problem.n > Dense().most_rows or isinstance(problem.A, LinearOperator):
        return float("inf")
    return 4 / 3 * problem.n**3 / DENSE_FLOPS_A_SECOND


def _product_seconds(problem: TraceProblem) -> float:
    """Seconds of a product with A and its share of the orthogonalisation."""
    A: Any = problem.A
    if sp.issparse(A):
        entries = A.nnz
    elif isinstance(A, Gramian):
        entries = 2 * A.factor.nnz
    elif isinstance(A, np.ndarray):
        return problem.n**2 / DENSE_PRODUCT_FLOPS_A_SECOND + SECONDS_A_DENSE_PRODUCT
    else:
        entries = problem.n**2
    return (entries + 120 * problem.n) / PRODUCT_FLOPS_A_SECOND


def _factored_seconds(problem: TraceProblem, story: list[str]) -> float:
    if not sp.issparse(problem.A) and not isinstance(problem.A, Gramian):
        return float("inf")
    try:
        ordering = shifted_matrices(problem).ordering
    except TooLarge as refusal:
        story.append(f"not factored: {refusal}")
        return float("inf")
    seconds = (
        ordering.flops / FACTOR_FLOPS_A_SECOND
        + 30 * ordering.factor_entries / PRODUCT_FLOPS_A_SECOND
    )
    story.append(
        f"a factorisation would hold {ordering.factor_entries / problem.n:.0f} entries a row "
        f"and take about {seconds:.2g} s"
    )
    return seconds


def _with_story(solution: Solution, story: list[str]) -> Solution:
    return replace(solution, solver=f"Auto: {solution.solver}", story=tuple(story))
