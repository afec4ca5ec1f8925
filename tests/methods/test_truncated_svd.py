"""Truncated SVD: the singular values of the table as it is, dense, sparse and in tiles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import PCA, TruncatedSVD, embed
from dualfold.methods import truncated_svd
from dualfold.trace import Gramian
from tests.methods.door import Moments

RNG = np.random.default_rng(0)


def counts(n: int, width: int) -> np.ndarray:
    """Words of texts: most entries are 0, some words are frequent."""
    rates = 2.0 / np.arange(1, width + 1)
    return RNG.poisson(rates * RNG.gamma(1.0, size=(n, 1)), (n, width)).astype(float)


@pytest.mark.parametrize("shape", [(80, 30), (30, 80), (900, 40), (40, 900)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_its_values_are_the_largest_singular_values(shape, form):
    X = counts(*shape)
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    model = TruncatedSVD(4).fit(form(X))
    assert model.certificate_.level == "proved"
    # Squares are right to rounding of the largest.
    np.testing.assert_allclose(model.singular_values_**2, s[:4] ** 2, atol=1e-12 * s[0] ** 2)
    nearest = X @ Vt[:4].T @ Vt[:4]
    rebuilt = model.inverse_transform(model.transform(form(X)))
    np.testing.assert_allclose(rebuilt, nearest, atol=1e-8 * s[0])
    np.testing.assert_allclose(model.fit_transform(form(X)), model.transform(form(X)), atol=1e-12)


def test_it_is_pca_of_a_centred_table():
    X = RNG.standard_normal((200, 6)) @ RNG.standard_normal((6, 6))
    X -= X.mean(axis=0)
    svd, pca = TruncatedSVD(3).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(svd.components_, pca.components_, atol=1e-10)
    np.testing.assert_allclose(svd.singular_values_, pca.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(
        svd.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10
    )


def test_a_large_sparse_table_is_known_by_its_products_and_still_proved(set_limits):
    """Tables of 1,000 columns stand for those of more than 5,000, whose matrix is not formed."""
    set_limits("methods._pca", MOST_SPARSE_ROWS=500)
    X = sp.random_array((1_300, 1_200), density=0.002, random_state=0, format="csr")
    problem = truncated_svd(X, n_components=3)
    assert isinstance(problem.A, Gramian)
    answer = embed(problem)
    assert answer.certificate.level == "proved"
    largest = sp.linalg.svds(X, k=3, return_singular_vectors=False, random_state=0)
    np.testing.assert_allclose(np.sqrt(answer.values), np.sort(largest)[::-1], rtol=1e-9)
    wide = truncated_svd(sp.csr_array(X.T), n_components=3)
    assert wide.n == problem.n == 1_200  # the shorter side, whichever it is
    V = answer.solution.vectors  # right singular vectors of X are left ones of its transpose
    np.testing.assert_allclose(wide.A @ V, V * answer.values, atol=1e-5 * answer.values[0])


def test_moments_of_batches_lead_to_the_same_problem():
    X = counts(300, 12)
    moments = Moments.of(X[:100]) + Moments.of(X[100:])
    problem = moments.uncentred_problem()
    np.testing.assert_allclose(problem.A, X.T @ X, atol=1e-12 * np.trace(X.T @ X))


def test_more_components_than_rank_are_orthonormal_and_empty():
    X = np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 2.0])
    model = TruncatedSVD(3).fit(X)
    np.testing.assert_allclose(model.singular_values_, [np.linalg.norm(X), 0, 0], atol=1e-7)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    assert TruncatedSVD(3).fit(X[:2]).components_.shape == (2, 3)  # as in scikit-learn


@pytest.mark.parametrize(("algorithm", "count"), [("arpack", 5), ("randomized", 6)])
def test_more_components_than_columns_are_refused(algorithm, count):
    with pytest.raises(ValueError, match=f"n_components={count} must be .*5"):
        TruncatedSVD(count, algorithm=algorithm).fit(counts(20, 5))
