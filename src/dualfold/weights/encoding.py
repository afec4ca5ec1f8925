"""Columns of a table as columns of X, one class for each kind of column; new rows as the old ones.

A further kind is a class here, which `KINDS` lists, and a row of `data/column_kinds.py`, which says
when a column of a table is of that kind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, DamagedFile, InvalidInput
from dualfold.weights.written_dates import as_dates

# A category has a column for each level: more levels are names of the rows.
MAX_LEVELS = 1000
# The level of rows without a value, in columns of the kind that has one; its name in X.
MISSING_LEVEL = ""
MISSING_LEVEL_NAME = "(missing)"
DAYS_PER_YEAR = 365.2425
LEADING_NUMBER_PATTERN = re.compile(r"^\(?\d+\s*[-–—.:)=]+\s*")


@dataclass(frozen=True)
class Encoding:
    """Rule by which a column of a table becomes columns of X; a subclass is a kind of column.

    name : of the column
    levels : of categories, as text; "" is the level of rows without a value
    unit : of a logarithm; 0 for log x
    """

    kind: ClassVar[str] = ""
    # Whether the columns of X are the 0 and 1 of levels, and whether the column holds numbers.
    is_category: ClassVar[bool] = False
    is_numeric: ClassVar[bool] = False

    name: str
    levels: tuple[str, ...] = ()
    unit: float = 0.0

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its columns of X."""
        return (self.name,)

    def values(self, column: Any) -> Array:
        """Columns of X; NaN where there is no value, or one that was not there before."""
        raise NotImplementedError

    def decoded_column(self, features: Array) -> Array:
        """The column whose features these are, up to their rounding; NaN if it is not known."""
        raise NotImplementedError

    def unknown(self, column: Any) -> list[str]:
        """Values that are there but among no level."""
        return []

    def to_json(self) -> dict[str, Any]:
        """JSON that a file states; `from_json` makes the same of it."""
        levels = list(self.levels)
        return {"name": self.name, "kind": self.kind, "levels": levels, "unit": self.unit}


class Number(Encoding):
    """A number as it is."""

    kind = "number"
    is_numeric = True

    def values(self, column: Any) -> Array:
        return _numbers(column, self.name)[:, None]

    def decoded_column(self, features: Array) -> Array:
        return np.asarray(features[:, 0], dtype=float)


class Logarithm(Encoding):
    """Logarithm of a number: log x without a unit, else log(1 + x/unit).

    The latter is there for zeros, too, and −log(1 − x/unit) for negative values.
    """

    kind = "log"
    is_numeric = True

    @property
    def features(self) -> tuple[str, ...]:
        return (f"log {self.name}",)

    def values(self, column: Any) -> Array:
        values = _numbers(column, self.name)
        if self.unit > 0:
            logs = np.copysign(np.log1p(np.abs(values) / self.unit), values)
            return np.asarray(logs)[:, None]
        if (values <= 0).any():
            least = np.nanmin(values)
            raise InvalidInput(
                f"'{self.name}' has no logarithm everywhere: its smallest value is {least:g}; "
                "leave out ",
                Argument("log", [self.name]),
            )
        return np.asarray(np.log(values))[:, None]

    def decoded_column(self, features: Array) -> Array:
        logs = np.asarray(features[:, 0], dtype=float)
        if self.unit > 0:
            return np.asarray(np.copysign(np.expm1(np.abs(logs)) * self.unit, logs))
        return np.asarray(np.exp(logs))


class Category(Encoding):
    """A category: a column of 0 and 1 for each level."""

    kind = "category"
    is_category = True

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={level or MISSING_LEVEL_NAME}" for level in self.levels)

    def values(self, column: Any) -> Array:
        codes = self._codes(column)[:, None]
        return np.where(codes < 0, np.nan, codes == np.arange(len(self.levels)))

    def decoded_column(self, features: Array) -> Array:
        return self._words(features.argmax(axis=1))

    def unknown(self, column: Any) -> list[str]:
        return sorted(
            word for word, code in self._codes_of_words(column).items() if word and code < 0
        )

    def _words(self, codes: Array) -> Array:
        words = np.array(self.levels, dtype=object)[np.clip(codes, 0, len(self.levels) - 1)]
        words[words == MISSING_LEVEL] = None
        return words

    def _codes(self, column: Any) -> Array:
        """The number of each value among the levels, −1 where it is none of them."""
        codes = self._codes_of_words(column)
        return np.array([codes[word] for word in words_of(column)], dtype=np.int64)

    def _codes_of_words(self, column: Any) -> dict[str, int]:
        """The number of each different value."""
        exact = {level: code for code, level in enumerate(self.levels)}
        return {word: exact.get(word, -1) for word in set(words_of(column))}


class Ordered(Category):
    """A category with an order: the number of the level, from 0."""

    kind = "ordered"
    is_category = False

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name,)

    def values(self, column: Any) -> Array:
        codes = self._codes(column)
        return np.where(codes < 0, np.nan, codes)[:, None]

    def decoded_column(self, features: Array) -> Array:
        return self._words(np.rint(np.asarray(features[:, 0], dtype=float)).astype(int))

    def _codes_of_words(self, column: Any) -> dict[str, int]:
        """The number of each different value; case and accents do not matter."""
        codes = super()._codes_of_words(column)
        if min(codes.values(), default=0) >= 0:
            return codes
        alike = {plain_words(level): code for code, level in enumerate(self.levels)} | {"": -1}
        return {
            word: alike.get(plain_words(word), -1) if code < 0 else code
            for word, code in codes.items()
        }


class Time(Encoding):
    """A date: days since 1970."""

    kind = "time"

    def values(self, column: Any) -> Array:
        return _days(column, self.name)[:, None]

    def decoded_column(self, features: Array) -> Array:
        days = np.asarray(features[:, 0], dtype=float)
        return np.datetime64("1970-01-01") + np.round(days * 86400).astype("timedelta64[s]")


class Season(Encoding):
    """The time of the year of a date: the place of the day on a circle, two columns."""

    kind = "season"

    @property
    def features(self) -> tuple[str, ...]:
        return (f"{self.name} (winter)", f"{self.name} (spring)")

    def values(self, column: Any) -> Array:
        angle = 2 * np.pi * _days(column, self.name) / DAYS_PER_YEAR
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def decoded_column(self, features: Array) -> Array:
        return np.full(len(features), np.nan)  # the year is not known


KINDS: dict[str, type[Encoding]] = {
    one.kind: one for one in (Number, Logarithm, Category, Ordered, Time, Season)
}


def category(name: str, column: Any, levels: Sequence[str] | None = None) -> Category:
    """The encoding of a column of categories."""
    known = sorted({word for word in words_of(column) if word}) if levels is None else levels
    if len(known) > MAX_LEVELS:
        raise InvalidInput(
            f"'{name}' has {len(known)} different values, and categories may have {MAX_LEVELS}: "
            "it names the rows rather than describing them; ",
            Argument("exclude", [name]),
            " leaves it out",
        )
    return Category(name, tuple(known))


def words_of(column: Any) -> list[str]:
    """The values of a column as text, "" where there is none."""
    return ["" if _is_missing(value) else _word(value) for value in np.asarray(column).tolist()]


def _word(value: Any) -> str:
    """Whole numbers are the same category with and without their decimal point."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value).strip()


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def plain_words(text: str) -> str:
    """The words without case, accents, a leading number, and marks around them."""
    text = LEADING_NUMBER_PATTERN.sub("", text.strip().lower().replace("ß", "ss"))
    letters = unicodedata.normalize("NFKD", text.replace("’", "'"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[\s_]+", " ", bare).strip(" .,;:!()[]\"'")


def _numbers(column: Any, name: str) -> Array:
    try:
        return np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError) as error:  # new rows, with a word where the old had numbers
        raise InvalidInput(
            f"'{name}' must be a column of numbers, as in the table of the map: {error}; change "
            "it in the file, empty where a value is missing"
        ) from error


def _days(column: Any, name: str) -> Array:
    dates = as_dates(column)
    if dates is None:
        raise InvalidInput(
            f"'{name}' is no column of dates that can be read; write them as 2021-12-31"
        )
    return np.asarray((dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D"))


def encoded_columns(encodings: Sequence[Encoding], columns: Mapping[str, Any]) -> Array:
    """The columns of X that named columns become, side by side."""
    return np.concatenate([rule.values(columns[rule.name]) for rule in encodings], axis=1)


def features_of(encodings: Sequence[Encoding]) -> tuple[str, ...]:
    """The names of the columns of X."""
    return tuple(feature for rule in encodings for feature in rule.features)


def sources_of(encodings: Sequence[Encoding]) -> tuple[str, ...]:
    """For each column of X the column of the table that it comes from."""
    return tuple(rule.name for rule in encodings for _ in rule.features)


def is_mixed(encodings: Sequence[Encoding]) -> bool:
    """Whether there is more than numbers."""
    return not all(rule.is_numeric for rule in encodings)


def indicators(encodings: Sequence[Encoding]) -> Array:
    """Which columns of X are the 0 and 1 of a category."""
    return np.array([rule.is_category for rule in encodings for _ in rule.features], dtype=bool)


def level_places(encodings: Sequence[Encoding]) -> tuple[tuple[int, ...], ...]:
    """For each category the places of its columns of X."""
    places, first = [], 0
    for rule in encodings:
        last = first + len(rule.features)
        places += [tuple(range(first, last))] if rule.is_category else []
        first = last
    return tuple(places)


def to_json(encodings: Sequence[Encoding]) -> list[dict[str, Any]]:
    """JSON-ready; `from_json` makes the same of it."""
    return [rule.to_json() for rule in encodings]


def from_json(stated: Any) -> tuple[Encoding, ...]:
    """Encodings that a file states; another program may have written it."""
    try:
        encodings = tuple(
            KINDS[s["kind"]](s["name"], tuple(s["levels"]), s["unit"]) for s in stated
        )
        units = all(isinstance(rule.unit, float) and 0 <= rule.unit < np.inf for rule in encodings)
        words = [word for rule in encodings for word in (rule.name, *rule.levels)]
        texts = all(isinstance(word, str) for word in words)
        if units and texts:
            return encodings
    except (TypeError, KeyError, AttributeError):
        pass
    raise DamagedFile("it states its columns in an unknown form")
