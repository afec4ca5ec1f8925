"""One problem in other units, or with its rows in another order: every statement carries over.

Units in which B has a diagonal near 1: x = D·x̃ with D a diagonal of powers of 2. A becomes DAD,
B becomes DBD, N and V are divided by D. No entry is rounded, values and residuals stay what they
are, and a B whose entries span thirty orders of magnitude (degrees of a graph with light and heavy
points) no longer hides the light rows behind the rounding of the heavy ones.

Rows in the order of elimination: rows that are linked stand near one another, so products, checks
and fronts read memory in order, not at random. That is several times as fast where a vector does
not fit the cache (docs/dev/notes/trace-solvers.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.kernels.arithmetic import SMALLEST_NORMAL
from dualfold.trace.metric import (
    DenseMetric,
    Diagonal,
    ExcludedSpan,
    Identity,
    Metric,
    SparseMetric,
    in_row_units,
)
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.sparse.shifted_matrices import (
    share_ordering,
    share_renumbered_orders,
    shifted_matrices,
)

# The ratio of the largest to the smallest entry of B's diagonal below which units stay.
MAX_DIAGONAL_RATIO = 16.0
# Entries of B's diagonal between this and its inverse hide nothing by their size.
MIN_DIAGONAL = 2.0**-100
# Squares of entries of A between 2^-MAX_POWER and 2^MAX_POWER, and their sums, are far from
# underflow and overflow.
MAX_POWER = 400
# Fewer rows stay where they are: their vectors fit the cache.
MIN_REORDERED_ROWS = 30_000

_cache: WeakKeyDictionary[TraceProblem, tuple[TraceProblem, Array] | None] = WeakKeyDictionary()


def balanced_problem(problem: TraceProblem, V: Array) -> tuple[TraceProblem, Array]:
    """The problem and V in balanced units; both as they are where that is exact enough."""
    metric = problem.metric
    if isinstance(metric, Identity):
        return problem, V
    diagonal = metric.diagonal
    if not (diagonal > 0).all():
        return problem, V
    near_one = diagonal.min() > MIN_DIAGONAL and diagonal.max() < 1 / MIN_DIAGONAL
    if near_one and diagonal.max() < MAX_DIAGONAL_RATIO * diagonal.min():
        return problem, V
    powers = -np.rint(np.log2(diagonal) / 2).astype(int)
    A = _scaled_matrix(problem.A, powers)
    if A is None:
        return problem, V
    back = np.ldexp(1.0, -powers)[:, None]
    N, answer = _scaled_columns(problem, powers), slice(problem.count)
    with np.errstate(over="ignore", invalid="ignore"):
        rescaled = V * back
    if N is None or not _is_exact(V[:, answer], rescaled[:, answer]):
        return problem, V
    # The basis that `excluded_error` is about, not another one of the same span.
    span = ExcludedSpan(N, problem.excluded_basis * back, problem.excluded_error)
    changed = replace(problem, A=A, B=_scaled_metric(metric, powers), excluded=span)
    share_ordering(problem, changed)
    return changed, rescaled


def rescaled_problem(problem: TraceProblem) -> tuple[TraceProblem, int]:
    """The problem with A·2^-power, and the power: 0 unless squares of A leave double precision."""
    A: Any = problem.A
    if isinstance(A, LinearOperator) and not isinstance(A, Gramian):
        if not hasattr(A, "over_power"):  # products alone, in units of which nothing is known
            return problem, 0
        largest, degree = float(A.norm_bound), 1
    else:
        entries = A.factor.data if isinstance(A, Gramian) else A.data if sp.issparse(A) else A
        largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
        degree = 2 if isinstance(A, Gramian) else 1
    power = int(np.frexp(largest)[1]) * degree
    if largest == 0 or abs(power) < MAX_POWER:
        return problem, 0
    power -= power % 2
    if hasattr(A, "over_power"):
        scaled = A.over_power(power)
    else:
        scaled = _scaled_matrix(A, np.full(problem.n, -power // 2))
    if scaled is None:
        return problem, 0
    span = ExcludedSpan(problem.excluded_columns, problem.excluded_basis, problem.excluded_error)
    changed = replace(problem, A=scaled, excluded=span)
    share_ordering(problem, changed)
    return changed, power


def _scaled_columns(problem: TraceProblem, powers: Array) -> Array | None:
    """N divided by D, each column in units of its largest entry; None where one is rounded."""
    N = problem.excluded_columns
    scaled = in_row_units(N, -powers)
    return scaled if _is_exact(N, scaled) else None


def _scaled_matrix(A: Any, powers: Array) -> Any:
    """D·A·D without rounding; None where an entry leaves the doubles."""
    if isinstance(A, Gramian):
        M = A.factor
        data = np.ldexp(M.data, powers[M.indices])
        if not _is_exact(M.data, data):
            return None
        return Gramian(sp.csr_array((data, M.indices, M.indptr), shape=M.shape))
    if sp.issparse(A):
        rows = np.repeat(powers, np.diff(A.indptr))
        data = np.ldexp(A.data, rows + powers[A.indices])
        if not _is_exact(A.data, data):
            return None
        return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)
    if isinstance(A, LinearOperator):
        d = np.ldexp(1.0, powers)
        return LinearOperator(
            A.shape,
            matvec=lambda v: d * (A @ (d * v.ravel())),
            matmat=lambda V: d[:, None] * (A @ (d[:, None] * V)),
            dtype=np.dtype(float),
        )
    scaled = np.ldexp(np.asarray(A, dtype=float), powers[:, None] + powers[None, :])
    return scaled if _is_exact(A, scaled) else None


def _is_exact(before: Array, after: Array) -> bool:
    """Whether no entry overflowed and none but exact zeros became small enough to be rounded."""
    with np.errstate(invalid="ignore"):
        return bool(
            np.isfinite(after).all() and np.all((np.abs(after) >= SMALLEST_NORMAL) | (before == 0))
        )


def _scaled_metric(metric: Metric, powers: Array) -> Metric:
    if isinstance(metric, Diagonal):
        return Diagonal(np.ldexp(metric.entries, 2 * powers))
    if isinstance(metric, SparseMetric):
        return SparseMetric(_scaled_matrix(metric.matrix, powers))
    assert isinstance(metric, DenseMetric)
    return DenseMetric(np.ldexp(metric.matrix, powers[:, None] + powers[None, :]))


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
        A = Gramian(_rows_in_order(_rows_in_order(problem.A.factor, order, place), None, None))
    else:
        A = _rows_in_order(problem.A, order, place)  # its own transpose
    metric = problem.metric
    span = ExcludedSpan(
        problem.excluded_columns[order], problem.excluded_basis[order], problem.excluded_error
    )
    B = Diagonal(metric.entries[order]) if isinstance(metric, Diagonal) else metric
    changed = problem.congruent(A, B, span)
    share_renumbered_orders(problem, changed, place)
    return changed


def _rows_in_order(matrix: sp.csr_array, order: Array | None, place: Array | None) -> sp.csr_array:
    """The transpose, rows sorted, of the matrix with its rows and columns in another order."""
    rows = matrix if order is None else matrix[order]
    columns = rows.indices if place is None else place[rows.indices]
    turned = sp.csr_array((rows.data, columns, rows.indptr), shape=rows.shape).tocsc()
    transposed = sp.csr_array((turned.data, turned.indices, turned.indptr), shape=rows.shape[::-1])
    transposed.has_canonical_format = True  # a transpose is written in order
    return transposed
