"""Any convex R as the regulariser of a leader (Tucker, Algorithm 4: FTRL[R, η])."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualfold.arrays import Array
from dualfold.games.composites import Linear, Mixture
from dualfold.games.convex_functions import Convex, Indicator, NoClosedForm
from dualfold.games.convex_sets import Everywhere
from dualfold.games.minimum_search import minimiser_of


@dataclass(frozen=True, eq=False)
class Regulariser:
    """R in place of a divergence: steps weigh R itself, whatever their center is.

    R may have corners, and its least point may lie outside of the player's set.
    `FTRL.from_regulariser` starts a player at the least point of the set; seen from there,
    R(x) − R(center) ≥ 0 takes the place of a divergence.
    """

    of: Convex
    has_closed_steps: ClassVar[bool] = False

    def distance(self, x: Array, center: Array) -> float:
        """R(x) − R(center)."""
        return self.of.value(x) - self.of.value(center)

    def slope(self, x: Array, center: Array) -> Array:
        """A subgradient of R."""
        return self.of.subgradient(x)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """‖slope‖²/β, β the strong convexity of R."""
        beta = self.of.strong_convexity
        return float(np.vdot(slope, slope)) / beta if beta else np.inf

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """The x with the least ⟨slope, x⟩ + weight·part(x) + R(x), searched for from `center`."""
        if isinstance(part, Indicator) and isinstance(part.of, Everywhere):
            with suppress(NoClosedForm):
                return self.of.maximiser(-slope)
        tilted = Mixture(((1 / weight, self.of), (1 / weight, Linear(slope))))
        return minimiser_of(tilted, part, center)

    def least_point(self, part: Convex, near: Array) -> Array:
        """Where R is least in the set of `part`; all of ℝᵈ where `part` is no set."""
        of = part if isinstance(part, Indicator) else Indicator(Everywhere())
        return self.step(of, np.zeros_like(near), 1.0, of.proximal(near, 1.0))
