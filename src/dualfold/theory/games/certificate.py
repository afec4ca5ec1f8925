"""What a run may claim, in the words of every other certificate (`dualfold.certificate`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import (
    DEFAULT_TOLERANCE,
    Certificate,
    Level,
    bound_text,
    checked_tolerance,
    level_of,
)
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic.intervals import Interval
from dualfold.theory.games.convex_sets import Ball
from dualfold.theory.games.plane_bound import GUESSED_ROUNDING, LowerBound


@dataclass(frozen=True)
class RunTerms:
    """Ground of the bounds of a run: tolerance, assumptions, contradictions.

    tolerance : the relative gap that is called proved, from the caller
    assumed : what the caller stated and `lower` uses, in words; "": nothing
    refuted : what the points of the run contradict of that; "": nothing
    refuted_smoothness : how they contradict a stated smoothness, which only guarantees use
    unbounded : the functions whose rounding is not bounded, in words; "": none
    outside : the answer is no further than this from its set
    why_infinite : what to state where nothing is proved
    """

    tolerance: float = DEFAULT_TOLERANCE
    assumed: str = ""
    refuted: str = ""
    refuted_smoothness: str = ""
    unbounded: str = ""
    outside: float = 0.0
    why_infinite: str = ""

    @property
    def about(self) -> str:
        """Statement of what is judged, and of what was assumed."""
        words = "f + ψ at the answer against its minimum"
        if self.assumed:
            words += f", {self.assumed}"
        if not np.isfinite(self.outside):
            words += "; rounding may put the answer outside of its set, by how much is not known"
        elif self.outside > 0:
            words += f"; the answer is at most {bound_text(self.outside, 1)} outside of its set"
        return words


@dataclass(frozen=True, kw_only=True)
class GameCertificate(Certificate):
    """The verdict on the answer of a game; `print` it.

    value, bound : not below f + ψ at the answer, not above its minimum
    absolute_gap : f + ψ is at most this above its minimum, which holds where a minimum near 0
        leaves no relative gap

    The rest is as in every `dualfold.Certificate`.
    """

    absolute_gap: float

    schema: ClassVar[str] = "dualfold.game/1"

    @property
    def grounds(self) -> str:
        """Reason that excludes a smaller value."""
        return f"the planes seen under f exclude any value below {self.bound:.6g}"


@dataclass(frozen=True, eq=False, kw_only=True)
class RunBounds:
    """Bounds round by round, and the verdict on the last of them.

    upper : not below f + ψ at the point of each round
    lower : not above the minimum of f + ψ (of the stated ball, where `about` says so)
    terms : what these rest on
    """

    upper: Array
    lower: Array
    terms: RunTerms = field(default_factory=RunTerms)

    @property
    def gap(self) -> Array:
        """Bound of the distance from the minimum after each round, by the best lower bound so far.

        It is infinite if the run contradicts what the bounds assume.
        """
        if self.contradiction:
            return np.full(len(self.upper), np.inf)
        best = np.maximum.accumulate(self.lower)
        with np.errstate(invalid="ignore"):
            gap = self.upper - best
        gap = np.where(gap > 0, np.nextafter(gap, np.inf), 0.0)
        return np.where(np.isfinite(self.upper) & np.isfinite(best), gap, np.inf)

    @cached_property
    def certificate(self) -> GameCertificate:
        """Certificate of the last round."""
        value, bound, gap = float(self.upper[-1]), float(self.lower.max()), float(self.gap[-1])
        relative, terms = _relative(gap, value, bound), self.terms
        level = level_of(relative, terms.tolerance)
        if not np.isfinite(gap):
            level = "failed"
        elif terms.unbounded or (relative == np.inf and bound <= 0 <= value):
            level = "unresolved"
        return GameCertificate(
            level=level,
            gap=relative,
            value=value,
            bound=bound,
            tolerance=terms.tolerance,
            reasons=(self.contradiction,)
            if self.contradiction
            else _reasons(level, gap, relative, (bound, value), terms),
            about=terms.about,
            absolute_gap=gap,
        )

    @property
    def contradiction(self) -> str:
        """Contradiction of the run to what the caller stated, in words; "" if there is none."""
        met, bound = self.upper[np.isfinite(self.upper)], float(self.lower.max())
        if self.terms.refuted or not self.terms.assumed or not len(met):
            return self.terms.refuted
        noise = GUESSED_ROUNDING * (np.abs(met).max() + abs(bound))
        if np.isfinite(bound) and bound > met.min() + noise:
            least = f"{float(met.min()):.6g}"
            return f"a value of {least} was met; {self.terms.assumed}, none is below {bound:.6g}"
        return ""

    @property
    def level(self) -> Level:
        """Level of the last round; `certificate` has the rest."""
        return self.certificate.level

    def sentence(self) -> str:
        """Describe the verdict as the end of a sentence.

        Returns
        -------
        str
            The words.
        """
        gap = float(self.gap[-1])
        if self.contradiction:
            return f"; nothing is known of the minimum: {self.contradiction}"
        if not np.isfinite(gap):
            return f"; the gap is infinite: {self.terms.why_infinite}"
        if self.terms.unbounded:
            words = f", optimal to {bound_text(gap)} but for rounding: {self.terms.unbounded}"
            return words + (f"; it holds {self.terms.assumed}" if self.terms.assumed else "")
        words = f", proved optimal to {bound_text(gap)}"
        if np.isfinite(self.certificate.gap):
            words += f" ({bound_text(self.certificate.gap)} of the minimum)"
        elif self.level == "unresolved":
            words += " (the minimum may be 0)"
        return words + (f", {self.terms.assumed}" if self.terms.assumed else "")


def _relative(gap: float, value: float, bound: float) -> float:
    """f + ψ ≤ minimum + this·|minimum|; infinite where the minimum may be 0."""
    if gap == 0:
        return 0.0
    least = max(bound, -value)  # |minimum| is at least this
    if not np.isfinite(gap) or least <= 0:
        return np.inf
    return (Interval(gap) / least).high()


def _reasons(
    level: Level, gap: float, relative: float, ends: tuple[float, float], terms: RunTerms
) -> tuple[str, ...]:
    """Why the level is not "proved"."""
    if level == "proved":
        return ()
    if not np.isfinite(gap):
        return (f"the gap is infinite: {terms.why_infinite}",)
    if terms.unbounded:
        return (terms.unbounded,)
    if level == "unresolved":
        between = f"between {ends[0]:.3g} and {ends[1]:.3g}"
        return (f"the minimum is {between}, which may be 0: the gap of {gap:.2g} is absolute",)
    return (f"the relative gap is {relative:.2g}, asked for {terms.tolerance:.2g}",)


def terms_of(
    bound: LowerBound, answer: Array, tolerance: float, ball: Ball | None, why: str
) -> RunTerms:
    """The terms of a run with these bounds that ended at `answer`; `ball` only if they use it."""
    strangers = [part for part in (bound.f, bound.simple) if not part.rounding_bounded]
    names = " and ".join(part.stated_name for part in strangers)
    assumed = [f"{part.assumption}, as stated" for part in strangers]
    if ball is not None:
        assumed.insert(0, f"a minimiser lies in the stated ball of radius {ball.radius:.4g}")
    return RunTerms(
        tolerance,
        assumed=f"if {' and '.join(assumed)}" if assumed else "",
        refuted=bound.refuted,
        refuted_smoothness=bound.refuted_smoothness,
        unbounded=f"the rounding of {names} is not bounded" if strangers else "",
        outside=bound.simple.outside_distance(answer),
        why_infinite=why,
    )


def validated_tolerances(tolerance: float | None, relative_tolerance: float) -> float:
    """The relative tolerance; the absolute one that stops a run is None or a number ≥ 0."""
    if tolerance is not None and not 0 <= tolerance < np.inf:
        raise InvalidInput(
            Argument("tolerance"),
            f" is {tolerance!r}; it must be None or a number ≥ 0, the gap that ends a run",
        )
    return checked_tolerance(relative_tolerance)
