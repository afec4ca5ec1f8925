"""Games: bounds that equal their formulas, claims of parts and wholes, points looked at by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import (
    Ball,
    Box,
    EasiestBend,
    Ellipsoid,
    HalfSquare,
    Huber,
    Indicator,
    L1Ball,
    Linear,
    Product,
    Quadratic,
    Simplex,
    Sum,
    composites,
    losses,
    norm,
    unfolding_dual,
)
from dualfold.games import intervals as sure_numbers
from dualfold.games import minimum_search as least
from dualfold.games.convex_functions import Convex
from dualfold.games.convex_sets import ConvexSet
from dualfold.games.divergences import Euclidean
from dualfold.games.doubles import doubles
from dualfold.games.game import Move
from dualfold.games.intervals import Interval, length, norm_interval
from dualfold.games.plane_bound import LowerBound
from dualfold.games.planes import Share
from tests.proofs.coarse import patched

EPS = 2.0**-8


# ---- numbers with their errors


def test_lengths_are_charged_by_their_entries(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=EPS, BOUND_GROWTH=1.0, UNDERFLOW_BOUND=0.25)
    a = np.array([3.0, 4.0, 0.0])
    over = np.sqrt(25.0 + 3 * 0.25) * (1 + (3 + 8) * EPS)
    assert length(a) == pytest.approx(over, rel=1e-12)
    found = norm_interval(a)
    assert found.mid == length(a)
    assert found.off == pytest.approx(over * ((4 * 3 + 128) * EPS + 2.0**-46) + 0.5, rel=1e-12)
    patched(monkeypatch, sure_numbers, EPS=0.0, UNDERFLOW_BOUND=0.0)
    assert norm_interval(a).off == 5 * 2.0**-46


def test_matrices_with_errors_are_charged_for_the_size_of_the_vector(monkeypatch):
    patched(monkeypatch, sure_numbers, EPS=EPS, BOUND_GROWTH=1.0, UNDERFLOW_BOUND=0.0)
    M, x = (
        Interval(np.array([[2.0, -1.0]]), np.array([[0.5, 0.25]])),
        Interval(np.array([4.0, -8.0]), 1.0),
    )
    own = (np.array([[2.0, 1.0]]) @ (1.0 + 6 * EPS * np.array([4.0, 8.0]))) * (1 + 4 * EPS)
    more = np.array([[0.5, 0.25]]) @ (np.array([5.0, 9.0]) * (1 + 4 * EPS))
    np.testing.assert_allclose((M @ x).off, own + more, rtol=1e-12)


def test_slopes_of_soft_maxima_are_charged_for_their_exponents(monkeypatch):
    patched(monkeypatch, losses, EPS=EPS**2, LIBRARY_ERROR=2.0**-12, UNDERFLOW_BOUND=0.0)
    patched(monkeypatch, sure_numbers, EPS=EPS**2, BOUND_GROWTH=1.0, UNDERFLOW_BOUND=0.0)
    x, width = np.array([0.0, -3.0, 1.0]), 2.0
    f = losses.LogSumExp(width)
    found = f.slope_interval(x)
    below = x / width - 0.5
    scaled = EPS**2 * 1.5
    relative = 2 * scaled + 2 * EPS**2 * np.abs(below) + 24 * EPS**2 + 4 * 2.0**-12
    np.testing.assert_allclose(found.off, 2 * relative * found.mid, rtol=1e-9)


def test_sums_of_planes_are_charged_by_their_number(monkeypatch):
    patched(monkeypatch, composites, EPS=EPS, UNDERFLOW_BOUND=0.25)
    f = composites.Mixture(
        ((0.5, Linear(np.array([4.0, 0.0]))), (2.0, Linear(np.array([0.0, 1.0]))))
    )
    size = np.hypot(2.0, 2.0)
    assert f.plane(np.zeros(2)).slack == pytest.approx(4 * EPS * size + 2 * 0.25, rel=1e-9)


def test_laplacians_are_charged_by_their_terms(monkeypatch):
    edges = np.array([[0, 1], [1, 2], [0, 1]])
    f = EasiestBend(3, edges, np.array([1.0, 2.0, 4.0]))
    seen, x = [], np.array([0.5, 0.25, 0.25])
    real = unfolding_dual.least_eigenvalue
    patched(monkeypatch, unfolding_dual, EPS=EPS, UNDERFLOW_BOUND=2.0**-10)
    monkeypatch.setattr(
        unfolding_dual, "least_eigenvalue", lambda M, at: (seen.append(M), real(M, at))[1]
    )
    f.value_interval(x)
    w = np.array([0.5 + 0.0625, 0.125])
    L = np.array([[w[0], -w[0], 0], [-w[0], w.sum(), -w[1]], [0, -w[1], w[1]]])
    lift = 2 * w.sum() / 3  # twice the largest row, over n: above every eigenvalue
    terms = 2 + 4 + 3 * np.eye(3)  # two edges lie side by side
    np.testing.assert_allclose(seen[0].mid, L + lift, rtol=1e-12)
    off = EPS * (terms * np.abs(L) + 2 * lift) + 3 * 2.0**-10
    np.testing.assert_allclose(seen[0].off, off, rtol=1e-12)


# ---- parts and wholes


class Unbounded(Convex):
    """Nothing is known of its rounding."""


class Round(ConvexSet):
    """A set that knows how far it reaches and no diameter."""

    def reach(self, x):
        return 3.0

    def project(self, x):
        return x


def test_rounding_of_a_whole_is_bounded_where_that_of_all_parts_is():
    known, open_ = HalfSquare(), Unbounded()
    for parts, bounded in (
        ((known, known), True),
        ((known, open_), False),
        ((open_, known), False),
    ):
        assert Sum(*parts).rounding_bounded is bounded
    for sets, bounded in (((Ball(1.0), Ball(2.0)), True), ((Ball(1.0), Round()), False)):
        assert Product(sets, (1, 1)).rounding_bounded is bounded


@pytest.mark.parametrize(
    "of", [Ball(2.0), Ellipsoid(np.array([1.0, 3.0])), Box(-1.0, 2.0), Simplex(), L1Ball(2.0)]
)
def test_minima_over_sets_are_those_of_slopes_unless_seen_from_elsewhere(of):
    slope, aside = np.array([3.0, -4.0]), np.array([0.5, 0.25])
    found, seen = of.minimum_interval(slope), of.minimum_interval(slope, aside)
    assert found.low() <= of.minimum(slope) <= found.high()
    assert found.mid == pytest.approx(of.minimum(slope), rel=1e-9)
    assert seen.mid == pytest.approx(of.minimum(slope) - slope @ aside, rel=1e-9)


def test_a_tilt_is_carried_whole_where_nothing_is_left():
    none, some = np.zeros(2), np.ones(2)
    assert Share(1.0, none, 0.0).is_whole
    assert not Share(1.0, none, 0.5).is_whole
    assert not Share(1.0, some, 0.0).is_whole


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


# ---- lower bounds


def lower_bound(f, simple, at, ball=None):
    bound = LowerBound(f, simple, ball)
    bound.add(Move(f.subgradient(at), taken_at=at), 1.0)
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


def test_what_is_a_little_concave_loses_by_how_far_planes_lie():
    f = Quadratic(np.diag([1.0, 1.0]))
    bound = lower_bound(f, Indicator(Ball(2.0)), np.ones(2))
    bound.concavity = 0.5
    assert bound._concavity_loss(2.0) == pytest.approx(0.5 * 4.0, rel=1e-9)
    bound.add(Move(np.ones(2), taken_at=np.array([4.0, 5.0])), 1.0)
    assert bound._concavity_loss(2.0) == pytest.approx(0.5 * (4.0 + 25.0), rel=1e-9)


@pytest.mark.parametrize("upper", [0.0, 1000.0])
def test_slopes_that_contradict_values_are_refused(monkeypatch, upper):
    f = Quadratic(np.eye(1), constant=upper)
    start = np.zeros(1)
    for excess, refused in ((0.7e-6, False), (1.5e-6, True)):
        told = SimpleNamespace(free=upper + excess * (1 + upper))
        fake = SimpleNamespace(add=lambda *_: None, bound=lambda: told, why_infinite=lambda: "")  # noqa: B023
        monkeypatch.setattr(least, "LowerBound", lambda *_: fake)  # noqa: B023
        if refused:
            with pytest.raises(InvalidInput, match="not convex"):
                least.least_point(f, Indicator(Ball(1.0)), start)
        else:
            least.least_point(f, Indicator(Ball(1.0)), start)


def test_planes_that_carry_least_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(least, "MAX_PLANES", 3)
    f = Quadratic(np.eye(1))
    bundle = least._Bundle(f, Indicator(Ball(9.0)), np.ones(1), Euclidean(), 1.0)
    for at in (2.0, 3.0):
        bundle._add(np.array([at]))
    np.testing.assert_array_equal(bundle.shares, [1.0, 0.0, 0.0])
    bundle.shares = np.array([0.5, 0.1, 0.4])
    bundle._add(np.array([4.0]))
    assert [float(x[0]) for x in bundle.points] == [1.0, 3.0, 4.0]
    np.testing.assert_allclose(bundle.shares, [5 / 9, 4 / 9, 0.0])
    assert len(bundle.slopes) == len(bundle.heights) == 3
