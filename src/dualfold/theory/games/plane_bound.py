"""A lower bound of the minimum from gradients alone, kept up to date round by round.

Every gradient is a plane under f. With rounding, a plane taken at z says for all x

    f(x) ≥ h + ⟨y, x − z⟩ − s‖x − z‖ + (μ/2)‖x − z‖²

with h ≤ f(z) and s at least the error of the slope y, both proved (`Convex.plane`), and μ a
proved bound of the curvature (0, or a little below 0, where nothing is known). Any weighted
mean of planes is such a bound, too; its own rounding is added to s. So with o the first z

    f(x) ≥ C + ⟨ȳ, x − o⟩ − s‖x − o‖ + (μ/2)‖x − o‖²

For *every* slope v, ψ carries ⟨v, x − o⟩ + ψ(x) ≥ b (`Convex.share`), and what is left of
ȳ, r = ȳ − v, is met by what else is known:

    min f + ψ  ≥  C + b                                            if r = 0, s = 0
    min f + ψ  ≥  C + b + ⟨r, c − o⟩ − R‖r‖ − s(‖c − o‖ + R)       on a ball (c, R)
    min f + ψ  ≥  C + b − (‖r‖ + s)²/2μ                            if μ > 0

Which v is tried decides how good the bound is, never whether it is true. The second line is
about the whole problem only if a minimiser lies in the ball, which the caller states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.arithmetic import EPS, OPERATIONS_UNDERFLOW
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    dot,
    interval,
    length,
    upper_product,
    upper_sum,
)
from dualfold.theory.games.convex_functions import Convex, PlayerMove
from dualfold.theory.games.convex_sets import Ball
from dualfold.theory.games.planes import NO_BOUND, bowl_minimum, difference, lower_sum

MAX_MULTIPLIERS = 40  # usually a few are enough
FIRST_MULTIPLIER_SHARE = 1e-9  # of the multiplier that would do without ψ
# Of values and slopes of the caller's own function: an ordinary formula rounds far less.
GUESSED_ROUNDING = 1e-9


class MeanPlane:
    """The weighted mean of planes, seen from one origin: height + ⟨slope, w⟩ − slack·‖w‖."""

    def __init__(self) -> None:
        self.height, self.slope, self.slack = 0.0, np.zeros(1), 0.0

    def add(self, height: float, slope: Array, slack: float, share: float) -> None:
        """(1 − share) of what there is and `share` of the new plane, rounding included.

        Both shares add up to 1 and none is negative whatever rounding did to `share`, so
        the result is a mean of planes under f.
        """
        step = share * (slope - self.slope)
        mean = self.slope + step
        rounding = EPS * upper_sum(2 * length(step), length(mean))
        if rounding:
            rounding = upper_sum(rounding, mean.size * OPERATIONS_UNDERFLOW)
        kept = 1.0 - Interval(share)
        self.slack = upper_sum(
            upper_product(kept.high(), self.slack), upper_product(share, slack), rounding
        )
        self.slope = mean
        self.height = (kept * self.height + Interval(share) * height).low()


class Bound(NamedTuple):
    """Proved bound of min f + ψ, and of the best response to the mean plane.

    free, in_ball : lower bounds of the minimum, without the stated ball and with it
    response : a lower bound of ⟨ȳ, x⟩ + ψ(x), over the ball if one was stated
    """

    free: float
    in_ball: float
    response: float


class LowerBound:
    """The planes seen so far under f, and the least value they allow to f + ψ."""

    def __init__(self, f: Convex, simple: Convex, minimiser_ball: Ball | None) -> None:
        self.f, self.simple, self.minimiser_ball = f, simple, minimiser_ball
        self.weight, self.furthest = 0.0, 0.0
        self.curvature, self.concavity = f.strong_convexity, f.concavity
        self.flat, self.curved_mean = MeanPlane(), MeanPlane()
        self.origin: Array | None = None
        self.lacks = ""
        self.last: tuple[Array, Array] | None = None
        self.steepest = 0.0
        self.refuted = self.refuted_smoothness = ""

    @property
    def slope(self) -> Array:
        """ȳ, the mean slope."""
        return self.flat.slope

    def add(self, y: PlayerMove, weight: float) -> None:
        """Add a plane: that of the point where y is the gradient."""
        self.weight += weight
        share = min(1.0, weight / self.weight)
        try:
            z = self.f.maximiser(y.point) if y.taken_at is None else y.taken_at
            plane = self.f.plane(z)
        except InvalidInput as error:
            self.lacks, self.flat.height = str(error), NO_BOUND
            return
        if not self.f.rounding_bounded:
            self._compare_with_last(z, plane.slope)
        if self.origin is None:
            self.origin = z
        away = interval(z) - self.origin
        far = length(away)
        self.furthest = max(self.furthest, far)
        lost = upper_product(plane.slack, far)
        height = lower_sum(plane.height, -dot(plane.slope, away).high(), -lost)
        self.flat.add(height, plane.slope, plane.slack, share)
        mu = self.curvature
        if mu > 0:
            tilt = plane.slope - mu * away
            slack = upper_sum(plane.slack, length(tilt.off))
            up = lower_sum(height, (dot(away, away) * mu * 0.5).low())
            self.curved_mean.add(up, tilt.mid, slack, share)

    def _compare_with_last(self, z: Array, slope: Array) -> None:
        """Hold what the caller states of f against its slopes at two points, d apart:

        μ‖d‖² ≤ ⟨∇f(z) − ∇f(x), d⟩ ≤ L‖d‖²
        """
        before, self.last = self.last, (z, slope)
        self.steepest = max(self.steepest, float(np.linalg.norm(slope)))
        d = z - (z if before is None else before[0])
        square = float(np.vdot(d, d))
        if before is None or square == 0 or not np.isfinite(self.steepest):
            return
        bend = float(np.vdot(slope - before[1], d))
        noise = GUESSED_ROUNDING * self.steepest * float(np.sqrt(square))
        words = "its slopes at two points of the run contradict that"
        if not self.refuted and bend < self.curvature * square - noise:
            self.refuted = f"stated was that {self.f.assumption}; {words}"
        L = self.f.smoothness
        if not self.refuted_smoothness and bend > L * square + noise:
            self.refuted_smoothness = (
                f"steps and bounds are those of a smoothness of {L:.4g}, but f has at least "
                f"{bend / square:.4g} between two points of the run"
            )

    def bound(self) -> Bound:
        """The best that is proved so far."""
        if self.origin is None or self.lacks:
            return Bound(NO_BOUND, NO_BOUND, NO_BOUND)
        with np.errstate(all="ignore"):
            anywhere = self._bound_of_whole_plane(self.origin)
            best = anywhere
            if self.minimiser_ball is not None:
                best = max(anywhere, self._bound_in_ball(self.minimiser_ball, self.origin))
            free = max(lower_sum(self.flat.height, anywhere), self._bound_by_curvature(self.origin))
            with_ball = max(free, lower_sum(self.flat.height, best))
            return Bound(free, with_ball, best + float(np.vdot(self.slope, self.origin)))

    def _bound_of_whole_plane(self, origin: Array) -> float:
        """Where ψ carries the whole mean plane."""
        share = self.simple.share(self.slope, self.flat.slack, origin)
        whole = share.bound if share.is_whole else NO_BOUND
        return lower_sum(whole, -self._concavity_loss(self.simple.reach(origin)))

    def _bound_by_curvature(self, origin: Array) -> float:
        """By strong convexity; v is what ψ pushes back with at the least point of the quadratic."""
        mu = self.curvature
        if mu <= 0:
            return NO_BOUND
        tilt = self.curved_mean.slope
        try:
            best = self.simple.proximal(origin - tilt / mu, 1 / mu)
        except InvalidInput:
            best = origin
        bound, rest, slack = self._split(tilt, tilt + mu * (best - origin), origin)
        slack = upper_sum(slack, self.curved_mean.slack)
        return lower_sum(
            self.curved_mean.height, bound, bowl_minimum(upper_sum(length(rest), slack), mu)
        )

    def _bound_in_ball(self, ball: Ball, origin: Array) -> float:
        """⟨ȳ, x − o⟩ − s‖x − o‖ + ψ(x) over the ball: the best of some v.

        All of ȳ, nothing of it, and what ψ pushes back with at the least point of
        ⟨ȳ, x⟩ + ψ(x) + (λ/2)‖x − c‖². The best multiplier λ puts that point on the sphere.
        """
        slope, middle = self.slope, ball.center
        least = self._bound_of_split(0.0 * slope, ball, origin)
        if self.simple.share(slope, 0.0, origin).rest is slope:
            return least  # ψ carries nothing
        least = max(least, self._bound_of_split(slope, ball, origin))
        steep = float(np.linalg.norm(slope))
        if steep == 0 or ball.radius == 0 or not np.isfinite(steep / ball.radius):
            return least
        usual = steep / ball.radius  # the best multiplier without ψ
        low, high, multiplier = 0.0, np.inf, FIRST_MULTIPLIER_SHARE * usual
        for turn in range(MAX_MULTIPLIERS):
            try:
                x = self.simple.proximal(middle - slope / multiplier, 1 / multiplier)
            except InvalidInput:
                return least
            away = float(np.linalg.norm(x - middle)) / ball.radius
            if not np.isfinite(away) or (turn == 0 and away <= 1):
                break  # the ball does not bind: all of ȳ is the best v
            least = max(
                least, self._bound_of_split(slope + multiplier * (x - middle), ball, origin)
            )
            # The bound is flat around its best multiplier: half the digits of it will do.
            if abs(away - 1) <= 1e-8 or high - low <= 1e-8 * low:
                break
            low, high = (multiplier, high) if away > 1 else (low, multiplier)
            multiplier = usual if turn == 0 else multiplier * away  # exact without ψ
            if not low < multiplier < high or turn % 3 == 2:
                multiplier = float(np.sqrt(low * high)) if high < np.inf else 4 * low
        return least

    def _bound_of_split(self, v: Array, ball: Ball, origin: Array) -> float:
        """Bound by what ψ holds of ȳ by v, and the ball of the rest."""
        bound, rest, slack = self._split(self.slope, v, origin)
        across = interval(ball.center) - origin
        reach = upper_sum(length(across), ball.radius)
        return lower_sum(
            bound,
            dot(rest, across).low(),
            -upper_product(ball.radius, length(rest)),
            -upper_product(upper_sum(slack, self.flat.slack), reach),
            -self._concavity_loss(reach),
        )

    def _split(self, slope: Array, v: Array, origin: Array) -> tuple[float, Array, float]:
        """Part of v that ψ carries, and what is left of `slope`, with a bound of its rounding."""
        share = self.simple.share(v, 0.0, origin)
        aside, off = difference(slope, v)
        rest = aside + share.rest
        return share.bound, rest, upper_sum(share.slack, off, EPS * length(rest))

    def _concavity_loss(self, reach: float) -> float:
        """(δ/2)‖x − z‖² ≤ δ(‖x − o‖² + ‖z − o‖²), where f may be a little concave."""
        if self.concavity == 0:
            return 0.0
        squares = Interval(reach) * reach + Interval(self.furthest) * self.furthest
        return (squares * self.concavity).high()

    def why_infinite(self) -> str:
        """Advice where nothing is proved."""
        if self.lacks:
            return f"y plays slopes that are no gradients, and {self.lacks}"
        concave = " (its least eigenvalue cannot be distinguished from 0)" if self.concavity else ""
        return (
            "the problem is on an unbounded set, so planes under f prove nothing; state a ball "
            "that holds a minimiser (minimiser_ball=Ball(radius, start)) or use a strongly convex "
            f"f{concave}"
        )
