"""Bounds of rounding errors: sums, products with A and B, lengths in the norm of B⁻¹.

Everything here is made of γ_k (`kernels/arithmetic`). Sums of positive bounds are themselves
rounded: `UP` covers it for n < 2³⁰.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import LENGTH_UNDERFLOW, UNIT_ROUNDOFF, gamma
from dualfold.kernels.sparse import sparse_product
from dualfold.trace.metric import DenseMetric, SparseMetric
from dualfold.trace.problem import Gramian, TraceProblem

UP = 1 + 1e-6
# Smaller and larger spectra are not certified.
MIN_SPECTRUM = 1e-140
MAX_SPECTRUM = 1e140
# Assumed of an operator, whose entries are not known: products are right to this share of its norm.
OPERATOR_ERROR = 1e-13
# Up to this many rows a dense |A| is formed; beyond, its norm is used.
MAX_ABSOLUTE_ROWS = 1_000


def inner(X: Array, Y: Array) -> Array:
    """XᵀY summed in blocks of √n rows: right to `gamma(inner_depth(n))` of |X|ᵀ|Y|, not γ_n."""
    rows = _block(len(X))
    total = np.zeros((X.shape[1], Y.shape[1]))
    for first in range(0, len(X), rows):
        total += X[first : first + rows].T @ Y[first : first + rows]
    return total


def inner_depth(n: int) -> int:
    """The most additions that an entry of `inner` has gone through."""
    rows = _block(n)
    return rows + -(-n // rows) + 2


def _block(n: int) -> int:
    return max(64, int(np.sqrt(n)))


def column_norms(X: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", X, X)) * UP)


def norm_bound(problem: TraceProblem) -> float:
    """A number that ‖A‖₂ does not exceed; for a large operator an estimate.

    What rests on the estimate is at most "measured", and states what is assumed of the operator.
    """
    A = problem.A
    if isinstance(A, np.ndarray):
        return float(np.sqrt(problem.square_norm)) * UP
    if isinstance(A, Gramian):
        M = A.absolute
        return float(M.sum(axis=0).max() * M.sum(axis=1).max()) * UP
    if sp.issparse(A):
        return float((problem.absolute() @ np.ones(problem.n)).max()) * UP
    return problem.norm_estimate


def product_errors(problem: TraceProblem, V: Array) -> Array:
    """Column by column, a bound of ‖fl(A·V) − A·V‖₂, A the symmetric part of what was given."""
    A = problem.A
    if isinstance(A, Gramian):
        M, transpose = A.absolute, A.absolute_transpose
        most = longest_row(M) + longest_row(transpose) + 4
        return gamma(most) * column_norms(
            sparse_product(transpose, sparse_product(M, np.abs(V)))
        ) * UP + underflow(M, V)
    if sp.issparse(A):
        size = problem.absolute()
        image = sparse_product(size, np.abs(V))
        return gamma(longest_row(A) + 4) * column_norms(image) * UP + underflow(size, V)
    if not isinstance(A, np.ndarray):
        return (OPERATOR_ERROR * norm_bound(problem) + problem.asymmetry) * column_norms(V)
    if problem.n <= MAX_ABSOLUTE_ROWS:  # keeps the digits of graded matrices
        whole = np.abs(A, dtype=float)
        errors = gamma(problem.n + 4) * column_norms(whole @ np.abs(V)) + underflow(whole, V)
        return (errors + problem.asymmetry * column_norms(V)) * UP
    size = gamma(problem.n + 4) * norm_bound(problem) + problem.asymmetry
    return size * column_norms(V) * UP + LENGTH_UNDERFLOW


def underflow(size: Any, V: Array) -> Array:
    """`LENGTH_UNDERFLOW` for each column whose product with |A| is not 0 by its zeros alone."""
    if (V != 0).all() and (size.nnz if sp.issparse(size) else size.any()):
        return np.full(V.shape[1], LENGTH_UNDERFLOW)
    met = (size != 0).astype(float) @ (V != 0).astype(float)
    return np.asarray(LENGTH_UNDERFLOW * np.any(met > 0, axis=0))


def metric_errors(problem: TraceProblem, V: Array) -> Array:
    """Column by column, a bound of ‖fl(B·V) − B·V‖₂."""
    B = problem.metric
    if isinstance(B, SparseMetric | DenseMetric):
        terms = longest_row(B.matrix) if isinstance(B, SparseMetric) else problem.n
        return gamma(terms + 2) * column_norms(abs(B.matrix) @ np.abs(V)) * UP
    return 2 * UNIT_ROUNDOFF * column_norms(B.times(V))


def squares_in_metric(problem: TraceProblem, V: Array) -> Array:
    """|v|ᵀ|B||v| of each column: vᵀBv is right to γ of it."""
    B, size = problem.metric, np.abs(V)
    image = abs(B.matrix) @ size if isinstance(B, SparseMetric | DenseMetric) else B.times(size)
    return np.asarray(np.einsum("ij,ij->j", size, image) * UP)


def dual_lengths(problem: TraceProblem, R: Array, errors: Array) -> Array:
    """Bounds of ‖r‖ in the norm of B⁻¹ for r within `errors` (2-norm) of the columns of R.

    With any x, ‖r‖ ≤ √(xᵀBx) + ‖r − Bx‖₂/√λ_min(B): x comes from a factorisation that need
    not be right.
    """
    B = problem.metric
    low = np.sqrt(B.lowest)
    if low == 0:
        return np.full(R.shape[1], np.inf)
    if not isinstance(B, SparseMetric | DenseMetric):
        squares = np.einsum("ij,ij->j", R, B.solve(R))
        return np.asarray(UP * np.sqrt(squares) + errors / low)
    x = B.solve(R)
    image = B.times(x)
    rest = column_norms(R - image) + metric_errors(problem, x) + 2 * UNIT_ROUNDOFF * column_norms(R)
    inner = np.einsum("ij,ij->j", x, image) + gamma(2 * problem.n) * squares_in_metric(problem, x)
    return np.asarray(UP * (np.sqrt(np.maximum(inner, 0.0)) + (rest + errors) / low))


def longest_row(rows: sp.csr_array) -> int:
    """The most entries that a row has."""
    return int(np.diff(rows.indptr).max(initial=0))
