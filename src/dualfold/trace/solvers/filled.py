"""The low end of MᵀM from a Cholesky factor of the filled square."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.kernels.reports import tally
from dualfold.trace.metric import Diagonal, Identity
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.factored import GRAMIAN_GUARDS, SHIFT_MARGIN
from dualfold.trace.solvers.subspace import Iteration, Through, iterate

# The last wanted eigenvalue and the next are told apart, and proved, where they differ by this many
# times what a Cholesky factorisation of the square may round.
MIN_GAP_IN_ROUNDINGS = 100


def filled_solution(problem: TraceProblem, settings: Iteration) -> Solution | None:
    """The solution by inverse iteration with the square; None where its rounding hides the end."""
    if not isinstance(problem.metric, Identity | Diagonal):
        return None
    square = problem.A.square_entries
    filled = replace(problem, A=square)
    block = min(problem.count + GRAMIAN_GUARDS, problem.n - problem.excluded_basis.shape[1])
    trace = float(np.trace(square))
    shifted = np.array(square, order="F")
    masses = problem.metric.times(np.ones(problem.n))
    shifted[np.diag_indices(problem.n)] += SHIFT_MARGIN * trace * masses / masses.sum()
    tally("dense Cholesky, rows³", problem.n**3)
    lower, failed = scipy.linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1, clean=0)
    if failed:
        return None

    def inverse(R: Array) -> Array:
        return np.asarray(scipy.linalg.lapack.dpotrs(lower, R, lower=1)[0])

    solution = iterate(filled, Through(inverse), replace(settings, block=block))
    if solution.status != "converged" or not _is_resolved(problem, solution, trace):
        return None
    # Once more from M: the square has rounded the values.
    values, turn = scipy.linalg.eigh(problem.quadratic(solution.vectors))
    return replace(solution, vectors=with_signs(solution.vectors @ turn), values=values)


def _is_resolved(problem: TraceProblem, solution: Solution, trace: float) -> bool:
    """Whether the wanted eigenvalues lie apart from the next, and from 0, by more than rounding."""
    if not solution.guard.shape[1]:
        return False
    following = float(problem.quadratic(solution.guard[:, :1])[0, 0])
    room = min(following - float(solution.values[-1]), float(solution.values[0]))
    lightest = float(problem.metric.times(np.ones(problem.n)).min())
    rounding = 4 * problem.n * UNIT_ROUNDOFF * trace / lightest
    return room > MIN_GAP_IN_ROUNDINGS * rounding
