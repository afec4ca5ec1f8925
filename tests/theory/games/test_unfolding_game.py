"""The dual of maximum variance unfolding as a game, against values that are known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from dualfold.errors import ConditionFails, DisconnectedGraph, InvalidInput
from dualfold.games import EasiestBend, unfolding_bracket, unfolding_game
from dualfold.graph import knn
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


def test_games_without_an_end_are_refused_and_short_steps_warned_of():
    with pytest.raises(DisconnectedGraph, match=r"several pieces.*take its largest piece"):
        unfolding_game(4, np.array([[0, 1], [2, 3]]), np.ones(2), rounds=5)
    recipe = unfolding_game(5, chain(5), np.ones(4), rounds=10, largest_stretch=1e-3)
    with pytest.warns(ConditionFails, match="a stretch of"):
        recipe.play()
    alone = unfolding_game(2, chain(2), np.array([4.0]), rounds=3).play()
    low, high = unfolding_bracket(alone)
    assert low <= 2.0 <= high <= low + 1e-9


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


@pytest.mark.parametrize("scale", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("n", [3, 8])
def test_bends_of_a_path(n, scale):
    f = EasiestBend(n, chain(n), np.full(n - 1, scale))
    second = (2 - 2 * np.cos(np.pi / n)) / scale / (n - 1)
    shares = np.full(n - 1, 1 / (n - 1))
    assert f.value(shares) == pytest.approx(-second, rel=1e-9)
    sure = f.value_interval(shares)
    assert sure.low() <= -second * (1 - 1e-14)
    assert sure.high() >= -second * (1 + 1e-14)
    assert sure.high() - sure.low() <= 1e-11 / scale
    slope = f.subgradient(shares)
    assert slope @ shares == pytest.approx(-second, rel=1e-9)
    plane = f.plane(shares)
    assert plane.height == pytest.approx(-second, rel=1e-9)
    np.testing.assert_allclose(plane.slope, slope, rtol=1e-6, atol=1e-12 / scale)
    random = np.random.default_rng(0)
    for _ in range(20):
        other = random.dirichlet(np.ones(n - 1))
        L = np.zeros((n, n))
        for (i, j), w in zip(chain(n), other / scale, strict=True):
            L[[i, j], [i, j]] += w
            L[[i, j], [j, i]] -= w
        exact = -np.linalg.eigvalsh(L)[1]
        assert f.value(other) == pytest.approx(exact, rel=1e-8)
        far = np.linalg.norm(other - shares)
        assert exact >= plane.height + plane.slope @ (other - shares) - plane.slack * far - 1e-13
        held = f.value_interval(other)
        assert held.low() - 1e-14 / scale <= exact <= held.high() + 1e-14 / scale


def test_parallel_edges_add_up():
    twice = EasiestBend(3, np.array([[0, 1], [1, 0], [1, 2]]), np.array([1.0, 1.0, 1.0]))
    once = EasiestBend(3, chain(3), np.ones(2))
    assert twice.value(np.array([0.25, 0.25, 0.5])) == pytest.approx(once.value(np.full(2, 0.5)))
    negative = once.value_interval(np.array([-0.5, 1.5]))
    assert negative.high() == np.inf
    wrong = [(np.zeros((2, 3), int), np.ones(2)), (chain(3), np.array([1.0, 0.0])),
             (chain(3), np.ones(3)), (np.zeros((0, 2), int), np.ones(0))]  # fmt: skip
    for edges, lengths in wrong:
        with pytest.raises(InvalidInput, match="positive squared lengths"):
            EasiestBend(3, edges, lengths)


@pytest.mark.parametrize(
    "edges",
    [[[0, 1], [2, 2]], [[0, 1], [1, 3]], [[0, 1], [-1, 2]], [[0.0, 1.0], [1.0, 2.0]]],
    ids=["a loop", "beyond the last", "below 0", "no whole numbers"],
)
def test_the_dual_of_unfolding_takes_edges_between_different_rows(edges):
    with pytest.raises(InvalidInput, match="two different row numbers from 0 to 2"):
        EasiestBend(3, np.array(edges), np.ones(2))
    assert EasiestBend(3, np.array([[0, 1], [1, 2]]), np.ones(2)).n == 3


def test_the_stretch_of_an_unfolding_is_bounded_by_its_shortest_edge():
    edges, squared = np.array([[0, 1], [1, 2], [2, 3]]), np.array([0.25, 1.0, 4.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConditionFails)
        run = unfolding_game(4, edges, squared, rounds=30).play()
    assert run.gap[-1] <= unfolding_game(4, edges, squared, rounds=30).bound(30)
    bend = EasiestBend(4, edges, squared)
    G = min(2 / 0.25, -4 * float(bend.subgradient(np.full(3, 1 / 3)).min()))
    step = np.sqrt(2 * np.log(3) / 30) / G
    bound = np.log(3) / (step * 30) + step * G**2 / 2
    recipe = unfolding_game(4, edges, squared, rounds=30)
    assert (
        recipe.bound(30) == pytest.approx(bound) == pytest.approx(G * np.sqrt(2 * np.log(3) / 30))
    )
    assert (recipe.horizon, recipe.bound(10) > bound) == (30, True)
