"""What it costs a player to move: Bregman divergences, and the step each of them allows.

    D_c(x) = φ(x) − φ(c) − ⟨∇φ(c), x − c⟩

`step(part, slope, weight, center)` is the x with the least

    ⟨slope, x⟩ + weight·part(x) + D_center(x)

where `part` is the simple part of the game: a set, a norm. Euclid's divergence makes it a
proximal step, the entropy's a multiplicative one, a gauge's a scaled linear minimiser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import kl_div, logsumexp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.games.convex import Convex, Indicator
from dualfold.games.polytopes import Simplex
from dualfold.games.sets import ConvexSet


class Divergence(Protocol):
    """What a player needs of a divergence: its value, and the best step with it."""

    def distance(self, x: Array, center: Array) -> float:
        """D_center(x)."""
        ...

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """The x with the least ⟨slope, x⟩ + weight·part(x) + D(x), D seen from `center`."""
        ...


@dataclass(frozen=True)
class Euclidean:
    """½‖x − center‖²; the step is a proximal map, on a set a projection."""

    def distance(self, x: Array, center: Array) -> float:
        """½‖x − center‖²."""
        return float(np.linalg.norm(x - center)) ** 2 / 2

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """The proximal map of `part`, from `center` against `slope`, with `weight`."""
        return part.proximal(center - slope, weight)


@dataclass(frozen=True)
class KullbackLeibler:
    """Σ x log(x/center) − x + center, of the entropy; the step multiplies by exp(−slope).

    On the simplex it is 1-strongly convex in the ℓ1 norm, so slopes count by their
    largest entry only: d directions cost log d.
    """

    def distance(self, x: Array, center: Array) -> float:
        """Σ x log(x/center) − x + center."""
        return float(np.sum(kl_div(x, center)))

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """`center` times exp(−slope), to scale; `part` is the simplex, `weight` is not used."""
        if not (isinstance(part, Indicator) and isinstance(part.of, Simplex)):
            raise InvalidInput(
                "the entropy's step has a closed form on the simplex only; use Simplex, or the "
                "Euclidean divergence"
            )
        with np.errstate(divide="ignore"):
            exponents = np.log(center) - slope
        return np.asarray(part.of.total * np.exp(exponents - logsumexp(exponents)))


@dataclass(frozen=True, eq=False)
class Gauge:
    """½gauge(x)² of a set around 0; its step needs a linear minimiser, no projection.

    The least ⟨slope, x⟩ + ½gauge(x)² over K is min(1, h)·v with v the linear minimiser of K
    and h = −⟨slope, v⟩. There is no center but 0.
    """

    of: ConvexSet

    def distance(self, x: Array, center: Array) -> float:
        """½gauge(x)²; the center is 0."""
        return self.of.gauge(x) ** 2 / 2

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """A linear minimiser of the set for `slope`, scaled; no `part`, `weight`, `center` here."""
        corner = self.of.minimiser(slope)
        return min(1.0, -float(np.vdot(slope, corner))) * corner
