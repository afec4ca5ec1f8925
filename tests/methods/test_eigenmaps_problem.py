"""Eigenmaps through the whole pipe: dense LAPACK, scikit-learn, several pieces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold.errors import DisconnectedGraph
from dualfold.graph import knn
from dualfold.methods import eigenmaps
from dualfold.trace.solvers import Auto, Dense, Factored, Lanczos
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points

DATA = {
    "roll": roll_points(700, random_state=0),
    "curve": curve_points(600, random_state=0),
    "digits": digit_points(900),
}


@pytest.mark.parametrize("solver", [Auto(), Dense(), Factored(), Lanczos()], ids=repr)
def test_eigenmaps_against_dense_lapack(solver):
    import scipy.linalg

    X = DATA["curve"]
    D = cdist(X, X)
    listed = np.zeros_like(D, bool)
    rows = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :8]
    np.put_along_axis(listed, rows, True, axis=1)
    listed |= listed.T
    W = np.exp(-((D / 0.4) ** 2)) * listed
    degrees = W.sum(1)
    values, V = scipy.linalg.eigh(np.diag(degrees) - W, np.diag(degrees))
    embedding = dualfold.embed(eigenmaps(knn(X, 8), n_components=3, width=0.4), solver=solver)
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values, values[1:4], rtol=1e-7)
    metric = embedding.problem.metric
    assert principal_sine(embedding.points, V[:, 1:4], metric) < 1e-5
    np.testing.assert_allclose(
        embedding.points.T @ (degrees[:, None] * embedding.points), np.eye(3), atol=1e-9
    )


def test_eigenmaps_equal_scikit_learn_with_the_same_affinity():
    from sklearn.manifold import spectral_embedding

    graph = knn(DATA["digits"], 10)
    problem = eigenmaps(graph, n_components=2, width=30.0)
    embedding = dualfold.embed(problem)
    W = graph.lengths.copy()
    W.data = np.exp(-((W.data / 30.0) ** 2))
    theirs = spectral_embedding(W, n_components=3, drop_first=True, random_state=0)[:, :2]
    assert principal_sine(embedding.points, theirs, problem.metric) < 1e-4


def test_eigenmaps_refuse_several_pieces():
    X = np.vstack([DATA["curve"][:200], DATA["curve"][:200] + 100])
    with pytest.raises(DisconnectedGraph, match="2 pieces"):
        eigenmaps(knn(X, 8))


def test_mnist_eigenmaps(mnist_points):
    embedding = dualfold.embed(eigenmaps(knn(mnist_points, 10)))
    assert embedding.certificate.level in ("proved", "measured")
    assert embedding.certificate.gap < 1e-5
