"""How many coordinates the data need: two estimates of the intrinsic dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.quality.estimate import Estimate
from dualfold.quality.space import EuclideanSpace, Space, space_of

__all__ = ["Dimension", "intrinsic_dimension", "levina_bickel", "two_nn"]

# Neighbours of the second estimator: few, because a curved sheet is flat only nearby.
LEVINA_BICKEL_NEIGHBORS = 10
# Levina and Bickel's estimate needs three neighbours of each row.
MIN_ROWS = 4
# Flat clouds of up to this dimension and size show the bias of an estimator.
MAX_CLOUD_POINTS = 2_000
MAX_CLOUD_DIMENSION = 24


@dataclass(frozen=True)
class Dimension:
    """Two estimates, corrected for the number of points; intervals (95 %) are of sampling alone.

    two_nn : from the ratio of the distances to the second and the first neighbour
    levina_bickel : from those to the first ten, so at a larger scale
    n : number of points
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
    likelihood is n/Σ log μ. Points with a duplicate are left out.

    Facco, d'Errico, Rodriguez and Laio, "Estimating the intrinsic dimension of datasets by a
    minimal neighborhood information" (2017).
    """
    return _two_nn(_distances_without_duplicates(space_of(X), 2))


def levina_bickel(X: Any, n_neighbors: int = LEVINA_BICKEL_NEIGHBORS) -> float:
    """The maximum-likelihood dimension of neighbourhoods, averaged over the points, uncorrected.

        1/d = mean over i and j < k of log(r_k(i)/r_j(i)) · (k−1)/(k−2)

    Levina and Bickel, "Maximum likelihood estimation of intrinsic dimension" (2004), averaged as
    MacKay and Ghahramani (2005) say: inverse dimensions are.
    """
    if n_neighbors < MIN_ROWS - 1:
        raise InvalidInput(Argument("n_neighbors", n_neighbors), f" must be {MIN_ROWS - 1} or more")
    return _levina_bickel(_distances_without_duplicates(space_of(X), n_neighbors))


def intrinsic_dimension(X: Any, *, random_state: int = 0) -> Dimension:
    """Both estimates, each corrected by its value for flat clouds of as many points.

    Few points in many dimensions have their neighbours across the edge of the cloud, and both
    estimates are then too low. Normal clouds and cubes of 1, 2, … dimensions with as many
    points show by how much, and the curve is read backwards.

    X : a table, a space or a graph's geodesics; a sample of about 1,000 rows is enough

    >>> from dualfold.data import swiss_roll
    >>> intrinsic_dimension(swiss_roll(1000, random_state=0).points).value
    2
    """
    space = space_of(X)
    n = space.n
    if n < MIN_ROWS:
        raise InvalidInput(
            Argument("X"),
            f" needs {MIN_ROWS} rows or more for an intrinsic dimension; it has {n}",
        )
    near = min(LEVINA_BICKEL_NEIGHBORS, n - 1)
    distances = _distances_without_duplicates(space, near)
    found = _two_nn(distances), _levina_bickel(distances)
    curves = _estimates_of_flat_clouds(min(n, MAX_CLOUD_POINTS), near, random_state, max(found))
    ends = [_interval(found[0], n), _interval(found[1], n * (near - 1) / 4)]
    both = [
        Estimate(
            _dimension_on_curve(curve, value),
            _dimension_on_curve(curve, end[0]),
            _dimension_on_curve(curve, end[1]),
            n,
        )
        for curve, value, end in zip(curves, found, ends, strict=True)
    ]
    return Dimension(both[0], both[1], n)


def _distances_without_duplicates(space: Space, k: int) -> Array:
    """To the k nearest, of points without a duplicate."""
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


def _estimates_of_flat_clouds(n: int, near: int, seed: int, most: float) -> tuple[Array, Array]:
    """Both estimates of flat clouds of 1, 2, … dimensions."""
    last = int(min(MAX_CLOUD_DIMENSION, np.ceil(1.6 * min(most, MAX_CLOUD_DIMENSION)) + 3))
    estimates = np.zeros((2, last))
    for d in range(1, last + 1):
        rng = np.random.default_rng([seed, d])
        # Without an edge, and with one on all sides: data lie between.
        for cloud in (rng.standard_normal((n, d)), rng.uniform(size=(n, d))):
            distances = _distances_without_duplicates(EuclideanSpace(cloud), near)
            estimates[:, d - 1] += _two_nn(distances) / 2, _levina_bickel(distances) / 2
    return np.maximum.accumulate(estimates[0]), np.maximum.accumulate(estimates[1])


def _dimension_on_curve(curve: Array, value: float) -> float:
    """The dimension whose flat clouds give `value`, interpolated between whole ones."""
    if not np.isfinite(value):
        return float(len(curve))
    places = np.arange(1, len(curve) + 1)
    if value < curve[0]:
        return float(value / curve[0])
    if value > curve[-1]:
        return float(places[-1] * value / curve[-1])
    return float(np.interp(value, curve, places))
