"""Sheets of .xlsx files as data frames, read row by row so that no cell is held as an object."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.cell_words import MISSING_WORDS
from dualfold.data.layout import (
    SAMPLE_ROWS,
    TableLayout,
    below_notice,
    is_empty,
    rows_below,
    table_layout,
)
from dualfold.data.limits import refuse_oversized_archive, unreadable_as_damaged
from dualfold.data.notices import quoted_names
from dualfold.data.reading import Reading
from dualfold.errors import Argument, InvalidInput, Message, MissingDependency
from dualfold.kernels.reports import steps

if TYPE_CHECKING:
    import pandas as pd

# Rows whose cells are Python objects at one time.
CHUNK_ROWS = 1000


def spreadsheet_frame(
    file: Path | io.BytesIO, name: str, reading: Reading
) -> tuple[pd.DataFrame, list[str]]:
    """The columns of a sheet of an .xlsx file, the first by default, and notices."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingDependency(
            "spreadsheets need openpyxl, which is not installed: pip install 'dualfold[xlsx]'"
        ) from error

    refuse_oversized_archive(file, name, ".xlsx")
    sheet = reading.array
    with unreadable_as_damaged(name, ".xlsx"):
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            sheets = [worksheet.title for worksheet in book.worksheets]
            if sheet is not None and sheet not in sheets:
                raise InvalidInput(
                    Argument("array", sheet),
                    f" names no sheet of {name}; it holds {quoted_names(sheets)}",
                )
            chosen = book[sheet or sheets[0]]
            rows = chosen.max_row or 0
            chosen.reset_dimensions()  # other programs state them wrongly
            frame, notices = _sheet_frame(chosen.iter_rows(values_only=True), rows, name, reading)
        finally:
            book.close()
    others = [worksheet for worksheet in sheets if worksheet != (sheet or sheets[0])]
    if others:
        notices.append(
            Message(
                f"{name} has further sheets, {quoted_names(others)}, which were not read; ",
                Argument("array", others[0]),
                " reads that one instead",
            )
        )
    return frame, notices


def _sheet_frame(
    cells: Iterator[Sequence[object]], rows: int, name: str, reading: Reading
) -> tuple[pd.DataFrame, list[str]]:
    """The columns below the names, and what was found above and below the table."""
    import pandas as pd

    skip = max(reading.skip_rows, (reading.header_row or 0) - 1)
    top = [_row_without_end(row) for row in itertools.islice(cells, skip, skip + SAMPLE_ROWS)]
    if not any(top):
        raise InvalidInput(f"{name} has a sheet without cells; a table is needed")
    layout = _sheet_layout(top, reading)
    lines = list(range(skip + 1, skip + 1 + len(top)))
    columns, count = _columns(itertools.chain(top[layout.first :], cells), rows)
    width = max(len(columns), len(layout.names or ()))
    names = [*(layout.names or ()), *[""] * (width - len(layout.names or ()))]
    columns += [np.full(count, np.nan)] * (width - len(columns))
    notices: list[str] = list(layout.notices(top, lines))
    if layout.names is None:
        notices.append(f"{name} has no header; its columns are named column_1 to column_{width}")
    tail = [[column[row] for column in columns] for row in range(max(0, count - 20), count)]
    below = rows_below(tail, columns[0][: -len(tail)][:1000].tolist()) if columns and tail else 0
    if not reading.plain and 0 < below < count:
        notices += below_notice(tail[-below:])
        columns = [column[: count - below] for column in columns]
    series = {}
    for place, title in enumerate(names):
        column, columns[place] = columns[place], np.empty(0)  # freed when it is typed
        if title or _last_filled(column) >= 0:
            series[place] = _typed_column(column, plain=reading.plain)
    frame = pd.DataFrame(series, copy=False)
    frame.columns = pd.Index([names[place] or f"column_{place + 1}" for place in series])
    return frame, notices


def _row_without_end(row: Sequence[object]) -> list[object]:
    """The cells up to the last one that holds something."""
    cells = list(row)
    while cells and is_empty(cells[-1]):
        cells.pop()
    return cells


def _sheet_layout(top: list[list[object]], reading: Reading) -> TableLayout:
    given = reading.header_row
    if given is None and not reading.plain:
        return table_layout(top, has_header=reading.header)
    has_header = reading.header is not False if given is None else given > 0
    names = tuple("" if is_empty(cell) else str(cell).strip() for cell in top[0])
    return TableLayout(names if has_header else None, 0, int(has_header))


def _columns(rows: Iterator[Sequence[object]], expected: int) -> tuple[list[Array], int]:
    """The columns of all rows up to the last that holds something, each in the fewest bytes."""
    words: dict[str, str] = {}  # each word once, however often it occurs
    parts: list[list[Array]] = []
    lengths: list[int] = []
    with steps("reading", max(expected, 1)) as done:
        while chunk := [_row_without_end(row) for row in itertools.islice(rows, CHUNK_ROWS)]:
            width = max(map(len, chunk))
            columns = itertools.zip_longest(*chunk) if width else ()
            parts.append([_compact(column, words) for column in columns])
            lengths.append(len(chunk))
            done(len(chunk))
    width = max(map(len, parts), default=0)
    filled = sum(lengths)
    read = []
    for number in range(width):
        pieces = [
            part[number] if number < len(part) else np.full(length, np.nan)
            for part, length in zip(parts, lengths, strict=True)
        ]
        for part in parts:
            if number < len(part):
                part[number] = np.empty(0)
        read.append(_whole_column(pieces))
    last = max((_last_filled(column) for column in read), default=-1)
    return [column[: last + 1] for column in read], min(filled, last + 1)


def _compact(cells: Sequence[object], words: dict[str, str]) -> Array:
    """Numbers as numbers, NaN where cells are empty; other cells as they are, None for empty."""
    if all(type(cell) in (int, float) or cell is None for cell in cells):
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    array = np.empty(len(cells), dtype=object)
    array[:] = [words.setdefault(cell, cell) if type(cell) is str else cell for cell in cells]
    return array


def _whole_column(pieces: list[Array]) -> Array:
    if all(piece.dtype != object for piece in pieces):
        return np.concatenate(pieces)
    return np.concatenate([piece.astype(object) for piece in pieces])


def _last_filled(column: Array) -> int:
    """The place of the last cell that holds something, −1 where none does."""
    for row in range(len(column) - 1, -1, -1):
        if not is_empty(column[row]):
            return row
    return -1


def _typed_column(column: Array, *, plain: bool) -> Any:
    """Whole numbers as such, dates as dates; text that is a number is one, unless it would lose a
    zero (`cell_words` does the same, and more, where cells are not taken as plain)."""
    import pandas as pd

    if column.dtype != object:
        whole = bool(np.isfinite(column).all() and (column == np.floor(column)).all())
        small = whole and np.abs(column).max(initial=0) < 2**53
        return column.astype(np.int64) if small else column
    series = pd.Series(column, dtype=object).infer_objects()
    if not plain or series.dtype != object:
        return series
    series = series.where(~series.isin(MISSING_WORDS - {"?"}))
    words = series.dropna()
    if not words.astype(str).str.fullmatch(r"\s*0\d+\s*").any():
        try:
            return pd.to_numeric(series)
        except (ValueError, TypeError):
            return series
    return series
