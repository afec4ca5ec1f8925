"""Closed convex sets: where the players of a game may stand.

A set answers two questions, and every first-order method asks one of them:

* `project(x)`: which of my points is nearest to x?
* `minimiser(slope)`: which of my points has the least ⟨slope, x⟩?

A center or bound given as one number stands for a vector of it, so `Ball(2.0)` is a ball
around 0 in any dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.errors import InvalidInput

Array = np.ndarray[Any, np.dtype[Any]]


class ConvexSet:
    """What every set knows; the numbers that a guarantee may need default to "nothing"."""

    # K lies in a ball of this radius that touches it, at every boundary point: the radius
    # of curvature where it is least curved. Infinite: there are flat parts.
    curvature_radius: float = np.inf
    # The modulus of strong convexity of ½gauge²; 0: none, or 0 is not inside.
    gauge_convexity: float = 0.0

    def project(self, x: Array) -> Array:
        """The point of the set nearest to x."""
        raise InvalidInput(f"{type(self).__name__} has no projection here; use its minimiser")

    def minimiser(self, slope: Array) -> Array:
        """The point of the set with the least ⟨slope, x⟩."""
        raise InvalidInput(
            f"⟨slope, x⟩ has no least value on {type(self).__name__}: a linear minimiser needs "
            "a bounded set"
        )

    def minimum(self, slope: Array) -> float:
        """The least ⟨slope, x⟩ over the set; −∞ where it is unbounded."""
        return float(np.vdot(slope, self.minimiser(slope)))

    def reach(self, x: Array) -> float:
        """No point of the set is further from x than this."""
        return np.inf

    def contains(self, x: Array, tolerance: float = 1e-9) -> bool:
        """Whether x lies in the set, up to `tolerance` of its size."""
        off = float(np.linalg.norm(self.project(x) - x))
        return off <= tolerance * (1.0 + float(np.linalg.norm(x)))

    @property
    def diameter(self) -> float:
        """The largest distance between two points of the set."""
        return np.inf

    def gauge(self, x: Array) -> float:
        """The least s ≥ 0 with x ∈ s·K; a norm for sets that are symmetric around 0."""
        raise InvalidInput(f"{type(self).__name__} has no gauge here; Ball and Ellipsoid do")


@dataclass(frozen=True)
class Everywhere(ConvexSet):
    """All of ℝᵈ: no constraint."""

    def project(self, x: Array) -> Array:
        return x

    def minimum(self, slope: Array) -> float:
        return -np.inf if np.any(slope) else 0.0


@dataclass(frozen=True, eq=False)
class Ball(ConvexSet):
    """{x : ‖x − center‖ ≤ radius}.

    >>> Ball(2.0).project(np.array([3.0, 4.0]))
    array([1.2, 1.6])
    """

    radius: float
    center: Array | float = 0.0

    def project(self, x: Array) -> Array:
        offset = x - self.center
        length = float(np.linalg.norm(offset))
        return x if length <= self.radius else self.center + offset * (self.radius / length)

    def minimiser(self, slope: Array) -> Array:
        length = float(np.linalg.norm(slope))
        return self.center - slope * (self.radius / length if length else 0.0)

    def minimum(self, slope: Array) -> float:
        middle = float(np.sum(slope * self.center))
        return middle - self.radius * float(np.linalg.norm(slope))

    def reach(self, x: Array) -> float:
        return float(np.linalg.norm(x - self.center)) + self.radius

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @property
    def curvature_radius(self) -> float:  # type: ignore[override]
        """Its own radius: it touches itself."""
        return self.radius

    @property
    def gauge_convexity(self) -> float:  # type: ignore[override]
        """1/radius² around 0, the modulus of ½‖x‖²/radius²; none around another center."""
        return 0.0 if np.any(self.center) else self.radius**-2

    def gauge(self, x: Array) -> float:
        return float(np.linalg.norm(x)) / self.radius


@dataclass(frozen=True, eq=False)
class Ellipsoid(ConvexSet):
    """{x : Σ (x_i / axes_i)² ≤ 1}: curved everywhere and around 0."""

    axes: Array

    def project(self, x: Array) -> Array:
        if self.gauge(x) <= 1:
            return x
        from scipy.optimize import brentq  # a slow import that nothing else here needs

        squares = self.axes**2

        def excess(shift: float) -> float:
            return float(np.sum((self.axes * x / (squares + shift)) ** 2)) - 1.0

        # x = p + shift·p/axes²; at this shift every term of the sum is small enough.
        far = float(np.linalg.norm(self.axes * x))
        shift = brentq(excess, 0.0, far, xtol=1e-15 * far, rtol=1e-15, maxiter=500)
        return np.asarray(squares * x / (squares + shift))

    def minimiser(self, slope: Array) -> Array:
        length = float(np.linalg.norm(self.axes * slope))
        return -(self.axes**2) * slope / (length or 1.0)

    def reach(self, x: Array) -> float:
        return float(np.linalg.norm(x)) + float(self.axes.max())

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


@dataclass(frozen=True, eq=False)
class Box(ConvexSet):
    """{x : low ≤ x ≤ high}, entry by entry."""

    low: Array | float
    high: Array | float

    def project(self, x: Array) -> Array:
        return np.clip(x, self.low, self.high)

    def minimiser(self, slope: Array) -> Array:
        return np.where(slope > 0, self.low, self.high) + 0.0 * slope

    def reach(self, x: Array) -> float:
        return float(np.linalg.norm(np.maximum(np.abs(x - self.low), np.abs(self.high - x))))

    @property
    def diameter(self) -> float:
        """Infinite while both bounds are single numbers: their dimension is not known."""
        if np.ndim(self.low) == np.ndim(self.high) == 0:
            return np.inf
        return float(np.linalg.norm(np.asarray(self.high) - self.low))


@dataclass(frozen=True)
class Simplex(ConvexSet):
    """{x ≥ 0 : Σx = total}.

    >>> Simplex().project(np.array([0.9, 0.5]))
    array([0.7, 0.3])
    """

    total: float = 1.0

    def project(self, x: Array) -> Array:
        # max(x − shift, 0) adds up to the total; the shift is found among sorted entries.
        falling = np.sort(x)[::-1]
        shifts = (np.cumsum(falling) - self.total) / np.arange(1, len(x) + 1)
        kept = np.flatnonzero(falling > shifts)[-1]
        return np.asarray(np.maximum(x - shifts[kept], 0.0))

    def minimiser(self, slope: Array) -> Array:
        corner = np.zeros(len(slope))
        corner[int(np.argmin(slope))] = self.total
        return corner

    def reach(self, x: Array) -> float:
        # The furthest point of a polytope is a corner.
        squares = float(x @ x) - 2 * self.total * x + self.total**2
        return float(np.sqrt(squares.max()))

    @property
    def diameter(self) -> float:
        return self.total * float(np.sqrt(2.0))


@dataclass(frozen=True)
class L1Ball(ConvexSet):
    """{x : Σ|x_i| ≤ radius}."""

    radius: float

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
        squares = float(x @ x) + 2 * self.radius * float(np.abs(x).max()) + self.radius**2
        return float(np.sqrt(squares))

    @property
    def diameter(self) -> float:
        return 2 * self.radius
