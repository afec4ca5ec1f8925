"""The same problem with its rows in the order of elimination.

Rows that are linked then stand near one another: products, checks and fronts read memory in order,
not at random. That is several times as fast where a vector does not fit the cache
(docs/dev/notes/trace-solvers.md). No entry changes, so a statement about one problem is one about
the other.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.trace.metric import Diagonal, ExcludedSpan, Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.sparse.shifted_matrices import share_renumbered_orders, shifted_matrices

# Fewer rows stay where they are: their vectors fit the cache.
MIN_REORDERED_ROWS = 30_000

_cache: WeakKeyDictionary[TraceProblem, tuple[TraceProblem, Array] | None] = WeakKeyDictionary()


def reordered_problem(problem: TraceProblem) -> tuple[TraceProblem, Array] | None:
    """The problem with row order[i] as its i-th, and `order`; None where rows stay.

    The same object while the problem lives: its solver and its certificate share it.
    """
    if problem not in _cache:
        order = _elimination_order(problem)
        _cache[problem] = None if order is None else (_with_rows(problem, order), order)
    return _cache[problem]


def rows_put_back(V: Array, order: Array) -> Array:
    """Vectors of the reordered problem as vectors of the problem."""
    back = np.empty_like(V)
    back[order] = V
    return back


def _elimination_order(problem: TraceProblem) -> Array | None:
    A, n = problem.A, problem.n
    plain = isinstance(problem.metric, Identity | Diagonal)
    if n < MIN_REORDERED_ROWS or not plain or not (sp.issparse(A) or isinstance(A, Gramian)):
        return None
    pencil = shifted_matrices(problem)
    if isinstance(A, Gramian) and not pencil.is_rotated:  # its rows have an order of their own
        return None
    try:
        permutation = pencil.ordering.permutation
    except TooLarge:
        return None
    order = permutation[permutation < n]
    return None if np.array_equal(order, np.arange(n)) else order


def _with_rows(problem: TraceProblem, order: Array) -> TraceProblem:
    place = np.empty(len(order), order.dtype)
    place[order] = np.arange(len(order), dtype=order.dtype)
    if isinstance(problem.A, Gramian):
        A = Gramian(_renumbered(_renumbered(problem.A.factor, order, place), None, None))
    else:
        A = _renumbered(problem.A, order, place)  # its own transpose
    metric = problem.metric
    span = ExcludedSpan(
        problem.excluded_columns[order], problem.excluded_basis[order], problem.excluded_error
    )
    B = Diagonal(metric.entries[order]) if isinstance(metric, Diagonal) else metric
    changed = problem.congruent(A, B, span)
    share_renumbered_orders(problem, changed, place)
    return changed


def _renumbered(matrix: sp.csr_array, order: Array | None, place: Array | None) -> sp.csr_array:
    """The transpose, rows sorted, of the matrix with its rows and columns in another order."""
    rows = matrix if order is None else matrix[order]
    columns = rows.indices if place is None else place[rows.indices]
    turned = sp.csr_array((rows.data, columns, rows.indptr), shape=rows.shape).tocsc()
    found = sp.csr_array((turned.data, turned.indices, turned.indptr), shape=rows.shape[::-1])
    found.has_canonical_format = True  # a transpose is written in order
    return found
