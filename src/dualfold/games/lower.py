"""A lower bound of the minimum from gradients alone, kept up to date round by round.

Every gradient y_t, taken at z_t, is a plane under f. Their weighted mean, and ψ, are least at

    min_x ⟨ȳ, x⟩ + ψ(x) − mean f*(y_t)

which proves something on a bounded set. On ℝᵈ it is −∞ unless more is known: a ball that
holds a minimiser, or strong convexity, whose planes curve up:

    min_x mean[f(z_t) + ⟨y_t, x − z_t⟩ + (μ/2)‖x − z_t‖²] + ψ(x)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.games.convex import Convex, Move
from dualfold.games.sets import Ball

Array = np.ndarray[Any, np.dtype[Any]]
MULTIPLIERS = 40  # a handful is the rule


class LowerBound:
    """The planes seen so far under f, and the least value they allow to f + ψ."""

    def __init__(self, f: Convex, simple: Convex, within: Ball | None) -> None:
        self.simple, self.within = simple, within
        self.curvature = f.strong_convexity
        self.weight = self.cost = self.square = 0.0
        self.slope: Array = np.zeros(1)
        self.taken: Array | None = np.zeros(1)

    def add(self, y: Move, cost: float, weight: float) -> None:
        """One more plane: y.point with f*(y.point) = cost."""
        self.weight += weight
        share = weight / self.weight
        self.slope = self.slope + share * (y.point - self.slope)
        self.cost += share * (cost - self.cost)
        if y.taken_at is None or self.taken is None:
            self.taken = None  # a slope that is no gradient: curvature says nothing
        else:
            self.taken = self.taken + share * (y.taken_at - self.taken)
            self.square += share * (float(np.vdot(y.taken_at, y.taken_at)) - self.square)

    def linear(self) -> float:
        """min_x ⟨ȳ, x⟩ + ψ(x), over the stated ball if that says more."""
        anywhere = -self.simple.conjugate(-self.slope)
        return anywhere if self.within is None else max(anywhere, self._in_ball(self.within))

    def curved(self) -> float:
        """The bound by strong convexity; −∞ without any."""
        mu = self.curvature
        if mu == 0 or self.taken is None:
            return -np.inf
        tilt = self.slope - mu * self.taken
        x = self.simple.proximal(-tilt / mu, 1 / mu)
        least = float(np.vdot(tilt, x)) + mu / 2 * float(np.vdot(x, x)) + self.simple.cost(Move(x))
        return least - self.cost + mu / 2 * self.square

    def _in_ball(self, ball: Ball) -> float:
        """min_x ⟨ȳ, x⟩ + ψ(x) over the ball, by its Lagrangian: any multiplier λ > 0 proves

            min_x ⟨ȳ, x⟩ + ψ(x) + (λ/2)(‖x − center‖² − radius²)

        The best one puts x on the sphere, unless the ball does not bind; without ψ it is
        the first one tried.
        """
        least, low, high = -np.inf, 0.0, np.inf
        multiplier = (float(np.linalg.norm(self.slope)) or 1.0) / ball.radius
        for _ in range(MULTIPLIERS):
            x = self.simple.proximal(ball.center - self.slope / multiplier, 1 / multiplier)
            away = float(np.linalg.norm(x - ball.center))
            slack = multiplier / 2 * (away**2 - ball.radius**2)
            value = float(np.vdot(self.slope, x)) + self.simple.cost(Move(x))
            least = max(least, value + slack)
            # The bound is flat around its best multiplier: half the digits of it will do.
            if abs(away / ball.radius - 1) <= 1e-8 or abs(slack) <= 1e-12 * abs(value):
                break
            low, high = (multiplier, high) if away > ball.radius else (low, multiplier)
            multiplier *= away / ball.radius  # exact without ψ
            if not low < multiplier < high:
                multiplier = (low + high) / 2 if high < np.inf else 4 * low
            elif low == 0:
                multiplier = min(multiplier, high / 16)
        return least

    def why_infinite(self) -> str:
        return (
            "the problem is on an unbounded set, so planes under f prove nothing; state a ball "
            "that holds a minimiser (within=Ball(radius, start)) or use a strongly convex f"
        )
