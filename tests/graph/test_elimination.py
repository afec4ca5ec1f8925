"""Shortest paths by elimination against SciPy, Floyd–Warshall and exact sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from dualfold.graph import farthest_points, geodesic_distances, knn
from tests.graph.door import (
    EliminatedGraph,
    eliminated_graph,
    geodesic_rounding,
    tree_height,
)
from tests.graph.paths import GRAPHS, by_floyd, graph_of, random_graph
from tests.kernels.door import count_work, fill_reducing_ordering
from tests.tools.tables import roll_points


def paths_of(graph, sources, kind=np.float64, threads=1):
    rows = np.full((len(sources), graph.n), np.nan, kind)
    eliminated = EliminatedGraph.of(graph, fill_reducing_ordering(graph.lengths))
    eliminated.fill(rows, np.asarray(sources), threads)
    return rows


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", GRAPHS)
def test_all_pairs_against_floyd(name, kind):
    graph = GRAPHS[name]
    truth, found = by_floyd(graph), paths_of(graph, np.arange(graph.n), kind)
    np.testing.assert_array_equal(np.isinf(found), np.isinf(truth))
    reached = np.isfinite(truth)
    np.testing.assert_allclose(
        found[reached], truth[reached], rtol=1e-6 if kind == np.float32 else 1e-14
    )
    assert not np.diagonal(found).any()


@pytest.mark.parametrize("seed", range(4))
def test_lengths_are_off_by_no_more_than_the_bound(seed):
    """Exact sums of the shortest paths, by fractions; lengths of many magnitudes."""
    graph = random_graph(40, 90, seed)
    exact = [[None] * graph.n for _ in range(graph.n)]
    coo = graph.lengths.tocoo()
    for i, j, length in zip(coo.row, coo.col, coo.data, strict=True):
        exact[i][j] = Fraction(float(length))
    for i in range(graph.n):
        exact[i][i] = Fraction(0)
    for k in range(graph.n):
        for i in range(graph.n):
            for j in range(graph.n):
                if exact[i][k] is not None and exact[k][j] is not None:
                    by = exact[i][k] + exact[k][j]
                    if exact[i][j] is None or by < exact[i][j]:
                        exact[i][j] = by
    found = paths_of(graph, np.arange(graph.n))
    bound = Fraction(geodesic_rounding(graph, np.float64))
    height = tree_height(fill_reducing_ordering(graph.lengths))
    bound = min(bound, Fraction(2 * height + 1, 2**53))
    for i in range(graph.n):
        for j in range(graph.n):
            if exact[i][j] is None:
                assert np.isinf(found[i, j])
            else:
                assert abs(Fraction(found[i, j]) - exact[i][j]) <= bound * exact[i][j]


def test_bits_depend_on_neither_threads_nor_the_other_sources():
    graph = knn(roll_points(900, random_state=1), 8)
    sources = np.random.default_rng(0).permutation(graph.n)[:150]
    together = paths_of(graph, sources, threads=1)
    np.testing.assert_array_equal(paths_of(graph, sources, threads=4), together)
    for i in (0, 17, 149):
        np.testing.assert_array_equal(paths_of(graph, sources[[i]])[0], together[i])
    np.testing.assert_array_equal(paths_of(graph, sources[[3, 3]])[1], together[3])


def test_a_point_alone_and_no_edges():
    graph = graph_of(3, [(0, 2, 1.5)])
    np.testing.assert_array_equal(paths_of(graph, [0, 1]), [[0, np.inf, 1.5], [np.inf, 0, np.inf]])
    np.testing.assert_array_equal(paths_of(graph_of(2, []), [1]), [[np.inf, 0]])


def test_the_height_of_a_path_is_known():
    n = 64
    path = graph_of(n, [(i, i + 1, 1.0) for i in range(n - 1)])
    ordering = fill_reducing_ordering(path.lengths)
    assert np.log2(n) <= tree_height(ordering) <= n
    star = graph_of(n, [(0, i, 1.0) for i in range(1, n)])
    assert tree_height(fill_reducing_ordering(star.lengths)) <= 4


def test_many_scattered_sources_of_a_surface_are_swept(set_limits):
    set_limits("graph.elimination", MIN_ROWS=0)
    graph = knn(roll_points(3000, random_state=2), 8)
    sources = np.random.default_rng(1).permutation(graph.n)[:120]
    with count_work() as work:
        found = geodesic_distances(graph, sources, dtype=np.float64)
    assert work["path sweep entries"] > 0
    assert "geodesic visits" not in work
    np.testing.assert_allclose(found, dijkstra(graph.lengths, indices=sources), rtol=1e-14)


def test_landmarks_are_those_of_single_searches(set_limits):
    graph = knn(roll_points(3000, random_state=2), 8)
    plain = farthest_points(graph, 160, random_state=0)
    set_limits("graph.elimination", MIN_ROWS=0)
    with count_work() as work:
        swept = farthest_points(graph, 160, random_state=0)
    assert work["path sweep entries"] > 0
    np.testing.assert_array_equal(swept.indices, plain.indices)
    np.testing.assert_allclose(swept.distances, plain.distances, rtol=2e-7)


def test_what_is_not_eliminated(set_limits):
    """Small graphs, few sources, graphs without small separators, and too many shortcuts."""
    roll = knn(roll_points(3000, random_state=2), 8)
    assert eliminated_graph(roll, 200) is None  # small: Dijkstra's bits
    set_limits("graph.elimination", MIN_ROWS=0)
    assert eliminated_graph(roll, 200) is not None
    assert eliminated_graph(roll, 20) is None
    blob = knn(np.random.default_rng(3).normal(size=(3000, 12)), 8)
    assert eliminated_graph(blob, 375) is None
    set_limits("graph.elimination", MAX_SHORTCUTS=1000)
    assert eliminated_graph(roll, 200) is None
