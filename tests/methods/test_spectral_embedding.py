"""SpectralEmbedding by the affinities that scikit-learn takes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import SpectralEmbedding as Theirs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from dualfold import SpectralEmbedding

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
