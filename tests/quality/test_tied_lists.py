"""Ties: a map that changes no distance keeps everything, one spot keeps what chance does."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import sklearn.manifold
from scipy.spatial.distance import cdist

from dualfold import PCA, quality
from tests.quality.brute_force import measures_agree, neighborhood_measures
from tests.quality.door import Ranks, kept_by_size


def answers(n, questions, seed):
    return np.random.default_rng(seed).integers(1, 6, (n, questions)).astype(float)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


TIED = {
    "answers": answers(120, 3, 5),
    "standardised answers": standardized(answers(110, 4, 6)),
    "single precision": standardized(answers(110, 5, 7)).astype(np.float32),
    "grid": np.argwhere(np.ones((10, 10))).astype(float),
    "cube": np.argwhere(np.ones((4, 5, 5))) * 0.1,
    "many duplicates": answers(90, 1, 8),
    "wide": answers(100, 30, 9),
}


@pytest.mark.parametrize("name", TIED)
def test_a_rotation_keeps_every_neighbour(name):
    X = TIED[name]
    turned = PCA(X.shape[1]).fit_transform(X)
    for before, after in ((X, turned), (turned, X)):
        found = quality.report(before, after)
        perfect = {"t_similarity": 1, "trustworthiness": 1, "continuity": 1, "r_nx_area": 1}
        perfect |= {"rank_error_intruders": 0, "rank_error_lost": 0}
        for measure, value in perfect.items():
            assert found.measures[measure] == pytest.approx(value, abs=1e-12), measure
        np.testing.assert_allclose(found.curve.q_nx, 1, atol=1e-12)
        np.testing.assert_allclose(found.co_ranking.q_nx(), 1, atol=1e-12)
        counts = found.co_ranking.counts
        np.testing.assert_allclose(counts, len(X) * np.eye(len(counts)), atol=1e-9)
        np.testing.assert_allclose(quality.neighborhood_curve(before, after).r_nx, 1, atol=1e-12)
        assert quality.neighbor_agreement(before, after) == pytest.approx(1, abs=1e-12)
        assert found.picture.kept == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", ["answers", "grid", "wide"])
def test_a_map_of_one_spot_is_at_chance(name):
    X = TIED[name]
    spot = np.full((len(X), 2), 0.3)
    found = quality.report(X, spot)
    assert found.measures["lcmc"] == pytest.approx(0, abs=1e-12)
    assert found.measures["r_nx_area"] == pytest.approx(0, abs=1e-12)
    assert found.picture.beyond_chance == pytest.approx(0, abs=1e-12)
    rng = np.random.default_rng(0)
    shuffled = [quality.report(X, rng.random((len(X), 2))) for _ in range(2)]
    for measure in ("t_similarity", "trustworthiness", "continuity", "rank_error_lost"):
        by_chance = [float(one.measures[measure]) for one in shuffled]
        # The mean of some hundred points of a random map.
        assert found.measures[measure] == pytest.approx(np.mean(by_chance), abs=0.05), measure
    assert found.picture.chance == pytest.approx(shuffled[0].picture.chance)


@pytest.mark.parametrize("k", [1, 6, 20])
def test_measures_with_ties_on_both_sides_by_brute_force(k):
    rng = np.random.default_rng(4)
    X = standardized(rng.integers(0, 4, (50, 3)) * 1.0)
    for Y in (rng.integers(0, 4, (50, 2)) * 1.0, np.round(X[:, :2], 1), rng.random((50, 2))):
        measures_agree(X, Y, cdist(X, X), k, tolerance=1e-12)


def test_ties_of_a_map_count_by_the_mean_over_all_their_orders():
    X = np.array([[0.0], [1.0], [2.5], [4.5], [7.0], [11.0]])
    Y = np.array([0.0, 1, 1, 1, 2, 2])[:, None]
    D, shown = cdist(X, X), cdist(Y, Y)
    orders = []
    for order in permutations(range(6)):  # ties go by a row's place in this order
        kept = []
        for i in range(6):
            others = [j for j in order if j != i]
            near = sorted(others, key=lambda j, i=i: shown[i, j])[:2]
            true = sorted(others, key=lambda j, i=i: D[i, j])[:2]
            kept.append(len(set(near) & set(true)) / 2)
        orders.append(kept)
    np.testing.assert_allclose(
        quality.t_similarity(X, Y, 2, per_point=True), np.mean(orders, axis=0), atol=1e-12
    )
    first, last = np.array([1, 2, 3]), np.array([3, 3, 3])
    by_size = kept_by_size(first, Ranks(np.array([1, 1, 1]), last), 4)
    np.testing.assert_allclose(by_size, [1 / 3, 2 * 2 / 3, 3, 3])


def test_distances_that_rounding_cannot_make_equal_do_not_tie():
    rng = np.random.default_rng(8)
    X, Y = rng.standard_normal((300, 6)), rng.standard_normal((300, 2))
    theirs = sklearn.manifold.trustworthiness(X, Y, n_neighbors=9)
    assert quality.trustworthiness(X, Y, n_neighbors=9) == pytest.approx(theirs, abs=1e-13)
    back = sklearn.manifold.trustworthiness(Y, X, n_neighbors=9)
    assert quality.continuity(X, Y, n_neighbors=9) == pytest.approx(back, abs=1e-13)
    near = np.array([[0.0], [1.0], [-1.0 - 1e-9], [3.0]])
    assert quality.t_similarity(near, near[[0, 2, 1, 3]], 1, per_point=True)[0] == 0.0
    equal = np.array([[0.0], [1.0], [-1.0 - 2e-16], [3.0]])
    assert quality.t_similarity(equal, equal[[0, 2, 1, 3]], 1, per_point=True)[0] == 1.0


def test_ties_of_given_distances_are_excused():
    X = TIED["answers"]
    rounded = cdist(X, X) * (1 + 2e-16 * np.random.default_rng(0).integers(-2, 3, (120, 120)))
    np.fill_diagonal(rounded, 0.0)
    assert quality.t_similarity(rounded, X, 10, metric="precomputed") == pytest.approx(1)
    single = rounded.astype(np.float32)
    assert quality.t_similarity(single, X, 10, metric="precomputed") == pytest.approx(1)
    other = 1 + 1e-6 * np.random.default_rng(1).random((120, 120))
    assert quality.t_similarity(rounded * other, X, 10, metric="precomputed") < 0.95
    blocks = cdist(X, X, "cityblock")  # whole numbers: exact
    kept = quality.t_similarity(X, X, 10, metric="manhattan", per_point=True)
    expected = neighborhood_measures(blocks, cdist(X, X), 10)["t_similarity"]
    np.testing.assert_allclose(kept, expected, atol=1e-12)


def test_rows_that_are_equally_far_give_no_word_to_a_map() -> None:
    """Every map keeps all of them, so that "good" would say nothing."""
    Y = np.random.default_rng(3).standard_normal((30, 2))
    for X in (np.zeros((30, 3)), np.eye(30)):
        assert str(quality.report(X, Y)).startswith("It cannot be judged: every map keeps all")
