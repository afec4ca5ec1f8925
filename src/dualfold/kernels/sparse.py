"""Sparse matrices that point outside of themselves, refused before any C reads them.

SciPy checks neither the entries of `indices` and `indptr` nor coordinates when a matrix is made of
its parts; the next product then reads, or writes, wherever they point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, InvalidInput


def refuse_damaged(matrix: Any, name: str) -> None:
    """InvalidInput for a sparse matrix whose parts do not fit; anything else passes."""
    if not sp.issparse(matrix):
        return
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


def rows_are_sound(indptr: Any, indices: Any, shape: tuple[int, ...]) -> bool:
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


def _inside(places: Any, size: int) -> bool:
    return len(places) == 0 or bool(places.min() >= 0 and places.max() < size)
