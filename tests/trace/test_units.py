"""Trace problems in far units are moved near 1 without rounding."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.embedding import embed
from dualfold.trace import Gramian, TraceProblem, certify
from tests.trace.door import _is_exact, _scaled_matrix, balanced_problem, rescaled_problem
from tests.trace.door import equivalent_problems as balanced


def test_scaling_is_refused_where_an_entry_would_be_rounded():
    powers = np.array([0, -600, 300])
    M = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 4.0]]))
    scaled = _scaled_matrix(Gramian(M), powers)
    np.testing.assert_array_equal(scaled.factor.toarray(), np.ldexp(M.toarray(), powers[None, :]))
    assert _scaled_matrix(Gramian(M), np.array([0, -1100, 0])) is None
    for A in (np.diag([1.0, 2.0, 3.0]), sp.csr_array(np.diag([1.0, 2.0, 3.0]))):
        found = _scaled_matrix(A, powers // 2)
        found = found.toarray() if sp.issparse(found) else found
        np.testing.assert_array_equal(np.diag(found), np.ldexp([1.0, 2.0, 3.0], powers))
        assert _scaled_matrix(A, np.array([0, -600, 0])) is None
        with np.errstate(over="ignore"):
            assert _scaled_matrix(A, np.array([0, 600, 0])) is None
    assert _is_exact(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert not _is_exact(np.array([1.0]), np.array([0.0]))
    assert not _is_exact(np.array([1.0]), np.array([np.inf]))


def test_far_units_come_near_and_others_stay():
    near = TraceProblem(np.diag([1.0, 2.0]), count=1)
    assert rescaled_problem(near) == (near, 0)
    for exponent in (-500, 450, 501):
        far = TraceProblem(np.ldexp(np.diag([1.0, 2.0]), exponent), count=1)
        problem, power = rescaled_problem(far)
        np.testing.assert_array_equal(np.ldexp(problem.A, power), far.A)
        assert 0.25 <= problem.A.max() < 4
    even = TraceProblem(np.eye(3), np.array([1.0, 2.0, 3.0]), 1)
    assert balanced_problem(even, np.eye(3)[:, :1])[0] is even
    uneven = TraceProblem(np.eye(3), np.array([1.0, 2.0**20, 2.0**-20]), 1)
    problem, V = balanced_problem(uneven, np.eye(3)[:, 1:2])
    np.testing.assert_array_equal(problem.metric.entries, np.ones(3))
    np.testing.assert_array_equal(np.diag(problem.A), [1.0, 2.0**-20, 2.0**20])
    np.testing.assert_array_equal(V[:, 0], [0.0, 2.0**10, 0.0])


def test_values_in_far_units_are_held_against_the_answer():
    A, V = np.diag([1.0, 2.0, 3.0]), np.eye(3)[:, :1]
    for power in (-500, 0, 500):
        problem = TraceProblem(np.ldexp(A, power), count=1)
        assert certify(problem, V, [np.ldexp(1.0, power)]).level == "proved"
        assert certify(problem, V, [np.ldexp(1.01, power)]).level == "failed"


@pytest.mark.parametrize(("of_A", "of_B"), [(-70, 0), (0, 600), (600, 600), (-500, 300)])
def test_far_units_of_a_and_b_are_solved_and_proved(of_A, of_B):
    rng = np.random.default_rng(2)
    W, N = rng.uniform(0, 1, (12, 12)), np.ones(12)
    A, B = np.diag((W + W.T).sum(axis=1)) - W - W.T, rng.uniform(1, 2, 12)
    near = embed(TraceProblem(A, B, 2, excluded=N))
    far = embed(TraceProblem(np.ldexp(A, of_A), np.ldexp(B, of_B), 2, excluded=N))
    assert (near.certificate.level, far.certificate.level) == ("proved", "proved")
    np.testing.assert_allclose(np.ldexp(far.values, of_B - of_A), near.values, rtol=1e-9)


def test_weights_of_sixteen_to_one_are_balanced():
    for most, same in ((15.0, True), (16.0, False)):
        problem = TraceProblem(np.eye(2), np.array([1.0, most]), count=1)
        assert (balanced_problem(problem, np.eye(2)[:, :1])[0] is problem) == same


def test_an_operator_in_balanced_units_is_the_scaled_matrix():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, 4))
    operator = LinearOperator((4, 4), matvec=lambda v: A @ v, matmat=lambda V: A @ V, dtype=float)
    powers = np.array([0, 3, -5, 1])
    D = np.diag(2.0**powers)
    scaled = balanced._scaled_matrix(operator, powers)
    V = rng.normal(size=(4, 3))
    np.testing.assert_allclose(scaled @ V, D @ A @ D @ V, rtol=1e-13)
    np.testing.assert_allclose(scaled @ V[:, 0], D @ A @ D @ V[:, 0], rtol=1e-13)


@pytest.mark.parametrize("kind", ["dense", "sparse", "gramian"])
def test_a_wrong_answer_fails_in_any_units(kind):
    M = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    A = {"dense": M @ M, "sparse": sp.csr_array(M @ M), "gramian": Gramian(sp.csr_array(M))}[kind]
    for power in (-250, 0, 250):
        scaled = Gramian(A.factor * 2.0**power) if kind == "gramian" else A * 4.0**power
        problem = TraceProblem(scaled)
        right = certify(problem, np.eye(5)[:, :2], np.array([1.0, 4.0]) * 4.0**power)
        assert right.level == "proved"
        assert right.value == 5 * 4.0**power
        assert certify(problem, np.eye(5)[:, [0, 2]]).level == "failed"
        wrong = certify(problem, np.eye(5)[:, :2], np.array([1.0, 4.1]) * 4.0**power)
        assert wrong.level == "failed"
