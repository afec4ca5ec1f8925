"""MᵀM of a factor with many rows is formed, and solved and proved by LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.data import digits
from dualfold.graph import knn
from dualfold.methods import ltsa, modified_lle
from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace.solvers import Auto, Dense, Factored
from tests.proofs.fuzz_trace import routes
from tests.trace.door import prefers_filled_square, product_rounding


def factors():
    rng = np.random.default_rng(0)
    scattered = sp.random_array((60, 20), density=0.2, rng=rng, format="csr")
    blocks = np.zeros((24, 20))
    for first in range(0, 24, 4):  # runs of four rows with the same columns, of several widths
        columns = rng.choice(20, 3 + first % 8, replace=False)
        blocks[first : first + 4, columns] = rng.standard_normal((4, len(columns)))
    empty = sp.csr_array((5, 20))
    return [scattered, sp.csr_array(blocks), sp.vstack([empty, blocks, empty], format="csr"), empty]


@pytest.mark.parametrize("M", factors())
@pytest.mark.parametrize("batch", [1, 2**21])
def test_the_square_is_that_of_the_factor(M, batch, set_limits):
    set_limits("kernels.sparse", BATCH_NUMBERS=batch)
    A = Gramian(M)
    exact = M.toarray().T @ M.toarray()
    square = A.square_entries
    assert np.allclose(square, exact, rtol=0, atol=1e-14 * max(1.0, np.abs(exact).max()))
    assert A.square_entries is square


def test_rounding_of_the_square_is_bounded():
    M = sp.csr_array(np.random.default_rng(1).standard_normal((200, 12)).astype(np.float32))
    A = Gramian(M.astype(float))
    long = np.longdouble(M.toarray())
    wrong = A.square_entries - long.T @ long  # products of single numbers are exact
    assert 0 < np.linalg.norm(wrong.astype(float), 2) <= product_rounding(TraceProblem(A))


@pytest.mark.parametrize("method", [ltsa, modified_lle])
def test_many_neighbours_of_images_are_solved_and_proved_without_elimination(method):
    problem = method(knn(digits().points[:600], 30))
    assert prefers_filled_square(problem)
    solution = Auto().solve(problem)
    assert solution.solver == "Auto: Filled"
    assert "MᵀM is formed" in solution.story[0]
    found = certify(problem, np.hstack([solution.vectors, solution.guard]), solution.values)
    assert (found.level, found.proof) == ("proved", "Cholesky")
    for other in (Dense(), Factored()):
        answer = other.solve(problem)
        assert np.allclose(answer.values, solution.values, rtol=1e-9)
        assert scipy.linalg.subspace_angles(answer.vectors, solution.vectors).max() < 1e-6


def test_masses_are_kept():
    problem = ltsa(knn(digits().points[:500], 30))
    heavy = problem.with_masses(np.random.default_rng(0).uniform(0.5, 2.0, problem.n))
    solution = Auto().solve(heavy)
    assert solution.solver == "Auto: Filled"
    assert np.allclose(solution.values, Dense().solve(heavy).values, rtol=1e-9)
    found = certify(heavy, np.hstack([solution.vectors, solution.guard]), solution.values)
    assert (found.level, found.proof) == ("proved", "Cholesky")


def test_eigenvalues_that_the_square_hides_are_found_by_elimination(set_limits):
    set_limits("trace.sparse.shifted_matrices", MAX_CUBE_AN_ENTRY=10**9)
    n = 1_500
    second = sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(n - 2, n), format="csr")
    line = np.column_stack([np.ones(n), np.arange(n)])
    problem = TraceProblem(Gramian(second), excluded=line)  # values are (4.73/n)⁴, (7.85/n)⁴, …
    solution = Auto().solve(problem)
    assert solution.solver == "Auto: Factored"
    assert "hides the small end" in solution.story[0]
    assert np.allclose(solution.values, (np.array([4.730, 7.853]) / n) ** 4, rtol=0.02)
    found = certify(problem, np.hstack([solution.vectors, solution.guard]))
    assert (found.level, found.proof) == ("proved", "inertia")


def test_a_missed_direction_is_not_proved_by_the_square():
    problem = ltsa(knn(digits().points[:500], 30))
    solution = Auto().solve(problem)
    wrong = np.column_stack([solution.vectors[:, 0], solution.guard[:, 0]])
    assert certify(problem, wrong).level in ("failed", "within")


def test_small_sparse_problems_are_filled_from_the_beginning():
    """Where rounding leaves the gap; a closer one is left to elimination."""
    n = 60
    steps = sp.diags_array([1.0, -1.0], offsets=[0, 1], shape=(n - 1, n), format="csr")
    ends = np.ones((n, 1))
    for A in (sp.csr_array(steps.T @ steps), Gramian(steps)):
        problem = TraceProblem(A, excluded=ends)  # values are 2 − 2cos(πk/n)
        V = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 5)) / n)
        V /= np.linalg.norm(V, axis=0)
        found = certify(problem, V[:, :3])
        assert (found.level, found.proof) == ("proved", "Cholesky")
        assert certify(problem, V[:, [0, 2, 1]]).level == "failed"
        with routes("augmented" if isinstance(A, Gramian) else "inertia"):
            other = certify(problem, V[:, :3])
        assert (other.level, other.proof) == ("proved", "inertia")
        assert np.isclose(found.eigengap, other.eigengap, rtol=0.5)
    close = TraceProblem(
        sp.diags_array([1.0, 1.0 + 1e-13, *np.arange(2.0, n)], format="csr"), count=1
    )
    hidden = certify(close, np.eye(n)[:, :2])
    assert (hidden.level, hidden.complete) == ("proved", True)
