"""Shortest paths against SciPy, Floyd–Warshall and known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra, floyd_warshall

from dualfold.errors import InvalidInput
from dualfold.graph import farthest_points, geodesic_distances, knn
from tests.graph.door import SOURCES_BY_BATCH, RenumberedGraph, landmarks_at
from tests.graph.paths import GRAPHS, by_floyd, graph_of
from tests.kernels.door import count_work
from tests.tools.tables import roll_points


@pytest.mark.parametrize("name", GRAPHS)
def test_all_pairs_against_floyd(name):
    graph = GRAPHS[name]
    truth = by_floyd(graph)
    # (SciPy drops edges below 1e-8 when it is given a dense matrix.)
    if name == "dense":
        np.testing.assert_allclose(truth, floyd_warshall(graph.lengths), rtol=1e-12)
    wide = geodesic_distances(graph, dtype=np.float64)
    narrow = geodesic_distances(graph)
    assert (np.isinf(narrow) == np.isinf(truth)).all()
    reached = np.isfinite(truth)
    np.testing.assert_allclose(wide[reached], truth[reached], rtol=1e-13)
    np.testing.assert_allclose(narrow[reached], truth[reached], rtol=1e-5)
    for D in (wide, narrow):
        np.testing.assert_array_equal(D, D.T)
        assert not np.diagonal(D).any()


@pytest.mark.parametrize("name", ["sparse, in pieces", "dense", "roll", "digits"])
def test_float64_rows_are_dijkstra_to_the_last_bit(name):
    graph = GRAPHS[name]
    sources = np.random.default_rng(0).permutation(graph.n)[:50]
    ours = geodesic_distances(graph, sources, dtype=np.float64)
    np.testing.assert_array_equal(ours, dijkstra(graph.lengths, indices=sources))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_do_not_depend_on_threads_or_on_company(dtype):
    graph = knn(roll_points(1500, random_state=1), 8)
    one = geodesic_distances(graph, dtype=dtype, n_jobs=1)
    np.testing.assert_array_equal(one, geodesic_distances(graph, dtype=dtype, n_jobs=4))
    everyone = geodesic_distances(graph, np.arange(graph.n), dtype=dtype, n_jobs=3)
    np.testing.assert_array_equal(one, np.minimum(everyone, everyone.T))
    for sources in ([3], [700, 3, 3, 1499], np.random.default_rng(0).permutation(1500)[:333]):
        np.testing.assert_array_equal(
            geodesic_distances(graph, sources, dtype=dtype), everyone[sources]
        )


def test_path_star_and_grid():
    n = 100
    path = graph_of(n, [(i, i + 1, i + 1.0) for i in range(n - 1)])
    at = np.cumsum(np.arange(n))
    np.testing.assert_array_equal(geodesic_distances(path), np.abs(at[:, None] - at))
    star = graph_of(n, [(0, i, float(i)) for i in range(1, n)])
    legs = np.arange(n)
    expected = legs[:, None] + legs - 2 * np.diag(legs)
    np.testing.assert_array_equal(geodesic_distances(star), expected)
    side = 15
    places = np.array([(r, c) for r in range(side) for c in range(side)])
    apart = np.abs(places[:, None] - places).sum(axis=2)
    edges = [(i, j, 1) for i, j in zip(*np.nonzero(apart == 1), strict=True) if i < j]
    np.testing.assert_array_equal(geodesic_distances(graph_of(side**2, edges)), apart)


def test_float32_on_long_paths():
    # 20,000 edges in a row: the sums are rounded 20,000 times.
    n = 20_001
    lengths = np.random.default_rng(0).random(n - 1)
    path = graph_of(n, np.column_stack([np.arange(n - 1), np.arange(1, n), lengths]))
    ours = geodesic_distances(path, [0])[0]
    np.testing.assert_allclose(ours, np.concatenate([[0], np.cumsum(lengths)]), rtol=1e-5)


def test_lengths_of_very_different_sizes():
    # A threshold step far above one part of the lengths and far below the other.
    rng = np.random.default_rng(5)
    n = 200
    chain = [(i, i + 1, 10.0 ** rng.integers(-12, 12)) for i in range(n - 1)]
    graph = graph_of(n, [*chain, (0, n - 1, 1e12)])
    np.testing.assert_allclose(geodesic_distances(graph), by_floyd(graph), rtol=1e-5)


def test_out_and_refusals():
    graph = GRAPHS["roll"]
    out = np.empty((graph.n, graph.n), np.float32)
    assert geodesic_distances(graph, out=out) is out
    np.testing.assert_array_equal(out, geodesic_distances(graph))
    assert geodesic_distances(graph, []).shape == (0, graph.n)
    with pytest.raises(InvalidInput, match="row numbers from 0 to 499"):
        geodesic_distances(graph, [500])
    with pytest.raises(InvalidInput, match="row numbers"):
        geodesic_distances(graph, [0.5])
    with pytest.raises(InvalidInput, match="float32 or float64"):
        geodesic_distances(graph, dtype=int)
    with pytest.raises(InvalidInput, match="C-contiguous"):
        geodesic_distances(graph, out=np.empty((graph.n, graph.n)))


@pytest.mark.parametrize("name", ["roll", "digits", "zero lengths", "sparse, in pieces"])
def test_farthest_points_by_brute_force(name):
    graph = GRAPHS[name]
    D = geodesic_distances(graph, np.arange(graph.n))
    chosen = [17]
    for _ in range(29):
        nearest = D[chosen].min(axis=0)
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
    found = farthest_points(graph, 30, start=17)
    np.testing.assert_array_equal(found.indices, chosen)
    np.testing.assert_array_equal(found.distances, D[chosen])
    assert landmarks_at(graph, found) is found
    np.testing.assert_array_equal(landmarks_at(graph, chosen).distances, found.distances)


def test_farthest_points_start_and_refusal():
    graph = GRAPHS["roll"]
    first, second = (farthest_points(graph, 3, random_state=4).indices for _ in range(2))
    np.testing.assert_array_equal(first, second)
    everyone = farthest_points(GRAPHS["all zero"], 60, start=0).indices
    assert sorted(everyone) == list(range(60))
    with pytest.raises(InvalidInput, match="1 to 500"):
        farthest_points(graph, 501)


def test_landmarks_in_batches_cover_almost_as_well():
    graph = knn(roll_points(3000, random_state=2), 8)
    exact = farthest_points(graph, 120, start=5, at_once=1)
    nearest = np.full(graph.n, np.inf, np.float32)
    for step, chosen in enumerate(exact.indices):  # the rule itself, one after the other
        assert step == 0 or nearest[chosen] == nearest.max()
        np.minimum(nearest, exact.distances[step], out=nearest)
    batches = farthest_points(graph, 120, start=5)
    assert len(np.unique(batches.indices)) == 120
    np.testing.assert_array_equal(batches.distances, geodesic_distances(graph, batches.indices))
    assert batches.distances.min(axis=0).max() < 1.3 * nearest.max()


@pytest.mark.parametrize("way", SOURCES_BY_BATCH)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_kernel_gives_the_same_bits(name, way):
    graph = GRAPHS[name]
    sources = np.random.default_rng(1).permutation(graph.n)[:37]
    rows = np.empty((len(sources), graph.n))
    RenumberedGraph.of(graph).fill(rows, sources, 2, way)
    np.testing.assert_array_equal(rows, dijkstra(graph.lengths, indices=sources))


def test_paths_need_lengths_of_at_least_0():
    graph = GRAPHS["roll"]
    with pytest.raises(InvalidInput, match="edge lengths must be numbers from 0"):
        geodesic_distances(replace(graph, lengths=-graph.lengths))


@pytest.mark.parametrize("kind", ["surface", "blob"])
def test_landmarks_take_the_same_work_each_time(kind):
    """Sources are processed together where visits, never the clock, say that it pays."""
    X = np.random.default_rng(3).normal(size=(3000, 12))
    graph = knn(roll_points(3000, random_state=2) if kind == "surface" else X, 8)
    runs = []
    for _ in range(2):
        with count_work() as work:
            found = farthest_points(graph, 160, random_state=0)
        runs.append((work["geodesic visits"], found.indices.tolist()))
    assert runs[0] == runs[1]
