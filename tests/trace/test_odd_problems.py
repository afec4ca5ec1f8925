"""Trace problems and programs at the edges of what their proofs take, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.errors import InvalidInput, TooLarge
from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace.metric import Dense, Sparse
from dualfold.trace.proof.dense_inertia import dense_inertia
from dualfold.trace.proof.exact_arithmetic import (
    IntegerMatrix,
    IntegerPencil,
    _fraction_solution,
    _ritz_values,
    exact_proof,
)
from dualfold.trace.proof.singular_values import ritz_directions
from dualfold.trace.solvers import Dense as DenseSolver
from dualfold.trace.solvers.auto import MIN_SMALL_WORLD_ROWS, _is_small_world, _product_seconds

RNG = np.random.default_rng(0)


# ---- trace problems in integers


def pencil(A, B=None, N=None):
    n = len(A)
    B, N = np.eye(n) if B is None else B, np.zeros((n, 0)) if N is None else N
    return IntegerPencil(*(IntegerMatrix.of(np.asarray(M, dtype=float)) for M in (A, B, N)))


def test_eigenvalues_below_a_height_are_counted_or_the_height_is_refused():
    """A minor of 0 is no sign: at an eigenvalue of the first entry there is none."""
    counted = pencil(np.diag([1.0, 2.0, 5.0]))
    assert [counted.below(height) for height in (0.5, 1.5, 3.0, 9.0)] == [0, 1, 2, 3]
    assert counted.below(1.0) is None
    off = pencil(np.diag([1.0, 2.0, 5.0]), N=np.eye(3)[:, :1])
    assert off.below(3.0) == 1  # the first is excluded


def test_what_is_not_positive_definite_is_not_solved_for():
    one, negative = (IntegerMatrix.of(np.array([[value]])) for value in (2.0, -2.0))
    assert _fraction_solution(one, one) == [[Fraction(1)]]
    assert _fraction_solution(negative, one) is None
    assert _ritz_values(one, IntegerMatrix.of(np.zeros((1, 1)))) is None


def problem(A, count=1, **more):
    return TraceProblem(np.asarray(A, dtype=float), None, count, "min", **more)


def test_exact_proofs_are_about_problems_as_they_were_given():
    """Vectors along what is excluded, and a value of 0, leave nothing to prove."""
    A, V = np.diag([1.0, 2.0, 3.0, 4.0]), np.eye(4)
    bracket, floor = exact_proof(problem(A), V[:, :1], 1e-9)
    assert bracket.gap <= 1e-9
    assert floor.proof == "exact"
    assert exact_proof(problem(A, excluded=V[:, :1]), V[:, :1], 1e-9) is None
    assert exact_proof(problem(np.diag([0.0, 1.0])), np.eye(2)[:, :1], 1e-9) is None
    assert exact_proof(problem(A), V[:, 3:], 1e-9) is None  # three are below it


# ---- trace problems in doubles


def test_fewer_rows_than_directions_map_some_to_nothing():
    M = sp.csr_array([[3.0, 4.0, 0.0]])
    stated = TraceProblem(Gramian(M), None, 2, "min")
    V, lengths = ritz_directions(stated, np.eye(3)[:, :2])
    np.testing.assert_allclose(lengths, [0.0, 5.0], atol=1e-14)
    np.testing.assert_allclose(np.abs(M @ V), [[0.0, 5.0]], atol=1e-14)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_the_least_eigenvalue_of_a_metric_is_bounded_from_below(kind):
    for least in (1.0, 1e-6, 1e-17):
        Q = np.linalg.qr(RNG.normal(size=(6, 6)))[0]
        B = Q @ np.diag([least, 1, 1, 2, 3, 4]) @ Q.T
        B = (B + B.T) / 2 if kind == "dense" else np.diag([least, 1.0, 1.0, 2.0, 3.0, 4.0])
        metric = Dense(B) if kind == "dense" else Sparse(sp.csr_array(B))
        # Rounded entries may leave B an eigenvalue below 0; 0 says that nothing is known of it.
        assert 0 <= metric.lowest <= max(0.0, np.linalg.eigvalsh(B)[0]) + 1e-15
    assert metric.lowest <= 1e-17 + (kind == "dense") * 1e-15


def test_metrics_that_are_not_positive_are_refused():
    indefinite = Sparse(sp.csr_array(np.diag([1.0, -1.0])))
    with pytest.raises(InvalidInput, match="positive definite"):
        indefinite.solve(np.ones((2, 1)))


def test_counts_of_what_is_no_number_are_none():
    assert dense_inertia(np.diag([1.0, -2.0, 3.0]))[0] == 1
    assert dense_inertia(np.full((2, 2), np.nan)) is None
    assert dense_inertia(np.array([[0.0, 2.0], [2.0, 0.0]]))[0] == 1  # a block of two


def test_an_operator_that_returns_no_numbers_is_refused():
    broken = LinearOperator((5, 5), matvec=lambda v: v * np.nan, dtype=float)
    with pytest.raises(InvalidInput, match="returns NaN or infinite numbers"):
        certify(TraceProblem(broken, None, 1, "min"), np.eye(5)[:, :1])


def test_the_norm_of_nothing_is_0():
    assert problem(np.zeros((4, 4))).norm_estimate == 0


def test_a_dense_solve_has_a_limit():
    with pytest.raises(TooLarge, match=r"given 4 rows; it takes up to 3"):
        DenseSolver(most_rows=3).attempt(problem(np.eye(4)))


def test_graphs_that_are_crossed_in_few_steps_are_known_by_products():
    """A ring takes n/2 steps, a ring with random chords about log n."""
    n = MIN_SMALL_WORLD_ROWS
    ring = sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n, n), format="csr")
    places = RNG.permutation(n)
    chords = sp.csr_array((np.ones(n), (np.arange(n), places)), shape=(n, n))
    small = sp.csr_array(ring + chords + chords.T)
    story = []
    assert not _is_small_world(TraceProblem(ring, None, 1, "min"), story)
    assert _is_small_world(TraceProblem(small, None, 1, "min"), story)
    assert len(story) == 1
    assert "nine in ten rows" in story[0]


def test_products_are_foreseen_by_their_entries():
    M = sp.csr_array(np.ones((3, 4)))
    by_factor = _product_seconds(TraceProblem(Gramian(M), None, 1, "min"))
    filled = _product_seconds(problem(np.ones((4, 4))))
    stored = _product_seconds(TraceProblem(sp.csr_array(np.ones((4, 4))), None, 1, "min"))
    assert stored == filled < by_factor  # 16, 16 and 24 multiply-adds


# ---- programs
