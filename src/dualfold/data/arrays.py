"""Tables that are stored as arrays: NPY, NPZ, MatrixMarket, and Parquet's columns."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualfold.data.columns import Table
from dualfold.data.notices import listed
from dualfold.errors import Argument, InvalidInput, Message, MissingDependency
from dualfold.kernels.sparse import refuse_damaged

if TYPE_CHECKING:
    import pandas as pd

Place = Path | io.BytesIO

# Above this an .npy file is mapped rather than read: pages come when they are used.
MAP_BYTES = 1 << 28
SPARSE_ENTRIES = {"data", "format", "shape"}


def parquet_module() -> Any:
    """pyarrow.parquet, or the command that installs it."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependency(
            "Parquet files need pyarrow, which is not installed: pip install 'dualfold[parquet]'"
        ) from error
    return parquet


def parquet_frame(place: Place, name: str) -> pd.DataFrame:
    """The columns of a Parquet file; a stored index is not one of them."""
    parquet = parquet_module()
    try:
        stored = parquet.read_table(place)
        twice = {column for column in stored.column_names if stored.column_names.count(column) > 1}
        if twice:
            raise InvalidInput(
                f"column names must differ, but in {name} {listed(sorted(twice))} appear more "
                "than once; rename them"
            )
        frame: pd.DataFrame = stored.to_pandas().reset_index(drop=True)
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{name} is not a readable Parquet file: {error}") from error
    return frame


def npy_array(place: Place, name: str) -> NDArray[Any]:
    """The array of an .npy file, mapped into memory if it is large."""
    large = isinstance(place, Path) and place.stat().st_size > MAP_BYTES
    try:
        stored: NDArray[Any] = np.load(place, mmap_mode="r" if large else None, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise InvalidInput(_unreadable(name, "NPY", error)) from error
    return stored


def npz_table(place: Place, name: str, array: str | None) -> Table:
    """The matrix of an .npz file: sparse, the one named, X, or the only one there is.

    Its other arrays with one value for each row become labels, as `y` beside `X`.
    """
    try:
        with np.load(place, allow_pickle=False) as archive:
            held = {key: archive[key] for key in archive.files}
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, AttributeError) as error:
        raise InvalidInput(_unreadable(name, "NPZ", error)) from error
    if set(held) >= SPARSE_ENTRIES and array is None:
        from scipy.sparse import load_npz

        if isinstance(place, io.BytesIO):
            place.seek(0)
        try:
            stored = load_npz(place)
        except (ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
            raise InvalidInput(_unreadable(name, "NPZ", error)) from error
        return sparse_table(stored)
    tables = [key for key, value in held.items() if value.ndim >= 2]
    candidates = [array] if array else (["X"] if "X" in held else tables or list(held))
    if len(candidates) != 1 or candidates[0] not in held:
        shapes = ", ".join(f"'{key}' {value.shape}" for key, value in held.items()) or "nothing"
        wanted = f"an array '{array}'" if array else "X or a single array"
        raise InvalidInput(
            f"{name} must hold {wanted}, but holds {shapes}",
            *(("; choose one, as ", Argument("array", next(iter(held)))) if held else ()),
        )
    table = dense_table(held.pop(candidates[0]), name)
    n = len(table.rows)
    labels = {key: value for key, value in held.items() if value.shape in ((n,), (n, 1))}
    labels = {key: value.reshape(n) for key, value in labels.items()}
    unused = [key for key in held if key not in labels]
    notices = [f"{listed(labels)}: one value for each row, kept as labels"] if labels else []
    notices += [f"{listed(unused)}: not used"] if unused else []
    return replace(table, labels=labels, notices=(*table.notices, *notices))


def matrix_market_table(place: Place, name: str) -> Table:
    """The matrix of an .mtx file, rows being points."""
    from scipy.io import mmread

    try:
        stored = mmread(str(place) if isinstance(place, Path) else place)
    except (ValueError, OSError, EOFError, OverflowError) as error:
        raise InvalidInput(_unreadable(name, "MatrixMarket", error)) from error
    return dense_table(stored, name) if isinstance(stored, np.ndarray) else sparse_table(stored)


def sparse_table(stored: Any) -> Table:
    """A table of a sparse matrix; zero is a value in it, not a gap."""
    from scipy.sparse import csr_array

    refuse_damaged(stored, "X")
    if stored.dtype.kind == "c":
        raise InvalidInput("real numbers are needed, but the matrix is complex")
    wanted = stored.dtype if stored.dtype == np.float32 else np.float64
    matrix = csr_array(stored).astype(wanted)
    matrix.sum_duplicates()
    n, width = matrix.shape
    _refuse_empty(n, width, "the sparse matrix")
    return Table(matrix, _plain_names(width), {}, (), np.arange(n, dtype=np.int64))


def dense_table(stored: NDArray[Any], name: str) -> Table:
    """A table of a dense array; images and the like are flattened, one row each."""
    if stored.dtype.kind not in "biuf":
        raise InvalidInput(
            f"an array of real numbers is needed, but {name} holds {stored.dtype} values"
        )
    notices = []
    if stored.ndim == 0:
        raise InvalidInput(f"an array of n×D numbers is needed, but {name} holds a single number")
    if stored.ndim == 1:
        notices.append(f"{name} holds a plain list of numbers; taken as one column")
    if stored.ndim > 2:
        shape = "×".join(map(str, stored.shape))
        notices.append(f"{name} holds an array of {shape}; each of its rows was made flat")
    _refuse_empty(len(stored), int(np.prod(stored.shape[1:])), name)
    matrix = stored.reshape(len(stored), -1)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype == np.float16 else np.float64)
    if not matrix.dtype.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    rows = np.arange(len(matrix), dtype=np.int64)
    return Table(matrix, _plain_names(matrix.shape[1]), {}, tuple(notices), rows)


def _refuse_empty(n: int, width: int, name: str) -> None:
    if n == 0 or width == 0:
        raise InvalidInput(f"at least one row and column are needed, but {name} is {n}×{width}")


def _plain_names(width: int) -> tuple[str, ...]:
    return tuple(f"column_{place + 1}" for place in range(width))


def _unreadable(name: str, kind: str, error: Exception) -> str:
    text = str(error)
    if "Object arrays" in text:
        return (
            f"{name} holds Python objects, which are not loaded because they can run code; "
            "save it as an array of numbers"
        )
    if "allow_pickle" in text:  # what NumPy says of every file that it does not know
        return Message(
            f"{name} is not a readable {kind} file; if it is of another format, say which, as ",
            Argument("format", "csv"),
        )
    return f"{name} is not a readable {kind} file: {text}"
