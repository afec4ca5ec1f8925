"""What a run may claim: one vocabulary with every other certificate (`dualfold.levels`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.games.convex import Convex
from dualfold.games.sets import Ball
from dualfold.games.sure import Sure
from dualfold.levels import Level, checked_tolerance, level_of

Array = np.ndarray[Any, np.dtype[Any]]
USUAL = 1e-4  # the relative gap that is "proved" where the caller names none


@dataclass(frozen=True)
class Terms:
    """What the bounds of a run rest on.

    tolerance : the relative gap that is called proved, from the caller
    assumed : what the caller stated and `lower` uses, in words; "": nothing
    unbounded : whose rounding is not bounded, in words; "": all of it is
    outside : the answer is no further than this from its set
    why_infinite : what to state where nothing is proved
    """

    tolerance: float = USUAL
    assumed: str = ""
    unbounded: str = ""
    outside: float = 0.0
    why_infinite: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """Bounds round by round, and the verdict on the last of them.

    upper : not below f + ψ at the point of each round
    lower : not above the minimum of f + ψ (of the stated ball, where `about` says so)
    terms : what these rest on
    """

    upper: Array
    lower: Array
    terms: Terms = field(default_factory=Terms)

    @property
    def gap(self) -> Array:
        """f + ψ is at most this above its minimum; the best lower bound so far is kept."""
        best = np.maximum.accumulate(self.lower)
        with np.errstate(invalid="ignore"):
            gap = self.upper - best
        gap = np.where(gap > 0, np.nextafter(gap, np.inf), 0.0)
        return np.where(np.isfinite(self.upper) & np.isfinite(best), gap, np.inf)

    @property
    def value(self) -> float:
        """The last upper bound."""
        return float(self.upper[-1])

    @property
    def bound(self) -> float:
        """The best lower bound."""
        return float(self.lower.max())

    @property
    def tolerance(self) -> float:
        """The relative gap that is called proved."""
        return self.terms.tolerance

    @property
    def relative_gap(self) -> float:
        """f + ψ ≤ minimum + relative_gap·|minimum|; infinite where the minimum may be 0."""
        gap = float(self.gap[-1])
        if gap == 0:
            return 0.0
        least = max(self.bound, -self.value)  # |minimum| is at least this
        if not np.isfinite(gap) or least <= 0:
            return np.inf
        return (Sure(gap) / least).high()

    @property
    def level(self) -> Level:
        """proved, within, unresolved or failed; see `reasons`."""
        if not np.isfinite(self.gap[-1]):
            return "failed"
        if self.terms.unbounded or (self.relative_gap == np.inf and self.bound <= 0 <= self.value):
            return "unresolved"
        return level_of(self.relative_gap, self.tolerance)

    @property
    def about(self) -> str:
        """What is judged, and what was assumed."""
        words = "f + ψ at the answer against its minimum"
        if self.terms.assumed:
            words += f", {self.terms.assumed}"
        if not np.isfinite(self.terms.outside):
            words += "; rounding may put the answer outside of its set, by how much is not known"
        elif self.terms.outside > 0:
            words += f"; the answer is at most {self.terms.outside:.1g} outside of its set"
        return words

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the level is not "proved"."""
        level, gap = self.level, float(self.gap[-1])
        if level == "proved":
            return ()
        if not np.isfinite(gap):
            return (f"the gap is infinite: {self.terms.why_infinite}",)
        if self.terms.unbounded:
            return (self.terms.unbounded,)
        if level == "unresolved":
            between = f"between {self.bound:.3g} and {self.value:.3g}"
            return (f"the minimum is {between}, which may be 0: the gap of {gap:.2g} is absolute",)
        return (f"the relative gap is {self.relative_gap:.2g}, asked for {self.tolerance:.2g}",)

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers and words."""
        return {
            "level": self.level,
            "value": self.value,
            "bound": self.bound,
            "gap": float(self.gap[-1]),
            "relative_gap": self.relative_gap,
            "tolerance": self.tolerance,
            "about": self.about,
            "reasons": list(self.reasons),
        }

    def sentence(self) -> str:
        """The verdict in words."""
        gap = float(self.gap[-1])
        if not np.isfinite(gap):
            return f"; the gap is infinite: {self.terms.why_infinite}"
        if self.terms.unbounded:
            return f", optimal to {gap:.2g} but for rounding: {self.terms.unbounded}"
        words = f", proved optimal to {gap:.2g}"
        if np.isfinite(self.relative_gap):
            words += f" ({self.relative_gap:.2g} of the minimum)"
        elif self.level == "unresolved":
            words += " (the minimum may be 0)"
        return words + (f", {self.terms.assumed}" if self.terms.assumed else "")


def terms_of(
    f: Convex, simple: Convex, answer: Array, tolerance: float, within: Ball | None, why: str
) -> Terms:
    """The terms of a run that ended at `answer`; `within` only if `lower` uses it."""
    strangers = [type(part).__name__ for part in (f, simple) if not part.rounding_bounded]
    words = f"the rounding of {' and '.join(strangers)} is not bounded" if strangers else ""
    assumed = ""
    if within is not None:
        assumed = f"if a minimiser lies in the stated ball of radius {within.radius:.4g}"
    return Terms(tolerance, assumed, words, simple.outside(answer), why)


def checked(tolerance: float | None, relative_tolerance: float) -> float:
    """The relative tolerance; the absolute one that stops a run is None or a number ≥ 0."""
    if tolerance is not None and not 0 <= tolerance < np.inf:
        raise InvalidInput(
            f"tolerance is {tolerance!r}; it must be None or a number ≥ 0, the gap that ends a run"
        )
    return checked_tolerance(relative_tolerance)
