"""Where to put a floor under the rest of the spectrum, and the bracket that follows from it.

With at most c eigenvalues of (A', B) below μ and c trial directions whose Rayleigh quotients h
lie below μ, write P = μ − diag(h), R for the residuals, K = VᵀR, E = VᵀBV − I. Lehmann's bounds
of the c smallest eigenvalues add up to

    cμ + tr(G⁻¹S),   G = Vᵀ(A' − μB)V = −(P + F),  F = EP − K,   S = Vᵀ(A' − μB)B⁻¹(A' − μB)V

and with S = −PG − KᵀP + RᵀB⁻¹R that is tr(VᵀA'V(VᵀBV)⁻¹), the value of the trial space, less

    tr(F(P + F)⁻¹Kᵀ) − tr(E(I + E)⁻¹K) + tr((P + F)⁻¹RᵀB⁻¹R)

in which every term is a product of two small ones. For E = K = 0 it is Temple's Σ r²/(μ − h).
`temple_loss` bounds it from above, so the distance of a value from the optimum is known to
second order in the residuals and in the rounding, whatever produced V.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.rounding import UP
from dualfold.trace.proof.trial_directions import Trial

# Heights closer to a value than this share of the spectrum are not tried: rounding of a
# factorisation decides there.
MIN_HEIGHT_STEP = 1e-13
# By how much the step below a value grows when rounding, or a missed direction, spoils a count.
HEIGHT_STEP_FACTORS = (1.0, 30.0, 1e3, 3e4, 1e6)


@dataclass(frozen=True, eq=False)
class Bracket:
    """lower ≤ optimum, and the value of the answer is at most `apart` above the optimum.

    `blurred` is how much of `apart` is there only because of rounding.
    """

    lower: float
    apart: float
    blurred: float
    value: float
    value_blur: float

    @property
    def gap(self) -> float:
        """A bound of (value − optimum)/|optimum|; infinite where the optimum may be 0."""
        if not np.isfinite(self.lower):
            return float("inf")
        highest = self.value + self.value_blur
        size = self.lower if self.lower > 0 else -highest
        if size > 0:
            return max(self.apart, 0.0) / size * UP + 8 * UNIT_ROUNDOFF
        return 0.0 if self.apart <= 0 and self.lower == highest else float("inf")


NO_BRACKET = Bracket(-np.inf, np.inf, 0.0, np.nan, np.inf)


def temple_loss(some: Trial, height: float) -> tuple[float, float]:
    """An upper bound of (value of the trial space − Lehmann's sum), and rounding's share of it."""
    if not len(some.h):
        return 0.0, 0.0
    room = (height - some.h) * (1 - 4 * UNIT_ROUNDOFF) - 2 * UNIT_ROUNDOFF * np.abs(some.h)
    narrow, wide = float(room.min()), float(room.max())
    if narrow <= 0 or not some.skew < 0.5:
        return np.inf, np.inf
    ratio = np.sqrt(wide / narrow)
    coupled = some.skew * ratio + some.leak / narrow
    if not coupled < 0.5:
        return np.inf, np.inf
    small = some.skew * some.leak / (1 - some.skew)
    small += coupled / (1 - coupled) * some.leak * ratio
    temple = float((some.squares / room).sum()) / (1 - coupled)
    rounded = float((some.rounded**2 / room).sum()) / (1 - coupled)
    return UP * (small + temple), UP * (small + 4 * rounded)


def bracket(answer: Trial, below: Trial | None, floor: SpectralFloor) -> Bracket:
    """The bracket that follows from a floor (module docstring).

    `below` are c trial directions, any at all, with quotients under the floor; the answer's own
    first c where it is None.
    """
    d, c = len(answer.h), floor.below
    value, blur = answer.total, answer.total_blur
    if floor.seen is None or floor.seen > c or (below is None and c > d):
        return NO_BRACKET
    if c == d and below is None and floor.height <= answer.h[-1]:
        # A count of the whole space is no bound for the complement of V.
        whole = floor.proof not in ("norm", "Cholesky", "random")
        return NO_BRACKET if whole else _below_the_last(answer, floor.height)
    head = answer.first(c) if below is None else below
    lost, rounded = temple_loss(head, floor.height)
    if c == d and below is None:
        return Bracket(value - blur - lost, lost, rounded, value, blur)
    if c >= d:
        first_order = d * head.blur
        lower = float(head.h[:d].sum()) - first_order - lost
        apart = value + blur - lower
        return Bracket(lower, apart, rounded + first_order + blur, value, blur)
    lower = head.total - head.total_blur - lost + (d - c) * floor.height
    lower -= 4 * UNIT_ROUNDOFF * d * abs(floor.height)
    apart = value + blur - lower
    blurred = rounded + blur + head.total_blur + (d - c) * floor.error
    return Bracket(lower, apart, blurred, value, blur)


def _below_the_last(answer: Trial, height: float) -> Bracket:
    """A floor of the complement of V that does not reach h_d.

    Eigenvalues of the block matrix [[Θ, Cᵀ], [C, rest]] move by at most ‖C‖ from those of its
    diagonal, and ‖C‖ is at most the length of all residuals.
    """
    if not np.isfinite(height) or not answer.skew < 0.5:
        return NO_BRACKET
    d, value, blur = len(answer.h), answer.total, answer.total_blur
    moved = UP * d * float(np.sqrt(answer.squares.sum())) / (1 - answer.skew)
    lower = float(np.minimum(answer.h, height).sum()) - moved - blur
    return Bracket(lower, value + blur - lower, blur, value, blur)


@dataclass(frozen=True)
class TrialHeight:
    """A height to try: c, where, and the distance to h_c+1 if it was put below that."""

    below: int
    at: float
    under: float | None = None


def trial_heights(
    answer: Trial,
    wider: Callable[[], Trial | None],
    following: float | None,
    scale: float,
    tolerance: float,
) -> Iterator[TrialHeight]:
    """Floors worth trying, the most promising first.

    Inside the eigengap that a guard vector suggests; in a wider gap further up, below which there
    are good directions; below the last cluster, where one more copy of a repeated eigenvalue is
    not counted as missed (it costs (d − c)·δ); and guesses between, which a count decides.
    """
    h, d = answer.h, len(answer.h)
    last = float(h[-1])
    worst = float(np.sqrt(answer.squares.max()))
    delta = max(min(2.5e-8, tolerance / 32) * abs(last), 8 * worst, MIN_HEIGHT_STEP * scale)
    room = None if following is None else following - last
    if room is not None and room > 4 * delta:
        yield TrialHeight(d, last + room / 3)
    further = wider()
    if further is not None:
        yield from _wide_gaps(answer, further, room)
    for widen in HEIGHT_STEP_FACTORS:
        under = widen * delta
        c = d - 1
        while c and h[c] - h[c - 1] < 2 * under:
            c -= 1
        yield TrialHeight(c, float(h[c]) - under, under)
    step = 0.5 * max(abs(last), abs(last - float(h[0])), delta)
    for _ in range(4):
        yield TrialHeight(d, last + step)
        step /= 4


def _wide_gaps(answer: Trial, wider: Trial, room: float | None) -> list[TrialHeight]:
    """Heights in up to two gaps behind guard vectors that are wider than the first gap."""
    d, found = len(answer.h), []
    lengths = np.sqrt(wider.squares)
    for c in range(d + 1, len(wider.h)):
        gap = float(wider.h[c] - wider.h[c - 1])
        if gap > 4 * max(room or 0.0, float(lengths[:c].max())):
            found.append((gap, TrialHeight(c, float(wider.h[c]) - gap / 2)))
    return [height for _, height in sorted(found, key=lambda pair: -pair[0])[:2]]
