"""sign·A − shift·B as sparse matrices that can be factorised, for any shift.

Solvers and proofs of one problem share them, above all the elimination order, which is the
same for every shift and takes as long to find as a factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.kernels.sparse import distinct_rows
from dualfold.trace.metric import Diagonal, Identity, Metric
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.sparse.factorisation import (
    Factorisation,
    Ordering,
    fill_reducing_ordering,
    ordering_after,
    paired_ordering,
)
from dualfold.trace.sparse.mirrored_rows import MirroredRows, RotatedMatrix, mirrored_pattern

__all__ = [
    "MAX_FLOPS",
    "ShiftedMatrices",
    "absolute_row_sums",
    "lowered_matrix",
    "prefers_filled_square",
    "share_ordering",
    "share_renumbered_orders",
    "shifted_matrices",
]


# A factorisation that needs more multiply-adds than this is not begun: graphs of surfaces stay
# below it, those of many images do not. Beyond 800,000 rows the limit grows with the rows
# (docs/dev/notes/trace-solvers.md).
MAX_FLOPS = 4e10
MAX_FLOPS_A_ROW = 5e4
# The rotated matrix is factorised where this takes at most this many times n^1.5 multiply-adds:
# surfaces need less, images far more (docs/dev/notes/trace-solvers.md).
MAX_ROTATED_FLOPS_RATIO = 300
# Below this many points no eigenvalue of a surface is small enough to need it.
MIN_ROTATED_ROWS = 10_000

# Rows of M to columns from which on they are eliminated first, if the distinct ones among them
# make at most this many times M's entries of MᵀM (docs/dev/notes/trace-solvers.md).
MIN_TALL_RATIO = 2
MAX_SQUARE_RATIO = 4

# A square of more rows is not filled for a solver (72 MB).
MAX_SQUARE_ROWS = 3_000
# Up to this many rows LAPACK takes less than it takes to set sparse matrices up
# (docs/dev/notes/small-problems.md).
MAX_SMALL_ROWS = 400
# n³ for each stored entry of M up to which the square is the shorter way
# (docs/dev/notes/trace-solvers.md).
MAX_CUBE_AN_ENTRY = 7_000

_cache: WeakKeyDictionary[TraceProblem, ShiftedMatrices] = WeakKeyDictionary()


def prefers_filled_square(problem: TraceProblem) -> bool:
    """Whether LAPACK on MᵀM takes less than sparse elimination of M, by counted work.

    LTSA, modified LLE and Hessian eigenmaps with many neighbours state hundreds of entries of M
    for each point. To order and eliminate them takes longer, up to a few thousand points.
    """
    n, A = problem.n, problem.A
    if not isinstance(A, Gramian) or problem.sense != "min" or n > MAX_SQUARE_ROWS:
        return False
    return n <= MAX_SMALL_ROWS or n**3 <= MAX_CUBE_AN_ENTRY * int(A.factor.nnz)


def shifted_matrices(problem: TraceProblem) -> ShiftedMatrices:
    """The shifted matrices of the problem; the same object while the problem lives."""
    return _cache.setdefault(problem, ShiftedMatrices(problem.A, problem.metric, problem.sign))


def share_ordering(problem: TraceProblem, other: TraceProblem) -> None:
    """Let `other`, whose matrices have the same pattern, use the elimination orders of `problem`.

    Each order is found once, by the first of the two that needs it.
    """
    orders = shifted_matrices(problem).orders
    if shifted_matrices(other).orders is not orders:
        _cache[other] = ShiftedMatrices(other.A, other.metric, other.sign, orders)


def share_renumbered_orders(problem: TraceProblem, other: TraceProblem, place: Array) -> None:
    """Let `other`, whose row place[i] is row i of `problem`, use its elimination orders."""
    orders = shifted_matrices(problem).orders.with_numbers(place)
    _cache[other] = ShiftedMatrices(other.A, other.metric, other.sign, orders)


class EliminationOrders:
    """The elimination orders of one pattern, a cache that problems of this pattern share."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def get(self, name: str, find: Callable[[], Any]) -> Any:
        """The order of this name; `find` is called if there is none yet."""
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]

    def with_numbers(self, place: Array) -> EliminationOrders:
        """Orders for rows with new numbers: place[i] for row i, n + place[i] for its twin n + i.

        An order of other rows besides is left out.
        """
        changed = EliminationOrders()
        for name, order in self._found.items():
            if isinstance(order, Ordering):
                pairs = np.concatenate([place, len(place) + place]).astype(np.int32)
                if len(order.permutation) in (len(place), len(pairs)):
                    order = replace(order, permutation=pairs[order.permutation])
            changed._found[name] = order
        return changed


@dataclass(frozen=True, eq=False)
class ShiftedMatrices:
    """A sparse matrix for each shift, whose factorisation is one of sign·A − shift·B.

    For A = MᵀM it is [[−sαI, −sM], [−sMᵀ, −(shift/α)·B]] (s the sign), whose Schur
    complement is (sign·A − shift·B)/α: the square is never formed. The leading
    `auxiliary` rows then have pivots −sα. α balances the two diagonal blocks: with
    α = 1 a small shift drowns in rounding.

    The pivots α are tiny where the shift is, and blow the others up. A square M lets
    auxiliary row a_i and row b_i be rotated into (a_i ± b_i)/√2, a congruence: then
    the diagonal of M stands on the diagonal, twice, with either sign, and row errors are smaller
    by orders of magnitude (docs/dev/notes/trace-certificates.md). That is done for many points
    on surfaces, whose eigenvalues are tiny.
    """

    A: Any
    metric: Metric
    sign: float
    orders: EliminationOrders = field(default_factory=EliminationOrders, repr=False)

    @property
    def auxiliary(self) -> int:
        """Rows that stand before those of A."""
        return self.A.factor.shape[0] if isinstance(self.A, Gramian) else 0

    @property
    def is_rotated(self) -> bool:
        """Whether auxiliary rows are paired with those of A."""
        return self._rotated_order is not None

    @property
    def ordering(self) -> Ordering:
        """The elimination order, the same for every shift; TooLarge if it costs too much.

        Any permutation is valid, so sharing it takes nothing away from a proof.
        """
        order = self._rotated_order
        if order is None:
            order = self.orders.get("plain", self._find_plain_order)
        if isinstance(order, TooLarge):
            raise order
        return order

    @property
    def _rotated_order(self) -> Ordering | None:
        order: Ordering | None = self.orders.get("rotated", self._find_rotated_order)
        return order

    def balance(self, shift: float) -> float:
        """α: √|shift|, and 1 where nothing is auxiliary."""
        return float(np.sqrt(abs(shift))) or 1.0 if self.auxiliary else 1.0

    def at(self, shift: float) -> Any:
        """The matrix of this shift, compressed rows, or rotated where `is_rotated`.

        TooLarge where A is known by its products alone.
        """
        if isinstance(self.A, Gramian):
            return self._augmented_at(shift)
        if isinstance(self.A, LinearOperator):
            raise TooLarge("A is a linear operator and has no pivots; Lanczos() needs none")
        if self._diagonal_places is None:
            return sp.csr_array(self.sign * sp.csr_array(self.A) - shift * self.metric.sparse())
        parts = (self.sign * self.A.data, self.A.indices, self.A.indptr)
        shifted = sp.csr_array(parts, shape=self.A.shape)
        shifted.data[self._diagonal_places] -= shift * self.metric.times(np.ones(self.metric.n))
        shifted.has_canonical_format = True  # as A
        return shifted

    @cached_property
    def _diagonal_places(self) -> Array | None:
        """Where in A.data its diagonal is, if all of it is stored and B has nothing else."""
        rows = self.A
        plain = isinstance(self.metric, Identity | Diagonal)
        if not sp.issparse(rows) or rows.format != "csr" or not (plain and rows.has_sorted_indices):
            return None
        if rows.dtype != np.float64 or not rows.has_canonical_format:
            return None
        places = np.flatnonzero(
            np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) == rows.indices
        )
        return places if len(places) == rows.shape[0] else None

    def solve(self, factor: Factorisation, shift: float, R: Array) -> Array:
        """(sign·A − shift·B)⁻¹R from a factorisation of `at(shift)`."""
        if not self.auxiliary:
            return factor.solve(R)
        return self.solve_pairs(factor, shift, R)[1] / self.balance(shift)

    def solve_pairs(self, factor: Factorisation, shift: float, R: Array) -> tuple[Array, Array]:
        """The auxiliary part and the rest of the solution of `at(shift)`·(x, y) = (0, R)."""
        before = self.auxiliary
        if self.is_rotated:
            return factor.solve_rotated(R)
        solution = factor.solve(np.vstack([np.zeros((before, R.shape[1])), R]))
        return solution[:before], solution[before:]

    def _augmented_at(self, shift: float) -> sp.csr_array | RotatedMatrix:
        a, s = self.balance(shift), self.sign
        top, bottom = np.full(self.auxiliary, -s * a), -shift / a * self.metric.sparse()
        beneath = bottom.diagonal()
        plain = isinstance(self.metric, Identity | Diagonal)
        rest = sp.csr_array(bottom.shape) if plain else bottom - sp.diags_array(beneath)
        if self.is_rotated:
            mean, cross = (top + beneath) / 2, (top - beneath) / 2
            rotated = RotatedMatrix.of(self._mirrored_factor, -s, mean, cross)
            if plain:
                return rotated  # else the rest stands in both halves, as sum and difference
            both = sp.block_array([[rest, -rest], [-rest, rest]]) / 2
            return sp.csr_array(rotated.as_compressed_rows() + both)
        matrix = self._augmented_matrix.with_diagonal(np.concatenate([top, beneath]))
        if plain:
            return matrix
        before = sp.csr_array((self.auxiliary, self.auxiliary))
        return sp.csr_array(matrix + sp.block_diag([before, rest]))

    @cached_property
    def _augmented_matrix(self) -> AugmentedMatrix:
        return AugmentedMatrix.of(sp.csr_array(-self.sign * self.A.factor))

    @cached_property
    def _mirrored_factor(self) -> MirroredRows:
        return MirroredRows.of(self.A.factor, self.A.factor_transpose)

    def _find_plain_order(self) -> Ordering | TooLarge:
        try:
            if not sp.issparse(self.A):
                pattern = self.at(1.0)
            elif self._diagonal_places is not None:  # A stores every entry that B has
                pattern = self.A
            else:  # A − B can cancel an entry that A − σB has
                pattern = sp.csr_array(abs(self.A) + abs(self.metric.sparse()))
            most = max(MAX_FLOPS, MAX_FLOPS_A_ROW * pattern.shape[0])
            if self._has_small_square:
                return ordering_after(pattern, self.auxiliary, most_flops=most)
            return fill_reducing_ordering(pattern, most_flops=most)
        except TooLarge as refusal:  # cached: to find it again would take as long
            return refusal

    @property
    def _has_small_square(self) -> bool:
        """Whether the pattern of MᵀM is soon found, and eliminating M's rows first is no loss."""
        if not isinstance(self.A, Gramian) or self.auxiliary < MIN_TALL_RATIO * self.A.shape[0]:
            return False
        M = self.A.factor
        lengths = np.diff(M.indptr)[distinct_rows(M)].astype(np.int64)
        return bool(lengths @ lengths <= MAX_SQUARE_RATIO * M.nnz)

    def _find_rotated_order(self) -> Ordering | None:
        """The elimination order of the rotated matrix, where that is the one to factor."""
        n = self.A.shape[0]
        if not isinstance(self.A, Gramian) or self.auxiliary != n or n < MIN_ROTATED_ROWS:
            return None
        pattern = mirrored_pattern(self.A.factor, self.A.factor_transpose)
        if not isinstance(self.metric, Identity | Diagonal):
            pattern = sp.csr_array(pattern + abs(self.metric.sparse()))
        try:
            # Blocks of 2×2 cost eight times what single entries do.
            return paired_ordering(
                fill_reducing_ordering(pattern, most_flops=MAX_ROTATED_FLOPS_RATIO * n**1.5 / 8)
            )
        except TooLarge:
            return None


def absolute_row_sums(matrix: sp.csr_array | RotatedMatrix) -> Array:
    """The sum of the sizes of the entries of each row."""
    if isinstance(matrix, RotatedMatrix):
        return matrix.absolute_sums()
    return np.asarray(abs(matrix) @ np.ones(matrix.shape[0]))


def lowered_matrix(
    matrix: sp.csr_array | RotatedMatrix, room: Array
) -> sp.csr_array | RotatedMatrix:
    """The matrix with so much less on its diagonal, rounded once."""
    if isinstance(matrix, RotatedMatrix):
        return matrix.with_less_diagonal(room)
    lowered = matrix.copy()
    lowered.setdiag(matrix.diagonal() - room)
    return lowered


@dataclass(frozen=True, eq=False)
class AugmentedMatrix:
    """The augmented matrix of MᵀM − shift·B, whose entries off a few diagonals never change.

        [[−sαI, −sM], [−sMᵀ, −(shift/α)·B]]        (s the sign, α = √|shift|)

    To put the blocks together takes as long as a factorisation; it is done once, and each shift
    only fills in its diagonal.
    """

    fixed: sp.csr_array
    places: Array  # where in fixed.data: the diagonal

    @classmethod
    def of(cls, side: sp.csr_array) -> AugmentedMatrix:
        """[[0, side], [sideᵀ, 0]] with its diagonal stored, written out row by row."""
        m, n = side.shape
        below = sp.csr_array(side.T)
        side.sort_indices()
        below.sort_indices()
        lengths = np.concatenate([np.diff(side.indptr), np.diff(below.indptr)]) + 1
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        # A diagonal entry is the first of an upper row and the last of a lower one.
        top, beneath = indptr[:m], indptr[m + 1 :] - 1
        entries = np.ones(indptr[-1], bool)
        entries[top] = entries[beneath] = False
        indices, data = np.empty(indptr[-1], np.int64), np.zeros(indptr[-1])
        indices[top], indices[beneath] = np.arange(m), m + np.arange(n)
        indices[entries] = np.concatenate([side.indices + np.int64(m), below.indices])
        data[entries] = np.concatenate([side.data, below.data])
        if max(m + n, indptr[-1]) < 2**31:
            indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
        fixed = sp.csr_array((data, indices, indptr), shape=(m + n, m + n))
        return cls(fixed, np.concatenate([top, beneath]))

    def with_diagonal(self, diagonal: Array) -> sp.csr_array:
        """The matrix of one shift."""
        data = self.fixed.data.copy()
        data[self.places] += diagonal
        matrix = sp.csr_array((data, self.fixed.indices, self.fixed.indptr), self.fixed.shape)
        matrix.has_canonical_format = True  # rows were written in order
        return matrix
