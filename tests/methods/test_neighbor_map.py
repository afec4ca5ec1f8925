"""NeighborMap: its spread, its limit of eigenmaps, distances, pieces, placed rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist

from dualfold import LaplacianEigenmaps, NeighborMap
from dualfold.graph import knn
from dualfold.methods import neighbor_map
from dualfold.methods.points.neighbor_map import neighbor_bound
from tests.cli.command_line import run
from tests.methods.door import (
    divergence,
    kernel,
    searched_bound,
    squared_distances,
    stiefel_descent,
)
from tests.tools.tables import digit_points

RNG = np.random.default_rng(0)
ROLL = np.sort(RNG.random(60))[:, None] * [6.0, 0.0] + RNG.random((60, 1)) * [0.0, 1.0]
ROLL = np.column_stack([np.cos(ROLL[:, 0]), np.sin(ROLL[:, 0]), ROLL[:, 1]])


def test_neighbour_maps_of_distances_place_by_distances():
    apart = cdist(ROLL, ROLL)
    by_points = NeighborMap(n_neighbors=8, spread=0.05).fit(ROLL)
    by_distances = NeighborMap(n_neighbors=8, spread=0.05, metric="precomputed").fit(apart)
    assert by_distances.divergence_ == pytest.approx(by_points.divergence_, rel=1e-3)
    placed = by_distances.transform(apart[:5])
    np.testing.assert_allclose(placed, by_distances.embedding_[:5], atol=1e-6)


def test_neighbour_maps_of_two_pieces_have_one_spread():
    two = np.vstack([ROLL[:25], ROLL[:25] + 50])
    found = NeighborMap(n_neighbors=6, pieces="separate").fit(two)
    assert found.n_connected_components_ == 2
    for rows in (slice(0, 25), slice(25, 50)):
        part = found.embedding_[rows] - found.embedding_[rows].mean(axis=0)
        np.testing.assert_allclose(np.square(part).mean(axis=0), found.spread_, rtol=1e-6)


def test_a_small_spread_is_eigenmaps():
    X = digit_points(120).astype(float)
    model = NeighborMap(spread=1e-6).fit(X)
    plain = LaplacianEigenmaps(constraint="identity", left_out=()).fit(X)
    assert np.rad2deg(subspace_angles(model.embedding_, plain.embedding_).max()) < 0.5
    assert model.certificate_.level == "proved"


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("t.csv", digit_points(60)[:, 10:30], delimiter=",")
    words = ("embed", "t.csv", "-m", "neighbor_map", "-o", "m.csv", "--tolerance", 0.03, "--json")
    found = json.loads(run(*words).stdout)
    assert found["certificate"]["level"] == "proved"
    assert found["certificate"]["bound"] > 0
    assert "white" in found["solved"]
    assert found["settings"]["spread"] > 0
    judged = json.loads(run("certify", "t.csv", "m.csv", "--tolerance", 0.03, "--json").stdout)
    assert judged["certificate"]["level"] == "proved"


def some_map(problem, rng):
    """White points drawn at random."""
    drawn = rng.normal(size=(problem.n, problem.count))
    Q = np.linalg.qr(drawn - drawn.mean(axis=0))[0]
    return Q * np.sqrt(problem.size)


def in_one_piece(seed, n, spread, d=2):
    """Linked neighbours of random points: a graph whose map has a shape."""
    X = np.random.default_rng(seed).uniform(size=(n, 2))
    return neighbor_map(knn(X, 8), n_components=d, spread=spread)


@pytest.mark.parametrize("random", [False, True])
def test_the_searched_bound_is_the_proved_one_from_below(set_limits, random):
    if random:  # nothing is spelled out: the search itself
        set_limits("trace.proof.routes", MAX_FILLED_ROWS=0)
    for seed, (spread, d) in enumerate([(0.05, 2), (0.3, 2), (0.1, 3)]):
        problem = in_one_piece(seed, 320, spread, d)
        start = some_map(problem, np.random.default_rng(seed))
        for rounds in (0, 50):  # any white points will do, not only good ones
            Y = stiefel_descent(problem, start, most=rounds).points
            value, bound, chance = searched_bound(problem, Y)
            known = neighbor_bound(problem, kernel(squared_distances(Y)))
            assert divergence(problem, Y) <= value <= divergence(problem, Y) + 1e-7
            # The search resolves less than a proof: 1/100 of KL is plenty.
            assert known - 0.01 * value <= bound <= known + 1e-9
            assert 0 < chance < 1e-10
