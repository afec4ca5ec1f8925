"""Large sparse problems are solved and judged with their rows in the order of elimination."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.data import swiss_roll
from dualfold.graph import knn
from dualfold.methods import eigenmaps, lle
from dualfold.trace import Gramian, certify
from dualfold.trace.solvers import Factored
from tests.trace.door import reordered_problem, shifted_matrices


def roll_problem(method, n=900):
    return method(knn(swiss_roll(n, random_state=3).points, 8))


@pytest.fixture
def small(set_limits):
    """Thresholds under which small problems are reordered, and LLE's rows are paired."""
    set_limits("trace.equivalent_problems", MIN_REORDERED_ROWS=10)
    set_limits("trace.sparse.shifted_matrices", MIN_ROTATED_ROWS=10, MAX_ROTATED_FLOPS_RATIO=1e12)


def entries(A):
    return A.factor.toarray() if isinstance(A, Gramian) else A.toarray()


@pytest.mark.parametrize("method", [eigenmaps, lle])
def test_no_entry_changes(method, small):
    problem = roll_problem(method, 300)
    local, order = reordered_problem(problem)
    assert np.array_equal(np.sort(order), np.arange(300))
    assert np.array_equal(entries(local.A), entries(problem.A)[np.ix_(order, order)])
    assert np.array_equal(local.excluded_basis, problem.excluded_basis[order])
    assert local.excluded_error == problem.excluded_error
    given = np.random.default_rng(0).standard_normal((300, 2))
    assert np.array_equal(local.metric.times(given[order]), problem.metric.times(given)[order])
    factor = local.A.factor if isinstance(local.A, Gramian) else local.A
    again = sp.csr_array((factor.data, factor.indices, factor.indptr), factor.shape)
    assert again.has_canonical_format
    assert reordered_problem(problem)[0] is local


@pytest.mark.parametrize("method", [eigenmaps, lle])
def test_rows_stand_in_the_order_of_elimination(method, small):
    problem = roll_problem(method, 300)
    local, _ = reordered_problem(problem)
    n = len(shifted_matrices(local).ordering.permutation)
    assert n == (600 if method is lle else 300)
    first = shifted_matrices(local).ordering.permutation
    step = 2 if method is lle else 1
    assert np.array_equal(first[::step], np.arange(300))


@pytest.mark.parametrize("method", [eigenmaps, lle])
def test_answers_and_verdicts_are_those_of_the_rows_as_given(method, small, set_limits):
    problem = roll_problem(method)
    solution = Factored().solve(problem)
    wide = np.hstack([solution.vectors, solution.guard])
    found = certify(problem, wide, solution.values)
    wrong = certify(problem, np.column_stack([solution.vectors[:, 0], solution.guard[:, 0]]))
    set_limits("trace.equivalent_problems", MIN_REORDERED_ROWS=10**9)
    problem = replace(problem)  # another problem of the same numbers
    plain = Factored().solve(problem)
    assert np.allclose(plain.values, solution.values, rtol=1e-8)
    assert scipy.linalg.subspace_angles(plain.vectors, solution.vectors).max() < 1e-5
    assert np.array_equal(np.sign(plain.vectors[0]), np.sign(solution.vectors[0]))
    again = certify(problem, wide, solution.values)
    assert found.level == again.level == "proved"
    assert np.isclose(found.value, again.value)
    assert wrong.level != "proved"


def test_a_start_is_reordered_too(small):
    problem = roll_problem(eigenmaps)
    first = Factored().solve(problem)
    again = Factored(start=first.vectors).solve(problem)
    assert again.products < first.products
    assert np.allclose(again.values, first.values, rtol=1e-8)
