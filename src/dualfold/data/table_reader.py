"""Tables in: text, JSON lines, spreadsheets, Parquet, arrays as one kind of object."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from dualfold.data import array_files as arrays
from dualfold.data.columns import Table, table_of_frame
from dualfold.data.delimited import delimited_frame
from dualfold.data.dialect import WHITESPACE_PATTERN, Opener
from dualfold.data.h5ad import h5ad_table
from dualfold.data.layout import refuse_single_column
from dualfold.data.limits import (
    LimitedStream,
    is_stream,
    parse_json,
    read_stream,
    refuse_foreign_kind,
    unreadable_as_damaged,
)
from dualfold.data.missing_values import complete_table, with_constant_notice
from dualfold.data.notices import quoted_names
from dualfold.data.reading import DEFAULT_READING, OPTION_SUBJECTS, Reading
from dualfold.data.spreadsheet import spreadsheet_frame
from dualfold.errors import Argument, InvalidInput, counted

if TYPE_CHECKING:
    import pandas as pd

# Formats by ending; text and MatrixMarket files may end with .gz after it.
FORMATS_BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".dat": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".mtx": "mtx",
    ".h5ad": "h5ad",
}
GZIP_FORMATS = ("csv", "tsv", "jsonl", "mtx")
GZIP_MAGIC = b"\x1f\x8b"
# JSON objects that are held at one time.
CHUNK_ROWS = 5000


def read_table(
    source: str | os.PathLike[str],
    reading: Reading = DEFAULT_READING,
    *,
    features: Sequence[str] | None = None,
) -> Table:
    r"""Read a table of numbers from a file.

    Columns of numbers become X. Text, dates and true/false columns become labels. Row numbers,
    identifiers (whole numbers, all different, that count, are in order or are called so) and empty
    columns are left out. Each of these decisions is a sentence in `notices`, which also says how to
    change it.

    Parameters
    ----------
    source : str or path
        File: CSV, TSV, JSON lines, Parquet, XLSX, NPY, NPZ, Matrix Market or H5AD, text also
        gzipped; "-" is standard input.
    reading : Reading, default=Reading()
        What to do with columns and missing values, and how the file is written.
    features : sequence of str or None, default=None
        Columns to use, whatever they look like; all others are labels. None decides by their
        values. A matrix without names is left whole.

    Returns
    -------
    Table
        `X`, the matrix as the file has it, whatever `reading` says of scaling and categories;
        `names` of its columns; `labels`, the columns kept apart; `notices`; `rows`, which rows of
        the file these are.

    Raises
    ------
    InvalidInput
        If the file has no rows or no columns of numbers, or has missing values and `reading` does
        not say what to do with them.
    DamagedFile
        If the file cannot be read as what it claims to be.

    See Also
    --------
    prepare : Read, encode, fill in and scale: what methods take.

    Examples
    --------
    >>> import os, tempfile
    >>> from dualfold.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "shops.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("name,size,staff\nA,1.5,2\nB,2.5,3\nC,9.5,7\n")
    ...     table = read_table(path)
    >>> table.names, table.X.shape, list(table.labels)
    (('size', 'staff'), (3, 2), ['name'])
    """
    table, _ = complete_table(raw_table(source, reading, features=features), reading.missing)
    return with_constant_notice(table, reading.missing)


def table_of_source(
    source: Any,
    reading: Reading,
    *,
    features: Sequence[str] | None = None,
    mixed: bool = False,
) -> Table:
    """The table of a file, a data frame or an array, with missing values; see `raw_table`."""
    if isinstance(source, str | os.PathLike):
        return raw_table(source, reading, features=features, mixed=mixed)
    source = source.to_pandas() if hasattr(source, "to_pandas") else source
    for name in reading.non_default():
        if OPTION_SUBJECTS[name] == "file":
            kind = type(source).__name__
            raise InvalidInput(Argument(name), f" is about files, and this is a {kind}")
    if hasattr(source, "iloc"):
        if len(source) == 0:
            raise InvalidInput("the data frame has no rows; one is needed")
        # Rows are counted from 0 in what is said about them.
        frame = source.reset_index(drop=True)
        return table_of_frame(frame, reading, features=features, mixed=mixed)
    if hasattr(source, "tocsr"):
        return table_of_matrix(arrays.sparse_table(source), reading)
    return table_of_matrix(arrays.dense_table(np.asarray(source), "the array"), reading)


def raw_table(
    source: str | os.PathLike[str],
    reading: Reading,
    *,
    features: Sequence[str] | None = None,
    mixed: bool = False,
) -> Table:
    """As `read_table`, with missing values; `mixed` as in `table_of_frame`."""
    name, content = _named_columns(source, reading)
    if isinstance(content, Table):
        return content
    frame, notices, reading = content
    if len(frame) == 0:
        others = [part for notice in notices for part in ("; ", notice)]  # as of further sheets
        count = counted(frame.shape[1], "column")
        raise InvalidInput(f"{name} has {count} but no rows; one is needed", *others)
    refuse_single_column(frame, name)
    return table_of_frame(frame, reading, features=features, notices=notices, mixed=mixed)


def source_frame(
    source: str | os.PathLike[str], reading: Reading
) -> tuple[pd.DataFrame, list[str], Reading]:
    """The named columns of a file before anything is decided about them.

    Returns the data frame, what was noticed, and the reading with the decimal mark of the file.
    """
    name, content = _named_columns(source, reading)
    if isinstance(content, Table):
        raise InvalidInput(
            f"columns with names are needed, and {name} is a matrix without them; save it as CSV "
            "or Parquet with a header"
        )
    if len(content[0]) == 0:
        raise InvalidInput(f"{name} has no rows; one is needed")
    return content


def _named_columns(
    source: str | os.PathLike[str], reading: Reading
) -> tuple[str, tuple[pd.DataFrame, list[str], Reading] | Table]:
    """The name of a source, and what `_columns_of_file` found there."""
    _refuse_long(reading.separator)
    _refuse_mark(reading)
    file, name, kind = locate_source(source, reading.format)
    if kind in ("csv", "tsv", "jsonl", "xlsx"):
        refuse_foreign_kind(file, name, kind)
    return name, _columns_of_file(file, name, kind, reading)


def _columns_of_file(
    file: Path | io.BytesIO, name: str, kind: str, reading: Reading
) -> tuple[pd.DataFrame, list[str], Reading] | Table:
    """The data frame of a file, notices, and the reading that fits it; the table of a matrix."""
    if kind in ("csv", "tsv"):
        tabs = replace(reading, separator=reading.separator or "\t")
        opener = opener_of(file, name)
        frame, notices, mark = delimited_frame(opener, name, tabs if kind == "tsv" else reading)
        return frame, notices, replace(reading, decimal="," if mark == "," else reading.decimal)
    if kind == "jsonl":
        return json_lines_frame(opener_of(file, name), name), [], reading
    if kind == "xlsx":
        frame, notices = spreadsheet_frame(file, name, reading)
        return frame, notices, reading
    if kind == "parquet":
        return arrays.parquet_frame(file, name), [], reading
    if kind == "npy":
        stored = arrays.npy_array(file, name)
        if stored.dtype.names is None:
            return table_of_matrix(arrays.dense_table(stored, name), reading)
        import pandas as pd

        return pd.DataFrame.from_records(stored), [], reading
    if kind == "npz":
        return table_of_matrix(arrays.npz_table(file, name, reading.array), reading)
    if kind == "h5ad":
        return table_of_matrix(h5ad_table(file, name, reading.array), reading)
    return table_of_matrix(arrays.matrix_market_table(opener_of(file, name), name), reading)


def _refuse_long(separator: str | None) -> None:
    if separator is not None and separator != WHITESPACE_PATTERN and len(separator) != 1:
        raise InvalidInput(
            Argument("separator"),
            f" must be one character (or {WHITESPACE_PATTERN!r} for blanks), but is {separator!r}",
        )


def _refuse_mark(reading: Reading) -> None:
    """Raise for marks inside of numbers that would change them."""
    for name in ("thousands", "decimal"):
        mark = getattr(reading, name)
        if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-"):
            raise InvalidInput(
                Argument(name), f" must be one mark as . , ' or a blank, but is {mark!r}"
            )
    if reading.thousands is not None and reading.thousands == reading.decimal:
        raise InvalidInput(
            Argument("thousands", reading.thousands), " is the decimal mark, too; it must differ"
        )


def table_of_matrix(table: Table, reading: Reading) -> Table:
    """Choice of columns of a matrix, whose columns are called column_1 and on."""
    labelled = {
        name: asked for name, asked in reading.label_fields.items() if name not in table.labels
    }
    left_out = [name for name in reading.excluded_columns if name not in table.labels]
    places = {name: place for place, name in enumerate(table.names)}
    for name, argument in {**dict.fromkeys(left_out, "exclude"), **labelled}.items():
        if name not in places:
            raise InvalidInput(
                Argument(argument, name),
                f" names no column; the columns of the matrix are called {table.names[0]} to "
                f"{table.names[-1]}"
                + (f", the labels {quoted_names(table.labels)}" if table.labels else ""),
            )
    no_features = {*left_out, *reading.kept_apart}
    left = [place for name, place in places.items() if name not in no_features]
    if not left:
        raise InvalidInput(f"at least one column is needed, but all {len(places)} were taken out")
    if len(left) < len(places) or labelled:
        columns = {name: table.X[:, [places[name]]] for name in labelled}
        flat = {
            name: (column if isinstance(column, np.ndarray) else column.toarray()).ravel()
            for name, column in columns.items()
        }
        names = tuple(table.names[place] for place in left)
        table = replace(table, X=table.X[:, left], names=names, labels=table.labels | flat)
    return table


def locate_source(
    source: str | os.PathLike[str], format: str | None
) -> tuple[Path | io.BytesIO, str, str]:
    """Where the bytes are, what to call them in messages, and their format."""
    known = sorted(set(FORMATS_BY_ENDING.values()))
    if format is not None and format not in known:
        raise InvalidInput(
            Argument("format"), f" must be one of {', '.join(known)}, but is {format!r}"
        )
    if os.fspath(source) == "-":
        return read_stream(sys.stdin.buffer, "standard input"), "standard input", format or "csv"
    if "://" in os.fspath(source):
        raise InvalidInput(
            f"{os.fspath(source)} is an address, and only files are read; download it first"
        )
    path = Path(source).expanduser()
    if path.is_dir():
        inside = sorted(entry.name for entry in path.iterdir() if _format_of(entry))
        inventory = (
            f"it holds {quoted_names(inside)}" if inside else "it holds none that can be read"
        )
        raise InvalidInput(f"{path} is a folder; name a file in it ({inventory})")
    if not path.exists():
        raise InvalidInput(_no_such_file(path))
    kind = format or _format_of(path) or ("csv" if is_stream(path) else None)
    if kind is None:
        raise InvalidInput(
            f"the ending of {path.name} says no format; readable are "
            f"{', '.join(FORMATS_BY_ENDING)} (text and .mtx also with .gz). If it is "
            "one of these, say which, as ",
            Argument("format", "csv"),
            "; save another spreadsheet as .xlsx or CSV",
        )
    if is_stream(path):
        with path.open("rb") as stream:
            return read_stream(stream, str(path)), str(path), kind
    if path.stat().st_size == 0:
        raise InvalidInput(f"{path} is empty")
    return path, str(path), kind


def _format_of(path: Path) -> str | None:
    name = path.name.lower()
    zipped = name.endswith(".gz")
    kind = FORMATS_BY_ENDING.get(Path(name.removesuffix(".gz")).suffix)
    return kind if not zipped or kind in GZIP_FORMATS else None


def _no_such_file(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no file {path}, nor a folder {path.parent}"
    if path.is_symlink():
        return f"{path} is a link to a file that is not there"
    others = {entry.name.lower(): entry.name for entry in path.parent.iterdir()}
    close = difflib.get_close_matches(path.name.lower(), others, n=3)
    readable = sorted(n for n in others.values() if _format_of(Path(n)))
    if close:
        return f"there is no file {path}; did you mean {quoted_names(others[n] for n in close)}?"
    return f"there is no file {path}" + (
        f"; the folder holds {quoted_names(readable)}"
        if readable
        else "; the folder holds no table"
    )


def opener_of(file: Path | io.BytesIO, name: str) -> Opener:
    """A fresh stream of the same bytes each time, unzipped if they are zipped."""

    def open_stream() -> BinaryIO:
        # getvalue, because the reader of the stream also closes it
        stream = file.open("rb") if isinstance(file, Path) else io.BytesIO(file.getvalue())
        magic = stream.read(2)
        packed = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        if magic == GZIP_MAGIC:
            raw = LimitedStream(gzip.GzipFile(fileobj=stream, mode="rb"), packed, name)
            return cast(BinaryIO, io.BufferedReader(raw, 1 << 20))
        return stream

    return open_stream


def json_lines_frame(opener: Opener, name: str) -> pd.DataFrame:
    """The columns of a file with one JSON object a line; what a line lacks is a missing value."""
    import pandas as pd

    words: dict[str, str] = {}  # each word once, however often it occurs
    rows: list[dict[str, Any]] = []
    parts: list[pd.DataFrame] = []
    with opener() as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                with unreadable_as_damaged(f"line {number} of {name}", "JSON lines"):
                    row = parse_json(line)
                if not isinstance(row, dict):
                    raise InvalidInput(
                        f"line {number} of {name} is no JSON object, as "
                        '{"a": 1.5, "b": "red"}; each line is a row'
                    )
                rows.append(
                    {k: words.setdefault(v, v) if type(v) is str else v for k, v in row.items()}
                )
            if len(rows) == CHUNK_ROWS:  # objects need far more memory than columns
                parts.append(pd.DataFrame.from_records(rows))
                rows = []
    parts += [pd.DataFrame.from_records(rows)] if rows or not parts else []
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
