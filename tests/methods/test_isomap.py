"""Isomap against scikit-learn, identities, flat sheets and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold import PCA
from dualfold.data import digits, s_curve, swiss_roll
from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.graph import Landmarks, farthest_points, geodesic_distances, join_pieces, knn
from dualfold.maps import GeodesicMap, triangulation
from dualfold.methods import isomap, landmark_count, landmark_isomap, mds_of_distances
from dualfold.quality import residual_variance
from dualfold.trace.problem import product
from dualfold.weights.gram import centred_gram
from tests.conftest import principal_sine

DATA = {
    "roll": swiss_roll(900, random_state=0).points,
    "curve": s_curve(800, random_state=0).points,
    # Whole pixels make ties among neighbours, which everyone breaks in their own way.
    "digits": digits().points[:900] + 1e-3 * np.random.default_rng(0).random((900, 64)),
}


@pytest.mark.parametrize("name", DATA)
def test_isomap_equals_scikit_learn(name):
    from sklearn.manifold import Isomap

    X = DATA[name]
    embedding = dualfold.embed(isomap(knn(X, 10), n_components=3))
    theirs = Isomap(n_neighbors=10, n_components=3).fit(X)
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values, theirs.kernel_pca_.eigenvalues_, rtol=1e-5)
    assert principal_sine(embedding.points, theirs.embedding_) < 1e-4
    scale = np.abs(theirs.embedding_).max()
    np.testing.assert_allclose(
        cdist(embedding.points, embedding.points),
        cdist(theirs.embedding_, theirs.embedding_),
        atol=1e-4 * scale,
    )


def test_isomap_with_all_neighbours_is_classical_scaling():
    X = DATA["digits"][:300]
    ours = dualfold.embed(isomap(knn(X, 299), n_components=4))
    theirs = dualfold.embed(mds_of_distances(cdist(X, X), n_components=4))
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-5)
    assert principal_sine(ours.points, theirs.points) < 1e-4


def test_isomap_lays_a_roll_flat():
    roll = swiss_roll(3000, random_state=0)
    graph = knn(roll.points, 8)
    points = dualfold.embed(isomap(graph)).points
    assert residual_variance(graph, points) < 1e-3
    # The rolled-up sheet is as long as its spiral: the first axis spans its geodesics.
    assert np.ptp(points[:, 0]) == pytest.approx(geodesic_distances(graph).max(), rel=0.05)


def test_isomap_needs_one_piece():
    X = np.vstack([DATA["curve"][:200], DATA["curve"][:200] + 100])
    for state in (isomap, lambda graph: landmark_isomap(graph, [0, 1, 2])):
        with pytest.raises(DisconnectedGraph, match="2 pieces"):
            state(knn(X, 8))


def test_all_points_as_landmarks_are_exact():
    graph = knn(DATA["curve"], 8)
    exact = dualfold.embed(isomap(graph))
    by_landmarks = dualfold.embed(landmark_isomap(graph, np.arange(graph.n)))
    np.testing.assert_allclose(by_landmarks.values, exact.values, rtol=1e-5)
    scale = np.abs(exact.points).max()
    np.testing.assert_allclose(by_landmarks.points, exact.points, atol=1e-4 * scale)


def test_landmarks_of_a_flat_sheet_return_it():
    # Landmarks see true distances here, so every point comes back to rounding.
    sheet = np.random.default_rng(0).random((400, 2)) * [3, 1]
    indices = np.arange(0, 400, 40)
    graph = knn(sheet, 399)
    embedding = dualfold.embed(
        landmark_isomap(graph, Landmarks(indices, cdist(sheet[indices], sheet)))
    )
    assert embedding.points.shape == (400, 2)
    np.testing.assert_allclose(
        cdist(embedding.points, embedding.points), cdist(sheet, sheet), atol=1e-10
    )


def test_landmarks_on_a_roll_are_close_to_all_points():
    graph = knn(swiss_roll(2000, random_state=0).points, 8)
    exact = dualfold.embed(isomap(graph)).points
    embedding = dualfold.embed(landmark_isomap(graph, farthest_points(graph, 60, start=0)))
    assert embedding.certificate.level == "proved"
    assert len(embedding.solution.vectors) == 60
    assert residual_variance(cdist(exact, exact), embedding.points) < 2e-3


@pytest.mark.parametrize("kind", ["exact", "landmarks"])
def test_training_points_placed_as_new_come_back(kind):
    X = DATA["roll"]
    graph = knn(X, 8)
    chosen = farthest_points(graph, 50, start=3) if kind == "landmarks" else None
    problem = isomap(graph) if chosen is None else landmark_isomap(graph, chosen)
    embedding = dualfold.embed(problem)
    place = triangulation(problem, embedding.solution.vectors, embedding.values)
    again = GeodesicMap(graph, place, chosen)(X)
    scale = np.abs(embedding.points).max()
    np.testing.assert_allclose(again, embedding.points, atol=1e-4 * scale)


def test_new_points_by_brute_force():
    X = swiss_roll(1000, random_state=3).points
    graph, new = knn(X[:900], 8), X[900:]
    problem = isomap(graph)
    embedding = dualfold.embed(problem)
    D, apart = geodesic_distances(graph, dtype=np.float64), cdist(new, X[:900])
    squares = np.empty((100, 900))
    for i, row in enumerate(apart):
        near = np.argsort(row)[:8]
        squares[i] = (row[near, None] + D[near]).min(axis=0) ** 2
    V = embedding.solution.vectors
    expected = 0.5 * ((D**2).mean(axis=0) - squares) @ V / np.sqrt(embedding.values)
    place = triangulation(problem, V, embedding.values)
    points = GeodesicMap(graph, place)(new)
    np.testing.assert_allclose(points, expected, atol=1e-4 * np.abs(expected).max())
    # And they land where an Isomap of old and new together puts them.
    together = dualfold.embed(isomap(knn(X, 8))).points
    assert (
        residual_variance(cdist(together, together), np.vstack([embedding.points, points])) < 2e-3
    )


def test_placing_needs_the_data():
    from dualfold.graph import from_lengths

    graph = knn(DATA["curve"], 8)
    bare = from_lengths(graph.lengths)
    problem = isomap(bare)
    embedding = dualfold.embed(problem)
    place = triangulation(problem, embedding.solution.vectors, embedding.values)
    with pytest.raises(InvalidInput, match="knn"):
        GeodesicMap(bare, place)(DATA["curve"][:3])
    with pytest.raises(InvalidInput, match="landmarks are needed"):
        place(np.zeros((2, 5)))


def test_negative_eigenvalues_get_no_extent():
    # A cycle is no Euclidean space; enough directions reach its negative eigenvalues.
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    graph = knn(np.column_stack([np.cos(angle), np.sin(angle)]), 2)
    exact = dualfold.embed(isomap(graph, n_components=24))
    landmark = dualfold.embed(landmark_isomap(graph, np.arange(24), n_components=24))
    assert exact.values.min() < 0
    for embedding in (exact, landmark):
        assert not embedding.points[:, embedding.values < 0].any()
        assert np.isfinite(embedding.points).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_in_place_and_symmetric(dtype):
    X = np.random.default_rng(0).standard_normal((700, 3)) + 5
    D = cdist(X, X).astype(dtype)
    H = np.eye(700) - 1 / 700
    exact = -0.5 * H @ np.square(D.astype(float)) @ H
    apart = centred_gram(D)
    inside = centred_gram(D, out=D)
    assert inside is D
    assert inside.dtype == dtype
    np.testing.assert_array_equal(apart, inside)
    np.testing.assert_array_equal(inside, inside.T)
    np.testing.assert_allclose(inside, exact, atol=200 * np.finfo(dtype).eps)


def test_float32_matrix_times_doubles():
    rng = np.random.default_rng(0)
    for n in (5, 16, 37, 1100):
        A = rng.standard_normal((n, n), dtype=np.float32)
        for shape in [(n,), (n, 1), (n, 3), (n, 4), (n, 9)]:
            V = rng.standard_normal(shape)
            np.testing.assert_allclose(product(A, V), A.astype(float) @ V, atol=1e-11)


def test_float32_isomap_needs_no_float64_matrix():
    import tracemalloc

    graph = knn(swiss_roll(2500, random_state=0).points, 8)
    tracemalloc.start()
    embedding = dualfold.embed(isomap(graph, dtype=np.float32))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert embedding.certificate.level == "proved"
    # The matrix in float32 is 25 MB, in float64 50 MB; tiles and vectors take the rest.
    assert peak < 25e6 + 22e6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_residual_variance_by_brute_force(dtype):
    rng = np.random.default_rng(0)
    for n, width in [(3, 1), (50, 2), (1300, 3)]:
        X, Y = rng.standard_normal((n, 5)) + 100, rng.standard_normal((n, width))
        Y[:, 0] += X[:, 0]
        D, off = cdist(X, X).astype(dtype), ~np.eye(n, dtype=bool)
        R = np.corrcoef(D[off].astype(float), cdist(Y, Y)[off])[0, 1]
        assert residual_variance(D, Y) == pytest.approx(1 - R**2, abs=1e-10)
        assert residual_variance(D, Y, n_jobs=1) == residual_variance(D, Y, n_jobs=3)
    assert residual_variance(cdist(Y, Y), 3 * Y) < 1e-12
    assert residual_variance(np.ones((3, 3)) - np.eye(3), np.arange(3.0)[:, None]) == 1.0


def test_residual_variance_of_a_graph_and_refusals():
    graph = knn(swiss_roll(1100, random_state=0).points, 8)
    Y = np.random.default_rng(0).standard_normal((1100, 2))
    D = geodesic_distances(graph, np.arange(1100))
    assert residual_variance(graph, Y) == pytest.approx(residual_variance(D, Y), abs=1e-12)
    with pytest.raises(InvalidInput, match="as many embedded"):
        residual_variance(graph, Y[:-1])
    D[3, 5] = np.inf
    with pytest.raises(InvalidInput, match="several pieces"):
        residual_variance(D, Y)


def test_the_number_of_landmarks_follows_the_size():
    from dualfold.methods import landmark_count

    assert landmark_count(10_000) is None
    assert [landmark_count(n) for n in (10_001, 70_000, 10**6)] == [200, 529, 536]
    assert all((landmark_count(n) or 0) * n <= 2**29 for n in range(20_000, 10**6, 7_919))


def test_landmarks_that_are_chosen_by_size():
    assert landmark_count(10_000) is None
    assert landmark_count(10_001) == 200
    assert landmark_count(90_000) == 600
    assert landmark_count(1_000_000) == 2**29 // 1_000_000


def test_geodesics_keep_the_precision_that_is_asked():
    graph = join_pieces(knn(np.random.default_rng(0).normal(size=(30, 2)), 6))
    assert isomap(graph).A.dtype == np.float64
    assert isomap(graph, dtype=np.float32).A.dtype == np.float32


RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))
DISTANCES = cdist(X, X)


def test_an_infinite_radius_is_everybody():
    from dualfold import Isomap

    whole = Isomap(n_neighbors=None, radius=np.inf)
    found = whole.fit_transform(X)
    assert whole.graph_.n_edges == 40 * 39 // 2
    np.testing.assert_allclose(
        np.abs(found), np.abs(PCA(n_components=2).fit_transform(X)), atol=1e-6
    )
    given = Isomap(n_neighbors=None, radius=np.inf, metric="precomputed").fit_transform(DISTANCES)
    np.testing.assert_allclose(np.abs(given), np.abs(found), atol=1e-6)
