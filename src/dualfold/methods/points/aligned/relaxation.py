"""The relaxed problem solved: one constraint for all slices, each of them centred.

The excluded directions, an indicator of each slice, are not invariant under the links, and no
solver of trace problems takes such. So: subspace iteration with the inverse on the constraint,

    x = Sr − S·BN·(NᵀB·S·BN)⁻¹·NᵀB·Sr,   S = (A − σB)⁻¹

which minimises ½·xᵀ(A − σB)x − rᵀx over x ⊥ BN.

The certificate takes what comes out as it takes any other vectors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.trace.problem import TraceProblem
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.sparse.shifted_matrices import shifted_matrices

# Directions beside the wanted ones: the more, the faster the wanted ones converge, and the
# certificate uses them as hints.
FURTHER_DIRECTIONS = 8
MAX_ITERATIONS = 200
# Change of the wanted values between two iterations, relative to the largest of the block.
TOLERANCE = 1e-14


def relaxed_vectors(problem: TraceProblem, inverse: Callable[[Array], Array]) -> Array:
    """The first directions of a problem on its constraint, and further ones.

    inverse : `constrained_inverse` of the problem
    """
    room = problem.n - problem.excluded_basis.shape[1]
    block = min(problem.count + FURTHER_DIRECTIONS, room)
    X = np.random.default_rng(0).standard_normal((problem.n, block))
    before = np.full(problem.count, np.inf)
    for _ in range(MAX_ITERATIONS):
        values, X = _ritz_vectors(problem, X)
        wanted = values[: problem.count]
        if np.all(np.abs(wanted - before) <= TOLERANCE * np.abs(values).max()):
            break
        before = wanted
        X = inverse(problem.metric.times(X))
    return _ritz_vectors(problem, X)[1]


def _ritz_vectors(problem: TraceProblem, X: Array) -> tuple[Array, Array]:
    """Ritz values in the span of X, ascending, and their vectors."""
    X = _orthonormal(problem, problem.without_excluded(X))
    form = X.T @ (problem.A @ X)
    values, turn = scipy.linalg.eigh((form + form.T) / 2)
    return values, X @ turn


def constrained_inverse(problem: TraceProblem) -> Callable[[Array], Array]:
    """The inverse of A − σB on the constraint, with σ a little below the spectrum."""
    inverse = _inverse_below(problem)
    BN = problem.metric.times(problem.excluded_basis)
    if not BN.shape[1]:
        return inverse
    SN = inverse(BN)
    small = BN.T @ SN

    def constrained(R: Array) -> Array:
        X = inverse(R)
        return np.asarray(X - SN @ np.linalg.solve(small, BN.T @ X))

    return constrained


def _inverse_below(problem: TraceProblem) -> Callable[[Array], Array]:
    """(A − σB)⁻¹ with σ a little below the spectrum of A in the metric B."""
    B = problem.metric.sparse()
    low, high = _spectrum(problem, B)
    shift = low - 1e-3 * (high - low) if low < 0 else -1e-6 * high
    if sp.issparse(problem.A):
        return _sparse_inverse(problem, shift)
    dense = scipy.linalg.cho_factor(np.asarray(problem.A) - shift * B.toarray())
    return lambda R: np.asarray(scipy.linalg.cho_solve(dense, R))


def _sparse_inverse(problem: TraceProblem, shift: float) -> Callable[[Array], Array]:
    """(A − σB)⁻¹ by our factorisation, or by SciPy's where ours is predicted to take too long."""
    pencil = shifted_matrices(problem)
    try:
        ordering = pencil.ordering
    except TooLarge:
        matrix = sp.csc_array(problem.A - shift * problem.metric.sparse())
        other = scipy.sparse.linalg.splu(matrix)
        return lambda R: np.asarray(other.solve(np.ascontiguousarray(R)))
    factor = factorise(pencil.at(shift), ordering)
    return lambda R: np.asarray(pencil.solve(factor, shift, R))


def _spectrum(problem: TraceProblem, B: sp.csr_array) -> tuple[float, float]:
    """Both ends of the spectrum, roughly: a Laplacian begins at 0."""
    if not sp.issparse(problem.A):
        values = scipy.linalg.eigh(problem.A, B.toarray(), eigvals_only=True)
        return float(values[0]), float(values[-1])
    sums = np.asarray(abs(problem.A).sum(axis=1)).ravel()
    return 0.0, float((sums / B.diagonal()).max())


def _orthonormal(problem: TraceProblem, X: Array) -> Array:
    for _ in range(2):
        form = X.T @ problem.metric.times(X)
        squares, Q = np.linalg.eigh((form + form.T) / 2)
        good = squares > 1e-14 * squares[-1]
        X = X @ (Q[:, good] / np.sqrt(squares[good]))
    return X
