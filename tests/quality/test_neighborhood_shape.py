"""Shapes and densities of neighbourhoods, against formulas on few points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes as scipy_procrustes
from scipy.spatial.distance import cdist

from dualfold import quality
from dualfold.quality import density_correlation, local_distortion
from tests.quality.door import correlation_of_densities

LINE = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]  # every distance once


def test_neighbourhoods_of_three_points_by_hand():
    """Of a triangle and its mirrored, scaled image nothing is lost; of one on a line something."""
    X = np.array([[0.0, 0], [1, 0], [0, 1]])
    assert local_distortion(X, 3 * X[:, ::-1] + 5, n_neighbors=2) == pytest.approx(0, abs=1e-12)
    flat = np.array([[0.0, 0], [1, 0], [0.5, 0]])
    centred, image = X - X.mean(axis=0), flat - flat.mean(axis=0)
    strengths = np.linalg.svd(image.T @ centred, compute_uv=False)
    left = 1 - strengths.sum() ** 2 / (np.square(centred).sum() * np.square(image).sum())
    assert local_distortion(X, flat, n_neighbors=2) == pytest.approx(left)
    assert local_distortion(X, np.zeros((3, 2)), n_neighbors=2) == 1.0
    assert local_distortion(np.zeros((3, 2)), X, n_neighbors=2) == 0.0
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    assert local_distortion(apart, flat, n_neighbors=2, metric="precomputed") == pytest.approx(left)


def test_densities_by_hand():
    before = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5], [2.0, 2.0], [0.0, 0.0]])
    after = np.array([[2.0, 2.0], [3.0, 3.0], [1.0, 2.0], [1.0, 1.0], [1.0, 1.0]])
    logs = [np.log(np.square(part[:4]).mean(axis=1)) for part in (before, after)]
    r = np.corrcoef(*logs)[0, 1]
    assert correlation_of_densities(before, after) == pytest.approx(r)
    assert correlation_of_densities(before, np.ones((5, 2))) == 0.0
    assert correlation_of_densities(before[:1], after[:1]) == 0.0
    assert density_correlation(LINE, 2 * LINE, n_neighbors=2) == pytest.approx(1.0)


def test_two_densities_are_enough_for_a_correlation():
    apart = np.array([[1.0], [2.0]])
    assert correlation_of_densities(apart, 3 * apart) == pytest.approx(1.0)
    assert correlation_of_densities(apart, 1 / apart) == pytest.approx(-1.0)
    assert correlation_of_densities(apart[:1], apart[:1]) == 0.0


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
