"""Intervals of measures on a sample, and which rows are drawn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality.estimate import (
    drawn_rows,
    estimate_of_mean,
    estimate_of_sums,
    sample_size,
    values_at_all_points,
)


def test_the_interval_of_a_mean_is_students():
    values = np.array([0.1, 0.4, 0.4, 0.9])
    found = estimate_of_mean(values, 10, (0.0, 1.0))
    se = values.std(ddof=1) / 2 * np.sqrt(1 - 4 / 10)
    low, high = scipy.stats.t.interval(0.95, 3, loc=0.45, scale=se)
    assert float(found) == pytest.approx(0.45)
    assert (found.low, found.high) == (pytest.approx(max(low, 0)), pytest.approx(min(high, 1)))
    assert (found.sampled, found.confidence) == (4, 0.95)
    assert estimate_of_mean(values, 4, (0.0, 1.0)) == pytest.approx(0.45)
    assert type(estimate_of_mean(values, 4, (0.0, 1.0))) is float
    wide = estimate_of_mean(np.array([0.0, 1.0]), 10, (0.0, 1.0))
    assert (wide.low, wide.high) == (0.0, 1.0)


def test_the_interval_of_a_ratio_leaves_out_one_row_after_the_other():
    sums = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0], [1.0, 9.0]])

    def ratio(total):
        return total[..., 0] / total[..., 1]

    found = estimate_of_sums(sums, 9, ratio, (0.0, 1.0))
    without = np.array([ratio(np.delete(sums, i, axis=0).sum(axis=0)) for i in range(4)])
    variance = 3 / 4 * np.square(without - without.mean()).sum() * (1 - 4 / 9)
    half = scipy.stats.t.ppf(0.975, 3) * np.sqrt(variance)
    assert float(found) == pytest.approx(7 / 24)
    assert found.high == pytest.approx(7 / 24 + half)
    assert found.low == pytest.approx(max(0.0, 7 / 24 - half))
    assert estimate_of_sums(sums, 4, ratio, (0.0, 1.0)) == pytest.approx(7 / 24)


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
    np.testing.assert_array_equal(
        values_at_all_points(np.array([2.0, 3.0]), np.array([0, 2]), 3)[[0, 2]], [2, 3]
    )
    assert np.isnan(values_at_all_points(np.array([2.0, 3.0]), np.array([0, 2]), 3)[1])


def test_limits_of_an_estimate_stay_where_the_measure_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = X[:, :2].copy()
    Y[::2] = rng.normal(size=(20, 2))  # half of the rows are wrong: a sample of two says little
    for seed in range(6):
        curve = quality.neighborhood_curve(X, Y, 10, sample=2, random_state=seed)
        assert -1 <= curve.auc.low <= curve.auc <= curve.auc.high <= 1
        stress = quality.nonmetric_stress(X, Y, sample=2, random_state=seed)
        assert 0 <= stress.low <= stress <= stress.high <= 1


def test_limits_of_other_sampled_measures_stay_where_they_are():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 3))
    Y = X[:, :2].copy()
    Y[::2] = rng.normal(size=(15, 2))
    labels = np.arange(30) % 2
    for seed in range(4):
        drawn = {"sample": 2, "random_state": seed}
        one = quality.lcmc(X, Y, n_neighbors=5, **drawn)
        assert -5 / 29 <= one.low <= one.high <= 1 - 5 / 29
        both = quality.silhouette(X, labels, **drawn)
        assert -1 <= both.low <= both.high <= 1
