"""Recipes against the methods as textbooks write them, round by round.

The closed forms here use gradients, projections and NumPy; no player, no game.
"""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import ConditionFails
from dualfold.games import (
    Ball,
    Ellipsoid,
    LargestAffine,
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    extragradient,
    frank_wolfe,
    heavy_ball,
    nesterov,
    nesterov_infinite_memory,
    norm,
)
from tests.proofs.game_problems import (
    FUNCTIONS,
    ROUNDS,
    SETS,
    START,
    D,
    anywhere,
    assert_close,
    both,
    bounded,
)


def plain_descent(f, K, gamma):
    x, path = START, []
    for _ in range(ROUNDS):
        path.append(x)
        x = K.project(x - gamma * f.subgradient(x))
    return np.array(path)


def running_means(rows, weights=None):
    weights = np.ones(len(rows)) if weights is None else weights
    return np.cumsum(rows * weights[:, None], axis=0) / np.cumsum(weights)[:, None]


@both
@anywhere
def test_averaged_descent(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    run = averaged_descent(f, START, over=K).play(ROUNDS)
    path = plain_descent(f, K, 1 / (2 * f.smoothness))
    assert_close(run.x.points, path)
    assert_close(run.averages, running_means(path))


@both
@anywhere
def test_averaged_subgradients_on_smooth_functions(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    recipe = averaged_subgradient_descent(
        f, START, rounds=ROUNDS, over=K, radius=1.0, gradient_bound=50.0
    )
    path = plain_descent(f, K, 1.0 / (50.0 * np.sqrt(ROUNDS)))
    assert_close(recipe.play().averages, running_means(path))


@pytest.mark.parametrize("place", ["everywhere", "ball", "box", "l1 ball"])
@pytest.mark.parametrize("kind", ["corners", "l1"])
def test_averaged_descent_of_functions_with_corners(kind, place):
    """Theorem 6.20 of the paper at every step, where f has no gradient at many points."""
    K = SETS[place]
    rows = np.random.default_rng(1).normal(size=(20, D))
    f = LargestAffine(rows, np.linspace(-0.1, 0.1, 20)) if kind == "corners" else norm(1, 0.5)
    G = f.gradient_bound if kind == "corners" else 0.5 * np.sqrt(D)
    recipe = averaged_subgradient_descent(
        f, START, rounds=ROUNDS, over=K, radius=1.0, gradient_bound=G
    )
    path = plain_descent(f, K, 1.0 / (G * np.sqrt(ROUNDS)))
    run = recipe.play()
    assert_close(run.x.points, path)
    assert_close(run.averages, running_means(path))


@both
@anywhere
def test_cumulative_descent(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    recipe = cumulative_descent(f, START, rounds=ROUNDS, over=K, radius=1.0, gradient_bound=50.0)
    gamma, x, total, path = 1.0 / (50.0 * np.sqrt(ROUNDS)), START, np.zeros(D), []
    for t in range(1, ROUNDS + 1):
        path.append(x)
        total = total + x
        x = K.project(x - gamma * f.subgradient(total / t))
    run = recipe.play()
    assert_close(run.x.points, np.array(path))
    assert_close(run.averages, running_means(np.array(path)))


@both
@bounded
def test_frank_wolfe(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    w, path = START, []
    for t in range(1, ROUNDS + 1):
        w = w + 2 / (t + 1) * (K.minimiser(f.subgradient(w)) - w)
        path.append(w)
    assert_close(frank_wolfe(f, START, over=K).play(ROUNDS).averages, np.array(path))


@both
@pytest.mark.parametrize("K", [Ball(0.1), Ellipsoid(np.linspace(0.05, 0.1, D))])
def test_boundary_frank_wolfe(function, K):
    """On sets that all three minimisers lie outside of; else the leader's jumps are chaotic."""
    f = FUNCTIONS[function]
    x, total, path = START / 10, np.zeros(D), []
    for _ in range(ROUNDS):
        path.append(x)
        total = total + f.subgradient(x)
        x = K.minimiser(total)
    run = boundary_frank_wolfe(f, START / 10, over=K).play(ROUNDS)
    assert_close(run.x.points, np.array(path))
    assert_close(run.averages, running_means(np.array(path)))


@both
@anywhere
def test_extragradient(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    gamma = 1 / (2 * f.smoothness)
    half, slope, path = START, f.subgradient(START), []
    for _ in range(ROUNDS):
        x = K.project(half - gamma * slope)
        slope = f.subgradient(x)
        half = K.project(half - gamma * slope)
        path.append(x)
    run = extragradient(f, START, over=K).play(ROUNDS)
    assert_close(run.x.points, np.array(path))


@both
@pytest.mark.parametrize("divisor", [2, 4])
@pytest.mark.parametrize("recipe", [nesterov, nesterov_infinite_memory])
def test_nesterov_without_a_set(function, divisor, recipe):
    f = FUNCTIONS[function]
    gamma = 1 / (divisor * f.smoothness)
    w = before = START
    path = []
    for t in range(1, ROUNDS + 1):
        z = START if t == 1 else w + (t - 2) / (t + 1) * (w - before)
        w, before = z - 2 * gamma * t / (t + 1) * f.subgradient(z), w
        path.append(w)
    assert_close(recipe(f, START, step=gamma).play(ROUNDS).averages, np.array(path))


@both
@bounded
def test_nesterov_on_a_set(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    gamma = 1 / (2 * f.smoothness)
    w, x, path, total, far_w, far_x, far = START, START, [], np.zeros(D), START, START, []
    for t in range(1, ROUNDS + 1):
        beta = 2 / (t + 1)
        z = (1 - beta) * w + beta * x
        x = K.project(x - gamma * t * f.subgradient(z))
        w = (1 - beta) * w + beta * x
        path.append(w)
        total = total + t * f.subgradient((1 - beta) * far_w + beta * far_x)
        far_x = K.project(START - gamma * total)
        far_w = (1 - beta) * far_w + beta * far_x
        far.append(far_w)
    assert_close(nesterov(f, START, over=K).play(ROUNDS).averages, np.array(path))
    assert_close(nesterov_infinite_memory(f, START, over=K).play(ROUNDS).averages, np.array(far))


@both
def test_heavy_ball_without_a_set(function):
    f = FUNCTIONS[function]
    gamma = 1 / (4 * f.smoothness)
    w = before = START
    path = []
    for t in range(1, ROUNDS + 1):
        push = 0.0 if t == 1 else (t - 2) / (t + 1)
        w, before = w - 2 * gamma * t / (t + 1) * f.subgradient(w) + push * (w - before), w
        path.append(w)
    with pytest.warns(ConditionFails, match="no guarantee without a bounded set"):
        recipe = heavy_ball(f, START)
    assert recipe.bound(10) == np.inf
    assert_close(recipe.play(ROUNDS).averages, np.array(path))


@both
@bounded
def test_heavy_ball_on_a_set(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    gamma = 1 / (4 * f.smoothness)
    w = x = START
    path = []
    for t in range(1, ROUNDS + 1):
        x = K.project(x - gamma * t * f.subgradient(w))
        w = w + 2 / (t + 1) * (x - w)
        path.append(w)
    assert_close(heavy_ball(f, START, over=K).play(ROUNDS).averages, np.array(path))


@both
def test_accelerated_proximal(function):
    f, lam = FUNCTIONS[function], 0.3
    gamma = 1 / (2 * f.smoothness)
    w = x = START
    path = []
    for t in range(1, ROUNDS + 1):
        z = w + 2 / (t + 1) * (x - w)
        v = x - gamma * t * f.subgradient(z)
        x = np.sign(v) * np.maximum(np.abs(v) - gamma * t * lam, 0)
        w = w + 2 / (t + 1) * (x - w)
        path.append(w)
    run = accelerated_proximal(f, norm(1, lam), START, radius=99.0).play(ROUNDS)
    assert_close(run.averages, np.array(path))
    assert run.upper[-1] == pytest.approx(f.value(w) + lam * np.abs(w).sum())


@both
@pytest.mark.parametrize("place", ["ball", "ellipsoid"])
def test_accelerated_by_gauge(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    eta = 1 / (2 * f.smoothness * (0.6 if place == "ball" else 1.0) ** 2)
    w, x, total, path = np.zeros(D), np.zeros(D), np.zeros(D), []
    for t in range(1, ROUNDS + 1):
        total = total + t * f.subgradient(w + 2 / (t + 1) * (x - w))
        corner = K.minimiser(total)
        x = min(1.0, -eta * float(total @ corner)) * corner
        w = w + 2 / (t + 1) * (x - w)
        path.append(w)
    assert_close(accelerated_by_gauge(f, D, over=K).play(ROUNDS).averages, np.array(path))


@pytest.mark.parametrize("function", ["quadratic", "least squares"])
def test_accelerated_strongly_convex_without_a_set(function):
    """x and the gradient step z − ∇f(z)/μ, mixed; in no closed form of players."""
    f = FUNCTIONS[function]
    L, mu = f.smoothness, f.strong_convexity
    w, x, total, path = START, START, 0.0, []
    for t in range(1, ROUNDS + 1):
        alpha = 1.0 if t == 1 else total / np.sqrt(L / mu)
        total += alpha
        z = w + alpha / total * (x - w)
        mix = mu * alpha / (L - mu + mu * total)
        x = (1 - mix) * x + mix * (z - f.subgradient(z) / mu)
        w = w + alpha / total * (x - w)
        path.append(w)
    assert_close(accelerated_strongly_convex(f, START).play(ROUNDS).averages, np.array(path))


@pytest.mark.parametrize("function", ["quadratic", "least squares"])
@bounded
def test_accelerated_strongly_convex_on_a_set(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    L, mu = f.smoothness, f.strong_convexity
    w, x, slopes, total, path = START, START, np.zeros(D), 0.0, []
    for t in range(1, ROUNDS + 1):
        alpha = 1.0 if t == 1 else total / np.sqrt(L / mu)
        total += alpha
        z = w + alpha / total * (x - w)
        slopes = slopes + alpha * (f.subgradient(z) - mu * z)
        x = K.project(((L - mu) * START - slopes) / (L - mu + mu * total))
        w = w + alpha / total * (x - w)
        path.append(w)
    assert_close(
        accelerated_strongly_convex(f, START, over=K).play(ROUNDS).averages, np.array(path)
    )
