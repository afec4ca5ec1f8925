"""Which points are placed at random? A mixture of two groups, fitted to p-values.

p-values of points at random places are uniform, by construction. Those of points with a place of
their own are small, and the smaller the more frequent:

    f(p) = π·1 + Σ_b w_b·b·(1 − p)^(b − 1),   b = 3, 6, 12, 24, …

The weights are those of the largest likelihood (EM on counts in bins; there is one optimum). How
flat the flattest part may be is chosen by Schwarz's criterion (BIC), a parameter for each power:
flat parts take points away from the random group, and only what the counts demand should. The
posterior of "random" at p is π/f(p). It grows with p, because every part falls.

Efron, "Microarrays, empirical Bayes and the two-groups model" (2008): there what is not null is of
interest, here the null group is. Mixtures over a grid: Stephens, "False discovery rates: a new
deal" (2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from dualfold.arrays import Array

__all__ = ["DUBIOUS", "TwoGroups", "two_groups"]

DUBIOUS = 0.95
# The mean p-value of a part is 1/(b + 1): at b = 3 it still differs from that of chance, 1/2.
FLATTEST = 3.0
_BINS, _ROUNDS = 200, 2_000


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """The fitted mixture.

    posterior : of "random", one for each point
    share_random : π, the share of points at random places, as estimated
    parts : (weight, b) of each part of the others
    """

    posterior: Array
    share_random: float
    parts: tuple[tuple[float, float], ...]

    @property
    def dubious(self) -> Array:
        """Where the posterior of random is at least 0.95."""
        return np.asarray(self.posterior >= DUBIOUS)

    @property
    def expected_false(self) -> float:
        """The share of the dubious points that the model expects not to be random."""
        chosen = self.posterior[self.dubious]
        return float(np.mean(1 - chosen)) if len(chosen) else 0.0


def two_groups(p_values: Array) -> TwoGroups:
    """Fit the mixture and read off the posterior of every point.

    p_values : one for each point, uniform for points at random places

    >>> rng = np.random.default_rng(0)
    >>> found = two_groups(np.concatenate([rng.uniform(size=500), rng.uniform(0, 0.01, 4500)]))
    >>> round(found.share_random, 1), int(found.dubious.sum()) in range(450, 510)
    (0.1, True)
    """
    least = min(max(float(p_values.min()), 1e-9), 0.01)
    # Even on the scale of log odds: most of what differs is near 0.
    inner = expit(np.linspace(logit(least), logit(0.99), _BINS - 1))
    edges = np.concatenate([[0.0], inner, [1.0]])
    counts = np.histogram(p_values, edges)[0].astype(float)
    grid = FLATTEST * 2.0 ** np.arange(1 + int(np.log2(1 / (FLATTEST * least))))
    fits = [_fitted(counts, edges, grid[first:]) for first in range(len(grid) + 1)]
    marks = [loss + 0.5 * np.log(len(p_values)) * len(powers) for loss, _, powers in fits]
    _, weights, powers = fits[int(np.argmin(marks))]
    falling = weights[1:] * powers * (1 - p_values[:, None]) ** (powers - 1)
    parts = tuple(zip(weights[1:].tolist(), powers.tolist(), strict=True))
    return TwoGroups(weights[0] / (weights[0] + falling.sum(axis=1)), float(weights[0]), parts)


def _fitted(counts: Array, edges: Array, powers: Array) -> tuple[float, Array, Array]:
    """(−log likelihood, weights with the random one first, powers)."""
    survival = (1 - edges) ** powers[:, None]
    bins = np.vstack([np.diff(edges)[None], -np.diff(survival, axis=1)])
    weights = np.full(len(bins), 1 / len(bins))
    share = counts / counts.sum()
    for _ in range(_ROUNDS):
        growth = bins @ (share / np.maximum(weights @ bins, 1e-300))
        weights *= growth
        if growth.max() < 1 + 1e-6:  # Karush, Kuhn and Tucker: the loss is optimal to 1e-6 a point
            break
    mass = np.maximum(weights @ bins, 1e-300)
    return -float(counts @ np.log(mass)), weights, powers
