"""How many coordinates the data need: two estimates of the intrinsic dimension."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.quality.estimate import Estimate, drawn_rows
from dualfold.quality.reference_clouds import MAX_ROWS, inverse_curves
from dualfold.quality.space import EuclideanSpace, Measured, Space, space_of

__all__ = ["Dimension", "intrinsic_dimension", "levina_bickel", "two_nn"]

# Neighbours of the second estimator: few, because a curved sheet is flat only nearby.
LEVINA_BICKEL_NEIGHBORS = 10
# Levina and Bickel's estimate needs three neighbours of each row.
MIN_ROWS = 4
# Independent logarithms that count for a point: both neighbours of two points are often the same,
# and neighbourhoods overlap (docs/dev/notes/audits.md).
TWO_NN_LOGARITHMS = 0.55
LEVINA_BICKEL_LOGARITHMS = 3.0


@dataclass(frozen=True)
class Dimension:
    """Two estimates, corrected for the number of points, each with its range.

    two_nn : from the ratio of the distances to the second and the first neighbour
    levina_bickel : from those to the first ten, so at a larger scale
    n : number of points; equal rows count once

    The range of an estimate (`low`, `high`) holds what chance and edges make uncertain: of normal
    clouds, cubes and spheres it holds the dimension in 95 % of samples or more
    (docs/calibration.md). Bends, noise, several scales and grids are not in it: it is no
    confidence interval for other shapes.
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
        """Whether both say the same: up to one, or their ranges meet."""
        first, second = self.two_nn, self.levina_bickel
        near = abs(float(first) - float(second)) <= max(1.0, 0.15 * self.value)
        return near or max(first.low, second.low) <= min(first.high, second.high)

    def __str__(self) -> str:
        each = ", ".join(
            f"{name} {float(estimate):.1f} ({estimate.low:.1f} to {estimate.high:.1f})"
            for name, estimate in (("TwoNN", self.two_nn), ("Levina–Bickel", self.levina_bickel))
        )
        each += "; ranges for normal clouds, cubes and spheres"
        if self.agree:
            return f"about {self.value} ({each})"
        return f"not one number ({each}): as with noise, or several scales"


def two_nn(X: Measured) -> float:
    """The dimension by which the second neighbour lies beyond the first, uncorrected.

    μ = r₂/r₁ of points spread evenly in d dimensions has P(μ > t) = t^(−d): the maximum of the
    likelihood is n/Σ log μ. Points with a duplicate are left out.

    Facco, d'Errico, Rodriguez and Laio, "Estimating the intrinsic dimension of datasets by a
    minimal neighborhood information" (2017).
    """
    return _two_nn(_distances_without_duplicates(space_of(X), 2))


def levina_bickel(X: Measured, n_neighbors: int = LEVINA_BICKEL_NEIGHBORS) -> float:
    """The maximum-likelihood dimension of neighbourhoods, averaged over the points, uncorrected.

        1/d = mean over i and j < k of log(r_k(i)/r_j(i)) · (k−1)/(k−2)

    Levina and Bickel, "Maximum likelihood estimation of intrinsic dimension" (2004), averaged as
    MacKay and Ghahramani (2005) say: inverse dimensions are.
    """
    if n_neighbors < MIN_ROWS - 1:
        raise InvalidInput(Argument("n_neighbors", n_neighbors), f" must be {MIN_ROWS - 1} or more")
    return _levina_bickel(_distances_without_duplicates(space_of(X), n_neighbors))


def intrinsic_dimension(X: Measured, *, random_state: int = 0) -> Dimension:
    """Intrinsic dimension of a table, by two estimates.

    Both come from distances to nearest neighbours: TwoNN [1]_ uses the first two, the maximum
    likelihood of Levina and Bickel [2]_ the first ten. Each is corrected by its value for flat
    clouds of as many points.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, or a `Graph` for its geodesic distances. About 1,000 rows are enough.
    random_state : int, default=0
        Seed of the 20,000 rows that are drawn from a longer table.

    Returns
    -------
    Dimension
        `value`, a whole number; `two_nn` and `levina_bickel`, the two estimates with the limits
        `low` and `high`; `agree`, whether they say the same; `n`, the number of rows. `print` it.

    Raises
    ------
    InvalidInput
        If there are too few rows.

    Notes
    -----
    Few points in many dimensions have their neighbours across the edge of the cloud, and both
    estimates are then too low; by how much depends on the shape. Normal clouds, cubes and spheres
    of 1 to 40 dimensions and 20 to 20,000 points were simulated, and their curves are read
    backwards: the value lies in the middle of the three, the range holds all of them. Neither is
    above the number of columns, and equal rows count once.

    References
    ----------
    .. [1] E. Facco, M. d'Errico, A. Rodriguez and A. Laio, "Estimating the intrinsic dimension of
       datasets by a minimal neighborhood information", Scientific Reports, 7, 12140, 2017.
    .. [2] E. Levina and P. J. Bickel, "Maximum likelihood estimation of intrinsic dimension",
       Advances in Neural Information Processing Systems 17, 2004.
    .. [3] D. J. C. MacKay and Z. Ghahramani, "Comments on 'Maximum likelihood estimation of
       intrinsic dimension' by E. Levina and P. Bickel", 2005. Inverse dimensions are averaged as
       they say.

    Examples
    --------
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.recommendation import intrinsic_dimension
    >>> intrinsic_dimension(swiss_roll(500, random_state=0).points).value
    2
    """
    space = space_of(X)
    if space.n < MIN_ROWS:
        raise InvalidInput(
            Argument("X"),
            f" needs {MIN_ROWS} rows or more for an intrinsic dimension; it has {space.n}",
        )
    if isinstance(space, EuclideanSpace):
        rows = drawn_rows(space.n, MAX_ROWS, random_state)
        space = space if rows is None else EuclideanSpace(space.points[rows], space.threads)
    distances = _distances_without_duplicates(space, min(LEVINA_BICKEL_NEIGHBORS, space.n - 1))
    if len(distances) < space.n and isinstance(space, EuclideanSpace):  # equal rows count once
        distinct = np.unique(space.points, axis=0)
        if MIN_ROWS <= len(distinct) < space.n:
            space = EuclideanSpace(distinct, space.threads)
            distances = _distances_without_duplicates(
                space, min(LEVINA_BICKEL_NEIGHBORS, space.n - 1)
            )
    estimates = _two_nn(distances), _levina_bickel(distances)
    counts = TWO_NN_LOGARITHMS * len(distances), LEVINA_BICKEL_LOGARITHMS * len(distances)
    each = zip(estimates, counts, inverse_curves(space.n), strict=True)
    by_two, by_ten = (_with_range(*estimate, space.n) for estimate in each)
    if isinstance(space, EuclideanSpace):
        most = space.width  # no table has more dimensions than columns
        by_two, by_ten = (
            Estimate(min(float(e), most), min(e.low, most), min(e.high, most), e.sampled)
            for e in (by_two, by_ten)
        )
    return Dimension(by_two, by_ten, space.n)


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


def _with_range(
    value: float, count: float, inverses: list[Callable[[float], float]], n: int
) -> Estimate:
    """The middle of what the reference clouds say of `value`, and all that they say of its ends.

    A sum of `count` exponential logarithms follows the gamma law.
    """
    ends = [value * float(gammaincinv(count, q)) / count for q in (0.025, 0.975)] if count else ()
    low, high = ([inverse(end) for inverse in inverses] for end in (ends or (value, value)))
    middle = [inverse(value) for inverse in inverses]
    return Estimate((min(middle) + max(middle)) / 2, min(low), max(high), n)
