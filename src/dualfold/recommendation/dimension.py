"""How many coordinates the data need: two estimates of the intrinsic dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from dualfold.arrays import Array
from dualfold.quality.estimate import Estimate
from dualfold.quality.space import EuclideanSpace, Space, space_of

__all__ = ["Dimension", "intrinsic_dimension", "levina_bickel", "two_nn"]

# Neighbours that the second estimator looks at: few, because a curved sheet is flat only nearby.
NEAR = 10
MOST_POINTS = 2_000  # of a cloud
# Flat clouds of these dimensions show how far an estimator is off with so many points.
MOST = 24


@dataclass(frozen=True)
class Dimension:
    """Two estimates, corrected for the number of points; intervals (95 %) are of sampling alone.

    two_nn : from the ratio of the distances to the second and the first neighbour
    levina_bickel : from those to the first ten, so at a larger scale
    n : points asked
    """

    two_nn: Estimate
    levina_bickel: Estimate
    n: int

    @property
    def value(self) -> int:
        """The whole number nearest to both, 1 or more."""
        return max(1, round((float(self.two_nn) + float(self.levina_bickel)) / 2))

    @property
    def agree(self) -> bool:
        """Whether both say the same, up to one."""
        return abs(float(self.two_nn) - float(self.levina_bickel)) <= max(1.0, 0.15 * self.value)

    def __str__(self) -> str:
        each = ", ".join(
            f"{name} {float(found):.1f} ({found.low:.1f} to {found.high:.1f})"
            for name, found in (("TwoNN", self.two_nn), ("Levina–Bickel", self.levina_bickel))
        )
        if self.agree:
            return f"about {self.value} ({each})"
        return f"not one number ({each}): noise, or several scales"


def two_nn(X: Any) -> float:
    """The dimension by which the second neighbour lies beyond the first, uncorrected.

    μ = r₂/r₁ of points spread evenly in d dimensions has P(μ > t) = t^(−d): the maximum of the
    likelihood is n/Σ log μ. Points with a twin are left out.

    Facco, d'Errico, Rodriguez and Laio, "Estimating the intrinsic dimension of datasets by a
    minimal neighborhood information" (2017).
    """
    return _two_nn(_distances(space_of(X), 2))


def levina_bickel(X: Any, n_neighbors: int = NEAR) -> float:
    """The maximum-likelihood dimension of neighbourhoods, averaged over the points, uncorrected.

        1/d = mean over i and j < k of log(r_k(i)/r_j(i)) · (k−1)/(k−2)

    Levina and Bickel, "Maximum likelihood estimation of intrinsic dimension" (2004), averaged as
    MacKay and Ghahramani (2005) say: inverse dimensions are.
    """
    return _levina_bickel(_distances(space_of(X), n_neighbors))


def intrinsic_dimension(X: Any, *, random_state: int = 0) -> Dimension:
    """Both estimates, each corrected by what it says of flat clouds of as many points.

    Few points in many dimensions have their neighbours across the edge of the cloud, and both
    estimators then say too little. Normal clouds and cubes of 1, 2, … dimensions with as many
    points show by how much, and the curve is read backwards.

    X : a table, a space or a graph's geodesics; a sample of about 1,000 rows is enough

    >>> from dualfold.data import swiss_roll
    >>> intrinsic_dimension(swiss_roll(1000, random_state=0).points).value
    2
    """
    space = space_of(X)
    n = space.n
    near = min(NEAR, n - 1)
    distances = _distances(space, near)
    found = _two_nn(distances), _levina_bickel(distances)
    curves = _curves(min(n, MOST_POINTS), near, random_state, max(found))
    ends = [_interval(found[0], n), _interval(found[1], n * (near - 1) / 4)]
    both = [
        Estimate(_read(curve, value), _read(curve, end[0]), _read(curve, end[1]), n)
        for curve, value, end in zip(curves, found, ends, strict=True)
    ]
    return Dimension(both[0], both[1], n)


def _distances(space: Space, k: int) -> Array:
    """To the k nearest, of points without a twin."""
    distances = np.asarray(space.nearest(k)[1], dtype=float)
    return distances[distances[:, 0] > 0]


def _two_nn(distances: Array) -> float:
    if len(distances) < 2:
        return 0.0
    total = float(np.log(distances[:, 1] / distances[:, 0]).sum())
    return (len(distances) - 1) / total if total > 0 else np.inf


def _levina_bickel(distances: Array) -> float:
    k = distances.shape[1]
    if len(distances) < 2 or k < 3:
        return 0.0
    mean = float(np.log(distances[:, -1:] / distances[:, :-1]).mean()) * (k - 1) / (k - 2)
    return 1 / mean if mean > 0 else np.inf


def _interval(value: float, count: float) -> tuple[float, float]:
    """A sum of `count` exponential logarithms follows the gamma law.

    Neighbourhoods overlap, so that those of Levina and Bickel count for a quarter (measured).
    """
    low, high = (float(gammaincinv(count, q)) / count for q in (0.025, 0.975))
    return value * low, value * high


def _curves(n: int, near: int, seed: int, most: float) -> tuple[Array, Array]:
    """What both estimators say of flat clouds of 1, 2, … dimensions."""
    last = int(min(MOST, np.ceil(1.6 * min(most, MOST)) + 3))
    said = np.zeros((2, last))
    for d in range(1, last + 1):
        rng = np.random.default_rng([seed, d])
        # Without an edge, and with one on all sides: data lie between.
        for cloud in (rng.standard_normal((n, d)), rng.uniform(size=(n, d))):
            distances = _distances(EuclideanSpace(cloud), near)
            said[:, d - 1] += _two_nn(distances) / 2, _levina_bickel(distances) / 2
    return np.maximum.accumulate(said[0]), np.maximum.accumulate(said[1])


def _read(curve: Array, value: float) -> float:
    """The dimension whose clouds are said to have `value`, between whole ones by a line."""
    if not np.isfinite(value):
        return float(len(curve))
    places = np.arange(1, len(curve) + 1)
    if value < curve[0]:
        return float(value / curve[0])
    if value > curve[-1]:
        return float(places[-1] * value / curve[-1])
    return float(np.interp(value, curve, places))
