"""Columns that are no numbers as numbers: categories, orders, dates; new rows as the old ones.

Dates may be written as text; `as_dates` reads them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, DamagedFile, InvalidInput

Kind = Literal["number", "log", "category", "ordered", "time", "season"]
# A category has a column for each level: more levels are names of the rows.
MAX_LEVELS = 1000
# The level of rows without a value, in columns of the kind that has one; its name in X.
MISSING_LEVEL = ""
MISSING_LEVEL_NAME = "(missing)"
MISSING_LEVEL_KIND = "category or missing"
DAYS_PER_YEAR = 365.2425
ISO_DATE_PATTERN = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?")
YEAR_MONTH_PATTERN = re.compile(r"(?:19|20)\d\d[-/](?:0[1-9]|1[0-2])")
MONTH_PATTERN = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# 3 Mar 2021, 03-Mar-2021, March 3, 2021, Mar 2021
NAMED_MONTH_PATTERN = re.compile(
    rf"(?:\d{{1,2}}[\s./-]*)?{MONTH_PATTERN}[\s./-]*(?:\d{{1,2}},?\s+)?\d{{4}}", re.IGNORECASE
)
SHORT_DATE_PATTERN = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ].*)?")

LEADING_NUMBER_PATTERN = re.compile(r"^\(?\d+\s*[-–—.:)=]+\s*")


@dataclass(frozen=True)
class Encoding:
    """How one column of a table becomes columns of X.

    kind : "number" as it is, "log" its logarithm; "category" a column of 0 and 1 for each level;
        "ordered" the place among the levels, from 0; "time" days since 1970; "season" the
        place of the day on the circle of a year, two columns
    levels : of categories, as text; "" is that of rows without a value
    unit : of a logarithm log(1 + x/unit), which zeros have, too, and negative values as −log(1 −
        x/unit); 0 for log x
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    unit: float = 0.0

    @property
    def features(self) -> tuple[str, ...]:
        """The names of its columns of X."""
        if self.kind == "category":
            return tuple(f"{self.name}={level or MISSING_LEVEL_NAME}" for level in self.levels)
        if self.kind == "season":
            return (f"{self.name} (winter)", f"{self.name} (spring)")
        return (f"log {self.name}" if self.kind == "log" else self.name,)

    def values(self, column: Any) -> Array:
        """Its columns of X; NaN where there is no value, or one that was not there before."""
        if self.kind == "number":
            return _numbers(column, self.name)[:, None]
        if self.kind == "log":
            return self._logarithms(_numbers(column, self.name))[:, None]
        if self.kind in ("time", "season"):
            return _days(column, self.kind, self.name)
        codes = self._codes(column)
        if self.kind == "ordered":
            return np.where(codes < 0, np.nan, codes)[:, None]
        return np.where(codes[:, None] < 0, np.nan, codes[:, None] == np.arange(len(self.levels)))

    def decoded_column(self, features: Array) -> Array:
        """The column whose features these are, up to their rounding; NaN for seasons."""
        first = np.asarray(features[:, 0], dtype=float)
        if self.kind == "log" and self.unit > 0:
            return np.asarray(np.copysign(np.expm1(np.abs(first)) * self.unit, first))
        if self.kind == "log":
            return np.asarray(np.exp(first))
        if self.kind == "time":
            return np.datetime64("1970-01-01") + np.round(first * 86400).astype("timedelta64[s]")
        if self.kind == "season":  # the year is not known
            return np.full(len(first), np.nan)
        if not self.levels:
            return first
        places = np.rint(first).astype(int) if self.kind == "ordered" else features.argmax(axis=1)
        words = np.array(self.levels, dtype=object)[np.clip(places, 0, len(self.levels) - 1)]
        words[words == MISSING_LEVEL] = None
        return words

    def unknown(self, column: Any) -> list[str]:
        """Values that are there but among no level."""
        if not self.levels:
            return []
        return sorted(word for word, place in self._places(column).items() if word and place < 0)

    def _logarithms(self, values: Array) -> Array:
        if self.unit > 0:
            return np.asarray(np.copysign(np.log1p(np.abs(values) / self.unit), values))
        if (values <= 0).any():
            least = np.nanmin(values)
            raise InvalidInput(
                f"'{self.name}' has no logarithm everywhere: its smallest value is {least:g}; "
                "leave out ",
                Argument("log", [self.name]),
            )
        return np.asarray(np.log(values))

    def _codes(self, column: Any) -> Array:
        """The place of each value among the levels, −1 where it is none of them."""
        places = self._places(column)
        return np.array([places[word] for word in words_of(column)], dtype=np.int64)

    def _places(self, column: Any) -> dict[str, int]:
        """The place of each different value; of ordered ones, case and accents do not matter."""
        words = set(words_of(column))
        exact = {level: place for place, level in enumerate(self.levels)}
        if self.kind != "ordered" or words <= exact.keys():
            return {word: exact.get(word, -1) for word in words}
        alike = {plain_words(level): place for level, place in exact.items()} | {"": -1}
        return {word: exact.get(word, alike.get(plain_words(word), -1)) for word in words}


def category(name: str, column: Any, levels: Sequence[str] | None = None) -> Encoding:
    """The encoding of a column of categories."""
    found = sorted({word for word in words_of(column) if word}) if levels is None else levels
    if len(found) > MAX_LEVELS:
        raise InvalidInput(
            f"'{name}' has {len(found)} different values, and categories may have {MAX_LEVELS}: "
            "it names the rows rather than describing them; ",
            Argument("exclude", [name]),
            " leaves it out",
        )
    return Encoding(name, "category", tuple(found))


def words_of(column: Any) -> list[str]:
    """The values of a column as text, "" where there is none."""
    return ["" if _is_missing(value) else _word(value) for value in np.asarray(column).tolist()]


def plain_words(text: str) -> str:
    """The words without case, accents, a leading number, and marks around them."""
    text = LEADING_NUMBER_PATTERN.sub("", text.strip().lower().replace("ß", "ss"))
    letters = unicodedata.normalize("NFKD", text.replace("’", "'"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[\s_]+", " ", bare).strip(" .,;:!()[]\"'")


def _word(value: Any) -> str:
    """Whole numbers are the same category with and without their decimal point."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value).strip()


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _numbers(column: Any, name: str) -> Array:
    try:
        return np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError) as error:  # new rows, with a word where the old had numbers
        raise InvalidInput(
            f"'{name}' must be a column of numbers, as in the table of the map: {error}; change "
            "it in the file, empty where a value is missing"
        ) from error


def _days(column: Any, kind: str, name: str) -> Array:
    dates = as_dates(column)
    if dates is None:
        raise InvalidInput(
            f"'{name}' is no column of dates that can be read; write them as 2021-12-31"
        )
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    if kind == "time":
        return np.asarray(days)[:, None]
    angle = 2 * np.pi * days / DAYS_PER_YEAR
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def encoded_columns(encodings: Sequence[Encoding], columns: Mapping[str, Any]) -> Array:
    """The columns of X that named columns become, side by side."""
    parts = [one.values(columns[one.name]) for one in encodings]
    return np.concatenate(parts, axis=1)


def features_of(encodings: Sequence[Encoding]) -> tuple[str, ...]:
    """The names of the columns of X."""
    return tuple(feature for one in encodings for feature in one.features)


def sources_of(encodings: Sequence[Encoding]) -> tuple[str, ...]:
    """For each column of X the column of the table that it comes from."""
    return tuple(one.name for one in encodings for _ in one.features)


def is_mixed(encodings: Sequence[Encoding]) -> bool:
    """Whether there is more than numbers."""
    return any(one.kind not in ("number", "log") for one in encodings)


def indicators(encodings: Sequence[Encoding]) -> Array:
    """Which columns of X are the 0 and 1 of a category."""
    return np.array([one.kind == "category" for one in encodings for _ in one.features], dtype=bool)


def level_places(encodings: Sequence[Encoding]) -> tuple[tuple[int, ...], ...]:
    """For each category the places of its columns of X."""
    found, first = [], 0
    for one in encodings:
        places = tuple(range(first, first + len(one.features)))
        first += len(places)
        found += [places] if one.kind == "category" else []
    return tuple(found)


def to_json(encodings: Sequence[Encoding]) -> list[dict[str, Any]]:
    """JSON-ready; `from_json` makes the same of it."""
    return [asdict(one) | {"levels": list(one.levels)} for one in encodings]


def from_json(stated: Any) -> tuple[Encoding, ...]:
    """Encodings that a file states; another program may have written it."""
    try:
        found = tuple(
            Encoding(s["name"], s["kind"], tuple(s["levels"]), s.get("unit", 0.0)) for s in stated
        )
        units = all(isinstance(one.unit, float) and 0 <= one.unit < np.inf for one in found)
        known = {"number", "log", "category", "ordered", "time", "season"}
        texts = all(isinstance(w, str) for one in found for w in (one.name, *one.levels))
        if texts and units and {one.kind for one in found} <= known:
            return found
    except (TypeError, KeyError, AttributeError):
        pass
    raise DamagedFile("it states its columns in an unknown form")


def as_dates(values: Any) -> Array | None:
    """Text that is dates, as datetime64; None if some of it is not, or days are ambiguous.

    Year first is understood, and months by their English names; day or month first only where
    some number above 12 shows which it is.
    """
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return array
    words, known = _words(array)
    if not known:
        return None
    day_first = False
    if not any(
        all(form.fullmatch(word) for word in known)
        for form in (ISO_DATE_PATTERN, YEAR_MONTH_PATTERN, NAMED_MONTH_PATTERN)
    ):
        order = _day_first(known)
        if order is None:
            return None
        day_first = order
    import pandas as pd

    try:
        parsed = pd.to_datetime(words, format="mixed", dayfirst=day_first, utc=True)
    except (ValueError, OverflowError):
        return None
    return np.asarray(parsed.tz_localize(None).to_numpy())


def ambiguous_dates(values: Any) -> bool:
    """Whether these are dates as 03/04/2021, in which day and month cannot be distinguished."""
    _, known = _words(np.asarray(values))
    written = bool(known) and all(SHORT_DATE_PATTERN.fullmatch(word) for word in known)
    return written and _day_first(known) is None


def _words(array: Array) -> tuple[list[str], list[str]]:
    """The entries of a column of text ("" where there is none), and those that say something."""
    if array.dtype.kind not in "OUT":
        return [], []
    words = ["" if _is_empty(value) else str(value).strip() for value in array.tolist()]
    return words, [word for word in words if word]


def _day_first(words: list[str]) -> bool | None:
    """Whether 13/02/2021 has its day first; None if nothing shows it, or not all are written so."""
    found = [SHORT_DATE_PATTERN.fullmatch(word) for word in words]
    if not all(found):
        return None
    firsts = max(int(match[1]) for match in found if match)
    seconds = max(int(match[2]) for match in found if match)
    return None if (firsts > 12) == (seconds > 12) else firsts > 12


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
