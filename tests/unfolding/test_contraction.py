"""Lengths of edges: which are taken, and what rounding costs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import from_lengths, join_pieces, knn
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding import bounds as unfolding_bounds
from dualfold.unfolding.bounds import EdgeFit
from dualfold.unfolding.contraction import Unrealisable, contraction_of
from dualfold.unfolding.solvers.unfolder import elastic
from tests.proofs.coarse import patched
from tests.unfolding.test_rounding import D2, EDGES, problem


def test_lengths_on_a_line_lose_one_product(monkeypatch):
    lost = 2.0**-12
    patched(monkeypatch, unfolding_bounds, UNIT_ROUNDOFF=0.0, UNDERFLOW_BOUND=lost)
    Y = np.arange(5.0)[:, None] ** 2
    squares = (Y[EDGES[:, 0], 0] - Y[EDGES[:, 1], 0]) ** 2
    found = unfolding_bounds.edge_fit(problem(), Y)
    assert found.high == pytest.approx(((squares + lost) / D2).max(), rel=1e-14)


def test_lengths_whose_squares_are_doubles_are_taken():
    ends = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    for length, taken in ((2.0**-500, True), (1e6, True), (2.0**500, True), (2.0**511, False)):
        graph = from_lengths(sp.csr_array((np.full(4, length), ends), shape=(3, 3)))
        if taken:
            assert contraction_of(graph).problem.squared.tolist() == [length**2] * 2
        else:
            with pytest.raises(InvalidInput, match="another unit"):
                contraction_of(graph)


@pytest.mark.parametrize("kind", ["rows", "sparse", "manhattan", "precomputed"])
def test_angles_tie_neighbours_by_their_distance_in_the_graphs_metric(kind):
    X = np.random.default_rng(0).normal(size=(9, 3))
    metric = {"manhattan": "manhattan", "precomputed": "precomputed"}.get(kind, "euclidean")
    order = 1 if kind == "manhattan" else 2
    D = np.linalg.norm(X[:, None] - X, ord=order, axis=2)
    given = {"precomputed": D, "sparse": sp.csr_array(X)}.get(kind, X)
    found = contraction_of(join_pieces(knn(given, 3, metric=metric)), angles=True).problem
    i, j = found.edges.T
    np.testing.assert_allclose(found.squared, D[i, j] ** 2, rtol=1e-12)
    assert found.m > 15


RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))


def test_lengths_that_contradict_each_other_have_no_points():
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    lengths = sp.coo_array(([0.0, 0.0, 1.0], ends.T), shape=(3, 3)).tocsr()
    with pytest.raises(Unrealisable, match="points 0 and 2 are 1 apart"):
        contraction_of(from_lengths(lengths), constraints="equal")
    with pytest.raises(InvalidInput, match="1 point was given"):
        elastic(UnfoldingProblem(1, np.empty((0, 2), int), [], "equal"))
    assert EdgeFit(0.0, np.inf, 1.0).value == 0
    assert EdgeFit(1.0, 2.0, 6.0).value == pytest.approx(3.0)


@pytest.mark.parametrize(("metric", "name"), [("precomputed", "euclidean"), ("l1", "cityblock")])
def test_angles_are_kept_by_any_metric(metric, name):
    """Neighbours of a common point are as far apart as the metric says."""
    apart = cdist(X, X, name)
    graph = knn(apart if metric == "precomputed" else X, 4, metric=metric)
    problem = contraction_of(graph, angles=True).problem
    i, j = problem.edges.T
    np.testing.assert_allclose(np.sqrt(problem.squared), apart[i, j], rtol=1e-12)
    assert problem.m > graph.n_edges
