"""Every solver against every problem family, by values and by principal angles."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from dualfold.errors import DualfoldError, NotConverged, TooLarge
from dualfold.trace import TraceProblem, certify
from dualfold.trace.solvers import Auto, Dense, Factored, Lanczos, Preconditioned
from tests.proofs.families import FAMILIES
from tests.tools.angles import principal_sine
from tests.workflows.door import Pace, Progress

SOLVERS = [
    Dense(),
    Lanczos(),
    Factored(),
    Preconditioned(inverse="multigrid"),
    Preconditioned(inverse="incomplete"),
    Auto(),
]
NEEDS_ENTRIES = (Factored, Preconditioned)


def dense_reference(problem):
    """All eigenvectors off the trivial directions, best first, from LAPACK alone."""
    A = problem.sign * (problem.A @ np.eye(problem.n))
    B = problem.metric.sparse().toarray()
    N = problem.excluded_basis
    complement = scipy.linalg.null_space((B @ N).T) if N.shape[1] else np.eye(problem.n)
    values, S = scipy.linalg.eigh(complement.T @ A @ complement, complement.T @ B @ complement)
    return problem.sign * values, complement @ S


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_values_and_subspaces(family, solver):
    problem, count = family.problem, family.problem.count
    if isinstance(solver, NEEDS_ENTRIES) and not family.explicit:
        with pytest.raises(TooLarge, match="linear operator"):
            solver.solve(problem)
        return
    solution = solver.solve(problem)
    scale = np.abs(family.spectrum).max()
    np.testing.assert_allclose(solution.values, family.spectrum[:count], atol=1e-9 * scale)
    gram = solution.vectors.T @ problem.metric.times(solution.vectors)
    np.testing.assert_allclose(gram, np.eye(count), atol=1e-9)
    # The subspace is unique only up to the last cluster: compare the part before it,
    # and see that the rest lies in the whole cluster.
    values, V = dense_reference(problem)
    gaps = np.abs(np.diff(values))
    inside = count
    while inside and gaps[inside - 1] < 1e-3 * scale:
        inside -= 1
    outside = count
    while outside < len(values) and gaps[outside - 1] < 1e-3 * scale:
        outside += 1
    if inside:
        within = principal_sine(solution.vectors, V[:, :inside], problem.metric)
        assert within < 1e-3
    rest = solution.vectors - V[:, :outside] @ (
        V[:, :outside].T @ problem.metric.times(solution.vectors)
    )
    assert np.sqrt(np.abs(rest.T @ problem.metric.times(rest))).max() < 1e-3


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_answers_are_certified(family, solver):
    if isinstance(solver, NEEDS_ENTRIES) and not family.explicit:
        pytest.skip("an operator has no entries to factor")
    solution = solver.solve(family.problem)
    both = np.hstack([solution.vectors, solution.guard])
    certificate = certify(family.problem, both, solution.values)
    assert certificate.level == "proved", certificate
    optimum = family.spectrum[: family.problem.count].sum()
    scale = np.abs(family.spectrum).max()
    # The bound is on the right side of the true optimum, and not far from it.
    assert family.problem.sign * (certificate.bound - optimum) <= 1e-12 * scale
    assert abs(certificate.bound - optimum) <= 1e-5 * scale


def test_same_answer_twice():
    problem = FAMILIES[0].problem
    first, second = (Lanczos().solve(problem) for _ in range(2))
    assert np.array_equal(first.vectors, second.vectors)


def test_a_solver_that_does_not_arrive_says_so():
    problem = next(family.problem for family in FAMILIES if family.name == "path")
    hurried = Lanczos(most_products=10)
    assert hurried.attempt(problem).status == "stopped"
    with pytest.raises(NotConverged, match=r"stopped after 1[0-2] products") as caught:
        hurried.solve(problem)
    assert "Factored" in str(caught.value)


def test_auto_that_does_not_arrive_says_so(monkeypatch):
    from tests.workflows.door import auto

    monkeypatch.setattr(auto, "Lanczos", partial(Lanczos, most_products=10))
    A = np.diag(1 + np.arange(500) * 1e-6)
    problem = TraceProblem(aslinearoperator(A), count=2)
    found = Auto().attempt(problem)
    assert found.status == "stopped"
    assert "Lanczos left after" in found.story[0]
    with pytest.raises(NotConverged, match=r"Lanczos left after .*loosen tol") as caught:
        Auto().solve(problem)
    assert caught.value.solution.status == "stopped"


def test_trivial_directions_are_deflated_not_counted():
    # Exclude the *second* eigenvector of the path: the first, the constant, must come out.
    family = FAMILIES[0]
    _, V = np.linalg.eigh(family.problem.A.toarray())
    problem = TraceProblem(family.problem.A, None, 2, "min", V[:, 1])
    expected = np.r_[0.0, family.spectrum[1]]
    for solver in SOLVERS:
        np.testing.assert_allclose(solver.solve(problem).values, expected, atol=1e-9)


def test_auto_tells_what_it_chose():
    from dualfold.graph import knn
    from dualfold.methods import eigenmaps

    rng = np.random.default_rng(0)
    sheet = rng.random((3000, 2)) * [3, 1]
    solution = Auto().solve(eigenmaps(knn(sheet, 10)))
    assert solution.solver == "Auto: Factored"
    assert "factorisation" in " ".join(solution.story)
    cube = rng.random((4000, 12)).astype(np.float32)
    solution = Auto().solve(eigenmaps(knn(cube, 10)))
    assert "Lanczos" in solution.solver
    assert solution.story


def test_problem_refuses_bad_matrices():
    good = np.diag([1.0, 2.0, 3.0])
    crooked = good + np.triu(np.ones((3, 3)), 1)
    for bad, words in [(crooked, "symmetric"), (good * np.nan, "NaN"), (good[:2], "square")]:
        with pytest.raises(DualfoldError, match=words):
            TraceProblem(bad)
    with pytest.raises(DualfoldError, match="n_components"):
        TraceProblem(good, None, 3, "min", np.ones(3))
    with pytest.raises(DualfoldError, match="degree 0"):
        TraceProblem(good, np.array([1.0, 0.0, 1.0]), 1)
    with pytest.raises(DualfoldError, match="positive definite"):
        Lanczos().solve(TraceProblem(good, np.diag([1.0, -1.0, 1.0]), 1))


@pytest.mark.parametrize(("factor", "left_after"), [(0.999, 6), (0.1, None)])
def test_an_iteration_dearer_than_the_other_road_is_left_early(factor, left_after):
    """At 3,000,000 rows a round takes a minute; 24 of them are too many to find that out."""
    pace = Pace(seconds_per_product=1.2, budget=60.0)
    left = [pace(Progress(10 * k, 1e6 * factor**k)) for k in range(1, 8)]
    assert (left.index(True) + 1 if any(left) else None) == left_after


@pytest.mark.parametrize("budget", [0.1, 60.0])
def test_a_cheap_iteration_is_watched_for_a_while(budget):
    pace = Pace(seconds_per_product=1e-3, budget=budget)
    assert not any(pace(Progress(70 * k, 1e6)) for k in range(1, 24))


def test_an_operator_has_no_other_road_and_is_not_left():
    n = 25_000
    weights = np.arange(1.0, n + 1) ** -0.5
    A = LinearOperator((n, n), matvec=lambda v: weights * v.ravel(), dtype=float)
    problem = TraceProblem(A, None, 5, "max")
    assert Auto().solve(problem).products == Lanczos().solve(problem).products
