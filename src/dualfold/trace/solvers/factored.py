"""Shift-invert: a shift σ just below the spectrum, a sparse LDLᵀ of A − σB, a few solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from dualfold.arrays import Array
from dualfold.trace.equivalent_problems import reordered_problem, rows_put_back
from dualfold.trace.metric import DenseMetric, SparseMetric
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Iteration, Progress, Through, iterate
from dualfold.trace.sparse.factorisation import Factorisation, factorise
from dualfold.trace.sparse.shifted_matrices import shifted_matrices

# Guard vectors for MᵀM: a certificate may need a spectral floor further up than the first eigengap,
# and good directions below it; a solve with eight columns takes little longer than one with a few.
GRAMIAN_GUARDS = 4
# Directions of the block that take a step, where a start is given. Residuals of a Krylov space span
# no more than its block: 20 eigenvectors need no block of 21 (docs/dev/notes/trace-solvers.md). A
# repeated eigenvalue needs as many directions as it has copies, hence this is not done without a
# start, which is a solution in which few are missing.
MOVING_DIRECTIONS = 8
# Steps of inverse iteration before the first Rayleigh–Ritz; those of MᵀM gain no time by them
# (docs/dev/notes/trace-solvers.md).
START_POWERS = 3
# The distance of the shift from the spectrum, relative to its size: small compared with every
# eigenvalue wanted, large enough that rounding in the inverse leaves seven digits of a
# preconditioner (docs/dev/notes/trace-solvers.md).
SHIFT_MARGIN = 1e-9
# The same for A = MᵀM, which is inverted through M: rounding is relative to the root of
# the spectrum, and eigenvalues are squares.
GRAMIAN_MARGIN = 1e-11
# And for the rotated matrix, whose rounding is far smaller.
ROTATED_MARGIN = 1e-15


@dataclass(frozen=True)
class Factored(Solver):
    """Shift-and-invert iteration: A − σB is factorised once, with σ just below the spectrum.

    It suits graphs with small separators, such as those of surfaces.

    Parameters
    ----------
    tol : float, default=1e-6
        Largest ‖Av − θBv‖, relative to θ; the trace is then right to about tol² of the eigengap.
    most_products : int, default=2000
        Largest number of products with A.
    seed : int, default=0
        Seed of the random start.
    watch : callable or None, default=None
        Called with a `Progress` in every iteration; it stops the iteration by returning True.
    start : ndarray or None, default=None
        Directions of an earlier solution.

    See Also
    --------
    Auto : Chooses a solver.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import Factored
    >>> A = sp.diags_array(np.arange(1.0, 31.0), format="csr")
    >>> solution = Factored().solve(TraceProblem(A, count=1))
    >>> round(float(solution.values[0]), 6), solution.status
    (1.0, 'converged')
    """

    tol: float = 1e-6
    most_products: int = 2_000
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None
    start: Array | None = field(default=None, compare=False, repr=False)

    def attempt(self, problem: TraceProblem) -> Solution:
        reordered = reordered_problem(problem)
        if reordered is not None:
            local, order = reordered
            start = None if self.start is None else self.start[order]
            solution = replace(self, start=start)._attempt(local)
            vectors = with_signs(rows_put_back(solution.vectors, order))
            return replace(solution, vectors=vectors, guard=rows_put_back(solution.guard, order))
        return self._attempt(problem)

    def _attempt(self, problem: TraceProblem) -> Solution:
        settings = Iteration(
            name="Factored",
            tol=self.tol,
            most_products=self.most_products,
            block=problem.count + (GRAMIAN_GUARDS if isinstance(problem.A, Gramian) else 1),
            seed=self.seed,
            watch=self.watch,
            travel=None if self.start is None else self._moving_count(problem),
            start=self.start,
            powers=0 if isinstance(problem.A, Gramian) else START_POWERS,
        )
        factor, shift = factor_below(problem)
        solve = partial(shifted_matrices(problem).solve, factor, shift)
        solution = iterate(problem, Through(solve), settings)
        factor.release()
        return solution

    def _moving_count(self, problem: TraceProblem) -> int:
        """Number of directions that take a step: from a start with all wanted ones, one more.

        The guard vectors of MᵀM still come out of the basis, for fewer products
        (docs/dev/notes/trace-solvers.md).
        """
        if self.start is None or self.start.shape[1] < problem.count:
            return MOVING_DIRECTIONS
        return min(MOVING_DIRECTIONS, problem.count + 1)


def inverse_below(problem: TraceProblem) -> Callable[[Array], Array]:
    """(sign·A − σB)⁻¹ with σ below the spectrum, as high as is easily found."""
    factor, shift = factor_below(problem)
    return partial(shifted_matrices(problem).solve, factor, shift)


def factor_below(problem: TraceProblem) -> tuple[Factorisation, float]:
    """The factorisation of sign·A − σB and σ, below the spectrum, as high as is easily found.

    The signs of the pivots tell whether σ is below; if not, it steps down.
    """
    shift, step = shift_below(problem), 0.0
    pencil = shifted_matrices(problem)
    expected = pencil.auxiliary if problem.sense == "min" else 0
    for _ in range(60):  # doubling steps: enough to cross any spectrum of doubles
        factor = factorise(pencil.at(shift), pencil.ordering)
        if factor.negative == expected and not factor.zero:
            break
        factor.release()
        sure, size = gershgorin(problem)
        step = step or 1e-3 * max(size, abs(shift))
        shift, step = max(sure - shift_margin(problem) * size, shift - step), 2 * step
    return factor, shift


def shift_below(problem: TraceProblem) -> float:
    """A number below, and if possible close to, the smallest eigenvalue of sign·A.

    Gershgorin's discs give a sure bound when B is diagonal, and an exact one for
    Laplacians, whose excluded directions lie on it; else a short Lanczos run says where
    the spectrum begins (θ − 2r, an eigenvalue lies within r of θ). Callers that factor
    check the inertia.
    """
    lowest, size = gershgorin(problem)
    margin = shift_margin(problem)
    N = problem.excluded_basis
    if N.shape[1] and np.isfinite(lowest):
        reached = float(np.einsum("ij,ij->j", N, problem.descent(N)).min())
        if reached <= lowest + margin * size:  # a Laplacian: the bound is attained
            return lowest - margin * size
    settings = Iteration("probe", tol=1e-2, most_products=30, memory=30)
    probe = iterate(problem, Through(problem.metric.solve), settings)
    theta = float(problem.sign * probe.values[0])
    V = probe.vectors[:, :1]
    R = problem.descent(V) - problem.metric.times(V) * theta
    radius = float(np.sqrt(np.einsum("ij,ij->", R, problem.metric.solve(R))))
    size = max(size, abs(theta))
    return max(lowest, theta - 2 * radius) - margin * size


def shift_margin(problem: TraceProblem) -> float:
    if isinstance(problem.A, Gramian):
        return ROTATED_MARGIN if shifted_matrices(problem).is_rotated else GRAMIAN_MARGIN
    return SHIFT_MARGIN


def gershgorin(problem: TraceProblem) -> tuple[float, float]:
    """A lower bound of the spectrum of (sign·A, B) and a bound of its modulus.

    (−∞, 0) where B is no diagonal matrix and the discs say nothing; a Gramian is
    bounded by 0 and by its row sums.
    """
    if isinstance(problem.metric, DenseMetric | SparseMetric):
        return -np.inf, 0.0
    if isinstance(problem.A, Gramian):
        A = problem.A
        sums = A.absolute_transpose @ (A.absolute @ np.ones(problem.n))
        sums = problem.metric.solve(sums)
        size = float(sums.max())
        return (0.0 if problem.sense == "min" else -size), size
    A = shifted_matrices(problem).at(0.0)
    scale = problem.metric.solve(np.ones(problem.n))
    diagonal = A.diagonal()
    radius = abs(A) @ np.ones(problem.n) - np.abs(diagonal)
    low = float(((diagonal - radius) * scale).min())
    return low, float(((np.abs(diagonal) + radius) * scale).max())
