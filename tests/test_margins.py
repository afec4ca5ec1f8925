"""Margins for rounding, with a unit so large that none of them hides behind another.

In double precision most margins are far below what is rounded in fact, so a wrong sign in one of
them changes no verdict of any test. Here the unit, or the factor that covers the rounding of the
margins themselves, is made as large as 2⁻⁸ or 5/4. Then each bound must hold what its docstring
says: what computed sums and products could have been off by in such an arithmetic.
"""

from __future__ import annotations

import numpy as np
import pytest
from coarse import patched

from dualfold.games import sure as sure_numbers
from dualfold.games.sure import Fixed, Sure, dot, length

COARSE = 2.0**-8  # twice the unit of this arithmetic


def gamma(k, unit=COARSE / 2):
    return k * unit / (1 - k * unit)


# ---- numbers with a bound of their error (games/sure.py)


def wide(n, seed):
    rng = np.random.default_rng(seed)
    return Sure(rng.normal(size=n), rng.uniform(0.1, 0.2, size=n))


@pytest.mark.parametrize("n", [1, 2, 3, 16])
def test_sums_of_coarse_numbers_hold_their_rounding(monkeypatch, n):
    patched(monkeypatch, sure_numbers, EPS=COARSE, GROW=1.0, TINY=0.0)
    a, b, M = wide(n, 1), wide(n, 2), np.random.default_rng(3).normal(size=(2, n))
    x, y = np.abs(a.mid), np.abs(b.mid)
    # The bound is a computed sum itself: it may have come out smaller by γ of it.
    least = (a.off.sum() + gamma(n - 1) * x.sum()) / (1 - gamma(n))
    assert a.sum().off >= least
    assert a.sum().off <= 2 * least + 6 * COARSE * x.sum()
    held = x @ b.off + a.off @ (y + b.off)
    assert dot(a, b).off >= (held + gamma(n) * (x @ y)) / (1 - gamma(n))
    assert dot(Sure(a.mid), Sure(b.mid)).off >= gamma(n) * (x @ y) / (1 - gamma(n))
    for matrix in (Fixed(M), Sure(M), Sure(M, 0.1 + 0.0 * M)):
        spread = matrix.off if isinstance(matrix, Sure) and np.ndim(matrix.off) else 0.0 * M
        least = np.abs(M) @ a.off + spread @ (x + a.off) + gamma(n) * (np.abs(M) @ x)
        found = (matrix @ a).off
        assert (found >= least / (1 - gamma(n))).all()
        assert (found <= 2 * least + 8 * COARSE * (np.abs(M) @ (x + a.off))).all()
    over = np.linalg.norm(x + a.off)
    assert over / (1 - gamma(n)) <= length(a) <= over * (1 + (n + 9) * COARSE)


def test_each_operation_grows_by_the_factor_that_covers_its_own_rounding(monkeypatch):
    grown = 1.25
    patched(monkeypatch, sure_numbers, EPS=0.0, GROW=grown, TINY=0.0)
    a, b = Sure(3.0, 0.25), Sure(-2.0, 0.5)
    n, v, w = 3, wide(3, 4), wide(3, 5)
    x, y = np.abs(v.mid), np.abs(w.mid)
    for found, least in (
        (a + b, 0.75),
        (a - b, 0.75),
        (a * b, 0.5 * 3 + 0.25 * 2.5),
        (a / b, grown * (0.25 + 1.5 * 0.5) / 1.5),  # the room in the denominator shrinks as well
        (v.sum(), v.off.sum()),
        (dot(v, w), x @ w.off + v.off @ (y + w.off)),
        (Fixed(np.ones((1, n))) @ v, v.off.sum()),
        (Sure(np.ones((1, n)), 0.5 * np.ones((1, n))) @ v, v.off.sum() + 0.5 * (x + v.off).sum()),
    ):
        assert grown * least * (1 - 1e-12) <= found.off <= grown**2 * least * (1 + 1e-12)
    assert length(v) == pytest.approx(grown * np.linalg.norm(x + v.off))


def test_products_and_quotients_of_coarse_numbers_hold_their_rounding(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=COARSE, GROW=1.0, TINY=0.0)
    a, b = Sure(3.0), Sure(-2.0)
    for found, size in ((a + b, 1.0), (a - b, 5.0), (a * b, 6.0), (a / b, 1.5)):
        assert COARSE / 2 * size <= found.off <= COARSE * size * (1 + 1e-12)
