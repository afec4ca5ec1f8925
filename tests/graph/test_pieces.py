"""Pieces of a graph, taken apart and put together."""

from __future__ import annotations

import numpy as np

from dualfold.graph import knn, merge_graphs, separate


def test_united_undoes_separate():
    X = np.random.default_rng(0).standard_normal((60, 2)) + 20 * (np.arange(60) % 3)[:, None]
    X[6] = X[3]  # an edge of length 0
    graph = knn(X, 5)
    assert graph.n_pieces == 3
    again = merge_graphs(list(separate(graph)), X)
    for side in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(
            getattr(again.lengths, side), getattr(graph.lengths, side), err_msg=side
        )
        name = {"data": "distances"}.get(side, side)
        np.testing.assert_array_equal(getattr(again.lists, name), getattr(graph.lists, name))
