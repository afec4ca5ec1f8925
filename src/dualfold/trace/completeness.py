"""Proofs that no better eigenvalue was missed.

Everything is told for sign·A, which is minimised. A `Floor` says: off the trivial
directions, at most `below` eigenvalues of the pencil are smaller than `height`.
Nothing here knows how an answer was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.trace.factorisation import factorise
from dualfold.trace.metric import Dense, Diagonal, Identity, Sparse
from dualfold.trace.problem import TraceProblem

Array = np.ndarray[Any, np.dtype[Any]]
UNIT = float(np.finfo(float).eps) / 2

# A Cholesky proof of a dense problem: n³/3 multiply-adds, 2–3 s and n² doubles at 8,000.
MOST_DENSE_ROWS = 8_000
# The random search stops when the chance of having missed something is below this.
MISS = 1e-6


@dataclass(frozen=True)
class Floor:
    """At most `below` eigenvalues off N lie under `height` (by `proof`, up to `chance`)."""

    below: int
    height: float
    proof: str
    chance: float = 0.0
    seen: int | None = None  # how many were counted, where the proof counts


@dataclass(frozen=True, eq=False)
class Answer:
    """A checked answer: B-orthonormal V, ascending values of sign·A, residual norms."""

    V: Array
    values: Array
    residuals: Array
    following: float | None  # the Rayleigh quotient of a further direction, if one is known


def norm_floor(problem: TraceProblem, answer: Answer) -> Floor | None:
    """What the norms of a dense A leave for the rest of the spectrum.

    The compression C of A to the complement of V has ‖C‖² ≤ ‖A‖² − Σθ² (Frobenius),
    and by Cauchy's interlacing the next eigenvalue is not beyond the extreme one of
    C. Of use for maxima that carry nearly all of ‖A‖ (MDS and Isomap of a surface).
    """
    standard = isinstance(problem.A, np.ndarray) and isinstance(problem.metric, Identity)
    if not standard or problem.sense == "min" or problem.trivial.shape[1]:
        return None
    square = sum(
        float(np.einsum("ij,ij->", tile, tile, dtype=float))
        for tile in np.array_split(problem.A, max(1, problem.n // 256))
    )
    # Rounding of the sum: n² terms added in a tree of tiles, at most n + 64 deep.
    left = square * (1 + (problem.n + 64) * 4 * UNIT) - float(np.sum(answer.values**2))
    return Floor(len(answer.values), -np.sqrt(max(left, 0.0)), "norm")


def cholesky_floor(problem: TraceProblem, answer: Answer, below: int, height: float) -> Floor:
    """The dual certificate: A − hB + (a multiple of) BV_c(BV_c)ᵀ positive definite.

    A feasible point of the dual of the trace problem: lifting c directions made the
    matrix positive definite, so at most c eigenvalues lie under h (Weyl). Cholesky
    running to its end proves definiteness up to (n+2)·u·trace (Rump 2006) and the
    rounding made in forming the matrix; the height is lowered by both.
    """
    n, metric = problem.n, problem.metric
    M = np.array(_dense(problem.A), dtype=float, order="F")
    size = float(np.linalg.norm(M))
    M *= problem.sign
    if isinstance(metric, Dense):
        M -= height * metric.matrix
    else:
        M[np.diag_indices(n)] -= height * (metric.sparse().diagonal())
    if isinstance(metric, Sparse):
        M -= height * (metric.matrix - sp.diags_array(metric.matrix.diagonal())).toarray()
    # Any lift of c + p directions leaves the count of the others as it was.
    spread = float(np.abs(np.diagonal(M)).max()) + np.abs(answer.values).max() + abs(height)
    raised = np.hstack([metric.times(answer.V[:, :below]), metric.times(problem.trivial)])
    lifts = np.full(raised.shape[1], spread / metric.lowest)
    if raised.shape[1]:
        M = scipy.linalg.blas.dsyrk(1.0, raised * np.sqrt(lifts), 1.0, M, lower=1, overwrite_c=1)
    trace = float(np.abs(np.diagonal(M)).sum())
    slack = 4 * UNIT * ((n + 2) * trace + (raised.shape[1] + 4) * (size + trace))
    _, failed = scipy.linalg.lapack.dpotrf(M, lower=1, overwrite_a=1, clean=0)
    seen = below if failed == 0 else below + 1
    return Floor(below, height - slack / max(metric.lowest, 1e-300), "Cholesky", seen=seen)


def inertia_floor(problem: TraceProblem, below: int, height: float) -> Floor:
    """Sylvester: A − hB has as many negative pivots as eigenvalues below h.

    The pivots are those of a matrix within an error e of A − hB, so the count holds
    for the eigenvalues below h − e/λ_min(B). For A = MᵀM the pivots come from the
    augmented matrix; moved by e its Schur complement counts those below
    (α − e)(h/α − e/λ_min(B)).
    """
    factor = factorise(problem.shifted(height), problem.ordering)
    expected = problem.auxiliary if problem.sense == "min" else 0
    wobble = factor.backward_error + _shift_rounding(problem, height)
    lowest = max(problem.metric.lowest, 1e-300)
    balance = problem.balance(height)
    spill = abs(height) / balance if problem.auxiliary else 0.0
    wobble = wobble * (balance / lowest + spill) + wobble**2 / lowest * bool(problem.auxiliary)
    trivial = trivial_values(problem)
    hidden = int(np.sum(trivial < height))
    if np.any(np.abs(trivial - height) <= wobble) or factor.zero or not np.isfinite(wobble):
        return Floor(below, -np.inf, "inertia", seen=None)
    return Floor(below, height - wobble, "inertia", seen=factor.negative - expected - hidden)


def random_floor(problem: TraceProblem, answer: Answer, steps: int, seed: int = 1) -> Floor:
    """A random search of the complement of V and N, with a known chance of missing.

    Lanczos from a random start on c − A (positive semidefinite there, c above the
    spectrum): after k steps the largest Ritz value ξ has ξ < (1−ε)λ_max with
    probability at most 1.648·√n·exp(−√ε(2k−1)) (Kuczyński–Woźniakowski 1992,
    Theorem 4.2b). Uses no reorthogonalisation: the extreme Ritz value survives that.
    """
    ceiling = spectrum_ceiling(problem)
    ritz = _complement_minimum(problem, answer.V, ceiling, steps, seed)
    root = np.log(1.648 * np.sqrt(problem.n) / MISS) / (2 * steps - 1)
    epsilon = min(root**2, 0.999999)
    height = ceiling - (ceiling - ritz) / (1 - epsilon)
    better = ritz < answer.values[-1]
    return Floor(
        len(answer.values), height, "random", chance=MISS, seen=len(answer.values) + int(better)
    )


def trivial_values(problem: TraceProblem) -> Array:
    """The eigenvalues of sign·A on the excluded directions."""
    N = problem.trivial
    return np.linalg.eigvalsh(N.T @ problem.descent(N)) if N.shape[1] else np.zeros(0)


def spectrum_ceiling(problem: TraceProblem) -> float:
    """A number above the spectrum of (sign·A, B), not too far above.

    Row sums prove it for a sparse A and a diagonal B; elsewhere it is a power
    iteration with half as much again (only the random search leans on it).
    """
    rng = np.random.default_rng(2)
    v = rng.standard_normal((problem.n, 1))
    top = 0.0
    for _ in range(12):  # power iteration underestimates: the factor below makes up for it
        length = float(np.sqrt(np.einsum("ij,ij->", v, problem.metric.times(v))))
        if length == 0:  # A is 0 (all points are equal)
            break
        v /= length
        w = problem.metric.solve(problem.descent(v))
        top = float(np.sqrt(np.einsum("ij,ij->", w, problem.metric.times(w))))
        v = w
    if not sp.issparse(problem.A) or not isinstance(problem.metric, Identity | Diagonal):
        return 1.5 * top
    return float(problem.metric.solve(abs(problem.A) @ np.ones(problem.n)).max())


def _complement_minimum(
    problem: TraceProblem, V: Array, ceiling: float, steps: int, seed: int
) -> float:
    """The smallest Ritz value of sign·A on the complement of V and N."""
    BV = problem.metric.times(V)

    def off(x: Array) -> Array:
        x = x - V @ (BV.T @ x)
        return problem.off_trivial(x[:, None])[:, 0]

    x = off(np.random.default_rng(seed).standard_normal(problem.n))
    x /= np.sqrt(x @ problem.metric.times(x))
    previous, beta = np.zeros_like(x), 0.0
    diagonal, beside = [], []
    for _ in range(min(steps, problem.n - V.shape[1] - problem.trivial.shape[1])):
        y = off(problem.metric.solve(problem.descent(x[:, None])[:, 0]))
        alpha = float(y @ problem.metric.times(x))
        y = off(y - alpha * x - beta * previous)
        beta = float(np.sqrt(max(float(y @ problem.metric.times(y)), 0.0)))
        diagonal.append(alpha)
        if beta <= 1e-14 * ceiling:
            break
        beside.append(beta)
        previous, x = x, y / beta
    beside = beside[: len(diagonal) - 1]
    lowest = scipy.linalg.eigh_tridiagonal(
        diagonal, beside, eigvals_only=True, select="i", select_range=(0, 0)
    )
    return float(lowest[0])


def _shift_rounding(problem: TraceProblem, height: float) -> float:
    """‖·‖∞ of the rounding made in forming A − hB (at most one unit per entry)."""
    matrix = problem.shifted(height)
    rows = abs(matrix) @ np.ones(matrix.shape[0])
    return (
        2 * UNIT * float(rows.max() + abs(height) * problem.metric.times(np.ones(problem.n)).max())
    )


def _dense(A: Any) -> Array:
    return A.toarray() if sp.issparse(A) else np.asarray(A)
