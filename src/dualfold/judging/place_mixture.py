"""Which points stand at random places: a mixture of two groups, where it can be told apart.

The p-values of points at random places are uniform, by construction. Those of points with a place
of their own are small, and the smaller the more frequent:

    f(p) = π·1 + Σ_b w_b·b·(1 − p)^(b − 1),   b = 3, 6, 12, 24, …

The weights are those of the largest likelihood (EM on counts in bins; the optimum is unique). How
flat the flattest part may be is chosen by Schwarz's criterion (BIC), a parameter for each power:
flat parts take points away from the random group, and only what the counts demand should. The
posterior of "random" at p is π/f(p). It grows with p, because every part falls.

This model always explains large p-values by random places. Noise makes them large, too: if every
place is the true one plus noise, p-values are large everywhere and no place is random. So the
mixture counts only where the scores show two groups. On the scale z = Φ⁻¹(p) random places are
N(0, 1), and the places of a map with noise are about N(m, τ²), m < 0, τ ≤ 1, whatever the data (no
heavier to the right; docs/dev/notes/audits.md). Two groups are there if

    ρ·N(0, 1) + (1 − ρ)·N(m, τ²)   is more likely than   N(m, τ²)   by `MIN_EVIDENCE`,

and 95 % of N(m, τ²) lie below the median of random places. If there is one group, either no
point is dubious or every one: every one where a random place is surely as good as a point's
own for 45 % of the points or more (50 %: places say nothing at all).

Efron, "Microarrays, empirical Bayes and the two-groups model" (2008): there what is not null is of
interest, here the null group is. Mixtures over a grid: Stephens, "False discovery rates: a new
deal" (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from dualfold.arrays import Array

__all__ = ["DUBIOUS_POSTERIOR", "TwoGroups", "two_groups"]

DUBIOUS_POSTERIOR = 0.95
# The mean p-value of a part is 1/(b + 1): at b = 3 it still differs from that of chance, 1/2.
SMALLEST_POWER = 3.0
_P_VALUE_BINS = 200
_MAX_EM_STEPS = 2_000
# Of two groups against one: twice the difference of the logarithms of the likelihoods, 2 for one
# more parameter (Akaike). More where most points would be random: a few good scores among them
# come by chance (docs/dev/notes/audits.md).
MIN_EVIDENCE = 2.0
MIN_EVIDENCE_OF_MOST = 10.0
# All points are dubious where the mean p-value is surely above this, ½ being that of random places.
MIN_RANDOM_MEAN = 0.45
# Standard error of the mean p-value of n random places, times √n: 0.29 if they were independent.
MEAN_ERROR = 0.45
_Z_EDGES = np.concatenate([[-np.inf], np.arange(-4.0, 4.01, 0.125), [np.inf]])
_Z_MEANS = np.arange(-4.2, 0.51, 0.15)
_Z_DEVIATIONS = 0.25 * 4.0 ** np.linspace(0, 1, 9)


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """The fitted mixture.

    posterior : of "random", one for each point; 0 where one group of other places explains all
    share_random : π, the share of points at random places, as estimated
    parts : (weight, b) of each part of the others
    random_as_good : for how many of the points a random place is as good as their own: the mean
        p-value. 0: every place is better, 0.5: places say nothing
    can_tell : whether a point at a random place would differ from the others. False where
        there is one group of places that say something, but hardly more than random ones
    """

    posterior: Array
    share_random: float
    parts: tuple[tuple[float, float], ...]
    random_as_good: float
    can_tell: bool = True

    @property
    def is_random(self) -> bool:
        """Whether the places of all points together say next to nothing."""
        return self.share_random == 1.0

    @property
    def dubious(self) -> Array:
        """Where the posterior of random is at least 0.95."""
        return np.asarray(self.posterior >= DUBIOUS_POSTERIOR)

    @property
    def expected_false(self) -> float:
        """The share of the dubious points that the model expects not to be random."""
        chosen = self.posterior[self.dubious]
        return float(np.mean(1 - chosen)) if len(chosen) else 0.0


class Separation(NamedTuple):
    """Two groups of z against one.

    evidence : twice the difference of the logarithms of their likelihoods
    share_random : ρ
    end_of_two, end_of_one : m + 1.645τ, of the group beside the random one and of one alone
    """

    evidence: float
    share_random: float
    end_of_two: float
    end_of_one: float

    @property
    def has_two_groups(self) -> bool:
        """Whether both groups are there and apart."""
        least = MIN_EVIDENCE if self.share_random < 0.5 else MIN_EVIDENCE_OF_MOST
        return self.evidence > least and self.end_of_two < 0


def two_groups(p_values: Array) -> TwoGroups:
    """Fit the mixture and read off the posterior of every point.

    p_values : one for each point, uniform for points at random places

    >>> rng = np.random.default_rng(0)
    >>> found = two_groups(np.concatenate([rng.uniform(size=500), rng.uniform(0, 0.01, 4500)]))
    >>> round(found.share_random, 1), int(found.dubious.sum()) in range(450, 510)
    (0.1, True)
    """
    n, mean = len(p_values), float(p_values.mean())
    if mean - 1.645 * MEAN_ERROR / np.sqrt(n) > MIN_RANDOM_MEAN:
        return TwoGroups(np.ones(n), 1.0, (), mean)
    found = separation(p_values)
    if not found.has_two_groups:
        return TwoGroups(np.zeros(n), 0.0, (), mean, found.end_of_one < 0)
    weights, powers = likeliest_mixture(p_values)
    falling = weights[1:] * powers * (1 - p_values[:, None]) ** (powers - 1)
    parts = tuple(zip(weights[1:].tolist(), powers.tolist(), strict=True))
    posterior = weights[0] / (weights[0] + falling.sum(axis=1))
    return TwoGroups(posterior, float(weights[0]), parts, mean)


def separation(p_values: Array) -> Separation:
    """Log-likelihood ratio of two groups of z = Φ⁻¹(p) against one."""
    counts = np.histogram(ndtri(p_values), _Z_EDGES)[0].astype(float)
    means, deviations, alone = _normal_bins()
    random = np.diff(ndtr(_Z_EDGES))
    low, high = np.zeros(len(alone)), np.ones(len(alone))
    for _ in range(30):  # the likelihood is concave in ρ: its slope is halved to 1e-9
        share = (low + high) / 2
        mixed = alone + share[:, None] * (random - alone)
        rises = ((random - alone) / mixed) @ counts > 0
        low, high = np.where(rises, share, low), np.where(rises, high, share)
    two = np.log(alone + low[:, None] * (random - alone)) @ counts
    one = np.log(alone) @ counts
    best, single = int(np.argmax(two)), int(np.argmax(one))
    ends = means + 1.645 * deviations
    return Separation(
        2 * float(two[best] - one[single]),
        float(low[best]),
        float(ends[best]),
        float(ends[single]),
    )


@cache
def _normal_bins() -> tuple[Array, Array, Array]:
    """Means and deviations of the groups that are tried, and the mass of each in every bin."""
    means, deviations = (M.ravel() for M in np.meshgrid(_Z_MEANS, _Z_DEVIATIONS, indexing="ij"))
    below = ndtr((_Z_EDGES - means[:, None]) / deviations[:, None])
    return means, deviations, np.maximum(np.diff(below, axis=1), 1e-12)


def likeliest_mixture(p_values: Array) -> tuple[Array, Array]:
    """Weights, that of the random part first, and powers, as many as BIC takes."""
    least = min(max(float(p_values.min()), 1e-9), 0.01)
    # Even on the scale of log odds: most of what differs is near 0.
    inner = expit(np.linspace(logit(least), logit(0.99), _P_VALUE_BINS - 1))
    edges = np.concatenate([[0.0], inner, [1.0]])
    counts = np.histogram(p_values, edges)[0].astype(float)
    grid = SMALLEST_POWER * 2.0 ** np.arange(1 + int(np.log2(1 / (SMALLEST_POWER * least))))
    fits = [_fit_mixture(counts, edges, grid[first:]) for first in range(len(grid) + 1)]
    marks = [loss + 0.5 * np.log(len(p_values)) * len(powers) for loss, _, powers in fits]
    _, weights, powers = fits[int(np.argmin(marks))]
    return weights, powers


def _fit_mixture(counts: Array, edges: Array, powers: Array) -> tuple[float, Array, Array]:
    """(−log likelihood, weights with the random one first, powers)."""
    survival = (1 - edges) ** powers[:, None]
    bins = np.vstack([np.diff(edges)[None], -np.diff(survival, axis=1)])
    weights = np.full(len(bins), 1 / len(bins))
    share = counts / counts.sum()
    for _ in range(_MAX_EM_STEPS):
        growth = bins @ (share / np.maximum(weights @ bins, 1e-300))
        weights *= growth
        if growth.max() < 1 + 1e-6:  # Karush, Kuhn and Tucker: the loss is optimal to 1e-6 a point
            break
    mass = np.maximum(weights @ bins, 1e-300)
    return -float(counts @ np.log(mass)), weights, powers
