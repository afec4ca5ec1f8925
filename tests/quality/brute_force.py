"""What measures of all pairs and of neighbourhoods are made of, written out."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def off_diagonal(X, Y):
    """The distances of all pairs before and after, twice each."""
    off = ~np.eye(len(X), dtype=bool)
    return cdist(X, X)[off], cdist(Y, Y)[off]


def shared_ranks(distances, tolerance=0.0):
    """(first, last) rank of j around i among the points as far as it; 0 on the diagonal."""
    n = len(distances)
    first, last = np.zeros((n, n), dtype=int), np.zeros((n, n), dtype=int)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        apart = distances[i, others]
        for j in others:
            first[i, j] = 1 + np.sum(apart < distances[i, j] - tolerance)
            last[i, j] = np.sum(apart <= distances[i, j] + tolerance)
    return first, last


def nearest_in_order(distances, k):
    """The k nearest by (distance, index)."""
    apart = distances.copy()
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1, kind="stable")[:, :k]


def neighborhood_measures(before, after, k, tolerance=0.0):
    """Every measure of neighbourhoods for each point, from the definitions: ties in X are excused,
    those of the map count by the mean over their orders."""
    n = len(before)
    (low, high), (least, most) = shared_ranks(before, tolerance), shared_ranks(after)
    near = nearest_in_order(before, k)
    factor = 2 / (k * (2 * n - 3 * k - 1))
    worst = sum(abs(n - 2 * m + 1) / m for m in range(1, k + 1))
    found = {name: np.zeros(n) for name in ("t_similarity", "trustworthiness", "continuity")}
    found |= {name: np.zeros(n) for name in ("intruders", "lost")}
    for i in range(n):
        for j in range(n):
            orders = range(least[i, j], most[i, j] + 1)
            for r in orders if j != i else ():
                chance, apart = 1 / len(orders), max(low[i, j] - r, r - high[i, j], 0)
                if r <= k:
                    found["t_similarity"][i] += chance * (low[i, j] <= k) / k
                    found["trustworthiness"][i] += chance * max(0, low[i, j] - k)
                    found["intruders"][i] += chance * apart / r / worst
                for place in np.flatnonzero(near[i] == j) + 1:
                    found["continuity"][i] += chance * max(0, r - max(k, high[i, j]))
                    found["lost"][i] += chance * apart / place / worst
    for name in ("trustworthiness", "continuity"):
        found[name] = 1 - factor * found[name]
    reached = np.array([high[i, near[i, -1]] for i in range(n)])
    return found | {"chance": reached / (n - 1)}
