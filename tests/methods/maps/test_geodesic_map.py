"""New points on an Isomap, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold.errors import InvalidInput
from dualfold.graph import farthest_points, geodesic_distances, knn
from dualfold.methods import isomap, landmark_isomap
from tests.methods.door import GeodesicMap, triangulation
from tests.tools.tables import curve_points, digit_points, roll_points

DATA = {
    "roll": roll_points(900, random_state=0),
    "curve": curve_points(800, random_state=0),
    # Whole pixels make ties among neighbours, which everyone breaks in their own way.
    "digits": digit_points(900) + 1e-3 * np.random.default_rng(0).random((900, 64)),
}


@pytest.mark.parametrize("kind", ["exact", "landmarks"])
def test_training_points_placed_as_new_come_back(kind):
    X = DATA["roll"]
    graph = knn(X, 8)
    chosen = farthest_points(graph, 50, start=3) if kind == "landmarks" else None
    problem = isomap(graph) if chosen is None else landmark_isomap(graph, chosen)
    embedding = dualfold.embed(problem)
    place = triangulation(problem, embedding.solution.vectors, embedding.values)
    again = GeodesicMap(graph, place, chosen)(X)
    scale = np.abs(embedding.points).max()
    np.testing.assert_allclose(again, embedding.points, atol=1e-4 * scale)


def test_new_points_by_brute_force():
    X = roll_points(1000, random_state=3)
    graph, new = knn(X[:900], 8), X[900:]
    problem = isomap(graph)
    embedding = dualfold.embed(problem)
    D, apart = geodesic_distances(graph, dtype=np.float64), cdist(new, X[:900])
    squares = np.empty((100, 900))
    for i, row in enumerate(apart):
        near = np.argsort(row)[:8]
        squares[i] = (row[near, None] + D[near]).min(axis=0) ** 2
    V = embedding.solution.vectors
    expected = 0.5 * ((D**2).mean(axis=0) - squares) @ V / np.sqrt(embedding.values)
    place = triangulation(problem, V, embedding.values)
    points = GeodesicMap(graph, place)(new)
    np.testing.assert_allclose(points, expected, atol=1e-4 * np.abs(expected).max())
    # And they land where an Isomap of old and new together puts them.
    together = dualfold.embed(isomap(knn(X, 8))).points
    assert (
        dualfold.residual_variance(cdist(together, together), np.vstack([embedding.points, points]))
        < 2e-3
    )


def test_placing_needs_the_data():
    from dualfold.graph import from_lengths

    graph = knn(DATA["curve"], 8)
    bare = from_lengths(graph.lengths)
    problem = isomap(bare)
    embedding = dualfold.embed(problem)
    place = triangulation(problem, embedding.solution.vectors, embedding.values)
    with pytest.raises(InvalidInput, match="knn"):
        GeodesicMap(bare, place)(DATA["curve"][:3])
    with pytest.raises(InvalidInput, match="landmarks are needed"):
        place(np.zeros((2, 5)))
