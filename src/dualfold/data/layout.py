"""Where the table begins and ends in a file of cells: titles, names of columns, lines below.

People put a title above a table, units under the names, a source and a total below. The same rules
hold for text files and sheets; cells are text, numbers, dates, or None where they are empty.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dualfold.data.cell_words import MISSING_AMONG_NUMBERS, MISSING_WORDS
from dualfold.data.notices import quoted_names
from dualfold.data.written_numbers import has_unit, is_written_number
from dualfold.errors import Argument, InvalidInput, Message

if TYPE_CHECKING:
    import pandas as pd

Row = Sequence[object]
# Rows that show where the table begins, and those that may be below it.
SAMPLE_ROWS = 50
MAX_LINES_BELOW = 20
# A cell that stands alone in its row below a table is no row of it where it has so many words.
MIN_REMARK_WORDS = 4
REMARK_PATTERN = re.compile(
    r"(?:sources?|notes?|remarks?|footnotes?|quellen?|anmerkung|hinweis|stand|fuente|nota|fonte"
    r"|remarque)\s*[:.].*|[©*].*",
    re.IGNORECASE | re.DOTALL,
)
TOTAL_PATTERN = re.compile(
    r"(?:grand\s+|sub)?(?:totals?|sum|summe|gesamt|insgesamt|suma|somme|ensemble|gesamtsumme)\s*:?",
    re.IGNORECASE,
)
# Sheets and text files with more columns than these have no title of one cell.
MIN_NAMED_COLUMNS = 2


@dataclass(frozen=True)
class TableLayout:
    """Which of the first rows hold names, and from which on there are data.

    names : of the columns, "" for one without; None where no row holds names
    header : the place of the row that holds them, among the rows that were looked at
    first : the place of the first row of data
    group : the place of a row above the names, whose cells stand for several columns
    """

    names: tuple[str, ...] | None
    header: int
    first: int
    group: int | None = None

    def notices(self, rows: Sequence[Row], lines: Sequence[int]) -> list[Message]:
        """Sentences on what a plain table has not; `lines`: the line of each row in its file."""
        sentences = list[Message]()
        start = self.header if self.group is None else self.group
        remedy = (Argument("header_row", lines[self.header]), " chooses the line of the names")
        above = [str(cell).strip() for row in rows[:start] for cell in row if not is_empty(cell)]
        if above:
            what = "begins" if self.names is None else "has the names of the columns"
            sentences.append(
                Message(
                    f"the table {what} in line {lines[self.header]}; what stands above "
                    f"({quoted_names([text[:60] for text in above], 2)}) was taken as a title; ",
                    *remedy,
                )
            )
        if self.group is not None:
            sentences.append(
                Message(
                    f"the names of columns come from two lines, {lines[self.group]} and "
                    f"{lines[self.header]}, as {quoted_names((self.names or ())[-1:])}; ",
                    *remedy,
                )
            )
        for place in range(self.header + 1, self.first):
            cells = [str(cell).strip() for cell in rows[place] if not is_empty(cell)]
            if cells and self.names is not None:
                sentences.append(
                    Message(
                        f"line {lines[place]} ({quoted_names(cells, 3)}) was taken as units of the "
                        "names above it, and is no row; ",
                        Argument("plain", True),
                        " reads it as one",
                    )
                )
        return sentences


def is_empty(cell: object) -> bool:
    """Whether a cell holds nothing."""
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def is_number(cell: object) -> bool:
    """Whether a cell is a number, or one with a unit; dates and true/false are data as well."""
    return is_written_number(cell) if isinstance(cell, str) else not is_empty(cell)


def _is_plain_number(cell: object) -> bool:
    """Whether a cell is a number without a unit: "5 %" may be the name of a column."""
    return is_number(cell) and not (isinstance(cell, str) and has_unit(cell))


def table_layout(rows: Sequence[Row], *, has_header: bool | None = None) -> TableLayout:
    """Where the names and the data of a table begin.

    rows : the first rows of the file
    has_header : whether some row holds names; None where that is to be found out
    """
    start = _title_rows(rows)
    first, rest = rows[start], rows[start + 1 :]
    if has_header is None:
        has_header = looks_like_header(first, rest)
    if not has_header:
        return TableLayout(None, start, start)
    names = [_name(cell) for cell in first]
    if start + 2 < len(rows) and _names_again(rows[start + 1], rows[start + 2 :]):
        below = [_name(cell) for cell in rows[start + 1]]
        if _is_group_row(names, below):
            return TableLayout(_names_with_groups(names, below), start + 1, start + 2, start)
        return TableLayout(tuple(names), start, start + 2)
    above = start - 1
    if above >= 0 and _filled_count(rows[above]) >= 2 and _repeats(names):
        joined = _names_with_groups([_name(cell) for cell in rows[above]], names)
        return TableLayout(joined, start, start + 1, above)
    return TableLayout(tuple(names), start, start + 1)


def _name(cell: Any) -> str:
    if is_empty(cell):
        return ""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell).strip()


def _filled_count(row: Row) -> int:
    return sum(not is_empty(cell) for cell in row)


def _title_rows(rows: Sequence[Row]) -> int:
    """Number of first rows that are a title, remarks or blank."""
    filled = [_filled_count(row) for row in rows]
    counts = [count for count in filled if count]
    typical = statistics.median(counts) if counts else 0
    if typical < MIN_NAMED_COLUMNS:
        return next((place for place, count in enumerate(filled) if count), 0)
    left = min(
        _first_filled(r) for r, count in zip(rows, filled, strict=True) if 2 * count >= typical
    )
    place = 0
    while place < len(rows) - 1:
        row, count = rows[place], filled[place]
        alone = count == 1 and _first_filled(row) <= left
        few = count > 1 and 2 * count < typical + _is_pair(row, count)
        numbers = any(is_number(cell) for cell in row[:1] if not is_empty(cell))
        if count and (numbers or not (alone or few)):
            return place
        place += 1
    return 0


def _is_pair(row: Row, count: int) -> bool:
    """Whether two cells at the left are all, as in "Created by: | me"."""
    return count == 2 and not any(is_empty(cell) for cell in row[:2])


def _first_filled(row: Row) -> int:
    return next((column for column, cell in enumerate(row) if not is_empty(cell)), len(row))


def _is_gap(cell: object) -> bool:
    if is_empty(cell):
        return True
    text = str(cell).strip()
    return text in MISSING_WORDS or text.lower() in MISSING_AMONG_NUMBERS


def _column(rows: Sequence[Row], column: int) -> list[object]:
    below = [row[column] for row in rows if column < len(row)]
    return [cell for cell in below if not _is_gap(cell)]


def looks_like_header(first: Row, rest: Sequence[Row]) -> bool:
    """Names above numbers, or no number at all in the first row."""
    cells = [_name(cell) for cell in first]
    counted = [int(cell) for cell in cells if re.fullmatch(r"\d{1,9}", cell)]
    consecutive = (
        counted == list(range(counted[0], counted[0] + len(counted))) if counted else False
    )
    if consecutive and not any(_is_plain_number(c) and not c.isdigit() for c in cells):
        if counted[0] == 0 and len(counted) >= 3:
            return True  # 0, 1, 2, …: what pandas writes above an array
        if len(counted) >= 2 and 1800 <= counted[0] <= 2200 and len(counted) < len(first):
            return True  # a word and then years
    for column, cell in enumerate(first):
        below = _column(rest, column)
        named = not _is_gap(cell) and not _is_plain_number(cell)
        if named and below and all(is_number(other) for other in below):
            return True
    return not any(_is_plain_number(cell) for cell in first)


def _names_again(row: Row, rest: Sequence[Row]) -> bool:
    """Whether a row below names holds names or units, too: words above columns of numbers."""
    if any(is_number(cell) for cell in row if not is_empty(cell)):
        return False
    columns = {column: _column(rest, column) for column in range(len(row))}
    numbers = [p for p, below in columns.items() if below and all(map(is_number, below))]
    words = [column for column in numbers if not _is_gap(row[column])]
    return len(words) >= 2 and 2 * len(words) >= len(numbers)


def _repeats(names: Sequence[str]) -> bool:
    filled = [name for name in names if name]
    return len(set(filled)) < len(filled)


def _is_group_row(names: Sequence[str], below: Sequence[str]) -> bool:
    """Whether names stand for several columns each: empty cells beside them, or names below that
    repeat."""
    gaps = any(not name and other for name, other in zip(names, below, strict=False))
    return (gaps and len(names) > 1) or (_repeats(below) and _repeats(names))


def _names_with_groups(groups: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """ "2020" above "Q1" and "Q2" as "2020 Q1" and "2020 Q2"."""
    joined, group = [], ""
    for column, name in enumerate(names):
        above = groups[column] if column < len(groups) else ""
        group = above or group
        joined.append(" ".join(part for part in (group, name) if part))
        group = "" if above and not name else group
    return tuple(joined)


def rows_below(tail: Sequence[Row], first_cells: Sequence[object]) -> int:
    """Number of last rows that are no data: blank, a remark, or a total.

    tail : the last rows of the table
    first_cells : cells of other rows in the first column
    """
    numeric = bool(first_cells) and all(is_number(cell) for cell in first_cells if cell)
    words = Counter(str(cell).strip() for cell in first_cells)
    words += Counter(str(row[0]).strip() for row in tail if row)
    count = 0
    for row in reversed(tail):
        filled = [cell for cell in row if not is_empty(cell)]
        text = str(filled[0]).strip() if filled else ""
        total = bool(TOTAL_PATTERN.fullmatch(text)) and words[text] < 2 and len(filled) > 1
        if filled and not total and not _is_remark(row, filled, numeric):
            break
        count += 1
    return count


def _is_remark(row: Row, filled: list[object], numeric: bool) -> bool:
    """Whether a row holds a sentence at its left and little else; `numeric`: among numbers."""
    if len(row) < MIN_NAMED_COLUMNS and len(filled) < 2 and not numeric:
        return bool(REMARK_PATTERN.fullmatch(str(filled[0]).strip()))
    text = str(filled[0]).strip()
    if not isinstance(filled[0], str) or is_number(text):
        return False
    if 2 * len(filled) < max(len(row), 4) and REMARK_PATTERN.fullmatch(text):
        return True
    return len(filled) == 1 and (numeric or len(text.split()) >= MIN_REMARK_WORDS)


def below_notice(rows: Sequence[Row]) -> list[Message]:
    """The notice about rows below the table, none where all are blank."""
    texts = [str(cell).strip() for row in rows for cell in row if not is_empty(cell)]
    if not texts:
        return []
    several = "lines" if len(rows) > 1 else "line"
    return [
        Message(
            f"the last {several} ({quoted_names([text[:60] for text in texts], 2)}) "
            f"{'are' if len(rows) > 1 else 'is'} no row of the table, left out; ",
            Argument("plain", True),
            " reads all lines",
        )
    ]


def different_names(names: Sequence[str]) -> tuple[list[str], list[Message]]:
    """Names that all differ: the second "x" is "x.2"; and a notice about them."""
    counts, taken = Counter(names), set(names)
    numbered, seen = list[str](), Counter[str]()
    for name in names:
        seen[name] += 1
        number = seen[name]
        fresh = name if number == 1 else f"{name}.{number}"
        while number > 1 and fresh in taken:
            number += 1
            fresh = f"{name}.{number}"
        taken.add(fresh)
        numbered.append(fresh)
    twice = [name for name, count in counts.items() if count > 1]
    if not twice:
        return numbered, []
    new = [fresh for fresh, name in zip(numbered, names, strict=True) if fresh != name]
    word = "appears" if len(twice) == 1 else "appear"
    return numbered, [
        Message(
            f"{quoted_names(twice)} {word} more than once as the name of a column; the later ones "
            f"are called {quoted_names(new)}"
        )
    ]


def with_different_names(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Message]]:
    """The frame with names as text that all differ, and a notice about new ones."""
    names, notices = different_names([str(name) for name in frame.columns])
    frame = frame.copy(deep=False)
    frame.columns = names
    return frame, notices


def refuse_single_column(frame: pd.DataFrame, name: str) -> None:
    """Raise where one column of words holds all that a table of several columns has."""
    filled = frame.notna().any().to_numpy().nonzero()[0].tolist()
    if frame.shape[1] < 3 or len(filled) != 1:
        return
    values = frame.iloc[:, filled[0]].dropna()
    if all(isinstance(value, str) for value in values):
        raise InvalidInput(
            f"of the {frame.shape[1]} columns of {name} only '{frame.columns[filled[0]]}' holds "
            "something, and that is words; if the names of the columns are in another line, say "
            "which, as ",
            Argument("header_row", 3),
        )
