"""Proofs that no better eigenvalue was missed: spectral floors.

All statements are about A' = sign·A with the excluded directions lifted (`trial_directions`),
which is minimised. A `SpectralFloor` states that at most `below` eigenvalues of (A', B) are
smaller than `height`. Nothing here knows how an answer was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array, Matrix
from dualfold.kernels import kernel
from dualfold.kernels.arithmetic import LENGTH_UNDERFLOW, UNIT_ROUNDOFF, gamma
from dualfold.kernels.threads import lapack_threads, one_blas_thread
from dualfold.trace.metric import DenseMetric, Diagonal, Identity, SparseMetric
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.dense_inertia import dense_inertia, form_bound, row_errors
from dualfold.trace.proof.rounding import UP, column_norms, longest_row, metric_errors, norm_bound
from dualfold.trace.proof.trial_directions import Trial, trial
from dualfold.trace.sparse.factorisation import Factorisation, factorise
from dualfold.trace.sparse.mirrored_rows import RotatedMatrix
from dualfold.trace.sparse.shifted_matrices import (
    absolute_row_sums,
    lowered_matrix,
    shifted_matrices,
)

_average_halves = kernel("average_halves")

# The Krylov space of the deflated norm bound (docs/dev/notes/trace-certificates.md).
KRYLOV_BLOCK = 12
KRYLOV_DEPTH = 4

# A matrix with room for the rounding errors has other errors; this converges soon or never.
MAX_LOWERINGS = 3


@dataclass(frozen=True, eq=False)
class SpectralFloor:
    """At most `below` eigenvalues of (A', B) lie under `height` (by `proof`, up to `chance`)."""

    below: int
    height: float
    proof: str
    chance: float = 0.0
    seen: int | None = None  # how many were counted; None: rounding spoiled the count
    error: float = 0.0  # how far rounding moved the height from where it was put
    # (A' − hB)⁻¹ at the height that was tried, to make trial directions better; never trusted.
    # For singular values: (x, y) of (J − η)(x, y) = (0, R).
    solve: Callable[[Array], Any] | None = None
    # The same count without the error, for one more factorisation or two; None if it fails.
    sharper: Callable[[], SpectralFloor | None] | None = None


def norm_floor(problem: TraceProblem, answer: Trial) -> SpectralFloor | None:
    """Floor from the norms of a dense A, which limit the rest of the spectrum.

    The compression C of A to the complement of V has ‖C‖² ≤ ‖A‖² − ‖VᵀAV‖² (Frobenius), and
    by Cauchy's interlacing the next eigenvalue is not beyond the extreme one of C. Of use
    for maxima that carry nearly all of ‖A‖ (MDS and Isomap of a surface).
    """
    if not _norms_are_known(problem):
        return None
    return SpectralFloor(len(answer.h), -np.sqrt(_norm_left(problem, answer)) * UP, "norm")


def _norm_left(problem: TraceProblem, answer: Trial) -> float:
    """An upper bound of ‖A‖² − ‖VᵀAV‖², V made exactly orthonormal."""
    inside = np.maximum(np.abs(answer.h) - answer.blur, 0.0)
    left = problem.square_norm - float(inside @ inside)
    return max(left, 0.0) + 8 * UNIT_ROUNDOFF * problem.square_norm


def deflated_norm_floor(
    problem: TraceProblem, answer: Trial, seed: int = 3
) -> SpectralFloor | None:
    """Floor from the norm of a dense A less some of the spectrum past V.

    In the complement of V take orthonormal W with WᵀAW ≈ diag(μ), and Z for the rest.
    There A is [[WᵀAW, Cᵀ], [C, ZᵀAZ]] with ‖ZᵀAZ‖² ≤ ‖A‖² − ‖VᵀAV‖² − ‖WᵀAW‖², so nothing
    exceeds the larger eigenvalue of [[max μ + ε, ‖C‖], [‖C‖, ‖ZᵀAZ‖]]. W holds Ritz vectors
    of a block Krylov space; any W is a proof, and the best number of them is taken.
    """
    if not _norms_are_known(problem) or problem.n < 4 * KRYLOV_BLOCK * KRYLOV_DEPTH:
        return None
    W, AW = _krylov_complement(problem, answer.V, seed)
    mu, S = np.linalg.eigh(W.T @ AW)
    large_first = np.argsort(-np.abs(mu))
    mu, W, AW = mu[large_first], W @ S[:, large_first], AW @ S[:, large_first]
    R = AW - answer.V @ (answer.V.T @ AW) - W * mu
    basis = np.hstack([answer.V, W])
    skew = float(np.linalg.norm(basis.T @ basis - np.eye(basis.shape[1])))
    skew += gamma(problem.n + 4) * basis.shape[1]
    # Rounding of A·W, of W's rotation and of its orthogonality, all against the norm of A.
    off = np.sqrt(problem.square_norm) * (3 * skew + gamma(problem.n + 4 * len(mu) + 8))
    off = float(off * np.sqrt(len(mu)) + problem.asymmetry)
    left, gram, best = _norm_left(problem, answer), R.T @ R, np.inf
    for k in range(1, len(mu) + 1):
        inside = np.maximum(np.abs(mu[:k]) - off, 0.0)
        far = np.sqrt(
            max(left - float(inside @ inside), 0.0) + 8 * UNIT_ROUNDOFF * problem.square_norm
        )
        cross = np.sqrt(np.linalg.norm(gram[:k, :k], 2)) * UP + off
        near = float(mu[:k].max()) + off
        best = min(best, (near + far) / 2 + float(np.hypot((near - far) / 2, cross)))
    return SpectralFloor(len(answer.h), -best * UP, "norm")  # best ≥ far ≥ 0


def _norms_are_known(problem: TraceProblem) -> bool:
    standard = isinstance(problem.A, np.ndarray) and isinstance(problem.metric, Identity)
    return standard and problem.sense == "max" and not problem.excluded_basis.shape[1]


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


def cholesky_floor(
    problem: TraceProblem, answer: Trial, below: int, height: float, lift: float
) -> SpectralFloor:
    """The dual certificate: A' − hB + (a multiple of) BV_c(BV_c)ᵀ positive definite.

    A feasible point of the dual of the trace problem: lifting c directions made the
    matrix positive definite, so at most c eigenvalues lie under h (Weyl). Cholesky
    running to its end proves definiteness up to 2(n + 2)·u·trace (Rump 2006) and the
    rounding made in forming the matrix; the height is lowered by both.
    """
    n, metric = problem.n, problem.metric
    M = np.array(dense_entries(problem.A).T, dtype=float, order="F")  # A as it lies, not turned
    _average_halves(n, M.T)  # dpotrf reads one triangle; the proof is about the symmetric part
    M *= problem.sign
    size = norm_bound(problem) + float(np.linalg.norm(M))
    if isinstance(metric, DenseMetric | SparseMetric):
        B = dense_entries(metric.matrix)
        heavy = abs(height) * float(np.linalg.norm(B))
        M -= height * B
    else:
        diagonal = metric.diagonal
        heavy = abs(height) * float(np.linalg.norm(diagonal))
        M[np.diag_indices(n)] -= height * diagonal
    lifted = _lifting_columns(problem, answer, below, height, lift)
    if lifted.shape[1]:
        M = scipy.linalg.blas.dsyrk(1.0, lifted, 1.0, M, lower=1, overwrite_c=1)
    trace = float(np.abs(np.diagonal(M)).sum())
    slack = UNIT_ROUNDOFF * (4 * (n + 2) * trace + 8 * (size + heavy))
    slack += product_rounding(problem)
    slack += _lift_rounding(problem, lifted, lift)
    with lapack_threads(n):
        _, failed = scipy.linalg.lapack.dpotrf(M, lower=1, overwrite_a=1, clean=0)
    seen = below if failed == 0 else below + 1
    error = slack * UP / metric.lowest if metric.lowest > 0 else np.inf
    return SpectralFloor(below, height - error, "Cholesky", seen=seen, error=error)


def _product_blur(problem: TraceProblem) -> Array | float:
    """A bound of |fl(MᵀM) − MᵀM|, entry by entry; other matrices are exact but for asymmetry."""
    if not isinstance(problem.A, Gramian):
        return 2 * problem.asymmetry * np.eye(problem.n)
    M = abs(problem.A.factor)
    return np.asarray(gamma(longest_row(sp.csr_array(M.T)) + 4) * (M.T @ M).toarray() * UP)


def product_rounding(problem: TraceProblem) -> float:
    """‖fl(MᵀM) − MᵀM‖ of a Gramian that was multiplied out; other entries are as given."""
    if not isinstance(problem.A, Gramian):
        return problem.asymmetry
    A = problem.A  # |MᵀM| ≤ |M|ᵀ|M| in every entry, so no norm of the errors is above its row sums
    sums = A.absolute_transpose @ (A.absolute @ np.ones(problem.n))
    terms = longest_row(A.factor_transpose) + 4
    return gamma(terms) * float(sums.max(initial=0.0)) * UP + LENGTH_UNDERFLOW


def _lifting_columns(
    problem: TraceProblem, answer: Trial, below: int, height: float, lift: float
) -> Array:
    """Columns whose squares lift the first `below` directions and the excluded ones."""
    highest = float(np.abs(answer.h).max(initial=0.0)) + abs(height)
    BV = problem.metric.times(answer.V[:, :below]) * np.sqrt(2 * highest)
    BN = problem.metric.times(problem.excluded_basis) * np.sqrt(lift)
    return np.hstack([BV, BN])


def _lift_rounding(problem: TraceProblem, lifted: Array, lift: float) -> float:
    """Rounding of the square that was added, and of BN: any V may be lifted, N only exactly."""
    if not lifted.shape[1]:
        return 0.0
    lengths = column_norms(lifted)
    total = gamma(lifted.shape[1] + 4) * float(lengths @ lengths)
    p = problem.excluded_basis.shape[1]
    if p:
        wrong = np.sqrt(lift) * metric_errors(problem, problem.excluded_basis)
        wrong = wrong + 4 * UNIT_ROUNDOFF * lengths[-p:]
        total += float(wrong @ (2 * lengths[-p:] + wrong))
    return total


def inertia_floor(
    problem: TraceProblem, below: int, height: float, excluded: Trial | None
) -> SpectralFloor:
    """Sylvester: A − hB has as many negative pivots as eigenvalues below h.

    The pivots are those of A − hB + E with |xᵀEx| ≤ Σ e_i x_i², so the count holds for
    the eigenvalues below h − max(e)/λ_min(B), or h − max(e/b) for a diagonal B. For
    A = MᵀM the pivots come from the augmented matrix. Its rows get errors of their own,
    e of the auxiliary ones and f of the others; raising its diagonal by them makes no
    eigenvalue smaller and gives the count below (α − s·e)(h/α − f/λ_min(B)), s the sign.

    `excluded` is the trial of N. With κ ≥ ‖AN − BN(NᵀAN)‖, the block matrix of A on N and its
    complement lies within κ of its diagonal blocks, so the count below h − κ of the complement
    is what is left of the count below h when N's own values below h − κ are taken away; the
    coupling costs κ once more when N is lifted.
    """
    pencil = shifted_matrices(problem)
    matrix = pencil.at(height)
    factor = factorise(matrix, pencil.ordering)
    reached = counted_height(problem, factor, matrix, height)
    plain = _counted_floor(problem, below, height, excluded, factor, reached)

    def sharper() -> SpectralFloor | None:
        lowered = factor_with_room(problem, factor, matrix, height)
        if lowered is None:
            return None
        at = height - 16 * UNIT_ROUNDOFF * abs(height)
        return _counted_floor(problem, below, height, excluded, lowered, at)

    return replace(plain, sharper=sharper)


def _counted_floor(
    problem: TraceProblem,
    below: int,
    height: float,
    excluded: Trial | None,
    factor: Factorisation,
    reached: float,
) -> SpectralFloor:
    """Floor from the pivots of a factor: the count below `reached`, off N."""
    expected = shifted_matrices(problem).auxiliary if problem.sense == "min" else 0
    hidden, coupled, clear = 0, 0.0, True
    if excluded is not None:
        coupled = UP * float(np.sqrt(excluded.squares.sum())) * (1 + excluded.skew)
        lowest, blur = reached - coupled, excluded.blur
        hidden = int(np.sum(excluded.h + blur < lowest))
        # A value of N a little above the height may have been counted too: rounding and the
        # coupling move it down as far as others up.
        highest = height + 2 * (height - lowest)
        clear = not np.any((excluded.h + blur >= lowest) & (excluded.h - blur <= highest))
    reached -= 2 * coupled
    if factor.zero or not clear or not np.isfinite(reached):
        return SpectralFloor(below, -np.inf, "inertia", seen=None, error=np.inf)
    seen = factor.negative - expected - hidden

    def solve(R: Array) -> Array:
        return shifted_matrices(problem).solve(factor, height, R)

    return SpectralFloor(below, reached, "inertia", seen=seen, error=height - reached, solve=solve)


def factor_with_room(
    problem: TraceProblem,
    factor: Factorisation,
    matrix: sp.csr_array | RotatedMatrix,
    height: float,
) -> Factorisation | None:
    """A factorisation of S − diag(r) whose rounding errors stay within r, row by row.

    Its pivots are those of S − diag(r) + E ⪯ S, so it has at least as many negative ones as S:
    no eigenvalue below the height is missed, and the height is not lowered. Rows with small
    pivots have large errors, which matter only as far as eigenvectors are large there.
    """
    formed = _shift_rounding(problem, matrix, height)
    errors = _row_errors(factor) + formed
    for _ in range(MAX_LOWERINGS):
        if not np.isfinite(errors).all():
            return None
        room, diagonal = 2 * errors, matrix.diagonal()
        found = factorise(lowered_matrix(matrix, room), shifted_matrices(problem).ordering)
        errors = np.maximum(
            errors, _row_errors(found) + formed + UNIT_ROUNDOFF * (np.abs(diagonal) + room)
        )
        if not found.zero and bool(np.all(errors * UP <= room)):
            return found
    return None


def _row_errors(factor: Factorisation) -> Array:
    known = np.isfinite(factor.backward_error)
    return factor.row_errors if known else np.full_like(factor.row_errors, np.inf)


def counted_height(
    problem: TraceProblem,
    factor: Factorisation,
    matrix: sp.csr_array | RotatedMatrix,
    height: float,
) -> float:
    """The height under which the pivots count every eigenvalue of (sign·A, B)."""
    pencil = shifted_matrices(problem)
    before = pencil.auxiliary
    errors = _row_errors(factor) + _shift_rounding(problem, matrix, height)
    lowest = problem.metric.lowest
    if lowest <= 0:
        return -np.inf
    if pencil.is_rotated:  # x of a rotated row is half of one and half of the other
        errors = np.full(len(errors), errors.max())
    if before:
        balance = pencil.balance(height)
        rest = height / balance - errors[before:].max() / lowest
        room = balance - problem.sign * errors[:before].max()
        return min(height, rest * room) - 16 * UNIT_ROUNDOFF * abs(height) if room > 0 else -np.inf
    spread = problem.metric.entries if isinstance(problem.metric, Diagonal) else lowest
    return height - float((errors / spread).max()) * UP


def pivot_floor(
    problem: TraceProblem, answer: Trial, below: int, height: float, lift: float
) -> SpectralFloor:
    """The count for a small matrix, filled, with LAPACK's pivoting.

    The count is one of A' + diag(e), so it holds below h − max(e)/λ_min(B). For rows of very
    different size that says nothing of the small ones. Then diag(e) ⪯ 2ε(A' + σB), proved by
    a Cholesky factorisation, makes A' + diag(e) ⪯ (1 + 2ε)A' + 2εσB, and the count holds
    below (h − 2εσ)/(1 + 2ε).
    """
    A, B = _filled_pencil(problem, lift)
    counted = dense_inertia(A - height * B)
    if counted is None:
        return SpectralFloor(below, -np.inf, "inertia", seen=None, error=np.inf)
    negative, off = counted
    off = off + 4 * UNIT_ROUNDOFF * (np.abs(A) + abs(height) * np.abs(B)) + _product_blur(problem)
    if problem.excluded_basis.shape[1]:
        BN = problem.metric.times(problem.excluded_basis) * np.sqrt(lift)
        off[np.diag_indices_from(off)] += _lift_rounding(problem, BN, lift)
    lowest = problem.metric.lowest
    spread = problem.metric.entries if isinstance(problem.metric, Diagonal) else lowest
    reached = height - float((off.sum(axis=1) / spread).max()) * UP if lowest > 0 else -np.inf
    sigma = abs(height) + 2 * max(0.0, -float(answer.h[0]))
    form = A + sigma * B
    sizes = np.diagonal(form)
    errors = row_errors(off, sizes) if (sizes > 0).all() else np.full(len(A), np.inf)
    for epsilon in (1e-11, 1e-9, 1e-7):
        if height - reached <= 4 * epsilon * sigma or not np.isfinite(errors).all():
            break
        if form_bound(form, errors / epsilon):
            better = (height - 2 * epsilon * sigma) / (1 + 2 * epsilon)
            reached = max(reached, better - 8 * UNIT_ROUNDOFF * (sigma + abs(height)))
            break

    def solve(R: Array) -> Array:
        return np.linalg.solve(A - height * B, R)

    return SpectralFloor(
        below, reached, "inertia", seen=negative, error=height - reached, solve=solve
    )


def _filled_pencil(problem: TraceProblem, lift: float) -> tuple[Array, Array]:
    """A' and B as dense matrices, A' symmetric."""
    A = problem.sign * dense_entries(problem.A).astype(float)
    A = (A + A.T) / 2
    if problem.excluded_basis.shape[1]:
        BN = problem.metric.times(problem.excluded_basis) * np.sqrt(lift)
        A = A + BN @ BN.T
    return (A + A.T) / 2, problem.metric.sparse().toarray()


def excluded_trial(problem: TraceProblem) -> Trial | None:
    """The excluded directions with their own values of A."""
    return trial(problem, problem.excluded_basis) if problem.excluded_basis.shape[1] else None


def _shift_rounding(
    problem: TraceProblem, matrix: sp.csr_array | RotatedMatrix, height: float
) -> Array:
    """Row sums of the rounding made in forming A − hB (at most one unit per entry)."""
    rows = absolute_row_sums(matrix)
    pencil = shifted_matrices(problem)
    balance = pencil.balance(height)
    shifts = abs(height) / balance * (abs(problem.metric.sparse()) @ np.ones(problem.n))
    if pencil.is_rotated:  # the shift and α stand in both halves, as sum and difference
        rows += np.tile(shifts + balance, 2)
    else:
        rows[pencil.auxiliary :] += shifts
    return np.asarray(3 * UNIT_ROUNDOFF * rows)


def dense_entries(A: Matrix | LinearOperator) -> Array:
    """All entries of a small A."""
    if isinstance(A, np.ndarray):
        return A
    if isinstance(A, Gramian):
        return A.square_entries
    return np.asarray(A.toarray() if sp.issparse(A) else A @ np.eye(A.shape[0]))
