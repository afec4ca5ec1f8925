"""The search for counterexamples charges what rounding may have done."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np

from dualfold.kernels.arithmetic.intervals import Interval
from dualfold.theory.games import (
    Quadratic,
    refute,
)

REFUTE = sys.modules[refute.__module__]  # the function has the name of its module


def test_values_are_off_by_what_they_differ_from_sure_ones(monkeypatch):
    f = Quadratic(np.eye(1))
    for mid in (7.0, 1.0):
        monkeypatch.setattr(
            Quadratic, "value_interval", lambda self, x, mid=mid: Interval(mid, 0.5)
        )
        assert REFUTE._values(f)(np.array([2.0])) == (2.0, abs(2.0 - mid) + 0.5)


def test_pairs_are_moved_by_parts_of_their_length():
    x, z = np.array([3.0, 1.0, 1.0, 1.0]), np.array([-1.0, 1.0, 1.0, 1.0])
    told = SimpleNamespace(normal=lambda size: np.zeros(size), uniform=lambda low, high: low)
    one, two = REFUTE._pair_near(x, z, told)
    half = 2 * 10**-0.5
    np.testing.assert_allclose(one - [1.0, 1, 1, 1], [half, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(two - [1.0, 1, 1, 1], [-half, 0, 0, 0], atol=1e-12)
    told = SimpleNamespace(normal=lambda size: np.ones(size), uniform=lambda low, high: 0.0)
    one, two = REFUTE._pair_near(x, z, told)
    np.testing.assert_allclose((one + two) / 2, np.array([1.0, 1, 1, 1]) + 1.0)  # 2/√4
    np.testing.assert_allclose((one - two) / 2, np.array([2.0, 0, 0, 0]) + 0.3)


def test_chords_are_weighed_with_the_rounding_of_their_ends():
    excess = REFUTE._excess

    def value(x):
        return (float(x[0]) ** 2 if x[0] < 5 else np.inf), 0.125

    x, z = np.array([2.0]), np.array([-2.0])
    for claim, expected in (("convex", -4.0), ("strongly convex", -4 + 3 * 2.0), ("smooth", -2.0)):
        modulus = 0.0 if claim == "convex" else 3.0
        found, noise, curve = excess(value, x, z, 0.5, claim, modulus)
        assert (found, curve) == (expected, 2.0)
        assert noise == 0.375 + 1e-15 * (8 + modulus * 2)
        assert excess(value, x, np.array([6.0]), 0.9, claim, modulus) == (-np.inf, 0.0, 0.0)


def test_nothing_speaks_against_a_convex_function_with_negative_values():
    found = refute(lambda x: float(x @ x) / 7 - 1e9, np.ones(3), tries=200)
    assert "no counterexample" in str(found)
