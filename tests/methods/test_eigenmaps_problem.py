"""Eigenmaps through the whole pipe: dense LAPACK, scikit-learn, several pieces."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.errors import DisconnectedGraph
from dualfold.graph import knn
from dualfold.methods import eigenmaps
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points

DATA = {
    "roll": roll_points(700, random_state=0),
    "curve": curve_points(600, random_state=0),
    "digits": digit_points(900),
}


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
