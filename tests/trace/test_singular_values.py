"""Certificates by singular values of a factor hold what their theorem asks for, rounding included.

Most are held in an arithmetic with a coarse unit (`tests/proofs/coarse.py`); some are equal to
their formula, which is written out here beside the bound.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from tests.proofs.coarse import U, gamma, patched
from tests.trace.door import (
    ExcludedSpan,
    SpectralFloor,
    completeness,
    pivots,
    ritz_directions,
    rounding,
    singular_bracket,
    temple_loss,
)
from tests.trace.door import singular_values as singular
from tests.trace.problems import (
    diagonal_factor,
    ramp_problem,
)


def test_counts_hold_above_the_square_of_what_is_null():
    M = sp.csr_array(np.diag([0.25, 2.0, 4.0]))
    turned = TraceProblem(Gramian(M), count=1, excluded=np.eye(3)[:, 0])
    assert singular.null_error(turned) == pytest.approx(0.5, rel=1e-5)
    factor = SimpleNamespace(zero=0, negative=5)
    for reached, known in ((0.2, False), (0.25, False), (0.3, True)):
        found = singular._counted_floor(turned, 1, 1.0, factor, reached)
        assert (found.seen is not None) == known
        assert isinstance(found, SpectralFloor)


def test_fewer_rows_than_directions_prove_nothing_but_that_values_are_not_negative():
    M = sp.csr_array(np.array([[1.0, 2.0, 0.0, 0.0]]))
    problem, V = TraceProblem(Gramian(M), count=2), np.eye(4)[:, :2]
    found = singular_bracket(problem, V, 0.0, V, SpectralFloor(2, 9.0, "inertia", seen=2))
    assert (found.lower, found.value) == (0.0, 5.0)
    assert found.apart >= 5.0
    assert found.value_blur < 1e-12
    low = singular_bracket(problem, V, 0.0, V, SpectralFloor(2, 0.0, "inertia", seen=2))
    assert low.lower == -np.inf
    few = singular_bracket(problem, V, 0.0, V[:, :1], SpectralFloor(2, 9.0, "inertia", seen=2))
    assert few.lower == -np.inf


def gramian_case(metric, excluded=True):
    problem = ramp_problem("gramian", metric, excluded=excluded)
    V = problem.without_excluded(np.random.default_rng(2).normal(size=(6, 2)))
    V = V @ np.linalg.inv(np.linalg.cholesky(V.T @ problem.metric.times(V))).T
    return problem, problem.A.factor.toarray(), V, problem.metric.sparse().toarray()


@pytest.mark.usefixtures("coarsely")
def test_long_rows_are_charged_in_the_products_from_either_side():
    """Columns of ±1, all but the first ten times as long: Mv is right, and Mᵀu cancels."""
    n = 64
    M = scipy.linalg.hadamard(n) * np.r_[1.0, np.full(n - 1, 10.0)]
    problem, v = TraceProblem(Gramian(sp.csr_array(M)), count=1), np.eye(n)[:, :1]
    pairs = singular._measured_pairs(problem, -(M @ v), v)
    assert pairs.h == pytest.approx(np.sqrt(n))
    across = np.linalg.norm(np.abs(M).T @ np.full(n, n**-0.5))
    least = np.hypot(gamma(n) * np.sqrt(n), gamma(n) * across) / np.sqrt(2)
    assert least <= pairs.rounded[0] <= 1.2 * least
    flat = TraceProblem(Gramian(sp.csr_array(8 * np.diff(np.eye(6), axis=0))), count=1)
    constant = np.full((6, 1), 6**-0.5)  # its image is 0, and only rounding is left
    size = np.linalg.norm(np.full(5, 16 * 6**-0.5))
    assert singular._value(flat, constant, 0.0)[1] >= (gamma(2) * size) ** 2


def bracket_of(problem, V, floor, off_span=0.0):
    own, _ = singular.ritz_directions(problem, V)
    return singular.singular_bracket(problem, own, off_span, own, floor)


@pytest.mark.usefixtures("coarsely")
def test_what_a_floor_proves_of_singular_values_in_a_coarse_arithmetic():
    """A diagonal factor: nothing is rounded in fact, so only the charges are seen."""
    M = np.diag([1.0, 2.0, 4.0, 8.0])
    problem = TraceProblem(Gramian(sp.csr_array(M)), count=2)
    V = np.eye(4)[:, :2]
    floor = completeness.SpectralFloor(2, 9.0, "inertia", seen=2, error=0.5)
    found = bracket_of(problem, V, floor)
    pairs = singular._measured_pairs(problem, -(M @ V), V)
    # Exact pairs: nothing leaks but what rounding may hide.
    assert pairs.skew >= singular._skew(problem, V) / 2 + gamma(4) * 2
    hidden = np.sqrt(2 * (1 + pairs.skew)) * np.linalg.norm(pairs.rounded)
    assert hidden * (1 - 1e-9) <= pairs.leak <= hidden * (1 + 1e-9)
    long = singular._measured_pairs(problem, -(M @ V), 1.25 * V)  # half of (u, v) is too long
    assert long.skew >= np.sqrt(2) * (1.25**2 - 1) / 2
    s = pairs.h - pairs.blur
    assert found.lower <= s @ s
    assert 4.5 <= found.lower <= 5.0
    assert found.value == 5.0
    assert found.apart == pytest.approx(5.0 + found.value_blur - found.lower)
    # One below 3: the other is there or further up; what the count is unsure of is rounding.
    few = bracket_of(problem, V, completeness.SpectralFloor(1, 3.0, "inertia", seen=1, error=0.5))
    assert 3.9 <= few.lower <= 1.0 + 3.0 * (1 - 8 * U)
    assert 0.5 + few.value_blur <= few.blurred <= 0.5 + few.value_blur + 0.1
    none = bracket_of(
        problem, V, completeness.SpectralFloor(0, 0.81, "inertia", seen=0, error=0.25)
    )
    assert 1.6 <= none.lower <= 2 * 0.81 * (1 - 8 * U)
    assert none.blurred == pytest.approx(0.5 + none.value_blur)
    # Excluded directions that are known to an error: so much of each value may be along them.
    span = ExcludedSpan(problem.excluded_columns, problem.excluded_basis, 0.0625)
    problem = replace(problem, excluded=span)
    assert found.lower - bracket_of(problem, V, floor).lower == pytest.approx(
        0.0625 * 2 * 9, rel=0.01
    )
    for wrong in (
        completeness.SpectralFloor(2, 9.0, "inertia", seen=3),
        completeness.SpectralFloor(2, 9.0, "inertia", seen=None),
        completeness.SpectralFloor(2, 0.0, "inertia", seen=2),
        completeness.SpectralFloor(3, 9.0, "inertia", seen=3),
    ):
        assert bracket_of(problem, V, wrong).lower == -np.inf


@pytest.mark.usefixtures("coarsely")
def test_a_value_is_charged_for_its_product_its_basis_and_its_span(monkeypatch):
    problem, M, V, B = gramian_case("diagonal")
    for aside, tiny in ((0.0, 0.0), (0.125, 0.0), (0.125, 0.25)):
        patched(monkeypatch, LENGTH_UNDERFLOW=tiny)
        value, blur = singular._value(problem, V, aside)
        length = np.linalg.norm(M @ V)
        assert value == pytest.approx(length**2, rel=1e-12)
        off = gamma(2 + 4) * np.linalg.norm(np.abs(M) @ np.abs(V))
        off += aside * singular.factor_norm(problem) + 2 * tiny
        BV = B @ V
        skew = np.linalg.norm(V.T @ BV - np.eye(2))
        skew += gamma(rounding.inner_depth(6)) * np.trace(np.abs(V).T @ np.abs(BV))
        skew += 2 * U * np.linalg.norm(BV, axis=0) @ np.linalg.norm(V, axis=0)
        assert singular._skew(problem, V) == pytest.approx(skew, rel=1e-10)
        wide = 2 * (skew + 3 * aside + gamma(rounding.inner_depth(5)))
        expected = (2 * length + off) * off + wide * (length + off) ** 2 + 2 * tiny
        assert blur == pytest.approx(expected, rel=1e-10)


@pytest.mark.usefixtures("coarsely")
def test_excluded_directions_are_charged_for_their_images():
    problem, M, V, B = gramian_case("diagonal")
    N = problem.excluded_basis
    sizes = np.linalg.norm(M @ N) + gamma(2 + 2) * np.linalg.norm(np.abs(M) @ np.abs(N))
    assert singular.null_error(problem) == pytest.approx(2 * sizes, rel=1e-12)
    BV = B @ (V + 0.25 * N)
    stray = np.linalg.norm(N.T @ BV)
    stray += gamma(rounding.inner_depth(6)) * np.linalg.norm(np.abs(N).T @ np.abs(BV))
    stray += np.linalg.norm(N) * np.linalg.norm(2 * U * np.linalg.norm(BV, axis=0))
    assert singular._stray(problem, V + 0.25 * N) == pytest.approx(stray, rel=1e-10)


@pytest.mark.usefixtures("coarsely")
def test_pairs_leak_what_their_residuals_and_their_products_do():
    """Any u, v, residuals and errors at all: the formulas of a trial of [[0, M], [Mᵀ, 0]]."""
    rng = np.random.default_rng(0)
    problem = diagonal_factor(1.0, 2.0, 4.0, 8.0)
    left, V = 1.25 * np.eye(4)[:, :2], np.eye(4)[:, :2]
    s, stray = np.array([1.0, 2.0]), 0.25
    R1, R2 = rng.normal(size=(2, 4, 2))
    wrong = rng.uniform(size=(2, 2))
    found = singular._as_trial(problem, (left, V, s), (R1, R2), tuple(wrong), stray)
    tall = gamma(2 * rounding.inner_depth(4))
    skew = np.linalg.norm(left.T @ left - np.eye(2)) / 2 + singular._skew(problem, V) / 2
    skew += tall * 2 + stray**2
    assert found.skew == pytest.approx(skew, rel=1e-12)
    lengths = np.sqrt(np.sum(R1**2 + R2**2, axis=0) / 2)
    rounded = np.hypot(*wrong) / np.sqrt(2)
    np.testing.assert_allclose(found.squares, (lengths + rounded) ** 2, rtol=1e-12)
    np.testing.assert_allclose(found.rounded, rounded, rtol=1e-12)
    leak = np.linalg.norm(left.T @ R1 + V.T @ R2) / 2
    leak += tall * np.sqrt(2) * (np.sqrt(2) + 2) * np.sqrt(np.sum(R1**2 + R2**2))
    leak += np.sqrt(2 * (1 + skew)) * np.linalg.norm(rounded) + stray * np.linalg.norm(lengths)
    assert found.leak == pytest.approx(leak, rel=1e-12)


@pytest.mark.usefixtures("coarsely")
def test_exact_pairs_are_charged_for_their_products():
    problem = diagonal_factor(1.0, 2.0, 4.0, 8.0)
    V, s = np.eye(4)[:, :2], np.array([1.0, 2.0])
    pairs = singular._measured_pairs(problem, -(problem.A.factor @ V), V)
    one = gamma(1 + 4) * s + 4 * U * s
    two = gamma(1 + 4) * s + s * (2 * U + 4 * U)  # Mᵀu with |Mᵀ||u| = s, and s·Bv
    # The kernel of two has entries of V alone: |Mᵀ| reaches u by its own row.
    np.testing.assert_allclose(pairs.rounded, np.hypot(one, two) / np.sqrt(2), rtol=1e-10)


@pytest.mark.usefixtures("coarsely")
@pytest.mark.parametrize(("below", "height"), [(2, 9.0), (1, 3.0), (0, 0.81)])
def test_what_a_floor_proves_is_charged_by_the_values_below_it(monkeypatch, below, height):
    problem, V = diagonal_factor(1.0, 2.0, 4.0, 8.0), np.eye(4)[:, :2]
    own, _ = singular.ritz_directions(problem, V)
    floor = SpectralFloor(below, height, "inertia", seen=below, error=0.5)
    top = np.sqrt(height) * (1 - 4 * U)
    lower = (2 - below) * top**2 * (1 - 8 * U)
    value, blur = singular._value(problem, own, 0.0)
    blurred = (2 - below) * 0.5 + blur
    if below:
        head = own[:, :below]
        pairs = singular._measured_pairs(problem, -(problem.A.factor @ head), head)
        lost, rounded = temple_loss(pairs, top)
        s = pairs.h - pairs.blur
        most = pairs.h[-1] + pairs.blur
        lower += (1 - 8 * U * below) * (s @ s) - 2 * most * lost
        blurred += 2 * most * (rounded + below * pairs.blur)
    for tiny in (0.0, 0.125):
        patched(monkeypatch, singular, LENGTH_UNDERFLOW=tiny)
        found = singular.singular_bracket(problem, own, 0.0, own, floor)
        assert found.lower == pytest.approx(lower - tiny, rel=1e-12)
        assert found.blurred == pytest.approx(blurred, rel=1e-12)
        assert found.apart == pytest.approx(value + blur - found.lower, rel=1e-12)


@pytest.mark.usefixtures("coarsely")
def test_filled_counts_of_pairs_are_charged_on_either_side():
    problem, eta = diagonal_factor(1.0, 2.0, 4.0), 3.0
    M = np.diag([1.0, 2.0, 4.0])
    S = np.block([[-eta * np.eye(3), M], [M, -eta * np.eye(3)]])
    errors = (pivots.dense_inertia(S)[1] + 2 * U * np.abs(S)).sum(axis=1)
    above = eta * (1 - 4 * U) - errors[:3].max()
    beneath = eta * (1 - 4 * U) - errors[3:].max()
    found = singular.dense_singular_floor(problem, 2, eta**2)
    assert found.height == pytest.approx(above * beneath * (1 - 8 * U), rel=1e-12)
    assert found.seen == 2
    assert found.error == pytest.approx(eta**2 - found.height, rel=1e-12)


def test_singular_values_are_for_null_vectors_only():
    M = sp.csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]))
    assert singular.uses_singular_values(
        TraceProblem(Gramian(M), count=1, excluded=np.ones((3, 1)))
    )
    other = TraceProblem(Gramian(M), count=1, excluded=np.eye(3)[:, :1])
    assert not singular.uses_singular_values(other)
    assert not singular.uses_singular_values(TraceProblem(Gramian(M), count=1, sense="max"))
    rng = np.random.default_rng(4)
    for _ in range(20):
        M = rng.normal(size=(4, 3)) * np.array([1.0, 10.0, 0.1])
        problem = TraceProblem(Gramian(sp.csr_array(M)), count=1)
        assert singular.factor_norm(problem) >= np.linalg.norm(M, 2)


def test_a_solve_makes_pairs_better():
    M = sp.csr_array(np.diag([1.0, 2.0, 50.0, 80.0]))
    problem = TraceProblem(Gramian(M), count=2)
    rough = np.linalg.qr(np.eye(4)[:, :2] + 1e-6 * np.random.default_rng(5).normal(size=(4, 2)))[0]
    floor = singular.dense_singular_floor(problem, 2, 100.0)
    plain = singular._measured_pairs(problem, -(M @ rough), rough)
    solved = singular._solved_pairs(problem, rough, floor.solve)
    assert (np.sqrt(solved.squares) < 0.1 * np.sqrt(plain.squares)).all()
    np.testing.assert_allclose(solved.h, [1.0, 2.0], rtol=1e-9)
    found = singular.singular_bracket(problem, rough, 0.0, rough, floor)
    assert 5.0 - 1e-8 <= found.lower <= 5.0
    # Without a solve the loss is of first order, and still taken off.
    bent = np.linalg.qr(np.eye(4)[:, :2] + 1e-2 * np.random.default_rng(6).normal(size=(4, 2)))[0]
    bent, _ = singular.ritz_directions(problem, bent)
    unsolved = SpectralFloor(2, floor.height, "inertia", seen=2)
    assert singular.singular_bracket(problem, bent, 0.0, bent, unsolved).lower <= 5.0


def test_fewer_rows_than_directions_map_some_to_nothing():
    M = sp.csr_array([[3.0, 4.0, 0.0]])
    stated = TraceProblem(Gramian(M), None, 2, "min")
    V, lengths = ritz_directions(stated, np.eye(3)[:, :2])
    np.testing.assert_allclose(lengths, [0.0, 5.0], atol=1e-14)
    np.testing.assert_allclose(np.abs(M @ V), [[0.0, 5.0]], atol=1e-14)
