"""What estimators refuse beside the rules of their parameters, read as their user."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.errors import InvalidInput
from dualfold.graph import knn, nearest

X = np.random.default_rng(0).normal(size=(30, 5))
WIDE = X.T.copy()
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=-1)
TABLE = pd.DataFrame(X[:6], columns=list("abcde")).assign(word=list("ababab"))
HOLE = TABLE.assign(c=[1.0, 2.0, np.nan, 4.0, 5.0, 6.0])
APART = np.vstack([X[:9], X[:9] + 100])
BY_DISTANCES = {"metric": "precomputed", "perplexity": 5}


def by_mahalanobis(**params):
    return dualfold.TSNE(metric="mahalanobis", metric_params=params, perplexity=5).fit(X)


REFUSALS = {
    "affinity must return 30×30": lambda: dualfold.SpectralEmbedding(
        affinity=lambda rows: None
    ).fit(X),
    "no numbers ('word')": lambda: dualfold.ClassicalMDS(metric="chebyshev").fit(TABLE),
    "a label for each row": lambda: dualfold.FisherDiscriminant().fit(X, [[1, 2], [3]]),
    "diffusion_time=1e+100 makes": lambda: dualfold.LaplacianEigenmaps(
        constraint="identity", weights="binary", diffusion_time=1e100
    ).fit(X),
    "its shape is (150,)": lambda: dualfold.methods.random_projection(X.ravel()),
    "metric='nonsense' could not": lambda: dualfold.TSNE(metric="nonsense", perplexity=5).fit(
        sp.csr_array(X)
    ),
    "metric='mahalanobis' could not": lambda: dualfold.Isomap(metric="mahalanobis").fit(
        sp.csr_array(X)
    ),
    "mle": lambda: dualfold.PCA(n_components="mle", svd_solver="full").fit(WIDE),
    "arpack": lambda: dualfold.PCA(n_components=5, svd_solver="arpack").fit(X),
    "sparse": lambda: dualfold.PCA(n_components=2, svd_solver="full").fit(sp.csr_array(X)),
    "first batch has 1 sample": lambda: dualfold.PCA(n_components=1).partial_fit(X[:1]),
    "at most 3": lambda: dualfold.TSNE(n_components=4, method="barnes_hut", perplexity=5).fit(X),
    "either V or VI": lambda: dualfold.TSNE(metric="mahalanobis", perplexity=5).fit(X),
    "some are below 0": lambda: dualfold.TSNE(
        metric="precomputed", perplexity=5, init="random", method="exact"
    ).fit(-DISTANCES),
    "affinities must not be negative": lambda: dualfold.LaplacianEigenmaps(
        weights="precomputed"
    ).fit(-DISTANCES),
    "not over the 30 rows of X": lambda: dualfold.Isomap(graph=knn(X[:20], 5)).fit(X),
    "n_components": lambda: dualfold.FAMD(n_components=40).fit(
        pd.DataFrame(X[:6], columns=list("abcde")).assign(word=list("ababab"))
    ),
    "3 are needed": lambda: dualfold.LaplacianEigenmaps(
        n_neighbors=2, left_out=list(range(28))
    ).fit(X),
    "a data frame with the columns": lambda: dualfold.FAMD(1).fit(TABLE).transform(X[:6]),
    "leave these rows out": lambda: dualfold.FAMD(1).fit(HOLE),
    "'c' contains NaN or has gaps; fill": lambda: dualfold.FAMD(1).fit(TABLE).transform(HOLE),
    "no way back from pieces": lambda: dualfold.LocallyLinearEmbedding(
        n_neighbors=5, pieces="separate"
    ).fit(APART).inverse_transform(X[:2, :2]),
    "needs more than 30 points": lambda: dualfold.NeighborMap(30, n_neighbors=5).fit(X),
    "neighbours of 20 points": lambda: dualfold.Isomap(graph=nearest(X[:20], 5)).fit(X),
    "no principal components": lambda: dualfold.TSNE(init="pca", **BY_DISTANCES).fit(DISTANCES),
    "a square distance matrix": lambda: dualfold.TSNE(init="random", **BY_DISTANCES).fit(X),
    "sparse precomputed distance matrix": lambda: dualfold.TSNE(
        init="random", method="exact", **BY_DISTANCES
    ).fit(sp.csr_array(DISTANCES)),
    "it is a list": lambda: dualfold.TSNE(graph=[1, 2], perplexity=5).fit(X),
    "17 neighbors per samples are required": lambda: dualfold.TSNE(
        init="random", **BY_DISTANCES
    ).fit(knn(X, 4).lengths),
    "All distances should be positive": lambda: dualfold.TSNE(
        metric=lambda one, two: -1.0, perplexity=5
    ).fit(X),
    "n_neighbors=40 needs more": lambda: dualfold.TSNE(n_neighbors=40).fit(X),
    "must be 5×5": lambda: by_mahalanobis(VI=np.eye(2)),
    "one for each piece": lambda: dualfold.MaximumVarianceUnfolding(
        n_neighbors=5, pieces="separate"
    ).fit(APART).connections(),
    "optimises nothing": lambda: dualfold.RandomProjection(2).statement(X, 2),
    "answers no trace problem": lambda: dualfold.NeighborMap(n_neighbors=5).statement(X, 2),
    "they are likenesses and must be 0 or more": lambda: dualfold.SpectralEmbedding(
        affinity="precomputed"
    ).fit(-DISTANCES),
    "places no new points": lambda: dualfold.SpectralEmbedding(
        affinity="rbf"
    ).statement(X, 2).leads_to(X),
}  # fmt: skip


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_names_what_is_wrong(said):
    with pytest.raises((ValueError, TypeError)) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


@pytest.mark.parametrize("method", [dualfold.ClassicalMDS, dualfold.Isomap, dualfold.NeighborMap])
def test_a_matrix_of_another_size_is_refused(method):
    """SciPy takes what lies behind the matrix in memory for the rest of it."""
    with pytest.raises(InvalidInput, match=r"VI must be 5×5.*\(2, 2\)"):
        method(metric="mahalanobis", metric_params={"VI": np.eye(2)}).fit(X)


def test_a_metric_by_its_covariance_is_that_by_its_inverse():
    """As in SciPy, V may stand for its inverse."""
    V = np.diag([1.0, 4.0, 9.0, 16.0, 25.0])
    by_covariance, by_inverse = by_mahalanobis(V=V), by_mahalanobis(VI=np.linalg.inv(V))
    np.testing.assert_allclose(by_covariance.embedding_, by_inverse.embedding_, atol=1e-6)


def test_a_problem_is_stated_for_valid_parameters_alone():
    with pytest.raises(ValueError, match="n_components"):
        dualfold.NeighborhoodPreservingProjection(n_components="other").statement(X, 2)


def test_infinities_of_both_signs_are_refused_without_another_warning():
    both = sp.csr_array(np.where(np.eye(30, 5) > 0, np.inf, -np.inf).astype(np.float32))
    for estimator in (dualfold.PCA(2), dualfold.Isomap(), dualfold.ClassicalMDS()):
        with pytest.raises(ValueError, match="infinity"):
            estimator.fit(both)


@pytest.mark.filterwarnings("ignore::dualfold.errors.DualfoldWarning")
def test_equal_rows_have_equal_points():
    equal = np.full((60, 3), 1.5)
    for seed in range(6):
        for rows in (equal, sp.coo_array(equal)):
            fitted = dualfold.PointPCA(random_state=seed).fit(rows)
            np.testing.assert_array_equal(fitted.embedding_, 0)
    descent = dualfold.PCA(1, svd_solver="gradient-paper").fit(equal.astype(np.float32))
    assert not np.isnan(descent.history_).any()


def test_maps_of_three_points_are_white():
    fitted = dualfold.NeighborMap(tolerance=0.0, n_neighbors=2).fit(X[:3, :1])
    assert np.isfinite(fitted.divergence_)
    size = 3 * fitted.spread_
    np.testing.assert_allclose(fitted.embedding_.T @ fitted.embedding_ / size, np.eye(2), atol=1e-9)
