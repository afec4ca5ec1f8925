"""Linear methods: identities, brute force written out here, and maps there and back."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

import dualfold
from dualfold.data import digits, s_curve
from dualfold.errors import InvalidInput, TooLarge
from dualfold.graph import from_lengths, knn, variable
from dualfold.maps import LinearMap, gaussian_map, orthogonal_map, sparse_map
from dualfold.methods import (
    eigenmaps,
    johnson_lindenstrauss_size,
    lpp,
    mds,
    npp,
    orthogonal_lpp,
    orthogonal_npp,
    pca,
    random_projection,
)
from dualfold.quality import measured_distortion
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solvers import Dense
from dualfold.weights import (
    column_deviations,
    column_means,
    reconstruction_weights,
    row_space,
)
from tests.conftest import principal_sine

RNG = np.random.default_rng(0)
CURVE = s_curve(220, random_state=0).points
DIGITS = digits().points[:300]
SHORT = DIGITS[:40]  # fewer points than features


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Matrices this small make LAPACK's threads wait for each other on a busy machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def fitted(problem):
    # LAPACK: iterations stop at 1e-6, and these tests want to see the last digits.
    embedding = dualfold.embed(problem, solver=Dense())
    assert embedding.certificate.level == "proved", str(embedding.certificate)
    linear = problem.lift.linear_map(embedding.solution.vectors, embedding.values)
    return embedding, linear


def wide_data(n=30, width=300):
    return RNG.standard_normal((n, 8)) * [9, 7, 5, 4, 3, 1, 1, 1] @ RNG.standard_normal((8, width))


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


CASES = {
    "n ≪ D": wide_data(),
    "n ≫ D": DIGITS,
    "n ≪ D, float32": wide_data().astype(np.float32),
    "n ≫ D, uint8": DIGITS.astype(np.uint8),
    "n ≪ D, sparse": sp.random_array((40, 700), density=0.1, rng=np.random.default_rng(1)),
    "n ≫ D, sparse": sp.csr_array(DIGITS),
    "n ≫ D, far": DIGITS[:100] + 1e5,
    "n ≪ D, far": wide_data() + 1e5,
}


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("road", ["covariance", "gram", "auto"])
@pytest.mark.parametrize("name", CASES)
def test_both_roads_of_pca_are_the_svd(name, road, standardize):
    X = CASES[name]
    dense = X.toarray() if sp.issparse(X) else X.astype(float)
    deviations = dense.std(axis=0)
    deviations[deviations < 1e-12] = 1
    centred = (dense - dense.mean(axis=0)) / (deviations if standardize else 1)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    coarse = 1e-3 if X.dtype in (np.float32, np.uint8) else 1e-7
    embedding, linear = fitted(pca(X, n_components=3, matrix=road, standardize=standardize))
    np.testing.assert_allclose(embedding.values, s[:3] ** 2 / len(dense), rtol=coarse / 10)
    assert principal_sine(linear.components.T, Vt[:3].T) < coarse
    np.testing.assert_allclose(linear.components @ linear.components.T, np.eye(3), atol=coarse)
    np.testing.assert_allclose(
        np.abs(embedding.points), np.abs(U[:, :3] * s[:3]), atol=coarse * s[0]
    )
    # The map returns the same points, and its decoder undoes the standardisation too.
    np.testing.assert_allclose(linear.encode(X), embedding.points, atol=coarse * s[0])
    shadow = centred @ Vt[:3].T @ Vt[:3] * (deviations if standardize else 1) + dense.mean(axis=0)
    np.testing.assert_allclose(
        linear.decode(linear.encode(X)), shadow, atol=coarse * np.abs(dense).max()
    )


def test_the_road_follows_the_shape():
    assert pca(CASES["n ≪ D"]).n == 30
    assert pca(CASES["n ≫ D"]).n == DIGITS.shape[1]
    with pytest.raises(InvalidInput, match="matrix is"):
        pca(DIGITS, matrix="scenic")


def test_gram_road_past_the_rank_gives_no_extent():
    X = wide_data()[:5]
    embedding, linear = fitted(pca(X, n_components=5, matrix="gram"))
    assert np.abs(embedding.points[:, 4]).max() < 1e-6
    assert not linear.components[4].any()
    np.testing.assert_allclose(linear.decode(embedding.points), X, atol=1e-9 * np.abs(X).max())


def test_mds_has_a_map_too():
    embedding, linear = fitted(mds(DIGITS, n_components=2))
    np.testing.assert_array_equal(linear.encode(DIGITS), embedding.points)


def test_deviations_guard_constant_columns():
    X = np.column_stack([np.full(50, 0.1), np.full(50, 1e8), RNG.random(50), np.zeros(50)])
    expected = [1, 1, X[:, 2].std(), 1]
    for table in (X, sp.csr_array(X), X.astype(np.float32)):
        mean = column_means(table)
        np.testing.assert_allclose(column_deviations(table, mean), expected, rtol=1e-5)


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


@pytest.mark.parametrize("method", [lpp, orthogonal_lpp, npp, orthogonal_npp])
@pytest.mark.parametrize("rows", [300, 40])
def test_sparse_and_float32_data_give_the_same_projections(method, rows):
    graph = knn(DIGITS[:rows], 8)
    exact, _ = fitted(method(graph))
    for other in (sp.csr_array(DIGITS[:rows]), DIGITS[:rows].astype(np.float32)):
        again, map_again = fitted(method(replace(graph, points=other)))
        np.testing.assert_allclose(again.values, exact.values, rtol=1e-6)
        np.testing.assert_allclose(
            again.points, exact.points, atol=1e-6 * np.abs(exact.points).max()
        )
        np.testing.assert_allclose(map_again.encode(other), again.points)


def test_sparse_data_is_never_filled(monkeypatch):
    import tracemalloc

    from dualfold.weights import reduction

    monkeypatch.setattr(reduction, "BLOCK_NUMBERS", 2**18)
    monkeypatch.setattr(sys.modules["dualfold.weights.batches"], "BATCH", 2**20)
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


def test_too_many_points_and_features_are_refused():
    X = sp.random_array((21_000, 21_000), density=1e-7, rng=np.random.default_rng(0))
    with pytest.raises(TooLarge, match="random_projection"):
        row_space(X)
    with pytest.raises(TooLarge, match="random_projection"):
        pca(X, matrix="covariance")
    assert pca(X).A.shape == (21_000, 21_000)  # known by its products, never formed


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


@pytest.mark.parametrize("X", [DIGITS, SHORT, sp.csr_array(DIGITS)], ids=["tall", "wide", "sparse"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_variance_kept(X, share):
    dense = X.toarray() if sp.issparse(X) else X
    s = np.linalg.svd(dense - dense.mean(0), compute_uv=False)
    parts = np.cumsum(s**2) / np.sum(s**2)
    space = row_space(X, variance_kept=share)
    size = len(space.deviations)
    assert parts[size - 1] >= share > parts[size - 2]
    assert space.share == pytest.approx(parts[size - 1])
    np.testing.assert_allclose(space.deviations, s[:size] / np.sqrt(len(dense)))
    for version, square in ((space, s[:size] ** 2), (space.as_white(), np.ones(size))):
        np.testing.assert_allclose(
            version.form(lambda Z: Z), np.diag(square), atol=1e-8 * s[0] ** 2
        )
        Q = version.directions(np.eye(size))
        Z = (dense - dense.mean(0)) @ Q
        np.testing.assert_allclose(version.coordinates(slice(0, size)), Z, atol=1e-9 * s[0])
        np.testing.assert_allclose(version.adjoint(dense), Z.T @ dense, atol=1e-8 * s[0] ** 2)


def test_the_row_space_has_the_rank_of_the_data():
    tall = RNG.standard_normal((200, 5)) @ RNG.standard_normal((5, 30))
    # Rounded to float32, or moved far from 0, the data has full rank by noise of 1e-7 of
    # its extent: squares of that drown in the rounding of the scatter, and rightly so.
    for X in (tall, tall[:20], tall.astype(np.float32), 1e-3 * tall + 5, sp.csr_array(tall)):
        assert len(row_space(X, variance_kept=1.0).deviations) == 5
    faint = np.hstack([tall, 1e-5 * RNG.standard_normal((200, 1))])
    assert len(row_space(faint, variance_kept=1.0).deviations) == 6
    with pytest.raises(InvalidInput, match="equal"):
        row_space(np.ones((5, 3)))
    with pytest.raises(InvalidInput, match="variance_kept"):
        row_space(tall, variance_kept=99)


def test_the_reduction_leaves_as_many_directions_as_are_wanted():
    X = np.diag([100.0, 1, 0.1]) @ RNG.standard_normal((3, 80))
    graph = knn(X.T, 6)
    assert lpp(graph, n_components=1).n == 1
    assert lpp(graph, n_components=2).n == 2
    assert orthogonal_npp(graph, n_components=3).n == 3
    with pytest.raises(InvalidInput, match="lower n_components"):
        npp(graph, n_components=4)


def test_small_blocks_change_nothing(monkeypatch):
    from dualfold.kernels import threads
    from dualfold.weights import covariance, reduction

    graph = knn(DIGITS, 8)
    whole = lpp(graph)
    monkeypatch.setattr(reduction, "BLOCK_NUMBERS", 1)
    monkeypatch.setattr(covariance, "CONTIGUOUS_TILE_NUMBERS", 1000)
    monkeypatch.setattr(covariance, "MIN_TILE_NUMBERS", 100)
    monkeypatch.setattr(covariance, "SLAB_ROWS", 7)
    monkeypatch.setattr(threads, "THIN_TILE_NUMBERS", 1000)
    monkeypatch.setattr(threads, "MIN_TILE_ROWS", 7)
    parts = lpp(graph)
    np.testing.assert_allclose(parts.A, whole.A, atol=1e-12 * np.abs(whole.A).max())
    np.testing.assert_allclose(parts.B.matrix, whole.B.matrix, atol=1e-12)


def test_projections_need_features():
    graph = from_lengths(knn(CURVE, 8).lengths)
    for method in (lpp, npp):
        with pytest.raises(InvalidInput, match="features"):
            method(graph)


def test_projections_of_digits_do_not_find_pixel_noise():
    X = digits().points
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


def test_decode_after_encode_is_the_projection():
    X = DIGITS
    for problem in (pca(X, n_components=4), lpp(knn(X, 8), n_components=4)):
        _, linear = fitted(problem)
        C = linear.components
        P = C.T @ np.linalg.solve(C @ C.T, C)
        shadow = linear.decode(linear.encode(X))
        np.testing.assert_allclose(shadow, (X - linear.mean) @ P + linear.mean, atol=1e-7)
        np.testing.assert_allclose(linear.encode(shadow), linear.encode(X), atol=1e-7)
    assert not linear.orthonormal


def test_maps_take_memory_maps_frames_and_sparse_rows(tmp_path):
    import pandas as pd

    np.save(tmp_path / "x.npy", DIGITS.astype(np.uint8))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    embedding, linear = fitted(pca(mapped, n_components=2))
    for X in (mapped, DIGITS, pd.DataFrame(DIGITS), sp.csr_array(DIGITS), sp.coo_array(DIGITS)):
        np.testing.assert_allclose(linear.encode(X), embedding.points, atol=1e-8)
    with pytest.raises(InvalidInput, match="64"):
        linear.encode(DIGITS[:, :5])
    with pytest.raises(InvalidInput, match="coordinates"):
        linear.decode(np.ones((2, 3)))
    with pytest.raises(InvalidInput, match="numbers"):
        linear.encode(np.array([["a"] * 64]))


# Random projections


@pytest.mark.parametrize("draw", [gaussian_map, orthogonal_map, sparse_map])
def test_random_maps_keep_squared_lengths_on_average(draw):
    x = RNG.standard_normal(50)
    squares = [
        np.sum(draw(50, 10, random_state=seed).encode(x[None]) ** 2) / (x @ x)
        for seed in range(2000)
    ]
    # The spread of one ratio is about √(2/10) or less (somewhat more for sparse maps).
    assert abs(np.mean(squares) - 1) < 5 * 0.5 / np.sqrt(2000)


def test_shapes_of_random_maps():
    rows = orthogonal_map(60, 12, random_state=0).components
    np.testing.assert_allclose(rows @ rows.T, 5 * np.eye(12), atol=1e-12)
    thin = sparse_map(10_000, 50, random_state=0).components
    assert thin.nnz == pytest.approx(50 * 100, rel=0.1)
    np.testing.assert_allclose(np.abs(thin.data), np.sqrt(100 / 50))
    assert abs(np.sign(thin.data).mean()) < 0.06
    half = sparse_map(100, 50, density=0.5, random_state=0).components
    assert half.nnz == pytest.approx(2500, rel=0.1)
    again = sparse_map(10_000, 50, random_state=0).components
    assert (thin != again).nnz == 0
    with pytest.raises(InvalidInput, match="orthonormal"):
        orthogonal_map(5, 6)
    with pytest.raises(InvalidInput, match="density"):
        sparse_map(5, 6, density=2)


def test_sparse_maps_on_dense_and_sparse_data():
    linear = random_projection(DIGITS, n_components=9, kind="sparse", random_state=1)
    expected = DIGITS @ linear.components.toarray().T
    np.testing.assert_allclose(linear.encode(DIGITS), expected, atol=1e-10)
    np.testing.assert_allclose(linear.encode(sp.csr_array(DIGITS)), expected, atol=1e-10)
    scaled = LinearMap(linear.mean, linear.components, np.full(64, 2.0))
    np.testing.assert_allclose(scaled.encode(DIGITS), expected / 2, atol=1e-10)
    with pytest.raises(InvalidInput, match="'gaussian'"):
        random_projection(DIGITS, n_components=9, kind="dense")
    with pytest.raises(InvalidInput, match="density"):
        random_projection(DIGITS, n_components=9, density=0.1)
    C = linear.components.toarray()
    np.testing.assert_allclose(
        linear.decode(linear.encode(DIGITS)), DIGITS @ np.linalg.pinv(C) @ C, atol=1e-9
    )


def test_johnson_lindenstrauss_size_is_scikit_learns_rounded_up():
    from sklearn.random_projection import johnson_lindenstrauss_min_dim

    for n in (2, 10, 1000, 10**6):
        for eps in (0.05, 0.1, 0.5, 0.99):
            # scikit-learn rounds down, which is one short of the lemma's "at least".
            theirs = johnson_lindenstrauss_min_dim(n, eps=eps)
            assert theirs <= johnson_lindenstrauss_size(n, eps) <= theirs + 1
    with pytest.raises(InvalidInput, match="eps"):
        johnson_lindenstrauss_size(10, 1.0)
    with pytest.raises(InvalidInput, match="n_components"):
        random_projection(DIGITS)


@pytest.mark.parametrize("sparse", [False, True])
def test_distortion_of_all_pairs_is_brute_force(sparse):
    X = np.vstack([DIGITS[:150], DIGITS[:3]])
    Y = random_projection(X, n_components=20, random_state=0).encode(X)
    seen = measured_distortion(sp.csr_array(X) if sparse else X, Y, eps=0.3)
    before, after = pdist(X) ** 2, pdist(Y) ** 2
    ratios = after[before > 0] / before[before > 0]
    assert seen.exhaustive
    assert seen.duplicates == 3
    assert seen.n_pairs == len(ratios)
    assert seen.share == pytest.approx(np.mean(np.abs(ratios - 1) <= 0.3))
    assert seen.low == seen.high == seen.share
    assert seen.mean == pytest.approx(ratios.mean())
    np.testing.assert_allclose(
        [ratio for _, ratio in seen.quantiles], np.quantile(ratios, [q for q, _ in seen.quantiles])
    )
    assert "all pairs" in str(seen)


def test_distortion_of_a_sample_covers_the_truth():
    Y = random_projection(DIGITS, n_components=20, random_state=0).encode(DIGITS)
    truth = measured_distortion(DIGITS, Y, eps=0.2, n_pairs=10**6).share
    held = 0
    for seed in range(100):
        seen = measured_distortion(
            DIGITS, Y, eps=0.2, n_pairs=400, confidence=0.9, random_state=seed
        )
        assert not seen.exhaustive
        held += seen.low <= truth <= seen.high
    # 90 of 100 are promised (Clopper and Pearson give a little more); 5σ below is 75.
    assert 75 <= held < 100
    assert seen.level == "measured"
    plain = json.loads(json.dumps(seen.to_dict()))
    assert plain["share"] == seen.share
    assert "within 1±0.2" in plain["verdict"]


def test_distortion_knows_an_isometry_and_the_extremes():
    turned = DIGITS @ np.linalg.qr(RNG.standard_normal((64, 64)))[0]
    same = measured_distortion(DIGITS, turned, eps=1e-6, n_pairs=1000)
    assert (same.share, same.high) == (1.0, 1.0)
    assert same.low == pytest.approx(0.005 ** (1 / 1000))  # exact for no failures
    none = measured_distortion(DIGITS, 2 * DIGITS, eps=0.1, n_pairs=1000)
    assert (none.share, none.low) == (0.0, 0.0)
    assert none.mean == pytest.approx(4)
    with pytest.raises(InvalidInput, match="same points"):
        measured_distortion(DIGITS, DIGITS[:5])
    with pytest.raises(InvalidInput, match="equal"):
        measured_distortion(np.ones((5, 2)), np.ones((5, 2)))
