"""PCA: covariance and Gram matrix give the SVD; how many components there are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold import PCA
from dualfold.errors import InvalidInput
from dualfold.methods import pca
from dualfold.trace.solvers import Dense
from tests.methods.door import MAX_DENSE_ROWS, MOST_SPARSE_ROWS, pca_matrix
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points

pytestmark = pytest.mark.usefixtures("one_blas_thread")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))


def test_data_that_do_not_vary_have_one_component():
    found = PCA(n_components=0.9).fit(np.ones((10, 3)))
    assert found.n_components_ == 1
    assert not found.transform(np.ones((2, 3))).any()


def test_a_share_of_the_variance_by_either_decomposition():
    full = PCA(n_components=0.8, svd_solver="full").fit(X)
    same = PCA(n_components=0.8, svd_solver="covariance_eigh").fit(X)
    assert full.n_components_ == same.n_components_
    np.testing.assert_allclose(full.explained_variance_, same.explained_variance_, rtol=1e-9)


DIGITS = digit_points(300)


def fitted(problem):
    # LAPACK: iterations stop at 1e-6, and these tests want to see the last digits.
    embedding = dualfold.embed(problem, solver=Dense())
    assert embedding.certificate.level == "proved", str(embedding.certificate)
    linear = problem.lift.linear_map(embedding.solution.vectors, embedding.values)
    return embedding, linear


def wide_data(n=30, width=300):
    return RNG.standard_normal((n, 8)) * [9, 7, 5, 4, 3, 1, 1, 1] @ RNG.standard_normal((8, width))


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


def test_the_smaller_matrix_is_taken_up_to_and_with_its_largest_size():
    dense, sparse = MAX_DENSE_ROWS, MOST_SPARSE_ROWS
    assert dense != sparse
    assert pca_matrix((dense, dense)) == "covariance"
    assert pca_matrix((dense, dense + 1)) == "gram"
    assert pca_matrix((dense + 1, dense + 1)) == "products"
    assert pca_matrix((sparse, sparse), sparse=True) == "covariance"
    assert pca_matrix((sparse + 1, sparse + 1), sparse=True) == "products"


DATA = {
    "roll": roll_points(700, random_state=0),
    "curve": curve_points(600, random_state=0),
    "digits": digit_points(900),
}


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
