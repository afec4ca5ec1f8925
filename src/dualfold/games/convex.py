"""Convex functions, as the players see them.

Everything in this room rests on one identity. With f*(y) = sup_x ⟨x, y⟩ − f(x),

    y ∈ ∂f(x)   ⇔   x ∈ ∂f*(y)   ⇔   f(x) + f*(y) = ⟨x, y⟩          (Fenchel, Young)

so the best response to a point is a gradient, the best response to a slope is a linear
minimiser, and the two are the same act on a function and on its conjugate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.games.sets import ConvexSet, Everywhere

Array = np.ndarray[Any, np.dtype[Any]]
# How far outside its domain, relatively, rounding may put a point.
ROUNDING = 1e-12


class Move(NamedTuple):
    """What a player does in a round.

    point : where it stands
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
    gradient_bound : no subgradient is longer, anywhere
    """

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

    def conjugate(self, y: Array) -> float:
        """f*(y) = sup_x ⟨x, y⟩ − f(x)."""
        x = self.maximiser(y)
        return float(np.vdot(x, y)) - self.value(x)

    def proximal(self, x: Array, weight: float) -> Array:
        """The z with the least weight·f(z) + ½‖z − x‖²."""
        raise self._lacks("proximal map")

    def opening(self, start: Array) -> Move:
        """The first move of a player who has seen nothing but a point of x's space."""
        return Move(start)

    def cost(self, move: Move) -> float:
        """The value at a player's own move, which is in the domain by construction."""
        return self.value(move.point)

    def reply(self, slope: Array) -> Move:
        """The move with the least ⟨z, slope⟩ + f(z)."""
        return Move(self.maximiser(-slope))

    def _lacks(self, what: str) -> InvalidInput:
        return InvalidInput(
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

    def conjugate(self, y: Array) -> float:
        return self.of.value(y)

    def proximal(self, x: Array, weight: float) -> Array:
        return x - weight * self.of.proximal(x / weight, 1 / weight)  # Moreau

    def opening(self, start: Array) -> Move:
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

    def conjugate(self, y: Array) -> float:
        return -self.of.minimum(-y)

    def proximal(self, x: Array, weight: float) -> Array:
        return self.of.project(x)

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

    def conjugate(self, y: Array) -> float:
        return 0.0 if self.of.contains(y, ROUNDING) else np.inf

    def proximal(self, x: Array, weight: float) -> Array:
        return x - weight * self.of.project(x / weight)  # Moreau


@dataclass(frozen=True, eq=False)
class HalfSquare(Convex):
    """(weight/2)‖x − center‖²; with weight 1 and center 0 its own conjugate."""

    weight: float = 1.0
    center: Array | float = 0.0

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
    def smoothness(self) -> float:
        return self.smooth.smoothness + self.simple.smoothness

    @property
    def strong_convexity(self) -> float:
        return self.smooth.strong_convexity + self.simple.strong_convexity

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
        return self.of.strong_convexity - self.curvature

    def value(self, x: Array) -> float:
        return self.of.value(x) - self.curvature / 2 * float(np.linalg.norm(x)) ** 2

    def subgradient(self, x: Array) -> Array:
        return self.of.subgradient(x) - self.curvature * x


def simple_part(over: ConvexSet | Convex) -> Convex:
    """A set as the function that is 0 on it; functions stay what they are."""
    return Indicator(over) if isinstance(over, ConvexSet) else over


UNCONSTRAINED = Indicator(Everywhere())
