"""Newton's equations by conjugate gradients, and unfoldings of graphs without small separators."""

import numpy as np
import pytest

from dualfold.graph import join_pieces, knn
from dualfold.unfolding import UnfoldingProblem, certify_unfolding, contraction_of, interior_point
from dualfold.unfolding.problem import in_units
from dualfold.unfolding.solvers.barrier import BarrierPoint, Net, newton_step
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.springs import SpringMatrix, SpringNet


def cloud(n, columns, seed=0):
    """The problem of a cloud's neighbours in many dimensions, which no few points separate."""
    X = np.random.default_rng(seed).standard_normal((n, columns))
    return in_units(contraction_of(join_pieces(knn(X, 6))).problem)[0]


def net_of_springs(n=60, r=3, seed=0, *, masses=False):
    rng = np.random.default_rng(seed)
    linked = np.triu(rng.random((n, n)) < 0.1, 1)
    linked[np.arange(n - 1), np.arange(1, n)] = True
    edges = np.argwhere(linked)
    problem = UnfoldingProblem(
        n,
        edges,
        rng.uniform(0.2, 3, len(edges)),
        masses=rng.integers(1, 5, n).astype(float) if masses else None,
    )
    w, bend = rng.uniform(1, 3, problem.m), rng.uniform(0, 100, problem.m)
    return problem, w, bend, rng.standard_normal((problem.m, r))


@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("r", [1, 3, 4, 9])
def test_the_solution_is_that_of_the_matrix(r, masses):
    problem, w, bend, apart = net_of_springs(r=r, masses=masses)
    force = np.random.default_rng(1).standard_normal((problem.n, r))
    force -= force.mean(axis=0)
    matrix = SpringMatrix.of(SpringNet(problem), w, bend, apart, 0.9)
    found, positive = matrix.solution(force, 1e-10)
    H = Net.of(problem).stiffness(w, bend, apart, 0.9).toarray()
    # Among centred points: the rest of Hx is a translation's force, in multiples of the masses.
    centred = np.eye(problem.n) - np.outer(np.ones(problem.n), problem.mass) / problem.mass.sum()
    basis = np.linalg.svd(np.kron(centred, np.eye(r)))[0][:, : (problem.n - 1) * r]
    exact = basis @ np.linalg.solve(basis.T @ H @ basis, basis.T @ force.ravel())
    assert positive
    assert np.allclose(problem.mass @ found, 0, atol=1e-9)
    assert np.abs(found.ravel() - exact).max() < 1e-7 * np.abs(exact).max()


def test_an_indefinite_matrix_is_noticed_and_a_larger_shift_mends_it():
    problem, w, bend, apart = net_of_springs()
    force = np.random.default_rng(1).standard_normal((problem.n, 3))
    force -= force.mean(axis=0)
    soft = SpringMatrix.of(SpringNet(problem), 0.01 * w, 0 * bend, apart, 0.0)
    assert not soft.solution(force, 1e-6)[1]
    assert soft.with_shift(1.5).solution(force, 1e-6)[1]


def test_without_a_force_nothing_moves():
    problem, w, bend, apart = net_of_springs()
    matrix = SpringMatrix.of(SpringNet(problem), w, bend, apart, 0.5)
    found, positive = matrix.solution(np.zeros((problem.n, 3)), 1e-6)
    assert positive
    assert not found.any()


def test_a_step_of_newton_is_the_same_in_both_ways(monkeypatch):
    problem = cloud(150, 5)
    start = 0.3 * problem.squared.min() ** 0.5 * np.random.default_rng(0).standard_normal((150, 3))
    start /= np.sqrt(2 * np.max(problem.squared_lengths(start) / problem.squared))
    here = BarrierPoint.at(problem, start, 50.0)  # large: the matrix is positive
    monkeypatch.setattr("dualfold.unfolding.solvers.barrier.MAX_RESIDUAL", 1e-10)
    net = Net.of(problem)
    monkeypatch.setattr(Net, "eliminates", lambda *_: True)
    one = newton_step(net, here)
    monkeypatch.setattr(Net, "eliminates", lambda *_: False)
    two = newton_step(net, here)
    assert one.step == two.step > 0
    assert np.abs(one.points - two.points).max() < 1e-6 * np.abs(one.points).max()
    assert two.decrement == pytest.approx(one.decrement, rel=1e-6)


def test_sheets_are_eliminated_and_clouds_are_not():
    grid = [(i, i + 1) for i in range(400) if i % 20 != 19] + [(i, i + 20) for i in range(380)]
    sheet = UnfoldingProblem(400, np.array(sorted(grid)), np.ones(len(grid)))
    assert Net.of(sheet).eliminates(0.1)
    net = Net.of(cloud(700, 12))
    assert not net.eliminates(0.1)
    assert net.eliminates(1e-12)  # gradients take ever more steps as edges become taut


def test_a_cloud_agrees_with_the_interior_point():
    problem = cloud(300, 12)
    assert not Net.of(problem).eliminates(1e-2)
    solution = low_rank(problem, tol=1e-5, random_state=0)
    assert solution.status == "converged"
    certificate = certify_unfolding(problem, solution.factor, solution.weights)
    assert certificate.gap <= 1.1e-5
    exact = interior_point(problem, tol=1e-7)
    assert certificate.lower <= problem.value(exact.factor) * (1 + 1e-6)
    assert problem.value(exact.factor) == pytest.approx(certificate.lower, rel=2e-5)


def test_the_same_seed_gives_the_same_bits():
    problem = cloud(300, 12, seed=1)
    one, two = (low_rank(problem, tol=1e-2, random_state=0) for _ in range(2))
    assert np.array_equal(one.factor, two.factor)
    assert np.array_equal(one.weights, two.weights)
