"""What is recorded of a game while it is played."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.games.convex_functions import Convex, Move
from dualfold.games.convex_sets import Ball
from dualfold.games.plane_bound import LowerBound


class Record:
    """After every round: the average, and bounds from both sides."""

    def __init__(self, f: Convex, simple: Convex, minimiser_ball: Ball | None) -> None:
        self.f, self.simple = f, simple
        self.bound = LowerBound(f, simple, minimiser_ball)
        self.averages: list[Array] = []
        self.values: list[float] = []
        self.upper: list[float] = []
        self.lower: list[float] = []
        self.free: list[float] = []
        self.responses: list[float] = []

    def write(self, x: Move, y: Move, weight: float) -> None:
        """One round."""
        share = weight / (self.bound.weight + weight)
        last = self.averages[-1] if self.averages else np.zeros_like(x.point)
        average = last + share * (x.point - last)
        self.averages.append(average)
        self.bound.add(y, weight)
        self.values.append(self.f.value(average))
        with np.errstate(all="ignore"):
            self.upper.append((self.f.surely(average) + self.simple.surely(average)).high())
        bound = self.bound.bound()
        self.free.append(bound.free)
        self.lower.append(bound.in_ball)
        self.responses.append(bound.response)

    @property
    def gap(self) -> float:
        """Not below the gap that the run will state, so that the last one keeps the promise."""
        return float(np.nextafter(self.upper[-1] - max(self.lower), np.inf))
