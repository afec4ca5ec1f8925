"""SpectralEmbedding: the maps and the affinities of scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.manifold
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.manifold import SpectralEmbedding as Theirs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from dualfold import LaplacianEigenmaps, SpectralEmbedding
from tests.tools.tables import curve_points, digit_points, roll_points

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))


def same_up_to_signs(one, two, tolerance=1e-6):
    np.testing.assert_allclose(np.abs(one), np.abs(two), atol=tolerance)


@pytest.mark.parametrize("affinity", ["function", "lists"])
def test_affinities_by_a_function_or_by_sparse_distances(affinity):
    if affinity == "function":
        ours = SpectralEmbedding(2, affinity=lambda rows: rbf_kernel(rows, gamma=0.1))
        theirs = Theirs(2, affinity="precomputed").fit_transform(rbf_kernel(X, gamma=0.1))
        found = ours.fit_transform(X)
    else:
        near = kneighbors_graph(X, 12, mode="distance")
        settings = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 8}
        found = SpectralEmbedding(2, **settings).fit_transform(near)
        theirs = Theirs(2, **settings, eigen_solver="arpack", random_state=0).fit_transform(near)
    same_up_to_signs(found, theirs, 1e-5)


DATA = {
    "roll": roll_points(600, random_state=0),
    "curve": curve_points(500, random_state=0),
    # A little noise: whole numbers give ties, which scikit-learn breaks in no stated order.
    "digits": digit_points(500) + 1e-3 * np.random.default_rng(0).random((500, 64)),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
def test_spectral_embedding_equals_scikit_learn(name, affinity):
    X = DATA[name] / 10
    ours = SpectralEmbedding(affinity=affinity, n_neighbors=12).fit(X)
    theirs = sklearn.manifold.SpectralEmbedding(
        affinity=affinity, n_neighbors=12, random_state=0, eigen_tol=1e-12
    ).fit(X)
    np.testing.assert_allclose(
        abs(ours.affinity_matrix_ - theirs.affinity_matrix_).max(), 0, atol=1e-12
    )
    scale = np.abs(theirs.embedding_).max()
    np.testing.assert_allclose(
        np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-4 * scale
    )
    assert ours.certificate_.level == "proved"


@pytest.mark.parametrize("n", [3, 5, 8, 15])
def test_spectral_embedding_of_a_handful_of_points(n):
    X = np.random.default_rng(n).normal(size=(n, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert SpectralEmbedding().fit(X).certificate_.level == "proved"


def test_asymmetric_affinities_are_averaged_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    W = np.exp(-cdist(*[rng.normal(size=(25, 2))] * 2)) + 0.1 * rng.random((25, 25))
    for ours in (
        SpectralEmbedding(affinity="precomputed"),
        LaplacianEigenmaps(weights="precomputed"),
    ):
        with pytest.warns(UserWarning, match="not symmetric"):
            found = clone(ours).fit_transform(W)
        expected = clone(ours).fit_transform((W + W.T) / 2)
        np.testing.assert_allclose(found, expected, atol=1e-8)
