"""Quality of distances, shapes, ranks and classes: brute force, peers and exact values."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression
from sklearn.neighbors import KNeighborsClassifier

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.graph import geodesic_distances, knn
from dualfold.quality import pair_measures
from dualfold.quality.space import EuclideanSpace


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((160, 12))
    return X, 3 * X[:, :2] + 0.5 * rng.standard_normal((160, 2))


def off_diagonal(X, Y):
    off = ~np.eye(len(X), dtype=bool)
    return cdist(X, X)[off], cdist(Y, Y)[off]


def test_stress_by_brute_force(pair):
    X, Y = pair
    d, s = off_diagonal(X, Y)
    plain = np.sqrt(np.sum((d - s) ** 2) / np.sum(d**2))
    assert quality.stress(X, Y, scale=1.0) == pytest.approx(plain, rel=1e-12)
    best = d @ s / (s @ s)
    least = np.sqrt(np.sum((d - best * s) ** 2) / np.sum(d**2))
    assert quality.stress(X, Y) == pytest.approx(least, rel=1e-12)
    D, S = cdist(X, X), best * cdist(Y, Y)
    rows = np.sqrt(np.sum((D - S) ** 2, axis=1) / np.sum(D**2, axis=1))
    np.testing.assert_allclose(quality.stress(X, Y, per_point=True), rows, rtol=1e-12)
    city = cdist(X, X, "cityblock")
    found = quality.stress(X, Y, metric="manhattan")
    assert found == pytest.approx(quality.stress(city, Y, metric="precomputed"), rel=1e-12)


def test_correlations_by_brute_force(pair):
    X, Y = pair
    r = np.corrcoef(*off_diagonal(X, Y))[0, 1]
    assert quality.distance_correlation(X, Y) == pytest.approx(r, abs=1e-12)
    left = quality.residual_variance(X, Y, metric="euclidean")
    assert left == pytest.approx(1 - r**2, abs=1e-12)
    graph = knn(X, 20)
    D = geodesic_distances(graph, np.arange(160)).astype(float)
    off = ~np.eye(160, dtype=bool)
    along = 1 - np.corrcoef(D[off], cdist(Y, Y)[off])[0, 1] ** 2
    assert quality.residual_variance(graph, Y) == pytest.approx(along, abs=1e-9)
    radii = [np.sort(cdist(P, P), axis=1)[:, 1:16] ** 2 for P in (X, Y)]
    r = np.corrcoef(*(np.log(radius.mean(axis=1)) for radius in radii))[0, 1]
    assert quality.density_correlation(X, Y) == pytest.approx(r, abs=1e-10)


def brute_nonmetric(d, s):
    fit = IsotonicRegression().fit(d, s).predict(d)
    return np.sqrt(np.sum((s - fit) ** 2) / np.sum(s**2))


def test_nonmetric_stress_by_isotonic_regression_whole_and_in_slices(pair, monkeypatch):
    X, Y = pair
    rng = np.random.default_rng(1)
    tied = rng.integers(0, 3, (90, 4)).astype(float)
    cases = [(X, Y), (tied, Y[:90])]
    expected = [brute_nonmetric(*off_diagonal(*case)) for case in cases]
    for case, value in zip(cases, expected, strict=True):
        assert quality.nonmetric_stress(*case) == pytest.approx(value, rel=1e-10)
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 700)
    assert len(pair_measures._slice_edges(EuclideanSpace(X), None)) > 10
    for case, value in zip(cases, expected, strict=True):
        assert quality.nonmetric_stress(*case) == pytest.approx(value, rel=1e-10)
    # Any rising change of all distances is forgiven.
    line = np.arange(30.0)[:, None]
    assert quality.nonmetric_stress(np.sqrt(cdist(line, line)), line, metric="precomputed") < 1e-15
    assert quality.nonmetric_stress(X, Y, per_point=True).shape == (160,)


def test_distances_are_those_of_zadu(pair):
    pytest.importorskip("zadu", reason="zadu is not installed (pip install zadu)")
    from zadu.measures import non_metric_stress, pearson_r, stress

    X, Y = pair
    assert quality.stress(X, Y, scale=1.0) == pytest.approx(stress.measure(X, Y)["stress"])
    theirs = non_metric_stress.measure(X, Y)["non_metric_stress"]
    assert quality.nonmetric_stress(X, Y) == pytest.approx(theirs)
    assert quality.distance_correlation(X, Y) == pytest.approx(pearson_r.measure(X, Y)["pearson_r"])


def test_the_shepard_diagram_counts_every_pair(pair):
    X, Y = pair
    # The last two see each other far off, after most pairs are counted: bins have to widen.
    Y[:-2] -= Y[:-2].mean(axis=0)
    Y[[0, -2, -1]] = [[0, 45], [40, 0], [-40, 0]]
    diagram = quality.shepard(X, Y, bins=16)
    d, s = off_diagonal(X, Y)
    counts = np.histogram2d(d, s, bins=(diagram.before, diagram.after))[0]
    np.testing.assert_array_equal(diagram.counts, counts)
    assert min(diagram.counts.shape) >= 16
    assert diagram.after[-1] >= 80
    middle = (diagram.after[1:] + diagram.after[:-1]) / 2
    full = int(np.argmax(diagram.counts.sum(axis=1)))
    inside = (d >= diagram.before[full]) & (d < diagram.before[full + 1])
    typical = middle[np.digitize(s[inside], diagram.after) - 1].mean()
    assert diagram.typical()[full] == pytest.approx(typical)
    np.testing.assert_array_equal(quality.shepard(X, Y, bins=16, n_jobs=1).counts, counts)


def brute_co_ranking(X, Y):
    def ranks(P):
        order = np.argsort(cdist(P, P) - 1e9 * np.eye(len(P)), axis=1, kind="stable")
        return np.argsort(order, axis=1)

    n = len(X)
    counts = np.zeros((n - 1, n - 1), dtype=int)
    off = ~np.eye(n, dtype=bool)
    np.add.at(counts, (ranks(X)[off] - 1, ranks(Y)[off] - 1), 1)
    return counts


def test_co_ranking_and_curves_by_brute_force(pair):
    X, Y = pair
    n, truth = len(X), brute_co_ranking(*pair)
    np.testing.assert_array_equal(quality.co_ranking(X, Y, n - 1).counts, truth)
    np.testing.assert_array_equal(quality.co_ranking(X, Y, 20).counts, truth[:20, :20])
    sizes = np.arange(1, n - 1)
    q = np.array([truth[:k, :k].sum() / (k * n) for k in sizes])
    r = ((n - 1) * q - sizes) / (n - 1 - sizes)
    for most in (None, 100, 20):
        curve = quality.neighborhood_curve(X, Y, most)
        m = curve.max_rank
        assert m == (most or n - 2)
        np.testing.assert_allclose(curve.q_nx, q[:m], atol=1e-13)
        np.testing.assert_allclose(curve.r_nx, r[:m], atol=1e-12)
        np.testing.assert_allclose(curve.lcmc, q[:m] - sizes[:m] / (n - 1), atol=1e-13)
        area = np.sum(r[:m] / sizes[:m]) / np.sum(1 / sizes[:m])
        assert curve.auc == pytest.approx(area, abs=1e-13)
        assert np.mean(curve.auc_per_point) == pytest.approx(area, abs=1e-13)
        np.testing.assert_allclose(quality.co_ranking(X, Y, m).q_nx(), q[:m], atol=1e-13)
    curve = quality.neighborhood_curve(X, Y)
    assert curve.best_size == 1 + int(np.argmax(q - sizes / (n - 1)))
    assert curve.q_local == pytest.approx(q[: curve.best_size].mean())
    assert curve.q_global == pytest.approx(q[curve.best_size :].mean())


def test_curves_of_ties_agree_with_the_lists():
    rng = np.random.default_rng(3)
    X, Y = rng.integers(0, 3, (90, 10)) * 1.0, rng.integers(0, 4, (90, 2)) * 1.0
    whole, lists = quality.neighborhood_curve(X, Y), quality.neighborhood_curve(X, Y, 20)
    np.testing.assert_allclose(whole.q_nx[:20], lists.q_nx, atol=1e-14)
    assert whole.q_nx[9] == pytest.approx(quality.t_similarity(X, Y, 10))


def test_co_ranking_is_that_of_pydrmetrics(pair):
    theirs = pytest.importorskip(
        "pyDRMetrics.pyDRMetrics", reason="pyDRMetrics is not installed (pip install pyDRMetrics)"
    ).DRMetrics(*pair)
    n = len(pair[0])
    np.testing.assert_array_equal(quality.co_ranking(*pair, n - 1).counts, theirs.Q[1:, 1:])
    # Its Q_NX divides by n − 1 points where there are n.
    ours = quality.neighborhood_curve(*pair).q_nx
    np.testing.assert_allclose(ours, theirs.QNN[: n - 2] * (n - 1) / n, atol=1e-12)


def test_local_distortion_is_the_mean_of_small_procrustes_fits(pair):
    X, Y = pair
    Y = np.column_stack([Y, np.zeros((160, 10))])
    near = np.argsort(cdist(X, X), axis=1, kind="stable")[:, :9]
    fits = [scipy_procrustes(X[list(i)], Y[list(i)])[2] for i in near]
    found = quality.local_distortion(X, Y[:, :2], n_neighbors=8, per_point=True)
    np.testing.assert_allclose(found, fits, atol=1e-10)
    again = quality.local_distortion(
        cdist(X, X), Y[:, :2], n_neighbors=8, metric="precomputed", per_point=True
    )
    np.testing.assert_allclose(again, fits, atol=1e-10)
    assert quality.local_distortion(X, np.zeros((160, 2))) == 1.0


def test_classes_are_judged_as_in_scikit_learn(pair):
    X, Y = pair
    rng = np.random.default_rng(2)
    labels = np.where(Y[:, 0] > 0, "b", "a").astype(object)
    labels[rng.choice(160, 30, replace=False)] = "c"
    labels[5] = "alone"
    ours = quality.silhouette(Y, labels, per_point=True)
    np.testing.assert_allclose(ours, sklearn.metrics.silhouette_samples(Y, labels), atol=1e-12)
    ours = quality.silhouette(X, labels, metric="cosine")
    theirs = sklearn.metrics.silhouette_score(X, labels, metric="cosine")
    assert ours == pytest.approx(theirs, abs=1e-12)
    right = []
    for i in range(160):
        rest = np.delete(np.arange(160), i)
        vote = KNeighborsClassifier(5).fit(Y[rest], labels[rest].astype(str))
        right.append(vote.predict(Y[i : i + 1])[0] == labels[i])
    np.testing.assert_array_equal(quality.knn_accuracy(Y, labels, per_point=True), right)
    near = np.argsort(cdist(Y, Y) + np.diag(np.full(160, np.inf)), axis=1, kind="stable")[:, :5]
    hits = [np.mean(labels[near[i]] == labels[i]) for i in range(160)]
    np.testing.assert_allclose(quality.neighborhood_hit(Y, labels, per_point=True), hits)
    assert quality.neighborhood_hit(Y, labels) == pytest.approx(np.mean(hits))
    with pytest.raises(InvalidInput, match="one class for each point"):
        quality.silhouette(Y, labels[:-1])
    with pytest.raises(InvalidInput, match="from 2 to"):
        quality.knn_accuracy(Y, np.zeros(160))


def test_the_identity_is_best_in_everything(pair):
    X = pair[0]
    ranks = quality.neighbor_ranks(X, X, 10)
    assert ranks.trustworthiness() == ranks.continuity() == ranks.t_similarity() == 1
    assert ranks.mean_relative_rank_errors() == (0, 0)
    assert ranks.lcmc() == pytest.approx(1 - 10 / 159)
    assert quality.stress(X, X) == quality.stress(X, X, scale=1.0) == 0
    assert quality.nonmetric_stress(X, X) == 0
    assert quality.distance_correlation(X, X) == pytest.approx(1, abs=1e-14)
    assert quality.residual_variance(X, X, metric="euclidean") == pytest.approx(0, abs=1e-14)
    assert quality.density_correlation(X, X) == pytest.approx(1)
    assert quality.local_distortion(X, X) == pytest.approx(0, abs=1e-14)
    curve = quality.neighborhood_curve(X, X)
    assert (curve.q_nx == 1).all()
    assert curve.auc == pytest.approx(1)
    assert curve.r_nx == pytest.approx(1)
    counts = quality.co_ranking(X, X, 30).counts
    np.testing.assert_array_equal(counts, 160 * np.eye(30, dtype=int))
    assert quality.procrustes(X, X).disparity == pytest.approx(0, abs=1e-14)
    assert quality.neighbor_agreement(X, X) == 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(12, 50), st.integers(2, 6))
def test_bounds_and_invariance(seed, n, width):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, width)), rng.standard_normal((n, 2))
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0]
    order = rng.permutation(n)
    bounds = {
        quality.stress: (0, 1),
        quality.nonmetric_stress: (0, 1),
        quality.distance_correlation: (-1, 1),
        quality.density_correlation: (-1, 1),
        quality.local_distortion: (0, 1),
    }
    for measure, (low, high) in bounds.items():
        options = {} if "local" not in measure.__name__ else {"n_neighbors": 5}
        options = {"n_neighbors": 5} if "density" in measure.__name__ else options
        value = measure(X, Y, **options)
        assert low <= value <= high
        for other in (
            measure(X @ turn + 2, Y - 1, **options),
            measure(X, 0.1 * Y, **options),
            measure(5 * X, Y, **options),
            measure(X[order], Y[order], **options),
        ):
            assert other == pytest.approx(value, abs=1e-9), measure.__name__
    curve = quality.neighborhood_curve(X, Y)
    assert ((curve.q_nx >= 0) & (curve.q_nx <= 1)).all()
    assert curve.auc == pytest.approx(quality.neighborhood_curve(Y, X).auc, abs=1e-12)
    # With lengths as they are, the scale matters.
    assert quality.stress(X, 100 * Y, scale=1.0) > 1


def test_points_in_one_spot(pair):
    X, Y = pair
    spot = np.zeros((160, 2))
    assert quality.stress(X, spot) == 1
    assert quality.stress(spot, spot, scale=1.0) == 0
    assert quality.stress(spot, Y, scale=1.0) == np.inf
    assert quality.nonmetric_stress(X, spot) == 0
    assert quality.nonmetric_stress(spot, Y) == pytest.approx(
        np.std(off_diagonal(X, Y)[1]) / np.sqrt(np.mean(off_diagonal(X, Y)[1] ** 2))
    )
    assert quality.distance_correlation(X, spot) == quality.density_correlation(X, spot) == 0
    assert quality.residual_variance(X, spot, metric="euclidean") == 1
    assert quality.procrustes(X, spot).disparity == pytest.approx(1)


def test_close_pairs_far_from_the_origin_keep_their_digits():
    rng = np.random.default_rng(5)
    X = 1e3 * rng.standard_normal((60, 20))
    X[30:] = X[:30] + 1e-6 * rng.standard_normal((30, 20))
    tile = EuclideanSpace(X).rows(np.arange(60, dtype=np.int32))
    np.fill_diagonal(tile, 0)
    np.testing.assert_allclose(tile, cdist(X, X), rtol=1e-9)


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


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_best_scales_do_not_depend_on_units(size):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    plain = quality.stress(X, Y, scale="best")
    assert quality.stress(X, size * Y, scale="best") == pytest.approx(plain, rel=1e-9)
    found = quality.procrustes(Y, size * Y + 1.0)
    assert found.scale == pytest.approx(1 / size)
    assert found.disparity <= 1e-20


def test_equal_points_keep_any_order(monkeypatch):
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 10)  # several slices
    same, Y = np.ones((12, 3)), np.random.default_rng(8).normal(size=(12, 2))
    assert quality.nonmetric_stress(same, same[:, :2].copy()) == 0.0
    whole = quality.nonmetric_stress(Y, Y**3)
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 1 << 24)
    assert whole == pytest.approx(quality.nonmetric_stress(Y, Y**3), rel=1e-9)
