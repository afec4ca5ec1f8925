"""How the numbers of a column are written: decimal mark, groups of digits, a unit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GROUP_MARKS = (",", ".", "'", "’", "_", "\u00a0", "\u202f", " ")
CURRENCY_WORDS = frozenset([
    "usd", "us$", "eur", "gbp", "chf", "jpy", "cny", "inr", "rs", "rs.", "r$", "brl", "cad",
    "aud", "sek", "nok", "dkk", "kr", "kr.", "fr.", "zł", "pln", "czk", "huf", "a$", "c$"
])  # fmt: skip
# A unit after a number, as %, °C, kg, km/h, years.
MAX_UNIT_CHARACTERS = 12
NUMBER_PATTERN = re.compile(
    r"(?P<sign>[-+−]?)(?P<before>[^\d\s.,+−()-]{0,4})\s*(?P<inner>[-+−]?)"
    r"(?P<digits>\d[\d.,'’_\s]*(?:[eE][-+]?\d+)?|[.,]\d+(?:[eE][-+]?\d+)?)"
    rf"(?P<after>\s*(?:[^\d\s.,+−()\[\]:;<>=-][^\d+]{{0,{MAX_UNIT_CHARACTERS - 1}}})?)"
)
INFINITE_WORDS = frozenset(("inf", "+inf", "-inf", "infinity", "-infinity"))
# Most numbers of a column show how all are written; more of them only cost time.
MAX_TRIED_NUMBERS = 2000


@dataclass(frozen=True)
class Notation:
    """Way in which all numbers of a column are written."""

    decimal: str = "."
    thousands: str = ""
    unit: tuple[str, str] = ("", "")

    def words(self, decimal: str | None) -> str:
        """Words for marks that are unusual; "" for plain numbers, whatever the decimal mark."""
        parts = []
        if any(self.unit):
            parts.append(f"in {' '.join(filter(None, self.unit))}")
        if self.thousands:
            parts.append(f"with '{self.thousands}' between thousands")
        if self.decimal not in (".", decimal):
            parts.append(f"with '{self.decimal}' as decimal mark")
        return " and ".join(parts)

    def number(self, value: Any) -> float | None:
        """The number that a cell stands for; None where it stands for none."""
        if not isinstance(value, str):
            return float(value)
        if value.strip().lower() in INFINITE_WORDS:
            return float(value)
        parts = _parts(value)
        if parts is None or parts[1] != self.unit:
            return None
        return self.plain_number(parts[0])

    def plain_number(self, text: str) -> float | None:
        """The number of its digits."""
        if self.thousands and self.thousands in text:
            if not _is_grouped(text, self.thousands, self.decimal):
                return None
            text = text.replace(self.thousands, "")
        elif self.decimal != "." and "." in text:
            return None
        try:
            return float(text.replace(self.decimal, ".")) if "_" not in text else None
        except ValueError:
            return None


def is_written_number(text: str) -> bool:
    """Whether a cell is a number in some notation."""
    try:
        return float(text) == float(text)
    except ValueError:
        parts = _parts(text)
    return parts is not None and _with_marks([parts[0]], parts[1], None, None) is not None


def has_unit(text: str) -> bool:
    """Whether a number is written with something beside it."""
    parts = _parts(text)
    return parts is not None and any(parts[1])


def notation_of(
    counts: Mapping[Any, int],
    decimal: str | None,
    thousands: str | None,
    *,
    max_words: int,
) -> Notation | None:
    """The notation in which most of these cells are numbers; None where none is.

    counts : the different cells, each with how often it occurs
    decimal, thousands : the marks, where they are known
    max_words : None, too, where more different cells than so many hold no digits of a number
    """
    known: dict[str, tuple[str, tuple[str, str]] | None] = {}
    words = 0
    for text in counts:
        if isinstance(text, str) and text.lower() not in INFINITE_WORDS:
            known[text] = _parts(text)
            words += known[text] is None
            if words > max_words:
                return None
    units: dict[tuple[str, str], int] = {}
    for text, parts in known.items():
        if parts is not None:
            units[parts[1]] = units.get(parts[1], 0) + counts[text]
    plain = sum(count for text, count in counts.items() if not isinstance(text, str))
    if not units:
        return Notation() if plain else None
    unit = max(units, key=lambda mark: units[mark])
    if plain > units[unit]:
        unit = ("", "")
    texts = [parts[0] for parts in known.values() if parts is not None and parts[1] == unit]
    return _with_marks(texts[:MAX_TRIED_NUMBERS], unit, decimal, thousands)


def _with_marks(
    texts: list[str], unit: tuple[str, str], decimal: str | None, thousands: str | None
) -> Notation | None:
    """The first pair of marks with which most numbers can be read."""
    best, most = None, 0
    for point in (decimal,) if decimal else (".", ","):
        for mark in (thousands,) if thousands else ("", *GROUP_MARKS):
            if mark == point:
                continue
            notation = Notation(point, mark, unit)
            read = sum(notation.plain_number(text) is not None for text in texts)
            if read > most:
                best, most = notation, read
            if read == len(texts):
                break
    return best


def _is_grouped(text: str, mark: str, decimal: str) -> bool:
    sign, point = re.escape(mark), re.escape(decimal)
    return bool(
        re.fullmatch(rf"[-+]?\d{{1,3}}(?:{sign}\d{{3}})+(?:{point}\d*)?(?:[eE][-+]?\d+)?", text)
    )


def _parts(text: str) -> tuple[str, tuple[str, str]] | None:
    """The signed digits of a number and what stands before and after them."""
    text = text.strip()
    negative = text.startswith("(") and text.endswith(")")  # as accountants write
    match = NUMBER_PATTERN.fullmatch(text[1:-1].strip() if negative else text)
    if match is None:
        return None
    before, after = match["before"].strip(), match["after"].strip()
    if before and not _is_currency(before):
        return None
    minus = negative + sum(match[part] in "-−" and match[part] != "" for part in ("sign", "inner"))
    digits = match["digits"].strip()
    return ("-" if minus % 2 else "") + digits, (before, after)


def _is_currency(text: str) -> bool:
    signs = all(unicodedata.category(letter) == "Sc" for letter in text)
    return text.lower() in CURRENCY_WORDS or signs
