"""Measures of tables of every kind: lists, sparse rows, objects, distances, one column."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import quality
from dualfold.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(12, 3))


def test_lists_of_distances_are_distances():
    D = np.abs(np.arange(5.0)[:, None] - np.arange(5.0))
    Y = np.arange(5.0)[:, None]
    given = quality.distance_correlation(D.tolist(), Y, metric="precomputed")
    assert given == pytest.approx(1.0)


def test_tables_of_every_kind_have_the_measures_of_the_array():
    Y = X[:, :2] + 0.1
    for kind in (sp.csr_array, sp.coo_array, list, lambda table: table.astype(object)):
        assert quality.procrustes(kind(X), kind(Y)).disparity == pytest.approx(
            quality.procrustes(X, Y).disparity, rel=1e-12
        )
        assert quality.trustworthiness(kind(X), Y, metric="mahalanobis") == pytest.approx(
            quality.trustworthiness(X, Y, metric="mahalanobis")
        )
        p_values = quality.conformal_p_values(kind(X), kind(X[:3]))
        np.testing.assert_array_equal(p_values, quality.conformal_p_values(X, X[:3]))
    one = X[:, :1]
    same = quality.t_similarity(one, one, 3)
    assert quality.t_similarity(one, one, 3, metric="mahalanobis") == same


def test_the_stress_of_equal_rows_is_infinite_for_a_sample_too():
    assert quality.stress(np.ones((12, 2)), X, scale=2.0, sample=5) == np.inf


def test_limits_of_measures():
    X = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    exhaustive = [quality.measured_distortion(X, X, n_pairs=p).exhaustive for p in (9, 10)]
    assert exhaustive == [False, True]
    assert -1 <= quality.silhouette(X, [0, 1, 2, 3, 3]) <= 1
    assert -1 <= quality.silhouette(X[:3], [0, 1, 1]) <= 1
    for labels in ([0, 1, 2, 3, 4], [0, 0, 0, 0, 0]):
        with pytest.raises(InvalidInput, match="from 2 to n"):
            quality.silhouette(X, labels)
    spot = quality.shepard(np.zeros((3, 1)), X[:3])
    assert spot.counts.sum() == 6
    assert spot.counts.shape[0] == 1
