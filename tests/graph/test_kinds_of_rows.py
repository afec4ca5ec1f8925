"""Searches of rows of every kind: none, sparse, equal rows in large units."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.graph import nearest, radius

X = np.random.default_rng(0).normal(size=(12, 3))


def test_no_rows_have_no_neighbors_within_a_radius():
    for metric in ("euclidean", "hamming"):
        assert radius(X[:0], 0.5, metric=metric).n == 0


def test_sparse_rows_are_compared_where_they_are_present():
    found = nearest(sp.csr_array(X), 3)
    np.testing.assert_array_equal(found.indices, nearest(X, 3).indices)


def test_equal_rows_in_large_units_are_neighbors_at_0():
    found = nearest(np.full((110, 1), 2.0**480), 5)
    assert not found.distances.any()
