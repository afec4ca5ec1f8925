"""Weights of rows count in means over rows; neighbours and the size of a sample have none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from dualfold.errors import InvalidInput
from dualfold.quality import (
    continuity,
    knn_accuracy,
    lcmc,
    local_distortion,
    mean_relative_rank_errors,
    neighborhood_curve,
    neighborhood_hit,
    report,
    silhouette,
    t_similarity,
    trustworthiness,
)
from tests.quality.door import Estimate, interval_of_means, measured_weights, picture_of

N = 120
X = np.random.default_rng(3).normal(size=(N, 4))
Y = X[:, :2]
CLASSES = (X[:, 0] + X[:, 2] > 0).astype(int)
WEIGHTS = np.random.default_rng(4).integers(0, 6, size=N).astype(float)


@pytest.mark.parametrize(
    ("measure", "given"),
    [
        (t_similarity, (X, Y)),
        (trustworthiness, (X, Y)),
        (continuity, (X, Y)),
        (lcmc, (X, Y)),
        (local_distortion, (X, Y)),
        (silhouette, (Y, CLASSES)),
        (knn_accuracy, (Y, CLASSES)),
        (neighborhood_hit, (Y, CLASSES)),
    ],
)
def test_a_measure_is_the_weighted_mean_of_its_unweighted_values(measure, given):
    values = measure(*given, per_point=True)
    found = measure(*given, sample_weight=WEIGHTS)
    assert found == pytest.approx(np.average(values, weights=WEIGHTS), abs=1e-12)
    assert np.array_equal(measure(*given, per_point=True, sample_weight=WEIGHTS), values)


def test_both_rank_errors_are_weighted_means():
    values = mean_relative_rank_errors(X, Y, per_point=True)
    found = mean_relative_rank_errors(X, Y, sample_weight=WEIGHTS)
    assert found == pytest.approx([np.average(one, weights=WEIGHTS) for one in values], abs=1e-12)


@pytest.mark.parametrize("max_rank", [20, None])  # by lists of neighbours, and by sorting
@pytest.mark.parametrize("table", [X, np.round(X)])  # with ties, too
def test_the_curve_is_the_weighted_mean_of_neighbours_kept(table, max_rank):
    curve = neighborhood_curve(table, Y, max_rank, sample_weight=WEIGHTS)
    for k in (1, 7, 20):
        kept = t_similarity(table, Y, k, sample_weight=WEIGHTS)
        beyond = lcmc(table, Y, n_neighbors=k, sample_weight=WEIGHTS)
        assert curve.q_nx[k - 1] == pytest.approx(kept, abs=1e-12)
        assert curve.lcmc[k - 1] == pytest.approx(beyond, abs=1e-12)


def test_the_report_weights_means_and_leaves_ranks_and_pairs():
    plain = report(X, Y, labels=CLASSES)
    found = report(X, Y, labels=CLASSES, sample_weight=WEIGHTS)
    for name, values in plain.per_point.items():
        assert np.allclose(found.per_point[name], values, rtol=0, atol=1e-12)
        if name != "stress":
            mean = np.average(values, weights=WEIGHTS)
            assert found.measures[name] == pytest.approx(mean, abs=1e-12)
    for name in ("stress", "nonmetric_stress", "distance_correlation", "density_correlation"):
        assert found.measures[name] == plain.measures[name]
    assert np.array_equal(found.co_ranking.counts, plain.co_ranking.counts)
    assert found.effective_rows == pytest.approx(WEIGHTS.sum() ** 2 / np.square(WEIGHTS).sum())
    assert found.picture.kept == found.measures["t_similarity"]
    picture = picture_of(X, Y, 10, sample_weight=WEIGHTS)
    assert found.picture.beyond_chance == pytest.approx(picture.beyond_chance, abs=1e-12)


@pytest.mark.parametrize("sample", [None, 60])
def test_constant_weights_are_no_weights_and_a_factor_changes_nothing(sample):
    plain, same = (report(X, Y, sample=sample, sample_weight=w) for w in (None, np.full(N, 7.0)))
    assert same.to_dict() == plain.to_dict()
    one, other = (report(X, Y, sample=sample, sample_weight=c * WEIGHTS) for c in (1, 1000))
    for name, value in one.measures.items():
        ends = [
            (m, getattr(m, "low", 0), getattr(m, "high", 0)) for m in (value, other.measures[name])
        ]
        assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_limits_are_those_of_as_many_rows_as_count():
    """Half of the rows count, and alike: the limits of Clopper and Pearson for this half."""
    n, m, right, counting = 10_000, 200, 93, 100
    weights = measured_weights(np.tile([1.0, 0.0], n // 2), np.arange(m), n)
    values = np.repeat(np.arange(counting) < right, 2).astype(float)
    found = interval_of_means(values[:, None], n, (0.0, 1.0), weights)
    mean, shrink = right / counting, np.sqrt(1 - m / n)
    wrong = counting - right
    ends = beta.ppf([0.025, 0.975], [right, right + 1], [wrong + 1, wrong])
    assert np.ravel(found) == pytest.approx(mean + shrink * (ends - mean), abs=2e-3)


def test_uneven_weights_never_narrow_the_limits_of_a_sample():
    plain = t_similarity(X, Y, sample=60)
    assert isinstance(plain, Estimate)
    for seed in range(5):
        heavy = np.random.default_rng(seed).lognormal(0, 1.5, N)
        found = t_similarity(X, Y, sample=60, sample_weight=heavy)
        assert isinstance(found, Estimate)
        assert found.high - found.low > plain.high - plain.low


def test_weights_that_say_nothing_are_refused():
    with pytest.raises(InvalidInput, match=r"sample_weight is -1\.0 in row"):
        report(X, Y, sample_weight=-np.ones(N))
    with pytest.raises(InvalidInput, match="for 120 rows"):
        t_similarity(X, Y, sample_weight=[1.0])


def test_rows_that_count_are_drawn_and_give_the_mean_where_there_are_few():
    weights = np.where(np.arange(N) % 40 == 7, WEIGHTS + 1, 0.0)  # of three rows
    for measure in (t_similarity, lcmc, trustworthiness):
        found = measure(X, Y, sample=20, sample_weight=weights)
        assert found == pytest.approx(measure(X, Y, sample_weight=weights), abs=1e-12)
        assert found.low == found.high == found
    sampled = report(X, Y, sample=20, sample_weight=weights)
    assert sampled.measures["stress"] == report(X, Y, sample=20).measures["stress"]
    drawn = report(X, Y, sample=20, sample_weight=WEIGHTS).per_point["continuity"]
    assert not np.isfinite(drawn[WEIGHTS == 0]).any()


@pytest.mark.full
@pytest.mark.parametrize("spread", [0.5, 1.5])
def test_limits_hold_the_weighted_mean_of_all_rows(spread):
    """Of 0 and 1 that depend on the weights, too: nominal 95 %, and 3 % for 400 draws."""
    rng = np.random.default_rng(0)
    n, m, draws, inside = 2_000, 150, 400, 0
    weights = rng.lognormal(0, spread, n)
    chance = np.where(weights > np.median(weights), 0.9, 0.6)
    values = (rng.random(n) < chance).astype(float)
    whole = np.average(values, weights=weights)
    for _ in range(draws):
        rows = np.sort(rng.choice(n, m, replace=False))
        counted = measured_weights(weights, rows, n)
        low, high = interval_of_means(values[rows, None], n, (0.0, 1.0), counted)
        inside += low[0] <= whole <= high[0]
    assert inside / draws >= 0.92
