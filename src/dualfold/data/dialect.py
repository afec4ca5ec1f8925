"""How a text table is written: separator, decimal mark, encoding, header."""

from __future__ import annotations

import csv
import io
import itertools
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, TypeVar

from dualfold.data.layout import TableLayout, looks_like_header, table_layout
from dualfold.data.limits import MAX_LINE_BYTES
from dualfold.data.reading import Reading
from dualfold.errors import Argument, InvalidInput

Opener = Callable[[], BinaryIO]
T = TypeVar("T")

# In this order: a comma may be a decimal mark where another separator is possible too.
COLUMN_SEPARATORS = ("\t", ";", "|", ",")
WHITESPACE_PATTERN = r"\s+"
SAMPLE_LINES = 50
# Encodings that are tried where none is given.
GUESSED_ENCODINGS = ("utf-8-sig", "utf-16", "utf-32")
# A line of 20,000 columns is one cell to a separator that it does not have.
csv.field_size_limit(1 << 30)
# A separator may be missing in so many lines at the top and at the end, which are no rows.
MAX_LINES_ABOVE = 15
MAX_LINES_BELOW = 3


@dataclass(frozen=True)
class Dialect:
    """Way in which a text table is written; `skip` lines come before the first data row."""

    separator: str
    decimal: str
    encoding: str
    header: tuple[str, ...] | None
    skip: int
    notices: tuple[str, ...] = ()


def dialect_of(opener: Opener, name: str, reading: Reading) -> Dialect:
    """The dialect of a text table, from its first lines; options of the caller are not guessed."""
    separator, decimal = reading.separator, reading.decimal
    given = reading.header_row or 0
    skip = max(reading.skip_rows, given - 1)
    text, encoding = _sample(opener, name, reading.encoding, skip + SAMPLE_LINES)
    lines = re.split(r"\r\n|\n|\r", text)
    filled = next((i for i, line in enumerate(lines) if i >= skip and line.strip()), None)
    if filled is None:
        what = f"has nothing below line {skip}" if skip else "is empty"
        raise InvalidInput(f"{name} {what}; a table with at least one row of numbers is needed")
    skip = filled
    announced = re.fullmatch(r"\s*sep=(.)\s*", lines[skip])  # Excel's own first line
    if announced:
        skip += 1
        separator = separator or announced[1]
    remarks = [] if given else list(itertools.takewhile(_is_remark, lines[skip:]))
    skip += len(remarks)
    # However the file's lines end, here they end as the csv module wants them.
    body = "\n".join(lines[skip:])
    separator = separator or _likely_separator(body)
    parsed = list(records(body, separator)) or [(0, [""])]
    rows, ends = [cells for _, cells in parsed], [skip + line for line, _ in parsed]
    # A point cannot be both: where it divides thousands, the comma divides the rest.
    if reading.thousands in (".", ",") and decimal is None and separator != ",":
        decimal = "," if reading.thousands == "." else "."
    decimal = decimal or _likely_decimal(separator, rows)
    layout = _text_layout(rows, reading)
    if layout.names is None and layout.header == 0 and reading.header is None and not given:
        # "#a,b" above two columns of numbers is their header, other remarks are not.
        titles = [c.strip() for _, r in records("".join(remarks[-1:])[1:], separator) for c in r]
        if len(titles) == len(rows[0]) and reading.header_row is None:
            return Dialect(separator, decimal, encoding, tuple(titles), skip)
    below = ends[layout.first - 1] if layout.first else skip
    notices = tuple(layout.notices(rows, ends))
    return Dialect(separator, decimal, encoding, layout.names, below, notices)


def _is_remark(line: str) -> bool:
    return line.startswith("#")


def _text_layout(rows: list[list[str]], reading: Reading) -> TableLayout:
    """Where names and data begin; the first row has the names where the caller says so."""
    has_header = reading.header if reading.header_row is None else reading.header_row > 0
    if reading.plain or reading.header_row is not None:
        first = [cell.strip() for cell in rows[0]]
        if has_header is None:
            has_header = looks_like_header(first, rows[1:])
        return TableLayout(tuple(first) if has_header else None, 0, int(has_header))
    return table_layout(rows, has_header=has_header)


def _sample(opener: Opener, name: str, given: str | None, count: int) -> tuple[str, str]:
    """The first lines as text, and their encoding."""
    with opener() as stream:
        try:
            raw = _first_lines(stream, name, count)
        except (OSError, EOFError) as error:
            raise InvalidInput(f"{name} cannot be read ({error}); is it damaged?") from error
    if given is not None:
        try:
            return raw.decode(given, errors="ignore").removeprefix("\ufeff"), given
        except LookupError:
            raise InvalidInput(
                Argument("encoding", given), " is unknown; utf-8, cp1252 and gb18030 are some"
            ) from None
    if raw.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return raw.decode("utf-32", errors="ignore"), "utf-32"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="ignore"), "utf-16"
    for encoding, zeros, others in (
        ("utf-16-le", raw[1::2], raw[::2]),
        ("utf-16-be", raw[::2], raw[1::2]),
    ):
        if 2 * zeros.count(0) > len(zeros) and 0 not in others:  # without its mark
            return raw.decode(encoding, errors="ignore"), encoding
    if b"\x00" in raw:
        raise InvalidInput(
            f"{name} must be text, but holds zero bytes; if it is another kind of file, say "
            "which, as ",
            Argument("format", "parquet"),
        )
    try:
        return raw.decode("utf-8-sig"), "utf-8-sig"
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "utf-8-sig"


def _first_lines(stream: BinaryIO, name: str, count: int) -> bytes:
    """Enough lines to see how the table is written."""
    lines: list[bytes] = []
    while len(lines) < count and sum(map(len, lines)) < MAX_LINE_BYTES:
        lines.append(stream.readline(MAX_LINE_BYTES + 1))
        if len(lines[-1]) > MAX_LINE_BYTES:
            raise InvalidInput(
                f"{name} has a line of more than {MAX_LINE_BYTES / 1e6:.0f} MB, the longest that "
                "is read; is it a text file with one row a line?"
            )
        if not lines[-1]:
            break
    return b"".join(lines)


def parse_decoded(
    parse: Callable[[Dialect], T], dialect: Dialect, name: str
) -> tuple[T, Dialect, list[str]]:
    """Result that `parse` makes of a file, the dialect it was in, and notices of its encoding."""
    try:
        return parse(dialect), dialect, []
    except UnicodeDecodeError as error:
        if dialect.encoding not in GUESSED_ENCODINGS:
            raise InvalidInput(
                f"{name} is not in the encoding that was given, ",
                Argument("encoding", dialect.encoding),
                f" ({error.reason} at byte {error.start}); leave it out to have it guessed",
            ) from error
        # Every byte sequence is valid Latin-1, so the retry cannot fail the same way.
        other = replace(dialect, encoding="latin-1")
        notice = f"{name} is not UTF-8; it was read as Latin-1, check accented letters"
        return parse(other), other, [notice]


def records(source: str | io.TextIOBase, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the record's last line, cells) for each record that is not blank."""
    lines = io.StringIO(source, newline="") if isinstance(source, str) else source
    if separator == WHITESPACE_PATTERN:
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
    for separator in COLUMN_SEPARATORS:
        widths[separator] = [len(cells) for _, cells in records(body, separator)]
    for separator, counts in widths.items():
        if len(set(counts)) == 1 and counts[0] > 1:
            return separator
    for separator, counts in widths.items():
        usual = statistics.mode(counts)
        odd = [place for place, width in enumerate(counts) if width != usual]
        inner = [place for place in odd if MAX_LINES_ABOVE <= place < len(counts) - MAX_LINES_BELOW]
        if usual > 1 and not inner and all(counts[place] < usual for place in odd):
            return separator
    # No separator fits every row: the one that most rows agree on, whatever is wrong with the rest.
    best = max(COLUMN_SEPARATORS, key=lambda s: statistics.mode(widths[s]) - 1)
    if statistics.mode(widths[best]) > 1:
        return best
    blank = [line.split() for line in body.splitlines() if line.strip()]
    numbers = all(_is_number(cell, ".") for cells in blank[1:] or blank for cell in cells)
    if numbers and len({len(cells) for cells in blank}) == 1 and len(blank[0]) > 1:
        return WHITESPACE_PATTERN
    return ","


def _likely_decimal(separator: str, records: list[list[str]]) -> str:
    if separator == ",":
        return "."
    cells = [cell.strip() for record in records for cell in record]
    decimal = r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:\s*[%€$£])?"
    commas = any(re.fullmatch(decimal, cell) for cell in cells)
    points = any(
        re.fullmatch(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?", cell)
        and not re.fullmatch(r"[-+]?[1-9]\d{0,2}\.\d{3}", cell)  # 1.234 may be a thousand
        for cell in cells
    )
    return "," if commas and not points else "."


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return True
