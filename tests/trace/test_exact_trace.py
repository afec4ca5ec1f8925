"""Exact counts, refusals and small parts of the certificates of trace problems, by hand."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem, certificate, certify
from dualfold.trace import matrix_entries as entries
from dualfold.trace.problem import product
from dualfold.trace.proof import exact_arithmetic as exact
from dualfold.trace.solution import with_signs
from dualfold.trace.sparse import ordering
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.units import balanced_problem
from tests.trace.test_tries_trace import problem_of

# ---- exact numbers


def test_exact_counts_are_tried_under_each_value_by_shares_of_the_tolerance(monkeypatch):
    seen = []
    monkeypatch.setattr(exact, "_heights_under", lambda pencil, h, allowed: seen.append(allowed))
    problem = problem_of([1, 3, 8, 9], count=2)
    assert exact.exact_proof(problem, np.eye(4)[:, :2], 0.5) is None
    np.testing.assert_allclose(
        seen, [share * 0.5 * 4.0 / 2 for share in exact.HEIGHT_SHARES], rtol=1e-15
    )
    monkeypatch.undo()
    _, floor = exact.exact_proof(problem, np.eye(4)[:, :2], 0.5)
    assert (floor.below, floor.seen, floor.proof) == (0, 0, "exact")
    assert 0.9 < floor.height <= 1.0


def test_values_of_a_cluster_share_one_height():
    asked = []
    pencil = SimpleNamespace(below=lambda height: asked.append(height) or 0)
    total, first = exact._heights_under(pencil, np.array([4.0, 4.25, 6.0]), 0.5)
    assert asked == [3.75, 5.75]
    assert (total, first) == (Fraction(15, 2) + Fraction(23, 4), 3.75)
    asked.clear()
    unsure = SimpleNamespace(below=lambda height: asked.append(height))
    assert exact._heights_under(unsure, np.array([4.0]), 0.5) is None
    np.testing.assert_allclose(asked, 3.75 - 0.25 * np.array([0, 0.31, 0.57, 0.83]), rtol=1e-15)


def test_exact_numbers_are_taken_of_small_problems_only(monkeypatch):
    problem = problem_of([1, 2, 3, 4], count=2)
    monkeypatch.setattr(exact, "MAX_EXACT_ROWS", 4)
    monkeypatch.setattr(exact, "MAX_DIRECTIONS", 2)
    assert exact._is_small(problem)
    monkeypatch.setattr(exact, "MAX_DIRECTIONS", 1)
    assert not exact._is_small(problem)
    monkeypatch.setattr(exact, "MAX_DIRECTIONS", 2)
    monkeypatch.setattr(exact, "MAX_EXACT_ROWS", 3)
    assert not exact._is_small(problem)
    assert exact._bits(np.zeros((0, 2), dtype=object)) == 0
    assert exact._bits(np.array([5, -8], dtype=object)) == 4


def test_columns_are_freed_of_excluded_directions_exactly():
    B = np.array([1.0, 2.0, 4.0])
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), B, count=1, excluded=np.ones((3, 1)))
    W = exact._on_constraint(
        exact._pencil(problem), exact.IntegerMatrix.of(np.array([[1.0], [0.3], [5.0]]))
    )
    assert sum(int(b) * W.fraction(i, 0) for i, b in enumerate(B)) == 0
    assert W.fraction(0, 0) != 0
    # Multiples of the columns may be far too large for doubles: their values are not.
    large = [exact.IntegerMatrix(np.array([[v]], dtype=object), 1400) for v in (6, 2)]
    assert exact._ritz_values(*large) == pytest.approx([3.0])


# ---- the judge


def test_a_gap_behind_the_answer_is_said():
    found = certify(problem_of([1, 2, 4, 8], count=2), np.eye(4)[:, :3])
    assert 0.5 < found.eigengap <= 2.0
    assert found.floor - 2.0 == pytest.approx(found.eigengap, abs=1e-6)


def test_the_size_of_a_spectrum_is_that_of_a_against_b():
    problem = TraceProblem(np.diag([1.0, 2.0, 8.0]), np.full(3, 4.0), count=1)
    norm = np.sqrt(1 + 4 + 64)
    assert certificate._entry_scale(problem) == pytest.approx(norm / 4, rel=1e-5)


def test_values_that_are_those_of_the_vectors_belong_to_them():
    assert certificate._mismatch([0.0], np.array([0.0]), 0.0) == []
    assert certificate._mismatch([1.0 + 2e-6], np.array([1.0]), 1.0) != []
    assert certificate._mismatch([1.0 + 5e-7], np.array([1.0]), 1.0) == []


def test_small_operators_that_are_not_symmetric_are_refused_in_any_units(monkeypatch):
    for unit in (2.0**-12, 1.0, 2.0**12):
        A = np.diag([1.0, 2.0, 3.0]) * unit
        for apart, taken in ((2.0**-22, True), (2.0**-12, False)):
            A[0, 1] = apart * unit
            operator = TraceProblem(aslinearoperator(A), count=1)
            if taken:
                certificate._spelled_out(operator)
                continue
            with pytest.raises(InvalidInput, match="not symmetric"):
                certificate._spelled_out(operator)
    # A limit that is just reached is no mistake yet.
    half = np.array([[0.0, 1.0], [0.0, 1.0]])
    monkeypatch.setattr(entries, "ASYMMETRY_TOLERANCE", entries.asymmetry(half))
    np.testing.assert_array_equal(entries.symmetric(half, "A"), [[0.0, 0.5], [0.5, 1.0]])


# ---- small parts


def test_signs_are_set_in_matrices_of_any_size():
    np.testing.assert_array_equal(with_signs(np.array([[-2.0]])), [[2.0]])
    assert with_signs(np.zeros((0, 2))).shape == (0, 2)
    assert product(np.zeros((0, 0)), np.zeros((0, 2))).shape == (0, 2)


def test_prices_of_factorisations_are_those_of_their_columns():
    """A column of k entries below its pivot costs k(k + 1)/2 multiply-adds."""
    for first, row_start, heights in (
        ([0, 1, 2, 3], [0, 2, 3, 3], [2, 1, 0]),
        ([0, 2, 5], [0, 3, 3], [4, 3, 2, 1, 0]),
    ):
        cost = ordering._multiply_adds(np.array(first), np.array(row_start))
        assert cost == sum(k * (k + 1) / 2 for k in heights)


def test_nested_dissection_may_cost_no_more_than_minimum_degree(monkeypatch):
    asked, none = [], np.zeros(0, np.int32)

    def tree(n, start, columns, leaf, limit):
        asked.append(limit)
        return ordering._Tree(np.arange(n), none, none, none, 1e9)

    monkeypatch.setattr(ordering, "_tree", tree)
    for most, limit in ((None, 1e9), (2e8, 2e8), (4e9, 1e9), (1.25e8, 1.25e8)):
        asked.clear()
        ordering._cheapest_tree(4, none, none, most)
        assert asked[1] == limit


def test_rows_of_a_factor_are_charged_by_their_sums(monkeypatch):
    unit, d = 2.0**-8, np.array([1.0, 2.0, 4.0])
    monkeypatch.setattr("dualfold.trace.sparse.factorisation.ROUND_OFF", unit)
    matrix = sp.csr_array(np.diag(d))
    errors = factorise(matrix, ordering.fill_reducing_ordering(matrix)).row_errors
    np.testing.assert_allclose(errors, (1 + 1e-6) * 3 * unit / (1 - 3 * unit) * d, rtol=1e-9)


def test_norms_and_asymmetries_are_charged_as_they_say():
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    eps = np.finfo(float).eps
    found = TraceProblem(A, count=1).square_norm
    assert found == pytest.approx(25.0 * (1 + (2**18 + 2) * eps), rel=1e-14)
    seen = []

    class Twisted(LinearOperator):
        def _matmat(self, V):
            seen.append(V)
            return A @ V + 0.5 * np.array([[0, 1.0], [-1, 0]]) @ V

    found = TraceProblem(Twisted(float, (2, 2)), count=1).asymmetry
    Y, X = seen[-2:]  # four pairs: xᵀ(A − Aᵀ)y, one in 800 of whose spread is unlikely
    assert X.shape == Y.shape == (2, 4)
    assert found == pytest.approx(400 * np.abs(X[0] * Y[1] - X[1] * Y[0]).max())


def test_weights_of_sixteen_to_one_are_balanced():
    for most, same in ((15.0, True), (16.0, False)):
        problem = TraceProblem(np.eye(2), np.array([1.0, most]), count=1)
        assert (balanced_problem(problem, np.eye(2)[:, :1])[0] is problem) == same
