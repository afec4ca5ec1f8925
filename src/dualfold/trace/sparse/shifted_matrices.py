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
from dualfold.kernels.ordering import distinct_rows
from dualfold.trace.metric import Diagonal, Identity, Metric
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.sparse.factorisation import (
    Factorisation,
    Ordering,
    fill_reducing_ordering,
    ordering_after,
    paired_ordering,
)

__all__ = [
    "MAX_FLOPS",
    "ShiftedMatrices",
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

_cache: WeakKeyDictionary[TraceProblem, ShiftedMatrices] = WeakKeyDictionary()


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
    orders = shifted_matrices(problem).orders.renumbered(place)
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

    def renumbered(self, place: Array) -> EliminationOrders:
        """The same orders where row i, and its twin n + i, have the numbers place[i], n + place[i].

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
        found: Ordering | None = self.orders.get("rotated", self._find_rotated_order)
        return found

    def balance(self, shift: float) -> float:
        """α: √|shift|, and 1 where nothing is auxiliary."""
        return float(np.sqrt(abs(shift))) or 1.0 if self.auxiliary else 1.0

    def at(self, shift: float) -> sp.csr_array:
        """The matrix of this shift; TooLarge where A is known by its products alone."""
        if isinstance(self.A, Gramian):
            a, s = self.balance(shift), self.sign
            top, bottom = np.full(self.auxiliary, -s * a), -shift / a * self.metric.sparse()
            beneath, plain = bottom.diagonal(), None
            if not isinstance(self.metric, Identity | Diagonal):
                plain = sp.csr_array(bottom - sp.diags_array(beneath))
            if self.is_rotated:
                mean, half = (top + beneath) / 2, (top - beneath) / 2
                return self._augmented_matrix.with_diagonals(
                    [mean, mean, half, half], plain, rotated=True
                )
            return self._augmented_matrix.with_diagonals([top, beneath], plain, rotated=False)
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
        if not self.is_rotated:
            found = factor.solve(np.vstack([np.zeros((before, R.shape[1])), R]))
            return found[:before], found[before:]
        found = factor.solve(np.vstack([R, -R]))
        return (found[:before] + found[before:]) / 2, (found[:before] - found[before:]) / 2

    @cached_property
    def _augmented_matrix(self) -> AugmentedMatrix:
        return AugmentedMatrix.of(self.A.factor, self.sign, self.is_rotated)

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
        M = abs(self.A.factor)
        pattern = sp.csr_array(M + M.T + abs(self.metric.sparse()))
        try:
            # Blocks of 2×2 cost eight times what single entries do.
            return paired_ordering(
                fill_reducing_ordering(pattern, most_flops=MAX_ROTATED_FLOPS_RATIO * n**1.5 / 8)
            )
        except TooLarge:
            return None


@dataclass(frozen=True, eq=False)
class AugmentedMatrix:
    """The augmented matrix of MᵀM − shift·B, whose entries off a few diagonals never change.

        [[−sαI, −sM], [−sMᵀ, −(shift/α)·B]]        (s the sign, α = √|shift|)

    or the same with rows i and n + i rotated by 45°. To put the blocks together takes as long as
    a factorisation; it is done once, and each shift only fills in its diagonals.
    """

    fixed: sp.csr_array
    places: tuple[Array, ...]  # where in fixed.data: the diagonals of the four blocks that have one

    @classmethod
    def of(cls, M: sp.csr_array, sign: float, rotated: bool) -> AugmentedMatrix:
        side = sp.csr_array(-sign * M)
        if not rotated:
            return cls._of_sides(side)
        return cls._of_halves(side)

    @classmethod
    def _of_halves(cls, side: sp.csr_array) -> AugmentedMatrix:
        """[[even, odd], [−odd, −even]] with four diagonals stored, written out row by row.

        even = (side + sideᵀ)/2 and odd = (sideᵀ − side)/2 have the places of both, stored once.
        """
        n = side.shape[0]
        both = sp.csr_array(side + 1j * side.T)  # sorted: a complex number for each place
        missing = np.flatnonzero(both.diagonal() == 0)
        if len(missing):  # `where` below needs a place for every diagonal entry
            both = _with_entries(both, missing, missing)
        even, odd = (both.data.real + both.data.imag) / 2, (both.data.imag - both.data.real) / 2
        start, lengths = both.indptr[:-1].astype(np.int64), np.diff(both.indptr)
        first = np.arange(both.nnz) + np.repeat(start, lengths)
        second = first + np.repeat(lengths, lengths)
        total = 2 * both.nnz
        kind = np.int32 if 2 * total < 2**31 else np.int64
        indices, data = np.empty(2 * total, kind), np.empty(2 * total)
        for here, values, columns in (
            (first, even, both.indices),
            (second, odd, both.indices + n),
            (first + total, -odd, both.indices),
            (second + total, -even, both.indices + n),
        ):
            data[here], indices[here] = values, columns
        indptr = np.concatenate([2 * start, total + 2 * start, [2 * total]]).astype(kind)
        fixed = sp.csr_array((data, indices, indptr), shape=(2 * n, 2 * n))
        rows = np.repeat(np.arange(n), lengths)
        where = np.flatnonzero(rows == both.indices)  # the diagonal entry of each row
        corners = (first[where], second[where] + total, second[where], first[where] + total)
        return cls(fixed, corners)

    @classmethod
    def _of_sides(cls, side: sp.csr_array) -> AugmentedMatrix:
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
        return cls(fixed, (top, beneath))

    def with_diagonals(
        self, diagonals: list[Array], plain: sp.csr_array | None, *, rotated: bool
    ) -> sp.csr_array:
        """The matrix of one shift: the diagonals, and what B has off its own."""
        data = self.fixed.data.copy()
        for where, diagonal in zip(self.places, diagonals, strict=True):
            data[where] += diagonal
        matrix = sp.csr_array((data, self.fixed.indices, self.fixed.indptr), self.fixed.shape)
        matrix.has_canonical_format = True  # rows were written in order
        if plain is None:
            return matrix
        before = self.fixed.shape[0] - plain.shape[0]
        if rotated:  # bottom stands in both halves, as sum and difference
            half = plain / 2
            return sp.csr_array(matrix + sp.block_array([[half, -half], [-half, half]]))
        return sp.csr_array(matrix + sp.block_diag([sp.csr_array((before, before)), plain]))


def _with_entries(matrix: sp.csr_array, rows: Array, columns: Array) -> sp.csr_array:
    """The matrix with these entries stored, 0 where there was none; rows sorted."""
    coo = matrix.tocoo()
    joined = sp.csr_array(
        (
            np.concatenate([coo.data, np.zeros(len(rows))]),
            (np.concatenate([coo.row, rows]), np.concatenate([coo.col, columns])),
        ),
        shape=matrix.shape,
    )
    joined.sum_duplicates()
    return joined
