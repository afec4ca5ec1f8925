"""Weights of edges of the default width never vanish."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import PiecesJoined
from dualfold.graph import join_pieces, knn, radius
from dualfold.weights import affinity


def cloud(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("distance", [30.0, 1e6, 1e150])
def test_an_edge_of_the_default_widths_never_vanishes(distance):
    X = cloud(200)
    X[0], X[1:3] = distance, -distance
    with pytest.warns(PiecesJoined):
        graphs = join_pieces(knn(X, 10)), join_pieces(radius(X, 2.0))
    for graph in graphs:
        assert affinity(graph, weights="adaptive").of_graph(graph).min() > np.exp(-2 - 1e-9)
        assert affinity(graph, weights="heat").of_graph(graph).min() > np.exp(-16 - 1e-9)
