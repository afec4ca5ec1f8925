"""Classical scaling: distances of any precision, and its linear map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold import ClassicalMDS
from dualfold.data import digits
from dualfold.methods import mds, mds_of_distances, pca
from dualfold.trace.solvers import Dense
from tests.tools.tables import curve_points, digit_points, roll_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))


def test_distances_of_single_precision_are_those_of_double():
    single = X.astype(np.float32)
    found = ClassicalMDS(2, metric="manhattan").fit(single)
    wanted = ClassicalMDS(2, metric="manhattan").fit(single.astype(float))
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        found.dissimilarity_matrix_, cdist(single.astype(float), single, "cityblock"), rtol=1e-6
    )


DIGITS = digits().points[:300]


def fitted(problem):
    # LAPACK: iterations stop at 1e-6, and these tests want to see the last digits.
    embedding = dualfold.embed(problem, solver=Dense())
    assert embedding.certificate.level == "proved", str(embedding.certificate)
    linear = problem.lift.linear_map(embedding.solution.vectors, embedding.values)
    return embedding, linear


def test_mds_has_a_map_too():
    embedding, linear = fitted(mds(DIGITS, n_components=2))
    np.testing.assert_array_equal(linear.encode(DIGITS), embedding.points)


DATA = {
    "roll": roll_points(700, random_state=0),
    "curve": curve_points(600, random_state=0),
    "digits": digit_points(900),
}


@pytest.mark.parametrize("name", DATA)
def test_mds_is_pca_and_matches_its_own_distances(name):
    X = DATA[name]
    of_points = dualfold.embed(mds(X, n_components=2))
    of_distances = dualfold.embed(mds_of_distances(cdist(X, X), n_components=2))
    of_pca = dualfold.embed(pca(X, n_components=2))
    for embedding in (of_points, of_distances):
        assert embedding.certificate.level == "proved"
        np.testing.assert_allclose(embedding.values, of_pca.values * len(X), rtol=1e-9)
        np.testing.assert_allclose(
            cdist(embedding.points, embedding.points),
            cdist(of_pca.points, of_pca.points),
            atol=1e-4,
        )


def test_mds_returns_flat_points_exactly():
    flat = np.random.default_rng(0).random((200, 2))
    embedding = dualfold.embed(mds_of_distances(cdist(flat, flat), n_components=2))
    np.testing.assert_allclose(
        cdist(embedding.points, embedding.points), cdist(flat, flat), atol=1e-10
    )


def test_mds_of_distances_that_are_not_euclidean():
    # Path lengths on a star: negative eigenvalues exist and get no extent.
    hops = np.full((6, 6), 2.0) - 2 * np.eye(6)
    hops[0, 1:] = hops[1:, 0] = 1
    embedding = dualfold.embed(mds_of_distances(hops, n_components=6))
    assert embedding.values.min() < 0
    assert not embedding.points[:, embedding.values < 0].any()
