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
from scipy.sparse.linalg import LinearOperator

from dualfold.kernels import kernel, lapack_threads, one_blas_thread
from dualfold.kernels.progress import steps as told_steps
from dualfold.trace.factorisation import factorise
from dualfold.trace.metric import Dense, Diagonal, Identity, Sparse
from dualfold.trace.problem import TraceProblem

Array = np.ndarray[Any, np.dtype[Any]]
UNIT = float(np.finfo(float).eps) / 2
_average_halves = kernel("average_halves", None, "int64", "float64[]")

# A Cholesky proof of a dense problem: n³/3 multiply-adds, 2–3 s and n² doubles at 8,000.
MOST_DENSE_ROWS = 8_000
# A sparse matrix or an operator is filled for such a proof up to here (0.1 s).
MOST_FILLED_ROWS = 3_000
# The Krylov space of the deflated norm bound. Isomap of MNIST 10,000 (θ₂ = 5.6e10) needs
# ten vectors past V, which this finds well enough: 48 columns of products.
KRYLOV_BLOCK, KRYLOV_DEPTH = 12, 4
# The chance of a miss that a random search is allowed, and its longest run: 3 ms a step
# for MNIST's 70,000 points.
MISS, MOST_STEPS = 1e-6, 1_500


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
    wider: Answer | None = None  # the same for the span of the answer and all further directions


def norm_floor(problem: TraceProblem, answer: Answer) -> Floor | None:
    """What the norms of a dense A leave for the rest of the spectrum.

    The compression C of A to the complement of V has ‖C‖² ≤ ‖A‖² − Σθ² (Frobenius),
    and by Cauchy's interlacing the next eigenvalue is not beyond the extreme one of
    C. Of use for maxima that carry nearly all of ‖A‖ (MDS and Isomap of a surface).
    """
    if not _norms_are_known(problem):
        return None
    left = problem.square_norm - float(np.sum(answer.values**2))
    return Floor(len(answer.values), -np.sqrt(max(left, 0.0)), "norm")


def deflated_norm_floor(problem: TraceProblem, answer: Answer, seed: int = 3) -> Floor | None:
    """The same with some of the spectrum past V taken out of the norm first.

    In the complement of V take orthonormal W with WᵀAW = diag(μ), and Z for the rest.
    There A is [[diag(μ), Rᵀ], [R, ZᵀAZ]] with ‖ZᵀAZ‖² ≤ ‖A‖² − Σθ² − Σμ², so nothing
    exceeds the larger eigenvalue of [[max μ, ‖R‖], [‖R‖, ‖ZᵀAZ‖]]. W holds Ritz vectors
    of a block Krylov space; any W is a proof, and the best number of them is taken.
    """
    if not _norms_are_known(problem) or problem.n < 4 * KRYLOV_BLOCK * KRYLOV_DEPTH:
        return None
    W, AW = _krylov_complement(problem, answer.V, seed)
    left = problem.square_norm - float(np.sum(answer.values**2))
    mu, S = np.linalg.eigh(W.T @ AW)
    large_first = np.argsort(-np.abs(mu))
    mu, W, AW = mu[large_first], W @ S[:, large_first], AW @ S[:, large_first]
    R = AW - answer.V @ (answer.V.T @ AW) - W * mu
    gram, best = R.T @ R, np.inf
    for k in range(1, len(mu) + 1):
        far = np.sqrt(max(left - float(np.sum(mu[:k] ** 2)), 0.0))
        cross, near = np.sqrt(np.linalg.norm(gram[:k, :k], 2)), float(mu[:k].max())
        best = min(best, (near + far) / 2 + float(np.hypot((near - far) / 2, cross)))
    return Floor(len(answer.values), -best, "norm")


def _norms_are_known(problem: TraceProblem) -> bool:
    standard = isinstance(problem.A, np.ndarray) and isinstance(problem.metric, Identity)
    return standard and problem.sense == "max" and not problem.trivial.shape[1]


def _krylov_complement(problem: TraceProblem, V: Array, seed: int) -> tuple[Array, Array]:
    """An orthonormal basis W of a block Krylov space off V, and A·W."""
    block = np.random.default_rng(seed).standard_normal((problem.n, KRYLOV_BLOCK))
    W, AW = np.zeros((problem.n, 0)), np.zeros((problem.n, 0))
    for _ in range(KRYLOV_DEPTH):
        with one_blas_thread():
            for _ in range(2):  # the second pass removes what rounding left of the first
                block = block - V @ (V.T @ block) - W @ (W.T @ block)
                block = np.linalg.qr(block)[0]
        image = problem.sign * problem.descent(block)
        W, AW = np.hstack([W, block]), np.hstack([AW, image])
        block = image
    return W, AW


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
    # dpotrf reads one triangle; A may be symmetric to 1e-6 only.
    _average_halves(n, M.T)
    M *= problem.sign
    if isinstance(metric, Dense):
        M -= height * metric.matrix
    else:
        M[np.diag_indices(n)] -= height * (metric.sparse().diagonal())
    if isinstance(metric, Sparse):
        M -= height * (metric.matrix - sp.diags_array(metric.matrix.diagonal())).toarray()
    # Any lift of c + p directions leaves the count of the others as it was.
    spread = float((np.abs(np.diagonal(M)) / metric.sparse().diagonal()).max())
    spread += float(np.abs(answer.values).max()) + abs(height)
    spread += float(np.abs(trivial_values(problem)).max(initial=0.0))
    raised = np.hstack([metric.times(answer.V[:, :below]), metric.times(problem.trivial)])
    lifts = np.full(raised.shape[1], spread)
    if raised.shape[1]:
        M = scipy.linalg.blas.dsyrk(1.0, raised * np.sqrt(lifts), 1.0, M, lower=1, overwrite_c=1)
    trace = float(np.abs(np.diagonal(M)).sum())
    slack = 4 * UNIT * ((n + 2) * trace + (raised.shape[1] + 4) * (size + trace))
    with lapack_threads(n):
        _, failed = scipy.linalg.lapack.dpotrf(M, lower=1, overwrite_a=1, clean=0)
    seen = below if failed == 0 else below + 1
    return Floor(below, height - slack / max(metric.lowest, 1e-300), "Cholesky", seen=seen)


def inertia_floor(problem: TraceProblem, below: int, height: float) -> Floor:
    """Sylvester: A − hB has as many negative pivots as eigenvalues below h.

    The pivots are those of A − hB + E with |xᵀEx| ≤ Σ e_i x_i², so the count holds for
    the eigenvalues below h − max(e)/λ_min(B), or h − max(e/b) for a diagonal B. For
    A = MᵀM the pivots come from the augmented matrix. Its rows get errors of their own,
    e of the auxiliary ones and f of the others; raising its diagonal by them makes no
    eigenvalue smaller and gives the count below (α − s·e)(h/α − f/λ_min(B)), s the sign.
    """
    matrix = problem.shifted(height)
    factor = factorise(matrix, problem.ordering)
    before = problem.auxiliary
    expected = before if problem.sense == "min" else 0
    errors = factor.row_errors if np.isfinite(factor.backward_error) else np.full(1, np.inf)
    errors = errors + _shift_rounding(problem, matrix, height)
    lowest = max(problem.metric.lowest, 1e-300)
    if problem.turned:  # x of a turned row is half of one and half of the other
        errors = np.full(len(errors), errors.max())
    if before:
        balance = problem.balance(height)
        rest = height / balance - errors[before:].max() / lowest
        room = balance - problem.sign * errors[:before].max()
        reached = min(height, rest * room) if room > 0 else -np.inf
    else:
        spread = problem.metric.entries if isinstance(problem.metric, Diagonal) else lowest
        reached = height - float((errors / spread).max())
    trivial = trivial_values(problem)
    reached -= _coupling(problem)
    hidden = int(np.sum(trivial < height))
    unclear = np.abs(trivial - height) <= height - reached
    if np.any(unclear) or factor.zero or not np.isfinite(reached):
        return Floor(below, -np.inf, "inertia", seen=None)
    return Floor(below, reached, "inertia", seen=factor.negative - expected - hidden)


def random_floor(problem: TraceProblem, answer: Answer, seed: int = 1) -> Floor:
    """A random search of the complement of V and N, with a known chance of missing.

    Lanczos from a random start on c − A (positive semidefinite there, c above the
    spectrum): after k steps the largest Ritz value ξ has ξ < (1−ε)λ_max with
    probability at most 1.648·√n·exp(−√ε(2k−1)) (Kuczyński–Woźniakowski 1992,
    Theorem 4.2b). k is chosen so that ε resolves half of the eigengap that the further
    direction hints at, up to MOST_STEPS. Uses no reorthogonalisation: the extreme Ritz
    value survives that.
    """
    ceiling = spectrum_ceiling(problem)
    unlikely = float(np.log(1.648 * np.sqrt(problem.n) / MISS))
    last = float(answer.values[-1])
    following = last if answer.following is None else answer.following
    resolved = max(0.5 * (following - last) / max(ceiling - last, 1e-300), 1e-12)
    steps = int(np.clip((unlikely / np.sqrt(resolved) + 1) / 2, 50, MOST_STEPS))
    # Tall and thin: a second thread mostly waits (3 s became 25 on a busy machine).
    with one_blas_thread():
        ritz, steps = _complement_minimum(problem, answer.V, ceiling, steps, seed)
    epsilon = min((unlikely / (2 * steps - 1)) ** 2, 0.999999)
    height = ceiling - (ceiling - ritz) / (1 - epsilon)
    count = len(answer.values)
    better = ritz < last - max(float(answer.residuals[-1]), 64 * UNIT * ceiling)
    return Floor(count, height, "random", chance=MISS, seen=count + int(better))


def trivial_values(problem: TraceProblem) -> Array:
    """The eigenvalues of sign·A on the excluded directions."""
    N = problem.trivial
    return np.linalg.eigvalsh(problem.quadratic(N)) if N.shape[1] else np.zeros(0)


def _coupling(problem: TraceProblem) -> float:
    """‖AN − BN(NᵀAN)‖ (B⁻¹ norm): taking it out of A makes N invariant, moves λ by no more."""
    N, metric = problem.trivial, problem.metric
    if not N.shape[1]:
        return 0.0
    AN = problem.descent(N)
    R = AN - metric.times(N) @ (N.T @ AN)
    return float(np.sqrt(max(float(np.einsum("ij,ij->", R, metric.solve(R))), 0.0)))


def spectrum_ceiling(problem: TraceProblem) -> float:
    """A number above the spectrum of (sign·A, B), not too far above.

    Row sums prove it for a sparse A and a diagonal B; elsewhere it is a power
    iteration with half as much again (only the random search leans on it).
    """
    if sp.issparse(problem.A) and isinstance(problem.metric, Identity | Diagonal):
        return float(problem.metric.solve(abs(problem.A) @ np.ones(problem.n)).max())
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
    return 1.5 * top


def spectrum_scale(problem: TraceProblem) -> float:
    """The size of the spectrum, from above, at the least cost.

    The Frobenius norm of a dense A is at hand (for maxima it is needed anyway).
    """
    if isinstance(problem.A, np.ndarray) and isinstance(problem.metric, Identity):
        return float(np.sqrt(problem.square_norm))
    return spectrum_ceiling(problem)


def _complement_minimum(
    problem: TraceProblem, V: Array, ceiling: float, steps: int, seed: int
) -> tuple[float, int]:
    """The smallest Ritz value of sign·A on the complement of V and N, and the steps made."""
    BV = problem.metric.times(V)

    def off(x: Array) -> Array:
        x = x - V @ (BV.T @ x)
        return problem.off_trivial(x[:, None])[:, 0]

    x = off(np.random.default_rng(seed).standard_normal(problem.n))
    x /= np.sqrt(x @ problem.metric.times(x))
    previous, beta = np.zeros_like(x), 0.0
    diagonal, beside = [], []
    most = min(steps, problem.n - V.shape[1] - problem.trivial.shape[1])
    with told_steps("searching for anything better", most) as done:
        for _ in range(most):
            y = off(problem.metric.solve(problem.descent(x[:, None])[:, 0]))
            alpha = float(y @ problem.metric.times(x))
            y = off(y - alpha * x - beta * previous)
            beta = float(np.sqrt(max(float(y @ problem.metric.times(y)), 0.0)))
            diagonal.append(alpha)
            if beta <= 1e-14 * ceiling:
                break
            beside.append(beta)
            previous, x = x, y / beta
            done(1)
    beside = beside[: len(diagonal) - 1]
    lowest = scipy.linalg.eigh_tridiagonal(
        diagonal, beside, eigvals_only=True, select="i", select_range=(0, 0)
    )
    return float(lowest[0]), len(diagonal)


def _shift_rounding(problem: TraceProblem, matrix: sp.csr_array, height: float) -> Array:
    """Row sums of the rounding made in forming A − hB (at most one unit per entry)."""
    rows = abs(matrix) @ np.ones(matrix.shape[0])
    balance = problem.balance(height)
    shifts = abs(height) / balance * (abs(problem.metric.sparse()) @ np.ones(problem.n))
    if problem.turned:  # the shift and α stand in both halves, as sum and difference
        rows += np.tile(shifts + balance, 2)
    else:
        rows[problem.auxiliary :] += shifts
    return np.asarray(2 * UNIT * rows)


def _dense(A: Any) -> Array:
    if sp.issparse(A):
        return np.asarray(A.toarray())
    return np.asarray(A @ np.eye(A.shape[0]) if isinstance(A, LinearOperator) else A)
