"""Margins for rounding, with a unit so large that none of them hides behind another.

In double precision most margins are far below what is rounded in fact, so a wrong sign in one of
them changes no verdict of any test. Here the unit, or the factor that covers the rounding of the
margins themselves, is made as large as 2⁻⁸ or 5/4. Then each bound must hold what its docstring
says: what computed sums and products could have been off by in such an arithmetic.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dualfold.kernels.arithmetic import intervals as sure_numbers
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    SizedMatrix,
    dot,
    gram_interval,
    least_eigenvalue,
    length,
    norm_interval,
)
from dualfold.theory.games import (
    EasiestBend,
    Linear,
    Spectrahedron,
    composites,
    losses,
    structured_sets,
    unfolding_dual,
)
from tests.proofs.coarse import patched

COARSE = 2.0**-8  # twice the unit of this arithmetic


def gamma(k, unit=COARSE / 2):
    return k * unit / (1 - k * unit)


# ---- numbers with a bound of their error (kernels/arithmetic/intervals.py)


def wide(n, seed):
    rng = np.random.default_rng(seed)
    return Interval(rng.normal(size=n), rng.uniform(4.0, 8.0, size=n))  # wider than they are long


@pytest.mark.parametrize("n", [1, 2, 3, 16])
def test_sums_of_coarse_numbers_hold_their_rounding(monkeypatch, n):
    patched(monkeypatch, sure_numbers, EPS=COARSE, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.0)
    a, b, M = wide(n, 1), wide(n, 2), np.random.default_rng(3).normal(size=(2, n))
    x, y = np.abs(a.mid), np.abs(b.mid)
    # The bound is a computed sum itself: it may have come out smaller by γ of it.
    least = (a.off.sum() + gamma(n - 1) * x.sum()) / (1 - gamma(n))
    assert a.sum().off >= least
    assert a.sum().off <= 2 * least + 6 * COARSE * x.sum()
    held = x @ b.off + a.off @ (y + b.off)
    assert dot(a, b).off >= (held + gamma(n) * (x @ y)) / (1 - gamma(n))
    assert dot(Interval(a.mid), Interval(b.mid)).off >= gamma(n) * (x @ y) / (1 - gamma(n))
    for matrix in (SizedMatrix(M), Interval(M), Interval(M, 200.0 + 0.0 * M)):
        spread = matrix.off if isinstance(matrix, Interval) and np.ndim(matrix.off) else 0.0 * M
        least = np.abs(M) @ a.off + spread @ (x + a.off) + gamma(n) * (np.abs(M) @ x)
        found = (matrix @ a).off
        assert (found >= least / (1 - gamma(n))).all()
        assert (found <= 2 * least + 8 * COARSE * (np.abs(M) @ (x + a.off))).all()
    over = np.linalg.norm(x + a.off)
    assert over / (1 - gamma(n)) <= length(a) <= over * (1 + (n + 9) * COARSE)


def test_each_operation_grows_by_the_factor_that_covers_its_own_rounding(monkeypatch):
    grown = 1.25
    patched(monkeypatch, sure_numbers, EPS=0.0, BOUND_GROWTH=grown, OPERATIONS_UNDERFLOW=0.0)
    a, b = Interval(3.0, 0.25), Interval(-2.0, 0.5)
    n, v, w = 3, wide(3, 4), wide(3, 5)
    x, y = np.abs(v.mid), np.abs(w.mid)
    for found, least in (
        (a + b, 0.75),
        (a - b, 0.75),
        (a * b, 0.5 * 3 + 0.25 * 2.5),
        (a / b, grown * (0.25 + 1.5 * 0.5) / 1.5),  # the room in the denominator shrinks as well
        (v.sum(), v.off.sum()),
        (dot(v, w), x @ w.off + v.off @ (y + w.off)),
        (SizedMatrix(np.ones((1, n))) @ v, v.off.sum()),
        (
            Interval(np.ones((1, n)), 0.5 * np.ones((1, n))) @ v,
            v.off.sum() + 0.5 * (x + v.off).sum(),
        ),
    ):
        assert grown * least * (1 - 1e-12) <= found.off <= grown**2 * least * (1 + 1e-12)
    assert length(v) == pytest.approx(grown * np.linalg.norm(x + v.off))


def test_products_and_quotients_of_coarse_numbers_hold_their_rounding(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.0)
    a, b = Interval(3.0), Interval(-2.0)
    for found, size in ((a + b, 1.0), (a - b, 5.0), (a * b, 6.0), (a / b, 1.5)):
        assert COARSE / 2 * size <= found.off <= COARSE * size * (1 + 1e-12)


# ---- least eigenvalues and curvature


def test_least_eigenvalues_pay_for_their_factorisation(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, OPERATIONS_UNDERFLOW=0.0)
    M = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.5]]) / 4
    n, least = 3, float(np.linalg.eigvalsh(M)[0])
    # Cholesky's factorisation of M − sI is right to γ_{n+1}·trace (Higham 10.3), its shift to u|s|.
    unit = COARSE / 2
    for estimate in (None, least - 0.125):
        found = least_eigenvalue(Interval(M), estimate)
        slack = gamma(n + 1) * np.trace(M - least * np.eye(n)) + unit * least
        below = 0.0 if estimate is None else 0.125
        assert least - below - 60 * slack <= found <= least - below - slack
    off = np.full((n, n), 0.01)  # any symmetric matrix within it
    assert least_eigenvalue(Interval(M)) - least_eigenvalue(Interval(M, off)) >= 0.03
    assert least_eigenvalue(Interval(np.diag([2.0, -1.0, 5.0]))) == -1.0
    rows = np.random.default_rng(1).normal(size=(40, 3))
    found = gram_interval(rows).off
    size = np.abs(rows).T @ np.abs(rows)
    assert (found >= gamma(40) * size).all()
    assert (found <= 12 * gamma(40) * size).all()


def test_a_matrix_that_is_not_factorised_has_its_circles():
    """Gershgorin, where an estimate was so wrong that nothing could be factorised."""
    M = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.5]])
    for scale in (2.0**-40, 1.0, 2.0**40):
        found = least_eigenvalue(Interval(scale * M), 100.0 * scale)
        assert scale * (1 - 100 * 2.0**-52) <= found <= scale * (1 - 3 * 2.0**-53)


def test_least_numbers_are_rounded_down():
    for number, slack in ((1.0, 2.0**-54), (1.0, 1e-30), (-1.0, 2.0**-54), (3.0, 0.1)):
        found = Fraction(sure_numbers._lower_difference(number, slack))
        assert found <= Fraction(number) - Fraction(slack)
        assert found >= Fraction(number) - Fraction(slack) - Fraction(2) ** -50
    assert sure_numbers._lower_difference(0.1, 0.0) == 0.1


def test_the_least_of_a_spectrahedron_is_between_its_bounds(monkeypatch):
    slope = np.array([[2.0, 1.0], [1.0, -1.0]])
    plain = Spectrahedron(2.0).minimum_interval(slope)
    patched(monkeypatch, structured_sets, EPS=0.25)
    assert Spectrahedron(2.0).minimum_interval(slope).off >= 1.9 * plain.off


def test_the_dual_of_unfolding_pays_for_its_sums(monkeypatch):
    edges = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])
    bend, x = EasiestBend(4, edges, np.array([1.0, 2.0, 1.0, 1.0, 0.5])), np.full(5, 0.2)
    plain = bend.value_interval(x)
    patched(monkeypatch, unfolding_dual, EPS=COARSE, OPERATIONS_UNDERFLOW=0.0)
    coarse = bend.value_interval(x)
    weights = x / bend.squared_lengths
    # Row i of the Laplacian adds up its weights, and each of them is a quotient.
    size = np.zeros((4, 4))
    np.add.at(size, (edges[:, 0], edges[:, 1]), weights)
    size = size + size.T + np.diag((size + size.T).sum(axis=1))
    lift = 2 * size.diagonal().max() / 4
    least = COARSE / 2 * np.linalg.norm(size + lift)
    assert 2 * (coarse.off - plain.off) >= least
    assert 2 * (coarse.off - plain.off) <= 40 * least
    assert np.isinf(bend.value_interval(x - 0.3).high())


def test_lengths_are_charged_by_their_entries(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.25)
    a = np.array([3.0, 4.0, 0.0])
    over = np.sqrt(25.0 + 3 * 0.25) * (1 + (3 + 8) * COARSE)
    assert length(a) == pytest.approx(over, rel=1e-12)
    found = norm_interval(a)
    assert found.mid == length(a)
    assert found.off == pytest.approx(over * ((4 * 3 + 128) * COARSE + 2.0**-46) + 0.5, rel=1e-12)
    patched(monkeypatch, sure_numbers, EPS=0.0, OPERATIONS_UNDERFLOW=0.0)
    assert norm_interval(a).off == 5 * 2.0**-46


def test_matrices_with_errors_are_charged_for_the_size_of_the_vector(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.0)
    M, x = (
        Interval(np.array([[2.0, -1.0]]), np.array([[0.5, 0.25]])),
        Interval(np.array([4.0, -8.0]), 1.0),
    )
    own = (np.array([[2.0, 1.0]]) @ (1.0 + 6 * COARSE * np.array([4.0, 8.0]))) * (1 + 4 * COARSE)
    more = np.array([[0.5, 0.25]]) @ (np.array([5.0, 9.0]) * (1 + 4 * COARSE))
    np.testing.assert_allclose((M @ x).off, own + more, rtol=1e-12)


def test_slopes_of_soft_maxima_are_charged_for_their_exponents(monkeypatch):
    patched(monkeypatch, losses, EPS=COARSE**2, LIBRARY_ERROR=2.0**-12, OPERATIONS_UNDERFLOW=0.0)
    patched(monkeypatch, sure_numbers, EPS=COARSE**2, BOUND_GROWTH=1.0, OPERATIONS_UNDERFLOW=0.0)
    x, width = np.array([0.0, -3.0, 1.0]), 2.0
    f = losses.LogSumExp(width)
    found = f.slope_interval(x)
    below = x / width - 0.5
    scaled = COARSE**2 * 1.5
    relative = 2 * scaled + 2 * COARSE**2 * np.abs(below) + 24 * COARSE**2 + 4 * 2.0**-12
    np.testing.assert_allclose(found.off, 2 * relative * found.mid, rtol=1e-9)


def test_sums_of_planes_are_charged_by_their_number(monkeypatch):
    patched(monkeypatch, composites, EPS=COARSE, OPERATIONS_UNDERFLOW=0.25)
    f = composites.Mixture(
        ((0.5, Linear(np.array([4.0, 0.0]))), (2.0, Linear(np.array([0.0, 1.0]))))
    )
    size = np.hypot(2.0, 2.0)
    assert f.plane(np.zeros(2)).slack == pytest.approx(4 * COARSE * size + 2 * 0.25, rel=1e-9)


def test_laplacians_are_charged_by_their_terms(monkeypatch):
    edges = np.array([[0, 1], [1, 2], [0, 1]])
    f = EasiestBend(3, edges, np.array([1.0, 2.0, 4.0]))
    seen, x = [], np.array([0.5, 0.25, 0.25])
    real = unfolding_dual.least_eigenvalue
    patched(monkeypatch, unfolding_dual, EPS=COARSE, OPERATIONS_UNDERFLOW=2.0**-10)
    monkeypatch.setattr(
        unfolding_dual, "least_eigenvalue", lambda M, at: (seen.append(M), real(M, at))[1]
    )
    f.value_interval(x)
    w = np.array([0.5 + 0.0625, 0.125])
    L = np.array([[w[0], -w[0], 0], [-w[0], w.sum(), -w[1]], [0, -w[1], w[1]]])
    lift = 2 * w.sum() / 3  # twice the largest row, over n: above every eigenvalue
    terms = 2 + 4 + 3 * np.eye(3)  # two edges lie side by side
    np.testing.assert_allclose(seen[0].mid, L + lift, rtol=1e-12)
    off = COARSE * (terms * np.abs(L) + 2 * lift) + 3 * 2.0**-10
    np.testing.assert_allclose(seen[0].off, off, rtol=1e-12)
