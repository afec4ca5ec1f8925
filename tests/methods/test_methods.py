"""Methods through the whole pipe, against scikit-learn, identities and exact answers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold.data import digits, s_curve, swiss_roll
from dualfold.errors import CertificateFailed, DisconnectedGraph
from dualfold.graph import knn
from dualfold.methods import eigenmaps, mds, mds_of_distances, pca
from dualfold.trace.solvers import Auto, Dense, Factored, Lanczos
from tests.tools.angles import principal_sine

DATA = {
    "roll": swiss_roll(700, random_state=0).points,
    "curve": s_curve(600, random_state=0).points,
    "digits": digits().points[:900],
}


@pytest.mark.parametrize("name", DATA)
def test_pca_equals_scikit_learn(name):
    from sklearn.decomposition import PCA

    X = DATA[name]
    ours = dualfold.embed(pca(X, n_components=2))
    theirs = PCA(2).fit(X)
    assert ours.certificate.level == "proved"
    np.testing.assert_allclose(ours.values, theirs.explained_variance_ * (len(X) - 1) / len(X))
    assert principal_sine(ours.solution.vectors, theirs.components_.T) < 1e-7
    np.testing.assert_allclose(np.abs(ours.points), np.abs(theirs.transform(X)), atol=1e-6)


def test_pca_of_float32_far_from_zero_and_of_uint8():
    X = (DATA["digits"] * 10).astype(np.uint8)
    ours = dualfold.embed(pca(X, n_components=3))
    exact = np.linalg.svd(X - X.mean(0), compute_uv=False)[:3] ** 2 / len(X)
    np.testing.assert_allclose(ours.values, exact, rtol=1e-5)
    rng = np.random.default_rng(0)
    base = rng.standard_normal((400, 6)) * [5, 4, 3, 1, 1, 1]
    far = dualfold.embed(pca(base + 1e6, n_components=2))
    near = dualfold.embed(pca(base, n_components=2))
    np.testing.assert_allclose(far.values, near.values, rtol=1e-8)
    np.testing.assert_allclose(np.abs(far.points), np.abs(near.points), atol=1e-6)


@pytest.mark.parametrize("name", DATA)
def test_mds_is_pca_and_matches_its_own_distances(name):
    X = DATA[name]
    of_points = dualfold.embed(mds(X, n_components=2))
    of_distances = dualfold.embed(mds_of_distances(cdist(X, X), n_components=2))
    of_pca = dualfold.embed(pca(X, n_components=2))
    for embedding in (of_points, of_distances):
        assert embedding.certificate.level == "proved"
        np.testing.assert_allclose(embedding.values, of_pca.values * len(X), rtol=1e-9)
        np.testing.assert_allclose(
            cdist(embedding.points, embedding.points),
            cdist(of_pca.points, of_pca.points),
            atol=1e-4,
        )


def test_mds_returns_flat_points_exactly():
    flat = np.random.default_rng(0).random((200, 2))
    embedding = dualfold.embed(mds_of_distances(cdist(flat, flat), n_components=2))
    np.testing.assert_allclose(
        cdist(embedding.points, embedding.points), cdist(flat, flat), atol=1e-10
    )


def test_mds_of_distances_that_are_not_euclidean():
    # Path lengths on a star: negative eigenvalues exist and get no extent.
    hops = np.full((6, 6), 2.0) - 2 * np.eye(6)
    hops[0, 1:] = hops[1:, 0] = 1
    embedding = dualfold.embed(mds_of_distances(hops, n_components=6))
    assert embedding.values.min() < 0
    assert not embedding.points[:, embedding.values < 0].any()


@pytest.mark.parametrize("solver", [Auto(), Dense(), Factored(), Lanczos()], ids=repr)
def test_eigenmaps_against_dense_lapack(solver):
    import scipy.linalg

    X = DATA["curve"]
    D = cdist(X, X)
    listed = np.zeros_like(D, bool)
    rows = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :8]
    np.put_along_axis(listed, rows, True, axis=1)
    listed |= listed.T
    W = np.exp(-((D / 0.4) ** 2)) * listed
    degrees = W.sum(1)
    values, V = scipy.linalg.eigh(np.diag(degrees) - W, np.diag(degrees))
    embedding = dualfold.embed(eigenmaps(knn(X, 8), n_components=3, width=0.4), solver=solver)
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values, values[1:4], rtol=1e-7)
    metric = embedding.problem.metric
    assert principal_sine(embedding.points, V[:, 1:4], metric) < 1e-5
    np.testing.assert_allclose(
        embedding.points.T @ (degrees[:, None] * embedding.points), np.eye(3), atol=1e-9
    )


def test_eigenmaps_equal_scikit_learn_with_the_same_affinity():
    from sklearn.manifold import spectral_embedding

    graph = knn(DATA["digits"], 10)
    problem = eigenmaps(graph, n_components=2, width=30.0)
    embedding = dualfold.embed(problem)
    W = graph.lengths.copy()
    W.data = np.exp(-((W.data / 30.0) ** 2))
    theirs = spectral_embedding(W, n_components=3, drop_first=True, random_state=0)[:, :2]
    assert principal_sine(embedding.points, theirs, problem.metric) < 1e-4


def test_eigenmaps_refuse_several_pieces():
    X = np.vstack([DATA["curve"][:200], DATA["curve"][:200] + 100])
    with pytest.raises(DisconnectedGraph, match="2 pieces"):
        eigenmaps(knn(X, 8))


def test_embedding_warns_when_its_certificate_fails():
    from dataclasses import dataclass, replace

    from dualfold.trace.solvers.solver import Solver

    @dataclass(frozen=True)
    class Careless(Solver):
        def attempt(self, problem):
            solution = Dense().attempt(problem)
            return replace(solution, vectors=np.hstack([solution.vectors[:, :1], solution.guard]))

    with pytest.warns(CertificateFailed, match="missed"):
        embedding = dualfold.embed(pca(DATA["digits"], n_components=2), solver=Careless())
    assert embedding.certificate.level == "failed"


def test_embedding_is_frozen_and_tells_its_story():
    embedding = dualfold.embed(eigenmaps(knn(DATA["roll"], 10)))
    with pytest.raises(AttributeError):
        embedding.points = None  # type: ignore[misc]
    assert "proved" in repr(embedding)
    assert set(embedding.seconds) == {"solve", "certify", "lift"}


def test_t_similarity():
    X = DATA["digits"]
    assert dualfold.t_similarity(X, X) == 1.0
    assert dualfold.t_similarity(X, 3 * X + 1) == 1.0
    Y = np.random.default_rng(0).permutation(X)
    D, E = cdist(X, X), cdist(Y, Y)
    for M in (D, E):
        np.fill_diagonal(M, np.inf)
    near, far = (np.argsort(M, axis=1, kind="stable")[:, :7] for M in (D, E))
    by_hand = [len(set(a) & set(b)) / 7 for a, b in zip(near, far, strict=True)]
    np.testing.assert_allclose(dualfold.t_similarity(X, Y, 7, per_point=True), by_hand)
    assert dualfold.t_similarity(X, Y, 7) == pytest.approx(np.mean(by_hand))


def test_mnist_eigenmaps(mnist_points):
    embedding = dualfold.embed(eigenmaps(knn(mnist_points, 10)))
    assert embedding.certificate.level in ("proved", "measured")
    assert embedding.certificate.gap < 1e-5


def test_import_is_light():
    code = """
import sys, time
import numpy, scipy, scipy.sparse
begin = time.perf_counter()
import dualfold
print(time.perf_counter() - begin)
heavy = {"sklearn", "pandas", "matplotlib", "numba", "pyamg", "typer"} & set(sys.modules)
assert not heavy, heavy
import dualfold.trace, dualfold.methods, dualfold.graph, dualfold.embedding
print(time.perf_counter() - begin)
heavy = {"sklearn", "pandas", "matplotlib", "numba", "pyamg", "typer"} & set(sys.modules)
assert not heavy, heavy
"""
    best = 9.0
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        best = min(best, float(done.stdout.split()[0]))
    assert best < 0.3


def test_public_names_exist():
    for name in dualfold.__all__:
        if name != "view":
            assert getattr(dualfold, name) is not None
    assert set(dir(dualfold)) == set(dualfold.__all__)
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = dualfold.nothing_here
