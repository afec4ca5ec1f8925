"""From a graph to a problem: equal points as one, angles, and which lengths are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput, Unrealisable
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.unfolding import Unfolder, UnfoldingProblem, contraction_of, unfold


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
    alone = Unfolder().solve(UnfoldingProblem(1, np.empty((0, 2), int), [], "equal"))
    assert (alone.solver, len(alone.weights)) == ("nothing to unfold", 0)


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
    assert joined_up.point_of_row[1] == joined_up.point_of_row[2]
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


def test_paths_longer_than_a_block_of_sources(set_limits):
    """Each block of rows looks at its own edges; the last edge of all is the wrong one."""
    set_limits("unfolding.contraction", SOURCE_CHUNK_ROWS=3)
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


def test_angles_do_not_underflow_or_overflow():
    """A row between two others: the angle's distance is that of the rows, in any unit."""
    for size in (2.0**-500, 2.0**500):
        rows = size * np.array([[0.0, 0.0], [3.0, 4.0], [8.0, 16.0]])
        tied = contraction_of(join_pieces(knn(rows, 1)), angles=True).problem
        np.testing.assert_allclose(tied.squared / size**2, [25.0, 320.0, 169.0], rtol=1e-14)


def test_angles_tie_the_neighbours_of_a_point():
    """Each pair of neighbours of a common point once, at the distance of its rows."""
    for X, k in (
        (np.array([[0.0, 0], [1, 0], [1, 1], [5, 5]]), 1),
        (np.random.default_rng(0).standard_normal((20, 3)), 3),
    ):
        graph = join_pieces(knn(X, k))
        linked = (graph.lengths.toarray() > 0).astype(int)
        problem = contraction_of(graph, angles=True).problem
        expected = np.triu(linked + linked @ linked > 0, 1)
        np.testing.assert_array_equal(problem.edges, np.argwhere(expected))
        i, j = problem.edges.T
        np.testing.assert_allclose(problem.squared, np.sum((X[i] - X[j]) ** 2, axis=1))
        assert unfold(graph, angles=True).certificate.upper <= unfold(graph).certificate.upper
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


# ---- and back


def test_duplicates_are_one_point_and_come_apart_again():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X = np.vstack([X, X[:5], X[:2]])
    graph = join_pieces(knn(X, 9))
    contraction = contraction_of(graph)
    assert contraction.problem.n == 30
    np.testing.assert_array_equal(np.sort(contraction.problem.mass)[-5:], [2, 2, 2, 3, 3])
    unfolding = unfold(graph)
    assert unfolding.certificate.level == "proved"
    assert unfolding.certificate.lower > 0
    np.testing.assert_array_equal(unfolding.factor[30:35], unfolding.factor[:5])
    np.testing.assert_allclose(unfolding.factor.sum(axis=0), 0, atol=1e-9)
    value = np.sum(unfolding.factor**2)
    assert value == pytest.approx(unfolding.certificate.lower, rel=1e-5)
    i, j = graph.lengths.nonzero()
    lengths = np.linalg.norm(unfolding.factor[i] - unfolding.factor[j], axis=1)
    assert np.all(lengths <= graph.lengths[i, j] * (1 + 1e-6) + 1e-12)
    assert abs(unfolding.weights - unfolding.weights.T).max() == 0


def test_points_that_are_all_the_same_stay_one():
    graph = knn(np.ones((8, 2)), 3)
    unfolding = unfold(join_pieces(graph))
    assert unfolding.certificate.level == "proved"
    np.testing.assert_array_equal(unfolding.factor, 0)


def triangle(a, b, c):
    lengths = np.zeros((3, 3))
    lengths[0, 1], lengths[1, 2], lengths[0, 2] = a, b, c
    return from_lengths(sp.csr_array(lengths + lengths.T))


def test_a_broken_triangle_is_named_for_equal_and_harmless_for_at_most():
    with pytest.raises(Unrealisable, match=r"points 0 and 2 are 3 apart.*only 2 long"):
        unfold(triangle(1.0, 1.0, 3.0), constraints="equal")
    certificate = unfold(triangle(1.0, 1.0, 3.0)).certificate
    assert certificate.lower == pytest.approx(2.0, rel=1e-6)  # straight: −1, 0, 1


def test_problems_that_make_no_sense_are_refused():
    with pytest.raises(InvalidInput, match="positive"):
        UnfoldingProblem(2, [[0, 1]], [0.0])
    with pytest.raises(InvalidInput, match="once"):
        UnfoldingProblem(2, [[1, 0]], [1.0])
    with pytest.raises(InvalidInput, match="constraints"):
        UnfoldingProblem(2, [[0, 1]], [1.0], "about")  # type: ignore[arg-type]
