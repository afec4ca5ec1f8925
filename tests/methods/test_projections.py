"""Linear methods: identities, brute force written out here, and maps there and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import dualfold
from dualfold.errors import InvalidInput
from dualfold.graph import from_lengths, knn, variable
from dualfold.methods import (
    eigenmaps,
    lpp,
    npp,
    orthogonal_lpp,
    orthogonal_npp,
    pca,
)
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.solvers import Dense
from dualfold.weights import reconstruction_weights, weighted_laplacian
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")

RNG = np.random.default_rng(0)
CURVE = curve_points(220, random_state=0)
DIGITS = digit_points(300)
SHORT = DIGITS[:40]  # fewer points than features


def fitted(problem):
    # LAPACK: iterations stop at 1e-6, and these tests want to see the last digits.
    embedding = dualfold.embed(problem, solver=Dense())
    assert embedding.certificate.level == "proved", str(embedding.certificate)
    linear = problem.lift.linear_map(embedding.solution.vectors, embedding.values)
    return embedding, linear


# Identities


def test_lpp_of_the_identity_is_eigenmaps():
    graph = knn(CURVE, 8)
    by_map, linear = fitted(
        lpp(replace(graph, points=np.eye(graph.n)), n_components=3, variance_kept=1.0)
    )
    plain = dualfold.embed(eigenmaps(graph, n_components=3))
    np.testing.assert_allclose(by_map.values, plain.values, rtol=1e-8)
    assert principal_sine(by_map.points, plain.points, plain.problem.metric) < 1e-7
    np.testing.assert_allclose(
        np.abs(by_map.points), np.abs(plain.points), atol=1e-7 * np.abs(plain.points).max()
    )
    assert linear.components.shape == (3, graph.n)


@pytest.mark.parametrize("method", [npp, orthogonal_npp])
@pytest.mark.parametrize("identity", [np.eye(220), sp.eye_array(220, format="csr")])
def test_npp_of_the_identity_is_lle(method, identity):
    graph = replace(variable(CURVE, 12), points=identity)
    W = reconstruction_weights(identity, graph.lists)
    M = sp.csr_array(sp.eye_array(graph.n) - W)
    lle = dualfold.embed(TraceProblem(Gramian(M), None, 3, "min", excluded=np.ones(graph.n)))
    by_map, _ = fitted(method(graph, n_components=3, variance_kept=1.0))
    np.testing.assert_allclose(by_map.values, lle.values, rtol=1e-7)
    assert principal_sine(by_map.points, lle.points) < 1e-6
    np.testing.assert_allclose(np.abs(by_map.points), np.abs(lle.points), atol=1e-6)


# Principal components by every road


# The four projections against dense generalised eigenproblems


def brute_force(X, S, metric_of, count, share):
    """Bottom eigenvectors of (QᵀX̃ᵀSX̃Q, B) with Q from an SVD; (values, points, QV)."""
    centred = X - X.mean(axis=0)
    s, Vt = np.linalg.svd(centred, full_matrices=False)[1:]
    rank = int(np.sum(s > 1e-9 * s[0]))
    kept = np.cumsum(s**2) / np.sum(s**2)
    r = rank if share == 1 else int(np.argmax(kept >= share)) + 1
    Q = Vt[:r].T
    Z = X @ Q
    values, V = scipy.linalg.eigh(Z.T @ S @ Z, metric_of(Z))
    return values[:count], Z @ V[:, :count], Q @ V[:, :count]


def dense_heat(graph, width):
    D, linked = cdist(graph.points, graph.points), graph.lengths.toarray() > 0
    W = np.exp(-((D / width) ** 2)) * linked
    return np.diag(W.sum(1)) - W, W.sum(1)


@pytest.mark.parametrize("share", [0.9, 0.99, 1.0])
@pytest.mark.parametrize("X", [CURVE, DIGITS, SHORT], ids=["curve", "digits", "few"])
@pytest.mark.parametrize("method", [lpp, orthogonal_lpp])
def test_lpp_against_brute_force(method, X, share):
    graph = knn(X, 8)
    width = 2 * float(graph.lengths.data.max())
    L, degrees = dense_heat(graph, width)
    middle = degrees @ X / degrees.sum()

    def metric_of(Z):
        Z = Z - degrees @ Z / degrees.sum()
        return (Z.T * degrees) @ Z if method is lpp else np.eye(Z.shape[1])

    values, points, directions = brute_force(X, L, metric_of, 2, share)
    embedding, linear = fitted(method(graph, width=width, variance_kept=share))
    np.testing.assert_allclose(embedding.values, values, rtol=1e-6)
    assert principal_sine(linear.components.T, directions) < 1e-5
    points = points - degrees @ points / degrees.sum()
    size = np.abs(points).max()
    np.testing.assert_allclose(np.abs(embedding.points), np.abs(points), atol=1e-5 * size)
    np.testing.assert_allclose(linear.mean, middle, atol=1e-9)
    # The constraint, in the original features.
    centred = X - middle
    B = (centred.T * degrees) @ centred if method is lpp else np.eye(X.shape[1])
    np.testing.assert_allclose(linear.components @ B @ linear.components.T, np.eye(2), atol=1e-7)


@pytest.mark.parametrize("share", [0.9, 0.99, 1.0])
@pytest.mark.parametrize("X", [CURVE, DIGITS, SHORT], ids=["curve", "digits", "few"])
@pytest.mark.parametrize("method", [npp, orthogonal_npp])
def test_npp_against_brute_force(method, X, share):
    graph = knn(X, 8)
    W = np.zeros((len(X), len(X)))
    for i, near in enumerate(graph.lists.indices.reshape(len(X), 8)):
        G = (X[near] - X[i]) @ (X[near] - X[i]).T
        w = np.linalg.solve(G + 1e-2 * np.trace(G) * np.eye(8), np.ones(8))
        W[i, near] = w / w.sum()
    M = np.eye(len(X)) - W

    def metric_of(Z):
        Z = Z - Z.mean(axis=0)
        return Z.T @ Z if method is npp else np.eye(Z.shape[1])

    values, points, directions = brute_force(X, M.T @ M, metric_of, 2, share)
    embedding, linear = fitted(method(graph, ridge=1e-2, variance_kept=share))
    np.testing.assert_allclose(embedding.values, values, rtol=1e-5)
    assert principal_sine(linear.components.T, directions) < 1e-5
    points = points - points.mean(axis=0)
    size = np.abs(points).max()
    np.testing.assert_allclose(np.abs(embedding.points), np.abs(points), atol=1e-5 * size)
    centred = X - X.mean(axis=0)
    B = centred.T @ centred if method is npp else np.eye(X.shape[1])
    np.testing.assert_allclose(linear.components @ B @ linear.components.T, np.eye(2), atol=1e-7)


def test_sparse_data_is_never_filled(set_limits):
    import tracemalloc

    set_limits("weights.reduction", BLOCK_NUMBERS=2**18)
    set_limits("weights.batches", BATCH_NUMBERS=2**20)
    rng = np.random.default_rng(0)
    # 60×300,000 numbers would take 144 MB (and D×D 720 GB), 30,000×400 take 96 MB.
    for shape, density in (((60, 300_000), 1e-3), ((30_000, 400), 1e-2)):
        X = sp.random_array(shape, density=density, rng=rng, format="csr")
        graph = replace(knn(rng.random((shape[0], 2)), 6), points=X)
        for method, given in ((pca, X), (lpp, graph), (orthogonal_npp, graph)):
            tracemalloc.start()
            embedding, linear = fitted(method(given))
            np.testing.assert_allclose(linear.encode(X), embedding.points, atol=1e-8)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 0.6 * 8 * shape[0] * shape[1], (method, peak)


def test_binary_weights():
    graph = knn(CURVE, 8)
    embedding, _ = fitted(orthogonal_lpp(graph, weights="binary", variance_kept=1.0))
    linked = (graph.lengths.toarray() > 0).astype(float)
    exact = np.linalg.eigvalsh(CURVE.T @ (np.diag(linked.sum(1)) - linked) @ CURVE)
    np.testing.assert_allclose(embedding.values, exact[:2])
    with pytest.raises(InvalidInput, match="width"):
        lpp(graph, weights="binary", width=1.0)
    with pytest.raises(InvalidInput, match="'heat'"):
        lpp(graph, weights="cold")


# The reduction


def test_the_reduction_leaves_as_many_directions_as_are_wanted():
    X = np.diag([100.0, 1, 0.1]) @ RNG.standard_normal((3, 80))
    graph = knn(X.T, 6)
    assert lpp(graph, n_components=1).n == 1
    assert lpp(graph, n_components=2).n == 2
    assert orthogonal_npp(graph, n_components=3).n == 3
    with pytest.raises(InvalidInput, match="lower n_components"):
        npp(graph, n_components=4)


def test_small_blocks_change_nothing(set_limits):
    graph = knn(DIGITS, 8)
    whole = lpp(graph)
    set_limits("weights.reduction", BLOCK_NUMBERS=1)
    tiles = {"CONTIGUOUS_TILE_NUMBERS": 1000, "MIN_TILE_NUMBERS": 100, "SLAB_ROWS": 7}
    set_limits("weights.covariance", **tiles)
    set_limits("kernels.threads", THIN_TILE_NUMBERS=1000, MIN_TILE_ROWS=7)
    parts = lpp(graph)
    np.testing.assert_allclose(parts.A, whole.A, atol=1e-12 * np.abs(whole.A).max())
    np.testing.assert_allclose(parts.B.matrix, whole.B.matrix, atol=1e-12)


def test_projections_need_features():
    graph = from_lengths(knn(CURVE, 8).lengths)
    for method in (lpp, npp):
        with pytest.raises(InvalidInput, match="features"):
            method(graph)


def test_projections_of_digits_do_not_find_pixel_noise():
    X = digit_points()
    graph, centred = knn(X, 10), X - X.mean(axis=0)

    def found(method, share):
        """(t-similarity, share of the variance in the plane that was found)"""
        embedding, linear = fitted(method(graph, variance_kept=share))
        plane = np.linalg.qr(linear.components.T)[0]
        extent = np.sum((centred @ plane) ** 2) / np.sum(centred**2)
        return dualfold.t_similarity(X, embedding.points), extent

    for method in (lpp, npp):
        (whole, faint), (most, plain) = found(method, 1.0), found(method, 0.99)
        assert most > whole
        assert faint < 0.05
        assert plain > 0.2
    # Orthogonal ones cannot stretch a faint direction and prefer it all the more: two
    # pixels at 100 %, still little at 99 %, and a picture only when more is taken away.
    for method in (orthogonal_lpp, orthogonal_npp):
        (whole, noise), (_, little), (less, some) = (found(method, s) for s in (1.0, 0.99, 0.7))
        assert noise < 1e-5 < 5e-3 < little < some
        assert less > 2 * whole


# Linear maps


# Random projections


@pytest.mark.parametrize(("n", "D"), [(60, 4), (12, 30)])
def test_lpp_without_centring_is_the_problem_as_it_is_printed(n, D):
    """min tr(VᵀXᵀLXV), VᵀXᵀDegXV = I of the rows as they are."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, D)) + 3 * rng.normal(size=D)
    graph = knn(X, 5)
    laplacian, degrees = weighted_laplacian(graph)
    problem = lpp(graph, n_components=3, variance_kept=1.0, centred=False)
    found = dualfold.embed(problem)
    assert found.certificate.level == "proved"
    V = problem.lift.linear_map(found.solution.vectors, found.values).components.T
    np.testing.assert_allclose(found.points, X @ V, atol=1e-9)
    np.testing.assert_allclose(V.T @ X.T @ (degrees[:, None] * (X @ V)), np.eye(3), atol=1e-9)
    # The same directions by an orthonormal basis of the rows.
    Q = np.linalg.svd(X, full_matrices=False)[2].T
    Z = X @ Q
    values = scipy.linalg.eigh(Z.T @ (laplacian @ Z), Z.T @ (degrees[:, None] * Z))[0][:3]
    np.testing.assert_allclose(found.values, values, rtol=1e-7, atol=1e-12)
    model = dualfold.LocalityPreservingProjection(
        3, n_neighbors=5, variance_kept=1.0, centred=False
    ).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(model.mean_, np.zeros(D))
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
