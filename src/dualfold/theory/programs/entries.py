"""The entries of a program, checked: finite doubles, shapes that fit, Q symmetric and convex."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.kernels.sparse import canonical_rows

# The eigenvalues of Q are computed up to this size: docs/dev/notes/programs.md.
MAX_CURVED_ROWS = 3_000


def doubles(numbers: object, name: str) -> Array:
    """The numbers as doubles; refused where they are not, so that no other program is certified."""
    given = np.asarray(numbers)
    if given.dtype.kind == "c":
        raise InvalidInput(Argument(name), " is complex; programs are about real numbers")
    try:
        entries = np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            Argument(name), f" must hold numbers; its type is {given.dtype}"
        ) from None
    if given.dtype.kind in "iuO" or given.dtype.itemsize > entries.dtype.itemsize:
        large = np.flatnonzero(np.abs(entries) >= 2.0**53) if given.dtype.kind in "iu" else ...
        pairs = zip(given.ravel()[large].tolist(), entries.ravel()[large].tolist(), strict=True)
        if any(first != second for first, second in pairs if first == first):
            raise InvalidInput(
                Argument(name),
                " holds numbers that no double equals, such as integers beyond 2^53; round "
                "them first, so that the program judged is the one you mean",
            )
    return entries


def _finite(numbers: object, name: str) -> Array:
    entries = doubles(numbers, name)
    if not np.isfinite(entries).all():
        raise InvalidInput(
            Argument(name), " holds NaN or infinite entries; leave such rows or bounds out"
        )
    return entries


def vector(numbers: object, name: str, size: int | None) -> Array:
    """Row of finite numbers, `size` of them (None: any number; none at all is a program)."""
    entries = _finite(numbers, name)
    if entries.ndim != 1 or size not in (None, len(entries)):
        needed = "a row of numbers" if size is None else f"{size} numbers"
        raise InvalidInput(Argument(name), f" must be {needed}; its shape is {entries.shape}")
    return entries


def _matrix(matrix: object, name: str) -> Matrix:
    if not sp.issparse(matrix):
        return _finite(matrix, name)
    rows = canonical_rows(matrix, name)
    return sp.csr_array((_finite(rows.data, name), rows.indices, rows.indptr), rows.shape)


def rows_of(matrix: object, limits: object, n: int, name: str, limit: str) -> tuple[Matrix, Array]:
    """A matrix of n columns with its limits, one for each row; both None for no constraints."""
    if (matrix is None) != (limits is None):
        raise InvalidInput(
            Argument(name), f" and {limit} belong together; one of them was given alone"
        )
    if matrix is None:
        return np.zeros((0, n)), np.zeros(0)
    rows = _matrix(matrix, name)
    if rows.ndim != 2 or rows.shape[1] != n:
        raise InvalidInput(
            Argument(name),
            f" must have one column for each of the {n} variables of c; its shape is {rows.shape}",
        )
    return rows, vector(limits, limit, rows.shape[0])


def is_nonzero(matrix: Matrix) -> bool:
    return bool(np.any(matrix.data)) if sp.issparse(matrix) else bool(np.any(matrix))


def dense_matrix(matrix: Matrix) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def semidefinite_matrix(matrix: object, n: int, name: str, what: str) -> Matrix:
    """The matrix if it is symmetric and positive semidefinite to rounding."""
    Q = _matrix(matrix, name)
    if Q.shape != (n, n):
        raise InvalidInput(
            Argument(name), f" must be {n}×{n}, one row for each of the {what}; it is {Q.shape}"
        )
    if not is_nonzero(Q):
        return Q
    off = Q != Q.T
    if off.nnz if sp.issparse(off) else off.any():
        raise InvalidInput(
            Argument(name),
            " is not symmetric; use (Q + Q.T) / 2, which has the same values (to rounding)",
        )
    if n > MAX_CURVED_ROWS:
        raise TooLarge(
            Argument(name),
            f" has {n} rows; up to {MAX_CURVED_ROWS} can be checked to be positive semidefinite",
        )
    dense = dense_matrix(Q)
    # In units of its own, so that a large entry does not hide an error of small ones.
    units = diagonal_units(np.diagonal(dense))
    with np.errstate(all="ignore"):
        scaled = dense * units[:, None] * units
    usable = scaled if np.isfinite(scaled).all() else dense
    least = float(scipy.linalg.eigvalsh(usable, subset_by_index=[0, 0])[0])
    # LAPACK's eigenvalues are within a small multiple of n·eps·‖Q‖ of the true ones; smaller
    # negative ones are left to the certificate.
    if least < -10 * n * np.finfo(float).eps * n * float(np.abs(usable).max()):
        raise InvalidInput(
            Argument(name),
            f" is indefinite: its least eigenvalue is {least:.3g} (with a diagonal of about "
            "1), so the program is not convex and its dual proves nothing about it. Only "
            f"positive semidefinite {name} is taken",
        )
    return Q


def diagonal_units(diagonal: Array) -> Array:
    """Powers of 2 that bring a diagonal to [½, 2]; 1 where it is not positive."""
    positive = np.where(diagonal > 0, diagonal, 1.0)
    return np.asarray(np.ldexp(1.0, -np.round(np.frexp(positive)[1] / 2).astype(int)))
