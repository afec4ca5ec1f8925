"""Bounds of rounding hold what their theorems ask for: products, residuals, trials, brackets.

Most are held in an arithmetic with a coarse unit (`tests/proofs/coarse.py`), where a margin that is
too small is seen; some are equal to their formula, which is written out here beside the bound.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.trace import TraceProblem
from tests.proofs.coarse import U, gamma, patched
from tests.trace.door import (
    DenseMetric,
    ExcludedSpan,
    SpectralFloor,
    Trial,
    _below_the_last,
    bracket,
    dual_lengths,
    norm_bound,
    product_errors,
    rounding,
    temple_loss,
)
from tests.trace.door import singular_values as singular
from tests.trace.door import trial_directions as trials
from tests.trace.problems import METRICS, columns, lengths, path_problem, plain_trial


def test_the_guess_of_an_operators_norm_is_above_it():
    A = np.diag(np.r_[-7.0, np.linspace(-1, 5, 19)])
    for scale in (2.0**-20, 1.0, 2.0**20):
        wide = scale * A
        operator = LinearOperator(A.shape, matmat=wide.dot, matvec=wide.dot, dtype=float)
        found = norm_bound(TraceProblem(operator, count=1))
        assert 7 * scale <= found <= 1.5 * 7 * scale * (1 + 1e-12)
        V = np.eye(20)[:, :2]
        errors = product_errors(TraceProblem(operator, count=1), V)
        assert (errors >= 1e-13 * 7 * scale).all()
        assert (errors <= 1e-12 * 7 * scale).all()


def worst_loss(h, height, square, skew, leak):
    """The most that the formula of `bounds.py` can be for one direction with these bounds."""
    found = []
    for E, K in itertools.product(np.linspace(-skew, skew, 9), np.linspace(-leak, leak, 9)):
        P = height - h
        F = E * P - K
        found.append(F / (P + F) * K - E / (1 + E) * K + square / (P + F))
    return max(found)


@pytest.mark.parametrize("skew", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("leak", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("square", [0.0, 0.25])
def test_the_loss_of_one_direction_is_not_below_its_worst_case(skew, leak, square):
    for h, height in ((1.0, 3.0), (-4.0, -2.0)):
        some = Trial(np.eye(1), np.array([h]), np.array([square]), np.array([0.1]), skew, leak)
        loss, rounded = temple_loss(some, height)
        worst = worst_loss(h, height, square, skew, leak)
        assert loss >= worst
        coupled = skew + leak / 2  # ≥ |F|/P, term by term of the formula
        second = skew * leak / (1 - skew) + coupled / (1 - coupled) * leak
        assert loss == pytest.approx(second + square / 2 / (1 - coupled), rel=1e-5)
        assert rounded == pytest.approx(second + 4 * 0.01 / 2 / (1 - coupled), rel=1e-5)


def blurred(count, skew=0.1, leak=0.05):
    h = np.array([1.0, 2.0, 2.5, 4.0])[:count]
    squares = 0.01 * np.arange(1.0, count + 1)
    return Trial(np.eye(4)[:, :count], h, squares, 0.01 * np.ones(count), skew, leak)


def test_every_doubt_makes_a_bracket_wider(coarsely):
    """By as much as the inequality says: the exact Ritz values lie within leak/(1 − skew)."""
    d = 3
    answer, off = blurred(d), 0.05 / 0.9
    total = 5.5 - np.sqrt(d) * off - gamma(d - 1) * 5.5
    whole = bracket(answer, None, SpectralFloor(3, 3.0, "inertia", seen=3))
    lost, rounded = temple_loss(answer, 3.0)
    assert whole.lower <= total - lost
    assert whole.lower >= 5.5 - 1.01 * np.sqrt(d) * off - d * U * 5.5 - lost
    assert (whole.apart, whole.blurred, whole.value) == (lost, rounded, 5.5)
    assert answer.total_blur >= 5.5 - total
    # Two lie below 2.2, with their own doubts; the third is there or higher.
    few = bracket(answer, None, SpectralFloor(2, 2.2, "inertia", seen=2, error=0.125))
    head = answer.first(2)
    lost, rounded = temple_loss(head, 2.2)
    lower = 3.0 - np.sqrt(2) * off - gamma(1) * 3.0 - lost + 2.2 - gamma(2) * 2.2
    assert lower - 40 * U <= few.lower <= lower
    assert few.apart == pytest.approx(5.5 + answer.total_blur - few.lower)
    doubts = rounded + answer.total_blur + head.total_blur + 0.125
    assert few.blurred == pytest.approx(doubts)
    # None lies below 1/4: all three are there or higher. A product of it, and a difference.
    none = bracket(answer, None, SpectralFloor(0, 0.25, "inertia", seen=0))
    assert 0.75 * (1 - 8 * U) <= none.lower <= 0.75 * (1 - U)
    # A fourth direction, further up, helps to bound the first three.
    more = blurred(4)
    wide = bracket(answer, more, SpectralFloor(4, 5.0, "inertia", seen=4))
    lost, rounded = temple_loss(more, 5.0)
    assert wide.lower == pytest.approx(5.5 - d * off - lost)
    assert wide.apart == pytest.approx(5.5 + answer.total_blur - wide.lower)
    assert wide.blurred == pytest.approx(rounded + d * off + answer.total_blur)
    # A floor of the complement below the last value: all move by the length of the residuals.
    under = _below_the_last(answer, 2.2)
    moved = d * np.sqrt(answer.squares.sum()) / 0.9
    assert under.lower == pytest.approx(1.0 + 2.0 + 2.2 - moved - answer.total_blur)
    assert under.blurred == answer.total_blur
    assert _below_the_last(blurred(d, skew=0.5), 2.2).lower == -np.inf


@pytest.mark.parametrize("metric", [None, "diagonal", "dense", "sparse"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "gramian"])
def test_sums_of_bounds_grow_by_the_factor_for_their_own_rounding(monkeypatch, kind, metric):
    problem, whole = path_problem(kind, metric), path_problem("gramian", metric, excluded=False)
    V = columns(problem)
    BV, h, R = problem.metric.times(V), np.array([0.5, -3.0]), V + 0.5

    def told():
        yield rounding.column_norms(V)
        yield rounding.norm_bound(problem)
        yield rounding.product_errors(problem, V)
        yield rounding.squares_in_metric(problem, V)
        yield rounding.dual_lengths(problem, R, np.zeros(2))
        yield trials._residual_errors(problem, V, BV, h, 2.0)
        yield trials.span_error(problem, V, V + 0.125)
        some = trials.trial(problem, V + 0.125, 2.0)
        yield from (some.squares, some.skew, some.leak)
        yield from (
            singular.null_error(path_problem("gramian", metric)),
            singular.factor_norm(whole),
        )
        yield from (singular._value(whole, V, 0.0)[1], singular._skew(whole, V))
        yield singular._stray(problem, V + 0.125)
        pairs = singular._measured_pairs(whole, -(whole.A.factor @ V), V)
        yield from (pairs.squares, pairs.rounded, pairs.skew, pairs.leak)

    for most in (1_000, 3):  # a large dense matrix has ways of its own
        patched(monkeypatch, MAX_ABSOLUTE_ROWS=most, UP=1.0)
        before = list(told())
        patched(monkeypatch, UP=1.25)
        for a, b in zip(before, told(), strict=True):
            assert (np.asarray(b) >= 1.2 * np.asarray(a)).all()
        sizes = rounding.norm_bound(problem) * rounding.column_norms(V)
        if kind == "dense" and most == 3:
            least = 1.25 * rounding.gamma(5 + 4) * sizes
            assert (rounding.product_errors(problem, V) >= least * (1 - 1e-12)).all()


def test_the_factor_for_the_rounding_of_bounds_widens_them(monkeypatch):
    answer = blurred(3)
    floors = [SpectralFloor(3, 3.0, "inertia", seen=3), SpectralFloor(2, 2.2, "inertia", seen=2)]
    floors.append(SpectralFloor(3, 2.2, "norm", seen=3))

    def told():
        yield from (-bracket(answer, None, floor).lower for floor in floors)
        yield from (bracket(answer, None, floor).gap for floor in floors[:2])
        yield from (answer.blur, answer.total_blur, *temple_loss(answer, 3.0))

    before = list(told())
    patched(monkeypatch, UP=1.25)
    assert all(b > a for a, b in zip(before, told(), strict=True))


@pytest.mark.parametrize("metric", METRICS)
def test_large_dense_matrices_pay_for_turning_their_images(coarsely, monkeypatch, metric):
    problem = path_problem("dense", metric)
    V, h = columns(problem), np.array([0.5, 0.25])
    BV = problem.metric.times(V)
    before = trials._residual_errors(problem, V, BV, h, 0.0)
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=3)
    norm = np.linalg.norm(problem.A)
    # Both columns of A·V are mixed by an orthogonal matrix, each entry of two products.
    least = np.sqrt(2) * (gamma(5) * norm * lengths(V) + 2 * gamma(2) * norm)
    found = trials._residual_errors(problem, V, BV, h, 0.0)
    assert (found >= np.maximum(least, before / 3)).all()
    assert (found <= 4 * least + before).all()


@pytest.mark.parametrize("metric", METRICS)
def test_a_basis_pays_for_how_far_it_is_off_the_span(coarsely, metric):
    problem = path_problem("dense", metric)
    given = columns(problem)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    B = np.abs(problem.metric.sparse().toarray())

    def norm(X):
        return np.sqrt(np.einsum("ij,ik,kj->", np.abs(X), B, np.abs(X)))

    rounded = gamma(2) * (np.abs(given) @ np.abs(turn))
    away = np.zeros((5, 2))
    away[2] = 0.01, -0.02
    stray = np.linalg.norm(problem.excluded_basis.T @ problem.metric.times(given @ turn + away))
    for off in (0.0 * away, away):
        found = trials.span_error(problem, given, given @ turn + off)
        left = problem.without_excluded(off - given @ np.linalg.lstsq(given, off, rcond=None)[0])
        least = norm(np.abs(left) + rounded) + 2 * stray * bool(off.any())
        assert found >= least
        assert found <= 4 * least + 30 * U * np.linalg.norm(B) + 2.1 * stray
    whole = path_problem("dense", metric, excluded=False)
    axes = np.eye(5)[:, :2]  # turned by zeros and ones: nothing is rounded
    assert trials.span_error(whole, axes, axes[:, ::-1] * [1.0, -1.0]) == 0.0
    span = ExcludedSpan(problem.excluded_columns, problem.excluded_basis, 3.0)  # N is known to 3.0
    problem = replace(problem, excluded=span)
    assert trials.span_error(problem, given, given) >= 2 * 3.0


EQUAL = {"rtol": 1e-10}


def test_rows_without_entries_have_no_terms():
    assert rounding.longest_row(sp.csr_array((3, 3))) == 0
    assert rounding.longest_row(sp.csr_array((0, 3))) == 0
    assert rounding.longest_row(sp.csr_array(np.diag([0.0, 1.0, 0.0]))) == 1


def test_products_are_charged_by_their_longest_row(coarsely, monkeypatch):
    sparse, V = path_problem("sparse"), columns(path_problem("sparse"))
    size = np.abs(sparse.A.toarray())
    assert (
        np.linalg.norm(size, 2) * (1 - 1e-12) <= norm_bound(sparse) <= 2 * np.linalg.norm(size, 2)
    )
    found = rounding.product_errors(sparse, V)
    np.testing.assert_allclose(found, gamma(3 + 4) * lengths(size @ np.abs(V)), **EQUAL)
    dense = path_problem("dense")
    found = rounding.product_errors(dense, V)
    np.testing.assert_allclose(found, gamma(5 + 4) * lengths(size @ np.abs(V)), **EQUAL)
    turned = path_problem("gramian")
    M = np.abs(turned.A.factor.toarray())
    np.testing.assert_allclose(
        rounding.product_errors(turned, V),
        gamma(2 + 2 + 4) * lengths(M.T @ (M @ np.abs(V))),
        **EQUAL,
    )
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=5, LENGTH_UNDERFLOW=0.25)  # up to and with so many rows
    np.testing.assert_allclose(rounding.product_errors(dense, V), found + 0.25, **EQUAL)
    patched(monkeypatch, MAX_ABSOLUTE_ROWS=4)
    norm = rounding.norm_bound(dense)
    found = rounding.product_errors(dense, V)
    np.testing.assert_allclose(found, gamma(5 + 4) * norm * lengths(V) + 0.25, **EQUAL)


@pytest.mark.parametrize("lift", [0.0, 64.0])
def test_residuals_are_charged_for_their_products_and_the_lift(coarsely, monkeypatch, lift):
    problem, h = path_problem("dense", "diagonal"), np.array([0.5, -3.0])
    V, N = columns(problem), problem.excluded_basis
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
    problem = path_problem("dense", "diagonal")
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


def test_lengths_do_not_trust_a_solve(monkeypatch):
    """‖r‖ ≤ √(xᵀBx) + ‖r − Bx‖/√λ_min for any x, also a wrong one."""
    B = 2 * np.eye(4) + 0.5
    problem, R = TraceProblem(np.eye(4), B, count=1), np.random.default_rng(1).normal(size=(4, 2))
    truth = np.sqrt(np.einsum("ij,ij->j", R, np.linalg.solve(B, R)))

    class WrongSolve(DenseMetric):
        share = 1.0

        def solve(self, right):
            return self.share * super().solve(right)

    for share in (1.0, 0.5, 0.0):
        WrongSolve.share = share
        wrong = replace(problem, B=WrongSolve(B))
        assert (dual_lengths(wrong, R, np.zeros(2)) >= truth).all()
    unit = 2.0**-12
    patched(monkeypatch, rounding, UNIT_ROUNDOFF=unit, UP=1.0)
    x = np.linalg.solve(B, R)
    products = 4 * unit * np.linalg.norm(np.abs(B) @ np.abs(x), axis=0)  # B·x may be off by that
    least = truth + (products + unit * np.linalg.norm(R, axis=0)) / np.sqrt(2.0)
    assert (dual_lengths(problem, R, np.zeros(2)) >= least).all()


def unit(n):
    return sp.eye_array(n, format="csr")


def problem(A, count=1, **more):
    return TraceProblem(np.asarray(A, dtype=float), None, count, "min", **more)


def test_the_norm_of_nothing_is_0():
    assert problem(np.zeros((4, 4))).norm_estimate == 0
