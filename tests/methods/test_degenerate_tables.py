"""Estimators of equal rows, three rows, infinities, and metrics that a matrix states."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(30, 5))


def by_mahalanobis(**params):
    return dualfold.TSNE(metric="mahalanobis", metric_params=params, perplexity=5).fit(X)


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
