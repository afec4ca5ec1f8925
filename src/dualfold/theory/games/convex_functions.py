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
from dualfold.kernels.arithmetic import EPS
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    dot,
    interval,
    length,
    upper_product,
    upper_sum,
)
from dualfold.theory.games.convex_sets import WHOLE_SPACE, ConvexSet
from dualfold.theory.games.planes import NO_BOUND, Plane, Share, bowl_minimum, lower_sum

# How far outside its domain, relatively, rounding may put a point.
DOMAIN_ROUNDING = 1e-12


class NoClosedForm(InvalidInput):
    """A function is asked for what it has no formula of."""


class PlayerMove(NamedTuple):
    """Play of one player in a round.

    point : the point that it plays
    taken_at : for y, the point whose gradient `point` is; None: not a gradient
    anchor : what an optimistic player remembers for the next round
    """

    point: Array
    taken_at: Array | None = None
    anchor: Array | None = None


class Convex:
    """A closed convex function: the base class, with what is known of it in closed form.

    A function of your own defines `value` and `subgradient`, and the constants that it knows. It is
    played as if these were exact, and its run says that rounding is not bounded. Proofs also use
    `value_interval`, `slope_interval`, `plane` and `share`, which hold whatever rounding does.

    Attributes
    ----------
    rounding_bounded : bool
        Whether the intervals bound all rounding.

    See Also
    --------
    Oracle : A function from Python functions.
    Quadratic : The function ½xᵀQx + qᵀx + c.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Convex, Huber
    >>> f = Huber()
    >>> isinstance(f, Convex), f.smoothness, f.value(np.array([3.0]))
    (True, 1.0, 2.5)
    """

    rounding_bounded: bool = False

    @property
    def concavity(self) -> float:
        """Number δ such that f + (δ/2)‖x‖² is convex for certain.

        It is 0 except for matrices whose least eigenvalue cannot be distinguished from 0.
        """
        return 0.0

    @property
    def smoothness(self) -> float:
        """Lipschitz constant L of the gradient; infinite if f is not smooth."""
        return np.inf

    @property
    def strong_convexity(self) -> float:
        """Number μ such that f − (μ/2)‖x‖² is convex; 0 if none is known."""
        return 0.0

    @property
    def gradient_bound(self) -> float:
        """Number G such that no subgradient is longer; infinite if none is known."""
        return np.inf

    def value(self, x: Array) -> float:
        """Evaluate f.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        float
            The value f(x); infinite outside the domain.
        """
        raise self._lacks("value")

    def subgradient(self, x: Array) -> Array:
        """Compute a subgradient: any y with f(z) ≥ f(x) + ⟨y, z − x⟩ for all z.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        ndarray of shape (d,)
            A subgradient at x.
        """
        raise self._lacks("subgradient")

    def maximiser(self, y: Array) -> Array:
        """Compute the point where ⟨x, y⟩ − f(x) is largest, a subgradient of the conjugate.

        Parameters
        ----------
        y : ndarray of shape (d,)
            The slope.

        Returns
        -------
        ndarray of shape (d,)
            The point.
        """
        raise self._lacks("maximiser of ⟨x, y⟩ − f(x)")

    def closed_conjugate(self, y: Array) -> float:
        """Evaluate the conjugate f*(y) by the maximiser, without a search.

        Parameters
        ----------
        y : ndarray of shape (d,)
            The slope.

        Returns
        -------
        float
            The value f*(y).
        """
        x = self.maximiser(y)
        return float(np.vdot(x, y)) - self.cost(PlayerMove(x))

    def conjugate(self, y: Array) -> float:
        """Evaluate the conjugate f*(y) = sup_x ⟨x, y⟩ − f(x).

        Without a closed form it is searched for from 0; `dualfold.games.conjugate`
        brackets it, also over a set and from another start.

        Parameters
        ----------
        y : ndarray of shape (d,)
            The slope.

        Returns
        -------
        float
            The value f*(y).
        """
        try:
            return self.closed_conjugate(y)
        except NoClosedForm:
            from dualfold.theory.games.minimum_search import (
                maximiser_of,  # it is built on this file
            )

            x = maximiser_of(self, y)
            return float(np.vdot(x, y)) - self.cost(PlayerMove(x))

    @property
    def stated_name(self) -> str:
        """Name of f in statements about it."""
        return type(self).__name__

    @property
    def assumption(self) -> str:
        """Statement that a caller who gives f is responsible for, in words."""
        mu = self.strong_convexity
        claim = f"strongly convex with {mu:.4g}" if mu else "convex"
        return f"{self.stated_name} is {claim}"

    def split(self) -> tuple[Convex, Convex]:
        """Split f into a function by its slopes and a part by its proximal map.

        Returns
        -------
        tuple of Convex
            The two functions, whose sum is f.
        """
        return self, Indicator(WHOLE_SPACE)

    @property
    def n_terms(self) -> int:
        """Number of terms that `sample` chooses from; 0 if f is no sum of terms."""
        return 0

    def sample(self, x: Array, chosen: Array) -> Array:
        """Estimate the gradient from some terms, without bias.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.
        chosen : ndarray of int
            Numbers of the terms.

        Returns
        -------
        ndarray of shape (d,)
            The estimate.
        """
        raise self._lacks("terms to sample")

    def proximal(self, x: Array, weight: float) -> Array:
        """Compute the z with the least weight·f(z) + ½‖z − x‖².

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.
        weight : float
            Weight of f.

        Returns
        -------
        ndarray of shape (d,)
            The point z.
        """
        raise self._lacks("proximal map")

    def first_move(self, start: Array) -> PlayerMove:
        """Make the first move of a player who has seen nothing.

        Parameters
        ----------
        start : ndarray of shape (d,)
            A point of the space of x.

        Returns
        -------
        PlayerMove
            The move.
        """
        return PlayerMove(start)

    def cost(self, move: PlayerMove) -> float:
        """Evaluate f at a player's own move, which is in the domain by construction.

        Parameters
        ----------
        move : PlayerMove
            The move.

        Returns
        -------
        float
            The value.
        """
        return self.value(move.point)

    def reply(self, slope: Array) -> PlayerMove:
        """Compute the move with the least ⟨z, slope⟩ + f(z).

        Parameters
        ----------
        slope : ndarray of shape (d,)
            The slope.

        Returns
        -------
        PlayerMove
            The move.
        """
        return PlayerMove(self.maximiser(-slope))

    def outside_distance(self, x: Array) -> float:
        """Bound the distance of x from the points where f is what `value_interval` says.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        float
            The bound.
        """
        return 0.0

    def reach(self, x: Array) -> float:
        """Bound the distance of x from all points where f is finite.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        float
            The bound.
        """
        return np.inf

    def value_interval(self, x: Array) -> Interval:
        """Enclose f(x) between two bounds.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        Interval
            The enclosure.
        """
        return Interval(self.value(x))

    def slope_interval(self, x: Array) -> Interval:
        """Enclose every entry of a subgradient at x.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        Interval
            The enclosure.
        """
        return Interval(self.subgradient(x))

    def plane(self, z: Array) -> Plane:
        """Compute a plane under f that is as high as possible at a point (but for `concavity`).

        Parameters
        ----------
        z : ndarray of shape (d,)
            The point.

        Returns
        -------
        Plane
            Height, slope, and a bound of the slope's error.
        """
        slope = self.slope_interval(z)
        return Plane(self.value_interval(z).low(), slope.mid, length(slope.off))

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        """Compute how much of a tilt f carries, by a plane of the opposite slope and its curvature.

        With the plane at c, m = `strong_convexity` and d = c − o::

            ⟨r, x − o⟩ − s‖x − o‖ + (m/2)‖x − c‖²  ≥  ⟨r, d⟩ − s‖d‖ − (‖r‖ + s)²/2m

        Parameters
        ----------
        slope : ndarray of shape (d,)
            Slope of the tilt.
        slack : float
            Bound of the slope's error.
        origin : ndarray of shape (d,)
            Point where the tilt is 0.

        Returns
        -------
        Share
            The bound, and what is left of slope and slack.
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
    """Conjugate f* as a function: the side of y in the game, where replies are gradients of f.

    Parameters
    ----------
    of : Convex
        The function f.

    See Also
    --------
    conjugate : The value f*(y), bracketed where it has no closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Conjugate, HalfSquare
    >>> Conjugate(HalfSquare(2.0)).value(np.array([2.0]))
    1.0
    """

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

    def first_move(self, start: Array) -> PlayerMove:
        return self.reply(-start)

    def reply(self, slope: Array) -> PlayerMove:
        return PlayerMove(self.of.subgradient(-slope), taken_at=-slope)

    def cost(self, move: PlayerMove) -> float:
        if move.taken_at is None:
            return self.of.conjugate(move.point)
        # Fenchel and Young: no closed form of f* is needed at a gradient.
        return float(np.vdot(move.taken_at, move.point)) - self.of.value(move.taken_at)


@dataclass(frozen=True, eq=False)
class Indicator(Convex):
    """Indicator of a set: 0 on it, infinite elsewhere; its proximal map is the projection.

    Parameters
    ----------
    of : ConvexSet
        The set.

    See Also
    --------
    learn : Takes a player whose part is an indicator.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box, Indicator
    >>> f = Indicator(Box(-1.0, 1.0))
    >>> f.value(np.array([0.5])), f.value(np.array([2.0])), f.proximal(np.array([2.0]), 1.0)
    (0.0, inf, array([1.]))
    """

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
        """Return 0; `outside_distance` bounds how far outside of the set rounding put x.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        Interval
            The enclosure of 0.
        """
        return Interval(0.0)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        return self.of.share(slope, slack, origin)

    def outside_distance(self, x: Array) -> float:
        return self.of.outside_distance(x)

    def reach(self, x: Array) -> float:
        return self.of.reach(x)

    def cost(self, move: PlayerMove) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class Support(Convex):
    """Support function of a set: the largest ⟨x, y⟩ over its points y.

    It is the conjugate of the set's indicator. Norms are support functions: λ‖x‖₁ of a box, λ‖x‖₂
    of a ball, λ‖x‖_∞ of an ℓ1 ball.

    Parameters
    ----------
    of : ConvexSet
        The set.

    See Also
    --------
    norm : The three norms.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Simplex, Support
    >>> Support(Simplex()).value(np.array([3.0, -1.0]))
    3.0
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
        # All of a slope inside the set, else the part that its nearest point carries.
        if self.of.contains_ball(-slope, slack):
            lost = upper_product(slack, length(origin))
            return Share(lower_sum(-dot(slope, origin).high(), -lost), np.zeros_like(slope), 0.0)
        y = self.of.project(-slope)
        off, rest = self.of.outside_distance(y), slope + y
        bound = lower_sum(dot(y, origin).low(), -upper_product(off, length(origin)))
        return Share(bound, rest, upper_sum(slack, off, EPS * length(rest)))
