"""What a tile holds, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput, RowNumbers
from dualfold.graph.metrics import double_table, exact_doubles
from dualfold.kernels.sparse import canonical_rows


def dtype_of(block: Any) -> np.dtype[Any]:
    """float32 where all numbers of a block are, else float64."""
    kinds = list(block.dtypes) if hasattr(block, "dtypes") else [block.dtype]
    single = kinds and all(kind == np.float32 for kind in kinds)
    return np.dtype(np.float32 if single else np.float64)


def plain_rows(block: object) -> Any:
    """The rows of a block as a two-dimensional array (or CSR matrix) of float64 or float32."""
    if hasattr(block, "dtypes") and hasattr(block, "columns"):
        block = _of_frame(block)
    rows: Any = canonical_rows(block, "X") if sp.issparse(block) else np.asarray(block)
    if rows.ndim != 2:
        raise InvalidInput(f"its shape is {rows.shape}, and rows and columns are needed")
    if rows.dtype.kind not in "fiub":
        raise InvalidInput(f"it must hold numbers, and its type is {rows.dtype}")
    if rows.dtype.kind in "iu" or rows.dtype.itemsize > 8:
        return double_table(rows, "X")
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


def _of_frame(block: Any) -> Array:
    """Columns of numbers side by side; others are named."""
    others = [str(name) for name, kind in block.dtypes.items() if kind.kind not in "fiub"]
    if others:
        raise InvalidInput(
            f"the column {others[0]!r} holds no numbers; leave it out "
            "(dualfold.scale.table(…, columns=[…])), or take FAMD, which reads categories"
        )
    wide = dtype_of(block)
    rows = np.empty(block.shape, wide)
    for place, name in enumerate(block.columns):
        column = block[name]
        values = column.to_numpy()
        if values.dtype.kind in "iu":
            exact_doubles(values, str(name))
        rows[:, place] = values if values.dtype.kind in "fiub" else column.to_numpy(wide, np.nan)
    return rows


def dense_rows(rows: Any) -> Array:
    """Rows as a dense array, where they are in a sparse matrix."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)


def refuse_gaps(rows: Array, numbers: Array | None = None) -> None:
    """Rows with NaN or infinity are named: by their places in a tile, or by these `numbers`."""
    wrong = ~np.isfinite(rows).all(axis=1)
    if wrong.any():
        column = int(np.argmax(wrong))
        raise InvalidInput(
            RowNumbers(column if numbers is None else int(numbers[column])),
            " of it holds NaN or infinity; fill or drop such rows first",
        )
