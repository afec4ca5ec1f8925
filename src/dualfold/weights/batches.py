"""Neighbourhoods in batches of equal size and bounded memory, and the rows that they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.graph.graph import Lists
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import in_threads, one_blas_thread, row_slices, thread_count

Result = TypeVar("Result")

# Enough for LAPACK's batches, and few enough that some hundred neighbourhoods keep two threads at
# work (docs/dev/notes/kernels.md).
BATCH_NUMBERS = 2**19
# Offsets below this, and above its inverse, have squares that underflow or overflow.
MIN_SAFE_OFFSET = 2.0**-300


def in_batches(lists: Lists, width: int, work: Callable[[Array, Array], Result]) -> list[Result]:
    """Results of `work` on (owners, positions) of neighbourhoods of equal size, in threads.

    `places` (one row an owner) are positions in lists.indices. `width` is the number of
    columns of the data: a batch gathers at most BATCH_NUMBERS of it. Points without
    neighbours are in no batch.
    """

    def one(rows: Array) -> Result:
        first = lists.indptr[rows][:, None]
        result = work(rows, first + np.arange(lists.counts[rows[0]]))
        done(len(rows))
        return result

    with steps("weighing neighbours", len(lists)) as done, one_blas_thread():
        return in_threads(one, list(_owners(lists.counts, width)), thread_count())


def _owners(counts: Array, width: int) -> Iterator[Array]:
    """Rows with the same number of neighbours, a batch at a time."""
    for count in np.unique(counts[counts > 0]):
        owners = np.flatnonzero(counts == count)
        batch = max(1, BATCH_NUMBERS // (int(count) * (width + int(count))))
        yield from (owners[part] for part in row_slices(len(owners), batch))


def offsets(X: Rows, neighbors: Array, origins: Array | None = None) -> Array:
    """x_j − x_i for the neighbours j of each origin i, or x_j less the mean of them all."""
    gathered = dense_rows(X, neighbors.ravel()).reshape(*neighbors.shape, -1)
    if origins is None:
        return rescaled_offsets(gathered - gathered.mean(axis=1, keepdims=True))
    return rescaled_offsets(gathered - dense_rows(X, origins)[:, None])


def rescaled_offsets(around: Array) -> Array:
    """Offsets, multiplied by a power of 2 where their squares would leave double precision.

    Weights and tangents of neighbourhoods do not depend on such a factor, to the last bit.
    """
    largest = max(float(around.max(initial=0.0)), -float(around.min(initial=0.0)))
    if 0 < largest < MIN_SAFE_OFFSET or largest > 1 / MIN_SAFE_OFFSET:
        return np.asarray(np.ldexp(around, -int(np.frexp(largest)[1])))
    return np.asarray(around)


def dense_rows(X: Rows, rows: Array) -> Array:
    """Some rows of a table, array or sparse matrix as a dense array of doubles."""
    if sp.issparse(X):
        return np.asarray(X[rows].toarray(), dtype=float)
    picked = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return np.asarray(picked, dtype=float)


def stacked_rows(parts: Iterable[tuple[Array, Array]], n: int) -> sp.csr_array:
    """A sparse matrix with n columns from (entries, columns) of equally long rows."""
    data, indices, lengths = [], [], []
    kind = np.int32 if n < 2**31 else np.int64
    for entries, columns in parts:
        width = entries.shape[-1]
        data.append(entries.ravel())
        indices.append(columns.astype(kind).ravel())
        lengths.append(np.full(entries.size // max(width, 1), width))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    if indptr[-1] < 2**31:
        indptr = indptr.astype(kind)
    shape = (len(indptr) - 1, n)
    return sp.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=shape)
