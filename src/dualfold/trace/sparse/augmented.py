"""The augmented matrix of MᵀM − shift·B, whose entries off a few diagonals never change.

    [[−sαI, −sM], [−sMᵀ, −(shift/α)·B]]        (s the sign, α = √|shift|)

or the same with rows i and n + i turned by 45°. Putting the blocks together takes as long as a
factorisation; here it is done once, and each shift only fills in its diagonals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array


@dataclass(frozen=True, eq=False)
class AugmentedMatrix:
    """The part that never changes, with explicit entries where diagonals go."""

    fixed: sp.csr_array
    places: tuple[Array, ...]  # where in fixed.data: the diagonals of the four blocks that have one

    @classmethod
    def of(cls, M: sp.csr_array, sign: float, turned: bool) -> AugmentedMatrix:
        m, n = M.shape
        side = sp.csr_array(-sign * M)
        if not turned:
            blocks = [[_zeros(m), side], [side.T, _zeros(n)]]
            offsets = [(np.arange(m), np.arange(m)), (m + np.arange(n), m + np.arange(n))]
        else:
            even, odd = (side + side.T) / 2, (side.T - side) / 2
            blocks = [[even, odd], [-odd, -even]]
            i = np.arange(n)
            offsets = [(i, i), (n + i, n + i), (i, n + i), (n + i, i)]
        fixed = sp.csr_array(sp.block_array(blocks, format="csr"))
        # Adding 0 would drop nothing that is stored, and stores what is not there yet.
        rows, columns = (np.concatenate(parts) for parts in zip(*offsets, strict=True))
        fixed = _with_entries(fixed, rows, columns)
        return cls(fixed, tuple(_places(fixed, *where) for where in offsets))

    def filled(
        self, diagonals: list[Array], plain: sp.csr_array | None, *, turned: bool
    ) -> sp.csr_array:
        """The matrix of one shift: the diagonals, and what B has off its own."""
        data = self.fixed.data.copy()
        for where, diagonal in zip(self.places, diagonals, strict=True):
            data[where] += diagonal
        matrix = sp.csr_array((data, self.fixed.indices, self.fixed.indptr), self.fixed.shape)
        if plain is None:
            return matrix
        before = self.fixed.shape[0] - plain.shape[0]
        if turned:  # bottom stands in both halves, as sum and difference
            half = plain / 2
            return sp.csr_array(matrix + sp.block_array([[half, -half], [-half, half]]))
        return sp.csr_array(matrix + sp.block_diag([sp.csr_array((before, before)), plain]))


def _zeros(size: int) -> sp.csr_array:
    i = np.arange(size)
    return sp.csr_array((np.zeros(size), (i, i)), shape=(size, size))


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


def _places(matrix: sp.csr_array, rows: Array, columns: Array) -> Array:
    """Where in `matrix.data` these entries are."""
    wide = matrix.shape[1]
    row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    keys = row_of.astype(np.int64) * wide + matrix.indices
    return np.searchsorted(keys, rows.astype(np.int64) * wide + columns)
