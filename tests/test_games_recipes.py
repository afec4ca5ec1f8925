"""Recipes against the methods as textbooks write them, round by round, and against bounds.

The closed forms here use gradients, projections and NumPy; no player, no game.
"""

from __future__ import annotations

import warnings

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
    Ellipsoid,
    Everywhere,
    FTLPlus,
    FTRLPlus,
    Gauge,
    HalfSquare,
    Huber,
    Indicator,
    L1Ball,
    LargestAffine,
    LeastSquares,
    Logistic,
    Move,
    OMDPlus,
    OptimisticFTL,
    Quadratic,
    Simplex,
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    cumulative_descent,
    extragradient,
    frank_wolfe,
    growing,
    heavy_ball,
    learn,
    nesterov,
    nesterov_infinite_memory,
    norm,
    play,
)
from dualfold.games.curves import recipe_curves
from dualfold.games.lower import LowerBound

D, ROUNDS = 8, 200


def _functions():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(D, D)))[0]
    matrix = basis @ np.diag(np.geomspace(1e-3, 10, D)) @ basis.T
    rows = random.normal(size=(40, D))
    labels = np.sign(rows @ random.normal(size=D) + random.normal(size=40))
    return {
        "quadratic": Quadratic((matrix + matrix.T) / 2, 0.1 * random.normal(size=D), 0.3),
        "logistic": Logistic(0.5 * rows, labels),
        "least squares": LeastSquares(0.3 * rows, random.normal(size=40)),
    }


FUNCTIONS = _functions()
START = np.full(D, 0.1)
SETS = {
    "everywhere": Everywhere(),
    "ball": Ball(0.6),
    "box": Box(np.full(D, -0.2), np.full(D, 0.15)),
    "ellipsoid": Ellipsoid(np.linspace(0.4, 1.0, D)),
    "l1 ball": L1Ball(1.0),
}
both = pytest.mark.parametrize("function", FUNCTIONS)
anywhere = pytest.mark.parametrize("place", SETS)
bounded = pytest.mark.parametrize("place", [name for name in SETS if name != "everywhere"])


def close(ours, theirs):
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 1e-10


def best_on(f, K):
    """The least value over K and where, by restarted accelerated projected gradients."""
    L = f.smoothness
    x = K.project(START)
    if isinstance(f, Quadratic) and isinstance(K, Everywhere):
        x = np.linalg.solve(f.matrix, -f.linear)
    for _ in range(15):
        w = z = x
        for t in range(1, 300):
            following = K.project(z - f.subgradient(z) / L)
            z = following + (t - 1) / (t + 2) * (following - w)
            w = following
        x = w if f.value(w) <= f.value(x) else x
    return x


@pytest.fixture(scope="module")
def minimisers():
    return {(g, k): best_on(f, K) for g, f in FUNCTIONS.items() for k, K in SETS.items()}


# ---------------------------------------------------------------- closed forms


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
    close(run.x.points, path)
    close(run.averages, running_means(path))


@both
@anywhere
def test_averaged_subgradients_on_smooth_functions(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    recipe = averaged_subgradient_descent(
        f, START, rounds=ROUNDS, over=K, radius=1.0, gradient_bound=50.0
    )
    path = plain_descent(f, K, 1.0 / (50.0 * np.sqrt(ROUNDS)))
    close(recipe.play().averages, running_means(path))


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
    close(run.x.points, path)
    close(run.averages, running_means(path))


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
    close(run.x.points, np.array(path))
    close(run.averages, running_means(np.array(path)))


@both
@bounded
def test_frank_wolfe(function, place):
    f, K = FUNCTIONS[function], SETS[place]
    w, path = START, []
    for t in range(1, ROUNDS + 1):
        w = w + 2 / (t + 1) * (K.minimiser(f.subgradient(w)) - w)
        path.append(w)
    close(frank_wolfe(f, START, over=K).play(ROUNDS).averages, np.array(path))


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
    close(run.x.points, np.array(path))
    close(run.averages, running_means(np.array(path)))


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
    close(run.x.points, np.array(path))


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
    close(recipe(f, START, step=gamma).play(ROUNDS).averages, np.array(path))


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
    close(nesterov(f, START, over=K).play(ROUNDS).averages, np.array(path))
    close(nesterov_infinite_memory(f, START, over=K).play(ROUNDS).averages, np.array(far))


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
    close(recipe.play(ROUNDS).averages, np.array(path))


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
    close(heavy_ball(f, START, over=K).play(ROUNDS).averages, np.array(path))


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
    run = accelerated_proximal(f, norm(1, lam), START, radius=2.0).play(ROUNDS)
    close(run.averages, np.array(path))
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
    close(accelerated_by_gauge(f, D, over=K).play(ROUNDS).averages, np.array(path))


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
    close(accelerated_strongly_convex(f, START).play(ROUNDS).averages, np.array(path))


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
    close(accelerated_strongly_convex(f, START, over=K).play(ROUNDS).averages, np.array(path))


# ---------------------------------------------------------------- proofs of every run


def recipes_on(f, K, R):
    """All recipes that this function and this set allow."""
    free = isinstance(K, Everywhere)
    radius = R if free else None
    G = float(np.linalg.norm(f.subgradient(START))) + 2 * f.smoothness * R
    common = {"over": K, "radius": radius}
    yield averaged_descent(f, START, **common)
    yield averaged_subgradient_descent(f, START, rounds=ROUNDS, gradient_bound=G, **common)
    yield cumulative_descent(f, START, rounds=ROUNDS, gradient_bound=G, **common)
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


@both
@anywhere
def test_every_run_proves_its_gap(function, place, minimisers):
    f, K = FUNCTIONS[function], SETS[place]
    best = minimisers[function, place]
    least, R = f.value(best), float(np.linalg.norm(best - START))
    turns = np.arange(1, ROUNDS + 1)
    for recipe in recipes_on(f, K, R):
        run = recipe.play(ROUNDS)
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
    assert run.x.average_regret(x_star)[-1] == pytest.approx(expected_x / alpha.sum())
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
    run = recipe.play(ROUNDS)
    allowed = np.array([recipe.bound(T) for T in range(1, ROUNDS + 1)])[: run.rounds]
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
        bound.add(Move(slope), 0.0, 1.0)

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
        assert bound.linear() == pytest.approx(found.fun, abs=1e-5)


def test_a_false_lower_bound_would_be_seen():
    """The tests above can fail: with a ball that misses the minimiser the bound is wrong."""
    f = FUNCTIONS["logistic"]
    best = best_on(f, Everywhere())
    short = 0.2 * float(np.linalg.norm(best - START))
    run = nesterov(f, START, radius=short).play(ROUNDS)
    assert run.lower.max() > f.value(best) + 1e-3


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
    assert "within=Ball" in str(run)
    assert nesterov(FUNCTIONS["logistic"], START).bound(10) == np.inf
    # Strong convexity is a statement of its own.
    assert np.isfinite(nesterov(FUNCTIONS["least squares"], START).play(20).gap[-1])


def test_gaps_fall_as_steeply_as_promised():
    curves = recipe_curves(600)
    assert len(curves) == 12
    for curve in curves:
        assert np.all(curve.gap <= curve.bound * (1 + 1e-9) + 1e-11), curve.name
        assert curve.as_steep_as_promised, (curve.name, curve.slope)


# ---------------------------------------------------------------- conditions matter


def test_heavy_ball_stalls_without_a_set():
    """A bowl with straight sides: from 109 the ball circles on heights up to 1.75 for ever."""
    heights = []
    for start in (109.0, 109.0 + 1e-7):
        with pytest.warns(ConditionFails):
            run = heavy_ball(Huber(), np.array([start])).play(4000)
        heights += [run.upper[1000:1050].max(), run.upper[-50:].max()]
    assert min(heights) > 1.7
    # Nesterov's method from there, and the heavy ball on a set, get on.
    assert nesterov(Huber(), np.array([109.0])).play(4000).upper[-50:].max() < 1e-3
    recipe = heavy_ball(Huber(), np.array([109.0]), over=Ball(110.0))
    assert recipe.play(500).upper[-1] <= recipe.bound(500)


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
        run = play(x_player, y_player, weights=growing, rounds=2000, order="y first")
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


# ---------------------------------------------------------------- the protocol alone


def test_known_regret_bounds_of_single_players():
    """OMD: D(z*)/γ + (γ/2)Σ‖αu‖²; prescient leaders have none; FTRL⁺: D(z*)/η."""
    random = np.random.default_rng(3)
    slopes, K = random.normal(size=(100, D)), Ball(1.0)
    part, start, gamma = Indicator(K), np.zeros(D), 0.1
    comparators = [K.project(z) for z in random.normal(size=(50, D))]
    alpha = np.arange(1.0, 101)
    leader = learn(FTLPlus(part, start), slopes, growing)
    answer = learn(BestResponse(part, start), slopes, growing)
    mirror = learn(OMD(part, start, step=gamma), slopes, growing)
    regular = learn(FTRLPlus(part, start, step=gamma), slopes, growing)
    prescient = learn(OMDPlus(part, start, step=gamma), slopes, growing)
    price = gamma / 2 * np.cumsum((alpha**2) * np.sum(slopes**2, axis=1))
    for z in comparators:
        assert np.all(leader.regret(z) <= 1e-9)
        assert np.all(answer.regret(z) <= leader.regret(z) + 1e-9)
        distance = z @ z / 2 / gamma
        assert np.all(mirror.regret(z) <= distance + price + 1e-9)
        assert np.all(regular.regret(z) <= distance + 1e-9)
        assert np.all(prescient.regret(z) <= distance + 1e-9)
