"""Quality of distances, shapes, ranks and classes: brute force, peers and exact values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualfold import quality
from tests.quality.brute_force import off_diagonal
from tests.quality.door import co_ranking, neighbor_ranks


def test_distances_are_those_of_zadu(pair):
    pytest.importorskip("zadu", reason="zadu is not installed (pip install zadu)")
    from zadu.measures import non_metric_stress, pearson_r, stress

    X, Y = pair
    assert quality.stress(X, Y, scale=1.0) == pytest.approx(stress.measure(X, Y)["stress"])
    theirs = non_metric_stress.measure(X, Y)["non_metric_stress"]
    assert quality.nonmetric_stress(X, Y) == pytest.approx(theirs)
    assert quality.distance_correlation(X, Y) == pytest.approx(pearson_r.measure(X, Y)["pearson_r"])


def test_the_identity_is_best_in_everything(pair):
    X = pair[0]
    ranks = neighbor_ranks(X, X, 10)
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
    counts = co_ranking(X, X, 30).counts
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
