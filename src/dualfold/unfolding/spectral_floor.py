"""A proved lower bound of λ₂ of a weighted graph: it turns dual weights into a bound.

λ₂ is the smallest eigenvalue of (L(w), M), M = diag(m), beside the constant vector's 0. For
a number σ and a symmetric A = L(w) − σM + E, |xᵀEx| ≤ δ·xᵀMx, that is not negative on a space
of dimension n − 1, Courant and Fischer give λ₂ ≥ σ − δ. Two such A:

    A = LDLᵀ with one negative pivot                      (`proved_floor`, sparse)
    A = RᵀR for L(w) − σM + τmmᵀ, on the space mᵀx = 0    (`cholesky_floor`, dense; in
        double-doubles `precise_floor`)

E holds the rounding of the factorisation and of forming the matrix; L(w) is that of the
weights as numbers. A Ritz value is never below λ₂ and proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import lapack

from dualfold.arrays import Array
from dualfold.errors import InvalidInput, TooLarge
from dualfold.kernels.arithmetic import ROW_UNDERFLOW, UNIT_ROUNDOFF, gamma
from dualfold.kernels.arithmetic.double_double import DoubleDouble, cholesky
from dualfold.kernels.threads import lapack_threads
from dualfold.trace.sparse.factorisation import Ordering, factorise, fill_reducing_ordering
from dualfold.trace.sparse.shifted_matrices import MAX_FLOPS
from dualfold.unfolding.problem import UnfoldingProblem

# Random directions of inverse iteration beside the given ones, and its steps at most.
N_RANDOM_DIRECTIONS = 4
MAX_INVERSE_STEPS = 30
# Up to this many rows a dense proof is tried when the sparse one leaves more than SPARSE_OPEN_SHARE
# of λ₂ open, and then one in double-doubles when more than DENSE_OPEN_SHARE is open: large weights,
# which equal lengths need, lose digits (docs/dev/notes/unfolding.md).
MAX_DENSE_ROWS = 3_000
SPARSE_OPEN_SHARE = 1e-9
MAX_DOUBLE_DOUBLE_ROWS = 2_000
DENSE_OPEN_SHARE = 1e-8
# How far below the Ritz value the trial heights lie, relatively, until one can be proved.
HEIGHT_STEPS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9)


@dataclass(frozen=True)
class SecondEigenvalue:
    """Eigenvalue λ₂ of (L(w), M): `proved` ≤ λ₂, and about `ritz`, which lies above it.

    proved : 0 when nothing positive could be proved
    factorised : False where the matrix was too large for that, so that nothing was tried
    """

    proved: float
    ritz: float
    factorised: bool = True


def lowest_pairs(
    problem: UnfoldingProblem, weights: Array, start: Array, *, ordering: Ordering | None = None
) -> tuple[Array, Array]:
    """Ritz pairs of (L(w), M) off the constant vector, ascending, by inverse iteration.

    `start` holds guesses (the points themselves: L·Y = M·Y at the optimum).
    """
    n, mass = problem.n, problem.mass
    L = problem.laplacian(weights)
    rng = np.random.default_rng(5)
    block = np.hstack([start[:, : min(8, n - 1)], rng.standard_normal((n, N_RANDOM_DIRECTIONS))])
    block = block[:, : max(1, n - 1)]
    values = np.zeros(block.shape[1])
    solve: Any = None
    for rounds in range(MAX_INVERSE_STEPS):
        block = _orthonormal(problem, block)
        if block.shape[1] == 0:
            return np.zeros(1), np.zeros((n, 1))
        fresh, turn = np.linalg.eigh(block.T @ (L @ block))
        block = block @ turn
        if rounds > 2 and abs(fresh[0] - values[0]) <= 1e-14 * abs(fresh[0]):
            break
        values = fresh
        if solve is None:
            # Just below 0 the matrix is definite, and 0 itself is no eigenvalue; a smaller shift
            # than 1e-14 of the matrix would drown in its rounding.
            size = float(np.max(np.abs(L.diagonal()) / mass))
            shift = max(1e-3 * abs(float(values[0])), 1e-14 * size, 1e-303)
            shifted = sp.csr_array(L + sp.diags_array(shift * mass))
            ordering = ordering or _graph_ordering(problem)
            solve = factorise(shifted, ordering).solve
        block = solve(mass[:, None] * block)
    return fresh, block


def second_eigenvalue(
    problem: UnfoldingProblem, weights: Array, start: Array, *, most_flops: float = MAX_FLOPS
) -> SecondEigenvalue:
    """Bound λ₂ of the weighted graph from below by a proof and from above by a Ritz value.

    Parameters
    ----------
    problem : UnfoldingProblem
        The problem, with its edges.
    weights : ndarray of shape (n_edges,)
        One number for each edge.
    start : ndarray of shape (n, k)
        Vectors from which the Ritz value is computed.
    most_flops : float, default=4e10
        Multiply-adds of a factorisation beyond which nothing is proved.

    Returns
    -------
    SecondEigenvalue
        `proved` ≤ λ₂ ≤ `ritz`, but for rounding of the latter.

    See Also
    --------
    lowest_bend : The eigenvalue by a dense eigensolver.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.unfolding import UnfoldingProblem, second_eigenvalue
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> least = second_eigenvalue(chain, np.ones(2), np.arange(3.0)[:, None])
    >>> bool(0.999 < least.proved <= 1.0), round(least.ritz, 6)
    (True, 1.0)
    """
    if not np.any(weights):  # L = 0: nothing to factorise, and inverses overflow
        return SecondEigenvalue(0.0, 0.0)
    try:
        ordering = _graph_ordering(problem, most_flops)
    except TooLarge:
        return SecondEigenvalue(0.0, _ritz_value(problem, weights, start), factorised=False)
    try:
        ritz = float(lowest_pairs(problem, weights, start, ordering=ordering)[0][0])
    except (InvalidInput, np.linalg.LinAlgError):  # a pivot of 0
        ritz = _ritz_value(problem, weights, start)
    proved = 0.0
    if ritz > 0 and np.isfinite(ritz):
        proved = _best_floor(problem, weights, ritz, ordering)
    return SecondEigenvalue(proved, ritz)


def _ritz_value(problem: UnfoldingProblem, weights: Array, start: Array) -> float:
    """The smallest Ritz value in the span of `start` (NaN: nothing there)."""
    block = _orthonormal(problem, start)
    if block.shape[1] == 0:
        return float("nan")
    return float(np.linalg.eigvalsh(block.T @ (problem.laplacian(weights) @ block))[0])


def _best_floor(
    problem: UnfoldingProblem, weights: Array, ritz: float, ordering: Ordering
) -> float:
    """The largest lower bound of λ₂ that can be proved a little below its Ritz value.

    Nearer to λ₂ means smaller pivots and so more rounding: lower heights are tried while
    they can still do better. Where λ₂ is repeated (a cycle) that costs digits, and a dense
    Cholesky factorisation, whose rounding does not grow, recovers them.
    """
    routes: list[tuple[Any, float, tuple[Any, ...]]] = [(proved_floor, 0.0, (ordering,))]
    if problem.n <= MAX_DENSE_ROWS:
        routes.append((cholesky_floor, SPARSE_OPEN_SHARE, ()))
    if problem.n <= MAX_DOUBLE_DOUBLE_ROWS:
        routes.append((precise_floor, DENSE_OPEN_SHARE, ()))
    best = 0.0
    for floor_of, open_share, more in routes:
        for step in HEIGHT_STEPS:
            if best >= ritz * (1 - max(step, open_share)):
                break
            best = max(best, floor_of(problem, weights, ritz * (1 - step), *more))
    return best


def cholesky_floor(problem: UnfoldingProblem, weights: Array, height: float) -> float:
    """Lower bound of λ₂ by a dense Cholesky factorisation; 0 if it breaks down.

    A = L − σM + τmmᵀ is L − σM where mᵀx = 0, whatever τ is. If the factorisation runs
    through, RᵀR = A + E with |E_ij| ≤ γ√(a_ii a_jj) (Higham, theorem 10.5; 2n + 8 units allow
    for divisions by stored reciprocals), so |xᵀEx| ≤ γ Σ(a_ii/m_i)·xᵀMx. Forming A: row i of
    L has `degree` additions, and the entries of τmmᵀ, each right to 3 units, make at most
    3u·τ(Σ m|x|)² ≤ 3u·τΣm·xᵀMx, τΣm being 2σ.
    """
    mass, n = problem.mass, problem.n
    A = problem.laplacian(weights).toarray()
    A[np.diag_indices(n)] -= height * mass
    A += np.outer(mass, 2 * height * mass / mass.sum())
    diagonal = np.diagonal(A).copy()
    if not (np.all(diagonal > 0) and np.isfinite(A).all()):
        return 0.0
    with lapack_threads(n):
        status = lapack.dpotrf(A, lower=1, clean=0)[1]
    if status:
        return 0.0
    lost = n * ROW_UNDERFLOW / float(mass.min())
    error = gamma(2 * n + 8) * float(np.sum(diagonal / mass)) + lost
    return _floor_below(height, error + _forming_error(problem, weights, 4 * height))


def precise_floor(problem: UnfoldingProblem, weights: Array, height: float) -> float:
    """Lower bound of λ₂ by a Cholesky factorisation in double-doubles; 0 if it breaks down.

    RᵀR = A + E with |E_ij| ≤ ε√(a_ii a_jj), ε = 16(n + 16)²u² (`kernels.pairs.cholesky`), so
    |xᵀEx| ≤ εΣ(a_ii/m_i)·xᵀMx. Forming A adds up n numbers a row, each sum and product right
    to 4u² of the sizes: less than ε times the sum of the sizes of row i, which is at
    most 2Σ|w| + 5σm_i (τΣm is 2σ). Products below 2⁻⁹⁰⁰ lose less than that.
    """
    mass, n = problem.mass, problem.n
    i, j = problem.edges.T
    w = DoubleDouble(np.asarray(weights, dtype=float))
    A = DoubleDouble(np.zeros((n, n)))
    A.put((i, j), -w)
    A.put((j, i), -w)
    diagonal = -A.row_sums() - DoubleDouble(mass) * height
    A.put(np.diag_indices(n), diagonal)
    A = A + (DoubleDouble(mass[:, None]) * mass) * (2 * height / float(mass.sum()))
    sizes = np.diagonal(A.high)
    if not (np.all(sizes > 0) and np.isfinite(A.high).all()) or cholesky(A) is None:
        return 0.0
    error = 16.0 * (n + 16) ** 2 * UNIT_ROUNDOFF**2
    rows = 2 * problem.laplacian(np.abs(weights)).diagonal() + 5 * height * mass
    lost = n * n * 2.0**-900 / float(mass.min())
    spread = float(np.sum(sizes / mass)) + float(np.max(rows / mass))
    return _floor_below(height, 2 * error * spread + lost)


def proved_floor(
    problem: UnfoldingProblem, weights: Array, height: float, ordering: Ordering | None = None
) -> float:
    """A proved lower bound of λ₂(L(w), M), below `height`; 0 if there is none.

    LDLᵀ = L − σM + E with |xᵀEx| ≤ Σ row_errors·x². One negative pivot: LDLᵀ is not negative
    on a space of dimension n − 1, so λ₂ ≥ σ − max(row errors/mass).
    """
    count, error = eigenvalues_below(problem, weights, height, ordering)
    return _floor_below(height, error) if count == 1 else 0.0


def eigenvalues_below(
    problem: UnfoldingProblem, weights: Array, height: float, ordering: Ordering | None = None
) -> tuple[int | None, float]:
    """The number of eigenvalues of (L(w), M) below `height`, and the error of the height.

    Exact for a height within `error` of the given one; None when a pivot is 0.
    """
    L, mass = problem.laplacian(weights), problem.mass
    shifted = sp.csr_array(L - sp.diags_array(height * mass))
    factor = factorise(shifted, ordering or _graph_ordering(problem))
    if not np.isfinite(factor.backward_error):  # a pivot is 0, or no number
        return None, np.inf
    rounding = float(np.max(factor.row_errors / mass))
    return factor.negative, rounding + _forming_error(problem, weights, height)


def _forming_error(problem: UnfoldingProblem, weights: Array, height: float) -> float:
    """δ with |xᵀEx| ≤ δ·xᵀMx for the rounding of L(w) − σM as stored.

    The diagonal adds `degree` weights, the shift is a product and a difference; entries
    beside it are exact or (dense) one addition. The factor 2 covers the rounding of all this.
    """
    degree = np.bincount(problem.edges.ravel(), minlength=problem.n)
    sizes = problem.laplacian(np.abs(weights)).diagonal() + abs(height) * problem.mass
    return float(np.max(((degree + 8) * 2 * UNIT_ROUNDOFF * sizes + ROW_UNDERFLOW) / problem.mass))


def _floor_below(height: float, error: float) -> float:
    """height − error, less rounding, and 0 where nothing positive is left."""
    floor = (height - error * (1 + 16 * UNIT_ROUNDOFF)) * (1 - 4 * UNIT_ROUNDOFF)
    return floor if 0 < floor < np.inf else 0.0


def _graph_ordering(problem: UnfoldingProblem, most_flops: float = MAX_FLOPS) -> Ordering:
    # Unit weights: the pattern of every L(w), also where some weights are 0.
    return fill_reducing_ordering(problem.laplacian(np.ones(problem.m)), most_flops=most_flops)


def _orthonormal(problem: UnfoldingProblem, block: Array) -> Array:
    """An M-orthonormal basis of the columns, off the constant vector."""
    root = np.sqrt(problem.mass)[:, None]
    Q = root * problem.centred_points(block)
    size = np.linalg.norm(Q, axis=0)
    Q = Q[:, size > 1e-12 * size.max(initial=1e-300)]
    Q = Q / np.linalg.norm(Q, axis=0)
    for _ in range(2):  # the second pass removes what rounding left of the first
        Q, R, _ = scipy.linalg.qr(Q, mode="economic", pivoting=True)
        kept = np.abs(np.diagonal(R)) > 1e-11
        Q = root * problem.centred_points(Q[:, kept] / root)
    return np.asarray(Q / root)
