"""Orderings by blocks of coordinates, and the lowest eigenvalues that come of them."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from dualfold.graph import join_pieces, knn
from dualfold.trace.sparse.factorisation import factorise, fill_reducing_ordering
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding.solvers.barrier import Net, block_ordering
from dualfold.unfolding.solvers.connectivity import lowest_eigenpairs
from tests.tools.tables import roll_points


def roll(n, seed=0):
    graph = join_pieces(knn(roll_points(n, random_state=seed), 6))
    rows = np.repeat(np.arange(n), np.diff(graph.lengths.indptr))
    upper = rows < graph.lengths.indices
    edges = np.c_[rows, graph.lengths.indices][upper]
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return UnfoldingProblem(n, edges[order], graph.lengths.data[upper][order] ** 2)


def test_a_blocked_ordering_factorises_the_blocks():
    problem = roll(120)
    L = problem.laplacian(np.ones(problem.m))
    order = block_ordering(fill_reducing_ordering(L), 3)
    _i, _j = problem.edges.T
    apart = np.random.default_rng(0).standard_normal((problem.m, 3))
    H = Net.of(problem).stiffness(np.ones(problem.m), np.ones(problem.m), apart, 3.0)
    b = np.random.default_rng(1).standard_normal(360)
    x = factorise(H, order).solve(b)
    assert np.abs(H @ x - b).max() < 1e-10


def test_the_bottom_of_the_spectrum_is_that_of_dense_eigenvalues():
    problem = roll(400)
    masses = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    heavy = UnfoldingProblem(400, problem.edges, problem.squared, masses=masses)
    w = np.random.default_rng(1).uniform(0.1, 2, heavy.m)
    start = np.random.default_rng(2).standard_normal((400, 7))
    order = fill_reducing_ordering(heavy.laplacian(w))
    values, vectors = lowest_eigenpairs(heavy, w, order, start, 5, tol=1e-10)
    dense = scipy.linalg.eigvalsh(heavy.laplacian(w).toarray(), np.diag(masses))[1:6]
    assert np.allclose(values, dense, rtol=1e-8)
    assert np.allclose(vectors.T @ (masses[:, None] * vectors), np.eye(5), atol=1e-10)
