"""A·V in double precision, for every kind of A."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel, shared
from dualfold.kernels.tally import tally
from dualfold.kernels.threads import in_threads, row_slices, thread_count

_wide_product = kernel("wide_product")
COLUMNS = shared("PRODUCT_COLUMNS")  # of V that the kernel takes at once
ROWS = 512  # a chunk of them is some milliseconds of work at 10,000 columns


def product(A: Any, V: Array) -> Array:
    """A·V. A float32 matrix is read as it is and its products are summed in float64.

    NumPy would make a float64 copy of A each time (800 MB at 10,000 rows).
    """
    tally("products", V.size // len(V) if len(V) else 0)
    narrow = isinstance(A, np.ndarray) and A.dtype == np.float32 and A.flags.c_contiguous
    if not narrow or V.dtype != np.float64:
        return A @ V
    columns = V.reshape(len(V), -1)
    count = columns.shape[1]
    padded = np.zeros((-(-count // COLUMNS) * COLUMNS, len(V)))
    padded[:count] = columns.T
    out = np.empty((len(A), len(padded)))
    in_threads(
        lambda rows: _wide_product(A.shape[1], A, rows.start, rows.stop, padded, len(padded), out),
        row_slices(len(A), ROWS),
        thread_count(),
    )
    return out[:, :count].reshape(len(A), *V.shape[1:])
