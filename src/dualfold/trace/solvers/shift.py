"""A shift just below the wanted end of the spectrum, for the two solvers that invert."""

from __future__ import annotations

import numpy as np

from dualfold.trace.metric import Dense, Sparse
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solvers.subspace import Iteration, Through, iterate
from dualfold.trace.sparse.shifted_matrices import shifted

# The distance kept to the spectrum, relative to its size. Small against every
# eigenvalue wanted (5e-8 for a roll of a million points), large enough that
# rounding in the inverse (1e-16 / 1e-9) leaves seven digits of a preconditioner.
MARGIN = 1e-9
# The same for A = MᵀM, which is inverted through M: rounding is relative to the root of
# the spectrum, and eigenvalues are squares (9e-14 for LLE of a roll of 70,000 points).
# 1e-9 took 167 products there, 1e-11 32, 1e-13 59 and 1e-14 did not arrive.
GRAMIAN_MARGIN = 1e-11
# And for the turned matrix, whose rounding is far smaller: 24 products for a roll of 150,000
# points (2e-13), 30 for one of 1,000,000 (4e-15).
TURNED_MARGIN = 1e-15


def shift_below(problem: TraceProblem) -> float:
    """A number below, and if possible close to, the smallest eigenvalue of sign·A.

    Gershgorin's discs give a sure bound when B is diagonal, and an exact one for
    Laplacians, whose trivial directions lie on it; else a short Lanczos run says where
    the spectrum begins (θ − 2r, an eigenvalue lies within r of θ). Callers that factor
    check the inertia.
    """
    discs, size = gershgorin(problem)
    margin = margin_of(problem)
    N = problem.trivial
    if N.shape[1] and np.isfinite(discs):
        reached = float(np.einsum("ij,ij->j", N, problem.descent(N)).min())
        if reached <= discs + margin * size:  # a Laplacian: the bound is attained
            return discs - margin * size
    settings = Iteration("probe", tol=1e-2, most_products=30, memory=30)
    probe = iterate(problem, Through(problem.metric.solve), settings)
    theta = float(problem.sign * probe.values[0])
    V = probe.vectors[:, :1]
    R = problem.descent(V) - problem.metric.times(V) * theta
    radius = float(np.sqrt(np.einsum("ij,ij->", R, problem.metric.solve(R))))
    size = max(size, abs(theta))
    return max(discs, theta - 2 * radius) - margin * size


def margin_of(problem: TraceProblem) -> float:
    if isinstance(problem.A, Gramian):
        return TURNED_MARGIN if shifted(problem).turned else GRAMIAN_MARGIN
    return MARGIN


def gershgorin(problem: TraceProblem) -> tuple[float, float]:
    """A lower bound of the spectrum of (sign·A, B) and a bound of its modulus.

    (−∞, 0) where B is no diagonal matrix and the discs say nothing; a Gramian is
    bounded by 0 and by its row sums.
    """
    if isinstance(problem.metric, Dense | Sparse):
        return -np.inf, 0.0
    if isinstance(problem.A, Gramian):
        M = abs(problem.A.factor)
        sums = problem.metric.solve(M.T @ (M @ np.ones(problem.n)))
        size = float(sums.max())
        return (0.0 if problem.sense == "min" else -size), size
    A = shifted(problem).at(0.0)
    scale = problem.metric.solve(np.ones(problem.n))
    diagonal = A.diagonal()
    radius = abs(A) @ np.ones(problem.n) - np.abs(diagonal)
    low = float(((diagonal - radius) * scale).min())
    return low, float(((np.abs(diagonal) + radius) * scale).max())
