"""What every certificate of dualfold has: one base, one verdict, one form as JSON.

A certificate says how far an answer can be from the optimum. It is made from the problem and
the answer alone, and never from what a solver reports. Its level is one of these words:

proved : true for every input; the gap is at most the caller's tolerance
within : proved as well, but the gap is larger than the tolerance: "within 12 %"
within reach : proved for all points up to a stated size, where none is known to be larger
    (programs whose variables have no bounds)
measured : true except with a stated probability
unresolved : double precision cannot tell; the words say what it can tell
stationary : no bound exists for this problem; the gradient vanishes up to the tolerance
not stationary : no bound exists either, and the gradient does not vanish: more steps would help
failed : shown to be wrong, or nothing could be shown

`docs/proofs.md` has the sentence a user may rely on, for each level of each certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from decimal import ROUND_CEILING, Context
from types import UnionType
from typing import Any, ClassVar, Literal, Self

from dualfold.errors import Argument, InvalidInput
from dualfold.notebook import number, shown_html

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
# The largest relative gap that is "proved" where the caller names none.
DEFAULT_TOLERANCE = 1e-4
# A caller's tolerance where certificates of several kinds are made, each with a default of its own.
Tolerance = float | Literal["default"]
# A gap of 1 allows twice the optimum: beyond it a bound is no word about an answer.
MAX_GAP = 1.0
# Larger gaps are given in percent.
PERCENT_FROM = 1e-3


def level_of(gap: float, tolerance: float) -> Level:
    """The level that a *proved* relative gap earns: proved, within or failed.

    >>> level_of(1e-9, 1e-4), level_of(0.12, 1e-4), level_of(2.0, 1e-4)
    ('proved', 'within', 'failed')
    """
    if gap <= tolerance:
        return "proved"
    return "within" if gap < MAX_GAP else "failed"


def checked_tolerance(tolerance: Any) -> float:
    """`tolerance` as a number in [0, 1]; NaN, infinity and the like would prove anything."""
    try:
        number = float(tolerance)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= MAX_GAP:
        usual = f"{DEFAULT_TOLERANCE:.0e}".replace("e-0", "e-")
        raise InvalidInput(
            Argument("tolerance"),
            f" is {tolerance!r}; it must be a number from 0 to 1, the largest relative gap "
            f"that passes ({usual} is usual)",
        )
    return number


def refuse_no_problem(
    problem: object, kind: type | UnionType, remedy: str, name: str = "problem"
) -> None:
    """Refuse what is no problem of this kind, as a table; `remedy` says where one comes from."""
    if not isinstance(problem, kind):
        kinds = kind.__args__ if isinstance(kind, UnionType) else (kind,)
        names = " or ".join(one.__name__ for one in kinds)
        raise InvalidInput(
            Argument(name), f" is of type {type(problem).__name__}, not {names}; {remedy}"
        )


def tolerance_or(default: float, tolerance: Tolerance) -> float:
    """The caller's tolerance, checked; `default` where it is "default".

    >>> tolerance_or(0.01, "default"), tolerance_or(0.01, 1e-9)
    (0.01, 1e-09)
    """
    return default if tolerance == "default" else checked_tolerance(tolerance)


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
    return bound_text(100 * gap) + " %" if PERCENT_FROM < gap < math.inf else bound_text(gap)


def bound_text(bound: float, digits: int = 2) -> str:
    """An upper bound in a few digits, rounded up, so that it is true.

    >>> bound_text(3.01e-14), bound_text(12.0), bound_text(8.8e-16, 1), bound_text(0.2, 1)
    ('3.1e-14', '12', '9e-16', '0.2')
    """
    if not math.isfinite(bound):
        return str(bound)
    above = float(f"{bound:.{digits - 1}e}")
    if above < bound:
        rounded_up = Context(prec=digits, rounding=ROUND_CEILING)
        above = float(rounded_up.create_decimal_from_float(bound))
    return f"{above:g}"


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Verdict on an answer, computed from the problem and the answer alone; print it.

    Every certificate of dualfold is one of these, with further attributes.

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known (see Notes).
    gap : float
        Largest possible distance from the optimum, relative to it; infinite if it is not known.
    value : float
        What the answer reaches; NaN if it is not known.
    bound : float
        What no answer is better than; NaN if it is not known.
    tolerance : float
        Largest gap that is called "proved"; it comes from the caller.
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about, and what it assumes.
    chance : float
        Probability that a measured statement is wrong; 0 if it is proved.
    complete : bool or None
        False if a better answer is known to exist, True if there is none beyond the gap, None if
        that is not decided.

    See Also
    --------
    dualfold.certify : Certificate of an answer to a trace problem.

    Notes
    -----
    The levels are

    - "proved": true for every input; the gap is at most the tolerance
    - "within": proved as well, but the gap is larger: "within 12 %"
    - "within reach": proved for all points up to a stated size
    - "measured": true except with a stated probability
    - "unresolved": double precision cannot decide
    - "stationary": no bound is known for this problem; the gradient vanishes up to the tolerance
    - "not stationary": no bound is known, and more steps would help
    - "failed": shown to be wrong, or nothing could be shown

    Examples
    --------
    >>> from dualfold import Certificate
    >>> found = Certificate(level="within", gap=0.12, value=1.12, bound=1.0, tolerance=1e-4)
    >>> print(found)
    within 12 % of the optimum
    >>> found.holds
    False
    """

    level: Level
    gap: float
    value: float
    bound: float
    tolerance: float
    reasons: tuple[str, ...] = ()
    about: str = ""
    chance: float = 0.0
    complete: bool | None = None

    schema: ClassVar[str] = "dualfold.certificate/1"
    # What the gap is a share of, in words; "" where nothing was optimised.
    optimum: ClassVar[str] = "the optimum"

    @property
    def holds(self) -> bool:
        """Whether the answer is as good as its caller asked for, proved or measured."""
        return self.level in ("proved", "measured") and bool(self.gap <= self.tolerance)

    @property
    def statement(self) -> str:
        """Claim about the answer, in words, at a level that is no failure."""
        return f"optimal {distance(self.gap)}"

    @property
    def grounds(self) -> str:
        """Why that is known; "" if there is no more to say."""
        return ""

    @property
    def caveat(self) -> str:
        """Sentence, without its full stop, that belongs to the claim; mostly ""."""
        return ""

    def with_scope(self, words: str) -> Self:
        """Restrict the statement to a part of the data.

        Parameters
        ----------
        words : str
            What the statement is about; "" changes nothing.

        Returns
        -------
        Certificate
            The same certificate with this scope.
        """
        about = "; ".join(filter(None, [words, self.about]))
        return replace(self, about=about) if words else self

    def with_doubts(self, *doubts: str) -> Self:
        """Turn the certificate into a failure for these reasons.

        Parameters
        ----------
        *doubts : str
            The reasons; without any the certificate itself is returned.

        Returns
        -------
        Certificate
            The failed certificate.
        """
        if not doubts:
            return self
        return replace(self, level="failed", complete=None, reasons=(*doubts, *self.reasons))

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        cls.__repr__ = Certificate.__repr__  # type: ignore[method-assign]  # dataclasses write their own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.level}, gap {number(self.gap)})"

    def _repr_html_(self) -> str:
        rows = [
            ("level", self.level),
            ("gap", f"{number(self.gap)} (passes up to {number(self.tolerance)})"),
            ("value, bound", f"{number(self.value)}, {number(self.bound)}"),
            *(("about", words) for words in [self.about] if words),
            *(("reason", words) for words in self.reasons),
        ]
        return shown_html("Was the problem solved?", str(self), rows)

    def __str__(self) -> str:
        if self.level in ("failed", "unresolved"):
            words = f"{self.level}: {'; '.join(self.reasons)}"
        else:
            words = f"{self.level}: {self.statement}"
            if self.level == "within":
                words = f"within {share(self.gap)} of {self.optimum}"
            if self.level == "measured":
                words += f" but for a chance of {bound_text(self.chance)}"
            words = "; ".join(filter(None, [words, self.grounds]))
        about = f"This is about {self.about}" if self.about else ""
        return ". ".join(filter(None, [words, self.caveat, about]))

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers, lists and strings, as JSON takes them.

        Returns
        -------
        dict
            The attributes; numbers that are not finite are None.
        """
        entries = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return entries | {"holds": self.holds, "verdict": str(self), "schema": self.schema}


def plain(item: object) -> Any:
    """A number, text, tuple or certificate as JSON has it.

    >>> plain((1.0, float("inf"), ("a", None)))
    [1.0, None, ['a', None]]
    """
    if isinstance(item, Certificate):
        return item.to_dict()
    if isinstance(item, tuple | list):
        return [plain(entry) for entry in item]
    item = item.item() if hasattr(item, "item") else item  # a number of NumPy
    if isinstance(item, float) and not math.isfinite(item):
        return None
    return item
