"""Curves of gaps: their slopes in the last decade, against the promised rate."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.theory.games import curves as curve_module
from dualfold.theory.games.curves import Curve, cornered_problem, example_problem, horizon_curve
from dualfold.theory.games.recipe import Rate


def test_slopes_of_curves_by_hand():
    T = np.arange(1, 101)
    power = Curve("p", Rate("1/T", -1.0), T, 5.0 / T, 6.0 / T)
    assert power.slope == pytest.approx(-1.0)
    assert power.as_steep_as_promised
    slow = Curve("s", Rate("1/T", -1.0), T, 5.0 / T**0.9, 6.0 / T)
    assert slow.slope == pytest.approx(-0.9)
    assert not slow.as_steep_as_promised
    linear = Curve("l", Rate("0.5^T", 0, 0.5), T, 3.0 * 0.5**T, 4.0 * 0.5**T)
    assert linear.slope == pytest.approx(0.5)
    assert linear.as_steep_as_promised
    late = np.where(T < 10, 1.0, 10.0 / T)  # only the last decade counts
    assert Curve("d", Rate("1/T", -1.0), T, late, late).slope == pytest.approx(-1.0)
    f, start, radius = cornered_problem(5)
    np.testing.assert_allclose(np.linalg.norm(f.rows, axis=1), 1.0)
    assert f.rows.shape == (10, 5)
    assert np.linalg.norm(start) == pytest.approx(radius)
    g, start, radius = example_problem(4)
    best = np.linalg.lstsq(g.rows, g.targets, rcond=None)[0]
    assert radius == pytest.approx(1.2 * np.linalg.norm(best))


def test_slopes_of_curves_leave_out_what_is_rounding():
    T = np.arange(1.0, 11.0)
    for tail in (1e-11, 1e-14, 0.0):
        gap = T**-2.0
        gap[-1] = tail
        curve = Curve("", Rate("1/T²", -2.0), T, gap, gap)
        assert curve.slope == pytest.approx(-2.0)
    fake = SimpleNamespace(
        name="a", rate=Rate("1/T", -1.0), bound=float, play=lambda: SimpleNamespace(gap=T)
    )
    found = horizon_curve(lambda rounds: fake, [7])
    assert (found.name, found.rounds.tolist(), found.gap.tolist()) == ("a", [7], [10.0])
    assert found.bound.tolist() == [7.0]
    assert curve_module.example_problem(3)[1].tolist() == [0.0, 0.0, 0.0]
