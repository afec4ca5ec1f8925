"""Text tables as data frames, once every row is known to be whole."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dualfold.data.cell_words import ambiguous_words
from dualfold.data.dialect import (
    WHITESPACE_PATTERN,
    Dialect,
    Opener,
    dialect_of,
    parse_decoded,
    records,
)
from dualfold.data.layout import MAX_LINES_BELOW, below_notice, rows_below
from dualfold.data.reading import Reading
from dualfold.errors import InvalidInput, Message, counted

if TYPE_CHECKING:
    import pandas as pd

# Cells parsed together: pandas needs some 20 bytes a cell while it parses.
CHUNK_CELLS = 4_000_000
# Rows whose numbers are text at one time, which needs ten times as much.
SCANNED_ROWS = 5000
# Codes come a few to a table; more columns of whole numbers are pixels or counts.
MAX_CODE_COLUMNS = 50
LEADING_ZERO_PATTERN = re.compile(r"(?:^|[^\w.+-])0\d")


def delimited_frame(
    opener: Opener, name: str, reading: Reading
) -> tuple[pd.DataFrame, list[str], str]:
    """The columns of a CSV or TSV file, what there is to say about it, and its decimal mark."""
    try:
        first = dialect_of(opener, name, reading)
    except csv.Error as error:
        raise InvalidInput(f"{name} cannot be read as a table: {error}") from error
    (frame, below), dialect, notices = parse_decoded(
        lambda dialect: _table_and_lines_below(opener, name, dialect, reading), first, name
    )
    notices = [*notices, *dialect.notices, *below]
    if dialect.header is None:
        notices.append(
            f"{name} has no header; its columns are named column_1 to column_{frame.shape[1]}"
        )
    frame, more = _with_column_names(opener, name, frame, dialect)
    return frame, notices + more, dialect.decimal


def written_frame(opener: Opener, name: str, reading: Reading) -> pd.DataFrame:
    """The columns of a CSV or TSV file with every cell as it is written, all of them text."""
    frame, _, _ = delimited_frame(opener, name, reading)
    words, _, _ = parse_decoded(
        lambda dialect: _TextColumns(opener, dialect, reading, len(frame)).text_columns(
            None, keep_default_na=False, na_values=[]
        ),
        dialect_of(opener, name, reading),
        name,
    )
    return words.set_axis(frame.columns, axis=1)


def _table_and_lines_below(
    opener: Opener, name: str, dialect: Dialect, reading: Reading
) -> tuple[pd.DataFrame, list[Message]]:
    """The rows of the table, without remarks and totals below it, and a notice about these."""
    if reading.plain:
        return _parse_text(opener, name, dialect, reading, None), []
    try:
        frame = _parse_text(opener, name, dialect, reading, None)
    except InvalidInput:  # a line below the table may have more cells than a row
        first, height = list[str](), 0
        tail: deque[list[str]] = deque(maxlen=MAX_LINES_BELOW)
        with _data_rows(opener, dialect) as text:
            for _, cells in records(text, dialect.separator):
                height += 1
                if len(tail) == MAX_LINES_BELOW and len(first) < 1000:
                    first.append(tail[0][0])
                tail.append(cells)
        count = rows_below(tail, first)
        if count in (0, len(tail)):
            raise
        left = height - count
        return _parse_text(opener, name, dialect, reading, left), below_notice(list(tail)[-count:])
    last = frame.iloc[-MAX_LINES_BELOW:].to_numpy(dtype=object).tolist()
    count = rows_below(last, frame.iloc[: -len(last), 0].head(1000).dropna().tolist())
    if count in (0, len(last)):
        return frame, []
    left = len(frame) - count
    # Again, since one word makes text of a column of numbers.
    return _parse_text(opener, name, dialect, reading, left), below_notice(last[-count:])


@contextlib.contextmanager
def _data_rows(opener: Opener, dialect: Dialect) -> Iterator[io.TextIOWrapper]:
    """The text below the header.

    Skipped here and not by pandas, which takes a quoted name of two lines for one line.
    """
    with (
        opener() as stream,
        io.TextIOWrapper(stream, encoding=dialect.encoding, newline="") as text,
    ):
        for _ in range(dialect.skip):
            text.readline()
        yield text


def _parse_text(
    opener: Opener, name: str, dialect: Dialect, reading: Reading, rows: int | None
) -> pd.DataFrame:
    """The first `rows` rows (None: all); what is no number is as it is written."""
    import pandas as pd

    text = _TextColumns(opener, dialect, reading, rows)
    try:
        parts = [_narrow(chunk) for chunk in text.chunks()]
        kinds = [[_rough_kind(dtype) for dtype in part.dtypes] for part in parts]
        frame = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        del parts
        mixed = [c for c, seen in enumerate(zip(*kinds, strict=True)) if len(set(seen)) > 1]
        # Numbers in one chunk and words in another: only the text itself is the same in all.
        frame = _with_text_columns(frame, text, mixed)
        if not reading.plain:
            frame = _with_written_gaps(frame, text)
        elif reading.thousands:
            frame = _without_thousands(frame, reading.thousands, dialect.decimal)
        whole = _whole_columns(frame)
        if 0 < len(whole) <= MAX_CODE_COLUMNS and _zero_before_digit(opener, dialect):
            words = text.text_columns(whole)
            for column in whole:
                if words[column].str.fullmatch(r"\s*0\d+\s*").any():
                    frame[column] = words[column]
    except pd.errors.EmptyDataError as error:
        names = f" ({len(dialect.header)} column names)" if dialect.header else ""
        raise InvalidInput(f"{name} has a header{names} but no row of data below it") from error
    except pd.errors.ParserError as error:
        _refuse_ragged(opener, name, dialect, len(dialect.header) if dialect.header else None)
        raise InvalidInput(
            f"{name} cannot be read as a table: {error}; check its quotes"
        ) from error
    except (EOFError, OSError) as error:
        raise InvalidInput(f"{name} cannot be read ({error}); is it damaged?") from error
    return frame


@dataclass(frozen=True)
class _TextColumns:
    """The columns of a text file as pandas parses them, in chunks of rows."""

    opener: Opener
    dialect: Dialect
    reading: Reading
    rows: int | None

    def chunks(self, **more: Any) -> Iterator[pd.DataFrame]:
        """All columns, words for missing values as such; `more` for pandas."""
        import pandas as pd

        # Files must round-trip. Since 3.1 the default is exact, and the parameter deprecated.
        recent = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
        exact: Literal["round_trip"] | None = None if recent else "round_trip"
        dialect = self.dialect
        width = len(dialect.header) if dialect.header else 100
        options: dict[str, Any] = {
            "na_values": ["?", *self.reading.gap_markers],
            "chunksize": max(1000, CHUNK_CELLS // width),
        }
        with _data_rows(self.opener, dialect) as text:
            yield from pd.read_csv(
                text,
                sep=dialect.separator,
                decimal=dialect.decimal,
                header=None,
                skipinitialspace=dialect.separator != WHITESPACE_PATTERN,
                float_precision=exact,
                low_memory=False,
                nrows=self.rows,
                **(options | more),
            )

    def text_columns(self, columns: list[int] | None, **more: Any) -> pd.DataFrame:
        """These columns as text; None: all."""
        import pandas as pd

        return pd.concat(list(self.chunks(dtype=str, usecols=columns, **more)), ignore_index=True)


def _with_text_columns(
    frame: pd.DataFrame, text: _TextColumns, columns: list[int], **more: Any
) -> pd.DataFrame:
    """The frame with these columns as text."""
    if columns:
        words = text.text_columns(columns, **more)
        for column in columns:
            frame[column] = words[column]
    return frame


def _with_written_gaps(frame: pd.DataFrame, text: _TextColumns) -> pd.DataFrame:
    """Columns of words with the words that may mean missing, for `cell_words` to decide.

    A doubtful word that stands among the numbers of another column is missing in both.
    """
    from pandas.api import types

    raw = {"keep_default_na": False, "na_values": [""]}
    lacking = np.flatnonzero(frame.isna().any().to_numpy()).tolist()
    numbers = [c for c in lacking if types.is_numeric_dtype(frame[c].dtype)]
    numbers = [c for c in numbers if bool(frame[c].notna().any())]  # "None" alone is a word
    words = [c for c in lacking if c not in numbers and not _is_boolean(frame[c])]
    frame = _with_text_columns(frame, text, words, **raw)
    doubtful = {word for c in words for word in ambiguous_words(set(frame[c].dropna()))}
    doubtful -= {word.rpartition("=")[2] for word in text.reading.levels}
    if doubtful and numbers:
        chunks = text.chunks(dtype=str, usecols=numbers, chunksize=SCANNED_ROWS, **raw)
        missing = {w for chunk in chunks for c in numbers for w in doubtful & set(chunk[c])}
        for c in words if missing else ():
            frame[c] = frame[c].where(~frame[c].isin(missing))
    return frame


def _is_boolean(column: pd.Series[Any]) -> bool:
    from pandas.api import types

    return types.infer_dtype(column.dropna()) == "boolean"


def _whole_columns(frame: pd.DataFrame) -> list[int]:
    """The columns of whole numbers, with and without missing values."""
    head = frame.iloc[:1000].select_dtypes("number")
    values = head.to_numpy(dtype=np.float64)
    whole = ~(np.isfinite(values) & (values != np.floor(values))).any(axis=0)
    return [int(column) for column in np.asarray(head.columns)[whole]]


def _zero_before_digit(opener: Opener, dialect: Dialect) -> bool:
    """Whether some number in the file may begin with a zero that a number would lose."""
    with _data_rows(opener, dialect) as text:
        before = ""
        while block := text.read(1 << 20):
            if LEADING_ZERO_PATTERN.search(before + block):
                return True
            before = block[-2:]
    return False


def _without_thousands(frame: pd.DataFrame, mark: str, decimal: str) -> pd.DataFrame:
    """Text that is numbers in groups of three digits, as numbers; dates as 01.02.2024 stay."""
    import pandas as pd

    sign, point = re.escape(mark), re.escape(decimal)
    grouped = rf"\s*[-+]?(?:\d{{1,3}}(?:{sign}\d{{3}})+|\d+)(?:{point}\d*)?(?:[eE][-+]?\d+)?\s*"
    for place in frame.columns:
        column = frame[place]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
            continue
        words = column.dropna().astype(str)
        if len(words) and words.str.fullmatch(grouped).all():
            plain = words.str.replace(mark, "", regex=False).str.replace(decimal, ".", regex=False)
            frame[place] = pd.to_numeric(plain).reindex(frame.index)
    return frame


def _rough_kind(dtype: object) -> str:
    return "number" if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else str(dtype)


def _narrow(chunk: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers in the fewest bytes: pixels need one, not eight."""
    whole = chunk.select_dtypes("int64")
    if whole.size < CHUNK_CELLS // 4:
        return chunk
    values = whole.to_numpy()
    low, high = int(values.min()), int(values.max())
    for narrow in (np.int16, np.int32):
        if np.iinfo(narrow).min <= low and high <= np.iinfo(narrow).max:
            if whole.shape == chunk.shape:
                return chunk.astype(narrow)  # much faster than column by column
            return chunk.astype(dict.fromkeys(whole.columns, narrow))
    return chunk


def _with_column_names(
    opener: Opener, name: str, frame: pd.DataFrame, dialect: Dialect
) -> tuple[pd.DataFrame, list[str]]:
    """Column names from the header, once the rows are known to be whole."""
    notices = []
    names = list(dialect.header) if dialect.header else [""] * frame.shape[1]
    width = frame.shape[1]
    if width == len(names) + 1 and bool(frame[width - 1].isna().all()):
        notices.append("every row ends with a separator that the header does not have; ignored")
        frame = frame.drop(columns=width - 1)
    elif width == len(names) + 1:
        notices.append("the rows have one value more than the header; the first one names the row")
        names.insert(0, "row")
    elif width != len(names):
        _refuse_ragged(opener, name, dialect, len(names))
    # pandas fills rows that are too short, from the right.
    if bool(frame.iloc[:, -1].isna().any()):
        _refuse_ragged(opener, name, dialect, width)
    blank = [p for p, column in enumerate(names) if not column and frame.iloc[:, p].isna().all()]
    if len(blank) < len(names):
        frame = frame.drop(columns=[frame.columns[place] for place in blank])
        names = [column for place, column in enumerate(names) if place not in blank]
    for place, column in enumerate(names):
        if not column:
            fresh = f"column_{place + 1}"
            names[place] = fresh if fresh not in names else fresh + "_"
    frame.columns = names
    return frame, notices


def _refuse_ragged(opener: Opener, name: str, dialect: Dialect, width: int | None) -> None:
    """Raise for the first row that has not `width` values, if there is one."""
    with _data_rows(opener, dialect) as text:
        try:
            for line, cells in records(text, dialect.separator):
                width = width or len(cells)
                if len(cells) != width:
                    raise InvalidInput(
                        f"every row of {name} must have {counted(width, 'value')}, but line "
                        f"{line + dialect.skip} has {len(cells)}; is a separator "
                        f"({dialect.separator!r}) missing there or is text not in quotes?"
                    )
        except csv.Error as error:
            raise InvalidInput(f"{name} cannot be read as a table: {error}") from error
