"""What a certificate may say: one vocabulary for every certificate of dualfold.

proved : true for every input; the gap is at most the caller's tolerance
within : proved as well, but the gap is larger than the tolerance: "within 12 %"
within reach : proved for all points up to a stated size, where none is known to be larger
    (programs whose variables have no bounds)
measured : true but for a stated chance
unresolved : double precision cannot tell; the words say what it can tell
stationary : no bound exists for this problem; the gradient vanishes up to the tolerance
not stationary : no bound exists either, and the gradient does not vanish: more steps would help
failed : shown to be wrong, or nothing could be shown

`docs/proofs.md` has the sentence a user may rely on, for each level of each certificate.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from typing import Any, Literal

from dualfold.errors import Argument, InvalidInput

Level = Literal[
    "proved",
    "within",
    "within reach",
    "measured",
    "unresolved",
    "stationary",
    "not stationary",
    "failed",
]
# A gap of 1 allows twice the optimum: beyond it a bound is no word about an answer.
WORTHLESS = 1.0
# Larger gaps are given in percent.
PERCENT_FROM = 1e-3


def level_of(gap: float, tolerance: float) -> Level:
    """The level that a *proved* relative gap earns: proved, within or failed.

    >>> level_of(1e-9, 1e-4), level_of(0.12, 1e-4), level_of(2.0, 1e-4)
    ('proved', 'within', 'failed')
    """
    if gap <= tolerance:
        return "proved"
    return "within" if gap < WORTHLESS else "failed"


def checked_tolerance(tolerance: Any) -> float:
    """`tolerance` as a number in [0, 1]; NaN, infinity and the like would prove anything."""
    try:
        number = float(tolerance)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= WORTHLESS:
        raise InvalidInput(
            Argument("tolerance"),
            f" is {tolerance!r}; it must be a number from 0 to 1, the largest relative gap "
            "that passes (1e-4 is usual)",
        )
    return number


def distance(gap: float) -> str:
    """A relative gap in words: "to 3e-09", or "within 13 %" where percents say it better.

    >>> distance(3e-9), distance(0.123)
    ('to 3e-09 (relative)', 'within 13 %')
    """
    return f"within {share(gap)}" if gap > PERCENT_FROM else f"to {share(gap)} (relative)"


def share(gap: float) -> str:
    """A gap as a share, in percent where that is easier to read; rounded up, so that it is true.

    >>> share(3e-9), share(0.123), share(float("inf"))
    ('3e-09', '13 %', 'inf')
    """
    if not math.isfinite(gap):
        return str(gap)
    above = Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(gap)
    return f"{float(100 * above):g} %" if gap > PERCENT_FROM else f"{float(above):g}"
