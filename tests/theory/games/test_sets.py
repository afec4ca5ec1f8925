"""Sets by their definitions: points on the rim, diameters, gauges, supports, projections."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from dualfold.errors import InvalidInput
from dualfold.games import (
    AffineSet,
    Ball,
    Box,
    Ellipsoid,
    Everywhere,
    Huber,
    L1Ball,
    Product,
    Simplex,
    Spectrahedron,
    Support,
)
from tests.theory.games.door import doubles


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


# ---- what proofs ask of sets, against 50 digits


D = 4

SCALES = [2.0**-9, 1.0, 2.0**9]

CENTER = np.array([0.4, -1.1, 0.2, 0.7])


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(50):
        yield


def exact(x):
    return [mpf(float(number)) for number in np.ravel(x)]


def total(numbers):
    return mpmath.fsum(numbers)


SETS = {
    "ball": Ball(1.5, CENTER),
    "ellipsoid": Ellipsoid(np.array([0.5, 1.0, 2.0, 3.0])),
    "box": Box(np.array([-2.0, -1.0, 0.0, 0.5]), np.array([1.0, 1.0, 0.25, 4.0])),
    "simplex": Simplex(2.5),
    "l1 ball": L1Ball(1.75),
    "product": Product((Ball(1.0), L1Ball(0.5)), (2, 2)),
}


def least_over(name, slope):
    """min ⟨slope, x⟩ over the set, in many digits."""
    s = exact(slope)
    length = lambda t: mpmath.sqrt(total(a * a for a in t))  # noqa: E731
    box = SETS["box"]
    return {
        "ball": lambda: mpmath.fdot(s, exact(CENTER)) - mpf(1.5) * length(s),
        "ellipsoid": lambda: (
            -length([a * b for a, b in zip(s, exact(SETS[name].axes), strict=True)])
        ),
        "box": lambda: total(
            min(a * mpf(float(low)), a * mpf(float(high)))
            for a, low, high in zip(s, box.low, box.high, strict=True)
        ),
        "simplex": lambda: mpf(2.5) * min(s),
        "l1 ball": lambda: -mpf(1.75) * max(map(abs, s)),
        "product": lambda: -length(s[:2]) - mpf(0.5) * max(map(abs, s[2:])),
    }[name]()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", SETS)
def test_least_values_over_sets_are_held(name, scale):
    K = SETS[name]
    slopes = scale * np.random.default_rng(3).normal(size=(6, D))
    slopes[1, 0] = slopes[2, 3] = 0.0
    for slope in slopes:
        for origin in (0.0, np.array([0.5, -1.0, 3.0, 0.0])):
            moved = mpmath.fdot(exact(slope), exact(origin + np.zeros(D)))
            truth = least_over(name, slope) - moved
            found = K.minimum_interval(slope, origin)
            assert mpf(found.low()) <= truth <= mpf(found.high())
            assert found.high() - found.low() <= 1e-12 * scale * 20
            share = K.share(slope, 0.25, origin + np.zeros(D))
            assert share.is_whole
            reach = K.reach(origin + np.zeros(D))
            if name != "product":  # there each set pays for itself
                assert share.bound == pytest.approx(
                    float(truth) - 0.25 * reach, rel=1e-10, abs=1e-10 * scale
                )
            assert mpf(share.bound) <= truth
        assert K.minimum(slope) == pytest.approx(float(least_over(name, slope)), rel=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_reach_is_the_distance_to_the_furthest_point(name):
    K = SETS[name]
    directions = np.random.default_rng(6).normal(size=(400, D))
    corners = {
        "simplex": 2.5 * np.eye(D),
        "l1 ball": 1.75 * np.vstack([np.eye(D), -np.eye(D)]),
        "box": np.array(np.meshgrid(*zip(K.low, K.high, strict=True))).reshape(D, -1).T
        if name == "box"
        else None,
    }.get(name)
    members = [K.minimiser(d) for d in directions] if corners is None else corners
    for x in 3 * np.random.default_rng(8).normal(size=(6, D)):
        furthest = max(np.linalg.norm(np.asarray(m) - x) for m in members)
        if name == "ball":
            furthest = np.linalg.norm(x - CENTER) + 1.5
        assert K.reach(x) >= furthest * (1 - 1e-15)
        if corners is not None or name == "ball":
            assert K.reach(x) <= furthest * (1 + 1e-12)
    if name == "ellipsoid":
        assert K.reach(np.zeros(D)) == pytest.approx(3.0, rel=1e-12)
        assert K.reach(np.array([0, 0, 0, 4.0])) == pytest.approx(7.0, rel=1e-12)
    apart = max(np.linalg.norm(a - b) for a in members[:60] for b in members[:60])
    assert K.diameter >= apart * (1 - 1e-12)


@pytest.mark.parametrize("name", SETS)
def test_how_far_outside_is_never_too_small(name):
    K = SETS[name]
    for x in 3 * np.random.default_rng(8).normal(size=(20, D)):
        distance = np.linalg.norm(K.project(x) - x)
        assert K.outside_distance(x) >= distance * (1 - 1e-9)
        assert K.outside_distance(x) <= 40 * distance + 1e-12
        member = K.project(x)
        assert K.outside_distance(member) <= 1e-14 * 40
    if name == "ball":
        x = CENTER + np.array([0.0, 0.0, 4.0, 0.0])
        assert K.outside_distance(x) == pytest.approx(2.5, rel=1e-12)
        assert K.outside_distance(CENTER) == 0.0
    if name == "box":
        x = np.array([-5.0, 0.0, 4.25, 1.0])
        assert K.outside_distance(x) == pytest.approx(5.0, rel=1e-12)  # 3 and 4
    if name == "simplex":
        assert K.outside_distance(np.array([4.0, 0, 0, 0])) == pytest.approx(1.5, rel=1e-12)
        assert K.outside_distance(np.array([1.0, 0, 0, 0])) == pytest.approx(1.5, rel=1e-12)
        assert K.outside_distance(np.array([2.5, -2.0, 0, 0])) == pytest.approx(2.0, rel=1e-12)
    if name == "l1 ball":
        assert K.outside_distance(np.array([2.0, -1.0, 0, 0])) == pytest.approx(1.25, rel=1e-12)
    if name == "ellipsoid":
        assert K.outside_distance(np.array([0, 2.0, 0, 0])) == pytest.approx(2.0, rel=1e-12)


INSIDE = {
    "ball": (CENTER + np.array([0.5, 0, 0, 0]), 1.0),
    "ellipsoid": (np.zeros(D), 0.5),
    "box": (np.array([0.0, 0.25, 0.125, 2.0]), 0.125),
    "l1 ball": (np.array([0.5, 0.0, 0.0, -0.25]), 1.0 / np.sqrt(D + 1)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_balls_inside_of_a_set_are_found_and_others_not(name):
    K, (x, room) = SETS[name], INSIDE[name]
    assert K.contains_ball(x, room * (1 - 1e-9))
    assert not K.contains_ball(x, room * (1 + 1e-9))
    assert K.contains_ball(x, 0.0)
    assert not K.contains_ball(x + 10, 0.0)
    assert not K.contains_ball(x - 10, 0.0)
    for direction in np.random.default_rng(2).normal(size=(50, D)):
        step = room * direction / np.linalg.norm(direction)
        assert K.contains(x + step)


def test_boxes_with_infinite_sides_carry_what_they_can():
    K = Box(np.array([0.0, -np.inf, -1.0]), np.array([np.inf, 2.0, 1.0]))
    share = K.share(np.array([1.0, 1.0, 2.0]), 0.1, np.zeros(3))
    np.testing.assert_array_equal(share.rest, [0.0, 1.0, 0.0])
    assert share.bound == pytest.approx(-2.0, rel=1e-12)
    assert share.slack == 0.1
    share = K.share(np.array([-1.0, -1.0, 2.0]), 0.0, np.zeros(3))
    np.testing.assert_array_equal(share.rest, [-1.0, 0.0, 0.0])
    assert share.bound == pytest.approx(-4.0, rel=1e-12)
    assert K.minimum(np.array([0.0, 0.0, 1.0])) == -1.0
    assert K.reach(np.zeros(3)) == np.inf
    np.testing.assert_array_equal(K.minimiser(np.array([1.0, -1.0, -1.0])), [0.0, 2.0, 1.0])
    everywhere = Everywhere().share(np.ones(3), 0.5, np.zeros(3))
    assert (everywhere.bound, everywhere.slack) == (0.0, 0.5)
    np.testing.assert_array_equal(everywhere.rest, np.ones(3))


def test_affine_sets_carry_the_part_of_a_slope_along_their_rows():
    M, b = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), np.array([2.0, 3.0])
    K, origin = AffineSet(M, b), np.array([1.0, 0.0, -1.0])
    along, across = M.T @ np.array([2.0, -1.0]), np.array([1.0, -1.0, 1.0])
    share = K.share(along + across, 0.125, origin)
    np.testing.assert_allclose(share.rest, across, atol=1e-13)
    assert share.bound == pytest.approx(2 * 2.0 - 3.0 - along @ origin, rel=1e-12)
    assert share.bound <= 1.0 - along @ origin
    assert 0.125 <= share.slack <= 0.125 + 1e-12


@pytest.mark.parametrize("scale", SCALES)
def test_matrices_of_a_trace(scale):
    K = Spectrahedron(2.0)
    S = np.diag([3.0, -1.0, 2.0])
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    slope, origin = scale * (turn @ S @ turn.T), np.diag([1.0, 0.0, 0.5])
    found = K.minimum_interval(slope, origin)
    truth = -2 * scale - np.vdot(slope, origin)
    assert found.low() <= truth + 1e-13 * scale
    assert found.high() >= truth - 1e-13 * scale
    assert found.high() - found.low() <= 1e-11 * scale
    assert K.reach(np.diag([3.0, 4.0, 0.0])) == pytest.approx(7.0, rel=1e-12)
    assert K.outside_distance(np.diag([1.0, 1.0, 0.0])) <= 1e-13
    # Lifted by 1 it has the trace 5: 3 for the lift, 3 for the scale.
    far = K.outside_distance(np.diag([3.0, 0.0, -1.0]))
    assert np.linalg.norm(K.project(np.diag([3.0, 0.0, -1.0])) - np.diag([3.0, 0.0, -1.0])) <= far
    assert far == pytest.approx(6.0, rel=1e-10)
    assert K.outside_distance(np.diag([0.5, 0.5, 0.0])) == pytest.approx(1.0, rel=1e-10)
    skew = np.diag([1.0, 1.0, 0.0])
    skew[0, 1] = 0.5
    assert K.outside_distance(skew) >= 0.5 / np.sqrt(2) * (1 - 1e-12)


@pytest.mark.parametrize(
    "of", [Ball(2.0), Ellipsoid(np.array([1.0, 3.0])), Box(-1.0, 2.0), Simplex(), L1Ball(2.0)]
)
def test_minima_over_sets_are_those_of_slopes_unless_seen_from_elsewhere(of):
    slope, aside = np.array([3.0, -4.0]), np.array([0.5, 0.25])
    found, seen = of.minimum_interval(slope), of.minimum_interval(slope, aside)
    assert found.low() <= of.minimum(slope) <= found.high()
    assert found.mid == pytest.approx(of.minimum(slope), rel=1e-9)
    assert seen.mid == pytest.approx(of.minimum(slope) - slope @ aside, rel=1e-9)
