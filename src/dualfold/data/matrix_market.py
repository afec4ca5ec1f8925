"""Matrices in MatrixMarket files (.mtx), each line checked.

SciPy's own reader leaves its arrays where a file was cut or its sizes are wrong, and the process
ends; here every entry is read as text and compared with the sizes that the file states.
"""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.dialect import Opener
from dualfold.errors import DamagedFile, InvalidInput

NUMBER_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
KNOWN_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
MAX_HEADER_BYTES = 1 << 16
# Numbers of a dense matrix are all in the file, so its sizes cannot ask for more than that.
MAX_MATRIX_ROWS = 2**31 - 1


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
        said = " ".join(str(error).split())[:200]
        raise DamagedFile(f"{name} is not a readable MatrixMarket file: {said}") from error


def _banner(stream: Any, name: str) -> tuple[str, str, str]:
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


def _sizes(stream: Any, count: int) -> list[int]:
    """Rows, columns and, of a sparse matrix, entries: the first line that is no remark."""
    while line := stream.readline(MAX_HEADER_BYTES):
        if line.strip() and not line.startswith(b"%"):
            sizes = [int(word) for word in line.split()]
            if len(sizes) != count or min(sizes) < 0 or max(sizes[:2]) > MAX_MATRIX_ROWS:
                raise DamagedFile(f"its sizes are {line[:60].decode('latin-1').strip()!r}")
            return sizes
    raise DamagedFile("it ends before its sizes")


def _body(stream: Any, kinds: list[Any]) -> list[Array]:
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
    return [frame[place].to_numpy() for place in range(len(kinds))]


def _refuse_count(found: int, wanted: int) -> None:
    if found != wanted:
        raise DamagedFile(f"it states {wanted} entries and holds {found}")


def _dense(columns: list[Array], sizes: list[int], symmetry: str) -> Array:
    (values,), (n, width) = columns, sizes
    if symmetry == "general":
        _refuse_count(len(values), n * width)
        return np.ascontiguousarray(values.reshape(width, n).T)
    skew = symmetry == "skew-symmetric"
    if n != width:
        raise DamagedFile(f"it is {symmetry}, but has {n}×{width} entries")
    _refuse_count(len(values), n * (n - 1) // 2 if skew else n * (n + 1) // 2)
    if n > math.isqrt(2**40):
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
