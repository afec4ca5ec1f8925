"""The conditions of a guarantee matter: what fails without them, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dualfold.errors import ConditionFails, InvalidInput
from dualfold.games import (
    FTL,
    OMD,
    Ball,
    Box,
    Conjugate,
    Everywhere,
    FTRLPlus,
    Gauge,
    Huber,
    Indicator,
    L1Ball,
    LargestAffine,
    OMDPlus,
    OptimisticFTL,
    Quadratic,
    Simplex,
    accelerated_by_gauge,
    accelerated_strongly_convex,
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    frank_wolfe,
    heavy_ball,
    linear_weights,
    nesterov,
    play,
)
from tests.proofs.game_problems import FUNCTIONS, SETS, START, D, best_on


def test_heavy_ball_stalls_without_a_set():
    """A bowl with straight sides: from 109 the ball circles on heights up to 1.75 for ever."""
    heights = []
    for start in (109.0, 109.0 + 1e-7):
        with pytest.warns(ConditionFails):
            run = heavy_ball(Huber(), np.array([start])).play(2000)
        heights += [run.upper[1000:1050].max(), run.upper[-50:].max()]
    assert min(heights) > 1.7
    # Nesterov's method from there, and the heavy ball on a set, get on.
    assert nesterov(Huber(), np.array([109.0])).play(2000).upper[-50:].max() < 1e-3
    recipe = heavy_ball(Huber(), np.array([109.0]), over=Ball(110.0))
    assert recipe.play(500).upper[-1] <= recipe.bound(500)


@pytest.mark.full
def test_boundary_frank_wolfe_needs_gradients_that_stay():
    """With the minimiser inside, mean gradients vanish and the average goes astray."""
    f = FUNCTIONS["logistic"]
    inside = best_on(f, Everywhere())
    K = Ball(3 * float(np.linalg.norm(inside)))
    with pytest.warns(ConditionFails, match="mean gradient came down"):
        stalled = boundary_frank_wolfe(f, START, over=K).play(4000)
    errors = stalled.upper - f.value(inside)
    assert errors[-1] > 0.5 * errors[1000]
    assert frank_wolfe(f, START, over=K).play(4000).upper[-1] - f.value(inside) < errors[-1] / 50
    with pytest.raises(InvalidInput, match="curved everywhere"):
        boundary_frank_wolfe(f, START, over=SETS["box"])
    # Where the condition holds nothing is said.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        boundary_frank_wolfe(f, START / 10, over=Ball(0.1)).play(500)


def test_boundary_frank_wolfe_checks_what_was_stated():
    f = FUNCTIONS["logistic"]
    with pytest.warns(ConditionFails, match="stated: 1000"):
        boundary_frank_wolfe(f, START / 10, over=Ball(0.1), least_gradient=1000.0).play(50)


def test_the_gauge_method_needs_a_curved_set_around_0():
    f = FUNCTIONS["least squares"]
    for over in (SETS["box"], L1Ball(1.0), Simplex(), Ball(0.6, START)):
        with pytest.raises(InvalidInput, match="strongly convex around 0"):
            accelerated_by_gauge(f, D, over=over)
    # On a box the same players, seated by hand, break the bound and lose the rate.
    d = 20
    Q, inner = np.diag(np.linspace(1, 3, d)), np.random.default_rng(0).normal(size=d)
    f = Quadratic(Q, -Q @ inner / (2 * np.abs(inner).sum()))
    turns = np.arange(1, 2001)
    scaled = {}
    for name, over in (("box", Box(-np.ones(d), np.ones(d))), ("ball", Ball(1.0))):
        start, step = np.zeros(d), 1 / (2 * f.smoothness)
        x_player = FTRLPlus(Indicator(over), start, step=step, divergence=Gauge(over))
        y_player = OptimisticFTL(Conjugate(f), start)
        run = play(x_player, y_player, weights=linear_weights, rounds=2000, order="y first")
        scaled[name] = run.gap * turns * (turns + 1) * step  # at most 1 by the bound
    assert scaled["ball"].max() <= 1
    assert scaled["box"][-1] > 100
    assert scaled["box"][-1] > 1.2 * scaled["box"][300]


def test_the_papers_average_breaks_the_constant():
    """f = max(¼x₁ + (√15/4)|x₂|, −x₁) from (1, 0), T = 1: averaging w₁…w_T exceeds GR/√T."""
    side = np.sqrt(15) / 4
    f = LargestAffine(np.array([[0.25, side], [0.25, -side], [-1.0, 0.0]]))
    start = np.array([1.0, 0.0])
    recipe = averaged_subgradient_descent(f, start, rounds=1, radius=1.0)
    assert f.gradient_bound == pytest.approx(1.0)
    after = start - recipe.x_player.step * f.subgradient(start)
    assert f.value(after) > recipe.bound(1) + 0.1
    assert recipe.play().upper[-1] <= recipe.bound(1)


def test_smooth_averaged_descent_pays_for_its_first_point_on_a_set():
    """LR²/T is for ℝᵈ: on a set f may be almost straight, and x₀ is part of the average."""
    f, K, start = (
        Quadratic(np.array([[1e-3]]), np.ones(1)),
        Box(-np.ones(1), np.ones(1)),
        np.ones(1),
    )
    recipe = averaged_descent(f, start, over=K)
    run, least, L, R = recipe.play(50), f.value(-np.ones(1)), 1e-3, 2.0
    turns = np.arange(1, 51)
    assert np.all(run.upper - least > L * R**2 / turns)
    assert np.all(run.upper - least <= [recipe.bound(int(T)) for T in turns])


def test_stated_gradient_bounds_are_checked():
    f = FUNCTIONS["least squares"]
    recipe = averaged_subgradient_descent(f, START, rounds=10, radius=1.0, gradient_bound=1e-3)
    with pytest.warns(ConditionFails, match="a gradient of length"):
        recipe.play()
    with pytest.raises(InvalidInput, match="state gradient_bound"):
        averaged_subgradient_descent(f, START, rounds=10, radius=1.0)
    with pytest.raises(InvalidInput, match="state radius"):
        cumulative_descent(f, START, rounds=10, gradient_bound=1.0)


def test_refusals():
    f, corners = FUNCTIONS["least squares"], LargestAffine(np.eye(D))
    with pytest.raises(InvalidInput, match="bounded set"):
        frank_wolfe(f, START, over=Everywhere())
    with pytest.raises(InvalidInput, match="1/L"):
        nesterov(corners, START)
    with pytest.raises(InvalidInput, match="at most 1/2L"):
        nesterov(f, START, step=1 / f.smoothness)
    with pytest.raises(InvalidInput, match="0 < μ < L"):
        accelerated_strongly_convex(FUNCTIONS["logistic"], START)
    with pytest.raises(InvalidInput, match="start in its own set"):
        frank_wolfe(f, 10 * np.ones(D), over=Ball(1.0))
    with pytest.raises(InvalidInput, match="how many rounds"):
        nesterov(f, START).play()
    part = Indicator(Ball(1.0))
    with pytest.raises(InvalidInput, match="must move second"):
        play(OMDPlus(part, START, step=1.0), FTL(Conjugate(f), START), rounds=3, order="x first")
    with pytest.raises(InvalidInput, match="order is"):
        play(OMD(part, START, step=1.0), FTL(Conjugate(f), START), rounds=3, order="x")
    with pytest.raises(InvalidInput, match="Conjugate"):
        play(OMD(part, START, step=1.0), FTL(part, START), rounds=3, order="x first")
