"""Dense linear algebra of interior points: the longest step inside the cone, the Schur matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import blas, lapack

from dualfold.arrays import Array
from dualfold.errors import Argument, TooLarge
from dualfold.kernels import kernel
from dualfold.kernels.threads import in_threads, row_slices, thread_count

# Up to this many rows LAPACK's full spectrum costs less than Lanczos steps from Python.
MAX_FULL_SPECTRUM_ROWS = 150
MAX_LANCZOS_STEPS = 40
CHUNK_ROWS = 128  # rows of the Schur matrix in one chunk; Ctrl-C waits for a chunk

_edge_products = kernel("edge_products")


def lower_factor(matrix: Array) -> Array | None:
    """The Cholesky factor (lower, Fortran order), or None where there is none."""
    factor, status = lapack.dpotrf(np.asfortranarray(matrix), lower=1, clean=1)
    return factor if status == 0 else None


def longest_step(factor: Array, direction: Any) -> float:
    """The largest α with LLᵀ + α·direction ⪰ 0, from below: −1/λ_min(L⁻¹DL⁻ᵀ)."""
    n = len(factor)
    if n <= MAX_FULL_SPECTRUM_ROWS:
        dense = direction.toarray() if sp.issparse(direction) else direction
        inner = blas.dtrsm(1.0, factor, dense, lower=1)
        inner = blas.dtrsm(1.0, factor, inner, side=1, lower=1, trans_a=1)
        lowest = float(np.linalg.eigvalsh(inner)[0])
    else:
        lowest = _lanczos_lowest(factor, direction)
    return np.inf if lowest >= 0 else -1.0 / lowest


def step_shares(share: float, primal: float, dual: float) -> tuple[float, float]:
    """The given share of the longest steps of both sides, full steps at the most."""
    return min(1.0, share * primal), min(1.0, share * dual)


def mehrotra_ratio(before: float, after: float, primal: float, dual: float) -> float:
    """The share of the gap that the corrector aims at, from what the predictor reached.

    Mehrotra's rule, gentler when the predictor got nowhere. SDPT3 has 1 in place of 2, which takes
    more iterations: docs/dev/notes/unfolding.md.
    """
    power = max(2.0, 3 * min(primal, dual) ** 2)
    return min(1.0, max(after / before, 1e-10) ** power)


def _lanczos_lowest(factor: Array, direction: Any) -> float:
    """A number below λ_min(L⁻¹DL⁻ᵀ), close to it: Ritz value less its residual."""
    n = len(factor)
    Q = np.zeros((min(MAX_LANCZOS_STEPS, n) + 1, n))
    first = np.random.default_rng(0).standard_normal(n)
    Q[0] = first / np.linalg.norm(first)
    diagonal, beside = [], []
    lowest = 0.0
    for k in range(min(MAX_LANCZOS_STEPS, n)):
        x = blas.dtrsv(factor, Q[k], lower=1, trans=1)
        y = blas.dtrsv(factor, direction @ x, lower=1)
        diagonal.append(float(y @ Q[k]))
        for _ in range(2):  # full orthogonality: twice is enough
            y -= Q[: k + 1].T @ (Q[: k + 1] @ y)
        length = float(np.linalg.norm(y))
        beside.append(length)
        if k % 5 == 4 or length < 1e-13 or k == min(MAX_LANCZOS_STEPS, n) - 1:
            T = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
            values, vectors = np.linalg.eigh(T)
            error = abs(length * vectors[-1, 0])
            lowest = float(values[0] - error)
            # More Lanczos steps would change the step by a hundredth at the most.
            if error < 0.01 * abs(values[0]) or values[0] - error > -0.1:
                break
        Q[k + 1] = y / length
    return lowest


def edge_products(edges: Array, K: Array, R: Array) -> Array:
    """(b_eᵀKb_f)(b_eᵀRb_f) for f ≤ e (other entries are not set), b_e = e_i − e_j, m×m."""
    m = len(edges)
    try:
        out = np.empty((m, m))
    except MemoryError as error:
        raise TooLarge(
            f"the Schur matrix of {m} edges needs {8 * m * m / 2**30:.1f} GiB, which are "
            "not there; use ",
            Argument("solver", "low_rank"),
            " or fewer neighbours",
        ) from error
    ends = np.ascontiguousarray(edges.T, dtype=np.int32)
    K, R = np.ascontiguousarray(K), np.ascontiguousarray(R)

    def products(rows: slice) -> None:
        if _edge_products(len(K), m, rows.start, rows.stop, ends[0], ends[1], K, R, out):
            raise TooLarge(f"no memory for {16 * len(K)} bytes of scratch; free some and retry")

    in_threads(products, row_slices(m, CHUNK_ROWS), thread_count() if m > 4 * CHUNK_ROWS else 1)
    return out


def schur_factor(
    edges: Array, K: Array, R: Array, diagonal: Array
) -> Callable[[Array], Array] | None:
    """Solves with the Schur matrix; None when it is not positive definite to rounding.

    Weights of very different sizes need no scaling: Cholesky's rounding is the same for
    every diagonal scaling of the matrix.
    """
    H = edge_products(edges, K, R)
    m = len(edges)
    H.flat[:: m + 1] += diagonal
    # Row by row in C is the upper triangle in Fortran's order: no copy is made.
    factor, status = lapack.dpotrf(H.T, lower=0, clean=0, overwrite_a=1)
    if status:
        return None

    def solve(rhs: Array) -> Array:
        return np.asarray(lapack.dpotrs(factor, rhs, lower=0)[0])

    return solve
