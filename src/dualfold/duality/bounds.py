"""Both sides of maximum variance unfolding, each from one half of an answer alone.

Above: for any weights with λ₂(L(w)) ≥ ℓ > 0 (w ≥ 0 where edges are "at_most" d)

    tr K = ⟨I, K⟩ ≤ ⟨L(w), K⟩/ℓ = Σ w_e (K_ii + K_jj − 2K_ij)/ℓ ≤ Σ w_e d_e²/ℓ.

A Ritz value is never below λ₂ and proves nothing, so ℓ is proved by inertia: L − σM
with exactly one negative pivot (the constant vector's) has λ₂ ≥ σ, up to the rounding of
the factorisation, which is bounded. Below: any points, shrunk until no edge is too long.
Two more bounds come from the graph's geodesics g, since ‖y_i − y_j‖ ≤ g_ij:

    tr K ≤ (1/2n) Σ_ij g_ij²   (Isomap's trace)      tr K ≤ Σ_i g_ic²   for every c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, eigsh

from dualfold.duality.unfolding import UnfoldingProblem
from dualfold.errors import TooLarge
from dualfold.graph import from_lengths, geodesic_distances
from dualfold.kernels import lapack_threads
from dualfold.trace.factorisation import Ordering, factorise, fill_reducing_ordering
from dualfold.trace.problem import MOST_FLOPS

Array = np.ndarray[Any, np.dtype[Any]]
UNIT = 2.0**-53

# Directions that inverse iteration carries beside those it is given, and its rounds.
EXTRA, ROUNDS = 4, 30
# Up to here a dense matrix is filled for a proof (0.1 s), when the sparse one left more open
# than this share of λ₂.
MOST_FILLED_ROWS, GOOD = 3_000, 1e-9
# How far below the Ritz value λ₂ is tried, relatively, until one can be proved.
DROPS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9)
# All pairs of geodesics are cheap up to here (0.2 s and 128 MB), single centres always.
ALL_PAIRS = 4_000
CENTRES = 8


@dataclass(frozen=True, eq=False)
class SecondEigenvalue:
    """λ₂ of (L(w), M): `proved` ≤ λ₂ ≤ `ritz`, and the Ritz pairs near it.

    proved : 0 when nothing positive could be proved
    values, vectors : the lowest Ritz pairs off the constant vector, ascending
    measured : the matrix was too large to factorise, so that nothing could be proved
    """

    proved: float
    ritz: float
    values: Array
    vectors: Array
    measured: bool = False


@dataclass(frozen=True)
class GeodesicBounds:
    """Upper bounds of tr K from path lengths; None where they were not computed."""

    isomap: float | None
    centre: float


def scaled_into(problem: UnfoldingProblem, factor: Array) -> tuple[float, float]:
    """(s², value): Y·s violates no edge, and tr K = value for it, rounding deducted."""
    Y = problem.centred(factor)
    lengths = problem.squared_lengths(Y)
    longest = float(np.max(lengths / problem.squared, initial=0.0))
    if longest == 0 or not np.isfinite(longest):
        return 0.0, 0.0
    # Differences, squares and sums of positive terms: so many units at the most.
    lost = (problem.n + 4 * Y.shape[1] + 32) * 4 * UNIT
    return 1 / longest, problem.value(Y) / longest * (1 - lost)


def lowest_pairs(
    problem: UnfoldingProblem, weights: Array, start: Array, *, ordering: Ordering | None = None
) -> tuple[Array, Array]:
    """Ritz pairs of (L(w), M) off the constant vector, ascending, by inverse iteration.

    `start` holds guesses (the points themselves: L·Y = M·Y at the optimum).
    """
    n, mass = problem.n, problem.mass
    L = problem.laplacian(weights)
    rng = np.random.default_rng(5)
    block = np.hstack([start[:, : min(8, n - 1)], rng.standard_normal((n, EXTRA))])
    block = block[:, : max(1, n - 1)]
    values = np.zeros(block.shape[1])
    solve: Any = None
    for rounds in range(ROUNDS):
        block = _orthonormal(problem, block)
        if block.shape[1] == 0:
            return np.zeros(1), np.zeros((n, 1))
        fresh, turn = np.linalg.eigh(block.T @ (L @ block))
        block = block @ turn
        if rounds > 2 and abs(fresh[0] - values[0]) <= 1e-14 * abs(fresh[0]):
            break
        values = fresh
        if solve is None:
            # Just below 0 the matrix is definite, and 0 itself is no eigenvalue.
            shift = 1e-3 * max(abs(float(values[0])), 1e-300)
            shifted = sp.csr_array(L + sp.diags_array(shift * mass))
            ordering = ordering or _ordering(problem)
            solve = factorise(shifted, ordering).solve
        block = solve(mass[:, None] * block)
    return fresh, block


def second_eigenvalue(problem: UnfoldingProblem, weights: Array, start: Array) -> SecondEigenvalue:
    """λ₂ of the weighted graph, from below by a proof and from above by a Ritz value."""
    try:
        ordering = _ordering(problem)
        values, vectors = lowest_pairs(problem, weights, start, ordering=ordering)
    except TooLarge:  # no factor, no proof: the values of a Krylov space are all there is
        values, vectors = _krylov_pairs(problem, weights, start)
        return SecondEigenvalue(0.0, float(values[0]), values, vectors, measured=True)
    ritz = float(values[0])
    proved = 0.0
    if ritz > 0 and np.isfinite(ritz):
        proved = _best_floor(problem, weights, ritz, ordering)
    return SecondEigenvalue(proved, ritz, values, vectors)


def _best_floor(
    problem: UnfoldingProblem, weights: Array, ritz: float, ordering: Ordering
) -> float:
    """The largest lower bound of λ₂ that can be proved a little below its Ritz value.

    Nearer to λ₂ means smaller pivots and so more rounding: further drops are tried while
    they can still do better. Where λ₂ is repeated (a cycle) that costs digits, and a dense
    Cholesky factorisation, whose rounding does not grow, gets them back.
    """
    best = 0.0
    for drop in DROPS:
        if best >= ritz * (1 - drop):
            break
        best = max(best, proved_floor(problem, weights, ritz * (1 - drop), ordering))
    if problem.n <= MOST_FILLED_ROWS:
        for drop in DROPS:
            if best >= ritz * (1 - max(drop, GOOD)):
                break
            best = max(best, cholesky_floor(problem, weights, ritz * (1 - drop)))
    return best


def cholesky_floor(problem: UnfoldingProblem, weights: Array, height: float) -> float:
    """The same by a dense Cholesky factorisation; 0 if it breaks down.

    A = L − σM + 2σmmᵀ/Σm has, off the constant vector, the values of L − σM. If the
    factorisation runs through, RᵀR = A + E with |E_ij| ≤ γ√(a_ii a_jj) (Higham, theorem
    10.3), so |xᵀEx| ≤ γ Σ(a_ii/m_i)·xᵀMx.
    """
    mass, n = problem.mass, problem.n
    A = problem.laplacian(weights).toarray()
    A[np.diag_indices(n)] -= height * mass
    A += np.outer(mass, 2 * height * mass / mass.sum())
    diagonal = np.diagonal(A).copy()
    if not np.all(diagonal > 0):
        return 0.0
    with lapack_threads(n):
        status = lapack.dpotrf(A, lower=1, clean=0)[1]
    if status:
        return 0.0
    gamma = (n + 2) * UNIT / (1 - (n + 2) * UNIT)
    degree = np.bincount(problem.edges.ravel(), minlength=n)
    sizes = problem.laplacian(np.abs(weights)).diagonal() + 4 * abs(height) * mass
    formed = float(np.max((degree + 8) * 2 * UNIT * sizes / mass))
    return max(0.0, height - 1.01 * gamma * float(np.sum(diagonal / mass)) - formed)


def proved_floor(
    problem: UnfoldingProblem, weights: Array, height: float, ordering: Ordering | None = None
) -> float:
    """A number below `height` that λ₂(L(w), M) is proved to reach; 0 if there is none.

    LDLᵀ = L − σM + E with |xᵀEx| ≤ Σ row_errors·x². One negative pivot: all eigenvalues
    but the lowest are ≥ 0, so λ₂ ≥ σ − max(row errors / mass).
    """
    count, error = eigenvalues_below(problem, weights, height, ordering)
    return max(0.0, height - error) if count == 1 else 0.0


def eigenvalues_below(
    problem: UnfoldingProblem, weights: Array, height: float, ordering: Ordering | None = None
) -> tuple[int | None, float]:
    """How many eigenvalues of (L(w), M) lie below `height`, and how sure: (count, error).

    Exact for a height within `error` of the given one; None when a pivot is 0.
    """
    L, mass = problem.laplacian(weights), problem.mass
    shifted = sp.csr_array(L - sp.diags_array(height * mass))
    factor = factorise(shifted, ordering or _ordering(problem))
    if factor.zero or not np.isfinite(factor.backward_error):
        return None, np.inf
    # Forming the diagonal of L adds its degree many weights; the shift is one more.
    degree = np.bincount(problem.edges.ravel(), minlength=problem.n)
    sizes = problem.laplacian(np.abs(weights)).diagonal() + abs(height) * mass
    errors = factor.row_errors + (degree + 3) * 2 * UNIT * sizes
    return factor.negative, float(np.max(errors / mass))


def dual_value(problem: UnfoldingProblem, weights: Array, relaxation: float = 0.0) -> float:
    """Σ w d² (+ ε Σ|w|d² where lengths may be off by ε), rounding added."""
    parts = weights * problem.squared
    size = float(np.abs(parts).sum())
    return float(parts.sum()) + relaxation * size + (problem.m + 8) * 2 * UNIT * size


def geodesic_bounds(problem: UnfoldingProblem) -> GeodesicBounds:
    """The two bounds from path lengths (from `CENTRES` centres when points are many)."""
    i, j = problem.edges.T
    lengths = np.sqrt(problem.squared)
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    graph = from_lengths(
        sp.csr_array(sp.coo_array((np.tile(lengths, 2), both), shape=(problem.n, problem.n)))
    )
    mass = problem.mass
    # A path of up to n edges, its square, a sum: so many units of rounding.
    added = 1 + 8 * (problem.n + 8) * UNIT
    if problem.n <= ALL_PAIRS:
        squares = geodesic_distances(graph, dtype=np.float64) ** 2
        sums = squares @ mass
        isomap = float(mass @ sums) / (2 * float(mass.sum()))
        return GeodesicBounds(isomap * added, float(sums.min()) * added)
    # The middle of a longest path, and points that share its place.
    first = geodesic_distances(graph, [0], dtype=np.float64)[0]
    end = int(np.argmax(first))
    one = geodesic_distances(graph, [end], dtype=np.float64)[0]
    other = geodesic_distances(graph, [int(np.argmax(one))], dtype=np.float64)[0]
    middle = np.argsort(np.maximum(one, other), kind="stable")[:CENTRES]
    sums = geodesic_distances(graph, middle, dtype=np.float64) ** 2 @ mass
    return GeodesicBounds(None, float(sums.min()) * added)


def _ordering(problem: UnfoldingProblem) -> Ordering:
    # Unit weights: the pattern of every L(w), also where some weights are 0.
    return fill_reducing_ordering(problem.laplacian(np.ones(problem.m)), most_flops=MOST_FLOPS)


def _krylov_pairs(problem: UnfoldingProblem, weights: Array, start: Array) -> tuple[Array, Array]:
    """Ritz pairs of (L(w), M) off the constant vector without a factorisation."""
    root = np.sqrt(problem.mass)
    L = problem.laplacian(weights)
    u = root / np.linalg.norm(root)
    lift = 2 * float(np.max(L.diagonal() / problem.mass))
    shape = (problem.n, problem.n)

    def times(x: Array) -> Array:
        x = x.ravel()
        return np.asarray((L @ (x / root)) / root + lift * (u @ x) * u)

    operator = LinearOperator(shape, matvec=times, dtype=float)
    first = root * problem.centred(start[:, 0])
    values, vectors = eigsh(operator, 3, which="SA", v0=first, tol=1e-8, ncv=60)
    return values, vectors / root[:, None]


def _orthonormal(problem: UnfoldingProblem, block: Array) -> Array:
    """An M-orthonormal basis of the columns, off the constant vector."""
    root = np.sqrt(problem.mass)[:, None]
    Q = root * problem.centred(block)
    size = np.linalg.norm(Q, axis=0)
    Q = Q[:, size > 1e-12 * size.max(initial=1e-300)]
    Q = Q / np.linalg.norm(Q, axis=0)
    for _ in range(2):  # the second pass removes what rounding left of the first
        Q, R, _ = scipy.linalg.qr(Q, mode="economic", pivoting=True)
        kept = np.abs(np.diagonal(R)) > 1e-11
        Q = root * problem.centred(Q[:, kept] / root)
    return np.asarray(Q / root)
