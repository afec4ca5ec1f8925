"""Functions made of others: half squares, sums, functions less a half square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.games.convex_functions import Convex, Move
from dualfold.games.doubles import doubles, number
from dualfold.games.intervals import EPS, Sure, above, dot, length, sure
from dualfold.games.planes import Plane, Share, added, difference


@dataclass(frozen=True, eq=False)
class HalfSquare(Convex):
    """(weight/2)‖x − center‖²; with weight 1 and center 0 its own conjugate."""

    weight: float = 1.0
    center: Array | float = 0.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        weight = number(self.weight, "the weight of a HalfSquare", above=True)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "center", doubles(self.center, "the center of a HalfSquare"))

    @property
    def smoothness(self) -> float:
        return self.weight

    @property
    def strong_convexity(self) -> float:
        return self.weight

    def value(self, x: Array) -> float:
        return self.weight / 2 * float(np.linalg.norm(x - self.center)) ** 2

    def subgradient(self, x: Array) -> Array:
        return self.weight * (x - self.center)

    def surely(self, x: Array) -> Sure:
        away = sure(x) - self.center
        return dot(away, away) * self.weight * 0.5

    def sure_slope(self, x: Array) -> Sure:
        return (sure(x) - self.center) * self.weight

    def maximiser(self, y: Array) -> Array:
        return self.center + y / self.weight

    def proximal(self, x: Array, weight: float) -> Array:
        pull = weight * self.weight
        return (x + pull * self.center) / (1 + pull)


@dataclass(frozen=True, eq=False)
class Sum(Convex):
    """A smooth and a simple part, f + ψ.

    Conjugate and proximal map when f is a `HalfSquare`: they are then proximal maps of ψ.
    """

    smooth: Convex
    simple: Convex

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return self.smooth.rounding_bounded and self.simple.rounding_bounded

    @property
    def concavity(self) -> float:
        return above(self.smooth.concavity, self.simple.concavity)

    @property
    def smoothness(self) -> float:
        return self.smooth.smoothness + self.simple.smoothness

    @property
    def strong_convexity(self) -> float:
        if self.concavity > 0:
            return 0.0
        parts = self.smooth.strong_convexity, self.simple.strong_convexity
        return sum(parts) if 0 in parts else sum(parts) * (1 - EPS)

    def value(self, x: Array) -> float:
        return self.smooth.value(x) + self.simple.value(x)

    def subgradient(self, x: Array) -> Array:
        return self.smooth.subgradient(x) + self.simple.subgradient(x)

    def maximiser(self, y: Array) -> Array:
        half = self._half_square("maximiser of ⟨x, y⟩ − f(x)")
        return self.simple.proximal(half.center + y / half.weight, 1 / half.weight)

    def proximal(self, x: Array, weight: float) -> Array:
        half = self._half_square("proximal map")
        return self.simple.proximal(half.proximal(x, weight), weight / (1 + weight * half.weight))

    def conjugate(self, y: Array) -> float:
        x = self.maximiser(y)
        return float(np.vdot(x, y)) - self.cost(Move(x))

    def cost(self, move: Move) -> float:
        return self.smooth.cost(move) + self.simple.cost(move)

    def surely(self, x: Array) -> Sure:
        return self.smooth.surely(x) + self.simple.surely(x)

    def outside(self, x: Array) -> float:
        return above(self.smooth.outside(x), self.simple.outside(x))

    def reach(self, x: Array) -> float:
        return min(self.smooth.reach(x), self.simple.reach(x))

    def plane(self, z: Array) -> Plane:
        one, two = self.smooth.plane(z), self.simple.plane(z)
        slope = sure(one.slope) + two.slope
        slack = above(one.slack, two.slack, length(slope.off))
        return Plane(added(one.height, two.height), slope.mid, slack)

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        """ψ carries what the half square's slope at the best point leaves, that one the rest."""
        if not isinstance(self.smooth, HalfSquare):
            return super().share(slope, slack, origin)
        best = self.maximiser(-slope)
        part = slope + self.smooth.subgradient(best)
        simple = self.simple.share(part, 0.0, origin)
        rest, off = difference(slope, part)
        total = rest + simple.rest
        left = above(slack, simple.slack, off, EPS * length(total))
        bowl = self.smooth.share(total, left, origin)
        return Share(added(simple.bound, bowl.bound), bowl.rest, bowl.slack)

    def _half_square(self, wanted: str) -> HalfSquare:
        if not isinstance(self.smooth, HalfSquare):
            raise self._lacks(wanted)
        return self.smooth


@dataclass(frozen=True, eq=False)
class Flattened(Convex):
    """f − (curvature/2)‖x‖², still convex while curvature ≤ μ."""

    of: Convex
    curvature: float

    def __post_init__(self) -> None:
        if not 0 <= self.curvature <= self.of.strong_convexity:
            raise InvalidInput(
                f"a curvature of {self.curvature:.3g} cannot be taken from a function whose "
                f"strong convexity is {self.of.strong_convexity:.3g}: the rest is not convex"
            )

    @property
    def smoothness(self) -> float:
        return self.of.smoothness - self.curvature

    @property
    def strong_convexity(self) -> float:
        rest = self.of.strong_convexity - self.curvature
        return max(0.0, rest - EPS * self.of.strong_convexity)

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return self.of.rounding_bounded

    @property
    def concavity(self) -> float:
        return self.of.concavity

    def surely(self, x: Array) -> Sure:
        return self.of.surely(x) - dot(x, x) * self.curvature * 0.5

    def sure_slope(self, x: Array) -> Sure:
        return self.of.sure_slope(x) - sure(x) * self.curvature

    def value(self, x: Array) -> float:
        return self.of.value(x) - self.curvature / 2 * float(np.linalg.norm(x)) ** 2

    def subgradient(self, x: Array) -> Array:
        return self.of.subgradient(x) - self.curvature * x
