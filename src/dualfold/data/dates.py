"""Columns of dates written as text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ISO = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?")
SHORT = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ].*)?")


def as_dates(values: Any) -> Array | None:
    """Text that is dates, as datetime64; None if some of it is not, or days are ambiguous.

    Year first is understood; day or month first only where some number above 12 tells which.
    """
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return array
    words = ["" if _absent(value) else str(value).strip() for value in array.tolist()]
    known = [word for word in words if word]
    if array.dtype.kind not in "OUT" or not known:
        return None
    day_first = False
    if not all(ISO.fullmatch(word) for word in known):
        found = [SHORT.fullmatch(word) for word in known]
        if not all(found):
            return None
        firsts = max(int(match[1]) for match in found if match)
        seconds = max(int(match[2]) for match in found if match)
        if (firsts > 12) == (seconds > 12):
            return None
        day_first = firsts > 12
    import pandas as pd

    try:
        parsed = pd.to_datetime(words, format="mixed", dayfirst=day_first, utc=True)
    except (ValueError, OverflowError):
        return None
    return np.asarray(parsed.tz_localize(None).to_numpy())


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
