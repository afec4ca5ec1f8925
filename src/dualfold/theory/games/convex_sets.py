"""Closed convex sets: the points that a player may choose.

A set answers two questions, and every first-order method asks one of them:

* `project(x)`: which of my points is nearest to x?
* `minimiser(slope)`: which of my points has the least ⟨slope, x⟩?

and three for the proof, whose answers hold whatever rounding does: `minimum_interval`,
`outside_distance` and `contains_ball`.

A center or bound given as one number stands for a vector of it, so `Ball(2.0)` is a ball
around 0 in any dimension. Boxes, simplices and ℓ1 balls: polytopes.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    dot,
    interval,
    length,
    norm_interval,
    upper_product,
    upper_sum,
)
from dualfold.theory.games.doubles import doubles, number, vector
from dualfold.theory.games.planes import NO_BOUND, Share, lower_sum


class ConvexSet:
    """Base class of sets; the numbers that a guarantee may need default to "nothing"."""

    # K lies in a ball of this radius that touches it, at every boundary point: the radius
    # of curvature where it is least curved. Infinite: there are flat parts.
    curvature_radius: float = np.inf
    # The modulus of strong convexity of ½gauge²; 0: none, or 0 is not inside.
    gauge_convexity: float = 0.0
    # Whether `minimum_interval`, `reach`, `outside_distance` and `contains_ball` are true
    # whatever rounding does.
    rounding_bounded: bool = False

    def project(self, x: Array) -> Array:
        """Compute the point of the set nearest to x.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        ndarray of shape (d,)
            The nearest point.
        """
        raise InvalidInput(f"{type(self).__name__} has no projection here; use its minimiser")

    def minimiser(self, slope: Array) -> Array:
        """Compute the point of the set with the least ⟨slope, x⟩.

        Parameters
        ----------
        slope : ndarray of shape (d,)
            The slope.

        Returns
        -------
        ndarray of shape (d,)
            The point.
        """
        raise InvalidInput(
            f"⟨slope, x⟩ has no least value on {type(self).__name__}: a linear minimiser needs "
            "a bounded set"
        )

    def minimum(self, slope: Array) -> float:
        """Compute the least ⟨slope, x⟩ over the set.

        Parameters
        ----------
        slope : ndarray of shape (d,)
            The slope.

        Returns
        -------
        float
            The least value; −∞ if there is none.
        """
        return float(np.vdot(slope, self.minimiser(slope)))

    def reach(self, x: Array) -> float:
        """Bound the distance of x from all points of the set.

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

    def contains(self, x: Array, tolerance: float = 1e-9) -> bool:
        """Decide whether x lies in the set, up to rounding.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.
        tolerance : float, default=1e-9
            Largest distance from the set, relative to the size of x.

        Returns
        -------
        bool
            Whether x lies in the set.
        """
        with np.errstate(over="ignore"):  # infinitely far off is outside, too
            off = float(np.linalg.norm(self.project(x) - x))
        return off <= tolerance * (1.0 + float(np.linalg.norm(x)))

    @property
    def diameter(self) -> float:
        """Largest distance between two points of the set."""
        return np.inf

    def gauge(self, x: Array) -> float:
        """Compute the least s ≥ 0 with x ∈ s·K, a norm for sets that are symmetric around 0.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        float
            The gauge of x.
        """
        raise InvalidInput(f"{type(self).__name__} has no gauge here; Ball and Ellipsoid do")

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        """Enclose the least ⟨slope, x − origin⟩ over the set.

        Parameters
        ----------
        slope : ndarray of shape (d,)
            The slope.
        origin : ndarray or float, default=0.0
            The origin.

        Returns
        -------
        Interval
            The enclosure.
        """
        return Interval(self.minimum(slope)) - dot(slope, origin)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        """Compute how much of a tilt the set carries: all of it if it is bounded, else nothing.

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
        reach = self.reach(origin)
        if not np.isfinite(reach):
            return Share(0.0, slope, slack)
        least = self.minimum_interval(slope, origin).low()
        return Share(lower_sum(least, -upper_product(slack, reach)), np.zeros_like(slope), 0.0)

    def outside_distance(self, x: Array) -> float:
        """Bound the distance of x from the set.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.

        Returns
        -------
        float
            The bound; infinite if it is not known.
        """
        return np.inf

    def contains_ball(self, x: Array, margin: float) -> bool:
        """Decide whether a ball around x lies in the set, for certain.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.
        margin : float
            Radius of the ball.

        Returns
        -------
        bool
            True only if it lies in the set.
        """
        return False


@dataclass(frozen=True)
class Everywhere(ConvexSet):
    """All of ℝᵈ: no constraint.

    See Also
    --------
    Ball : A bounded set.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Everywhere
    >>> Everywhere().project(np.array([3.0, 4.0]))
    array([3., 4.])
    """

    rounding_bounded = True

    def project(self, x: Array) -> Array:
        return x

    def minimum(self, slope: Array) -> float:
        return -np.inf if np.any(slope) else 0.0

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        return Interval(NO_BOUND) if np.any(slope) else Interval(0.0)

    def outside_distance(self, x: Array) -> float:
        return 0.0

    def contains_ball(self, x: Array, margin: float) -> bool:
        return True


WHOLE_SPACE = Everywhere()


@dataclass(frozen=True, eq=False)
class Ball(ConvexSet):
    """The ball {x : ‖x − center‖ ≤ radius}.

    Parameters
    ----------
    radius : float
        The radius.
    center : ndarray or float, default=0.0
        The centre; one number stands for a vector of it.

    See Also
    --------
    Box : Bounds of the entries.
    L1Ball : The ball of the ℓ1 norm.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball
    >>> Ball(2.0).project(np.array([3.0, 4.0]))
    array([1.2, 1.6])
    """

    radius: float
    center: Array | float = 0.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number(self.radius, "the radius of a ball"))
        object.__setattr__(self, "center", doubles(self.center, "the center of a ball"))

    def project(self, x: Array) -> Array:
        offset = x - self.center
        far = float(np.linalg.norm(offset))
        return x if far <= self.radius else self.center + offset * (self.radius / far)

    def minimiser(self, slope: Array) -> Array:
        steep = float(np.linalg.norm(slope))
        return self.center - slope * (self.radius / steep if steep else 0.0)

    def minimum(self, slope: Array) -> float:
        middle = float(np.sum(slope * self.center))
        return middle - self.radius * float(np.linalg.norm(slope))

    def reach(self, x: Array) -> float:
        return upper_sum(length(interval(x) - self.center), self.radius)

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        return dot(slope, interval(self.center) - origin) - self.radius * norm_interval(slope)

    def outside_distance(self, x: Array) -> float:
        return max(0.0, (Interval(length(interval(x) - self.center)) - self.radius).high())

    def contains_ball(self, x: Array, margin: float) -> bool:
        return upper_sum(length(interval(x) - self.center), margin) <= self.radius

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @property
    def curvature_radius(self) -> float:  # type: ignore[override]
        """The radius of the ball itself."""
        return self.radius

    @property
    def gauge_convexity(self) -> float:  # type: ignore[override]
        """Modulus of strong convexity of ½gauge²: 1/radius² around 0, else none."""
        return 0.0 if np.any(self.center) or self.radius == 0 else self.radius**-2

    def gauge(self, x: Array) -> float:
        if self.radius == 0:
            return np.inf if np.any(x) else 0.0
        return float(np.linalg.norm(x)) / self.radius


@dataclass(frozen=True, eq=False)
class Ellipsoid(ConvexSet):
    """Ellipsoid {x : Σ (x_i / axes_i)² ≤ 1} around 0, curved everywhere.

    Parameters
    ----------
    axes : ndarray of shape (d,)
        Lengths of the half axes, all above 0.

    See Also
    --------
    Ball : Equal axes, around any center.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ellipsoid
    >>> Ellipsoid(np.array([1.0, 2.0])).minimiser(np.array([0.0, 1.0]))
    array([-0., -2.])
    """

    axes: Array
    rounding_bounded = True

    def __post_init__(self) -> None:
        axes = vector(self.axes, "the axes of an ellipsoid")
        if axes.min() <= 0:
            raise InvalidInput(f"the axes of an ellipsoid are positive, not {axes.min():g}")
        object.__setattr__(self, "axes", axes)

    def project(self, x: Array) -> Array:
        if self.gauge(x) <= 1 or not np.isfinite(x).all():
            return x  # what diverged stays what it is
        from scipy.optimize import brentq  # a slow import that nothing else here needs

        squares = self.axes**2

        def excess(shift: float) -> float:
            return float(np.sum((self.axes * x / (squares + shift)) ** 2)) - 1.0

        if excess(0.0) <= 0:
            return x  # on the surface, but for rounding
        # x = p + shift·p/axes²; at this shift every term of the sum is small enough.
        far = 2 * float(np.linalg.norm(self.axes * x))
        shift = brentq(excess, 0.0, far, xtol=1e-15 * far, rtol=1e-15, maxiter=500)
        return np.asarray(squares * x / (squares + shift))

    def minimiser(self, slope: Array) -> Array:
        steep = float(np.linalg.norm(self.axes * slope))
        return -(self.axes**2) * slope / (steep or 1.0)

    def reach(self, x: Array) -> float:
        return upper_sum(length(x), float(self.axes.max()))

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        stretched = interval(self.axes) * slope
        least, off = norm_interval(stretched.mid), length(stretched.off)
        return -Interval(least.mid, upper_sum(float(least.off), off)) - dot(slope, origin)

    def outside_distance(self, x: Array) -> float:
        # x/gauge lies in the set: it is (1 − 1/gauge)‖x‖ away.
        excess = (Interval(length(interval(x) / self.axes)) - 1.0).high()
        return 0.0 if excess <= 0 else upper_product(excess, length(x))

    def contains_ball(self, x: Array, margin: float) -> bool:
        shrunk = upper_sum(
            length(interval(x) / self.axes), (Interval(margin) / self.axes.min()).high()
        )
        return shrunk <= 1

    @property
    def diameter(self) -> float:
        return 2 * float(self.axes.max())

    @property
    def curvature_radius(self) -> float:  # type: ignore[override]
        """At the end of the shortest axis, where it is flattest: longest²/shortest."""
        return float(self.axes.max() ** 2 / self.axes.min())

    @property
    def gauge_convexity(self) -> float:  # type: ignore[override]
        """1/longest², the least curvature of ½Σ(x_i/axes_i)²."""
        return float(self.axes.max()) ** -2

    def gauge(self, x: Array) -> float:
        return float(np.linalg.norm(x / self.axes))
