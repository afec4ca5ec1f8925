"""From a graph to a problem: equal points as one, angles, and which lengths are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput, Unrealisable
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.unfolding import (
    UnfoldingProblem,
    contraction,
    contraction_of,
)
from dualfold.unfolding import contraction as contraction_module
from dualfold.unfolding.bounds import (
    EdgeFit,
)
from dualfold.unfolding.contraction import _norms
from dualfold.unfolding.solvers.unfolder import elastic


def test_lengths_whose_squares_are_doubles_are_taken():
    ends = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    for length, taken in ((2.0**-500, True), (1e6, True), (2.0**500, True), (2.0**511, False)):
        graph = from_lengths(sp.csr_array((np.full(4, length), ends), shape=(3, 3)))
        if taken:
            assert contraction_of(graph).problem.squared.tolist() == [length**2] * 2
        else:
            with pytest.raises(InvalidInput, match="another unit"):
                contraction_of(graph)


@pytest.mark.parametrize("kind", ["rows", "sparse", "manhattan", "l1", "precomputed"])
def test_angles_tie_neighbours_by_their_distance_in_the_graphs_metric(kind):
    X = np.random.default_rng(0).normal(size=(9, 3))
    metric = "euclidean" if kind in ("rows", "sparse") else kind
    order = 1 if kind in ("manhattan", "l1") else 2
    D = np.linalg.norm(X[:, None] - X, ord=order, axis=2)
    given = {"precomputed": D, "sparse": sp.csr_array(X)}.get(kind, X)
    graph = join_pieces(knn(given, 3, metric=metric))
    found = contraction_of(graph, angles=True).problem
    i, j = found.edges.T
    np.testing.assert_allclose(found.squared, D[i, j] ** 2, rtol=1e-12)
    assert found.m > graph.n_edges


def test_lengths_that_contradict_each_other_have_no_points():
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    lengths = sp.coo_array(([0.0, 0.0, 1.0], ends.T), shape=(3, 3)).tocsr()
    with pytest.raises(Unrealisable, match="points 0 and 2 are 1 apart"):
        contraction_of(from_lengths(lengths), constraints="equal")
    with pytest.raises(InvalidInput, match="1 point was given"):
        elastic(UnfoldingProblem(1, np.empty((0, 2), int), [], "equal"))
    assert EdgeFit(0.0, np.inf, 1.0).value == 0
    assert EdgeFit(1.0, 2.0, 6.0).value == pytest.approx(3.0)


def triangle():
    rows, columns = np.array([0, 0, 1, 1, 2, 2, 2, 3]), np.array([1, 2, 0, 2, 0, 1, 3, 2])
    return from_lengths(sp.csr_array((np.ones(8), (rows, columns)), shape=(4, 4)))


def test_angles_tie_each_pair_once(monkeypatch):
    """Points 0, 1, 2 see one another already; 3 sees 2, and so ties to 0 and 1."""
    graph = triangle()
    ends = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    monkeypatch.setattr(contraction, "_distances", lambda graph, pairs: np.ones(len(pairs)))
    found, _ = contraction._with_angles(graph, ends, np.ones(4))
    assert sorted(map(tuple, found.tolist())) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def graph_of(edges, lengths, n):
    i, j = np.array(edges).T
    both = (np.r_[i, j], np.r_[j, i])
    return from_lengths(sp.csr_array(sp.coo_array((np.tile(lengths, 2), both), shape=(n, n))))


def test_points_at_distance_0_are_one_of_their_mass():
    graph = graph_of([[0, 1], [1, 2], [0, 3], [2, 3]], [2.0, 1.0, 3.0, 5.0], 4)
    plain = contraction_of(graph)
    assert plain.problem.n == 4
    np.testing.assert_array_equal(plain.problem.squared, [4.0, 9.0, 1.0, 25.0])
    joined_up = contraction_of(graph_of([[0, 1], [1, 2], [0, 3], [2, 3]], [2.0, 0.0, 3.0, 5.0], 4))
    assert joined_up.problem.n == 3
    np.testing.assert_array_equal(np.sort(joined_up.problem.mass), [1, 1, 2])
    assert joined_up.place[1] == joined_up.place[2]
    points = joined_up.points(np.arange(3.0)[:, None])
    assert points[1] == points[2]
    weights = joined_up.weights(np.array([1.0, 2.0, 4.0])).toarray()
    np.testing.assert_array_equal(weights, weights.T)
    assert weights.sum() == 14.0
    # Of two edges between the same points the shorter one binds.
    twice = contraction_of(graph_of([[0, 1], [1, 2], [0, 2]], [2.0, 0.0, 3.0], 3))
    np.testing.assert_array_equal(twice.problem.squared, [4.0])
    with pytest.raises(Unrealisable, match="duplicates have different distances"):
        contraction_of(graph_of([[0, 1], [1, 2], [0, 2]], [2.0, 0.0, 3.0], 3), constraints="equal")
    with pytest.raises(Unrealisable, match="path of edges"):
        contraction_of(graph_of([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 2.5], 3), constraints="equal")
    triangle = graph_of([[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 2.0], 3)
    assert contraction_of(triangle, constraints="equal").problem.constraints == "equal"


def test_paths_longer_than_a_block_of_sources(monkeypatch):
    """Each block of rows looks at its own edges; the last edge of all is the wrong one."""
    monkeypatch.setattr(contraction_module, "SOURCE_CHUNK_ROWS", 3)
    n = 8
    edges = [[i, i + 1] for i in range(n - 1)] + [[n - 3, n - 1]]
    good = graph_of(edges, np.r_[np.ones(n - 1), 2.0], n)
    assert contraction_of(good, constraints="equal").problem.m == n
    bad = graph_of(edges, np.r_[np.ones(n - 1), 2.001], n)
    with pytest.raises(Unrealisable, match=rf"points {n - 3} and {n - 1} are 2.001 apart"):
        contraction_of(bad, constraints="equal")
    first = graph_of([*edges[:-1], [0, 2]], np.r_[np.ones(n - 1), 2.5], n)
    with pytest.raises(Unrealisable, match=r"points 0 and 2 are 2\.5 apart"):
        contraction_of(first, constraints="equal")


def test_lengths_of_rows_do_not_underflow():
    rows = np.array([[3e-200, 4e-200], [3e200, -4e200], [0.0, 0.0], [5.0, 12.0]])
    np.testing.assert_allclose(_norms(rows), [5e-200, 5e200, 0.0, 13.0], rtol=1e-15)
    assert _norms(np.zeros((2, 0))).tolist() == [0.0, 0.0]


def test_angles_tie_the_neighbours_of_a_point():
    points = np.array([[0.0, 0], [1, 0], [1, 1], [5, 5]])
    graph = join_pieces(knn(points, 1))
    plain, tied = contraction_of(graph), contraction_of(graph, angles=True)
    pairs = {tuple(edge) for edge in tied.problem.edges}
    assert {tuple(edge) for edge in plain.problem.edges} < pairs
    for (i, j), d in zip(tied.problem.edges, tied.problem.squared, strict=True):
        assert d == pytest.approx(np.square(points[i] - points[j]).sum(), rel=1e-12)
    near = {
        i: {b if a == i else a for a, b in plain.problem.edges.tolist() if i in (a, b)}
        for i in range(4)
    }
    wanted = {tuple(sorted((a, b))) for i in range(4) for a in near[i] for b in near[i] if a != b}
    assert pairs == wanted | {tuple(edge) for edge in plain.problem.edges.tolist()}
    with pytest.raises(InvalidInput, match="without points"):
        contraction_of(graph_of([[0, 1], [1, 2]], [1.0, 1.0], 3), angles=True)


def test_contradictions_of_any_size_are_refused():
    """Points linked by edges of length 0 are one point, and have no distance of 0.001 either."""
    rows, columns = np.array([0, 1, 0, 2, 3]), np.array([1, 2, 2, 3, 1])
    lengths = np.array([1e-300, 1e-300, 0.001, 1.0, 1.0])
    stored = sp.coo_array(
        (np.tile(lengths, 2), (np.r_[rows, columns], np.r_[columns, rows])), (4, 4)
    )
    stored = sp.csr_array(stored)
    stored.data[stored.data == 1e-300] = 0.0  # stored zeros: the same place
    graph = from_lengths(stored)
    with pytest.raises(Unrealisable, match="linked by edges of length 0"):
        contraction_of(graph, constraints="equal")
    assert contraction_of(graph).problem.n == 2
