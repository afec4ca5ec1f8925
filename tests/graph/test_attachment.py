"""New points are tied to a graph as its rule says, by any metric."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import knn
from tests.graph.door import attach

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))
DISTANCES = cdist(X, X)


def linked(attached):
    """Pairs of an attachment, as a set."""
    rows, columns = attached.lengths.nonzero()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_new_points_by_any_metric_are_linked_as_brute_force_says(metric):
    """By the "or" rule: among my nearest, or I am within the reach of its last one."""
    name = {"manhattan": "cityblock"}.get(metric, metric)
    apart, own = cdist(NEW, X, name), np.sort(cdist(X, X, name), axis=1)[:, 4]
    near = np.argsort(apart, axis=1)[:, :4]
    wanted = {(row, int(j)) for row in range(len(NEW)) for j in near[row]}
    wanted |= {(int(i), int(j)) for i, j in np.argwhere(apart <= own)}
    assert linked(attach(knn(X, 4, metric=metric), NEW)) == wanted


def test_new_points_by_their_distances_dense_or_sparse():
    graph, apart = knn(DISTANCES, 4, metric="precomputed"), cdist(NEW, X)
    dense, stored = attach(graph, apart), attach(graph, sp.csr_array(apart))
    assert linked(dense) == linked(stored) == linked(attach(knn(X, 4), NEW))
    with pytest.raises(InvalidInput, match="7 columns; there are 40 old points"):
        attach(graph, apart.T)
