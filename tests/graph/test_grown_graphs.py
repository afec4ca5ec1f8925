"""A grown or shrunk graph is the one that its rule makes of all rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.graph import from_lengths, knn, radius, variable
from tests.graph.door import graph_without, grown_graph


def _tables(random):
    X = random.normal(size=(40, 3))
    yield "normal", X
    yield "ties", np.round(X)
    yield "copies", np.where((np.arange(40) % 2 == 0)[:, None], X[:1], X)
    yield "float32", X.astype(np.float32)
    yield "large", 1e30 * X


def _same(one, other):
    a, b = one.lengths.tocsr(), other.lengths.tocsr()
    a.sort_indices(), b.sort_indices()
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.data, b.data, rtol=1e-12)
    np.testing.assert_array_equal(one.lists.indices, other.lists.indices)
    assert one.n_pieces == other.n_pieces


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("kind", ["or", "and", "variable", "radius"])
def test_rows_that_come_in_tiles_and_leave_make_the_graph_from_nothing(kind, metric) -> None:
    random = np.random.default_rng(0)
    for _, X in _tables(random):
        reach = float(np.median(np.linalg.norm(X.astype(float) - X[1], axis=1)))
        make = {
            "or": lambda Y: knn(Y, 4, metric=metric),
            "and": lambda Y: knn(Y, 4, metric=metric, symmetry="and"),
            "variable": lambda Y: variable(Y, 4, metric=metric),
            "radius": lambda Y, reach=reach: radius(Y, reach, metric=metric),
        }[kind]
        whole, part = make(X), make(X[:20])
        _same(grown_graph(part, X[20:]), whole)
        _same(grown_graph(grown_graph(part, X[20:21]), X[21:]), whole)
        gone = random.random(40) < 0.3
        _same(graph_without(whole, gone), make(X[~gone]))


def test_a_graph_of_given_lengths_refuses_rows() -> None:
    with pytest.raises(InvalidInput, match="nothing says"):
        grown_graph(from_lengths(sp.csr_array(1.0 - np.eye(4))), np.zeros((1, 4)))
