"""Faults put into games and measures of quality that no quick test noticed (`mutants.py`)."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import ConditionFails, InvalidInput
from dualfold.games import Ball, Everywhere, HalfSquare, Indicator, Spectrahedron
from dualfold.games.divergences import VonNeumann
from dualfold.games.doubles import doubles
from dualfold.games.plain_recipes import boundary_frank_wolfe
from dualfold.quality import coranking, pair_measures, rank_counts
from dualfold.quality import map_comparison as compare
from dualfold.quality.neighborhood_shape import correlation_of_densities
from dualfold.quality.picture import Picture, verdict_of

# ---- games


def test_a_slope_along_one_axis_has_no_minimum_everywhere():
    for slope in (np.array([1.0, 0.0]), np.array([0.0, -2.0])):
        assert Everywhere().minimum(slope) == -np.inf
        assert Everywhere().minimum_interval(slope).low() == -np.inf
    assert Everywhere().minimum(np.zeros(2)) == 0.0


def test_integers_that_no_double_holds_are_refused():
    for exact in ([2**53, -(2**53)], [2**53 + 2], [True, False], np.array([2.0**60])):
        np.testing.assert_array_equal(doubles(exact, "weights"), np.asarray(exact, dtype=float))
    for wrong in ([2**53 + 1], [1, -(2**53) - 1], np.array([2**64 - 1], dtype=np.uint64)):
        with pytest.raises(InvalidInput, match="no double holds"):
            doubles(wrong, "weights")


def test_matrix_entropy_bounds_a_slope_by_its_largest_eigenvalue():
    slope = np.array([[0.0, 3.0], [3.0, 0.0]])  # eigenvalues ±3
    for total in (0.5, 1.0, 4.0):
        found = VonNeumann().dual_square(Indicator(Spectrahedron(total)), slope)
        assert found == pytest.approx(9 * total)


def test_gradients_shorter_than_1_are_no_reason_against_a_guarantee():
    """Where no least length was stated, only that the bound says something is asked."""
    f = HalfSquare(0.125, center=np.array([3.0, 0.0]))  # gradients of 0.25 on the unit disc
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConditionFails)
        run = boundary_frank_wolfe(f, np.array([0.6, 0.8]), over=Ball(1.0)).play(200)
    np.testing.assert_allclose(run.answer, [1.0, 0.0], atol=0.05)


# ---- quality


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


def test_equal_distances_have_no_correlation():
    simplex = np.eye(30) * 0.1  # all distances are equal, to rounding
    noise = simplex @ np.linalg.qr(np.random.default_rng(1).normal(size=(30, 30)))[0]
    Y = np.random.default_rng(2).normal(size=(30, 2))
    assert quality.distance_correlation(noise, Y) == 0.0
    assert quality.distance_correlation(Y, noise) == 0.0


def test_correlations_are_not_below_minus_1():
    found = []
    for seed in range(60):
        Y = np.random.default_rng(seed).normal(size=(4, 2))
        D = np.linalg.norm(Y[:, None] - Y, axis=2)
        turned = (3 * D.max() - D) * (1 - np.eye(4))
        found.append(quality.distance_correlation(turned, Y, metric="precomputed"))
    np.testing.assert_allclose(found, -1.0, rtol=1e-12)
    assert min(found) >= -1


def test_negative_distances_are_refused():
    D = np.ones((6, 6)) - np.eye(6)
    D[1, 2] = D[2, 1] = -0.5
    with pytest.raises(InvalidInput, match="negative"):
        quality.distance_correlation(
            D, np.random.default_rng(0).normal(size=(6, 2)), metric="precomputed"
        )


@pytest.mark.parametrize(
    ("beyond", "grade", "poor"),
    [
        (0.51, "good", False),
        (0.49, "fair", False),
        (0.21, "fair", False),
        (0.19, "poor", True),
        (0.06, "poor", True),
        (0.04, "no picture of these data", True),
        (-0.1, "no picture of these data", True),
    ],
)
def test_words_for_what_a_map_keeps(beyond, grade, poor):
    chance = 10 / 1000
    found = Picture(chance + beyond * (1 - chance), 1001, 10)
    assert (found.grade, found.poor) == (grade, poor)


def test_close_calls_of_ranks_pay_for_storing_and_rounding():
    """e = (K + 16)u|f|² + 2δ²(1 + 1/s), of the module's docstring."""
    depth, rng = 20, np.random.default_rng(4)
    vectors = rng.normal(size=(70, depth)).astype(np.float32)
    for slack in (0.0, 1e-3):
        some = SimpleNamespace(vectors=vectors, slack=slack)
        frame = SimpleNamespace(coordinates=lambda X, some=some: some)
        found = rank_counts._Panels(vectors, frame).error[:70]
        squares = np.sum(vectors.astype(float) ** 2, axis=1)
        least = (depth + 16) * 2.0**-24 * squares + 2 * slack**2 * (
            1 + 1 / rank_counts._SLACK_SHARE
        )
        assert (found >= least).all()
        assert (found <= 1.05 * least).all()


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_best_scales_do_not_depend_on_units(size):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    plain = quality.stress(X, Y, scale="best")
    assert quality.stress(X, size * Y, scale="best") == pytest.approx(plain, rel=1e-9)
    found = quality.procrustes(Y, size * Y + 1.0)
    assert found.scale == pytest.approx(1 / size)
    assert found.disparity <= 1e-20


def test_few_points_have_a_curve_and_a_chance():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    assert len(quality.neighborhood_curve(X[:3], X[:3]).q_nx) == 1
    with pytest.raises(InvalidInput, match="three points"):
        quality.neighborhood_curve(X[:2], X[:2])
    lists = np.array([[1, 2, 3], [0, 2, 3], [1, 0, 3], [2, 1, 0]])
    curve = coranking.curve_of(lists, lists, None, 4)
    assert curve.sizes.tolist() == [1, 2]  # all but one: beyond that everybody is kept
    assert (curve.q_nx == 1).all()
    assert Picture(0.5, 11, 5).chance == 0.5
    assert Picture(0.5, 11, 5).beyond_chance == 0.0


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


def test_two_densities_are_enough_for_a_correlation():
    apart = np.array([[1.0], [2.0]])
    assert correlation_of_densities(apart, 3 * apart, 2) == pytest.approx(1.0)
    assert correlation_of_densities(apart, 1 / apart, 2) == pytest.approx(-1.0)
    assert correlation_of_densities(apart[:1], apart[:1], 1) == 0.0


def test_bins_are_whole_numbers_from_1():
    X = np.random.default_rng(7).normal(size=(8, 2))
    for bins in (0, -3, 2.5, "ten"):
        with pytest.raises(InvalidInput, match="bins"):
            quality.shepard(X, X, bins=bins)
    assert quality.shepard(X, X, bins=1) is not None


def test_lists_of_distances_are_distances():
    D = np.abs(np.arange(5.0)[:, None] - np.arange(5.0))
    Y = np.arange(5.0)[:, None]
    given = quality.distance_correlation(D.tolist(), Y, metric="precomputed")
    assert given == pytest.approx(1.0)


def test_a_map_is_uneven_only_where_it_is_worse_than_the_rest():
    """Not where everything is equally poor, and not where the worst is good."""
    for low, rest, said in ((0.5, 0.99, True), (0.7, 0.7, False), (0.955, 0.99, False)):
        trust = np.r_[np.full(20, low), np.full(80, rest)]
        names = ("continuity", "distance_correlation", "stress")
        measures = {"trustworthiness": trust.mean()} | dict.fromkeys(names, 0.5)
        words = verdict_of(measures, {"trustworthiness": trust}, Picture(0.5, 101, 10))
        assert ("uneven" in words) == said


def test_equal_points_keep_any_order(monkeypatch):
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 10)  # several slices
    same, Y = np.ones((12, 3)), np.random.default_rng(8).normal(size=(12, 2))
    assert quality.nonmetric_stress(same, same[:, :2].copy()) == 0.0
    whole = quality.nonmetric_stress(Y, Y**3)
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 1 << 24)
    assert whole == pytest.approx(quality.nonmetric_stress(Y, Y**3), rel=1e-9)


def test_points_that_some_maps_lack_are_compared_where_they_are():
    Y = np.random.default_rng(9).normal(size=(8, 2)) + 5.0
    held = [np.arange(8), np.arange(6), np.array([0, 1, 2, 3, 4, 6])]
    spread = compare._point_spread([Y[rows] for rows in held], held, 8)
    np.testing.assert_allclose(spread[:7], 0.0, atol=1e-12)
    assert np.isnan(spread[7])  # on one map only


def test_sets_hold_their_points_to_a_tolerance_of_their_size():
    ball = Ball(1.0)
    assert ball.contains(np.array([1 + 1.9e-9, 0.0]))
    assert not ball.contains(np.array([1 + 2.5e-9, 0.0]))
