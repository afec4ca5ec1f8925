"""Lower bounds from planes: never above the minimum, and at it where the planes touch there."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import (
    Ball,
    Box,
    Convex,
    Everywhere,
    HalfSquare,
    Indicator,
    LargestAffine,
    LeastSquares,
    Linear,
    Quadratic,
    Simplex,
    least_point,
    norm,
)
from tests.theory.games.door import (
    LowerBound,
    Plane,
    PlayerMove,
    Share,
    proximal_descent,
)

rng = np.random.default_rng(12)

D = 3

Q = np.diag([4.0, 1.0, 2.0]) + 0.5

q = np.array([1.0, -2.0, 0.5])

ROWS, TARGETS = rng.normal(size=(6, D)), rng.normal(size=6)

FREE = Indicator(Everywhere())


def minimum(f, part, start, steps=20_000):
    """By proximal gradient steps of length 1/L, as long as they move."""
    x, step = start, 1 / f.smoothness
    for _ in range(steps):
        new = part.proximal(x - step * f.subgradient(x), step)
        if np.array_equal(new, x):
            break
        x = new
    return x, f.value(x) + part.cost(PlayerMove(x))


def scaled_quadratic(scale):
    return Quadratic(scale * Q, scale * q, 0.25 * scale)


SMOOTH = {
    "free": (lambda s: scaled_quadratic(s), FREE),
    "simplex": (lambda s: scaled_quadratic(s), Indicator(Simplex(1.5))),
    "ball": (
        lambda s: LeastSquares(np.sqrt(s) * ROWS, np.sqrt(s) * TARGETS),
        Indicator(Ball(0.25)),
    ),
    "box": (lambda s: scaled_quadratic(s), Indicator(Box(0.25, 2.0))),
}


@pytest.mark.parametrize("scale", [2.0**-12, 1.0, 2.0**12])
@pytest.mark.parametrize("name", SMOOTH)
def test_planes_anywhere_stay_below_and_those_of_the_minimiser_touch(name, scale):
    make, part = SMOOTH[name]
    f = make(scale)
    best, least = minimum(f, part, part.proximal(np.full(D, 0.5), 1.0))
    random = np.random.default_rng(1)
    bound = LowerBound(f, part, None)
    for share in (1.0, 0.5, 3.0, 2.0, 0.1):
        at = part.proximal(best + random.normal(size=D), 1.0)
        bound.add(PlayerMove(f.subgradient(at), taken_at=at), share)
        assert bound.bound().free <= least + 1e-12 * scale
    touching = LowerBound(f, part, None)
    for share in (1.0, 2.0):
        touching.add(PlayerMove(f.subgradient(best), taken_at=best), share)
    assert touching.bound().free == pytest.approx(least, rel=1e-7, abs=1e-7 * scale)
    assert touching.bound().free <= least + 1e-12 * scale
    # The best response to the slope at the minimiser, ⟨∇f, x⟩ + ψ(x), is taken there.
    if name != "free":
        slope = f.subgradient(best)
        wanted = float(slope @ best)
        assert touching.bound().response == pytest.approx(wanted, rel=1e-6, abs=1e-7 * scale)


@pytest.mark.parametrize("scale", [2.0**-12, 1.0, 2.0**12])
def test_a_ball_that_holds_the_minimiser_bounds_a_function_with_corners(scale):
    f = LargestAffine(scale * np.array([[1.0, 0], [-1, 0], [0, 2], [0, -2]]))  # least at 0
    for center, radius in ((np.zeros(2), 1.0), (np.array([0.5, 0.25]), 1.0)):
        bound = LowerBound(f, FREE, Ball(radius, center))
        for at in ([3.0, 0.0], [-3.0, 0.0], [0.0, 2.0], [0.0, -2.0]):
            z = np.array(at)
            bound.add(PlayerMove(f.subgradient(z), taken_at=z), 1.0)
        found = bound.bound()
        assert found.free == -np.inf or found.free <= 0
        assert found.in_ball <= 1e-15 * scale
        assert found.in_ball >= -1e-12 * scale  # four planes of equal shares add up to 0
    # One plane, ⟨(1, 0), x⟩, over the ball: the center's value less the radius.
    one = LowerBound(f, FREE, Ball(1.0, np.array([0.5, 0.25])))
    one.add(PlayerMove(scale * np.array([1.0, 0.0]), taken_at=np.array([3.0, 0.0])), 1.0)
    assert one.bound().in_ball == pytest.approx(-0.5 * scale, rel=1e-12)
    assert one.bound().response == pytest.approx(-0.5 * scale, rel=1e-12)
    assert one.bound().free == -np.inf
    assert "unbounded" in one.why_infinite()


@pytest.mark.parametrize("bend", [-1e-11, -1e-9])
def test_what_may_be_concave_costs_its_part(bend):
    """Q is bent by less than its rounding: planes at z fall short by concavity·(‖x‖² + ‖z‖²)."""
    thin = Quadratic(np.diag([1e3, bend, 1.0]))
    ball = Indicator(Ball(2.0))
    bound, exact = (
        LowerBound(thin, ball, None),
        LowerBound(Quadratic(np.diag([1e3, 0, 1.0])), ball, None),
    )
    for at in (np.array([0.0, 1.0, 0.0]), np.array([0.0, -1.0, 0.0])):
        bound.add(PlayerMove(thin.subgradient(at), taken_at=at), 1.0)
        exact.add(PlayerMove(0 * at, taken_at=at), 1.0)
    least = bend / 2 * 2.0**2
    assert thin.concavity >= -bend
    assert bound.bound().free <= least
    assert exact.bound().free - bound.bound().free <= thin.concavity * 2 * (2.0 + 1.0) ** 2


# ---- least points


@pytest.mark.parametrize("name", SMOOTH)
def test_least_points_are_least(name):
    make, part = SMOOTH[name]
    f = make(1.0)
    _, least = minimum(f, part, part.proximal(np.full(D, 0.5), 1.0))
    found = least_point(f, part, part.proximal(np.full(D, 0.5), 1.0))
    assert found.lower[-1] <= least + 1e-12
    assert found.upper[-1] >= least - 1e-12
    assert found.upper[-1] - found.lower[-1] <= 1e-6 * (1 + abs(least))
    assert found.certificate.level == "proved"


def test_least_points_of_functions_with_corners():
    """The largest of planes on a simplex is a matrix game: paper, scissors, stone."""
    game = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    for shift in (0.0, 2.0):
        found = least_point(LargestAffine(game + shift), Indicator(Simplex()), np.eye(3)[0])
        np.testing.assert_allclose(found.point, 1 / 3, atol=1e-5)
        assert found.upper[-1] == pytest.approx(shift, abs=1e-6)
        assert found.lower[-1] <= shift
    tilted = least_point(
        LargestAffine(np.diag([1.0, 2.0, 4.0])), Indicator(Simplex()), np.eye(3)[0]
    )
    np.testing.assert_allclose(tilted.point, np.array([4.0, 2, 1]) / 7, atol=1e-5)
    assert tilted.upper[-1] == pytest.approx(4 / 7, rel=1e-6)
    many = LargestAffine(np.vstack([np.diag([1.0, 2.0, 4.0]), -np.ones(3)]), np.r_[0, 0, 0, 1.0])
    flat = least_point(many, Indicator(Box(-1.0, 1.0)), np.zeros(3))
    assert flat.lower[-1] <= flat.upper[-1]
    assert flat.upper[-1] - flat.lower[-1] < 1e-6


def test_a_ball_that_does_not_bind_costs_nothing():
    """min ⟨s, x⟩ + ‖x‖₁ is 0, at 0, for a slope inside of the dual ball."""
    slope = np.array([0.5, -0.25, 0.75])
    f = Quadratic(np.zeros((3, 3)), slope)
    bound = LowerBound(f, norm(1), Ball(2.0, np.array([0.5, 0.0, 0.0])))
    bound.add(PlayerMove(slope, taken_at=np.zeros(3)), 1.0)
    assert -1e-12 <= bound.bound().in_ball <= 0


def lower_bound(f, simple, at, ball=None):
    bound = LowerBound(f, simple, ball)
    bound.add(PlayerMove(f.subgradient(at), taken_at=at), 1.0)
    return bound


@pytest.mark.parametrize("mu", [0.25, 4.0])
def test_one_plane_of_a_bowl_bounds_it_with_a_simple_part(mu):
    """f is its own quadratic model: the bound is the least value, to rounding."""
    f = HalfSquare(mu, np.array([2.0, -0.125]))
    for simple in (norm(1, 0.5), Indicator(Box(-1.0, 0.5))):
        best = simple.proximal(f.center, 1 / mu)
        value = f.value(best) + simple.value(best)
        found = lower_bound(f, simple, np.array([1.0, 1.0])).bound()
        assert value - 1e-9 <= found.free <= value


@pytest.mark.parametrize("radius", [0.25, 1.0, 40.0])
def test_a_ball_bounds_what_a_norm_leaves_of_a_slope(radius):
    """min ⟨y, x⟩ + ‖x‖₁ over a ball is −r·‖(|y| − 1)₊‖; over one aside, by projected steps."""
    y = np.array([3.0, 0.5, -2.0])
    least_value = -radius * np.hypot(2.0, 1.0)
    found = lower_bound(Linear(y), norm(1, 1.0), np.zeros(3), Ball(radius)).bound()
    assert found.free == -np.inf
    assert least_value * (1 + 1e-6) <= found.in_ball <= least_value
    aside = Ball(radius, np.array([1.0, -1.0, 0.5]))
    x = aside.center
    for k in range(4000):
        x = aside.project(x - radius / (1 + k) * (y + np.sign(x)))
    found = lower_bound(Linear(y), norm(1, 1.0), np.zeros(3), aside).bound().in_ball
    value = y @ x + np.abs(x).sum()
    assert value - 5e-3 * (1 + abs(value)) <= found <= value + 1e-9


# ---- planes with a slack


def test_a_share_is_whole_only_without_rest_and_without_slack():
    zero, one = np.zeros(2), np.array([0.0, 1.0])
    cases = ((zero, 0.0, True), (zero, 0.5, False), (one, 0.0, False), (one, 0.5, False))
    for rest, slack, whole in cases:
        assert Share(1.0, rest, slack).is_whole is whole


def test_what_is_carried_of_a_tilt_is_a_lower_bound():
    """With slack, seen from afar: at many points, and at the plane's own."""
    rng = np.random.default_rng(0)
    f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, -2.0]))
    for slack in (0.0, 0.5, 2.0):
        slope, origin = rng.normal(size=2), 3 + rng.normal(size=2)
        found = Convex.share(f, slope, slack, origin)
        points = np.vstack([origin + 3 * rng.normal(size=(200, 2)), f.maximiser(-slope)])
        for x in points:
            left = slope @ (x - origin) - slack * np.linalg.norm(x - origin) + f.value(x)
            right = found.bound + found.rest @ (x - origin)
            assert left >= right - found.slack * np.linalg.norm(x - origin) - 1e-12


class FlatTilted(Convex):
    """A plane that is known to a slack only, taken at one point."""

    concavity, strong_convexity = 0.0, 0.0

    def maximiser(self, y):
        return np.array([2.0, 0.0])

    def plane(self, z):
        return Plane(1.0, np.array([0.5, 0.0]), 0.25)


def test_planes_with_a_slack_carry_less():
    """f(x) ≥ h + ⟨y, x − z⟩ − s‖x − z‖, seen from the origin: s‖z‖ less at the least."""
    found = FlatTilted().share(np.array([-0.5, 0.0]), 0.0, np.zeros(2))
    assert 1.0 - 0.5 * 2 - 0.25 * 2 - 1e-12 <= found.bound <= 1.0 - 0.5 * 2 - 0.25 * 2
    assert found.slack >= 0.25


# ---- searches for least points


def test_a_descent_that_leaves_the_domain_goes_back():
    """x − log x has its least value at 1; momentum from far out jumps to where it is infinite."""

    def value(x):
        with np.errstate(all="ignore"):
            return float(np.sum(x - np.log(x))) if (x > 0).all() else np.inf

    def slope(x):
        return 1 - 1 / x if (x > 0).all() else np.full_like(x, np.nan)

    for start in (0.01, 5.0, 300.0):
        found, arrived = proximal_descent(value, slope, lambda x, weight: x, np.array([start, 2.0]))
        assert arrived
        np.testing.assert_allclose(found, 1.0, atol=1e-6)
    found, arrived = proximal_descent(value, slope, lambda x, weight: x, np.array([-1.0, 2.0]))
    assert not arrived


def test_few_planes_find_the_same_corner(set_limits):
    """The largest of planes on a simplex, once with room for four of them only."""
    f = LargestAffine(np.diag([1.0, 2.0, 4.0, 8.0]))
    wanted = np.array([8.0, 4.0, 2.0, 1.0]) / 15
    set_limits("theory.games.minimum_search", MAX_PLANES=5)
    found = least_point(f, Indicator(Simplex()), np.eye(4)[0])
    np.testing.assert_allclose(found.point, wanted, atol=1e-4)
    assert found.lower[-1] <= 8 / 15 <= found.upper[-1] + 1e-12


class _Broken(Convex):
    """Infinite at every point but the first."""

    def value(self, x):
        return 0.0 if not x.any() else np.inf

    def subgradient(self, x):
        return np.ones_like(x)


def test_a_loss_that_is_infinite_where_its_player_may_go_is_refused():
    with pytest.raises(InvalidInput, match="a set inside the loss's domain"):
        least_point(_Broken(), Indicator(Simplex()), np.array([0.5, 0.5]))


class Walled(Convex):
    """Infinite beyond 1, with a slope there."""

    def value(self, x):
        return float(np.sum(x)) if np.max(x) < 1 else np.inf

    def subgradient(self, x):
        return np.where(np.max(x) < 1, 1.0, -1.0) * np.ones_like(x)


def test_a_loss_that_is_infinite_at_the_start_is_refused():
    with pytest.raises(InvalidInput, match="infinite"):
        least_point(Walled(), Indicator(Ball(4.0)), np.array([2.0, 2.0]))
