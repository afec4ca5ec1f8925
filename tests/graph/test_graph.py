"""The graph: symmetry rules, variable neighbourhoods, zeros, pieces."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from dualfold.errors import DisconnectedGraph, InvalidInput, PiecesJoined
from dualfold.graph import from_lengths, join_pieces, knn, radius, separate, variable
from tests.graph.door import (
    Lists,
    connected_lists,
    joining_n_neighbors,
    merge_graphs,
    one_piece,
    subgraph,
    symmetric_lengths,
    terminal_components,
)

RNG = np.random.default_rng(0)
POINTS = RNG.random((120, 3))


def stored_edges(graph):
    coo = graph.lengths.tocoo()
    return {(int(i), int(j)) for i, j in zip(coo.row, coo.col, strict=True)}


def brute_lists(X, k):
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("symmetry", ["or", "and"])
def test_knn_edges_against_brute_force(symmetry):
    graph = knn(POINTS, 5, symmetry=symmetry)
    listed = {(i, int(j)) for i, row in enumerate(brute_lists(POINTS, 5)) for j in row}
    mutual = {(i, j) for i, j in listed if (j, i) in listed}
    expected = mutual if symmetry == "and" else listed | {(j, i) for i, j in listed}
    assert stored_edges(graph) == expected
    D = cdist(POINTS, POINTS)
    coo = graph.lengths.tocoo()
    np.testing.assert_allclose(coo.data, D[coo.row, coo.col], rtol=1e-14)


def test_duplicates_keep_their_zero_edges():
    X = np.repeat(RNG.random((30, 2)), 3, axis=0)
    for graph in (knn(X, 4), knn(X, 4, symmetry="and"), radius(X, 0.05)):
        zero = graph.lengths.data == 0
        assert zero.sum() >= 90
        assert graph.n_pieces == connected_components(graph.lengths, directed=False)[0]
    # Ten copies of one point, 3 neighbours: all edges have length 0, and are there.
    graph = knn(np.ones((10, 2)), 3)
    assert graph.lengths.nnz >= 30
    assert not graph.lengths.data.any()
    for rows, piece in separate(knn(X, 1)):
        assert piece.lengths.nnz >= 2 * (len(rows) - 1) > 0


def test_radius_edges_against_brute_force():
    graph = radius(POINTS, 0.3)
    D = cdist(POINTS, POINTS)
    expected = {(i, j) for i, j in zip(*np.nonzero(D <= 0.3), strict=True) if i != j}
    assert stored_edges(graph) == expected


def test_variable_counts_by_hand():
    graph = variable(POINTS, 6)
    D = np.sort(cdist(POINTS, POINTS), axis=1)[:, 1:7]
    spread = np.sqrt((D**2).sum(axis=1)) / 6
    counts = np.clip(np.floor(6 * spread.mean() / spread + 1e-9), 1, 6)
    assert np.array_equal(graph.lists.counts, counts)
    assert 1 <= counts.min() < counts.max() == 6


def test_equal_densities_make_variable_fixed():
    # A ring: every point has the same spread, up to rounding.
    angle = 2 * np.pi * np.arange(50) / 50
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    fixed, adaptive = knn(ring, 4), variable(ring, 4)
    assert stored_edges(fixed) == stored_edges(adaptive)


def test_points_among_duplicates_keep_all_neighbours():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [3.0], [7.0]])
    assert variable(X, 2).lists.counts[:3].tolist() == [2, 2, 2]


def test_precomputed_distances_and_ragged_graphs():
    D = cdist(POINTS, POINTS)
    assert stored_edges(knn(D, 5, metric="precomputed")) == stored_edges(knn(POINTS, 5))
    one_way = sp.csr_array(np.triu(D * (D < 0.35), 1))
    assert stored_edges(from_lengths(one_way)) == stored_edges(radius(POINTS, 0.34999999))
    with pytest.raises(InvalidInput, match="sparse matrix of edge lengths"):
        from_lengths(D)


def test_kneighbors_transformer_graphs():
    from sklearn.neighbors import KNeighborsTransformer

    given = KNeighborsTransformer(n_neighbors=5).fit_transform(POINTS)  # the point itself is in it
    graph = knn(given, 5, metric="precomputed")
    assert stored_edges(graph) == stored_edges(knn(POINTS, 5))


def test_graph_cannot_be_changed():
    graph = knn(POINTS, 5)
    with pytest.raises(ValueError, match="read-only"):
        graph.lengths.data[0] = 7
    with pytest.raises(AttributeError):
        graph.kind = "given"  # type: ignore[misc]


def clusters(*sizes, distance=10.0, dimension=2):
    rng = np.random.default_rng(3)
    centres = distance * np.arange(len(sizes))[:, None] * np.eye(dimension)[0]
    return np.vstack(
        [
            rng.random((size, dimension)) + centre
            for size, centre in zip(sizes, centres, strict=True)
        ]
    )


def smallest_joining(X, symmetry="or"):
    for k in range(1, len(X)):
        if knn(X, k, symmetry=symmetry).n_pieces == 1:
            return k
    return None


@pytest.mark.parametrize("symmetry", ["or", "and"])
@pytest.mark.parametrize("sizes", [(20, 15), (6, 40, 9, 11), (30, 3, 3)])
def test_smallest_joining_number_against_trying_them_all(sizes, symmetry):
    X = clusters(*sizes)
    graph = knn(X, 2, symmetry=symmetry)
    assert graph.n_pieces > 1
    assert joining_n_neighbors(graph) == smallest_joining(X, symmetry)


@pytest.mark.parametrize("dimension", [2, 40])
@pytest.mark.parametrize("sizes", [(80, 70, 90), (50, 4, 3, 60), (100, 1, 1, 2)])
def test_join_uses_the_shortest_links(sizes, dimension):
    X = clusters(*sizes, dimension=dimension)
    graph = knn(X, 3, symmetry="and")  # leaves lone points, too
    with pytest.warns(PiecesJoined, match=r"shortest links?; pieces='separate'"):
        whole = join_pieces(graph)
    assert whole.n_pieces == 1
    assert len(whole.links) == graph.n_pieces - 1
    # A minimum spanning tree over the pieces, by brute force on all distances.
    D = cdist(X, X)
    pieces = graph.piece_of
    between = np.full((graph.n_pieces, graph.n_pieces), 0.0)
    for a in range(graph.n_pieces):
        for b in range(graph.n_pieces):
            if a != b:
                between[a, b] = D[np.ix_(pieces == a, pieces == b)].min()
    tree = sp.csgraph.minimum_spanning_tree(between)
    total = sum(length for *_, length in whole.links)
    assert total == pytest.approx(tree.sum(), rel=1e-12)
    assert (abs(whole.lengths - whole.lengths.T)).max() == 0


def test_message_names_pieces_and_remedy():
    X = clusters(30, 20)
    graph = knn(X, 3)
    enough = smallest_joining(X)
    with pytest.raises(DisconnectedGraph) as caught:
        one_piece(graph)
    message = str(caught.value)
    assert f"has {graph.n_pieces} pieces (largest" in message
    assert f"n_neighbors={enough} connects them" in message


def test_precomputed_pieces():
    X = clusters(30, 20)
    D = cdist(X, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PiecesJoined)
        from_points, from_distances = (
            join_pieces(knn(X, 4)),
            join_pieces(knn(D, 4, metric="precomputed")),
        )
    assert [link[:2] for link in from_points.links] == [link[:2] for link in from_distances.links]
    with pytest.raises(DisconnectedGraph, match=r"without coordinates"):
        join_pieces(from_lengths(knn(X, 4).lengths))


def test_pieces_one_by_one():
    X = clusters(30, 20, 10)
    graph = knn(X, 3)
    rows = np.concatenate([rows for rows, _ in separate(graph)])
    assert np.array_equal(np.sort(rows), np.arange(60))
    for rows, piece in separate(graph):
        assert piece.n_pieces == 1
        expected = graph.lengths[rows][:, rows]
        assert np.array_equal(piece.lengths.toarray(), expected.toarray())
        assert piece.lists.indices.max() < len(rows)


X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_neighbourhoods_that_share_nobody_fall_apart():
    two = np.vstack([X[:8], X[:8] + 100])
    with pytest.raises(DisconnectedGraph, match="2 groups that share no point"):
        connected_lists(knn(two, 5).lists)
    graph = knn(two, 3)
    enough = joining_n_neighbors(graph)
    assert knn(two, enough).n_pieces == 1 < knn(two, enough - 1).n_pieces
    assert joining_n_neighbors(knn(X, 12)) == 12  # in one piece already


def test_a_part_of_a_given_graph_keeps_its_lengths():
    """A graph without points has none in its parts."""
    lengths = knn(X, 4).lengths
    part = subgraph(from_lengths(lengths), np.arange(10))
    assert part.points is None
    assert abs(part.lengths - lengths[:10][:, :10]).max() == 0


def test_terminal_components_of_a_real_graph_against_reachability():
    rng = np.random.default_rng(7)
    lists = knn(rng.standard_normal((60, 2)), 2).lists
    reach = np.eye(60, dtype=bool)
    reach[np.repeat(np.arange(60), 2), lists.indices] = True
    for k in range(60):
        reach |= np.outer(reach[:, k], reach[k])
    terminal = [bool(np.all(reach[reach[i], i])) for i in range(60)]
    group = terminal_components(lists)
    np.testing.assert_array_equal(group >= 0, terminal)
    for i in np.flatnonzero(terminal):
        np.testing.assert_array_equal(group == group[i], reach[i])


def test_united_undoes_separate():
    X = np.random.default_rng(0).standard_normal((60, 2)) + 20 * (np.arange(60) % 3)[:, None]
    X[6] = X[3]  # an edge of length 0
    graph = knn(X, 5)
    assert graph.n_pieces == 3
    again = merge_graphs(list(separate(graph)), X)
    for side in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(
            getattr(again.lengths, side), getattr(graph.lengths, side), err_msg=side
        )
        name = {"data": "distances"}.get(side, side)
        np.testing.assert_array_equal(getattr(again.lists, name), getattr(graph.lists, name))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("symmetry", ["or", "and"])
def test_lists_of_any_length_and_order_are_made_symmetric_and_fall_into_scipys_pieces(
    seed, symmetry
):
    rng = np.random.default_rng(seed)
    n, wanted, lists = 60, {}, []
    for i in range(n):
        others = rng.permutation(np.delete(np.arange(n), i))[: rng.integers(0, 3)]
        lists.append(others)
    flat, counts = np.concatenate(lists), [len(each) for each in lists]
    distances = rng.random(len(flat))
    rows = np.repeat(np.arange(n), counts)
    listed = set(zip(rows.tolist(), flat.tolist(), strict=True))
    for i, j, d in zip(rows.tolist(), flat.tolist(), distances, strict=True):
        if symmetry == "or" or (j, i) in listed:
            # Of two lengths that were listed "or" keeps the later one, "and" the first.
            for edge in ((i, j), (j, i)):
                wanted[edge] = d if symmetry == "or" else wanted.get(edge, d)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    found = symmetric_lengths(Lists(indptr, flat.astype(np.int32), distances), symmetry)
    coo = found.tocoo()
    assert dict(zip(zip(coo.row, coo.col, strict=True), coo.data, strict=True)) == wanted
    assert found.has_canonical_format
    graph = from_lengths(found)
    count, piece = connected_components(found, directed=False)
    assert graph.n_pieces == count
    assert len(set(zip(graph.piece_of, piece, strict=True))) == count
