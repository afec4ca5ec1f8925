"""Laplacians, reconstruction weights and Gram matrices against their definitions."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dualfold import LaplacianEigenmaps
from dualfold.errors import InvalidInput, PiecesJoined
from dualfold.graph import (
    from_affinities,
    from_lengths,
    join_pieces,
    knn,
    neighborhood_spread,
    radius,
    variable,
)
from dualfold.methods import modified_lle
from dualfold.weights import (
    affinity,
    centred_gram,
    density_laplacian,
    heat_laplacian,
    reconstruction_weights,
    scatter,
    tangent_alignment,
    weighted_laplacian,
)
from tests.weights.door import refuse_asymmetry

RNG = np.random.default_rng(0)
POINTS = RNG.random((80, 3))


def adjacency(graph):
    A = np.zeros((graph.n, graph.n), bool)
    coo = graph.lengths.tocoo()
    A[coo.row, coo.col] = True
    return A


@pytest.mark.parametrize("width", [None, 0.2, 3.0])
def test_heat_entries(width):
    graph = knn(POINTS, 6)
    D = cdist(POINTS, POINTS)
    sigma = np.sqrt((D[adjacency(graph)] ** 2).mean()) if width is None else width
    W = np.exp(-((D / sigma) ** 2)) * adjacency(graph)
    laplacian, degrees = heat_laplacian(graph, width=width)
    np.testing.assert_allclose(laplacian.toarray(), np.diag(W.sum(1)) - W, atol=1e-13)
    np.testing.assert_allclose(degrees, W.sum(1), rtol=1e-13)
    if width is None:
        assert affinity(graph).width == pytest.approx(sigma)


def test_huge_width_is_binary():
    graph = knn(POINTS, 6)
    heat, _ = heat_laplacian(graph, width=1e9)
    binary, degrees = weighted_laplacian(graph, weights="binary")
    np.testing.assert_allclose(heat.toarray(), binary.toarray(), atol=1e-12)
    assert np.array_equal(degrees, adjacency(graph).sum(1))


def test_density_entries():
    graph, t = knn(POINTS, 6), 6
    D = cdist(POINTS, POINTS)
    spread = np.sqrt((np.sort(D, axis=1)[:, 1 : t + 1] ** 2).sum(1)) / t
    W = np.exp(-(D**2) / (t * np.outer(spread, spread))) * adjacency(graph)
    laplacian, _ = density_laplacian(graph)
    np.testing.assert_allclose(laplacian.toarray(), np.diag(W.sum(1)) - W, atol=1e-13)


def tucker_average_distances(X, t):
    """A_i of Definition 3.4, from the printed formula: the t nearest points, whatever is kept."""
    D = cdist(X, X)
    return np.array(
        [np.sqrt(sum(d**2 for d in np.sort(np.delete(D[i], i))[:t])) / t for i in range(len(X))]
    )


def tucker_variable_density(X, t):
    """W of Tucker's second new algorithm: Definition 3.5's neighbours, Definition 3.4's weights."""
    m, D, A = len(X), cdist(X, X), tucker_average_distances(X, t)
    near = np.zeros((m, m), bool)
    for i in range(m):
        r = max(1, min(int(np.floor(t * A.mean() / A[i])), t))  # r = 0 would cut the point off
        order = [j for j in np.argsort(D[i]) if j != i]
        near[i, order[:r]] = True
    W = np.exp(-(D**2) / np.outer(A, A) / t)
    return np.where(near | near.T, W, 0.0), near.sum(1)


@pytest.mark.parametrize("t", [6, 18])
def test_variable_density_weights_are_those_of_the_paper(t):
    X = np.vstack([POINTS, 0.2 * RNG.random((60, 3))])
    W, kept = tucker_variable_density(X, t)
    graph = variable(X, t)
    assert (kept < t).sum() > 20  # else the cut lists would do
    np.testing.assert_array_equal(graph.lists.counts, kept)
    A = tucker_average_distances(X, t)
    np.testing.assert_allclose(neighborhood_spread(graph), A, rtol=1e-12)
    L = np.diag(W.sum(1)) - W
    np.testing.assert_allclose(density_laplacian(graph)[0].toarray(), L, atol=1e-13)
    model = LaplacianEigenmaps.named("VALE", n_neighbors=t, n_components=3).fit(X)
    if graph.n_pieces == 1:
        values, vectors = np.linalg.eigh(L)
        np.testing.assert_allclose(model.eigenvalues_, values[1:4], rtol=1e-9)
        cosines = np.linalg.svd(vectors[:, 1:4].T @ model.embedding_, compute_uv=False)
        np.testing.assert_allclose(cosines, 1, atol=1e-9)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)


def test_average_distances_run_over_the_nearest_points_whatever_the_graph_keeps():
    for graph in (knn(POINTS, 4), variable(POINTS, 9), knn(POINTS, 9, symmetry="and")):
        for t in (4, 9, 15):
            expected = tucker_average_distances(POINTS, t)
            np.testing.assert_allclose(neighborhood_spread(graph, t), expected, rtol=1e-12)
    ball = radius(POINTS, 0.4)  # no number of neighbours: those within the radius
    D = cdist(POINTS, POINTS)
    inside = (D <= 0.4) & ~np.eye(len(D), dtype=bool)
    expected = np.sqrt((D**2 * inside).sum(1)) / np.maximum(inside.sum(1), 1)
    np.testing.assert_allclose(neighborhood_spread(ball), expected, rtol=1e-12)
    given = from_lengths(ball.lengths)
    np.testing.assert_allclose(neighborhood_spread(given), expected, rtol=1e-12)


def test_density_weights_with_duplicates_are_finite():
    X = np.vstack([POINTS, np.repeat(POINTS[:1], 10, axis=0)])
    laplacian, degrees = density_laplacian(knn(X, 6))
    assert np.isfinite(laplacian.data).all()
    assert (degrees > 0).all()


def test_density_weights_do_not_feel_the_unit():
    small, large = (density_laplacian(variable(scale * POINTS, 6))[0] for scale in (1e-3, 1e3))
    np.testing.assert_allclose(small.toarray(), large.toarray(), atol=1e-9)


def test_too_narrow_a_kernel_is_refused_with_a_width_that_works():
    graph = knn(POINTS, 6)
    with pytest.raises(InvalidInput, match="too narrow") as caught:
        heat_laplacian(graph, width=1e-3)
    width = float(str(caught.value).split("width=")[2].split()[0])
    heat_laplacian(graph, width=width)
    with pytest.raises(InvalidInput, match="positive"):
        heat_laplacian(graph, width=0)


def test_reconstruction_weights_against_one_by_one():
    graph = variable(POINTS, 7)
    W = reconstruction_weights(POINTS, graph.lists, ridge=1e-3).toarray()
    lists = graph.lists
    for i in range(len(POINTS)):
        near = lists.indices[lists.indptr[i] : lists.indptr[i + 1]]
        Z = POINTS[near] - POINTS[i]
        G = Z @ Z.T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(len(near)), np.ones(len(near)))
        np.testing.assert_allclose(W[i, near], w / w.sum(), rtol=1e-9)
    np.testing.assert_allclose(W.sum(1), 1, rtol=1e-12)
    from sklearn.manifold._locally_linear import barycenter_kneighbors_graph

    fixed = knn(POINTS, 7)
    ours = reconstruction_weights(POINTS, fixed.lists).toarray()
    theirs = barycenter_kneighbors_graph(POINTS, n_neighbors=7).toarray()
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_reconstruction_in_small_batches_and_of_sparse_data(set_limits):
    lists = knn(POINTS, 5).lists
    whole = reconstruction_weights(POINTS, lists)
    set_limits("weights.batches", BATCH_NUMBERS=200)
    np.testing.assert_allclose(reconstruction_weights(POINTS, lists).data, whole.data, rtol=1e-12)
    sparse = reconstruction_weights(sp.csr_array(POINTS), lists)
    np.testing.assert_allclose(sparse.data, whole.data, rtol=1e-12)


def test_reconstruction_among_duplicates_is_finite():
    X = np.repeat(POINTS[:5], 6, axis=0)
    W = reconstruction_weights(X, knn(X, 4).lists)
    np.testing.assert_allclose(np.asarray(W.sum(axis=1)).ravel(), 1, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_scatter_with_a_mean_far_from_zero(kind):
    # A mean 10⁶ (float64) or 10³ (float32) times the spread costs no digits but those
    # that the data itself lost.
    offset = 1e6 if kind is np.float64 else 1e3
    X = (RNG.standard_normal((500, 5)) + offset).astype(kind)
    exact = np.cov(X.astype(np.longdouble).T.astype(float), bias=True) * 500
    total, _ = scatter(X)
    np.testing.assert_allclose(total, exact, rtol=1e-4, atol=1e-5 * exact.max())
    if kind is np.float64:
        np.testing.assert_allclose(total, exact, rtol=1e-9, atol=1e-9 * exact.max())


def test_weights_of_long_edges_may_vanish_where_others_hold_the_graph():
    """exp(−(1.9/0.05)²) is no double; the chain of the two short edges is left."""
    line = knn(np.array([[0.0], [1.0], [1.9]]), 2)
    L, degrees = weighted_laplacian(line, weights="heat", width=0.05)
    assert L[[0], [2]] == 0
    assert (degrees > 0).all()
    with pytest.raises(InvalidInput, match="is too narrow"):
        weighted_laplacian(line, weights="heat", width=0.01)


def cloud(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("distance", [30.0, 1e6, 1e150])
def test_an_edge_of_the_default_widths_never_vanishes(distance):
    X = cloud(200)
    X[0], X[1:3] = distance, -distance
    with pytest.warns(PiecesJoined):
        graphs = join_pieces(knn(X, 10)), join_pieces(radius(X, 2.0))
    for graph in graphs:
        assert affinity(graph, weights="adaptive").of_graph(graph).min() > np.exp(-2 - 1e-9)
        assert affinity(graph, weights="heat").of_graph(graph).min() > np.exp(-16 - 1e-9)


def test_memory_is_bounded_by_the_batches(set_limits):
    X = np.random.default_rng(0).standard_normal((3000, 200))
    lists = knn(X, 10).lists  # all neighbourhoods at once would take 48 MB, and copies of that
    set_limits("weights.batches", BATCH_NUMBERS=2**17)
    tracemalloc.start()
    factor = tangent_alignment(X, lists, n_components=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = factor.data.nbytes + factor.indices.nbytes + factor.indptr.nbytes
    assert peak < 3 * kept + 8 * 2**20


def test_given_affinities_are_corrected_for_density():
    W = RNG.random((12, 12))
    W = np.triu(W, 1) + np.triu(W, 1).T
    graph = from_affinities(W)
    plain, corrected = (
        affinity(graph, weights="precomputed", alpha=alpha).of_graph(graph) for alpha in (0, 0.5)
    )
    q = W.sum(axis=0)
    stored = graph.lengths.tocoo()  # with the edge of length 0, the largest weight
    rows, columns = stored.row, stored.col
    assert np.array_equal(plain, W[rows, columns])
    expected = (W / np.sqrt(np.outer(q, q)))[rows, columns]
    assert np.allclose(corrected / corrected[0], expected / expected[0])


def test_distances_that_differ_there_and_back_are_refused():
    distances = cdist(POINTS, POINTS)
    with pytest.raises(InvalidInput, match="2-dimensional and square"):
        refuse_asymmetry(distances[:3])
    distances[3, 5] += 1
    with pytest.raises(InvalidInput, match=r"entry \(3, 5\)"):
        refuse_asymmetry(distances)


def test_scatter_of_sparse_rows_is_that_of_dense_ones():
    X = sp.random_array((60, 9), density=0.3, rng=np.random.default_rng(1), format="csr")
    np.testing.assert_allclose(scatter(X)[0], scatter(X.toarray())[0], atol=1e-12)


def test_reflections_by_nothing_are_left_out_whatever_the_tolerance():
    line = knn(np.arange(12.0)[:, None], 4)
    F = modified_lle(line, n_components=1, modified_tol=0.0).A
    assert np.isfinite(F @ np.ones(12)).all()


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "u2", "i8"])
def test_the_gram_matrix_of_distances_is_centred_in_place_and_symmetric(kind):
    X = np.random.default_rng(0).integers(0, 90, (700, 1)) * 3.0
    exact = (X - X.mean()) @ (X - X.mean()).T
    for layout in ("C", "F"):
        D = np.abs(X - X.T).astype(kind, order=layout)
        K = centred_gram(D)
        assert K.dtype == (np.float32 if kind == "f4" else np.float64)
        np.testing.assert_allclose(K, exact, atol=700 * np.finfo(K.dtype).eps * exact.max())
        np.testing.assert_array_equal(K, K.T)
        if D.dtype == K.dtype:
            assert centred_gram(D, out=D) is D
            np.testing.assert_array_equal(D, K)
    assert np.array_equal(centred_gram([[0.0]]), [[0.0]])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
def test_distances_that_have_no_squares_are_refused(wrong):
    with pytest.raises(InvalidInput, match="NaN, infinite entries, or some too large"):
        centred_gram(np.array([[0.0, wrong], [wrong, 0.0]]))
    for shape in ((0, 0), (2, 3)):
        with pytest.raises(InvalidInput, match="square matrix"):
            centred_gram(np.empty(shape))
