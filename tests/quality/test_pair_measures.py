"""Stress and correlations of distances: brute force, isotonic regression, slices of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.graph import geodesic_distances, knn
from dualfold.quality import nonmetric_stress, residual_variance
from tests.quality.brute_force import off_diagonal

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


@pytest.mark.parametrize("measure", [quality.stress, quality.nonmetric_stress, quality.shepard])
def test_distances_need_two_points(measure):
    with pytest.raises(InvalidInput, match="at least two points"):
        measure(X[:1], X[:1])


def test_rising_curves_of_three_pairs():
    """Distances 1, 2, 3 became 5, 3, 10: the first two are pooled to 4."""
    X = np.array([[0.0], [1.0], [3.0]])  # distances 1 (0,1), 2 (1,2), 3 (0,2)
    Y = np.array([[0.0, 0], [5.0, 0], [7.0, np.sqrt(8.0)]])  # 5, √12, √57
    d = np.array([5.0, np.sqrt(12), np.sqrt(57)])
    fitted = np.array([d[:2].mean(), d[:2].mean(), d[2]])
    wanted = np.sqrt(np.square(d - fitted).sum() / np.square(d).sum())
    assert nonmetric_stress(X, Y) == pytest.approx(wanted)
    each = nonmetric_stress(X, Y, per_point=True)
    off = np.square(d - fitted)
    by_hand = np.sqrt([off[0] / (d[0] ** 2 + d[2] ** 2), off[:2].sum() / np.square(d[:2]).sum(),
                       off[1] / (d[1] ** 2 + d[2] ** 2)])  # fmt: skip
    np.testing.assert_allclose(each, by_hand)


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


@pytest.mark.parametrize("pairs", [None, 50, 700])
def test_nonmetric_stress_by_isotonic_regression_whole_and_in_slices(pair, pairs, set_limits):
    if pairs is not None:
        set_limits("quality.pair_measures", MAX_SORTED_PAIRS=pairs)
    X, Y = pair
    tied = np.random.default_rng(1).integers(0, 3, (90, 4)).astype(float)
    for case in ((X[:60], Y[:60]), (tied, Y[:90])):
        found = nonmetric_stress(*case)
        assert found == pytest.approx(brute_nonmetric(*off_diagonal(*case)), rel=1e-10)
    # Any rising change of all distances is forgiven, and equal points keep any order.
    line, same = np.arange(30.0)[:, None], np.ones((12, 3))
    assert nonmetric_stress(np.sqrt(cdist(line, line)), line, metric="precomputed") < 1e-15
    assert nonmetric_stress(same, same[:, :2].copy()) == 0.0
    assert nonmetric_stress(X, Y, per_point=True).shape == (160,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_residual_variance_by_brute_force(dtype):
    rng = np.random.default_rng(0)
    for n, width in [(3, 1), (1300, 3)]:
        X, Y = rng.standard_normal((n, 5)) + 100, rng.standard_normal((n, width))
        Y[:, 0] += X[:, 0]
        D, off = cdist(X, X).astype(dtype), ~np.eye(n, dtype=bool)
        R = np.corrcoef(D[off].astype(float), cdist(Y, Y)[off])[0, 1]
        assert residual_variance(D, Y) == pytest.approx(1 - R**2, abs=1e-10)
        assert residual_variance(D, Y, n_jobs=1) == residual_variance(D, Y, n_jobs=3)
    assert residual_variance(np.ones((3, 3)) - np.eye(3), np.arange(3.0)[:, None]) == 1.0
    with pytest.raises(InvalidInput, match="one row for each point"):
        residual_variance(D, Y[:-1])
    D[3, 5] = np.inf
    with pytest.raises(InvalidInput, match="several pieces"):
        residual_variance(D, Y)
