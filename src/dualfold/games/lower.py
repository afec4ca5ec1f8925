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

    def linear(self, near: Array) -> float:
        """min_x ⟨ȳ, x⟩ + ψ(x), over the stated ball if that says more."""
        anywhere = -self.simple.conjugate(-self.slope)
        return anywhere if self.within is None else max(anywhere, self._in_ball(near))

    def curved(self) -> float:
        """The bound by strong convexity; −∞ without any."""
        mu = self.curvature
        if mu == 0 or self.taken is None:
            return -np.inf
        tilt = self.slope - mu * self.taken
        x = self.simple.proximal(-tilt / mu, 1 / mu)
        least = float(np.vdot(tilt, x)) + mu / 2 * float(np.vdot(x, x)) + self.simple.cost(Move(x))
        return least - self.cost + mu / 2 * self.square

    def _in_ball(self, near: Array) -> float:
        """A bound over the ball: ψ is no less than its tangent at p, whose slope is u.

        p is a proximal step from `near`; at a solution near = p, and the bound is exact.
        """
        assert self.within is not None
        length = float(np.linalg.norm(self.slope))
        if length == 0:
            return -np.inf
        step = self.within.radius / length
        p = self.simple.proximal(near - step * self.slope, step)
        u = (near - p) / step - self.slope
        tangent = self.simple.cost(Move(p)) - float(np.vdot(u, p))
        return tangent + self.within.minimum(self.slope + u)

    def why_infinite(self) -> str:
        return (
            "the problem is on an unbounded set, so planes under f prove nothing; state a ball "
            "that holds a minimiser (within=Ball(radius, start)) or use a strongly convex f"
        )
