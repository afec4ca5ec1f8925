"""What a problem finds out is cached where it is declared, and handed on to related problems.

Frozen problems hold their fields and the cached properties of their class, nothing else. The
elimination order of a pattern is found once, by the solver or the certificate, whichever needs it
first.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from dualfold.errors import InvalidInput
from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace.solvers import Factored
from tests.trace.door import (
    balanced_problem,
    matrices,
    norm_bound,
    rescaled_problem,
    share_ordering,
    shifted_matrices,
)


def declared(problem):
    cached = (name for name, one in vars(type(problem)).items() if type(one) is cached_property)
    return {one.name for one in fields(problem)} | set(cached)


def ring(n=40):
    L = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=1) - np.roll(np.eye(n), -1, axis=1)
    weights = np.geomspace(1.0, 1e6, n)
    return TraceProblem(sp.csr_array(L), weights, count=2, excluded=np.ones((n, 1)))


@pytest.fixture
def orderings(monkeypatch):
    """How many patterns were ordered."""
    found = []
    order = matrices.fill_reducing_ordering

    def counted(*given, **settings):
        found.append(given)
        return order(*given, **settings)

    monkeypatch.setattr(matrices, "fill_reducing_ordering", counted)
    return found


def test_a_certificate_adds_nothing_to_a_problem_that_its_class_does_not_declare():
    operator = TraceProblem(aslinearoperator(np.diag(np.arange(1.0, 6.0))), count=1)
    norm_bound(operator)
    sparse = ring()
    certify(sparse, Factored().solve(sparse).vectors)
    for problem in (operator, sparse):
        assert set(vars(problem)) <= declared(problem)


@pytest.mark.parametrize("change", [balanced_problem, rescaled_problem])
def test_a_problem_in_other_units_keeps_the_basis_that_its_error_is_about(change):
    problem = ring()
    if change is balanced_problem:
        changed, _ = change(problem, np.eye(problem.n)[:, :2])
        back = np.sqrt(problem.metric.entries / changed.metric.entries)[:, None]
    else:
        problem = replace(problem, A=problem.A * 2.0**900)
        changed, power = change(problem)
        assert power
        back = 1.0
    assert changed is not problem
    assert np.array_equal(changed.excluded_basis, problem.excluded_basis * back)
    assert changed.excluded_error == problem.excluded_error
    assert set(vars(changed)) <= declared(changed)


def test_solver_and_certificate_order_a_pattern_once(orderings):
    problem = ring()
    found = Factored().solve(problem)
    certify(problem, np.hstack([found.vectors, found.guard]))  # in balanced units
    assert len(orderings) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_an_order_is_shared_whichever_problem_finds_it(orderings, first):
    problem = ring()
    other = replace(problem, count=3)
    share_ordering(problem, other)
    found = [shifted_matrices(one).ordering for one in (problem, other)[:: 1 - 2 * first]]
    share_ordering(other, problem)  # they share it already: nothing changes
    assert found[0] is found[1] is shifted_matrices(problem).ordering
    assert len(orderings) == 1


def test_a_pattern_that_is_too_costly_is_refused_once(orderings, set_limits):
    set_limits("trace.sparse.shifted_matrices", MAX_FLOPS=0.0, MAX_FLOPS_A_ROW=0.0)
    M = sp.csr_array(np.eye(12) - np.eye(12, k=1) / 2)
    problem = TraceProblem(Gramian(M), count=1)
    for _ in range(2):
        with pytest.raises(matrices.TooLarge):
            _ = shifted_matrices(problem).ordering
    assert len(orderings) == 1


def test_another_count_checks_the_number_and_shares_what_was_found():
    A = np.diag([4.0, 3.0, 2.0, 1.0])
    problem = TraceProblem(A, None, 1, excluded=np.eye(4)[:, :1])
    assert problem.asymmetry == 0
    assert problem.square_norm >= 30
    more = problem.with_count(3)
    assert (problem.count, more.count) == (1, 3)
    assert more.A is problem.A
    assert "square_norm" in vars(more)
    assert certify(more, np.eye(4)[:, [3, 2, 1]]).level == "proved"
    for count in (0, 4):
        with pytest.raises(InvalidInput, match="directions were asked for"):
            problem.with_count(count)
