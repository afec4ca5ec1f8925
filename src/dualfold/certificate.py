"""What every certificate of dualfold has: one base, one verdict, one form as JSON.

A certificate says how far an answer can be from the optimum. It is made from the problem and
the answer alone, and never from what a solver reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from dualfold.levels import Level, distance, share
from dualfold.shown import number, shown_html


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The verdict on an answer; `print` it.

    level : how much is known (`dualfold.levels`): "proved", "within", "within reach",
        "measured", "unresolved", "stationary", "not stationary" or "failed"
    gap : the largest possible distance from the optimum, relative to it; infinite where it is
        not known
    value, bound : what the answer reaches, and what no answer is better than; NaN where they
        are not known
    tolerance : the largest gap that passes; it comes from the caller
    reasons : what is short of "proved", in words
    about : what the statement is about, and what it assumes
    chance : the probability that a measured statement is wrong; 0 where it is proved
    complete : False where a better answer is known to exist, True where there is none beyond
        the gap, None where that is not decided
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
        """What is said of the answer where the level is no failure."""
        return f"optimal {distance(self.gap)}"

    @property
    def grounds(self) -> str:
        """Why that is known; "" where there is no more to say."""
        return ""

    @property
    def caveat(self) -> str:
        """A sentence, without its full stop, that belongs to the claim; mostly ""."""
        return ""

    def narrowed(self, words: str) -> Self:
        """The same certificate where it is about `words` only; "" leaves it as it is."""
        about = "; ".join(filter(None, [words, self.about]))
        return replace(self, about=about) if words else self

    def doubted(self, *doubts: str) -> Self:
        """The same certificate, failed for these reasons; itself if there are none."""
        if not doubts:
            return self
        return replace(self, level="failed", complete=None, reasons=(*doubts, *self.reasons))

    def __init_subclass__(cls, **more: Any) -> None:
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
                words += f" but for a chance of {self.chance:.0e}"
            words = "; ".join(filter(None, [words, self.grounds]))
        about = f"This is about {self.about}" if self.about else ""
        return ". ".join(filter(None, [words, self.caveat, about]))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings (numbers that are not finite: None)."""
        entries = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return entries | {"holds": self.holds, "verdict": str(self), "schema": self.schema}


def plain(item: Any) -> Any:
    """A number, text, tuple or certificate as JSON has it.

    >>> plain((1.0, float("inf"), ("a", None)))
    [1.0, None, ['a', None]]
    """
    if isinstance(item, Certificate):
        return item.to_dict()
    if isinstance(item, tuple | list):
        return [plain(entry) for entry in item]
    item = item.item() if isinstance(item, np.generic) else item
    if isinstance(item, float) and not math.isfinite(item):
        return None
    return item
