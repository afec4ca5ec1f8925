"""The Hadamard Schur matrix of the unfolding problem, formed and factorised in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from dualfold.arrays import Array
from dualfold.errors import Argument, TooLarge
from dualfold.kernels import kernel
from dualfold.kernels.threads import in_threads, row_slices, thread_count

_edge_products = kernel("edge_products")
ROWS = 128  # of a chunk: a tenth of a second at 9,000 edges, which is what Ctrl-C waits for


def edge_products(edges: Array, K: Array, R: Array) -> Array:
    """(b_eᵀKb_f)(b_eᵀRb_f) for f ≤ e (the rest is not set), b_e = e_i − e_j, m×m."""
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

    in_threads(products, row_slices(m, ROWS), thread_count() if m > 4 * ROWS else 1)
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
