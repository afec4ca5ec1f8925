"""MᵀM as a dense matrix, for factors M of many rows and few columns.

LTSA, modified LLE and Hessian eigenmaps with many neighbours state hundreds of entries of M for
each point. To order and eliminate them takes longer than LAPACK does on the square, up to a few
thousand points. Squares lose the small eigenvalues: who uses one bounds its rounding, and goes the
long way where that hides them.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels.ordering import distinct_rows
from dualfold.kernels.reports import tally
from dualfold.trace.problem import Gramian, TraceProblem

# A square of more rows is not filled for a solver (72 MB).
MAX_SQUARE_ROWS = 3_000
# Up to this many rows LAPACK takes less than it takes to set sparse matrices up
# (docs/dev/notes/small-problems.md).
MAX_SMALL_ROWS = 400
# n³ for each stored entry of M up to which the square is the shorter way
# (docs/dev/notes/trace-solvers.md).
MAX_CUBE_AN_ENTRY = 7_000
# Products that are added to the square at a time.
BATCH_NUMBERS = 2**21

_cache: WeakKeyDictionary[Gramian, Array] = WeakKeyDictionary()


def prefers_filled_square(problem: TraceProblem) -> bool:
    """Whether LAPACK on MᵀM takes less than sparse elimination of M, by counted work."""
    n, A = problem.n, problem.A
    if not isinstance(A, Gramian) or problem.sense != "min" or n > MAX_SQUARE_ROWS:
        return False
    return n <= MAX_SMALL_ROWS or n**3 <= MAX_CUBE_AN_ENTRY * int(A.factor.nnz)


def filled_square(A: Gramian) -> Array:
    """The entries of MᵀM, each a sum over the rows of M; the same object while A lives.

    Entry (i, j) has at most as many terms as column i has entries, added in any order.
    """
    if A not in _cache:
        _cache[A] = _sum_of_blocks(A.factor)
    return _cache[A]


def _sum_of_blocks(M: sp.csr_array) -> Array:
    """Σ of the squares of the rows; those with the same columns are multiplied together."""
    n = M.shape[1]
    total = np.zeros(n * n)
    for columns, entries in _equal_blocks(M):
        tally("square multiply-adds", entries.size * entries.shape[2])
        places = columns[:, :, None] * np.int64(n) + columns[:, None]
        np.add.at(total, places.ravel(), (entries.transpose(0, 2, 1) @ entries).ravel())
    return total.reshape(n, n)


def _equal_blocks(M: sp.csr_array) -> Iterator[tuple[Array, Array]]:
    """(columns, entries) of runs of rows with the same columns, those of one shape together."""
    first = distinct_rows(M)
    heights = np.diff(np.append(first, M.shape[0]))
    starts, widths = M.indptr[first].astype(np.int64), np.diff(M.indptr)[first]
    shapes, which = np.unique(np.stack([heights, widths]), axis=1, return_inverse=True)
    for kind, (height, width) in enumerate(shapes.T):
        same = starts[which.ravel() == kind]
        batch = max(1, BATCH_NUMBERS // max(1, int(width) * int(max(height, width))))
        for begin in range(0, len(same) if width else 0, batch):
            at = same[begin : begin + batch, None]
            entries = M.data[at + np.arange(height * width)].reshape(-1, height, width)
            yield M.indices[at + np.arange(width)], entries
