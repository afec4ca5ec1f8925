"""Recipes: what they refuse, bound and warn of."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import Ball, Box, Quadratic, accelerated_by_gauge, heavy_ball, unfolding_game
from dualfold.games.recipe import Rate, Recipe
from tests.games.test_charges_games import Round


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
