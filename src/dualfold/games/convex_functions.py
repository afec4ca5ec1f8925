"""Convex functions, as the players see them.

Everything in this room rests on one identity. With f*(y) = sup_x ⟨x, y⟩ − f(x),

    y ∈ ∂f(x)   ⇔   x ∈ ∂f*(y)   ⇔   f(x) + f*(y) = ⟨x, y⟩          (Fenchel, Young)

so the best response to a point is a gradient, the best response to a slope is a linear
minimiser, and the two are the same operation on a function and on its conjugate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.games.convex_sets import WHOLE_SPACE, ConvexSet
from dualfold.games.intervals import EPS, Interval, dot, interval, length, upper_product, upper_sum
from dualfold.games.planes import NO_BOUND, Plane, Share, bowl_minimum, lower_sum

# How far outside its domain, relatively, rounding may put a point.
DOMAIN_ROUNDING = 1e-12


class NoClosedForm(InvalidInput):
    """A function is asked for what it has no formula of."""


class Move(NamedTuple):
    """What a player does in a round.

    point : the point that it plays
    taken_at : for y, the point whose gradient `point` is; None: not a gradient
    anchor : what an optimistic player remembers for the next round
    """

    point: Array
    taken_at: Array | None = None
    anchor: Array | None = None


class Convex:
    """A closed convex function; each offers what it has in closed form.

    smoothness : L, the Lipschitz constant of the gradient (infinite: not smooth)
    strong_convexity : μ, so that f − (μ/2)‖x‖² is still convex
    concavity : δ, so that f + (δ/2)‖x‖² is convex for certain; 0 but for matrices whose
        least eigenvalue cannot be distinguished from 0
    gradient_bound : no subgradient is longer, anywhere

    All of these are bounds, whatever rounding does. Proofs ask for `value_interval`,
    `slope_interval`, `plane` and `share`; a function of your own that has only `value` and
    `subgradient` is played as if these were exact, and its run says that rounding is not bounded.
    """

    rounding_bounded: bool = False

    @property
    def concavity(self) -> float:
        """δ, so that f + (δ/2)‖x‖² is convex for certain."""
        return 0.0

    @property
    def smoothness(self) -> float:
        """L, the Lipschitz constant of the gradient; infinite: not smooth."""
        return np.inf

    @property
    def strong_convexity(self) -> float:
        """μ, so that f − (μ/2)‖x‖² is still convex; 0: none known."""
        return 0.0

    @property
    def gradient_bound(self) -> float:
        """G, no subgradient is longer; infinite: no bound known."""
        return np.inf

    def value(self, x: Array) -> float:
        """f(x), infinite outside the domain."""
        raise self._lacks("value")

    def subgradient(self, x: Array) -> Array:
        """Any y with f(z) ≥ f(x) + ⟨y, z − x⟩ for all z."""
        raise self._lacks("subgradient")

    def maximiser(self, y: Array) -> Array:
        """Where ⟨x, y⟩ − f(x) is largest: a subgradient of the conjugate."""
        raise self._lacks("maximiser of ⟨x, y⟩ − f(x)")

    def closed_conjugate(self, y: Array) -> float:
        """f*(y) by the maximiser, refused where it has no closed form."""
        x = self.maximiser(y)
        return float(np.vdot(x, y)) - self.cost(Move(x))

    def conjugate(self, y: Array) -> float:
        """f*(y) = sup_x ⟨x, y⟩ − f(x); without a closed form it is searched for from 0.

        `dualfold.games.conjugate` brackets it, also over a set and from another start.
        """
        try:
            return self.closed_conjugate(y)
        except NoClosedForm:
            from dualfold.games.minimum_search import maximiser_of  # it is built on this file

            x = maximiser_of(self, y)
            return float(np.vdot(x, y)) - self.cost(Move(x))

    @property
    def stated_name(self) -> str:
        """What the caller calls f."""
        return type(self).__name__

    @property
    def assumption(self) -> str:
        """What a caller who states f vouches for, in words."""
        mu = self.strong_convexity
        claim = f"strongly convex with {mu:.4g}" if mu else "convex"
        return f"{self.stated_name} is {claim}"

    def split(self) -> tuple[Convex, Convex]:
        """f as a sum of a function by its slopes and a part by its proximal map."""
        return self, Indicator(WHOLE_SPACE)

    @property
    def n_terms(self) -> int:
        """Number of terms that `sample` chooses from; 0: f is no sum of terms."""
        return 0

    def sample(self, x: Array, chosen: Array) -> Array:
        """The gradient estimated from the terms `chosen`, without bias."""
        raise self._lacks("terms to sample")

    def proximal(self, x: Array, weight: float) -> Array:
        """The z with the least weight·f(z) + ½‖z − x‖²."""
        raise self._lacks("proximal map")

    def first_move(self, start: Array) -> Move:
        """The first move of a player who has seen nothing but a point of x's space."""
        return Move(start)

    def cost(self, move: Move) -> float:
        """The value at a player's own move, which is in the domain by construction."""
        return self.value(move.point)

    def reply(self, slope: Array) -> Move:
        """The move with the least ⟨z, slope⟩ + f(z)."""
        return Move(self.maximiser(-slope))

    def outside_distance(self, x: Array) -> float:
        """How far x can be from the points where f is what `value_interval` says."""
        return 0.0

    def reach(self, x: Array) -> float:
        """No point where f is finite is further from x than this."""
        return np.inf

    def value_interval(self, x: Array) -> Interval:
        """f(x) from both sides."""
        return Interval(self.value(x))

    def slope_interval(self, x: Array) -> Interval:
        """A subgradient at x, every entry from both sides."""
        return Interval(self.subgradient(x))

    def plane(self, z: Array) -> Plane:
        """A plane under f, as high as it gets at z (but for `concavity`)."""
        slope = self.slope_interval(z)
        return Plane(self.value_interval(z).low(), slope.mid, length(slope.off))

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        """How much of a tilt f carries: by its plane with the opposite slope, and its curvature.

        With a plane taken at c and m = `strong_convexity`, and d = c − o,

            ⟨r, x − o⟩ − s‖x − o‖ + (m/2)‖x − c‖²  ≥  ⟨r, d⟩ − s‖d‖ − (‖r‖ + s)²/2m
        """
        if self.concavity > 0:
            return Share(NO_BOUND, slope, slack)
        try:
            at = self.maximiser(-slope)
        except InvalidInput:
            at = origin
        plane = self.plane(at)
        away = interval(at) - origin
        rest = slope + plane.slope
        left = upper_sum(slack, plane.slack, EPS * length(rest))
        lost = upper_product(plane.slack, length(away))
        bound = lower_sum(plane.height, -dot(plane.slope, away).high(), -lost)
        if self.strong_convexity == 0:
            return Share(bound, rest, left if np.any(rest) else upper_sum(slack, plane.slack))
        bound = lower_sum(
            bound,
            dot(rest, away).low(),
            -upper_product(left, length(away)),
            bowl_minimum(upper_sum(length(rest), left), self.strong_convexity),
        )
        return Share(bound, np.zeros_like(slope), 0.0)

    def _lacks(self, what: str) -> NoClosedForm:
        return NoClosedForm(
            f"{type(self).__name__} has no {what} in closed form; choose players that do not "
            "need it, or a function that has it"
        )


@dataclass(frozen=True, eq=False)
class Conjugate(Convex):
    """f* as a function: y's side of the game, where replies are gradients of f."""

    of: Convex

    @property
    def smoothness(self) -> float:
        return 1 / self.of.strong_convexity if self.of.strong_convexity else np.inf

    @property
    def strong_convexity(self) -> float:
        return 1 / self.of.smoothness if self.of.smoothness else np.inf

    def value(self, x: Array) -> float:
        return self.of.conjugate(x)

    def subgradient(self, x: Array) -> Array:
        return self.of.maximiser(x)

    def maximiser(self, y: Array) -> Array:
        return self.of.subgradient(y)

    def closed_conjugate(self, y: Array) -> float:
        return self.of.value(y)

    def proximal(self, x: Array, weight: float) -> Array:
        return x - weight * self.of.proximal(x / weight, 1 / weight)  # Moreau

    def first_move(self, start: Array) -> Move:
        return self.reply(-start)

    def reply(self, slope: Array) -> Move:
        return Move(self.of.subgradient(-slope), taken_at=-slope)

    def cost(self, move: Move) -> float:
        if move.taken_at is None:
            return self.of.conjugate(move.point)
        # Fenchel and Young: no closed form of f* is needed at a gradient.
        return float(np.vdot(move.taken_at, move.point)) - self.of.value(move.taken_at)


@dataclass(frozen=True, eq=False)
class Indicator(Convex):
    """0 on a set, ∞ elsewhere. Its proximal map is the projection."""

    of: ConvexSet

    def value(self, x: Array) -> float:
        return 0.0 if self.of.contains(x) else np.inf

    def subgradient(self, x: Array) -> Array:
        return np.zeros_like(x)

    def maximiser(self, y: Array) -> Array:
        return self.of.minimiser(-y)

    def closed_conjugate(self, y: Array) -> float:
        return -self.of.minimum(-y)

    def proximal(self, x: Array, weight: float) -> Array:
        return self.of.project(x)

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return self.of.rounding_bounded

    def value_interval(self, x: Array) -> Interval:
        """0; how far outside of the set rounding put x, `outside_distance` bounds."""
        return Interval(0.0)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        return self.of.share(slope, slack, origin)

    def outside_distance(self, x: Array) -> float:
        return self.of.outside_distance(x)

    def reach(self, x: Array) -> float:
        return self.of.reach(x)

    def cost(self, move: Move) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class Support(Convex):
    """The largest ⟨x, y⟩ over y in a set; the conjugate of its indicator.

    Norms are support functions: λ‖x‖₁ of a box, λ‖x‖₂ of a ball, λ‖x‖_∞ of an ℓ1 ball.

    >>> from dualfold.games import norm
    >>> norm(1, weight=2.0).value(np.array([3.0, -1.0]))
    8.0
    """

    of: ConvexSet

    def value(self, x: Array) -> float:
        return -self.of.minimum(-x)

    def subgradient(self, x: Array) -> Array:
        return self.of.minimiser(-x)

    def closed_conjugate(self, y: Array) -> float:
        return 0.0 if self.of.contains(y, DOMAIN_ROUNDING) else np.inf

    def proximal(self, x: Array, weight: float) -> Array:
        return x - weight * self.of.project(x / weight)  # Moreau

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return self.of.rounding_bounded

    def value_interval(self, x: Array) -> Interval:
        return -self.of.minimum_interval(-x)

    def plane(self, z: Array) -> Plane:
        y = self.of.minimiser(-z)
        off = self.of.outside_distance(y)  # ⟨g, x⟩ is under f for a g of the set, this near to y
        return Plane(lower_sum(dot(y, z).low(), -upper_product(off, length(z))), y, off)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        """All of a slope inside the set, else the part that its nearest point carries."""
        if self.of.contains_ball(-slope, slack):
            lost = upper_product(slack, length(origin))
            return Share(lower_sum(-dot(slope, origin).high(), -lost), np.zeros_like(slope), 0.0)
        y = self.of.project(-slope)
        off, rest = self.of.outside_distance(y), slope + y
        bound = lower_sum(dot(y, origin).low(), -upper_product(off, length(origin)))
        return Share(bound, rest, upper_sum(slack, off, EPS * length(rest)))
