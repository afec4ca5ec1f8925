"""Gaps of recipes against their bounds, round by round, and how steeply both fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.theory.games.accelerated_recipes import (
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    heavy_ball,
    nesterov,
    nesterov_infinite_memory,
)
from dualfold.theory.games.convex_sets import Ball
from dualfold.theory.games.losses import LargestAffine, norm
from dualfold.theory.games.plain_recipes import (
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    extragradient,
    frank_wolfe,
)
from dualfold.theory.games.quadratics import LeastSquares
from dualfold.theory.games.recipe import Rate, Recipe


@dataclass(frozen=True, eq=False)
class Curve:
    """The duality gap of a method after T rounds, for many T, and what was promised.

    name, rate : the method, and the shape of its guarantee
    rounds, gap, bound : T, the gap after T rounds, and the guarantee for T
    """

    name: str
    rate: Rate
    rounds: Array
    gap: Array
    bound: Array

    @property
    def slope(self) -> float:
        """The exponent a in gap ~ T^a, or for a linear rate the factor of every round.

        Fitted by least squares to the rounds whose gap is above rounding; of these, where
        the rate is a power, to the last decade: a method starts below its bound.
        """
        clear = self.gap > 1e-11 * self.gap.max()
        T, gap = self.rounds[clear].astype(float), self.gap[clear]
        if self.rate.exponent == 0:
            return float(np.exp(np.polyfit(T, np.log(gap), 1)[0]))
        late = T.max() / 10 <= T
        return float(np.polyfit(np.log(T[late]), np.log(gap[late]), 1)[0])

    @property
    def as_steep_as_promised(self) -> bool:
        """Whether the gap falls as fast as the rate; 0.02 is left to the error of the fit."""
        if self.rate.exponent == 0:
            return self.slope <= self.rate.factor * 1.02
        return self.slope <= self.rate.exponent + 0.02


def gap_curve(recipe: Recipe, rounds: int) -> Curve:
    """Curve of one run, with its gap after every round."""
    run = recipe.play(rounds)
    turns = np.arange(1, run.rounds + 1)
    bound = np.array([recipe.bound(int(T)) for T in turns])
    return Curve(recipe.name, recipe.rate, turns, run.gap, bound)


def horizon_curve(recipe_for: Callable[[int], Recipe], horizons: Sequence[int]) -> Curve:
    """Curve of a run for every horizon, where the step is chosen for the number of rounds."""
    recipes = [recipe_for(T) for T in horizons]
    gaps = np.array([recipe.play().gap[-1] for recipe in recipes])
    bounds = [recipe.bound(T) for recipe, T in zip(recipes, horizons, strict=True)]
    first = recipes[0]
    return Curve(first.name, first.rate, np.array(horizons), gaps, np.array(bounds))


def example_problem(dimension: int = 12) -> tuple[LeastSquares, Array, float]:
    """Least squares with columns of uneven scale, a start, a radius that reaches its minimiser."""
    random = np.random.default_rng(0)
    scales = np.geomspace(1.0, 0.1, dimension)
    f = LeastSquares(
        random.normal(size=(3 * dimension, dimension)) * scales, np.ones(3 * dimension)
    )
    best = np.linalg.lstsq(f.rows, f.targets, rcond=None)[0]
    return f, np.zeros(dimension), 1.2 * float(np.linalg.norm(best))


def cornered_problem(dimension: int = 40) -> tuple[LargestAffine, Array, float]:
    """The largest of random planes of slope 1, where 1/√T is about as fast as one can be."""
    rows = np.random.default_rng(0).normal(size=(2 * dimension, dimension))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return LargestAffine(rows), np.full(dimension, dimension**-0.5), 1.0


def recipe_curves(rounds: int = 1000) -> tuple[Curve, ...]:
    """Compute gaps of every recipe against its bound, round by round.

    Recipes run on ℝᵈ with a stated ball where that is allowed, else on a ball. Boundary Frank–Wolfe
    gets a ball that the minimiser lies outside of, as it must; the two methods of rate 1/√T get a
    function with corners.

    Parameters
    ----------
    rounds : int, default=1000
        Number of rounds.

    Returns
    -------
    tuple of Curve
        For each recipe its rounds, gaps and bounds, and how steeply they fall.

    See Also
    --------
    nesterov : A method with its guarantee.

    Examples
    --------
    >>> from dualfold.games import recipe_curves
    >>> curves = recipe_curves(60)
    >>> len(curves), all((curve.gap <= curve.bound).all() for curve in curves)
    (12, True)
    """
    f, start, radius = example_problem()
    ball, small = Ball(radius), Ball(radius / 4)
    cornered, corner_start, corner_radius = cornered_problem()
    horizons = sorted({int(T) for T in np.geomspace(4, rounds, 12)})
    # The gradient is shortest on the small ball at its own minimiser there.
    reached = nesterov(f, start, over=small).play(2000).answer
    least = 0.5 * float(np.linalg.norm(f.subgradient(reached)))
    single = [
        averaged_descent(f, start, radius=radius),
        frank_wolfe(f, start, over=ball),
        boundary_frank_wolfe(f, start, over=small, least_gradient=least),
        extragradient(f, start, radius=radius),
        nesterov(f, start, radius=radius),
        nesterov_infinite_memory(f, start, radius=radius),
        heavy_ball(f, start, over=ball),
        accelerated_proximal(f, norm(1, 1.0), start, radius=radius),
        accelerated_by_gauge(f, len(start), over=ball),
        accelerated_strongly_convex(f, start, radius=radius),
    ]
    return (
        *(
            horizon_curve(
                lambda T, recipe=recipe: recipe(  # type: ignore[misc]
                    cornered, corner_start, rounds=T, radius=corner_radius
                ),
                horizons,
            )
            for recipe in (averaged_subgradient_descent, cumulative_descent)
        ),
        *(gap_curve(recipe, rounds) for recipe in single),
    )
