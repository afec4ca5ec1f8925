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

from dualfold.games import EasiestBend, Spectrahedron, structured_sets, unfolding_dual
from dualfold.games import intervals as sure_numbers
from dualfold.games.intervals import (
    ExactMatrix,
    Interval,
    dot,
    gram_interval,
    least_eigenvalue,
    length,
)
from tests.proofs.coarse import patched

COARSE = 2.0**-8  # twice the unit of this arithmetic


def gamma(k, unit=COARSE / 2):
    return k * unit / (1 - k * unit)


# ---- numbers with a bound of their error (games/intervals.py)


def wide(n, seed):
    rng = np.random.default_rng(seed)
    return Interval(rng.normal(size=n), rng.uniform(4.0, 8.0, size=n))  # wider than they are long


@pytest.mark.parametrize("n", [1, 2, 3, 16])
def test_sums_of_coarse_numbers_hold_their_rounding(monkeypatch, n):
    patched(monkeypatch, sure_numbers, EPS=COARSE, BOUND_GROWTH=1.0, UNDERFLOW_BOUND=0.0)
    a, b, M = wide(n, 1), wide(n, 2), np.random.default_rng(3).normal(size=(2, n))
    x, y = np.abs(a.mid), np.abs(b.mid)
    # The bound is a computed sum itself: it may have come out smaller by γ of it.
    least = (a.off.sum() + gamma(n - 1) * x.sum()) / (1 - gamma(n))
    assert a.sum().off >= least
    assert a.sum().off <= 2 * least + 6 * COARSE * x.sum()
    held = x @ b.off + a.off @ (y + b.off)
    assert dot(a, b).off >= (held + gamma(n) * (x @ y)) / (1 - gamma(n))
    assert dot(Interval(a.mid), Interval(b.mid)).off >= gamma(n) * (x @ y) / (1 - gamma(n))
    for matrix in (ExactMatrix(M), Interval(M), Interval(M, 200.0 + 0.0 * M)):
        spread = matrix.off if isinstance(matrix, Interval) and np.ndim(matrix.off) else 0.0 * M
        least = np.abs(M) @ a.off + spread @ (x + a.off) + gamma(n) * (np.abs(M) @ x)
        found = (matrix @ a).off
        assert (found >= least / (1 - gamma(n))).all()
        assert (found <= 2 * least + 8 * COARSE * (np.abs(M) @ (x + a.off))).all()
    over = np.linalg.norm(x + a.off)
    assert over / (1 - gamma(n)) <= length(a) <= over * (1 + (n + 9) * COARSE)


def test_each_operation_grows_by_the_factor_that_covers_its_own_rounding(monkeypatch):
    grown = 1.25
    patched(monkeypatch, sure_numbers, EPS=0.0, BOUND_GROWTH=grown, UNDERFLOW_BOUND=0.0)
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
        (ExactMatrix(np.ones((1, n))) @ v, v.off.sum()),
        (
            Interval(np.ones((1, n)), 0.5 * np.ones((1, n))) @ v,
            v.off.sum() + 0.5 * (x + v.off).sum(),
        ),
    ):
        assert grown * least * (1 - 1e-12) <= found.off <= grown**2 * least * (1 + 1e-12)
    assert length(v) == pytest.approx(grown * np.linalg.norm(x + v.off))


def test_products_and_quotients_of_coarse_numbers_hold_their_rounding(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, BOUND_GROWTH=1.0, UNDERFLOW_BOUND=0.0)
    a, b = Interval(3.0), Interval(-2.0)
    for found, size in ((a + b, 1.0), (a - b, 5.0), (a * b, 6.0), (a / b, 1.5)):
        assert COARSE / 2 * size <= found.off <= COARSE * size * (1 + 1e-12)


# ---- least eigenvalues and curvature


def test_least_eigenvalues_pay_for_their_factorisation(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, UNDERFLOW_BOUND=0.0)
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
    patched(monkeypatch, unfolding_dual, EPS=COARSE, UNDERFLOW_BOUND=0.0)
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
