"""Shortcuts and sweeps against plain NumPy, on graphs of many kinds and with any division."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.graph import knn
from tests.graph.door import EliminatedGraph
from tests.graph.paths import by_floyd, graph_of, random_graph
from tests.kernels.door import fill_reducing_ordering
from tests.tools.tables import roll_points

PARTS = (1, 3, 16)


def tree_of(n, seed, length=1.0):
    before = np.random.default_rng(seed).integers(0, np.arange(1, n))
    return graph_of(n, [(i + 1, j, length) for i, j in enumerate(before)])


GRAPHS = {
    "in pieces": random_graph(300, 330, 0),
    "dense": random_graph(150, 3000, 1),
    "zero lengths": random_graph(250, 700, 2, zeros=0.4),
    "all zero": random_graph(60, 200, 3, zeros=1.1),
    "equal lengths": graph_of(
        400, [(i, j, 1.0) for i in range(400) for j in (i + 1, i + 20) if j < 400]
    ),
    "path": graph_of(200, [(i, i + 1, 0.1) for i in range(199)]),
    "star": graph_of(150, [(0, i, float(i)) for i in range(1, 150)]),
    "tree": tree_of(300, 5),
    "lengths of many sizes": graph_of(
        90,
        [(i, j, 10.0 ** (i % 7 * 40 - 120)) for i in range(90) for j in (i // 2, i // 3) if j < i],
    ),
    "no edges": graph_of(40, []),
    "roll": knn(roll_points(900, random_state=0), 8),
}


def eliminated_densely(graph, order):
    """All shortcuts by the definition: node by node, between any two of the later ones."""
    W = np.full((graph.n, graph.n), np.inf)
    coo = graph.lengths.tocoo()
    W[coo.row, coo.col] = coo.data
    W = W[np.ix_(order, order)]
    for k in range(graph.n):
        later = slice(k + 1, None)
        W[later, later] = np.minimum(W[later, later], W[later, k, None] + W[k, later])
    return W


def shortcuts_of(eliminated, s):
    """Rows of the block of supernode s: its own, and those of the nodes above."""
    o = eliminated.ordering
    own = o.first[s + 1] - o.first[s]
    block = eliminated.shortcuts[o.panel_start[s] : o.panel_start[s + 1]].reshape(-1, own)
    return block[:own], block[own:]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_shortcuts_are_those_of_a_dense_elimination(name, parts):
    graph = GRAPHS[name]
    eliminated = EliminatedGraph.of(graph, fill_reducing_ordering(graph.lengths), 1, parts)
    o = eliminated.ordering
    W = eliminated_densely(graph, o.permutation)
    for s in range(len(o.above)):
        nodes = np.arange(o.first[s], o.first[s + 1])
        above = o.rows[o.row_start[s] : o.row_start[s + 1]]
        among, under = shortcuts_of(eliminated, s)
        lower = np.tril_indices(len(nodes), -1)
        np.testing.assert_array_equal(among[lower], W[np.ix_(nodes, nodes)][lower])
        np.testing.assert_array_equal(under, W[np.ix_(above, nodes)])


@pytest.mark.parametrize("name", GRAPHS)
def test_bits_depend_on_neither_threads_nor_parts(name):
    graph = GRAPHS[name]
    ordering = fill_reducing_ordering(graph.lengths)
    first = EliminatedGraph.of(graph, ordering, 1, 1)
    for parts in PARTS:
        for threads in (1, 4):
            other = EliminatedGraph.of(graph, ordering, threads, parts)
            for s in range(len(ordering.above)):
                among, under = shortcuts_of(other, s)
                expected, below = shortcuts_of(first, s)
                lower = np.tril_indices(len(among), -1)
                np.testing.assert_array_equal(among[lower], expected[lower])
                np.testing.assert_array_equal(under, below)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", GRAPHS)
def test_sweeps_are_shortest_paths_with_the_same_bits_one_by_one(name, kind):
    graph = GRAPHS[name]
    ordering = fill_reducing_ordering(graph.lengths)
    sources = np.random.default_rng(0).permutation(graph.n)[:70]
    rows = np.full((len(sources), graph.n), np.nan, kind)
    EliminatedGraph.of(graph, ordering).fill(rows, sources, 1)
    with np.errstate(over="ignore", under="ignore"):
        truth = by_floyd(graph)[sources].astype(kind)
    np.testing.assert_allclose(rows, truth, rtol=2e-7 if kind == np.float32 else 1e-14)
    for parts, threads in ((1, 1), (16, 1), (16, 4)):
        divided = EliminatedGraph.of(graph, ordering, threads, parts)
        again = np.full_like(rows, np.nan)
        divided.fill(again, sources, threads)
        np.testing.assert_array_equal(again, rows)
        for i in (0, 33):
            alone = np.full((1, graph.n), np.nan, kind)
            divided.fill(alone, sources[[i]], threads)
            np.testing.assert_array_equal(alone[0], rows[i])


def test_scratch_is_shared_by_calls_of_either_type():
    graph = GRAPHS["roll"]
    eliminated = EliminatedGraph.of(graph, fill_reducing_ordering(graph.lengths))
    for kind, count, threads in ((np.float32, 5, 1), (np.float64, 40, 3), (np.float32, 64, 4)):
        rows = np.full((count, graph.n), np.nan, kind)
        eliminated.fill(rows, np.arange(count), threads)
        np.testing.assert_allclose(rows, by_floyd(graph)[:count], rtol=1e-6)


def test_many_supernodes_above_the_parts():
    """A tree whose parts are small has most of its work above them."""
    graph = knn(roll_points(1500, random_state=3), 12)
    ordering = fill_reducing_ordering(graph.lengths)
    divided = EliminatedGraph.of(graph, ordering, 2, 200)
    assert len(divided.parts.above) > 10
    rows, other = np.empty((20, graph.n)), np.empty((20, graph.n))
    divided.fill(rows, np.arange(20), 2)
    EliminatedGraph.of(graph, ordering, 1, 1).fill(other, np.arange(20), 1)
    np.testing.assert_array_equal(rows, other)
