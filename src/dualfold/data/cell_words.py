"""What the words of a column stand for: numbers in other clothes, missing values, or levels.

One rule for text files, spreadsheets, JSON lines, Parquet and data frames, so that the same table
gives the same result from each of them. `Reading.plain` turns it off.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array, DType
from dualfold.data.answer_scales import no_answers_among
from dualfold.data.notices import column_argument, quoted_names
from dualfold.data.reading import Reading
from dualfold.data.written_numbers import notation_of
from dualfold.errors import Argument, Message

if TYPE_CHECKING:
    import pandas as pd

# What pandas takes for missing, and the question mark of the UCI repository.
MISSING_WORDS = frozenset([
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND",
    "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"
])  # fmt: skip
# Further words, in small letters, that are missing values where they stand among numbers.
MISSING_AMONG_NUMBERS = frozenset([
    "-", "--", "---", "–", "—", ".", "..", "...", "*", "na", "n.a.", "n. a.", "none", "nil", "nd",
    "n.d.", "missing", "unknown", "unk", "not available", "not applicable", "tbd", "not measured",
    "no data", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!", "k.a.", "k. a.",
    "keine angabe", "unbekannt", "inconnu", "desconocido", "desconhecido"
])  # fmt: skip
# Beside numbers other words are missing values up to this share of the cells and this many
# different ones: more of them are levels, or parts of codes.
MAX_WORD_SHARE = 0.1
MAX_DIFFERENT_WORDS = 5
# Words for missing that are levels as well. SQL writes NULL, which is none.
AMBIGUOUS_WORDS = frozenset(("None", "none", "NONE", "Null", "null"))
# A level has this share of the rows that it had if all were equally frequent, and levels repeat.
MIN_LEVEL_SHARE = 0.2
MIN_ROWS_PER_LEVEL = 3
# No scale of answers has more words.
MAX_ANSWERS = 20
# NA is Namibia, North America or Naples where at least so many other levels are codes of two
# letters.
MIN_TWO_LETTER_CODES = 5
# Digits that a number would lose: zeros at the left, more than float64 or int64 hold.
CODE_PATTERN = re.compile(r"0\d+|\d{19,}")
# Days since 1899-12-30, as spreadsheets count them: 1954 to 2064.
SERIAL_DATES = (20_000, 60_000)
DATE_NAME_PATTERN = re.compile(r"(?:.*[_\s.-])?(?:date|datum|fecha|datetime)", re.IGNORECASE)


@dataclass(frozen=True)
class WordChoices:
    """The frame with its words understood, what was decided, and notices about it.

    choices : the fields of `Reading` that decide the same for rows that come later
    """

    frame: pd.DataFrame
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notices: tuple[Message, ...] = ()


@dataclass(frozen=True, eq=False)
class _Words:
    """A column as its different values: `values[codes]`, −1 for an empty cell."""

    codes: Array
    values: list[Any]
    counts: Array

    def cells_with(self, words: Collection[str]) -> dict[str, int]:
        """Number of cells that hold each of these words."""
        counts: dict[str, int] = {}
        for value, count in zip(self.values, self.counts.tolist(), strict=True):
            if isinstance(value, str) and value.strip() in words:
                counts[value.strip()] = counts.get(value.strip(), 0) + count
        return counts

    def column(self, values: list[Any], missing: Any) -> Any:
        """The column with other values, `missing` at the empty cells."""
        table = np.empty(len(values) + 1, dtype=object if missing is None else np.float64)
        table[:-1] = values
        table[-1] = missing
        return table[self.codes]


def understood_words(
    frame: pd.DataFrame, reading: Reading, numbers: Collection[str] = ()
) -> WordChoices:
    """The frame with columns of numbers wherever numbers are meant, and gaps where nothing is.

    numbers : columns that are known to be numbers, as those of a map
    """
    if reading.plain:
        return WordChoices(frame)
    frame = frame.copy(deep=False)
    messages: list[Message] = []
    numeric: dict[str, _Numbers] = {}
    words: dict[int, _Words] = {}
    literal = {*reading.category, *reading.orders, reading.identifier, reading.labels}
    for column, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if _is_numeric(dtype):
            _set_number_gaps(frame, column, reading, name)
            messages += _set_serial_dates(frame, column, str(name))
            continue
        split = _split(frame.iloc[:, column])
        if split is None:
            continue
        numbers_read = (
            None if name in literal else _as_numbers(split, name, reading, name in numbers)
        )
        if numbers_read is None:
            words[column] = split
            continue
        frame.isetitem(column, numbers_read.values)
        numeric[name] = numbers_read
    messages += _number_notices(numeric)
    among_numbers = {word for numbers_read in numeric.values() for word in numbers_read.gap_words}
    gaps = {
        name: numbers_read.odd_words
        for name, numbers_read in numeric.items()
        if numbers_read.odd_words
    }
    levels, unanswered = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for column, split in words.items():
        name = frame.columns[column]
        kept, notices = _levels(split, name, reading, among_numbers)
        messages += notices
        unsaid = () if name in literal else _no_answers(split, name, reading)
        changed = _without_gap_words(split, {*reading.gap_words(name), *unsaid}, kept)
        if changed is not None:
            frame.isetitem(column, changed)
        if kept:
            levels[name] = tuple(kept)
        if unsaid:
            gaps[name] = unanswered[name] = unsaid
    messages += _no_answer_notices(unanswered)
    choices = {"gap_markers": _spelt(gaps), "levels": _spelt(levels)}
    return WordChoices(frame, {k: v for k, v in choices.items() if v}, tuple(messages))


def with_choices(reading: Reading, choices: Mapping[str, tuple[str, ...]]) -> Reading:
    """The reading that decides the same for rows that come later."""
    merged: dict[str, Any] = {
        name: tuple(dict.fromkeys((*getattr(reading, name), *chosen)))
        for name, chosen in choices.items()
    }
    return replace(reading, **merged)


def ambiguous_words(words: Collection[object]) -> set[str]:
    """Words that are missing values in one table and levels in another."""
    return {word for word in words if word in AMBIGUOUS_WORDS or word == "NA"}


def _spelt(words: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"{name}={word}" for name, listed in words.items() for word in listed)


def _is_numeric(dtype: DType) -> bool:
    from pandas.api import types

    if isinstance(dtype, np.dtype):
        return dtype.kind in "iufc"
    return types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype)


def _set_number_gaps(frame: pd.DataFrame, place: int, reading: Reading, name: str) -> None:
    """The words for missing that are numbers, as -999, in a column of numbers."""
    if not reading.gap_markers:
        return
    marks = [mark for word in reading.gap_words(name) if (mark := _float(word)) is not None]
    column = frame.iloc[:, place]
    if marks and bool(column.isin(marks).any()):
        frame.isetitem(place, column.where(~column.isin(marks)).array)


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _set_serial_dates(frame: pd.DataFrame, column: int, name: str) -> list[Message]:
    """Numbers of days, as spreadsheets store dates, in a column that is called a date."""
    import pandas as pd

    if not DATE_NAME_PATTERN.fullmatch(name.strip()):
        return []
    values = frame.iloc[:, column].astype(np.float64)
    known = values.dropna()
    low, high = SERIAL_DATES
    if len(known) == 0 or not bool(known.between(low, high).all()):
        return []
    frame.isetitem(column, pd.to_datetime(values, unit="D", origin="1899-12-30").array)
    return [
        Message(
            f"'{name}': read as dates that a spreadsheet stored as days ({known.iloc[0]:g} is "
            f"{frame.iloc[:, column].dropna().iloc[0]:%Y-%m-%d}); ",
            Argument("plain", True),
            " leaves cells as they are written",
        )
    ]


def _split(column: pd.Series[Any]) -> _Words | None:
    """The different values of a column of words; None for dates, true/false and nested values."""
    import pandas as pd
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.ordered:
            return None
        column = column.astype(object)
    elif not (types.is_object_dtype(dtype) or types.is_string_dtype(dtype)):
        return None
    known = column.dropna()
    if not any(isinstance(value, str) for value in known.head(1000)) and not any(
        isinstance(value, str) for value in known
    ):
        return None
    try:
        codes, values = pd.factorize(column.astype(object))
    except TypeError:  # lists or records in some cell
        return None
    if any(not isinstance(value, str | int | float) for value in values):
        return None  # dates and the like beside words
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    return _Words(codes, list(values), counts)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A column of numbers that was written with words, units or groups of digits.

    written : how the numbers are written, "" for plain ones
    gap_words : all words that were taken as missing
    odd_words : those that no list of such words holds
    unusual : those that computers do not write for missing, each with its cells
    """

    values: Array
    written: str
    gap_words: set[str]
    odd_words: tuple[str, ...]
    unusual: dict[str, int]


def _as_numbers(words: _Words, name: str, reading: Reading, known: bool) -> _Numbers | None:
    """The column as numbers, where that is what most of its cells are; `known`: where any is."""
    markers = reading.gap_words(name)
    texts = [value.strip() if isinstance(value, str) else value for value in words.values]
    if any(
        isinstance(t, bool) or (isinstance(t, str) and CODE_PATTERN.fullmatch(t)) for t in texts
    ):
        return None
    gap_words = {*MISSING_WORDS, *markers}
    gap = [
        isinstance(text, str) and (text in gap_words or text.lower() in MISSING_AMONG_NUMBERS)
        for text in texts
    ]
    counts = dict[Any, int]()
    for text, count, lacks in zip(texts, words.counts.tolist(), gap, strict=True):
        if not lacks:
            counts[text] = counts.get(text, 0) + count
    notation = notation_of(
        counts, reading.decimal, reading.thousands, max_words=MAX_DIFFERENT_WORDS
    )
    if notation is None and not (known and not counts):
        return None
    parsed = {} if notation is None else {text: notation.number(text) for text in counts}
    odd = {text: counts[text] for text, value in parsed.items() if value is None}
    cells = sum(counts.values())
    if len(odd) > MAX_DIFFERENT_WORDS or sum(odd.values()) > MAX_WORD_SHARE * cells:
        return None
    if any(re.search(r"\d", word) and re.search(r"[^\W\d_]", word) for word in odd):
        return None  # "c168" among numbers: codes
    numbers = [np.nan if gap[i] or parsed[t] is None else parsed[t] for i, t in enumerate(texts)]
    values = words.column(numbers, np.nan)
    whole = bool(np.isfinite(values).all() and (values == np.floor(values)).all())
    if whole and np.abs(values).max(initial=0) < 2**53:
        values = values.astype(np.int64)
    lacking = {text for text, lacks in zip(texts, gap, strict=True) if lacks}
    unusual = odd | words.cells_with(lacking - MISSING_WORDS)
    written = "" if notation is None else notation.words(reading.decimal)
    return _Numbers(values, written, lacking | set(odd), tuple(map(str, odd)), unusual)


def _is_code(text: object) -> bool:
    return isinstance(text, str) and bool(CODE_PATTERN.fullmatch(text))


def _number_notices(numeric: Mapping[str, _Numbers]) -> list[Message]:
    """A sentence for each notation, and for each set of words that were taken as missing."""
    notices = list[Message]()
    for written in dict.fromkeys(one.written for one in numeric.values() if one.written):
        names = [name for name, one in numeric.items() if one.written == written]
        words = f"{quoted_names(names)}: read as numbers {written}; "
        notices.append(Message(words, *_as_words(names)))
    for unusual in dict.fromkeys(tuple(one.unusual) for one in numeric.values() if one.unusual):
        names = [name for name, one in numeric.items() if tuple(one.unusual) == unusual]
        cells = sum(sum(numeric[name].unusual.values()) for name in names)
        taken = "cells without a number were" if cells > 1 else "cell without a number was"
        words = f"{quoted_names(names)}: {cells:,} {taken} taken as missing "
        notices.append(Message(words, f"({quoted_names(unusual)}); ", *_as_words(names)))
    return notices


def _as_words(names: list[str]) -> tuple[str, str]:
    them = "it" if len(names) == 1 else "them"
    return column_argument("category", names), f" takes {them} as words"


def _levels(
    words: _Words, name: str, reading: Reading, among_numbers: set[str]
) -> tuple[list[str], list[Message]]:
    """The words for missing that are levels of this column, and notices about doubtful ones."""
    asked, markers = reading.level_words(name), reading.gap_words(name)
    kept, notices = [], list[Message]()
    for word, cells in words.cells_with(MISSING_WORDS - {""}).items():
        if word in asked:
            kept.append(word)
            continue
        others = [v.strip() for v in words.values if isinstance(v, str)]
        others = [v for v in others if v not in MISSING_WORDS]
        doubtful = word in AMBIGUOUS_WORDS or (word == "NA" and _two_letter_codes(others))
        if word in markers or not doubtful:
            continue
        rows = f"{cells:,} row{'s' if cells > 1 else ''}"
        if word not in among_numbers and _is_level(word, cells, others, words):
            kept.append(word)
            notices.append(
                Message(
                    f"'{word}' is a level of '{name}' ({rows}), as its other words are; ",
                    Argument("gap_markers", [f"{name}={word}"]),
                    " takes it as missing",
                )
            )
        else:
            notices.append(
                Message(
                    f"'{word}' in '{name}' ({rows}) was taken as missing; ",
                    Argument("levels", [f"{name}={word}"]),
                    " takes it as a level",
                )
            )
    return kept, notices


def _no_answers(words: _Words, name: str, reading: Reading) -> tuple[str, ...]:
    """The words that say "don't know" beside answers of a scale, and were not asked for."""
    texts = [value.strip() for value in words.values if isinstance(value, str)]
    if not reading.guesses or reading.mixed == "numbers" or len(texts) > MAX_ANSWERS:
        return ()
    asked = reading.level_words(name)
    return no_answers_among(text for text in texts if text and text not in asked)


def _no_answer_notices(unanswered: Mapping[str, tuple[str, ...]]) -> list[Message]:
    """A sentence for each set of words that say "don't know"."""
    notices = list[Message]()
    for words in dict.fromkeys(unanswered.values()):
        names = [name for name in unanswered if unanswered[name] == words]
        one = len(words) == 1
        notices.append(
            Message(
                f"{quoted_names(names)}: {quoted_names(words)} {'is' if one else 'are'} no answer "
                f"on the scale of the others and {'was' if one else 'were'} taken as missing; ",
                Argument("levels", list(words)),
                f" takes {'it as a level' if one else 'them as levels'}",
            )
        )
    return notices


def _is_level(word: str, cells: int, others: list[str], words: _Words) -> bool:
    """Whether the word is as frequent as a level and written as the others are."""
    if word == "NA":
        return True  # asked for two-letter codes only
    filled = int(words.counts.sum())
    levels = len(others) + 1
    repeats = filled >= MIN_ROWS_PER_LEVEL * levels
    frequent = cells >= 2 and cells * levels >= MIN_LEVEL_SHARE * filled
    alike = 2 * sum(_letters(word) == _letters(other) for other in others) >= len(others)
    return bool(others) and repeats and frequent and alike


def _letters(word: str) -> str:
    return "capitals" if word.isupper() else "capital" if word[:1].isupper() else "small"


def _two_letter_codes(others: list[str]) -> bool:
    codes = all(len(word) == 2 and word.isalpha() and word.isupper() for word in others)
    return codes and len(others) >= MIN_TWO_LETTER_CODES


def _without_gap_words(
    words: _Words, markers: Collection[str], kept: Collection[str]
) -> Array | None:
    """The column with None for words that mean missing, and true or false as such; None where
    nothing changes."""
    lacking = [
        isinstance(value, str)
        and value.strip() not in kept
        and (value.strip() in MISSING_WORDS or value.strip() in markers)
        for value in words.values
    ]
    values = words.values
    left = [v for v, lacks in zip(values, lacking, strict=True) if not lacks]
    if left and all(str(value).strip().lower() in ("true", "false") for value in left):
        values = [str(value).strip().lower() == "true" for value in values]
    elif not any(lacking):
        return None
    pairs = zip(values, lacking, strict=True)
    column: Array = words.column([None if lacks else v for v, lacks in pairs], None)
    return column
