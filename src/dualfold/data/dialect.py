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
# What pandas takes for missing, and the question mark of the UCI repository.
MISSING_WORDS = {"", "?", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN"}
MISSING_WORDS |= {"None", "n/a", "nan", "null"}


@dataclass(frozen=True)
class Dialect:
    """How a text table is written; `skip` lines come before the first data row."""

    separator: str
    decimal: str
    encoding: str
    header: tuple[str, ...] | None
    skip: int


def dialect_of(opener: Opener, name: str, reading: Reading) -> Dialect:
    """The dialect of a text table, from its first lines; options of the caller are not guessed."""
    separator, decimal, header = reading.separator, reading.decimal, reading.header
    text, encoding = _sample(opener, name, reading.encoding)
    lines = re.split(r"\r\n|\n|\r", text)
    skip = next((i for i, line in enumerate(lines) if line.strip()), None)
    if skip is None:
        raise InvalidInput(f"{name} is empty; a table with at least one row of numbers is needed")
    announced = re.fullmatch(r"\s*sep=(.)\s*", lines[skip])  # Excel's own first line
    if announced:
        skip += 1
        separator = separator or announced[1]
    remarks = list(itertools.takewhile(lambda line: line.startswith("#"), lines[skip:]))
    skip += len(remarks)
    # However the file's lines end, here they end as the csv module wants them.
    body = "\n".join(lines[skip:])
    separator = separator or _likely_separator(body)
    _, *rest = found = [cells for _, cells in records(body, separator)] or [[]]
    first = [cell.strip() for cell in found[0]]
    # A point cannot be both: where it divides thousands, the comma divides the rest.
    if reading.thousands in (".", ",") and decimal is None and separator != ",":
        decimal = "," if reading.thousands == "." else "."
    decimal = decimal or _likely_decimal(separator, found)
    if header is None:
        header = _looks_like_header(first, rest, decimal)
        # "#a,b" above two columns of numbers is their header, other remarks are not.
        titles = [c.strip() for _, r in records("".join(remarks[-1:])[1:], separator) for c in r]
        if not header and len(titles) == len(first):
            return Dialect(separator, decimal, encoding, tuple(titles), skip)
    if not header:
        return Dialect(separator, decimal, encoding, None, skip)
    height = next(records(body, separator), (0, []))[0]
    return Dialect(separator, decimal, encoding, tuple(first), skip + height)


def _sample(opener: Opener, name: str, given: str | None) -> tuple[str, str]:
    """The first lines as text, and their encoding."""
    with opener() as stream:
        try:
            raw = _first_lines(stream, name)
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


def _first_lines(stream: BinaryIO, name: str) -> bytes:
    """Enough lines to see how the table is written."""
    lines: list[bytes] = []
    while len(lines) < SAMPLE_LINES and sum(map(len, lines)) < MAX_LINE_BYTES:
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
    """What `parse` makes of a file, the dialect it was in, and notices of its encoding."""
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
    counted = [int(cell) for cell in first if re.fullmatch(r"\d{1,9}", cell)]
    consecutive = (
        counted == list(range(counted[0], counted[0] + len(counted))) if counted else False
    )
    if consecutive and not any(_is_number(c, decimal) and not c.isdigit() for c in first):
        if counted[0] == 0 and len(counted) >= 3:
            return True  # 0, 1, 2, …: what pandas writes above an array
        if len(counted) >= 2 and 1800 <= counted[0] <= 2200 and len(counted) < len(first):
            return True  # a word and then years
    for place, cell in enumerate(first):
        below = [cells[place] for cells in rest if place < len(cells)]
        below = [other for other in below if other.strip() not in MISSING_WORDS]
        named = cell not in MISSING_WORDS and not _is_number(cell, decimal)
        if named and below and all(_is_number(other, decimal) for other in below):
            return True
    return not any(_is_number(cell, decimal) for cell in first)
