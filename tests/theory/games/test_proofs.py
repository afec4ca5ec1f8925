"""Every run proves its gap: regrets, bounds, lower bounds and rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from dualfold.errors import ConditionFails, InvalidInput
from dualfold.games import (
    FTL,
    OMD,
    Ball,
    BestResponse,
    Box,
    Conjugate,
    Everywhere,
    FTLPlus,
    FTRLPlus,
    HalfSquare,
    Indicator,
    OMDPlus,
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    averaged_descent,
    averaged_subgradient_descent,
    cumulative_descent,
    extragradient,
    frank_wolfe,
    heavy_ball,
    learn,
    linear_weights,
    nesterov,
    nesterov_infinite_memory,
    norm,
    play,
    recipe_curves,
)
from tests.proofs.game_problems import FUNCTIONS, ROUNDS, SETS, START, D, anywhere, best_on, both
from tests.theory.games.door import LowerBound, PlayerMove


@pytest.fixture(scope="module")
def minimisers():
    return {(g, k): best_on(f, K) for g, f in FUNCTIONS.items() for k, K in SETS.items()}


def recipes_on(f, K, R, rounds):
    """All recipes that this function and this set allow."""
    free = isinstance(K, Everywhere)
    radius = R if free else None
    G = float(np.linalg.norm(f.subgradient(START))) + 2 * f.smoothness * R
    common = {"over": K, "radius": radius}
    yield averaged_descent(f, START, **common)
    yield averaged_subgradient_descent(f, START, rounds=rounds, gradient_bound=G, **common)
    yield cumulative_descent(f, START, rounds=rounds, gradient_bound=G, **common)
    yield extragradient(f, START, **common)
    yield nesterov(f, START, **common)
    yield nesterov(f, START, step=1 / (4 * f.smoothness), **common)
    yield nesterov_infinite_memory(f, START, **common)
    if f.strong_convexity:
        yield accelerated_strongly_convex(f, START, **common)
    if not free:
        yield frank_wolfe(f, START, over=K)
        yield heavy_ball(f, START, over=K)
    if K.gauge_convexity:
        yield accelerated_by_gauge(f, D, over=K)


@pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(400, marks=pytest.mark.full)])
@both
@anywhere
def test_every_run_proves_its_gap(function, place, rounds, minimisers):
    f, K = FUNCTIONS[function], SETS[place]
    best = minimisers[function, place]
    least, R = f.value(best), float(np.linalg.norm(best - START))
    turns = np.arange(1, rounds + 1)
    for recipe in recipes_on(f, K, R, rounds):
        run = recipe.play(rounds)
        allowed = np.array([recipe.bound(int(T)) for T in turns])[: run.rounds]
        error = run.upper - least
        assert np.all(error <= allowed + 1e-9), recipe.name
        # The proof: lower ≤ minimum, error ≤ gap ≤ the sum of regrets, and to the minimiser.
        assert np.all(run.lower <= least + 1e-9), recipe.name
        assert np.all(error <= run.gap + 1e-9), recipe.name
        assert np.all(run.gap <= run.equilibrium + 1e-9), recipe.name
        to_best = (run.x.regret(best) + run.y_regret) / run.x.totals
        assert np.all(error <= to_best + 1e-9), recipe.name
        assert np.all(run.x.regret(best) <= run.x_regret + 1e-7 * run.x.totals), recipe.name
        # The proof for smooth averaged descent uses the minimiser, so its bound is of the
        # error alone; all others hold for the gap, whose comparator is the worst one.
        if recipe.name != "averaged gradient descent":
            assert np.all(run.gap <= allowed + 1e-9), recipe.name


def test_regrets_are_what_they_are_defined_as():
    f, K = FUNCTIONS["quadratic"], SETS["ball"]
    run = nesterov(f, START, over=K).play(30)
    x_star, y_star = K.project(np.ones(D)), f.subgradient(np.linspace(-1, 1, D))
    xs, ys, alpha = run.x.points, run.x.slopes, np.arange(1.0, 31)
    expected_x = sum(a * (x - x_star) @ y for a, x, y in zip(alpha, xs, ys, strict=True))
    assert run.x.regret(x_star)[-1] == pytest.approx(expected_x)
    assert run.x.totals[-1] == pytest.approx(alpha.sum())
    expected_y = sum(
        a * ((f.conjugate(y) - x @ y) - (f.conjugate(y_star) - x @ y_star))
        for a, x, y in zip(alpha, xs, ys, strict=True)
    )
    assert run.y.regret(y_star)[-1] == pytest.approx(expected_y)
    assert run.y_regret[-1] >= run.y.regret(y_star)[-1] - 1e-9
    # The best comparators: a corner of K, and the gradient at the average.
    corner = K.minimiser(run.x.average_slopes[-1])
    assert run.x_regret[-1] == pytest.approx(run.x.regret(corner)[-1])
    assert run.y_regret[-1] == pytest.approx(run.y.regret(f.subgradient(run.answer))[-1])


@pytest.mark.parametrize("recipe", [frank_wolfe, nesterov, heavy_ball, averaged_descent])
def test_the_gap_is_exactly_the_sum_of_regrets(recipe):
    """Not only at most: nothing is lost where only planes are known (no curvature)."""
    run = recipe(FUNCTIONS["logistic"], START, over=SETS["box"]).play(50)
    assert run.upper - run.lower == pytest.approx(run.equilibrium, abs=1e-9)


def test_weights_as_a_list():
    f, part = FUNCTIONS["quadratic"], Indicator(SETS["ball"])
    players = BestResponse(part, START), FTL(Conjugate(f), START)
    listed = play(*players, weights=np.arange(1, 31), rounds=30, order="y first")
    assert listed.averages == pytest.approx(frank_wolfe(f, START, over=part.of).play(30).averages)
    with pytest.raises(InvalidInput, match="round 2 is 0"):
        play(*players, weights=[1.0, 0.0], rounds=2, order="y first")


def test_equilibrium_as_defined():
    """V* − ε ≤ inf_x g(x, ȳ) and sup_y g(x̄, y) ≤ V* + ε."""
    f, K = FUNCTIONS["least squares"], SETS["ball"]
    value = f.value(best_on(f, K))
    run = frank_wolfe(f, START, over=K).play(50)
    ybar = run.x.average_slopes[-1]
    epsilon = run.equilibrium[-1]
    assert value - epsilon <= K.minimum(ybar) - f.conjugate(ybar) + 1e-9
    assert f.value(run.answer) <= value + epsilon


def test_proximal_runs_prove_their_gap():
    f, lam = FUNCTIONS["least squares"], 0.8
    start = np.full(D, 0.3)
    w = start
    for _ in range(20_000):  # proximal gradient, long
        v = w - f.subgradient(w) / f.smoothness
        w = np.sign(v) * np.maximum(np.abs(v) - lam / f.smoothness, 0)
    least, R = f.value(w) + lam * np.abs(w).sum(), float(np.linalg.norm(w - start))
    assert np.any(w == 0)
    recipe = accelerated_proximal(f, norm(1, lam), start, radius=R)
    run = recipe.play(200)
    allowed = np.array([recipe.bound(T) for T in range(1, 201)])[: run.rounds]
    assert np.all(run.upper - least <= allowed + 1e-9)
    assert np.all(run.lower <= least + 1e-9)
    assert np.all(run.upper - least <= run.gap + 1e-9)
    assert np.all(run.gap <= run.equilibrium + 1e-9)
    assert run.gap[-1] < 1e-3


def test_the_table_of_guarantees():
    """The numbers of the literature, written out."""
    f, K, T = FUNCTIONS["least squares"], SETS["ball"], 17
    L, mu, R, G, D2 = f.smoothness, f.strong_convexity, 0.7, 30.0, 1.2**2
    reach = 0.6 + float(np.linalg.norm(START))
    free = {"radius": R}
    steps = {**free, "rounds": T, "gradient_bound": G}
    root = np.sqrt(L / mu)
    expected = {
        averaged_descent(f, START, **free): L * R**2 / T,
        averaged_subgradient_descent(f, START, **steps): G * R / np.sqrt(T),
        cumulative_descent(f, START, **steps): G * R / np.sqrt(T),
        frank_wolfe(f, START, over=K): 2 * L * D2 / (T + 1),
        extragradient(f, START, **free): L * R**2 / T,
        nesterov(f, START, **free): 2 * L * R**2 / (T * (T + 1)),
        nesterov(f, START, step=1 / (4 * L), **free): 4 * L * R**2 / (T * (T + 1)),
        nesterov_infinite_memory(f, START, **free): 2 * L * R**2 / (T * (T + 1)),
        heavy_ball(f, START, over=K): 4 * L * reach**2 / (T * (T + 1)) + 2 * L * D2 / (T + 1),
        accelerated_proximal(f, norm(1), START, **free): 2 * L * R**2 / (T * (T + 1)),
        accelerated_by_gauge(f, D, over=K): 2 * L * 0.6**2 / (T * (T + 1)),
        accelerated_strongly_convex(f, START, **free): (
            (L - mu) * R**2 / 2 * (1 - 1 / (1 + root)) ** (T - 1)
        ),
    }
    for recipe, bound in expected.items():
        assert recipe.bound(T) == pytest.approx(bound), recipe.name


@pytest.mark.parametrize("name", ["everywhere", "box", "l1", "half square"])
def test_the_least_value_in_a_ball(name):
    """The Lagrangian's bound is the minimum itself, as SciPy finds it with x = p − q, p, q ≥ 0."""
    part = {
        "everywhere": Indicator(Everywhere()),
        "box": Indicator(Box(-np.ones(3), 0.4 * np.ones(3))),
        "l1": norm(1, 0.7),
        "half square": HalfSquare(0.3),
    }[name]
    highest = np.repeat([0.4, 1.0] if name == "box" else [9.0, 9.0], 3)
    random = np.random.default_rng(5)
    for _ in range(10):
        ball = Ball(random.uniform(0.2, 2), 0.2 * random.normal(size=3))
        slope = random.normal(size=3)
        bound = LowerBound(HalfSquare(), part, ball)
        bound.add(PlayerMove(slope), 1.0)

        def objective(pq, slope=slope):
            x = pq[:3] - pq[3:]
            extra = {"l1": 0.7 * pq.sum(), "half square": 0.15 * x @ x}.get(name, 0.0)
            return slope @ x + extra

        def room(pq, ball=ball):
            return ball.radius**2 - np.sum((pq[:3] - pq[3:] - ball.center) ** 2)

        found = minimize(
            objective, np.full(6, 0.1), method="SLSQP", bounds=[(0, h) for h in highest],
            constraints={"type": "ineq", "fun": room}, options={"ftol": 1e-12, "maxiter": 500},
        )  # fmt: skip
        assert bound.bound().response == pytest.approx(found.fun, abs=1e-5)


def test_a_false_lower_bound_would_be_seen():
    """The tests above can fail: with a ball that misses the minimiser the bound is wrong."""
    f = FUNCTIONS["logistic"]
    best = best_on(f, Everywhere())
    short = 0.2 * float(np.linalg.norm(best - START))
    with pytest.warns(ConditionFails, match="was met"):
        run = nesterov(f, START, radius=short).play(ROUNDS)
    assert run.lower.max() > f.value(best) + 1e-3
    assert run.level == "failed"  # values below it were met, so the ball was stated wrongly
    assert "radius" in run.certificate.reasons[0]


def test_the_gap_stops_the_game():
    f = FUNCTIONS["least squares"]
    run = nesterov(f, START, radius=5.0).play(10_000, tolerance=1e-4)
    assert run.gap[-1] <= 1e-4 < run.gap[-2]
    assert run.rounds < 10_000
    assert "proved optimal to" in str(run)


def test_an_infinite_gap_says_so():
    run = nesterov(FUNCTIONS["logistic"], START).play(20)
    assert np.all(np.isinf(run.gap))
    assert np.all(np.isinf(run.x_regret))
    assert "the gap is infinite" in str(run)
    assert "minimiser_ball=Ball" in str(run)
    assert nesterov(FUNCTIONS["logistic"], START).bound(10) == np.inf
    # Strong convexity is a statement of its own.
    assert np.isfinite(nesterov(FUNCTIONS["least squares"], START).play(20).gap[-1])


# A slope is read off a few hundred rounds; the bounds hold from the first.
@pytest.mark.parametrize("rounds", [60, pytest.param(600, marks=pytest.mark.full)])
def test_gaps_fall_as_steeply_as_promised(rounds):
    curves = recipe_curves(rounds)
    assert len(curves) == 12
    for curve in curves:
        # The gap holds the rounding of its own sums: f is 18 at the start.
        assert np.all(curve.gap <= curve.bound * (1 + 1e-9) + 1e-10), curve.name
        if rounds >= 600:
            assert curve.as_steep_as_promised, (curve.name, curve.slope)


def test_known_regret_bounds_of_single_players():
    """OMD: D(z*)/γ + (γ/2)Σ‖αu‖²; prescient leaders have none; FTRL⁺: D(z*)/η."""
    random = np.random.default_rng(3)
    slopes, K = random.normal(size=(100, D)), Ball(1.0)
    part, start, gamma = Indicator(K), np.zeros(D), 0.1
    comparators = [K.project(z) for z in random.normal(size=(50, D))]
    alpha = np.arange(1.0, 101)
    leader = learn(FTLPlus(part, start), slopes, linear_weights)
    answer = learn(BestResponse(part, start), slopes, linear_weights)
    mirror = learn(OMD(part, start, step=gamma), slopes, linear_weights)
    regular = learn(FTRLPlus(part, start, step=gamma), slopes, linear_weights)
    prescient = learn(OMDPlus(part, start, step=gamma), slopes, linear_weights)
    price = gamma / 2 * np.cumsum((alpha**2) * np.sum(slopes**2, axis=1))
    for z in comparators:
        assert np.all(leader.regret(z) <= 1e-9)
        assert np.all(answer.regret(z) <= leader.regret(z) + 1e-9)
        distance = z @ z / 2 / gamma
        assert np.all(mirror.regret(z) <= distance + price + 1e-9)
        assert np.all(regular.regret(z) <= distance + 1e-9)
        assert np.all(prescient.regret(z) <= distance + 1e-9)
