"""Least points of functions on sets: found, bounded, or refused where there is none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.theory.games import (
    Ball,
    Box,
    Convex,
    Euclidean,
    Indicator,
    LargestAffine,
    Quadratic,
    Simplex,
    least_point,
)
from dualfold.theory.games import minimum_search as least
from dualfold.theory.games.minimum_search import proximal_descent
from dualfold.theory.games.plane_bound import LowerBound


@pytest.mark.parametrize("center", [0.25, -0.75, 3.0, -5.0])
@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_corners_are_found_with_a_divergence(center, weight):
    """|x| + w·(x in [−2, 2]) + ½(x − c)²: shrunk by 1, and put into the set."""
    f, part = LargestAffine(np.array([[1.0], [-1.0]])), Indicator(Box(-2.0, 2.0))
    found = least.regularised_minimiser(f, part, weight, Euclidean(), np.array([center]))
    shrunk = np.sign(center) * max(abs(center) - 1, 0.0)
    assert found[0] == pytest.approx(np.clip(shrunk, -2, 2), abs=1e-6)
    bundle = least._Bundle(f, part, np.array([center]), Euclidean(), weight)
    assert bundle.minimiser_near_center()[0] == pytest.approx(np.clip(shrunk, -2, 2), abs=1e-6)


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


def test_few_planes_find_the_same_corner(monkeypatch):
    """The largest of planes on a simplex, once with room for four of them only."""
    f = LargestAffine(np.diag([1.0, 2.0, 4.0, 8.0]))
    wanted = np.array([8.0, 4.0, 2.0, 1.0]) / 15
    monkeypatch.setattr(least, "MAX_PLANES", 5)
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


@pytest.mark.parametrize("upper", [0.0, 1000.0])
def test_slopes_that_contradict_values_are_refused(monkeypatch, upper):
    f = Quadratic(np.eye(1), constant=upper)
    start = np.zeros(1)
    for excess, refused in ((0.7e-6, False), (1.5e-6, True)):
        told = SimpleNamespace(free=upper + excess * (1 + upper))
        fake = LowerBound(f, Indicator(Ball(1.0)), None)
        monkeypatch.setattr(fake, "bound", lambda: told)  # noqa: B023
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


class Walled(Convex):
    """Infinite beyond 1, with a slope there."""

    def value(self, x):
        return float(np.sum(x)) if np.max(x) < 1 else np.inf

    def subgradient(self, x):
        return np.where(np.max(x) < 1, 1.0, -1.0) * np.ones_like(x)


def test_a_loss_that_is_infinite_at_the_start_is_refused():
    with pytest.raises(InvalidInput, match="infinite"):
        least_point(Walled(), Indicator(Ball(4.0)), np.array([2.0, 2.0]))
