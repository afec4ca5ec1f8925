"""Least stress: steps of SMACOF, and a certificate that says whether forces balance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import smacof

from dualfold.errors import InvalidInput, TooLarge
from dualfold.point_pca import descend_stress
from dualfold.point_pca.stress import certify_stress, guttman_transform


def stress_of(D, Y):
    return float(sum((np.linalg.norm(Y[i] - Y[j]) - D[i, j]) ** 2
                     for i in range(len(Y)) for j in range(i)))  # fmt: skip


def slope_of(D, Y, step=1e-6):
    """∇σ by central differences."""
    gradient = np.zeros_like(Y)
    for place in np.ndindex(*Y.shape):
        move = np.zeros_like(Y)
        move[place] = step
        gradient[place] = (stress_of(D, Y + move) - stress_of(D, Y - move)) / (2 * step)
    return gradient


def test_stress_falls_with_every_step_to_a_point_where_it_is_stationary():
    rng = np.random.default_rng(1)
    D = cdist(*[rng.normal(size=(14, 5))] * 2)
    found = descend_stress(D, 2, tolerance=1e-6)
    assert (np.diff(found.stresses) <= 0).all()
    assert found.certificate.level == "stationary"
    assert not found.certificate.holds  # nothing is proved of it
    assert found.certificate.value == pytest.approx(stress_of(D, found.points), rel=1e-12)
    off = np.abs(cdist(found.points, found.points) - D).sum(axis=1)
    assert np.linalg.norm(slope_of(D, found.points)) <= 2e-6 * np.linalg.norm(2 * off) + 1e-7
    theirs = smacof(D, n_components=2, init=found.points, n_init=1, normalized_stress=False)
    assert theirs[1] == pytest.approx(found.certificate.value, rel=1e-6)
    moved = found.points + 0.01 * rng.normal(size=(14, 2))
    assert certify_stress(D, moved, tolerance=1e-6).level == "not stationary"


def test_a_step_is_that_of_smacof():
    rng = np.random.default_rng(2)
    D, Y = cdist(*[rng.normal(size=(15, 4))] * 2), rng.normal(size=(15, 2))
    theirs = smacof(D, n_components=2, init=Y, n_init=1, max_iter=1, normalized_stress=False)[0]
    np.testing.assert_allclose(guttman_transform(Y, D), theirs, atol=1e-9)


@pytest.mark.parametrize("size", [1e-100, 1e-6, 1e6, 1e100])
def test_units_do_not_matter(size):
    Y = np.random.default_rng(3).normal(size=(12, 2))
    D = cdist(Y, Y)
    assert certify_stress(size * D, size * Y).level == "stationary"
    assert certify_stress(size * D, 1.01 * size * Y).level == "not stationary"
    assert descend_stress(size * D).certificate.level == "stationary"


def test_points_in_one_place_that_should_lie_apart_are_not_stationary():
    """σ has no gradient there, and falls in every direction."""
    D = cdist(*[np.random.default_rng(4).normal(size=(6, 2))] * 2)
    judged = certify_stress(D, np.zeros((6, 2)))
    assert (judged.level, judged.unbalanced) == ("not stationary", 1.0)
    assert certify_stress(D, np.full((6, 2), np.nan)).level == "failed"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[0.0, np.nan], [1, 0]]), "finite"),
        (np.array([[0.0, 2], [1, 0]]), "there and back"),
        (np.zeros((3000, 3000)), "up to 2000"),
    ],
)
def test_what_are_no_distances_is_refused(given, words):
    with pytest.raises((InvalidInput, TooLarge), match=words):
        descend_stress(given)
