"""What searches and attachments refuse: each refusal says what was needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.graph import farthest_points, knn, nearest, neighborhood_spread, radius
from dualfold.graph.attachment import attach
from dualfold.graph.metrics import present_nearest

X = np.random.default_rng(0).normal(size=(12, 3))
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=-1)
REFUSALS = {
    "for new points pass coordinates": lambda: nearest(
        DISTANCES, 3, queries=X, metric="precomputed"
    ),
    "needs metric='euclidean'": lambda: nearest(X, 3, metric="cosine", search="blocked"),
    "given without a rule": lambda: attach(replace(knn(X, 4), kind="given"), X),
    "distances must be finite": lambda: knn(DISTANCES * np.nan, 3, metric="precomputed"),
    "must be between 1 and 11 for 12 rows": lambda: present_nearest(X, 12),
    "double precision has to round": lambda: present_nearest(X.astype(np.longdouble) / 3, 2),
    "n_neighbors=-1 must be 1 or more": lambda: neighborhood_spread(knn(X, 4), -1),
    "at_once=0 must be 1 or more": lambda: farthest_points(knn(X, 4), 2, at_once=0),
    "its shape is (36,)": lambda: nearest(X.ravel(), 2, metric="chebyshev"),
    "its shape is ()": lambda: present_nearest(3, 2),
    "a whole number from 0 on": lambda: nearest(X, 2, search="approximate", random_state=-1),
    "holds infinite numbers": lambda: present_nearest(np.where(X > 1, np.inf, X), 2),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_no_rows_have_no_neighbors_within_a_radius():
    for metric in ("euclidean", "hamming"):
        assert radius(X[:0], 0.5, metric=metric).n == 0


def test_sparse_rows_are_compared_where_they_are_present():
    found = present_nearest(sp.csr_array(X), 3)
    np.testing.assert_array_equal(found.indices, present_nearest(X, 3).indices)


def test_equal_rows_in_large_units_are_neighbors_at_0():
    found = nearest(np.full((110, 1), 2.0**480), 5)
    assert not found.distances.any()
