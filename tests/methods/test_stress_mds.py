"""MDS: scikit-learn's estimator of least stress, with weights, missing distances and new rows."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.manifold
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import dualfold
from dualfold import MDS, ClassicalMDS
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput
from dualfold.quality import stress as quality_stress

IRIS = load_iris().data[::2]


@pytest.mark.parametrize("metric_mds", [True, False])
def test_the_stress_is_mostly_no_higher_than_scikit_learns_from_the_same_start(metric_mds):
    """Single starts may end in another valley."""
    ratios = []
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(40, 4))
        settings = {"init": "random", "random_state": seed, "metric_mds": metric_mds}
        theirs = sklearn.manifold.MDS(**settings).fit(X)
        ours = MDS(**settings).fit(X)
        np.testing.assert_allclose(
            ours.dissimilarity_matrix_, theirs.dissimilarity_matrix_, atol=1e-6
        )
        ratios.append(ours.stress_ / theirs.stress_)
    assert np.median(ratios) <= 1.02


def test_stress_is_that_of_the_points():
    model = MDS(normalized_stress=True).fit(IRIS)
    D, d = cdist(IRIS, IRIS), cdist(model.embedding_, model.embedding_)
    raw = np.square(d - D).sum() / 2
    assert model.stress_ == pytest.approx(np.sqrt(raw / (np.square(d).sum() / 2)), rel=1e-6)
    assert model.certificate_.value == pytest.approx(raw, rel=1e-6)
    assert quality_stress(IRIS, model.embedding_) < quality_stress(
        IRIS, ClassicalMDS().fit(IRIS).embedding_
    )


def test_exact_distances_are_recovered():
    Y = np.random.default_rng(1).normal(size=(30, 2))
    model = MDS(init="random", random_state=0, n_init=4, tolerance=1e-8).fit(Y)
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(Y, Y), atol=1e-6)


def test_new_rows_are_placed_by_their_own_least_stress():
    model = MDS().fit(IRIS)
    new = load_iris().data[1::2]
    placed = model.transform(new)
    D = cdist(new, IRIS)
    there = np.square(cdist(placed, model.embedding_) - D).sum(axis=1)
    rng = np.random.default_rng(2)
    for size in (1e-3, 0.1, 1.0):
        moved = placed + size * rng.normal(size=placed.shape)
        nearby = np.square(cdist(moved, model.embedding_) - D).sum(axis=1)
        assert (nearby >= there * (1 - 1e-9)).all()
    np.testing.assert_array_equal(model.transform(IRIS), model.embedding_)
    given = MDS(metric="precomputed").fit(cdist(IRIS, IRIS))
    np.testing.assert_allclose(np.abs(given.transform(D)), np.abs(placed), atol=1e-2)


def test_landmarks_place_the_other_rows():
    X = swiss_roll(300, random_state=0).points[:, [0, 2]]
    model = MDS(landmarks=100, random_state=1).fit(X)
    assert model.embedding_.shape == (300, 2)
    assert len(model.landmark_rows_) == 100
    assert "100 landmarks" in str(model.certificate_)
    # In a plane everything fits.
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-2)


def test_missing_distances_and_weights_of_0_agree():
    D = cdist(IRIS, IRIS)
    W = np.ones_like(D)
    W[0, 9] = W[9, 0] = 0
    missing = D.copy()
    missing[0, 9] = missing[9, 0] = np.nan
    by_weight = MDS(metric="precomputed", weights=W, max_iter=2000).fit(D)
    by_absence = MDS(metric="precomputed", max_iter=2000).fit(missing)
    assert by_weight.stress_ == pytest.approx(by_absence.stress_, rel=1e-6)
    assert "no bound" in str(by_weight.certificate_)


def test_threads_change_no_bit():
    X = np.random.default_rng(5).normal(size=(300, 4))
    one, four = (MDS(n_jobs=jobs, max_iter=15).fit(X).embedding_ for jobs in (1, 4))
    np.testing.assert_array_equal(one, four)


def test_the_order_of_distances_places_no_new_rows():
    model = MDS(metric_mds=False).fit(IRIS[:30])
    with pytest.raises(InvalidInput, match="non-metric"):
        model.transform(IRIS[30:])
    cubes = MDS(metric_mds=False, metric="precomputed", init="random", random_state=0)
    D = cdist(IRIS[:30], IRIS[:30])
    plain, bent = cubes.fit(D).stress_, cubes.fit(D**3).stress_
    assert plain == pytest.approx(bent, abs=0.02)


def test_names_of_earlier_versions_are_understood_with_a_warning():
    D = cdist(IRIS, IRIS)
    with pytest.warns(FutureWarning, match="dissimilarity"):
        old = MDS(dissimilarity="precomputed").fit(D)
    np.testing.assert_array_equal(old.embedding_, MDS(metric="precomputed").fit(D).embedding_)
    with pytest.warns(FutureWarning, match="metric_mds=False"):
        assert not MDS(metric=False).fit(IRIS).stress_ > 1
    with pytest.raises(InvalidInput, match="both"):
        MDS(dissimilarity="euclidean", metric="cosine").fit(IRIS)
    with pytest.warns(UserWarning, match="square matrix"):
        MDS().fit(D)


def test_a_given_start_is_taken():
    start = np.random.default_rng(6).normal(size=(len(IRIS), 3))
    model = MDS(max_iter=1).fit(IRIS, init=start)
    assert model.embedding_.shape == (len(IRIS), 3)
    with pytest.raises(InvalidInput, match="init"):
        MDS().fit(IRIS, init=start[:4])
    assert not hasattr(MDS(), "embedding_")


def test_judged_points_are_those_of_the_fit():
    model = MDS(n_components=2).fit(IRIS)
    again = model.judged_points(IRIS, model.embedding_)
    assert again.value == pytest.approx(model.certificate_.value, rel=1e-9)
    assert dualfold.MDS().judged_points(IRIS, model.embedding_ + 1e3).value == pytest.approx(
        again.value, rel=1e-6
    )
    assert MDS().judged_points(IRIS, 1.1 * model.embedding_).level == "not stationary"


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_a_map_by_landmarks_is_judged_as_it_was_fitted(metric):
    X = np.random.default_rng(0).normal(size=(80, 4))
    model = MDS(metric=metric, landmarks=30, random_state=0).fit(X)
    assert model.judged_points(X, model.embedding_).level == model.certificate_.level
    moved = model.embedding_.copy()
    moved[np.setdiff1d(np.arange(80), model.landmark_rows_)[0]] += 0.1
    assert model.judged_points(X, moved).level == "failed"
    assert not hasattr(model.set_params(landmarks=None).fit(X), "landmark_rows_")


def test_weights_of_1_are_no_weights():
    X = load_iris().data[::5]
    plain, weighted = MDS().fit(X), MDS(weights=np.ones((len(X), len(X)))).fit(X)
    assert np.array_equal(plain.embedding_, weighted.embedding_)
    assert weighted.certificate_.bound == plain.certificate_.bound


def test_a_common_factor_of_the_weights_moves_no_point_or_is_refused():
    X, random = load_iris().data[::5], np.random.default_rng(0)
    weights = random.random((len(X), len(X)))
    weights += weights.T
    plain = MDS(weights=weights).fit(X)
    for power in (-400, 400):
        other = MDS(weights=np.ldexp(weights, power)).fit(X)
        assert np.array_equal(plain.embedding_, other.embedding_)
        assert other.certificate_.level == plain.certificate_.level
    for power in (-1000, 1000):
        with pytest.raises(InvalidInput, match="weights is up to"):
            MDS(weights=np.ldexp(weights, power)).fit(X)


def test_a_start_far_out_of_the_unit_is_refused():
    X = np.random.default_rng(0).normal(size=(6, 2))
    for size in (1e200, 1e-200):
        with pytest.raises(InvalidInput, match="init holds numbers up to"):
            MDS().fit(X, init=size * X)
