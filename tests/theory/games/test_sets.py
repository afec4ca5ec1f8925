"""Sets by their definitions: points on the rim, diameters, gauges, supports, projections."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.theory.games import (
    AffineSet,
    Ball,
    Box,
    Ellipsoid,
    Everywhere,
    Huber,
    Product,
    Simplex,
    Support,
)
from dualfold.theory.games.doubles import doubles


def test_diameters_of_boxes():
    assert Box(0.0, 1.0).diameter == np.inf
    assert Box(np.zeros(4), 1.0).diameter == pytest.approx(2.0)
    assert Box(0.0, np.array([3.0, 4.0])).diameter == pytest.approx(5.0)


def test_supports_of_sets_that_are_not_symmetric_carry_their_own_side():
    """ψ(x) = max(−x, 3x) carries ⟨s, x⟩ as a whole where −s lies in [−1, 3]."""
    part = Support(Box(-1.0, 3.0))
    assert [part.value(np.array([x])) for x in (-2.0, 0.0, 0.5)] == [2.0, 0.0, 1.5]
    assert [part.value_interval(np.array([x])).low() for x in (-2.0, 0.5)] == pytest.approx(
        [2.0, 1.5]
    )
    assert part.subgradient(np.array([-2.0])) == [-1.0]
    assert part.conjugate(np.array([3.0])) == part.conjugate(np.array([-1.0])) == 0.0
    assert part.conjugate(np.array([-3.0])) == np.inf
    for slope, whole in ((-2.0, True), (2.0, False), (0.5, True), (-3.5, False)):
        share = part.share(np.array([slope]), 0.0, np.zeros(1))
        assert share.is_whole == whole
        for x in (-2.0, -0.1, 0.0, 0.3, 4.0):
            left = slope * x + max(-x, 3 * x)
            assert left >= share.bound + float(share.rest[0]) * x - share.slack * abs(x) - 1e-12


def test_points_on_the_rim_belong_to_their_set():
    box = Box(0.0, 1.0)
    for x, inside in (([0.0, 1.0], True), ([0.0, 1.5], False), ([-0.5, 1.0], False)):
        assert box.contains_ball(np.array(x), 0.0) is inside
    assert Simplex(3.0).diameter == 3 * np.sqrt(2)
    ellipse = Ellipsoid(np.array([1.0, 3.0]))
    assert ellipse.outside_distance(np.array([0.5, 0.5])) == 0.0
    assert ellipse.outside_distance(np.array([2.0, 0.0])) == pytest.approx(2.0)


def test_gauges_of_balls():
    assert [Ball(r).gauge_convexity for r in (0.0, 1.0, 2.0)] == [0.0, 1.0, 0.25]
    assert Ball(1.0, np.array([1.0, 0.0])).gauge_convexity == 0.0
    assert Ball(2.0).gauge(np.array([3.0, 4.0])) == 2.5
    assert Ball(0.0).gauge(np.zeros(2)) == 0.0
    assert Ball(0.0).gauge(np.ones(2)) == np.inf
    assert Ellipsoid(np.array([2.0, 4.0])).gauge_convexity == 1 / 16
    assert Ellipsoid(np.array([2.0, 4.0])).curvature_radius == 8.0


def test_sets_are_seen_from_0_unless_said_otherwise():
    pair, slope = Product((Ball(1.0), Ball(2.0)), (1, 1)), np.array([3.0, 4.0])
    found = pair.minimum_interval(slope)
    assert found.low() <= -11.0 <= found.high()
    assert found.high() - found.low() <= 1e-9


RNG = np.random.default_rng(0)


def test_a_point_on_the_surface_is_its_own_projection():
    axes = np.array([3.0, 0.1, 1e-3])
    ball = Ellipsoid(axes)
    for turn in RNG.normal(size=(200, 3)):
        on = axes * turn / np.linalg.norm(turn)
        np.testing.assert_allclose(ball.project(on), on, rtol=1e-7, atol=1e-12)


def test_ends_of_sets_and_losses():
    assert Ellipsoid(np.array([1.0, 3.0])).diameter == 6.0
    assert Huber(1.0).conjugate(np.array([0.5, 3.0])) == np.inf
    assert Huber(1.0).conjugate(np.array([0.5, -1.0])) == 0.625
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(
            Huber(1.0).proximal(np.array([0.0, 5.0, -5.0]), 1.0), [0.0, 4.0, -4.0]
        )
    wide = np.array([1.0, 1.0]) + np.array([0, 1], dtype=np.longdouble) * np.longdouble(2) ** -60
    if wide[1] != 1:  # a wider type than a double
        with pytest.raises(InvalidInput, match="no double holds"):
            doubles(wide, "x")


@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
def test_the_rank_of_equations_does_not_depend_on_their_units(scale):
    rows = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1e-15]])
    found = AffineSet(scale * rows, scale * np.array([1.0, 2.0]))
    assert len(found._directions[0]) == 1
    x = found.project(np.array([5.0, -1.0, 7.0]))
    np.testing.assert_allclose(rows @ x, [1.0, 2.0], rtol=1e-12)


def test_ellipsoids_of_any_size():
    small = Ellipsoid(np.array([0.25, 0.5]))
    inside = np.array([0.1, 0.2])
    assert small.project(inside) is inside
    lost = np.array([np.nan, 1.0])
    assert small.project(lost) is lost
    found = small.project(np.array([3.0, 4.0]))
    assert np.sum((found / small.axes) ** 2) == pytest.approx(1.0)
    for axes in ([0.0, 1.0], [-1.0, 1.0]):
        with pytest.raises(InvalidInput, match="positive"):
            Ellipsoid(np.array(axes))


def test_a_slope_along_one_axis_has_no_minimum_everywhere():
    for slope in (np.array([1.0, 0.0]), np.array([0.0, -2.0])):
        assert Everywhere().minimum(slope) == -np.inf
        assert Everywhere().minimum_interval(slope).low() == -np.inf
    assert Everywhere().minimum(np.zeros(2)) == 0.0


def test_sets_hold_their_points_to_a_tolerance_of_their_size():
    ball = Ball(1.0)
    assert ball.contains(np.array([1 + 1.9e-9, 0.0]))
    assert not ball.contains(np.array([1 + 2.5e-9, 0.0]))
