"""A square sparse matrix M beside its transpose, which together make a symmetric matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels import kernel, kernel_in_shares
from dualfold.kernels.threads import in_threads, thread_count

__all__ = ["MirroredRows", "RotatedMatrix", "mirrored_pattern"]

_mirrored_rows = kernel("mirrored_rows")
_rotated_rows = kernel_in_shares("rotated_rows")
_rotated_sums = kernel_in_shares("rotated_sums")


def mirrored_pattern(M: sp.csr_array, transpose: sp.csr_array) -> sp.csr_array:
    """The places of M, of Mᵀ and of the diagonal, as a matrix of ones."""
    start, columns = _mirrored_places(M, transpose, None)
    return _rows(np.ones(len(columns), np.int8), columns, start)


@dataclass(frozen=True, eq=False)
class MirroredRows:
    """For each place (i, j) of M, of Mᵀ and of the diagonal: M_ij and M_ji, row by row."""

    start: Array
    columns: Array
    entries: Array  # M_ij and M_ji

    @classmethod
    def of(cls, M: sp.csr_array, transpose: sp.csr_array) -> MirroredRows:
        """Mirrored rows of M, given with its transpose by rows."""
        if not np.isfinite([M.data.min(initial=0.0), M.data.max(initial=0.0)]).all():
            raise InvalidInput("the matrix holds entries that are not finite; remove them first")
        entries = np.empty((2 * M.nnz + M.shape[0], 2))
        start, columns = _mirrored_places(M, transpose, entries)
        return cls(start, columns, entries[: len(columns)])

    @property
    def n(self) -> int:
        """Rows of M."""
        return len(self.start) - 1


@dataclass(frozen=True, eq=False)
class RotatedMatrix:
    """[[E + D, O + H], [−O + H, −E + D]] less a diagonal.

    E is scale·(M + Mᵀ)/2, O is scale·(Mᵀ − M)/2, and D and H are the diagonal matrices of `mean`
    and `cross`. It is symmetric to the last bit, and is factorised as it is: to write it out takes
    as long as a small factorisation, and four times the memory of M.
    """

    rows: MirroredRows
    scale: float
    mean: Array
    cross: Array
    drop: Array = field(repr=False)  # the diagonal that is taken off

    @classmethod
    def of(cls, rows: MirroredRows, scale: float, mean: Array, cross: Array) -> RotatedMatrix:
        """The matrix with nothing taken off its diagonal."""
        return cls(rows, scale, mean, cross, np.zeros(2 * rows.n))

    @property
    def shape(self) -> tuple[int, int]:
        """Twice the rows of M, both ways."""
        return (2 * self.rows.n, 2 * self.rows.n)

    @property
    def parts(self) -> tuple[object, ...]:
        """Arrays that the kernels read."""
        rows = self.rows
        return (rows.n, rows.start, rows.columns, rows.entries,
                self.scale, self.mean, self.cross, self.drop)  # fmt: skip

    def diagonal(self) -> Array:
        """The entries on its diagonal."""
        return self._diagonal_and_sums[0]

    def absolute_sums(self) -> Array:
        """The sum of the sizes of the entries of each row."""
        return self._diagonal_and_sums[1]

    def with_less_diagonal(self, room: Array) -> RotatedMatrix:
        """The matrix with so much less on its diagonal."""
        if self.drop.any():
            raise ValueError("it was lowered before, and a second rounding is not accounted for")
        return replace(self, drop=room)

    def as_compressed_rows(self) -> sp.csr_array:
        """Matrix written out as compressed rows."""
        count = 4 * len(self.rows.columns)
        columns, values = np.empty(count, np.int32), np.empty(count)
        _in_row_shares(_rotated_rows(*self.parts, columns, values), self.rows.n)
        start = self.rows.start
        start = np.concatenate([2 * start, 2 * (start[1:] + start[-1])])
        return _rows(values, columns, start)

    @cached_property
    def _diagonal_and_sums(self) -> tuple[Array, Array]:
        diagonal, sums = np.empty(2 * self.rows.n), np.empty(2 * self.rows.n)
        _in_row_shares(_rotated_sums(*self.parts, diagonal, sums), self.rows.n)
        return diagonal, sums


def _in_row_shares(share: Callable[[int, int], object], n: int) -> None:
    bounds = np.linspace(0, n, thread_count() + 1).astype(int)
    in_threads(lambda rows: share(*rows), pairwise(bounds.tolist()), thread_count())


def _mirrored_places(
    M: sp.csr_array, transpose: sp.csr_array, entries: Array | None
) -> tuple[Array, Array]:
    """Where each row begins and its columns; `entries` are filled where they are given."""
    n = M.shape[0]
    start, columns = np.empty(n + 1, np.int64), np.empty(2 * M.nnz + n, np.int32)
    both = [
        (rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data)
        for rows in (M, transpose)
    ]
    count = _mirrored_rows(n, *both[0], *both[1], start, columns, entries)
    return start, columns[:count]


def _rows(data: Array, columns: Array, start: Array) -> sp.csr_array:
    n = len(start) - 1
    if len(columns) < 2**31:
        start = start.astype(np.int32)
    rows = sp.csr_array((data, columns, start), shape=(n, n))
    rows.has_canonical_format = True  # written in order
    return rows
