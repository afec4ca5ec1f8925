"""A random search for anything better, with a known chance of missing it.

Lanczos from a start that is uniform on the sphere of the B-norm, in the complement of V and
N. After k steps the extreme Ritz values ξ of an operator with eigenvalues in [a, b] satisfy

    b − ξ_max ≤ ε(b − a)   and   ξ_min − a ≤ ε(b − a),

each but for a chance of 1.648·√n·exp(−√ε(2k − 1)) (Kuczyński and Woźniakowski 1992, theorem
4.2, for A − a and b − A: a Krylov space does not change with a shift). So b − a is at most
(ξ_max − ξ_min)/(1 − 2ε), and a ≥ ξ_min − ε/(1 − 2ε)·(ξ_max − ξ_min): no bound of the spectrum
has to be known beforehand.

Whether to go on is decided at a few checkpoints from what was seen so far; the chance is shared
among them, so it holds wherever the search ends.

A Krylov space that ends early, invariant to β, has less than β/g of an eigenvector whose eigenvalue
lies g below its own, and so has the start: of a uniform one that is so but for a chance of √n·β/g.
With an operator of few eigenvalues this is all that is ever seen, so other starts follow, until
all of them together leave no more than the chance allowed.

The start is drawn after the problem is known: its seed is a hash of A, B, N and V, so that bits
repeat and a problem made to hide from the start would have to be found by 10¹² tries. An operator
cannot be hashed: there the chance assumes that it does not depend on the start.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, splu, spsolve_triangular

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import LENGTH_UNDERFLOW, UNIT_ROUNDOFF
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import one_blas_thread
from dualfold.trace.metric import DenseMetric, Diagonal, Metric, SparseMetric
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.rounding import OPERATOR_ERROR, norm_bound
from dualfold.trace.proof.trial_directions import Trial

# The chance of a miss that a search is allowed, at both ends together, and its longest run
# (docs/dev/notes/trace-certificates.md).
MISS_CHANCE = 1e-12
MAX_STEPS = 1_500
CHECKPOINT_STEPS = (60, 90, 140, 210, 320, 480, 720, 1_080, MAX_STEPS)
# A complement of at most this dimension is searched completely.
MAX_FULLY_SEARCHED = 200
# The number of starts, where the Krylov spaces of the first ones end early.
MAX_STARTS = 4
# A Krylov space ends where a new direction is at most this share of the spectrum.
INVARIANT_TOLERANCE = 8 * UNIT_ROUNDOFF
Outcome = Literal["open", "invariant", "whole"]


def random_floor(
    problem: TraceProblem,
    answer: Trial,
    scale: float,
    tolerance: float,
    fresh: bool,
) -> SpectralFloor:
    """A floor that holds but for a stated chance."""
    room = problem.n - answer.V.shape[1] - problem.excluded_basis.shape[1]
    count, last = len(answer.h), float(answer.h[-1])
    if room <= 0:  # nothing is left to be found
        return SpectralFloor(count, np.inf, "random", chance=0.0, seen=count)
    seed, blur = seed_of(problem, answer.V, fresh), _blur(problem, scale)
    # How much better a direction must be to count as missed; the bracket bounds anything less.
    least = max(float(np.sqrt(answer.squares[-1])), blur, tolerance * abs(answer.total))

    def far_enough(low: float, high: float, steps: int) -> bool:
        """A floor halfway to what comes next; or something better than the answer."""
        floor = _height(problem.n, low, high, steps) - blur
        return low < last - 2 * least or floor >= (low + last) / 2 > last

    # One BLAS thread: the matrices are tall and thin.
    low, high, chance = np.inf, -np.inf, 0.0
    for number in range(MAX_STARTS):
        start = uniform_start(problem, answer.V, seed + number)
        with one_blas_thread():
            first, final, steps, outcome = _extreme_ritz_values(
                problem, answer.V, start, scale, far_enough
            )
        low, high, chance = min(low, first), max(high, final), chance + MISS_CHANCE
        if outcome != "invariant":
            break
    blur += 16 * steps * UNIT_ROUNDOFF * max(abs(low), abs(high))
    height = low - blur
    if outcome == "open":
        height = _height(problem.n, low, high, steps) - blur
    elif outcome == "invariant":
        height -= (
            np.sqrt(problem.n)
            * (blur + INVARIANT_TOLERANCE * scale)
            / MISS_CHANCE ** (1 / MAX_STARTS)
        )
    return SpectralFloor(
        count,
        float(height),
        "random",
        chance=chance,
        seen=count + int(low < last - max(least, blur)),
    )


def _height(n: int, low: float, high: float, steps: int) -> float:
    """Height below all eigenvalues of the complement, after `steps` steps, but for MISS_CHANCE."""
    unlikely = float(np.log(2 * 1.648 * np.sqrt(n) * len(CHECKPOINT_STEPS) / MISS_CHANCE))
    epsilon = (unlikely / (2 * steps - 1)) ** 2
    return low - epsilon / (1 - 2 * epsilon) * (high - low) if epsilon < 0.5 else -np.inf


def _blur(problem: TraceProblem, scale: float) -> float:
    """Bound of what rounding of B⁻¹A, errors of an operator and N's inexact span can move."""
    metric = problem.metric
    condition = 4.0
    if isinstance(metric, DenseMetric | SparseMetric):
        condition += float(abs(metric.matrix).sum(axis=1).max()) / max(metric.lowest, 1e-300)
    moved = 64 * UNIT_ROUNDOFF * condition * scale + 4 * problem.excluded_error * scale
    own = problem.asymmetry + LENGTH_UNDERFLOW
    if isinstance(problem.A, LinearOperator) and not isinstance(problem.A, Gramian):
        own += OPERATOR_ERROR * norm_bound(problem)
    return moved + own / max(metric.lowest, 1e-300)


def seed_of(problem: TraceProblem, V: Array, fresh: bool) -> int:
    """A seed that the author of the problem could not choose; `fresh` ones do not repeat."""
    if fresh:
        return int.from_bytes(os.urandom(16), "big")
    digest = hashlib.blake2b(digest_size=16)
    parts = [V, problem.excluded_basis, *_arrays(problem.metric)]
    A = problem.A.factor if isinstance(problem.A, Gramian) else problem.A
    if sp.issparse(A):
        parts += [A.data, A.indices, A.indptr]
    else:
        parts.append(A if isinstance(A, np.ndarray) else problem.descent(V))
    for part in parts:
        digest.update(repr((part.shape, part.dtype.str)).encode())
        digest.update(np.ascontiguousarray(part).data)
    return int.from_bytes(digest.digest(), "big")


def _arrays(metric: Metric) -> list[Array]:
    if isinstance(metric, SparseMetric):
        return [metric.matrix.data, metric.matrix.indices, metric.matrix.indptr]
    if isinstance(metric, DenseMetric):
        return [metric.matrix]
    return [metric.entries] if isinstance(metric, Diagonal) else []


def uniform_start(problem: TraceProblem, V: Array, seed: int) -> Array:
    """A vector whose direction is uniform in the B-norm, off V and N: L⁻ᵀg, B = LLᵀ."""
    g = np.random.default_rng(seed).standard_normal(problem.n)
    metric = problem.metric
    if isinstance(metric, Diagonal):
        x = g / np.sqrt(metric.entries)
    elif isinstance(metric, DenseMetric):
        lower = np.linalg.cholesky(metric.matrix)
        x = scipy.linalg.solve_triangular(lower, g, lower=True, trans="T")
    elif isinstance(metric, SparseMetric):
        x = _sparse_root_inverse(metric.matrix, g)
    else:
        x = g
    return np.asarray(x)


def _sparse_root_inverse(B: sp.csr_array, g: Array) -> Array:
    """L⁻ᵀg for PBPᵀ = LLᵀ, from SuperLU with one order for rows and columns."""
    lu = splu(
        sp.csc_array(B),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    pivots = lu.U.diagonal()  # U = D·Lᵀ, so L⁻ᵀD^-½g = U⁻¹D^½g
    inner = spsolve_triangular(sp.csr_array(lu.U), np.sqrt(pivots) * g, lower=False)
    return np.asarray(inner[lu.perm_c])


def _extreme_ritz_values(
    problem: TraceProblem,
    V: Array,
    start: Array,
    scale: float,
    far_enough: Callable[[float, float, int], bool],
) -> tuple[float, float, int, Outcome]:
    """The ends of sign·A on the complement of V and N, the steps made, and how it ended."""
    outside = np.hstack([V, problem.excluded_basis])
    weighted = problem.metric.times(outside)

    def off(x: Array) -> Array:
        for _ in range(2):  # V and N are orthogonal to rounding only
            x = x - outside @ (weighted.T @ x)
        return x

    x = off(start)
    x /= np.sqrt(x @ problem.metric.times(x))
    previous, beta = np.zeros_like(x), 0.0
    outcome: Outcome = "open"
    diagonal: list[float] = []
    beside: list[float] = []
    basis = np.zeros((problem.n, 0))
    room = problem.n - outside.shape[1]
    most = min(MAX_STEPS, room)
    with steps("searching for anything better", most) as done:
        for step in range(1, most + 1):
            y = problem.metric.solve(problem.descent(x[:, None])[:, 0])
            alpha = float(y @ problem.metric.times(x))
            y = off(y - alpha * x - beta * previous)
            if (
                room <= MAX_FULLY_SEARCHED
            ):  # the whole complement is searched: its basis must stay one
                basis = np.column_stack([basis, x])
                for _ in range(2):  # what is left may be small, and rounding of the first pass
                    y = off(y - basis @ (basis.T @ problem.metric.times(y)))
            beta = float(np.sqrt(max(float(y @ problem.metric.times(y)), 0.0)))
            diagonal.append(alpha)
            if beta <= INVARIANT_TOLERANCE * scale:
                outcome = "invariant"
                break
            if step in CHECKPOINT_STEPS and room > MAX_FULLY_SEARCHED:
                low, high = _ends(diagonal, beside)
                if far_enough(low, high, step):
                    break
            beside.append(beta)
            previous, x = x, y / beta
            done(1)
    low, high = _ends(diagonal, beside)
    return (
        low,
        high,
        len(diagonal),
        "whole" if len(diagonal) == room <= MAX_FULLY_SEARCHED else outcome,
    )


def _ends(diagonal: list[float], beside: list[float]) -> tuple[float, float]:
    """The smallest and the largest Ritz value."""
    ritz = scipy.linalg.eigh_tridiagonal(diagonal, beside[: len(diagonal) - 1], eigvals_only=True)
    return float(ritz[0]), float(ritz[-1])
