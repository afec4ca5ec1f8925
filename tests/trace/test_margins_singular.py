"""Singular values of a factor in a coarse arithmetic: what their certificates are charged for.

As in `test_margins.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.metric import ExcludedSpan
from dualfold.trace.proof import completeness
from dualfold.trace.proof import singular_values as singular
from tests.proofs.coarse import U, coarse, gamma
from tests.trace.test_margins_floors import METRICS, stated


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    coarse(monkeypatch)


def lengths(X):
    return np.linalg.norm(X, axis=0)


def gramian_case(metric, excluded=True):
    problem = stated("gramian", metric, excluded=excluded)
    V = problem.off_trivial(np.random.default_rng(2).normal(size=(6, 2)))
    V = V @ np.linalg.inv(np.linalg.cholesky(V.T @ problem.metric.times(V))).T
    return problem, problem.A.factor.toarray(), V, problem.metric.sparse().toarray()


TERMS = {None: 0, "diagonal": 1, "dense": 6, "sparse": 3}  # in a product with a row of B


@pytest.mark.parametrize("metric", METRICS)
def test_sums_over_factors_pay_for_their_products(metric):
    problem, M, V, B = gramian_case(metric)
    N = problem.trivial
    images, size = M @ V, np.abs(M)
    rounded = gamma(2) * np.linalg.norm(size @ np.abs(N), axis=0)
    least = np.linalg.norm(np.linalg.norm(M @ N, axis=0) + rounded)
    assert least <= singular.null_error(problem) <= 3 * least
    value, blur = singular._value(problem, V, 0.0)
    assert value == pytest.approx(np.sum(images**2))
    # ‖MV‖² with MV wrong by `off`, over a basis that is orthonormal to its skew.
    off, length = gamma(2) * np.linalg.norm(size @ np.abs(V)), np.linalg.norm(images)
    wide = gamma(TERMS[metric]) * np.linalg.norm(np.abs(B) @ np.abs(V), axis=0)
    skew = gamma(6) * np.trace(np.abs(V).T @ np.abs(B) @ np.abs(V)) + wide @ lengths(V)
    assert singular._skew(problem, V) >= skew
    least = 2 * length * off + off**2 + (skew + gamma(5)) * length**2
    assert blur >= least
    aside = 0.125  # the answer lies so far from the span of V
    off = aside * singular.factor_norm(problem)
    more = singular._value(problem, V, aside)[1]
    assert more >= 2 * length * off + off**2 + 3 * aside * length**2
    assert more <= 3 * ((length + off) ** 2 - length**2) + 8 * aside * (length + off) ** 2 + blur
    BV = np.abs(B @ V)
    stray = gamma(6) * np.linalg.norm(np.abs(N).T @ BV) + np.linalg.norm(N) * np.linalg.norm(wide)
    assert stray <= singular._stray(problem, V)
    assert singular._stray(problem, V + 0.25 * N) >= 0.35 + stray


@pytest.mark.parametrize("metric", METRICS)
def test_pairs_pay_for_both_of_their_products(metric):
    problem, M, V, B = gramian_case(metric)
    pairs = singular._measured_pairs(problem, -(M @ V), V)
    V = pairs.V
    U_ = M @ V / lengths(M @ V)
    s = np.einsum("ij,ij->j", U_, M @ V)
    np.testing.assert_allclose(pairs.h, s, rtol=1e-12)
    stray = singular._stray(problem, V)
    one = gamma(2) * lengths(np.abs(M) @ np.abs(V)) + U * s + singular.null_error(problem) * stray
    two = gamma(2) * lengths(np.abs(M).T @ np.abs(U_)) + s * (
        gamma(TERMS[metric]) * lengths(np.abs(B) @ np.abs(V)) + U * lengths(B @ V)
    )
    low = np.sqrt(np.linalg.eigvalsh(B)[-1])
    least = np.hypot(one, two / low) / np.sqrt(2)
    assert (pairs.rounded >= least).all()
    assert (pairs.rounded <= 8 * np.hypot(one, two / problem.metric.lowest**0.5)).all()
    R = M.T @ U_ - B @ V * s
    length = np.sqrt(np.einsum("ij,ij->j", R, np.linalg.solve(B, R)) / 2)
    assert (pairs.squares >= (length + pairs.rounded) ** 2 * (1 - 1e-9)).all()
    assert (pairs.squares <= (length * 1.01 + 3 * pairs.rounded) ** 2).all()
    skew = np.linalg.norm(U_.T @ U_ - np.eye(2)) / 2 + singular._skew(problem, V) / 2
    assert pairs.skew >= skew + gamma(6) * 2 + stray**2
    assert pairs.skew <= skew + 60 * U + stray**2
    spread = np.sqrt(2 * (1 + pairs.skew)) * np.linalg.norm(pairs.rounded)
    assert pairs.leak >= np.linalg.norm(V.T @ R) / 2 + spread + stray * np.linalg.norm(length)


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
    span = ExcludedSpan(problem.excluded_columns, problem.trivial, 0.0625)
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
