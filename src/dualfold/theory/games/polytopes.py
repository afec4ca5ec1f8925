"""Sets with corners: boxes, simplices, ℓ1 balls."""

from __future__ import annotations

from dataclasses import dataclass

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
from dualfold.theory.games.convex_sets import ConvexSet
from dualfold.theory.games.doubles import doubles, number
from dualfold.theory.games.planes import Share, lower_sum


@dataclass(frozen=True, eq=False)
class Box(ConvexSet):
    """The box {x : low ≤ x ≤ high}, entry by entry.

    Parameters
    ----------
    low : ndarray or float
        Lower sides; they may be infinite.
    high : ndarray or float
        Upper sides.

    See Also
    --------
    Ball : Bounds of the norm.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Box
    >>> Box(0.0, 1.0).project(np.array([-2.0, 0.5]))
    array([0. , 0.5])
    """

    low: Array | float
    high: Array | float
    rounding_bounded = True

    def __post_init__(self) -> None:
        low = doubles(self.low, "the lower side of a box", infinite=True)
        high = doubles(self.high, "the upper side of a box", infinite=True)
        if np.any(low > high) or np.any(low == np.inf) or np.any(high == -np.inf):
            raise InvalidInput("a box has low ≤ high in every entry; here some are the other way")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def project(self, x: Array) -> Array:
        return np.clip(x, self.low, self.high)

    def minimiser(self, slope: Array) -> Array:
        return np.where(slope > 0, self.low, self.high)

    def minimum(self, slope: Array) -> float:
        corner = np.where(slope == 0, 0.0, self.minimiser(slope))  # 0·∞ is 0 here
        return float(np.vdot(slope, corner))

    def reach(self, x: Array) -> float:
        aside = np.maximum(np.abs(x - self.low), np.abs(self.high - x))
        return length(Interval(aside, EPS * aside))  # which pays for the subtraction

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        corner = np.where(slope == 0, origin, np.where(slope > 0, self.low, self.high))
        return dot(slope, interval(corner) - origin)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        """Compute how much of a tilt the box carries.

        Entries that point to an infinite side are left over, and so is the slack then.

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
        corner = np.where(slope == 0, 0.0, np.where(slope > 0, self.low, self.high))
        rest = np.where(np.isfinite(corner), 0.0, slope)
        least = self.minimum_interval(slope - rest, origin).low()
        reach = self.reach(origin)
        if not np.isfinite(reach):
            return Share(least, rest, slack)
        return Share(lower_sum(least, -upper_product(slack, reach)), rest, 0.0)

    def outside_distance(self, x: Array) -> float:
        return length(interval(x) - self.project(x)) if np.any(x != self.project(x)) else 0.0

    def contains_ball(self, x: Array, margin: float) -> bool:
        if margin == 0:
            return bool(np.all(x >= self.low) and np.all(x <= self.high))
        room = upper_sum(margin)
        lower, upper = interval(x) - room, interval(x) + room
        inside = (lower.mid - 2 * lower.off >= self.low) & (upper.mid + 2 * upper.off <= self.high)
        return bool(np.all(inside))

    @property
    def diameter(self) -> float:
        """Largest distance between two points; infinite while the dimension is not known."""
        if np.ndim(self.low) == np.ndim(self.high) == 0:
            return np.inf
        return float(np.linalg.norm(np.asarray(self.high) - self.low))


@dataclass(frozen=True)
class Simplex(ConvexSet):
    """The simplex {x ≥ 0 : Σx = total}.

    Parameters
    ----------
    total : float, default=1.0
        Sum of the entries.

    See Also
    --------
    KullbackLeibler : The divergence that suits it.
    Spectrahedron : The simplex of matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Simplex
    >>> Simplex().project(np.array([0.9, 0.5]))
    array([0.7, 0.3])
    """

    total: float = 1.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", number(self.total, "the total of a simplex"))

    def project(self, x: Array) -> Array:
        # max(x − shift, 0) adds up to the total; the shift is found among sorted entries. They are
        # counted from the largest, or a total that is nothing beside x would be lost.
        x = x - x.max()
        falling = np.sort(x)[::-1]
        shifts = (np.cumsum(falling) - self.total) / np.arange(1, len(x) + 1)
        kept = np.flatnonzero(falling > shifts)
        shift = shifts[kept[-1]] if len(kept) else -self.total  # x is infinite
        return np.asarray(np.maximum(x - shift, 0.0))

    def minimiser(self, slope: Array) -> Array:
        corner = np.zeros(len(slope))
        corner[int(np.argmin(slope))] = self.total
        return corner

    def reach(self, x: Array) -> float:
        # The furthest point of a polytope is a corner, here that of the least entry.
        corner = np.zeros(len(x))
        corner[int(np.argmin(x))] = self.total
        return length(interval(x) - corner)

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        return Interval(self.total) * slope.min() - dot(slope, origin)

    def outside_distance(self, x: Array) -> float:
        # max(x, 0), scaled to the right sum, is a point of the set.
        off = (interval(np.maximum(x, 0.0)).sum() - self.total).high()
        short = (self.total - interval(np.maximum(x, 0.0)).sum()).high()
        return upper_sum(length(np.minimum(x, 0.0)), max(off, short, 0.0))

    @property
    def diameter(self) -> float:
        return self.total * float(np.sqrt(2.0))


@dataclass(frozen=True)
class L1Ball(ConvexSet):
    """The ball {x : Σ|x_i| ≤ radius} of the ℓ1 norm.

    Parameters
    ----------
    radius : float
        The radius.

    See Also
    --------
    frank_wolfe : A method that needs only its corners.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import L1Ball
    >>> L1Ball(2.0).minimiser(np.array([1.0, -3.0]))
    array([0., 2.])
    """

    radius: float
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number(self.radius, "the radius of an ℓ1 ball"))

    def project(self, x: Array) -> Array:
        size = np.abs(x)
        if float(size.sum()) <= self.radius:
            return x
        return np.sign(x) * Simplex(self.radius).project(size)

    def minimiser(self, slope: Array) -> Array:
        corner = np.zeros(len(slope))
        largest = int(np.argmax(np.abs(slope)))
        corner[largest] = -self.radius * np.sign(slope[largest])
        return corner

    def reach(self, x: Array) -> float:
        corner = np.zeros(len(x))
        furthest = int(np.argmax(np.abs(x)))
        corner[furthest] = -self.radius if x[furthest] > 0 else self.radius
        return length(interval(x) - corner)

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        return -(Interval(self.radius) * np.abs(slope).max()) - dot(slope, origin)

    def outside_distance(self, x: Array) -> float:
        # x, scaled to the sum that is allowed, is a point of the set.
        return max(0.0, (interval(np.abs(x)).sum() - self.radius).high())

    def contains_ball(self, x: Array, margin: float) -> bool:
        wide = (Interval(margin) * np.sqrt(len(x) + 1.0)).high() if margin else 0.0
        return upper_sum(interval(np.abs(x)).sum().high(), wide) <= self.radius

    @property
    def diameter(self) -> float:
        return 2 * self.radius
