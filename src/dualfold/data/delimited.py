"""Text tables: which separator, which decimal mark, is there a header, is every row whole."""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

import numpy as np

from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

Opener = Callable[[], BinaryIO]

# In this order: a comma may be a decimal mark where another separator is possible too.
SEPARATORS = ("\t", ";", "|", ",")
WHITESPACE = r"\s+"
SAMPLE_LINES = 50
SAMPLE_BYTES = 1 << 26
# What pandas takes for missing, and the question mark of the UCI repository.
MISSING_WORDS = {"", "?", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN"}
MISSING_WORDS |= {"None", "n/a", "nan", "null"}
# Cells parsed at once: pandas needs some 20 bytes a cell while it parses.
CHUNK_CELLS = 4_000_000


@dataclass(frozen=True)
class Dialect:
    """How a text table is written; `skip` lines come before the first data row."""

    separator: str
    decimal: str
    encoding: str
    header: tuple[str, ...] | None
    skip: int


def delimited_frame(
    opener: Opener,
    name: str,
    *,
    separator: str | None,
    decimal: str | None,
    thousands: str | None,
    header: bool | None,
) -> tuple[pd.DataFrame, list[str]]:
    """The columns of a CSV or TSV file, and what there is to say about it."""
    dialect = _dialect(opener, name, separator, decimal, header)
    notices = []
    try:
        frame = _parsed(opener, name, dialect, thousands)
    except UnicodeDecodeError:
        # Every byte sequence is valid Latin-1, so the retry cannot fail the same way.
        dialect = Dialect(
            dialect.separator, dialect.decimal, "latin-1", dialect.header, dialect.skip
        )
        notices.append(f"{name} is not UTF-8; it was read as Latin-1, check accented letters")
        frame = _parsed(opener, name, dialect, thousands)
    if dialect.header is None:
        notices.append(
            f"{name} has no header; its columns are named column_1 to column_{frame.shape[1]}"
        )
    frame, more = _named(opener, name, frame, dialect)
    return frame, notices + more


def _dialect(
    opener: Opener, name: str, separator: str | None, decimal: str | None, header: bool | None
) -> Dialect:
    text, encoding = _sample(opener, name)
    lines = text.splitlines(keepends=True)
    skip = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if skip == len(lines):
        raise InvalidInput(f"{name} is empty; a table with at least one row of numbers is needed")
    announced = re.fullmatch(r"\s*sep=(.)\s*", lines[skip])  # Excel's own first line
    if announced:
        skip += 1
        separator = separator or announced[1]
    body = "".join(lines[skip:])
    separator = separator or _likely_separator(body)
    records = _records(io.StringIO(body), separator)
    first_lines, cells = next(records, (0, []))
    rest = [cells for _, cells in records]
    decimal = decimal or _likely_decimal(separator, [cells, *rest])
    cells = [cell.strip() for cell in cells]
    has_header = _looks_like_header(cells, rest, decimal) if header is None else header
    if not has_header:
        return Dialect(separator, decimal, encoding, None, skip)
    return Dialect(separator, decimal, encoding, tuple(cells), skip + first_lines)


def _sample(opener: Opener, name: str) -> tuple[str, str]:
    """The first lines as text, and their encoding."""
    with opener() as stream:
        try:
            raw = b"".join(stream.readline(SAMPLE_BYTES) for _ in range(SAMPLE_LINES))
        except (OSError, EOFError) as error:
            raise InvalidInput(f"{name} cannot be read ({error}); is it damaged?") from error
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="ignore"), "utf-16"
    if b"\x00" in raw:
        raise InvalidInput(
            f"{name} must be text, but holds zero bytes; if it is another kind of file, say which "
            "by format="
        )
    try:
        return raw.decode("utf-8-sig"), "utf-8-sig"
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "utf-8-sig"


def _records(lines: io.StringIO | io.TextIOBase, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the record's last line, cells) for each record that is not blank."""
    if separator == WHITESPACE:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line.split()
        return
    reader = csv.reader(lines, delimiter=separator)
    for cells in reader:
        if cells:
            yield reader.line_num, cells


def _likely_separator(body: str) -> str:
    widths: dict[str, list[int]] = {}
    for separator in SEPARATORS:
        widths[separator] = [len(cells) for _, cells in _records(io.StringIO(body), separator)]
    for separator, counts in widths.items():
        if len(set(counts)) == 1 and counts[0] > 1:
            return separator
    # No separator fits every row: the one that most rows agree on, whatever is wrong with the rest.
    best = max(SEPARATORS, key=lambda s: statistics.mode(widths[s]) - 1)
    if statistics.mode(widths[best]) > 1:
        return best
    blank = [line.split() for line in body.splitlines() if line.strip()]
    numbers = all(_is_number(cell, ".") for cells in blank[1:] or blank for cell in cells)
    if numbers and len({len(cells) for cells in blank}) == 1 and len(blank[0]) > 1:
        return WHITESPACE
    return ","


def _likely_decimal(separator: str, records: list[list[str]]) -> str:
    if separator == ",":
        return "."
    cells = [cell.strip() for record in records for cell in record]
    commas = any(re.fullmatch(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+", cell) for cell in cells)
    points = any(re.fullmatch(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?", cell) for cell in cells)
    return "," if commas and not points else "."


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return True


def _looks_like_header(first: list[str], rest: list[list[str]], decimal: str) -> bool:
    """Names above numbers, or no number at all in the first row."""
    counted = first[1:] if first and not first[0] else first
    if len(counted) >= 3 and counted == [str(i) for i in range(len(counted))]:
        return True  # 0, 1, 2, …: what pandas writes above an array
    for place, cell in enumerate(first):
        below = [cells[place] for cells in rest if place < len(cells)]
        below = [other for other in below if other.strip() not in MISSING_WORDS]
        named = cell not in MISSING_WORDS and not _is_number(cell, decimal)
        if named and below and all(_is_number(other, decimal) for other in below):
            return True
    return not any(_is_number(cell, decimal) for cell in first)


def _parsed(opener: Opener, name: str, dialect: Dialect, thousands: str | None) -> pd.DataFrame:
    import pandas as pd

    # Files must round-trip. Since 3.1 the default is exact, and the parameter deprecated.
    recent = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
    exact: Literal["round_trip"] | None = None if recent else "round_trip"

    def chunks(dtype: type[str] | None, columns: list[int] | None) -> Iterator[pd.DataFrame]:
        width = len(dialect.header) if dialect.header else 100
        with opener() as stream:
            yield from pd.read_csv(
                stream,
                sep=dialect.separator,
                decimal=dialect.decimal,
                thousands=thousands,
                encoding=dialect.encoding,
                header=None,
                skiprows=dialect.skip,
                skipinitialspace=dialect.separator != WHITESPACE,
                na_values=["?"],
                float_precision=exact,
                chunksize=max(1000, CHUNK_CELLS // width),
                low_memory=False,
                dtype=dtype,
                usecols=columns,
            )

    try:
        parts = [_narrow(chunk) for chunk in chunks(None, None)]
        kinds = [[_rough_kind(dtype) for dtype in part.dtypes] for part in parts]
        frame = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        mixed = [c for c, seen in enumerate(zip(*kinds, strict=True)) if len(set(seen)) > 1]
        if mixed:
            # Numbers in one chunk and words in another: only the text itself is the same in all.
            for column in mixed:
                frame = frame.drop(columns=column)
            words = pd.concat(list(chunks(str, mixed)), ignore_index=True)
            frame = pd.concat([frame, words], axis=1)[list(range(len(kinds[0])))]
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


def _rough_kind(dtype: object) -> str:
    return "number" if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else str(dtype)


def _narrow(chunk: pd.DataFrame) -> pd.DataFrame:
    """Whole numbers in the fewest bytes: pixels need one, not eight."""
    whole = chunk.select_dtypes("int64")
    if whole.size < CHUNK_CELLS // 4:
        return chunk
    low, high = int(whole.to_numpy().min()), int(whole.to_numpy().max())
    for narrow in (np.int16, np.int32):
        if np.iinfo(narrow).min <= low and high <= np.iinfo(narrow).max:
            if whole.shape == chunk.shape:
                return chunk.astype(narrow)  # much faster than column by column
            return chunk.astype(dict.fromkeys(whole.columns, narrow))
    return chunk


def _named(
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
    for place, column in enumerate(names):
        if not column:
            fresh = f"column_{place + 1}"
            names[place] = fresh if fresh not in names else fresh + "_"
    frame.columns = names
    return frame, notices


def _refuse_ragged(opener: Opener, name: str, dialect: Dialect, width: int | None) -> None:
    """Raise for the first row that has not `width` values, if there is one."""
    with opener() as stream:
        text = io.TextIOWrapper(stream, encoding=dialect.encoding, errors="replace", newline="")
        for _ in range(dialect.skip):
            next(text, None)
        try:
            for line, cells in _records(text, dialect.separator):
                width = width or len(cells)
                if len(cells) != width:
                    raise InvalidInput(
                        f"every row of {name} must have {width} values, but line "
                        f"{line + dialect.skip} has {len(cells)}; is a separator "
                        f"({dialect.separator!r}) missing there or is text not in quotes?"
                    )
        except csv.Error as error:
            raise InvalidInput(f"{name} cannot be read as a table: {error}") from error
