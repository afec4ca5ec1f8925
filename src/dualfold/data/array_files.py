"""Tables that are stored as arrays: NPY, NPZ, MatrixMarket, and Parquet's columns.

MatrixMarket files are read line by line: SciPy's own reader writes beyond its arrays where a file
was cut or its sizes are wrong, and the process ends. Here every entry is read as text and
compared with the sizes that the file states.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from dualfold.arrays import Array
from dualfold.data.columns import Table
from dualfold.data.dialect import Opener
from dualfold.data.limits import (
    MAX_QUOTED_CHARACTERS,
    refuse_oversized_archive,
    unreadable_as_damaged,
)
from dualfold.data.notices import quoted_names
from dualfold.errors import Argument, DamagedFile, InvalidInput, Message, MissingDependency
from dualfold.kernels.sparse import canonical_rows

if TYPE_CHECKING:
    import pandas as pd

Place = Path | io.BytesIO

# Above this an .npy file is mapped rather than read: pages come when they are used.
MAP_BYTES = 1 << 28
SPARSE_ENTRIES = {"data", "format", "shape"}
# MatrixMarket
NUMBER_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
KNOWN_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
MAX_HEADER_BYTES = 1 << 16
MAX_MATRIX_ROWS = 2**31 - 1
MAX_SYMMETRIC_ROWS = 1 << 20


def parquet_module() -> Any:
    """pyarrow.parquet, or the command that installs it."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependency(
            "Parquet files need pyarrow, which is not installed: pip install 'dualfold[parquet]'"
        ) from error
    return parquet


def parquet_frame(file: Place, name: str) -> pd.DataFrame:
    """The columns of a Parquet file; a stored index is not one of them."""
    parquet = parquet_module()
    with unreadable_as_damaged(name, "Parquet"):
        # By places, since names may appear twice; each column is freed when it is copied.
        stored = parquet.ParquetFile(file, pre_buffer=False).read(use_threads=False)
        frame: pd.DataFrame = stored.to_pandas(split_blocks=True, self_destruct=True)
        del stored
        frame.index = range(len(frame))  # type: ignore[assignment]
    return frame


def npy_array(file: Place, name: str, *, mapped: bool = False) -> Array:
    """The array of an .npy file, `mapped` into memory if that is asked or it is large."""
    large = mapped or (isinstance(file, Path) and file.stat().st_size > MAP_BYTES)
    with _arrays_of(name, "NPY"):
        _refuse_longer_than_file(file)
        stored: Array = np.load(file, mmap_mode="r" if large else None, allow_pickle=False)
    if not isinstance(stored, np.ndarray):  # an archive under this name
        stored.close()
        raise DamagedFile(f"{name} is not a readable NPY file, but an archive")
    return stored


def _refuse_longer_than_file(file: Place) -> None:
    """Raise for an array whose header states more than the file has: memory would be taken."""
    with file.open("rb") if isinstance(file, Path) else io.BytesIO(file.getvalue()) as stream:
        if stream.read(6) != npy.MAGIC_PREFIX:
            return  # np.load says what it is
        stream.seek(0)
        major = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if major == (1, 0) else npy.read_array_header_2_0
        try:
            shape, _, kind = header(stream)
        except Exception as error:
            raise ValueError("its header is damaged") from error
        left = stream.seek(0, io.SEEK_END)
    if min(shape, default=0) < 0 or (
        not kind.hasobject and math.prod(shape) * kind.itemsize > left
    ):
        raise ValueError(f"it states an array of shape {shape}, for which it is too short")


def npz_table(file: Place, name: str, array: str | None) -> Table:
    """The matrix of an .npz file: sparse, the one named, X, or the only one there is.

    Its other arrays with one value for each row become labels, as `y` beside `X`.
    """
    refuse_oversized_archive(file, name, "NPZ")
    with _arrays_of(name, "NPZ"), np.load(file, allow_pickle=False) as archive:
        _refuse_twice(archive.files)
        held = {key: archive[key] for key in archive.files}
    if set(held) >= SPARSE_ENTRIES and array is None:
        from scipy.sparse import load_npz

        if isinstance(file, io.BytesIO):
            file.seek(0)
        with _arrays_of(name, "NPZ"):
            stored = load_npz(file)
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
    notices = [f"{quoted_names(labels)}: one value for each row, kept as labels"] if labels else []
    notices += [f"{quoted_names(unused)}: not used"] if unused else []
    return replace(table, labels=labels, notices=(*table.notices, *notices))


def matrix_market_table(opener: Opener, name: str) -> Table:
    """The matrix of an .mtx file, rows being points."""
    stored = matrix_market(opener, name)
    return dense_table(stored, name) if isinstance(stored, np.ndarray) else sparse_table(stored)


def sparse_table(stored: Any) -> Table:
    """A table of a sparse matrix; zero is a value in it, not a missing one."""
    if stored.dtype.kind == "c":
        raise InvalidInput("real numbers are needed, but the matrix is complex")
    matrix = canonical_rows(stored, "X")
    _refuse_long(matrix.data, "the sparse matrix")
    matrix = matrix.astype(np.float32 if matrix.dtype == np.float32 else np.float64)
    n, width = matrix.shape
    _refuse_empty(n, width, "the sparse matrix")
    return Table(matrix, unnamed_columns(width), {}, (), np.arange(n, dtype=np.int64))


def dense_table(stored: Array, name: str) -> Table:
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
    _refuse_long(matrix, name)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype == np.float16 else np.float64)
    if not matrix.dtype.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    rows = np.arange(len(matrix), dtype=np.int64)
    return Table(matrix, unnamed_columns(matrix.shape[1]), {}, tuple(notices), rows)


def _refuse_empty(n: int, width: int, name: str) -> None:
    if n == 0 or width == 0:
        raise InvalidInput(f"at least one row and column are needed, but {name} is {n}×{width}")


def _refuse_long(numbers: Array, name: str) -> None:
    """Raise for integers that do not fit into float64: rounded silently, they falsify proofs."""
    whole = numbers.dtype.kind in "iu" and numbers.dtype.itemsize == 8 and numbers.size > 0
    if whole and max(int(numbers.max()), -int(numbers.min())) > 2**53:
        raise InvalidInput(
            f"{name} holds integers beyond 2^53, which double precision cannot hold; subtract a "
            "constant or divide by one first"
        )


def unnamed_columns(width: int) -> tuple[str, ...]:
    """The names of columns that have none."""
    return tuple(f"column_{column + 1}" for column in range(width))


def _refuse_twice(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise ValueError("two of its arrays have the same name")


@contextlib.contextmanager
def _arrays_of(name: str, kind: str) -> Iterator[None]:
    """`foreign`, with what NumPy says of Python objects and of unknown files in our words."""
    try:
        with unreadable_as_damaged(name, kind):
            yield
    except DamagedFile as error:
        raise DamagedFile(_unreadable(name, kind, error.__cause__ or error)) from error


def _unreadable(name: str, kind: str, error: BaseException) -> str:
    text = " ".join(str(error).split())[:MAX_QUOTED_CHARACTERS]
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


def matrix_market(opener: Opener, name: str) -> Any:
    """The matrix of an .mtx file: an array, or a sparse one in coordinates."""
    try:
        with opener() as stream:
            layout, field, symmetry = _banner(stream, name)
            sizes = _sizes(stream, 3 if layout == "coordinate" else 2)
            if layout == "array":
                return _dense(_body(stream, [np.float64]), sizes, symmetry)
            kinds = [np.int64, np.int64, np.float64]
            return _sparse(_body(stream, kinds[: 2 if field == "pattern" else 3]), sizes, symmetry)
    except (ValueError, OSError, EOFError, OverflowError, MemoryError) as error:
        if isinstance(error, InvalidInput) and not isinstance(error, DamagedFile):
            raise
        reason = " ".join(str(error).split())[:200]
        raise DamagedFile(f"{name} is not a readable MatrixMarket file: {reason}") from error


def _banner(stream: BinaryIO, name: str) -> tuple[str, str, str]:
    """The layout, the kind of numbers and the symmetry that the first line states."""
    words = stream.readline(MAX_HEADER_BYTES).decode("latin-1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise DamagedFile("its first line is no '%%MatrixMarket matrix …'")
    layout, field, symmetry = words[2:]
    if field == "complex":
        raise InvalidInput(f"real numbers are needed, but {name} holds complex ones")
    known = (
        layout in ("coordinate", "array")
        and field in NUMBER_FIELDS
        and symmetry in KNOWN_SYMMETRIES
    )
    if not known or (layout == "array" and field == "pattern"):
        raise DamagedFile(f"its first line states an unknown form: {layout} {field} {symmetry}")
    return layout, field, symmetry


def _sizes(stream: BinaryIO, count: int) -> list[int]:
    """Rows, columns and, of a sparse matrix, entries: the first line that is no remark."""
    while line := stream.readline(MAX_HEADER_BYTES):
        if line.strip() and not line.startswith(b"%"):
            sizes = [int(word) for word in line.split()]
            if len(sizes) != count or min(sizes) < 0 or max(sizes[:2]) > MAX_MATRIX_ROWS:
                raise DamagedFile(f"its sizes are {line[:60].decode('latin-1').strip()!r}")
            return sizes
    raise DamagedFile("it ends before its sizes")


def _body(stream: BinaryIO, kinds: list[Any]) -> list[Array]:
    """The columns of the lines below."""
    import pandas as pd

    recent = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
    try:
        frame = pd.read_csv(
            io.TextIOWrapper(stream, encoding="latin-1"),
            sep=r"\s+",
            header=None,
            names=list(range(len(kinds))),
            dtype=dict(enumerate(kinds)),
            index_col=False,
            comment="%",
            na_filter=False,
            float_precision=None if recent else "round_trip",
        )
    except pd.errors.EmptyDataError:
        return [np.zeros(0, kind) for kind in kinds]
    return [frame[column].to_numpy() for column in range(len(kinds))]


def _refuse_count(count: int, wanted: int) -> None:
    if count != wanted:
        raise DamagedFile(f"it states {wanted} entries and holds {count}")


def _dense(columns: list[Array], sizes: list[int], symmetry: str) -> Array:
    (values,), (n, width) = columns, sizes
    if symmetry == "general":
        _refuse_count(len(values), n * width)
        return np.ascontiguousarray(values.reshape(width, n).T)
    skew = symmetry == "skew-symmetric"
    if n != width:
        raise DamagedFile(f"it is {symmetry}, but has {n}×{width} entries")
    _refuse_count(len(values), n * (n - 1) // 2 if skew else n * (n + 1) // 2)
    if n > MAX_SYMMETRIC_ROWS:
        raise MemoryError(f"a dense matrix of {n}×{n} numbers")
    matrix = np.zeros((n, n))
    across, down = np.triu_indices(n, 1 if skew else 0)  # columns, then rows below the diagonal
    matrix[down, across] = values
    matrix[across, down] = -values if skew else values
    return matrix


def _sparse(columns: list[Array], sizes: list[int], symmetry: str) -> Any:
    import scipy.sparse as sp

    n, width, count = sizes
    row, column = columns[0] - 1, columns[1] - 1
    values = columns[2] if len(columns) == 3 else np.ones(len(row))
    _refuse_count(len(row), count)
    for places, size in ((row, n), (column, width)):
        if len(places) and not (places.min() >= 0 and places.max() < size):
            raise DamagedFile(f"it has entries outside of {n}×{width}")
    if symmetry != "general":
        if n != width:
            raise DamagedFile(f"it is {symmetry}, but has {n}×{width} entries")
        off = row != column
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        values = np.concatenate([values, sign * values[off]])
    return sp.coo_array((values, (row, column)), shape=(n, width))
