"""Maximum variance unfolding: exact answers, a peer, and the way from graphs and back."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import dualfold
from dualfold.errors import InvalidInput, Unrealisable
from dualfold.unfolding import (
    UnfoldingProblem,
    certify_unfolding,
    contraction_of,
    interior_point,
    unfold,
)
from dualfold.unfolding.solvers.semidefinite import edge_products
from tests.proofs.unfoldings import chain, complete, dense_bounds, dense_laplacian, random_problem


@pytest.mark.parametrize("n", [3, 4, 5, 10, 37, 100, 300])
def test_a_chain_is_pulled_straight(n):
    problem = chain(n)
    found = interior_point(problem, tol=1e-9)
    certificate = certify_unfolding(problem, found.factor, found.weights)
    assert certificate.level == "proved"
    assert certificate.gap < 1e-8
    assert certificate.lower <= n * (n**2 - 1) / 12 * (1 + 1e-14)
    assert certificate.upper >= n * (n**2 - 1) / 12 * (1 - 1e-14)
    steps = np.arange(1, n)
    np.testing.assert_allclose(found.weights, steps * (n - steps) / 2, rtol=1e-5)
    np.testing.assert_allclose(np.abs(np.diff(found.factor[:, 0])), 1, rtol=1e-5)


def test_the_complete_graph_is_classical_scaling():
    X = np.random.default_rng(1).standard_normal((25, 4))
    problem = complete(X)
    found = interior_point(problem, tol=1e-9)
    X = X - X.mean(axis=0)
    np.testing.assert_allclose(found.factor @ found.factor.T, X @ X.T, atol=1e-4)
    uniform = np.full(problem.m, 1 / 25)  # the optimal weights that theory gives
    certificate = certify_unfolding(problem, X, uniform)
    assert certificate.level == "proved"
    assert certificate.gap < 1e-9
    assert certificate.lower == pytest.approx(np.sum(X**2), rel=1e-9)


@pytest.mark.parametrize("constraints", ["at_most", "equal"])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_modelling_layer(constraints, seed):
    cp = pytest.importorskip("cvxpy", reason="cvxpy is a test-only dependency: pip install .[dev]")
    problem = random_problem(12, seed, constraints=constraints)
    relaxation = 1e-3
    K = cp.Variable((12, 12), PSD=True)
    i, j = problem.edges.T
    lengths = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    limits = [lengths <= problem.squared]
    if constraints == "equal":
        limits = [
            lengths <= (1 + relaxation) * problem.squared,
            lengths >= (1 - relaxation) * problem.squared,
        ]
    peer = cp.Problem(cp.Maximize(cp.trace(K)), [cp.sum(K, axis=1) == 0, *limits])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it doubts its last digits; five are compared
        peer.solve(solver=cp.CLARABEL)
    found = interior_point(problem, tol=1e-8, relaxation=relaxation)
    assert problem.value(found.factor) == pytest.approx(peer.value, rel=1e-5)


def test_masses_are_repeated_points():
    problem = random_problem(14, 3, masses=True)
    found = interior_point(problem, tol=1e-9)
    assert problem.masses is not None
    lower, upper = dense_bounds(problem, found.factor, found.weights)
    assert lower == pytest.approx(upper, rel=1e-7)
    # the same by points that really are repeated, tied closely to one another
    copies = np.repeat(np.arange(14), problem.masses.astype(int))
    first = np.searchsorted(copies, np.arange(14))
    near = np.array([(first[c], k) for k, c in enumerate(copies) if first[c] != k])
    edges = np.vstack([np.sort(first[problem.edges], axis=1), near])
    squared = np.concatenate([problem.squared, np.full(len(near), 1e-8)])
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    repeated = UnfoldingProblem(len(copies), edges[order], squared[order])
    assert repeated.value(interior_point(repeated).factor) == pytest.approx(lower, rel=1e-3)


def test_the_schur_matrix_is_the_hadamard_product():
    problem = random_problem(40, 5, extra=8)
    rng = np.random.default_rng(0)
    K, R = (A @ A.T for A in rng.standard_normal((2, 40, 40)))
    B = problem.incidence.toarray()
    expected = (B @ K @ B.T) * (B @ R @ B.T)
    lower = np.tril(np.ones_like(expected)) > 0
    np.testing.assert_allclose(edge_products(problem.edges, K, R)[lower], expected[lower])


def test_laplacian_and_lengths_are_those_of_the_definition():
    problem = random_problem(15, 6)
    w = np.random.default_rng(0).standard_normal(problem.m)
    expected = problem.incidence.T @ np.diag(w) @ problem.incidence
    np.testing.assert_allclose(problem.laplacian(w).toarray(), expected, atol=1e-13)
    np.testing.assert_allclose(dense_laplacian(problem, w), expected, atol=1e-13)
    Y = np.random.default_rng(1).standard_normal((15, 2))
    squares = cdist(Y, Y, "sqeuclidean")
    i, j = problem.edges.T
    np.testing.assert_allclose(problem.squared_lengths(Y), squares[i, j])


def test_a_callback_sees_the_gap_fall_and_can_stop():
    seen = []
    stopped = interior_point(
        chain(30), callback=lambda record: seen.append(record) or len(seen) > 4
    )
    assert stopped.status == "stopped"
    assert stopped.history == tuple(seen)
    assert len(seen) == 5
    assert seen[-1].gap < seen[0].gap
    assert all(record.lower <= 30 * 899 / 12 <= record.upper for record in seen)


# ---- from a graph and back


def test_duplicates_are_one_point_and_come_apart_again():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X = np.vstack([X, X[:5], X[:2]])
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(X, 9))
    contraction = contraction_of(graph)
    assert contraction.problem.n == 30
    np.testing.assert_array_equal(np.sort(contraction.problem.mass)[-5:], [2, 2, 2, 3, 3])
    unfolding = unfold(graph)
    assert unfolding.certificate.level == "proved"
    assert unfolding.certificate.lower > 0
    np.testing.assert_array_equal(unfolding.factor[30:35], unfolding.factor[:5])
    np.testing.assert_allclose(unfolding.factor.sum(axis=0), 0, atol=1e-9)
    value = np.sum(unfolding.factor**2)
    assert value == pytest.approx(unfolding.certificate.lower, rel=1e-5)
    i, j = graph.lengths.nonzero()
    lengths = np.linalg.norm(unfolding.factor[i] - unfolding.factor[j], axis=1)
    assert np.all(lengths <= graph.lengths[i, j] * (1 + 1e-6) + 1e-12)
    assert abs(unfolding.weights - unfolding.weights.T).max() == 0


def test_points_that_are_all_the_same_stay_one():
    graph = dualfold.graph.knn(np.ones((8, 2)), 3)
    unfolding = unfold(dualfold.graph.join_pieces(graph))
    assert unfolding.certificate.level == "proved"
    np.testing.assert_array_equal(unfolding.factor, 0)


def test_angles_tie_neighbours_of_a_common_point():
    X = np.random.default_rng(0).standard_normal((20, 3))
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(X, 3))
    problem = contraction_of(graph, angles=True).problem
    linked = graph.lengths.toarray() > 0
    expected = np.triu(linked | (linked.astype(int) @ linked.astype(int) > 0), 1)
    np.testing.assert_array_equal(problem.edges, np.argwhere(expected))
    i, j = problem.edges.T
    np.testing.assert_allclose(problem.squared, cdist(X, X, "sqeuclidean")[i, j])
    assert unfold(graph, angles=True).certificate.upper <= unfold(graph).certificate.upper


# ---- lengths that no points have


def triangle(a, b, c):
    lengths = np.zeros((3, 3))
    lengths[0, 1], lengths[1, 2], lengths[0, 2] = a, b, c
    return dualfold.graph.from_lengths(sp.csr_array(lengths + lengths.T))


def test_a_broken_triangle_is_named_for_equal_and_harmless_for_at_most():
    with pytest.raises(Unrealisable, match=r"points 0 and 2 are 3 apart.*only 2 long"):
        unfold(triangle(1.0, 1.0, 3.0), constraints="equal")
    certificate = unfold(triangle(1.0, 1.0, 3.0)).certificate
    assert certificate.lower == pytest.approx(2.0, rel=1e-6)  # straight: −1, 0, 1


def test_a_metric_without_points_is_refused_by_a_dual_ray():
    # A star of three unit arms whose ends are 2 apart: triangles hold, no Euclidean points.
    lengths = np.full((4, 4), 2.0) - 2 * np.eye(4)
    lengths[0, 1:] = lengths[1:, 0] = 1.0
    graph = dualfold.graph.from_lengths(sp.csr_array(lengths))
    with pytest.raises(Unrealisable, match="negative"):
        unfold(graph, constraints="equal")
    assert unfold(graph).certificate.level == "proved"


def test_problems_that_make_no_sense_are_refused():
    with pytest.raises(InvalidInput, match="positive"):
        UnfoldingProblem(2, [[0, 1]], [0.0])
    with pytest.raises(InvalidInput, match="once"):
        UnfoldingProblem(2, [[1, 0]], [1.0])
    with pytest.raises(InvalidInput, match="constraints"):
        UnfoldingProblem(2, [[0, 1]], [1.0], "about")  # type: ignore[arg-type]
