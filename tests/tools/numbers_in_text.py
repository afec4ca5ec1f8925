"""Numbers with a unit of time, memory, share or ratio in a text, and whether values hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.measured import Value

# Each unit as a multiple of the one that values are compared in: seconds, bytes, shares, ratios.
UNITS = (
    dict.fromkeys(("s", "second", "seconds"), ("s", 1.0))
    | {"µs": ("s", 1e-6), "ms": ("s", 1e-3)}
    | dict.fromkeys(("min", "minute", "minutes"), ("s", 60.0))
    | dict.fromkeys(("hour", "hours"), ("s", 3_600.0))
    | {"kB": ("B", 1e3), "MB": ("B", 1e6), "GB": ("B", 1e9), "TB": ("B", 1e12)}
    | {"KiB": ("B", 2.0**10), "MiB": ("B", 2.0**20), "GiB": ("B", 2.0**30)}
    | {"%": ("share", 0.01), "share": ("share", 1.0)}
    | {"times": ("times", 1.0), "×": ("times", 1.0)}
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNITS = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)).replace("×", r"×(?!\s?\d)")
# "0.7 to 1.9, 0.9 and 0.7 µs": every number of such a list has the unit.
_LIST = rf"(?:\d[\d.]*(?:, \d[\d.]*)*(?: to | and | or | against |–)(?:\d[\d.]*, )*)*{_NUMBER}"
SHOWN = re.compile(rf"(?<![\w.,·^/-]){_LIST}[ \N{{NO-BREAK SPACE}}]?(?:{_UNITS})(?!\w)")
# Half of the last digit shown, and a little for values that were rounded themselves.
ROUNDING = 0.51


@dataclass(frozen=True)
class Shown:
    """A number as a text shows it, with the unit that values are compared in."""

    words: str
    value: float
    place: float  # of its last digit
    kind: str


def numbers_shown(text: str) -> Iterator[Shown]:
    """Each number that has a unit, or stands in a list whose last one has."""
    for found in SHOWN.finditer(text):
        unit = re.search(rf"(?:{_UNITS})$", found[0])
        assert unit is not None
        kind, factor = UNITS[unit[0]]
        for number in re.findall(_NUMBER, found[0]):
            plain = number.replace(",", "")
            place = 10.0 ** -len(plain.partition(".")[2])
            yield Shown(f"{number} {unit[0]}", float(plain) * factor, place * factor, kind)


def holds(values: Iterable[Value], shown: Shown) -> bool:
    """Whether a value, the ratio of two of one quantity, or their relative difference is shown."""
    known = [(one.quantity, *_comparable(one)) for one in values if _is_number(one.value)]
    candidates = [value for _, kind, value in known if kind == shown.kind]
    if shown.kind in ("times", "share"):
        ratios = [
            here / there
            for quantity, kind, here in known
            for other, _, there in known
            if other == quantity and kind != "share" and there
        ]
        candidates += ratios
        if shown.kind == "share":
            candidates += [abs(1 - ratio) for ratio in ratios]
    return any(abs(value - shown.value) <= ROUNDING * shown.place for value in candidates)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", text) is not None


def _comparable(value: Value) -> tuple[str, float]:
    kind, factor = UNITS.get(value.unit, ("", 1.0))
    return kind, float(value.value) * factor
