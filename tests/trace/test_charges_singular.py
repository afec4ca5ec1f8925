"""What certificates by singular values charge for rounding, equal to its formula.

As in `test_charges_trace.py`, with a coarse unit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.metric import ExcludedSpan
from dualfold.trace.proof import dense_inertia as pivots
from dualfold.trace.proof import random_search as search
from dualfold.trace.proof import rounding
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.lehmann_bounds import temple_loss
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.sparse.ordering import fill_reducing_ordering
from tests.proofs.coarse import U, coarse, gamma, patched
from tests.trace.test_margins_singular import gramian_case


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    coarse(monkeypatch)


def diagonal_factor(*values, count=2):
    return TraceProblem(Gramian(sp.csr_array(np.diag(np.array(values)))), count=count)


def test_a_value_is_charged_for_its_product_its_basis_and_its_span(monkeypatch):
    problem, M, V, B = gramian_case("diagonal")
    for aside, tiny in ((0.0, 0.0), (0.125, 0.0), (0.125, 0.25)):
        patched(monkeypatch, UNDERFLOW_BOUND=tiny)
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


def test_excluded_directions_are_charged_for_their_images():
    problem, M, V, B = gramian_case("diagonal")
    N = problem.trivial
    sizes = np.linalg.norm(M @ N) + gamma(2 + 2) * np.linalg.norm(np.abs(M) @ np.abs(N))
    assert singular.null_error(problem) == pytest.approx(2 * sizes, rel=1e-12)
    BV = B @ (V + 0.25 * N)
    stray = np.linalg.norm(N.T @ BV)
    stray += gamma(rounding.inner_depth(6)) * np.linalg.norm(np.abs(N).T @ np.abs(BV))
    stray += np.linalg.norm(N) * np.linalg.norm(2 * U * np.linalg.norm(BV, axis=0))
    assert singular._stray(problem, V + 0.25 * N) == pytest.approx(stray, rel=1e-10)


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


def test_exact_pairs_are_charged_for_their_products():
    problem = diagonal_factor(1.0, 2.0, 4.0, 8.0)
    V, s = np.eye(4)[:, :2], np.array([1.0, 2.0])
    pairs = singular._measured_pairs(problem, -(problem.A.factor @ V), V)
    one = gamma(1 + 4) * s + 4 * U * s
    two = gamma(1 + 4) * s + s * (2 * U + 4 * U)  # Mᵀu with |Mᵀ||u| = s, and s·Bv
    # The kernel of two has entries of V alone: |Mᵀ| reaches u by its own row.
    np.testing.assert_allclose(pairs.rounded, np.hypot(one, two) / np.sqrt(2), rtol=1e-10)


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
        monkeypatch.setattr(singular, "UNDERFLOW_BOUND", tiny)
        found = singular.singular_bracket(problem, own, 0.0, own, floor)
        assert found.lower == pytest.approx(lower - tiny, rel=1e-12)
        assert found.blurred == pytest.approx(blurred, rel=1e-12)
        assert found.apart == pytest.approx(value + blur - found.lower, rel=1e-12)


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


# ---- random searches, and sums that underflow


def test_random_floors_lie_as_low_as_their_chance_asks():
    """ε/(1 − 2ε) of the spread, √ε = log(2·1.648·√n·looks/chance)/(2·steps − 1)."""
    n, steps = 100, 60
    unlikely = np.log(2 * 1.648 * np.sqrt(n) * len(search.CHECKPOINT_STEPS) / search.MISS_CHANCE)
    epsilon = (unlikely / (2 * steps - 1)) ** 2
    assert epsilon < 0.5
    found = search._height(n, 1.0, 5.0, steps)
    assert found == pytest.approx(1.0 - epsilon / (1 - 2 * epsilon) * 4.0, rel=1e-12)
    assert search._height(n, 1.0, 5.0, 2) == -np.inf


def test_random_searches_are_charged_by_the_condition_of_the_metric(monkeypatch):
    scale, A = 8.0, np.diag([1.0, 2.0, 3.0])
    monkeypatch.setattr(search, "UNDERFLOW_BOUND", 0.5)
    monkeypatch.setattr(TraceProblem, "asymmetry", 0.25)
    for B, condition, lowest in ((None, 4.0, 1.0), (np.diag([1.0, 2, 4]) + 0.0, 8.0, None)):
        problem = TraceProblem(A, B, count=1)
        low = problem.metric.lowest if lowest is None else lowest
        condition = condition if lowest else 4 + 4 / low
        expected = 64 * U * condition * scale + 0.75 / low
        assert search._blur(problem, scale) == pytest.approx(expected, rel=1e-12)
    span = ExcludedSpan(np.zeros((3, 0)), np.zeros((3, 0)), 0.125)
    problem = replace(problem, excluded=span)
    assert search._blur(problem, scale) == pytest.approx(expected + 4 * 0.125 * scale, rel=1e-12)


def test_factors_of_tiny_numbers_are_charged_for_what_underflows():
    A = 2.0**-1000 * np.array([[4.0, 2.0, 2.0], [2.0, 5.0, 2.0], [2.0, 2.0, 5.0]])
    matrix = sp.csr_array(A)
    errors = factorise(matrix, fill_reducing_ordering(matrix)).row_errors
    # Five terms in the last row, each lost in a product with an entry of L, the largest of which
    # is at least 1 (the diagonal).
    assert errors.min() >= 3 * 2.0**-1022 * 5
