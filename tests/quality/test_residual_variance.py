"""Residual variance against brute force, of points and of graphs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import geodesic_distances, knn
from dualfold.quality import residual_variance
from tests.tools.tables import roll_points


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_residual_variance_by_brute_force(dtype):
    rng = np.random.default_rng(0)
    for n, width in [(3, 1), (50, 2), (1300, 3)]:
        X, Y = rng.standard_normal((n, 5)) + 100, rng.standard_normal((n, width))
        Y[:, 0] += X[:, 0]
        D, off = cdist(X, X).astype(dtype), ~np.eye(n, dtype=bool)
        R = np.corrcoef(D[off].astype(float), cdist(Y, Y)[off])[0, 1]
        assert residual_variance(D, Y) == pytest.approx(1 - R**2, abs=1e-10)
        assert residual_variance(D, Y, n_jobs=1) == residual_variance(D, Y, n_jobs=3)
    assert residual_variance(cdist(Y, Y), 3 * Y) < 1e-12
    assert residual_variance(np.ones((3, 3)) - np.eye(3), np.arange(3.0)[:, None]) == 1.0


def test_residual_variance_of_a_graph_and_refusals():
    graph = knn(roll_points(1100, random_state=0), 8)
    Y = np.random.default_rng(0).standard_normal((1100, 2))
    D = geodesic_distances(graph, np.arange(1100))
    assert residual_variance(graph, Y) == pytest.approx(residual_variance(D, Y), abs=1e-12)
    with pytest.raises(InvalidInput, match="one row for each point"):
        residual_variance(graph, Y[:-1])
    D[3, 5] = np.inf
    with pytest.raises(InvalidInput, match="several pieces"):
        residual_variance(D, Y)
