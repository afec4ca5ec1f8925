"""Operators by narrow blocks: every copy of an eigenvalue, excluded directions, all there is."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace.solvers import Dense, Lanczos


def diagonal_problem(values: np.ndarray, count: int, **options) -> TraceProblem:
    """The operator of a diagonal matrix, rotated by one reflection so that no axis is special."""
    n = len(values)
    u = np.random.default_rng(1).standard_normal((n, 1)) * np.sqrt(2 / n)
    u *= np.sqrt(2) / np.linalg.norm(u)

    def times(v: np.ndarray) -> np.ndarray:
        v = v.reshape(n, -1)
        v = values[:, None] * (v - u @ (u.T @ v))
        return v - u @ (u.T @ v)

    A = sp.linalg.LinearOperator((n, n), matvec=times, matmat=times, rmatvec=times, dtype=float)
    return TraceProblem(A, None, count, **options)


@pytest.mark.parametrize("copies", [9, 20])
def test_every_copy_of_a_repeated_eigenvalue_is_found(copies):
    """More copies than a block is wide, with smaller eigenvalues behind them."""
    values = np.r_[np.full(copies, 5.0), 4.0, 3.0, np.linspace(2, 0, 900)]
    found = Lanczos(tol=1e-10).solve(diagonal_problem(values, copies + 2, sense="max"))
    np.testing.assert_allclose(found.values, values[: copies + 2], rtol=1e-9)


def test_close_eigenvalues_at_either_end_take_restarts():
    values = np.r_[np.linspace(1, 3, 40), np.linspace(4, 50, 1200)]
    found = Lanczos(tol=1e-9).solve(diagonal_problem(values, 12, sense="min"))
    np.testing.assert_allclose(found.values, values[:12], rtol=1e-8)
    assert found.products > 64  # more than are stored


def test_excluded_directions_stay_out():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 60)) * np.linspace(3, 0.1, 60) + 5
    centred = X - X.mean(axis=1, keepdims=True)
    ones = np.ones((500, 1))
    K = centred @ centred.T
    P = np.eye(500) - ones @ ones.T / 500
    problem = TraceProblem(aslinearoperator(P @ K @ P), None, 5, "max", excluded=ones)
    found = Lanczos(tol=1e-12).solve(problem)
    exact = np.linalg.eigvalsh(P @ K @ P)[::-1][:5]
    np.testing.assert_allclose(found.values, exact, rtol=1e-10)
    assert np.abs(found.vectors.sum(axis=0)).max() < 1e-10


def test_all_directions_that_there_are():
    """Fewer rows than a block, and a matrix of small rank whose Krylov spaces end at once."""
    few = TraceProblem(aslinearoperator(np.diag([3.0, 1.0, 2.0, 1.0])), None, 3, "max")
    np.testing.assert_allclose(Lanczos().solve(few).values, [3, 2, 1], rtol=1e-12)
    M = sp.csr_array(np.outer(np.arange(1.0, 4.0), np.ones(700)))
    found = Lanczos().solve(TraceProblem(Gramian(M), None, 4, "max"))
    np.testing.assert_allclose(found.values, [14 * 700, 0, 0, 0], atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-12)
    none = Lanczos().solve(TraceProblem(Gramian(M * 0), None, 2, "max"))
    np.testing.assert_array_equal(none.values, [0, 0])


def test_as_lapack_to_the_last_digits_and_certified():
    X = sp.random_array((900, 450), density=0.02, random_state=3, format="csr")
    problem = TraceProblem(Gramian(X), None, 10, "max")
    found, exact = Lanczos(tol=1e-14).solve(problem), Dense().solve(problem)
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-12)
    residuals = problem.A @ found.vectors - found.vectors * found.values
    assert np.linalg.norm(residuals, axis=0).max() <= 1e-12 * found.values[0]
    judged = certify(problem, np.hstack([found.vectors, found.guard]), found.values)
    assert judged.level == "proved"


@pytest.mark.parametrize("rank", [10, 60])
def test_small_rank_and_wide_spectra_end_at_rounding(rank):
    """Residuals cannot fall below rounding; an iteration to the last digits ends there."""
    rng = np.random.default_rng(rank)
    left = sp.random_array((500, rank), density=0.3, rng=rng, format="csr")
    right = sp.random_array((rank, 420), density=0.3, rng=rng, format="csr")
    scales = sp.diags_array(10.0 ** -np.linspace(0, 7, rank))
    problem = TraceProblem(Gramian(sp.csr_array(left @ scales @ right)), None, 8, "max")
    found = Lanczos(tol=1e-14).solve(problem)
    exact = Dense().solve(problem)
    assert found.products < 500
    np.testing.assert_allclose(found.values, exact.values, atol=1e-12 * exact.values[0])
