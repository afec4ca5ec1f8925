"""LLE in its four forms: against scikit-learn, the formulas taken literally, and flat sheets."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.manifold import locally_linear_embedding

import dualfold
from dualfold.errors import (
    DisconnectedGraph,
    InvalidInput,
    PointsCollapse,
)
from dualfold.graph import from_lengths, join_pieces, knn, radius
from dualfold.methods import hessian_lle, lle, ltsa, modified_lle
from dualfold.saved import model_of, rechecked_model
from tests.graph.door import terminal_components
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")

METHODS = {"standard": lle, "modified": modified_lle, "ltsa": ltsa, "hessian": hessian_lle}
# Digits are whole numbers and tie: a little noise makes the neighbours unique.
NOISE = np.random.default_rng(0).standard_normal((500, 64))
DATA = {
    "roll": roll_points(600, random_state=0),
    "curve": curve_points(400, random_state=1),
    "digits": digit_points(500) + 1e-3 * NOISE,
}


def flat_sheet(n, columns=3):
    """A random sheet, and orthonormal coordinates of its points with mean 0."""
    rng = np.random.default_rng(4)
    square = rng.random((n, 2)) - 0.5
    square = np.linalg.qr(square - square.mean(axis=0))[0]
    return square @ scipy.linalg.orth(rng.standard_normal((columns, 2))).T * 50 + 3, square


def listed_points(X, k):
    """X less the points that nobody lists: scikit-learn leaves those free, and returns them."""
    while len(listed := np.unique(knn(X, k).lists.indices)) < len(X):
        X = X[listed]
    return X


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
def test_equals_scikit_learn(name, method):
    X, k = DATA[name], 30 if name == "digits" else 12
    X = listed_points(X, k) if method == "ltsa" else X
    embedding = dualfold.embed(METHODS[method](knn(X, k)))
    theirs, error = locally_linear_embedding(
        X, n_neighbors=k, n_components=2, method=method, eigen_solver="dense"
    )
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values.sum(), error, rtol=1e-5)
    assert principal_sine(embedding.points, theirs) < 1e-4
    np.testing.assert_allclose(embedding.points.T @ embedding.points, np.eye(2), atol=1e-9)


def test_hessian_equals_scikit_learn_where_that_is_hessian():
    # scikit-learn takes all of a full QR, which makes its "hessian" LTSA; only with
    # n_neighbors = 1 + d(d+3)/2 the columns past the quadratic ones are none.
    X = listed_points(DATA["roll"], 6)
    options = {"n_components": 2, "eigen_solver": "dense"}
    theirs, error = locally_linear_embedding(X, n_neighbors=6, method="hessian", **options)
    ours = dualfold.embed(hessian_lle(knn(X, 6)))
    np.testing.assert_allclose(ours.values.sum(), error, rtol=1e-5)
    assert principal_sine(ours.points, theirs) < 1e-4
    theirs, error = locally_linear_embedding(X, n_neighbors=12, method="hessian", **options)
    np.testing.assert_allclose(dualfold.embed(ltsa(knn(X, 12))).values.sum(), error, rtol=1e-5)
    assert dualfold.embed(hessian_lle(knn(X, 12))).values.sum() < 0.9 * error


@pytest.mark.parametrize("name", DATA)
def test_hessian_against_gram_schmidt_point_by_point(name):
    X = DATA[name][:200]
    graph = knn(X, 12)
    A = np.zeros((len(X), len(X)))
    listed = np.bincount(graph.lists.indices, minlength=len(X))
    for i in range(len(X)):
        near = graph.lists.indices[12 * i : 12 * i + 12]
        near = near if listed[i] else np.r_[i, near]
        centred = X[near] - X[near].mean(axis=0)
        U = np.linalg.eigh(centred @ centred.T)[1]
        u, v = U[:, -1], U[:, -2]
        basis = [np.ones(len(near)), u, v, u * u, u * v, v * v]
        for place, column in enumerate(basis):
            for _ in range(2):
                for other in basis[:place]:
                    column = column - other * (other @ column) / (other @ other)
            basis[place] = column / np.linalg.norm(column)
        H = np.array(basis[3:])
        A[np.ix_(near, near)] += H.T @ H
    factor = hessian_lle(graph).A.factor
    np.testing.assert_allclose((factor.T @ factor).toarray(), A, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DATA)
def test_values_are_the_squared_singular_values(method, name):
    problem = METHODS[method](knn(DATA[name][:400], 14))
    N = problem.excluded_basis
    complement = np.linalg.qr(N, mode="complete")[0][:, N.shape[1] :]
    upper = np.linalg.qr(problem.A.factor @ complement, mode="r")
    singular = np.linalg.svd(upper, compute_uv=False)[::-1]
    embedding = dualfold.embed(problem)
    np.testing.assert_allclose(embedding.values, singular[:2] ** 2, rtol=1e-6)
    certificate = embedding.certificate
    assert certificate.level == "proved"
    exact = float(np.sum(singular[:2] ** 2))
    assert certificate.bound <= exact * (1 + 1e-7)
    assert certificate.gap < 1e-6
    assert certificate.bound >= exact * (1 - 1e-6)


@pytest.mark.parametrize("method", ["standard", "modified", "ltsa", "hessian"])
def test_a_flat_sheet_comes_back(method):
    X, square = flat_sheet(700)
    graph = knn(X, 10)
    # Weights reconstruct a flat sheet exactly only without the ridge.
    options = {"ridge": 1e-11} if method in ("standard", "modified") else {}
    embedding = dualfold.embed(METHODS[method](graph, **options))
    # The optimum is 0 to rounding: no word relative to it, but the directions are right.
    certificate = embedding.certificate
    assert certificate.level in ("proved", "unresolved")
    assert embedding.values.max() < 1e-12
    off = principal_sine(embedding.points, square)
    assert off < 1e-4
    if certificate.level == "unresolved":
        words = next(words for words in certificate.reasons if "to an angle of" in words)
        assert float(words.split()[-1]) < 1e-3
    # The sheet's coordinates are orthonormal, so the affine map is rigid up to scale.
    ratio = cdist(embedding.points, embedding.points) / (cdist(square, square) + np.eye(700))
    off_diagonal = ratio[~np.eye(700, dtype=bool)]
    np.testing.assert_allclose(off_diagonal, 1.0, atol=1e-3)


def two_ends():
    """Two clusters that list only themselves and three points between that list both."""
    rng = np.random.default_rng(2)
    left, right = rng.random((9, 3)), rng.random((30, 3)) + np.array([5, 0, 0])
    between = rng.random((3, 3)) * 0.3 + np.array([2.8, 0.3, 0.3])
    return np.vstack([left, right, between])


def test_every_terminal_component_is_excluded():
    X = two_ends()
    lists = knn(X, 7).lists
    group = terminal_components(lists)
    np.testing.assert_array_equal(group, np.r_[np.full(9, 1), np.zeros(30), np.full(3, -1)])
    with pytest.warns(PointsCollapse, match=r"1 group\(s\) of points \(9 of 42\)"):
        problem = lle(knn(X, 7), n_components=2)
    M = problem.A.factor.toarray()
    exact = scipy.linalg.null_space(M, rcond=1e-11)
    assert exact.shape[1] == problem.excluded.shape[1] == 2
    assert principal_sine(problem.excluded, exact) < 1e-10
    np.testing.assert_allclose(problem.excluded.sum(axis=1), 1.0)
    embedding = dualfold.embed(problem)
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values, np.linalg.svd(M)[1][-4:-2][::-1] ** 2, rtol=1e-7)


def test_joined_pieces_use_their_links():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.random((60, 2)), rng.random((60, 2)) + np.array([3, 0])])
    with pytest.raises(DisconnectedGraph, match="2 pieces"):
        lle(knn(X, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = join_pieces(knn(X, 6))
        problem = lle(graph)
    (i, j, _) = graph.links[0]
    assert problem.A.factor[i, j] != 0
    assert problem.A.factor[j, i] != 0
    np.testing.assert_allclose(problem.A @ problem.excluded_basis, 0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_duplicates(method):
    X = np.vstack([DATA["roll"], np.repeat(DATA["roll"][:1], 5, axis=0), DATA["roll"][7:9]])
    embedding = dualfold.embed(METHODS[method](knn(X, 12)))
    assert embedding.certificate.level == "proved"
    assert np.isfinite(embedding.points).all()
    if method in ("standard", "modified"):
        near = np.linalg.norm(embedding.points[600:605] - embedding.points[0], axis=1)
        assert near.max() < 0.05 * np.abs(embedding.points).max()


@pytest.mark.parametrize("method", [ltsa, hessian_lle])
def test_a_point_that_nobody_lists_is_held_by_its_own_neighbourhood(method):
    X = np.vstack([DATA["roll"], [[20.0, 10.0, 20.0]]])
    graph = knn(X, 12)
    assert 600 not in graph.lists.indices
    problem = method(graph)
    assert np.linalg.norm(problem.A @ np.eye(601)[:, 600:]) > 1e-3
    embedding = dualfold.embed(problem)
    assert embedding.certificate.level == "proved"
    assert embedding.values.min() > 1e-9  # free, it would be a direction of its own with value 0


def test_only_duplicates_around():
    X = np.vstack([DATA["roll"], np.repeat(DATA["roll"][:1], 20, axis=0)])
    embedding = dualfold.embed(lle(knn(X, 8)))
    assert embedding.certificate.level == "proved"
    assert np.ptp(embedding.points[600:], axis=0).max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_small_batches_lists_of_any_length_and_sparse_data(method, set_limits):
    X = DATA["curve"]
    graphs = [knn(X, 11), radius(X, 0.75), dualfold.graph.knn(sp.csr_array(X), 11)]

    def squares():
        factors = [METHODS[method](graph).A.factor for graph in graphs]
        return [(factor.T @ factor).toarray() for factor in factors]

    by_neighbors, by_radius, of_sparse = squares()
    np.testing.assert_allclose(of_sparse, by_neighbors, atol=1e-10)
    set_limits("weights.batches", BATCH_NUMBERS=700)
    for cut, whole in zip(squares(), (by_neighbors, by_radius, by_neighbors), strict=True):
        np.testing.assert_allclose(cut, whole, atol=1e-10)


def test_what_is_refused_and_how():
    X = DATA["roll"]
    graph = knn(X, 5)
    for method in METHODS.values():
        with pytest.raises(InvalidInput, match="coordinates"):
            method(from_lengths(graph.lengths))
        with pytest.raises(InvalidInput, match="coordinates"):
            method(knn(cdist(X, X), 5, metric="precomputed"))
        with pytest.raises(InvalidInput, match="3 columns"):
            method(graph, n_components=4)


@pytest.mark.parametrize("method", ["standard", "ltsa"])
def test_coordinates_of_unit_variance_are_those_of_unit_length_times_the_root_of_n(method):
    X = roll_points(150, random_state=2)
    plain = dualfold.LocallyLinearEmbedding(n_neighbors=8, method=method).fit(X)
    model = dualfold.LocallyLinearEmbedding(n_neighbors=8, method=method, unit_variance=True).fit(X)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / 150, np.eye(2), atol=1e-9)
    same = np.abs(np.sum(model.embedding_ * plain.embedding_, axis=0)) / np.sqrt(150)
    np.testing.assert_allclose(same, 1, atol=1e-6)
    np.testing.assert_allclose(model.eigenvalues_, 150 * plain.eigenvalues_, rtol=1e-6)
    assert model.certificate_.level == "proved"
    assert rechecked_model(model_of(model), X).level == "proved"
