"""What measures of all pairs and of neighbourhoods are made of, written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold import quality
from tests.quality.door import co_ranking, neighbor_ranks


def off_diagonal(X, Y):
    """The distances of all pairs before and after, twice each."""
    off = ~np.eye(len(X), dtype=bool)
    return cdist(X, X)[off], cdist(Y, Y)[off]


def shared_ranks(distances, tolerance=0.0):
    """(first, last) rank of j around i among the points as far as it."""
    first, last = np.empty(distances.shape, dtype=int), np.empty(distances.shape, dtype=int)
    for i, own in enumerate(distances):
        others = np.sort(np.delete(own, i))
        first[i] = 1 + np.searchsorted(others, own - tolerance, side="left")
        last[i] = np.searchsorted(others, own + tolerance, side="right")
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
    place = np.full((n, n), np.inf)
    place[np.arange(n)[:, None], near] = np.arange(1, k + 1)
    names = "t_similarity", "trustworthiness", "continuity", "intruders", "lost"
    found = {name: np.zeros(n) for name in names}
    for r in range(1, n):
        chance = (least <= r) & (r <= most) & ~np.eye(n, dtype=bool)
        chance = chance / np.maximum(most - least + 1, 1)
        apart = np.maximum(np.maximum(low - r, r - high), 0)
        if r <= k:
            found["t_similarity"] += np.sum(chance * (low <= k) / k, axis=1)
            found["trustworthiness"] += np.sum(chance * np.maximum(0, low - k), axis=1)
            found["intruders"] += np.sum(chance * apart / r / worst, axis=1)
        beyond = np.maximum(0, r - np.maximum(k, high))
        found["continuity"] += np.sum(chance * beyond * np.isfinite(place), axis=1)
        found["lost"] += np.sum(chance * apart / place / worst, axis=1)
    for name in ("trustworthiness", "continuity"):
        found[name] = 1 - factor * found[name]
    reached = np.array([high[i, near[i, -1]] for i in range(n)])
    return found | {"chance": reached / (n - 1)}


def measures_agree(X, Y, distances_x, k, tolerance=0.0, **options):
    """Hold every measure of neighbourhoods, for each point and as a mean, to its definition."""
    expected = neighborhood_measures(distances_x, cdist(Y, Y), k, tolerance)
    chance, kept = expected.pop("chance"), expected["t_similarity"]
    ranks = neighbor_ranks(X, Y, k, **options)
    intruders, lost = ranks.mean_relative_rank_errors(per_point=True)
    found = {
        "trustworthiness": quality.trustworthiness(X, Y, n_neighbors=k, per_point=True, **options),
        "continuity": quality.continuity(X, Y, n_neighbors=k, per_point=True, **options),
        "t_similarity": quality.t_similarity(X, Y, k, per_point=True, **options),
        "intruders": intruders,
        "lost": lost,
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-11, err_msg=name)
    for name in ("trustworthiness", "continuity", "t_similarity"):
        assert getattr(ranks, name)() == pytest.approx(expected[name].mean(), abs=1e-12)
    beyond = quality.lcmc(X, Y, n_neighbors=k, per_point=True, **options)
    np.testing.assert_allclose(beyond, kept - chance, atol=1e-12)
    both = quality.mean_relative_rank_errors(X, Y, n_neighbors=k, **options)
    assert both == pytest.approx((expected["intruders"].mean(), expected["lost"].mean()))
    for most in (None, max(k, 5)):
        curve = quality.neighborhood_curve(X, Y, most, **options)
        assert curve.q_nx[k - 1] == pytest.approx(kept.mean())
        assert curve.chance[k - 1] == pytest.approx(chance.mean())
    assert co_ranking(X, Y, k + 5, **options).q_nx()[k - 1] == pytest.approx(kept.mean())
