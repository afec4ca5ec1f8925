"""Recipes, curves and searches for counterexamples: what they refuse, bound and say, by hand."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import (
    Ball,
    Box,
    Quadratic,
    accelerated_by_gauge,
    heavy_ball,
    refute,
    unfolding_game,
)
from dualfold.games import curves as curve_module
from dualfold.games.curves import Curve, horizon_curve
from dualfold.games.recipe import Rate, Recipe
from tests.games.test_charges_games import Round

REFUTE = sys.modules[refute.__module__]  # the function has the name of its module


# ---- recipes and curves


def test_recipes_refuse_or_bound_by_what_sets_know():
    f, start = Quadratic(np.eye(2)), np.zeros(2)
    with pytest.raises(InvalidInput, match="strongly convex around 0"):
        accelerated_by_gauge(f, 2, over=Box(-1.0, 1.0))
    recipe = heavy_ball(f, start, over=Round(), step=0.25)
    L, D = f.smoothness, 2 * 3.0
    assert recipe.bound(4) == pytest.approx(9.0 / (0.25 * 4 * 5) + 2 * L * D**2 / 5)
    assert Rate("linear").factor == 1.0
    assert Rate("linear").exponent == 0.0


def test_warnings_name_the_line_that_plays():
    made = heavy_ball(Quadratic(np.eye(1)), np.ones(1), over=Ball(2.0))
    parts = vars(made) | {"conditions": (lambda run: "so it is",)}
    with pytest.warns(UserWarning, match="so it is") as seen:
        Recipe(**parts).play(2)
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="no guarantee") as seen:
        heavy_ball(Quadratic(np.eye(1)), np.ones(1))
    assert seen[0].filename == __file__


def test_a_stretch_that_is_just_the_largest_is_no_breach():
    edges = np.column_stack([np.arange(4), np.arange(1, 5)])
    recipe = unfolding_game(5, edges, np.ones(4), rounds=10, largest_stretch=2.0)
    for met, told in ((2.0, ""), (2.5, "a stretch of 2.5 was met")):
        run = SimpleNamespace(x=SimpleNamespace(slopes=np.array([[-met, -1.0]])))
        assert recipe.conditions[0](run).startswith(told)
        assert bool(recipe.conditions[0](run)) == bool(told)


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


# ---- counterexamples


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
