"""The same sparse matrix as SciPy may hold it: in parts, out of order, in every format."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def forms_of(dense):
    """Name → a sparse matrix with the entries of a dense array."""
    rows = sp.csr_array(dense)
    halves = (np.repeat(rows.data / 2, 2).astype(rows.dtype), np.repeat(rows.indices, 2))
    in_parts = sp.csr_array((*halves, rows.indptr * 2), shape=rows.shape)
    order = np.concatenate(
        [np.arange(b - 1, a - 1, -1) for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)]
    ).astype(int)
    backwards = sp.csr_array((rows.data[order], rows.indices[order], rows.indptr), shape=rows.shape)
    long = rows.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    entries = in_parts.tocoo()
    return {
        "in parts": in_parts,
        "backwards": backwards,
        "64-bit indices": long,
        "coordinates in parts": sp.coo_array((entries.data, entries.coords), shape=rows.shape),
        "columns": sp.csc_array(rows),
        "blocks": sp.bsr_array(rows, blocksize=(2, 2)),
        "matrix in parts": sp.csr_matrix(in_parts),
        "lists": sp.lil_array(rows),
    }
