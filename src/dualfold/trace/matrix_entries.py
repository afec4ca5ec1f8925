"""Matrices as given: real, finite, symmetric to rounding, and not rounded when they are read.

A certificate must be about the matrix that was given. So nothing is dropped silently (an imaginary
part, the digits of an integer beyond 2⁵³), and asymmetry that is left is measured, not assumed.
tr(VᵀAV) depends only on the symmetric part (A + Aᵀ)/2, and every proof is about that matrix.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Matrix
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels import kernel
from dualfold.kernels.sparse import canonical_rows

# Matrices made in floating point are symmetric to some 1e-10 of their rows; more is a mistake.
ASYMMETRY_TOLERANCE = 1e-6
TILE_ROWS = 1024


_asymmetry = kernel("asymmetry")


def real_entries(entries: ArrayLike, name: str, *, single: bool = False) -> Array:
    """An array of float64 (float32 too, if `single`) with exactly the numbers that were given."""
    given = np.asarray(entries)
    if np.iscomplexobj(given):
        raise InvalidInput(
            Argument(name),
            " is complex, and these problems are real; a Hermitian matrix H has the real "
            "form [[H.real, -H.imag], [H.imag, H.real]], with each eigenvalue twice",
        )
    if given.dtype == np.float64 or (single and given.dtype == np.float32):
        return given
    try:
        real = given.astype(np.float64)
        exact = given.dtype.kind in "bf" and given.dtype.itemsize <= 8
        if not exact:
            back = real.astype(given.dtype) if np.isfinite(real).all() else real
            exact = bool(np.all((back == given) & (real < 2.0**63)))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            Argument(name), f" holds entries that are no numbers ({error})"
        ) from error
    if not exact and np.isfinite(real).all():
        raise InvalidInput(
            Argument(name),
            f" is of type {given.dtype} and has entries that float64 cannot hold exactly; "
            "shift or scale it first, or round it yourself with .astype(float)",
        )
    return real


def real_sparse(matrix: sp.sparray | sp.spmatrix, name: str) -> sp.csr_array:
    """Compressed rows in float64, sorted, without duplicates; the given matrix stays as it is."""
    rows = canonical_rows(matrix, name)
    data = real_entries(rows.data, name)
    return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def symmetric(matrix: Matrix, name: str) -> Matrix:
    """The matrix itself where it is symmetric, else (A + Aᵀ)/2; refused if far from symmetric."""
    difference = asymmetry(matrix)
    if difference == 0:
        return matrix
    size = float(abs(matrix).sum(axis=1).mean())
    if difference > ASYMMETRY_TOLERANCE * size:
        raise not_symmetric(name, matrix)
    half = (matrix + matrix.T) / 2
    return sp.csr_array(half) if sp.issparse(matrix) else half


def not_symmetric(name: str, matrix: Matrix) -> InvalidInput:
    """The refusal of a matrix, with the two of its entries that differ most."""
    i, j = _most_different_entries(matrix)
    return InvalidInput(
        Argument(name),
        f" is not symmetric: {name}[{i}, {j}] is {matrix[i, j]:.6g} and {name}[{j}, {i}] is "
        f"{matrix[j, i]:.6g}; use ({name} + {name}.T) / 2",
    )


def _most_different_entries(matrix: Matrix) -> tuple[int, int]:
    """Where |a_ij − a_ji| is largest."""
    if sp.issparse(matrix):
        difference = sp.coo_array(abs(matrix - matrix.T))
        most = int(np.argmax(difference.data))
        return int(difference.row[most]), int(difference.col[most])
    best, place = -1.0, (0, 0)
    for first in range(0, len(matrix), TILE_ROWS):
        rows = slice(first, first + TILE_ROWS)
        difference = np.abs(np.subtract(matrix[rows], matrix[:, rows].T, dtype=float))
        i, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
        if difference[i, j] > best:
            best, place = float(difference[i, j]), (first + int(i), int(j))
    return place


def asymmetry(matrix: Matrix) -> float:
    """An upper bound of ‖A − Aᵀ‖/2, the distance of A from its symmetric part; 0 if symmetric."""
    if sp.issparse(matrix):
        difference = _largest_row_difference(matrix)
        if difference >= 0:
            return 0.51 * difference
        difference = abs(matrix - matrix.T)
        return 0.51 * float(difference.sum(axis=1).max(initial=0.0)) if difference.nnz else 0.0
    squares = 0.0
    for first in range(0, len(matrix), TILE_ROWS):
        for second in range(first, len(matrix), TILE_ROWS):
            rows, columns = slice(first, first + TILE_ROWS), slice(second, second + TILE_ROWS)
            block, mirrored = matrix[rows, columns], matrix[columns, rows].T
            if not np.array_equal(block, mirrored):
                squares += 2 * float(np.sum(np.subtract(block, mirrored, dtype=float) ** 2))
    return 0.51 * float(np.sqrt(squares))


def _largest_row_difference(rows: sp.csr_array) -> float:
    """‖A − Aᵀ‖_∞ of compressed rows; −1 where an entry has no place that mirrors it."""
    n = rows.shape[0]
    if rows.format != "csr" or not rows.has_canonical_format or n >= 2**31:
        return -1.0
    places = (rows.indptr.astype(np.int64, copy=False), rows.indices.astype(np.int32, copy=False))
    data = np.ascontiguousarray(rows.data, dtype=np.float64)
    return float(_asymmetry(n, *places, data, np.empty(n, np.int64), np.empty(n)))
