"""The dual of maximum variance unfolding as a game, against values that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from dualfold.errors import ConditionFails, DisconnectedGraph, InvalidInput
from dualfold.graph import knn
from dualfold.theory.games import EasiestBend, unfolding_bracket, unfolding_game
from tests.tools.tables import roll_points


def chain(n):
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


@pytest.mark.parametrize("n", [4, 8, 13])
def test_the_chain(n):
    """tr K* = n(n²−1)/12 with weights i(n−i)/2, exactly."""
    recipe = unfolding_game(n, chain(n), np.ones(n - 1), rounds=800)
    run = recipe.play()
    exact = n * (n**2 - 1) / 12
    low, high = unfolding_bracket(run)
    assert 0.96 * exact < low <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= high < 1.002 * exact
    # Weights, scaled to λ₂ = 1, are the exact ones.
    place = np.arange(1, n)
    weights = place * (n - place) / 2
    assert run.answer * high == pytest.approx(weights, abs=0.05 * weights.max())
    # The run's own proof, and the bound of mirror descent.
    assert run.gap[-1] <= run.equilibrium[-1] + 1e-12
    assert run.upper[-1] + 1 / exact <= run.gap[-1] + 1e-12
    assert run.gap[-1] <= recipe.bound(800)
    # Mirror descent's regret bound with the stretches that were met.
    step = recipe.x_player.step
    met = np.cumsum(np.abs(run.x.slopes).max(axis=1) ** 2)
    assert np.all(run.x_regret <= np.log(n - 1) / step + step / 2 * met + 1e-12)


def test_the_game_closes_at_its_rate():
    gaps = [
        unfolding_game(8, chain(8), np.ones(7), rounds=T).play().gap[-1] for T in (50, 200, 800)
    ]
    assert gaps[1] <= 0.52 * gaps[0]
    assert gaps[2] <= 0.52 * gaps[1]


@pytest.mark.full
def test_a_complete_graph_is_classical_scaling():
    """With all distances given, the unfolding is the data: tr K* is its spread."""
    points = np.random.default_rng(0).normal(size=(8, 2))
    edges = np.array([(i, j) for i in range(8) for j in range(i)])
    squared = np.sum((points[edges[:, 0]] - points[edges[:, 1]]) ** 2, axis=1)
    spread = np.sum((points - points.mean(axis=0)) ** 2)
    low, high = unfolding_bracket(
        unfolding_game(8, edges, squared, rounds=2000, largest_stretch=2.0).play()
    )
    assert low <= spread * (1 + 1e-9)
    assert high >= spread * (1 - 1e-9)
    assert high < 1.3 * low


@pytest.mark.full
def test_a_small_roll():
    """Between the spread of the rolled-up points and what geodesics allow."""
    points = roll_points(60)
    graph = knn(points, 6)
    lengths = graph.lengths.tocoo()
    upper = lengths.row < lengths.col
    edges = np.column_stack([lengths.row[upper], lengths.col[upper]])
    recipe = unfolding_game(60, edges, lengths.data[upper] ** 2, rounds=1500)
    run = recipe.play()
    low, high = unfolding_bracket(run)
    rolled = np.sum((points - points.mean(axis=0)) ** 2)
    geodesics = shortest_path(graph.lengths, directed=False)
    isomap = np.sum(geodesics**2) / (2 * 60)
    assert rolled < high
    assert low < isomap
    assert low <= high < 1.6 * low
    assert run.gap[-1] <= recipe.bound(1500)
    # The averaged bends, scaled until no edge is too long, are an unfolding: `low`.
    f = EasiestBend(60, edges, lengths.data[upper] ** 2)
    K = np.zeros((60, 60))
    for shares in run.x.points:
        _, v = f.bend(shares)
        K += np.outer(v, v) / run.rounds
    i, j = edges.T
    stretch = (K[i, i] + K[j, j] - 2 * K[i, j]) / lengths.data[upper] ** 2
    worth = np.trace(K) / stretch.max()
    assert worth == pytest.approx(-1 / run.lower[-1], rel=1e-6)
    assert worth <= low


def test_the_second_eigenvalue_and_its_slope():
    random = np.random.default_rng(1)
    edges = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    f = EasiestBend(4, edges, random.uniform(1, 2, 5))
    shares = random.uniform(1, 2, 5)
    L = np.zeros((4, 4))
    for (i, j), w in zip(edges, shares / f.squared_lengths, strict=True):
        e = np.eye(4)[i] - np.eye(4)[j]
        L += w * np.outer(e, e)
    assert -f.value(shares) == pytest.approx(np.linalg.eigvalsh(L)[1])
    slope = [(f.value(shares + 1e-6 * e) - f.value(shares - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
    assert f.subgradient(shares) == pytest.approx(np.array(slope), abs=1e-7)


def test_refusals():
    with pytest.raises(DisconnectedGraph, match="several pieces"):
        unfolding_game(4, np.array([[0, 1], [2, 3]]), np.ones(2), rounds=5)
    with pytest.raises(InvalidInput, match="merge points"):
        unfolding_game(3, chain(3), np.array([1.0, 0.0]), rounds=5)
    with pytest.warns(ConditionFails, match="stretch"):
        unfolding_game(5, chain(5), np.ones(4), rounds=5, largest_stretch=1e-3).play()
