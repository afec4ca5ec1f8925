"""Sparse matrices: damaged ones refused, others in canonical rows; their products and squares.

SciPy checks neither the entries of `indices` and `indptr` nor coordinates when a matrix is made of
its parts; the next product then reads, or writes, wherever they point. It also allows an entry
to be stored in parts, whose sum it is, and in any order within its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels import kernel_in_shares
from dualfold.kernels.reports import tally
from dualfold.kernels.threads import in_threads, thread_count

# Columns that are multiplied together: these rows of a table stay in the cache, wider ones do not
# (docs/dev/notes/trace-solvers.md).
PRODUCT_COLUMNS = 8
# Multiply-adds from which on a product is divided among threads (docs/dev/notes/threads.md).
MIN_THREADED_PRODUCTS = 4_000_000
# Fewer entries are multiplied by SciPy before a kernel's arguments are checked.
MIN_KERNEL_ENTRIES = 20_000
# Products that are added to a square at a time.
BATCH_NUMBERS = 2**21

_product = kernel_in_shares("sparse_product")


def sparse_product(rows: sp.csr_array, V: Array) -> Array:
    """A sparse matrix times a dense one, a few columns at a time; the same bits as rows @ V.

    Large ones are multiplied in threads, each some of the rows.
    """
    if np.ndim(V) != 2:
        return rows @ V
    if not _is_plain(rows, V):
        return _by_columns(rows, V)
    n, count = rows.shape[0], V.shape[1]
    image = np.empty((n, count))
    share = _product(
        n, rows.shape[1], count, rows.indptr.astype(np.int64), rows.indices, rows.data,
        np.ascontiguousarray(V), image,
    )  # fmt: skip
    threads = thread_count() if rows.nnz * count >= MIN_THREADED_PRODUCTS else 1
    bounds = np.linspace(0, n, threads + 1).astype(int)
    in_threads(lambda some: share(*some), list(pairwise(bounds.tolist())), threads)
    return image


def _is_plain(rows: sp.csr_array, V: Array) -> bool:
    """Whether the kernel takes the product: large, of compressed rows, all numbers float64."""
    large = rows.nnz >= MIN_KERNEL_ENTRIES and rows.format == "csr" and V.dtype == np.float64
    return bool(large and rows.dtype == np.float64 and rows.indices.dtype == np.int32)


def _by_columns(rows: sp.csr_array, V: Array) -> Array:
    if V.shape[1] <= 2 * PRODUCT_COLUMNS:
        return rows @ V
    image = np.empty((rows.shape[0], V.shape[1]), np.result_type(rows.dtype, V.dtype))
    for first in range(0, V.shape[1], PRODUCT_COLUMNS):
        part = slice(first, first + PRODUCT_COLUMNS)
        image[:, part] = rows @ np.ascontiguousarray(V[:, part])
    return image


def filled_square(M: sp.csr_array) -> Array:
    """MᵀM as a dense matrix; rows of M with the same columns are multiplied together.

    Entry (i, j) has at most as many terms as column i has entries, added in any order.
    """
    n = M.shape[1]
    total = np.zeros(n * n)
    for columns, entries in _equal_blocks(M):
        tally("square multiply-adds", entries.size * entries.shape[2])
        indices = columns[:, :, None] * np.int64(n) + columns[:, None]
        np.add.at(total, indices.ravel(), (entries.transpose(0, 2, 1) @ entries).ravel())
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


def distinct_rows(rows: sp.csr_array) -> NDArray[np.int64]:
    """Rows whose columns are not those of the row before: one of each run of equal patterns."""
    lengths = np.diff(rows.indptr)
    same = np.concatenate([[False], lengths[1:] == lengths[:-1]])
    # The entry at the same index of the row before, which is as long where `same`.
    before = np.arange(rows.nnz) - np.repeat(lengths, lengths)
    differs = rows.indices != rows.indices[np.maximum(before, 0)]
    owners = np.repeat(np.arange(len(lengths)), lengths)
    same &= np.bincount(owners[differs], minlength=len(lengths)) == 0
    return np.flatnonzero(~same)


def canonical_rows(matrix: sp.sparray | sp.spmatrix, name: str) -> sp.csr_array:
    """A sparse matrix of any format as compressed rows: sorted, every entry stored once.

    Stored zeros stay, but for those that fill blocks (BSR). The given matrix stays as it is; where
    nothing is to change, the result shares its arrays. Parts of an entry are summed in float64,
    those of integers in 64 bits; what was float32 is float32 again where that rounds nothing.
    """
    refuse_damaged(matrix, name)
    if matrix.format == "csr" and matrix.has_canonical_format:
        return _with_short_indices(matrix)
    kind = matrix.dtype
    wide = {"f": np.float64, "i": np.int64, "u": np.uint64}.get(kind.kind, kind)
    rows = sp.csr_array(matrix.astype(np.promote_types(kind, wide), copy=True))
    rows.sum_duplicates()
    if matrix.format == "bsr":
        rows.eliminate_zeros()
    narrow = rows.astype(kind) if kind == np.float32 else rows
    return _with_short_indices(narrow if np.array_equal(narrow.data, rows.data) else rows)


def _with_short_indices(rows: sp.csr_array) -> sp.csr_array:
    """Indices of 32 bits, which scikit-learn and the kernels read, where they suffice."""
    parts = (rows.indices, rows.indptr)
    if max(*rows.shape, len(rows.data)) < 2**31:
        parts = tuple(part.astype(np.int32, copy=False) for part in parts)
    if isinstance(rows, sp.csr_array) and parts[0] is rows.indices and parts[1] is rows.indptr:
        return rows
    return sp.csr_array((rows.data, *parts), shape=rows.shape)


def refuse_damaged(matrix: Any, name: str) -> None:
    """InvalidInput for a sparse matrix whose parts do not fit; anything else passes."""
    if not sp.issparse(matrix):
        return
    if len(matrix.shape) != 2:
        raise InvalidInput(
            Argument(name),
            f" must be a sparse matrix of rows and columns; its shape is {matrix.shape}",
        )
    if matrix.format in ("csr", "csc", "bsr"):
        shape = matrix.shape
        if matrix.format == "bsr":
            shape = (shape[0] // matrix.blocksize[0], shape[1] // matrix.blocksize[1])
        lines, across = shape if matrix.format != "csc" else shape[::-1]
        sound = rows_are_sound(matrix.indptr, matrix.indices, (lines, across))
        sound = sound and len(matrix.data) >= len(matrix.indices[: matrix.indptr[-1]])
    elif matrix.format == "coo":
        sound = all(
            len(places) == len(matrix.data) and _inside(places, size)
            for places, size in zip(matrix.coords, matrix.shape, strict=True)
        )
    else:  # dia, dok and lil hold no places that C would follow
        return
    if not sound:
        raise InvalidInput(
            Argument(name),
            f" is a damaged sparse matrix: its entries do not lie in its shape {matrix.shape}; "
            "make it again, for example from its rows, columns and values (scipy.sparse.coo_array)",
        )


def rows_are_sound(indptr: Array, indices: Array, shape: tuple[int, ...]) -> bool:
    """Whether compressed rows stay within their own arrays and the columns of the matrix."""
    whole = all(
        isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "iu"
        for part in (indptr, indices)
    )
    return (
        whole
        and len(shape) == 2
        and len(indptr) == shape[0] + 1
        and int(indptr[0]) == 0
        and int(indptr[-1]) <= len(indices)
        and bool(np.all(indptr[1:] >= indptr[:-1]))
        and _inside(indices[: int(indptr[-1])], shape[1])
    )


def _inside(places: Array, size: int) -> bool:
    return len(places) == 0 or bool(places.min() >= 0 and places.max() < size)
