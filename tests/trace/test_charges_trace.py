"""What certificates of trace problems charge for rounding, equal to its formula.

`test_margins_trace.py` asks that each bound holds what its theorem needs. Here each one is also no
more than its operations are counted for: a sum of k products is charged γ_{k+4}, and so on. The
unit is coarse, so that one operation more or less is seen.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem, metric
from dualfold.trace.proof import completeness, rounding
from dualfold.trace.proof import dense_inertia as pivots
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof import trial_directions as trials
from dualfold.trace.proof.completeness import (
    SpectralFloor,
    cholesky_floor,
    inertia_floor,
    pivot_floor,
)
from dualfold.trace.proof.lehmann_bounds import bracket, temple_loss
from dualfold.trace.proof.trial_directions import Trial
from tests.proofs.coarse import U, coarse, gamma, patched
from tests.trace.test_margins_trace import columns, lengths, small

EQUAL = {"rtol": 1e-10}


@pytest.fixture
def coarsely(monkeypatch):
    coarse(monkeypatch)


def plain_trial(h, squares=None, skew=0.0, leak=0.0, n=None):
    h = np.asarray(h, dtype=float)
    squares = np.zeros(len(h)) if squares is None else np.asarray(squares, dtype=float)
    return Trial(np.eye(n or len(h))[:, : len(h)], h, squares, np.zeros(len(h)), skew, leak)


# ---- sums and products


def test_sums_in_blocks_are_as_deep_as_their_blocks_and_their_number():
    assert rounding.inner_depth(10) == 64 + 1 + 2
    assert rounding.inner_depth(129) == 64 + 3 + 2
    assert rounding.inner_depth(10_000) == 100 + 100 + 2


def test_rows_without_entries_have_no_terms():
    assert rounding.longest_row(sp.csr_array((3, 3))) == 0
    assert rounding.longest_row(sp.csr_array((0, 3))) == 0
    assert rounding.longest_row(sp.csr_array(np.diag([0.0, 1.0, 0.0]))) == 1


def test_products_are_charged_by_their_longest_row(coarsely, monkeypatch):
    sparse, V = small("sparse"), columns(small("sparse"))
    size = np.abs(sparse.A.toarray())
    found = rounding.product_errors(sparse, V)
    np.testing.assert_allclose(found, gamma(3 + 4) * lengths(size @ np.abs(V)), **EQUAL)
    dense = small("dense")
    found = rounding.product_errors(dense, V)
    np.testing.assert_allclose(found, gamma(5 + 4) * lengths(size @ np.abs(V)), **EQUAL)
    turned = small("gramian")
    M = np.abs(turned.A.factor.toarray())
    np.testing.assert_allclose(
        rounding.product_errors(turned, V),
        gamma(2 + 2 + 4) * lengths(M.T @ (M @ np.abs(V))),
        **EQUAL,
    )
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=5, UNDERFLOW_BOUND=0.25)  # up to and with so many rows
    np.testing.assert_allclose(rounding.product_errors(dense, V), found + 0.25, **EQUAL)
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=4)
    norm = rounding.norm_bound(dense)
    found = rounding.product_errors(dense, V)
    np.testing.assert_allclose(found, gamma(5 + 4) * norm * lengths(V) + 0.25, **EQUAL)


@pytest.mark.parametrize("lift", [0.0, 64.0])
def test_residuals_are_charged_for_their_products_and_the_lift(coarsely, monkeypatch, lift):
    problem, h = small("dense", "diagonal"), np.array([0.5, -3.0])
    V, N = columns(problem), problem.trivial
    BV, BN = problem.metric.times(V), problem.metric.times(N)
    own = gamma(5 + 4) * lengths(np.abs(problem.A) @ np.abs(V))
    plain = own + np.abs(h) * 2 * U * lengths(BV) + 6 * U * np.abs(h) * lengths(BV)
    depth = rounding.inner_depth(5)
    along = gamma(depth + 1 + 4) * lengths(np.abs(N).T @ np.abs(BV))
    along = along + 2 * U * lengths(BN) * lengths(V) + np.linalg.norm(N) * 2 * U * lengths(BV)
    found = trials._residual_errors(problem, V, BV, h, lift)
    np.testing.assert_allclose(found, plain + lift * np.linalg.norm(BN) * along, **EQUAL)
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=5)  # images are turned beyond so many rows
    np.testing.assert_allclose(trials._residual_errors(problem, V, BV, h, lift), found, **EQUAL)


def test_residuals_of_an_answer_are_not_lifted(coarsely):
    problem = small("dense", "diagonal")
    V = columns(problem)
    AV, BV = problem.A @ V, problem.metric.times(V)
    h = np.einsum("ij,ij->j", V, AV)
    errors = trials._residual_errors(problem, V, BV, h, 0.0)
    expected = rounding.dual_lengths(problem, AV - BV * h, errors)
    np.testing.assert_allclose(trials.residual_lengths(problem, V)[1], expected, **EQUAL)


def test_a_trial_leaks_its_inner_products_and_its_residuals_rounding(coarsely):
    problem = TraceProblem(np.diag([1.0, 2.0, 4.0, 8.0]), count=2)
    some = trials.trial(problem, 1.25 * np.eye(4)[:, :2])  # too long on purpose
    depth = gamma(rounding.inner_depth(4))
    squares = np.array([1.25**2, 1.25**2])
    long = np.sqrt(squares.sum() * (2 * U) ** 2 * squares.sum())  # of B·V = V
    skew = np.linalg.norm(squares - 1) + depth * squares.sum() + long
    assert some.skew == pytest.approx(skew, rel=1e-10)
    # The columns are exact eigenvectors: their residuals are 0, but for rounding.
    leak = np.sqrt(1 + skew) * np.sqrt(2) * np.linalg.norm(some.rounded)
    assert some.leak == pytest.approx(leak, rel=1e-10)


def test_images_that_are_not_exact_only_turn_the_basis(monkeypatch):
    """A large dense matrix: wrong images may not stand in for the product."""
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=3)
    problem = TraceProblem(np.diag([1.0, 2.0, 4.0, 8.0]), count=2)
    V = np.eye(4)[:, :2]
    some = trials.trial(problem, V, AV=problem.A @ V * 1.5)
    np.testing.assert_allclose(some.h, [1.0, 2.0], rtol=1e-12)
    assert (some.squares < 1e-20).all()


# ---- Temple's loss


def test_room_above_the_values_is_what_two_roundings_leave(monkeypatch):
    unit = 2.0**-6
    patched(monkeypatch, UNIT_ROUNDOFF=unit, UP=1.0)
    for h, height in ((1.0, 3.0), (-4.0, -2.0)):
        room = 2 * (1 - 4 * unit) - 2 * unit * abs(h)
        loss, _ = temple_loss(plain_trial([h], [0.25]), height)
        assert loss == pytest.approx(0.25 / room, rel=1e-12)


def test_values_at_their_floor_prove_what_the_complement_says():
    """The floor of a whole space at the last value itself: its count may hold V or not."""
    answer = plain_trial([1.0, 2.0], n=4)
    for proof, known in (("inertia", False), ("norm", True), ("Cholesky", True), ("random", True)):
        found = bracket(answer, None, SpectralFloor(2, 2.0, proof, seen=2))
        assert np.isfinite(found.lower) == known


# ---- floors


def test_a_deflated_norm_is_charged_against_the_norm(coarsely, monkeypatch):
    """Exact directions of a diagonal matrix: what is left is the price of rounding."""
    n, unit = 8, 2.0**-20
    patched(monkeypatch, UNIT_ROUNDOFF=unit)
    values = np.array([32.0, 16.0, -8.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    problem = TraceProblem(np.diag(values), count=1, sense="max")
    for name in ("KRYLOV_BLOCK", "KRYLOV_DEPTH"):
        monkeypatch.setattr(completeness, name, 1)
    W = np.eye(n)[:, 1:3]
    monkeypatch.setattr(completeness, "_krylov_complement", lambda *_: (W, problem.A @ W))
    found = completeness.deflated_norm_floor(problem, plain_trial([-32.0], n=n))

    def g(k):
        return k * unit / (1 - k * unit)

    square = problem.square_norm
    off = np.sqrt(square) * (3 * 3 * g(n + 4) + g(n + 4 * 2 + 8)) * np.sqrt(2)
    left = completeness._norm_left(problem, plain_trial([-32.0], n=n))
    best = np.inf
    for k in (1, 2):
        inside = np.array([16.0, 8.0])[:k] - off
        far = np.sqrt(left - inside @ inside + 8 * unit * square)
        near = 16.0 + off
        best = min(best, (near + far) / 2 + np.hypot((near - far) / 2, off))
    assert -found.height == pytest.approx(best, rel=1e-13)


def test_cholesky_is_charged_for_its_trace_and_for_the_shift(coarsely):
    A, n = np.diag([-5.0, 1.0, 2.0, 3.0]), 4
    problem, answer = TraceProblem(A, count=2), plain_trial([-5.0, 1.0], n=4)
    found = cholesky_floor(problem, answer, 2, 1.5, 0.0)
    lift = 2 * (5.0 + 1.5)  # twice the largest value and the height: all becomes positive
    assert found.seen == 2
    diagonal = np.array([-6.5 + lift, -0.5 + lift, 0.5, 1.5])
    slack = U * (4 * (n + 2) * diagonal.sum() + 8 * (2 * np.linalg.norm(A) + 1.5 * 2))
    slack += gamma(2 + 4) * 2 * lift
    slack -= U * 8 * (np.linalg.norm(A) - rounding.norm_bound(problem))
    assert found.error == pytest.approx(slack, rel=1e-9)


def test_lifted_directions_are_charged_for_their_square_and_excluded_ones_for_their_image(
    coarsely,
):
    problem, lift = small("dense", "diagonal"), 40.0
    BN = problem.metric.times(problem.trivial) * np.sqrt(lift)
    length = np.linalg.norm(BN)
    wrong = np.sqrt(lift) * 2 * U * np.linalg.norm(problem.metric.times(problem.trivial))
    wrong += 4 * U * length
    total = gamma(1 + 4) * length**2 + wrong * (2 * length + wrong)
    assert completeness._lift_rounding(problem, BN, lift) == pytest.approx(total, rel=1e-10)


def test_a_sharper_count_holds_sixteen_units_below_its_height():
    problem = TraceProblem(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0])), count=1)
    for height in (2.0, 4.0):
        found = inertia_floor(problem, int(height) // 2, height, None).sharper()
        assert found.height == height - 16 * rounding.UNIT_ROUNDOFF * height
    turned = TraceProblem(Gramian(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0]))), count=1)
    found = singular.singular_floor(turned, 1, 4.0).sharper()
    assert found.height == 4.0 * (1 - 16 * rounding.UNIT_ROUNDOFF)


def test_excluded_values_near_the_height_spoil_a_count():
    """Up to the height and twice what it was lowered by: rounding moves either way."""
    problem = TraceProblem(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0])), count=1)
    factor = SimpleNamespace(zero=0, negative=2)
    for value, seen in ((1.5, 1), (1.75, None), (2.5, None), (2.51, 2), (2.7, 2)):
        excluded = plain_trial([value], n=4)
        found = completeness._counted_floor(problem, 1, 2.0, excluded, factor, 1.75)
        assert found.seen == seen, value


def test_filled_counts_are_charged_below_0_as_above(coarsely):
    A = np.diag([-4.0, -2.0, 1.0, 2.0])
    answer = plain_trial([-4.0], n=4)
    problem = TraceProblem(A, count=1)
    height, off = -3.0, np.zeros(4)
    S = np.abs(np.diagonal(A) - height)
    off = gamma(2 * 4 + 6) * S + U * S  # LDLᵀ, measured, and its product
    off += 4 * U * (np.abs(np.diagonal(A)) + 3.0)
    found = pivot_floor(problem, answer, 1, height, 0.0)
    assert height - found.height == pytest.approx(off.max(), rel=1e-9)


def test_a_factorisation_with_room_begins_with_twice_its_errors(coarsely, monkeypatch):
    problem = TraceProblem(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0])), count=1)
    pencil, seen = completeness.shifted_matrices(problem), []
    matrix = pencil.at(2.0)
    factor = completeness.factorise(matrix, pencil.ordering)
    real = completeness.factorise
    monkeypatch.setattr(completeness, "factorise", lambda S, o: (seen.append(S), real(S, o))[1])
    completeness.factor_with_room(problem, factor, matrix, 2.0)
    formed = completeness._shift_rounding(problem, matrix, 2.0)
    room = matrix.diagonal() - seen[0].diagonal()
    np.testing.assert_allclose(room, 2 * (factor.row_errors + formed), rtol=1e-6)


# ---- pivots


def test_products_of_pivots_are_charged_by_their_length(coarsely):
    S = np.array([[4.0, 2.0, 0.0], [2.0, 5.0, 2.0], [0.0, 2.0, 5.0]])
    negative, off = pivots.dense_inertia(S)
    assert negative == 0
    L = np.array([[1.0, 0, 0], [0.5, 1.0, 0], [0, 0.5, 1.0]])
    size = L @ np.diag([4.0, 4.0, 4.0]) @ L.T
    np.testing.assert_allclose(off, gamma(2 * 3 + 6) * size + U * S, **EQUAL)


def test_a_form_is_proved_where_errors_hold_twice_the_rounding(coarsely):
    n, size = 3, 8.0
    T = size * np.eye(n)
    least = 0.0
    for _ in range(60):  # the least errors that are more than twice their own rounding
        rounded = (n * gamma(n + 4) + 8 * U) * (size - least) + 4 * U * size
        least = 2 * rounded
    assert pivots.form_bound(T, np.full(n, least * (1 + 1e-9)))
    assert not pivots.form_bound(T, np.full(n, least * (1 - 1e-9)))


# ---- bases and metrics


def test_a_constant_stays_constant_in_any_weights():
    basis, off = metric.orthonormal_span(
        np.ones((4, 1)), metric.Diagonal(np.array([1.0, 2, 64, 3]))
    )
    assert np.ptp(basis) == 0 == off
    pair = np.array([[1.0, 1], [1, 1], [1, -1], [1, -1]])
    basis, off = metric.orthonormal_span(pair, metric.Identity(4))
    np.testing.assert_array_equal(basis, pair / 2)  # mixed only: every step is exact
    one = np.array([[1.0], [0.0]])
    _, off = metric.orthonormal_span(one, metric.Identity(2))
    assert off == pytest.approx(7 * 2 * rounding.UNIT_ROUNDOFF * (1 + 1e-8), rel=1e-9, abs=0.0)


def test_the_least_eigenvalue_of_a_metric_is_tried_at_shares_of_a_guess(monkeypatch):
    B = metric.Sparse(sp.csr_array(np.diag([2.0, 4.0, 8.0])))
    real, tried = metric.factorise, []

    def unsure(matrix, ordering):
        tried.append(2.0 - matrix.diagonal()[0])
        found = real(matrix, ordering)
        known = SimpleNamespace(negative=0, zero=0, backward_error=1e-6, solve=found.solve)
        known.negative = int(tried[-1] > 1e-3 and tried[-1] != 0)
        return known if tried[-1] else found

    monkeypatch.setattr(metric, "factorise", unsure)
    assert B.lowest == pytest.approx(2e-4 - 1e-6, rel=1e-5)
    np.testing.assert_allclose(tried[1:], [1.0, 0.2, 2e-2, 2e-4], rtol=1e-5)
