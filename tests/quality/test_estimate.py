"""Intervals of measures on a sample, and which rows are drawn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from dualfold import quality
from dualfold.errors import InvalidInput
from tests.quality.door import (
    drawn_rows,
    estimate_of_mean,
    estimate_of_pair_sums,
    interval_of_means,
    sample_size,
)


def test_the_interval_of_shares_is_that_of_clopper_and_pearson():
    """Of zeros and ones the limits are quantiles of beta distributions."""
    for m, ones in ((10, 0), (50, 1), (200, 5), (400, 200), (1000, 1000)):
        values = np.zeros(m)
        values[:ones] = 1
        found = estimate_of_mean(values, 10**9, (0.0, 1.0))
        low = scipy.stats.beta.ppf(0.025, ones, m - ones + 1) if ones else 0.0
        high = scipy.stats.beta.ppf(0.975, ones + 1, m - ones) if ones < m else 1.0
        # The saddle point is right to 3 % of the distance from the bound.
        assert found.low == pytest.approx(low, abs=0.03 * min(low, 1 - low))
        assert found.high == pytest.approx(high, abs=0.03 * min(high, 1 - high))


def test_the_interval_of_a_mean_is_the_quantile_of_random_weights():
    rng = np.random.default_rng(0)
    values = rng.beta(5, 0.5, 60)
    found = estimate_of_mean(values, 10**9, (0.0, 1.0))
    weights = rng.dirichlet(np.ones(61), 100_000)
    for end, level in ((0.0, 0.025), (1.0, 0.975)):
        limit = np.quantile(weights @ np.append(values, end), level)
        assert (found.high if end else found.low) == pytest.approx(limit, abs=2e-3)
    half = estimate_of_mean(values, 120, (0.0, 1.0))  # every second point was drawn
    mean = values.mean()
    assert half.high - mean == pytest.approx((found.high - mean) / np.sqrt(2), rel=1e-4)
    assert (half.sampled, half.confidence) == (60, 0.95)
    assert type(estimate_of_mean(values, 60, (0.0, 1.0))) is float
    scaled = estimate_of_mean(3 * values - 1, 120, (-1.0, 2.0))
    assert (scaled.low, scaled.high) == pytest.approx((3 * half.low - 1, 3 * half.high - 1))


@pytest.mark.parametrize("bad", [1, 5, 40])
def test_the_interval_holds_where_a_map_is_wrong_at_a_few_points(bad):
    """Also where most samples have none of them."""
    n, rng = 6_000, np.random.default_rng(bad)
    losses = np.zeros(n)
    losses[:bad] = rng.random(bad)
    losses[bad : 11 * bad] = 0.1 * rng.random(10 * bad)
    runs = 400
    drawn = np.stack([rng.choice(1 - losses, 1_000, replace=False) for _ in range(runs)], axis=1)
    low, high = interval_of_means(drawn, n, (0.0, 1.0))
    truth = 1 - losses.mean()
    # Of 400 intervals of 95 %, fewer than 360 have a chance below 1e-4.
    assert np.sum((low <= truth) & (truth <= high)) >= 360
    assert np.mean(high - low) < 0.01


def test_sums_over_pairs_are_exact_where_each_point_adds_its_own():
    """A number a_i + a_j of a pair: any sample of points has the total of all pairs."""
    rng = np.random.default_rng(1)
    n, own = 40, rng.pareto(1.0, 40)
    pairs = own[:, None] + own
    np.fill_diagonal(pairs, 0.0)
    both = np.stack([pairs, 1.0 - np.eye(n)], axis=2)

    def ratio(total):
        return total[..., 0] / total[..., 1]

    for m in (4, 10, 39):
        rows = np.sort(rng.choice(n, m, replace=False))
        sums, inner = both[rows].sum(axis=1), both[rows][:, rows].sum(axis=1)
        found = estimate_of_pair_sums(sums, inner, n, ratio, (0.0, np.inf))
        assert float(found) == pytest.approx(pairs.sum() / (n * (n - 1)))
        assert found.high - found.low < 1e-9 * found
    every = estimate_of_pair_sums(both.sum(axis=1), None, n, ratio, (0.0, 1.0))
    assert every == pytest.approx(float(found))
    two = estimate_of_pair_sums(sums[:2], inner[:2], n, ratio, (0.0, 9.0))
    assert (two.low, two.high, two.sampled) == (0.0, 9.0, 2)


@pytest.mark.parametrize("name", ["stress", "distance_correlation"])
def test_intervals_of_distances_hold_where_a_map_is_wrong_at_a_few_points(name):
    rng = np.random.default_rng(2)
    n = 300
    X = np.column_stack([np.arange(n) * 1.0, rng.random(n)])
    Y = X.copy()
    Y[rng.choice(n, 3, replace=False), 0] = rng.random(3) * n
    measure = getattr(quality, name)
    whole = measure(X, Y)
    found = [measure(X, Y, sample=60, random_state=seed) for seed in range(40)]
    # Of 40 intervals of 95 %, fewer than 31 have a chance below 1e-5.
    assert sum(one.low <= whole <= one.high for one in found) >= 31
    assert max(one.high - one.low for one in found) < 0.1


def test_which_rows_are_drawn():
    assert drawn_rows(5, None, 0) is None
    assert drawn_rows(5, 5, 0) is None
    rows = drawn_rows(100, 7, 3)
    assert (len(set(rows.tolist())), rows.min() >= 0, rows.max() < 100) == (7, True, True)
    assert (np.diff(rows) > 0).all()
    for wrong in (1, True, 2.5, "3"):
        with pytest.raises(InvalidInput, match="two or more"):
            drawn_rows(5, wrong, 0)
    assert [sample_size(n) for n in (5_000, 5_001)] == [None, 1_000]
    assert [sample_size(10, asked) for asked in (9, 10, 11)] == [9, None, None]


def test_limits_of_an_estimate_stay_where_the_measure_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y, labels = X[:, :2].copy(), np.arange(40) % 2
    Y[::2] = rng.normal(size=(20, 2))  # half of the rows are wrong: a sample of two says little
    for seed in range(6):
        drawn = {"sample": 2, "random_state": seed}
        for value, least, most in (
            (quality.neighborhood_curve(X, Y, 10, **drawn).auc, -1, 1),
            (quality.stress(X, Y, **drawn), 0, 1),
            (quality.lcmc(X, Y, n_neighbors=5, **drawn), -5 / 39, 1 - 5 / 39),
            (quality.silhouette(X, labels, **drawn), -1, 1),
        ):
            assert least <= value.low <= value <= value.high <= most
        assert 0 <= quality.nonmetric_stress(X, Y, **drawn) <= 1
