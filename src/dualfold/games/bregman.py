"""Bregman divergences of any φ, and of the entropy of matrices.

    D_c(x) = φ(x) − φ(c) − ⟨∇φ(c), x − c⟩        (Tucker, Definition 6.17)

for a differentiable φ. A step has the least ⟨slope, x⟩ + weight·part(x) + D_c(x). On all of
ℝᵈ it is ∇φ*(∇φ(c) − slope), in closed form where φ has its `maximiser`; elsewhere it is
searched for, and refused where the search does not arrive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput, NotConverged
from dualfold.games.convex_functions import Convex, Indicator
from dualfold.games.convex_sets import Everywhere
from dualfold.games.minimum_search import descend
from dualfold.games.structured_sets import Spectrahedron


@dataclass(frozen=True, eq=False)
class Bregman:
    """The divergence of a φ of one's own: any function of dualfold.games, or an `Oracle`.

    >>> from dualfold.games import Oracle
    >>> burg = Oracle(lambda x: (-float(np.log(x).sum()), -1 / x))  # Itakura and Saito
    >>> round(Bregman(burg).distance(np.array([2.0]), np.array([1.0])), 6)
    0.306853
    """

    of: Convex
    closed: ClassVar[bool] = False

    def distance(self, x: Array, center: Array) -> float:
        """D_center(x)."""
        fall = float(np.vdot(self.of.subgradient(center), x - center))
        return self.of.value(x) - self.of.value(center) - fall

    def slope(self, x: Array, center: Array) -> Array:
        """∇φ(x) − ∇φ(center)."""
        return self.of.subgradient(x) - self.of.subgradient(center)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """‖slope‖²/β, β the strong convexity of φ."""
        beta = self.of.strong_convexity
        return float(np.vdot(slope, slope)) / beta if beta else np.inf

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """The x with the least ⟨slope, x⟩ + weight·part(x) + D(x), D seen from `center`."""
        target = self.of.subgradient(center) - slope
        if isinstance(part, Indicator) and isinstance(part.of, Everywhere):
            try:
                return self.of.maximiser(target)
            except InvalidInput:
                pass  # no closed form: searched for below
        x, arrived = descend(
            lambda x: (self.of.value(x) - float(np.vdot(target, x))) / weight,
            lambda x: (self.of.subgradient(x) - target) / weight,
            part.proximal,
            center,
        )
        if not arrived:
            raise NotConverged(
                "the step with this φ was not found: φ must be differentiable and strongly convex "
                "where the player moves; start the player inside φ's domain, or give φ a maximiser",
                solution=x,
            )
        return x


@dataclass(frozen=True)
class VonNeumann:
    """tr(X log X − X log C − X + C) of positive definite matrices: the entropy's, for spectra.

    On the spectrahedron the step is total·exp(log C − slope)/tr(…), and it is 1/total-strongly
    convex in the sum of the absolute eigenvalues.
    """

    closed: ClassVar[bool] = True

    def distance(self, x: Array, center: Array) -> float:
        """tr(X log X − X log C − X + C)."""
        values = np.linalg.eigvalsh(x)
        own = float(np.sum(values * np.log(np.maximum(values, 1e-300))))
        return own - float(np.vdot(_log(center), x)) - float(np.trace(x) - np.trace(center))

    def slope(self, x: Array, center: Array) -> Array:
        """log X − log C."""
        return _log(x) - _log(center)

    def dual_square(self, part: Convex, slope: Array) -> float:
        """total·λ², λ the largest |eigenvalue| of the slope."""
        of = part.of if isinstance(part, Indicator) else None
        total = of.total if isinstance(of, Spectrahedron) else np.inf
        return float(total * np.abs(np.linalg.eigvalsh((slope + slope.T) / 2)).max() ** 2)

    def step(self, part: Convex, slope: Array, weight: float, center: Array) -> Array:
        """exp(log `center` − slope), scaled to the trace of `part`; `weight` is not used."""
        if not (isinstance(part, Indicator) and isinstance(part.of, Spectrahedron | Everywhere)):
            raise InvalidInput(
                "the step of matrix entropy has a closed form on Spectrahedron and Everywhere "
                "(all positive definite matrices); use one of these"
            )
        values, vectors = np.linalg.eigh(_log(center) - (slope + slope.T) / 2)
        if isinstance(part.of, Everywhere):
            return np.asarray((vectors * np.exp(values)) @ vectors.T)
        share = np.exp(values - values.max())
        return np.asarray((vectors * (part.of.total * share / share.sum())) @ vectors.T)


def _log(matrix: Array) -> Array:
    """The logarithm of a positive definite matrix; what rounding made ≤ 0 is next to 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.log(np.maximum(values, 1e-300))) @ vectors.T)
