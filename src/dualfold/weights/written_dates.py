"""Dates that are written as text: what looks like one, and which days they are."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dualfold.arrays import Array

ISO_DATE_PATTERN = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?")
YEAR_MONTH_PATTERN = re.compile(r"(?:19|20)\d\d[-/](?:0[1-9]|1[0-2])")
MONTH_PATTERN = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# 3 Mar 2021, 03-Mar-2021, March 3, 2021, Mar 2021
NAMED_MONTH_PATTERN = re.compile(
    rf"(?:\d{{1,2}}[\s./-]*)?{MONTH_PATTERN}[\s./-]*(?:\d{{1,2}},?\s+)?\d{{4}}", re.IGNORECASE
)
SHORT_DATE_PATTERN = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ].*)?")
# A first cell as this makes a column one of dates.
DATE_PATTERN = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}.*"
    rf"|{YEAR_MONTH_PATTERN.pattern}|{NAMED_MONTH_PATTERN.pattern}",
    re.IGNORECASE,
)


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
    matches = [SHORT_DATE_PATTERN.fullmatch(word) for word in words]
    if not all(matches):
        return None
    firsts = max(int(match[1]) for match in matches if match)
    seconds = max(int(match[2]) for match in matches if match)
    return None if (firsts > 12) == (seconds > 12) else firsts > 12


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
