"""Stress and correlations of distances: brute force, isotonic regression, slices of all pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.graph import geodesic_distances, knn
from dualfold.quality import pair_measures
from dualfold.quality.pair_measures import nonmetric_stress, pool_violators
from dualfold.quality.space import EuclideanSpace, both_spaces
from tests.quality.brute_force import off_diagonal

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_a_rising_curve_of_nothing_is_nothing():
    none = np.empty(0)
    assert [len(part) for part in pool_violators(none, none, none)] == [0, 0, 0]


@pytest.mark.parametrize("measure", [quality.stress, quality.nonmetric_stress])
def test_distances_need_two_points(measure):
    with pytest.raises(InvalidInput, match="at least two points"):
        measure(X[:1], X[:1])


def test_rising_curves_of_three_pairs():
    """Distances 1, 2, 3 became 5, 3, 10: the first two are pooled to 4."""
    starts, heights, weights = pool_violators(
        np.array([1.0, 2, 3]), np.array([5.0, 3, 10]), np.ones(3)
    )
    assert (starts.tolist(), heights.tolist(), weights.tolist()) == ([1, 3], [4, 10], [2, 1])
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


@pytest.mark.parametrize("drawn", [None, 25])
def test_pairs_are_cut_into_slices_of_a_stated_size(monkeypatch, drawn):
    """All pairs, or those of 25 rows with all others, once each: 50 in a slice, but for ties."""
    monkeypatch.setattr(pair_measures, "MAX_SORTED_PAIRS", 50)
    X = np.random.default_rng(0).normal(size=(40, 3))
    x, y = both_spaces(X, X[:, :2], "euclidean", 1)
    rows = None if drawn is None else np.arange(drawn, dtype=np.int32)
    edges = pair_measures._slice_edges(x, rows)
    between = itertools.pairwise(edges)
    sizes = [len(pair_measures._pairs_between(x, y, rows, low, high)[0]) for low, high in between]
    total = 40 * 39 // 2 if drawn is None else drawn * 39
    assert sum(sizes) == total
    assert max(sizes[1:]) <= 50 + 8
    assert min(sizes[1:-1]) >= 50 - 8


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
