"""Recipes: what they refuse, bound and warn of."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

from dualfold import games
from dualfold.errors import ConditionFails, InvalidInput
from dualfold.games import (
    Ball,
    Box,
    HalfSquare,
    LeastSquares,
    Quadratic,
    accelerated_by_gauge,
    boundary_frank_wolfe,
    extragradient,
    heavy_ball,
)
from tests.theory.games.door import ConvexSet, Rate, Recipe


class Round(ConvexSet):
    """A set that knows how far it reaches and no diameter."""

    def reach(self, x):
        return 3.0

    def project(self, x):
        return x


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


def test_steps_and_tolerances_at_their_ends():
    f = LeastSquares(np.eye(2), np.ones(2))
    for recipe in (games.nesterov, extragradient, heavy_ball):
        if "step" in inspect.signature(recipe).parameters:
            for step in (0.0, -1.0):
                with pytest.raises(InvalidInput):
                    recipe(f, np.zeros(2), step=step)
    assert games.nesterov(f, np.zeros(2)).play(3, tolerance=0.0).rounds == 3
    with pytest.raises(InvalidInput, match="tolerance"):
        games.nesterov(f, np.zeros(2)).play(3, tolerance=-1.0)


def test_the_bound_of_boundary_frank_wolfe_is_that_of_its_paper():
    f, ball = HalfSquare(center=np.array([3.0, 0.0])), Ball(0.5)
    recipe = boundary_frank_wolfe(f, np.array([0.0, 0.5]), over=ball, least_gradient=2.5)
    G = np.hypot(3.0, 0.5) + 1.0  # at the start, and L times the way across the disc
    for T in (1, 10, 100):
        assert recipe.bound(T) == pytest.approx(0.5 * G**2 / 2.5 * (2 + np.log(T)) / T)


def test_gradients_shorter_than_1_are_no_reason_against_a_guarantee():
    """Where no least length was stated, only that the bound says something is asked."""
    f = HalfSquare(0.125, center=np.array([3.0, 0.0]))  # gradients of 0.25 on the unit disc
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConditionFails)
        run = boundary_frank_wolfe(f, np.array([0.6, 0.8]), over=Ball(1.0)).play(200)
    np.testing.assert_allclose(run.answer, [1.0, 0.0], atol=0.05)
