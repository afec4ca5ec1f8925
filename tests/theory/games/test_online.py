"""The online protocol with any losses, and divergences of any φ, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from dualfold.errors import InvalidInput, NotConverged
from dualfold.games import (
    FTL,
    FTRL,
    OMD,
    Ball,
    BestResponse,
    Box,
    Bregman,
    Euclidean,
    Everywhere,
    FTLPlus,
    FTRLPlus,
    HalfSquare,
    Indicator,
    KullbackLeibler,
    L1Ball,
    LargestAffine,
    Linear,
    Logistic,
    OMDPlus,
    OptimisticFTL,
    Oracle,
    Product,
    Quadratic,
    Simplex,
    Spectrahedron,
    VonNeumann,
    learn,
    least_point,
    linear_weights,
    norm,
)
from tests.theory.games.door import Mixture

D = 3
EVERYWHERE = Indicator(Everywhere())


def draws(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def absolute(a):
    """Σ|z − a|, by hand."""
    return lambda z: (float(np.abs(z - a).sum()), np.sign(z - a))


def test_square_losses_have_closed_forms_for_every_strategy():
    goals, start, eta = draws(0, 12, D), draws(1, D), 0.7
    losses = [HalfSquare(1.0, a) for a in goals]
    alpha = np.arange(1.0, 13)
    means = np.cumsum(alpha[:, None] * goals, axis=0) / np.cumsum(alpha)[:, None]

    def moves(player, **keywords):
        return learn(player, losses, linear_weights, **keywords).points

    np.testing.assert_allclose(moves(FTL(EVERYWHERE, start))[1:], means[:-1], atol=1e-7)
    np.testing.assert_allclose(moves(FTLPlus(EVERYWHERE, start)), means, atol=1e-7)
    np.testing.assert_allclose(moves(BestResponse(EVERYWHERE, start)), goals, atol=1e-7)
    totals = np.cumsum(alpha)[:, None]
    leader = (start + eta * totals * means) / (1 + eta * totals)
    np.testing.assert_allclose(moves(FTRLPlus(EVERYWHERE, start, eta)), leader, atol=1e-7)
    np.testing.assert_allclose(moves(FTRL(EVERYWHERE, start, eta))[1:], leader[:-1], atol=1e-7)
    mirror, plain = [start], [start]
    for t, a in enumerate(goals):
        pull = eta * alpha[t]
        mirror.append((mirror[-1] + pull * a) / (1 + pull))
        plain.append(plain[-1] - pull * (plain[-1] - a))
    np.testing.assert_allclose(moves(OMD(EVERYWHERE, start, eta)), mirror[:-1], atol=1e-7)
    np.testing.assert_allclose(moves(OMDPlus(EVERYWHERE, start, eta)), mirror[1:], atol=1e-7)
    slopes = moves(OMD(EVERYWHERE, start, eta), shown="slope")
    np.testing.assert_allclose(slopes, plain[:-1], rtol=1e-10)
    guessed = (totals[:-1] * means[:-1] + alpha[1:, None] * goals[:-1]) / totals[1:]
    np.testing.assert_allclose(moves(OptimisticFTL(EVERYWHERE, start))[1:], guessed, atol=1e-7)


@pytest.mark.parametrize("divergence", [Euclidean(), KullbackLeibler()], ids=["square", "entropy"])
def test_slopes_linear_losses_and_functions_are_the_same_losses(divergence):
    slopes, start = draws(2, 6, D), np.full(D, 1 / D)
    player = FTRL(Indicator(Simplex()), start, 0.3, divergence)
    given = learn(player, slopes)
    linear = learn(player, [Linear(u) for u in slopes])
    functions = learn(player, [lambda z, u=u: (float(u @ z), u) for u in slopes])
    late = learn(player, [*slopes[:3], *functions.losses[3:]])
    np.testing.assert_array_equal(given.points, linear.points)
    np.testing.assert_allclose(given.points, functions.points, atol=1e-6)
    np.testing.assert_allclose(given.points, late.points, atol=1e-6)
    np.testing.assert_allclose(given.paid, functions.paid, atol=1e-6)


def test_leaders_of_absolute_losses_are_medians():
    goals = draws(3, 9, 2)
    run = learn(FTLPlus(Indicator(Box(-5.0, 5.0)), np.zeros(2)), [absolute(a) for a in goals])
    for t in (1, 3, 5, 9):  # an odd number: the median is the one minimiser
        np.testing.assert_allclose(run.points[t - 1], np.median(goals[:t], axis=0), atol=1e-6)
    found = run.best()
    least = np.abs(goals - np.median(goals, axis=0)).sum() / 9
    assert found.lower[0] <= least * (1 + 1e-12)
    assert least <= found.upper[0] * (1 + 1e-12)
    assert found.upper[0] - found.lower[0] <= 1e-6
    assert found.certificate.level == "unresolved"  # nobody bounds the rounding of a function


def test_what_is_said_of_the_best_point_is_true_and_proved_for_known_functions():
    """Against a fine grid: the bracket holds its least value, the level is proved."""
    rows = draws(4, 8, 2)
    losses = [LargestAffine(np.array([-row, 0 * row]), np.array([1.0, 0.0])) for row in rows[:4]]
    losses += [Logistic(row[None], np.array([1.0])) for row in rows[4:]]
    run = learn(OMD(Indicator(Ball(1.0)), np.zeros(2), 0.2), losses, linear_weights, shown="slope")
    found = run.best()
    assert found.certificate.level == "proved"
    angles, radii = np.meshgrid(np.linspace(0, 2 * np.pi, 60), np.linspace(0, 1, 20))
    grid = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1).reshape(-1, 2)
    mean = Mixture(tuple(zip(run.weights / run.weights.sum(), losses, strict=True)))
    least = min(mean.value(z) for z in grid)
    assert found.lower[0] <= least
    assert found.upper[0] <= least + 1e-9
    assert found.upper[0] - found.lower[0] < 1e-6
    assert mean.value(0.9 * found.point) > found.upper[0]


def test_an_opponent_who_answers_beats_follow_the_leader_but_not_mirror_descent():
    """On [−1, 1] the slope has the sign of z_t: the leader jumps, and pays 1 in every round."""
    seen = []

    def against(past):
        seen.append(tuple(map(len, past)))
        return np.array([1.0 if past.points[-1][0] >= 0 else -1.0])

    T, part, start = 36, Indicator(Box(-1.0, 1.0)), np.array([0.0])
    leader = learn(FTL(part, start), against, rounds=T)
    assert seen[:3] == [(1, 0, 1), (2, 1, 2), (3, 2, 3)]
    mirror = learn(OMD(part, start, T**-0.5), against, rounds=T)
    assert leader.average_regret([T]).low[0] > 0.9
    curve = mirror.average_regret()
    assert curve.rounds[0] == 1
    assert curve.rounds[-1] == T
    assert np.all(curve.low <= curve.high + 1e-12)
    assert np.all(curve.low <= curve.bound + 1e-12)
    assert curve.high[-1] <= T**-0.5 + 1e-12  # GR/√T
    prescient = learn(FTLPlus(part, start), lambda past: np.ones(1), rounds=3)
    assert prescient.average_regret().high.max() <= 1e-12
    seen.clear()
    learn(
        BestResponse(part, start),
        lambda past: (seen.append(len(past.points)), np.ones(1))[1],
        rounds=2,
    )
    assert seen == [0, 1]  # who moves second has not moved yet


PLAYERS = {
    "mirror, squares": (OMD, Ball(1.0), Euclidean()),
    "mirror, entropy": (OMD, Simplex(2.0), KullbackLeibler()),
    "mirror, entropy, sum at most 1": (OMD, L1Ball(1.0), KullbackLeibler()),
    "mirror, a φ": (OMD, Ball(1.0), Bregman(Quadratic(np.diag([1.0, 2.0, 3.0])))),
    "leader, a φ": (FTRL, Ball(1.0), Bregman(Quadratic(np.diag([1.0, 2.0, 3.0])))),
    "leader, entropy, box": (FTRL, Box(0.05, 0.9), KullbackLeibler()),
    "leader, entropy": (FTRL, Simplex(), KullbackLeibler()),
}


# The quick ones of both kinds; all of them take some seconds.
QUICK = {
    ("mirror, squares", "slope"),
    ("mirror, entropy", "loss"),
    ("leader, a φ", "slope"),
    ("leader, entropy", "loss"),
}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param(name, shown, marks=() if (name, shown) in QUICK else pytest.mark.full)
        for name in PLAYERS
        for shown in ("loss", "slope")
    ],
)
def test_regret_keeps_the_bound_of_lemma_6_21(name, shown):
    strategy, over, divergence = PLAYERS[name]
    goals = 0.5 * draws(5, 4, D)
    losses = [absolute(a) if t % 2 else HalfSquare(2.0, a) for t, a in enumerate(goals)]
    start = over.project(np.full(D, 0.3))
    run = learn(
        strategy(Indicator(over), start, 0.2, divergence), losses, linear_weights, shown=shown
    )
    curve = run.average_regret([4])
    # The entropy's player never leaves x ≥ 0, so of the ball's other points nothing is promised.
    assert np.all(np.isfinite(curve.bound)) or isinstance(over, L1Ball)
    assert np.all(curve.high - curve.low < 1e-5 * (1 + np.abs(curve.low)))
    assert np.all(curve.low <= curve.bound + 1e-9)
    squares = [divergence.dual_square(run.part, u) for u in run.weights[:, None] * run.slopes]
    for z in (over.project(z) for z in draws(6, 20, D)):
        z = np.abs(z) if isinstance(divergence, KullbackLeibler) else z
        bound = divergence.distance(z, start) / 0.2 + 0.1 * np.cumsum(squares)
        assert np.all(run.regret(z) <= bound + 1e-7)


def test_what_is_no_loss_is_refused_and_never_taken_for_a_slope():
    player = OMD(EVERYWHERE, np.zeros(2), 0.1)
    for losses, words in (
        ([lambda z: float(z @ z)], "two things"),
        ([lambda z: (z, z)], "one number"),
        ([lambda z: (0.0, np.ones(3))], "that shape"),
        ([np.ones(3)], "shape"),
        (["up"], "real numbers"),
        ([np.array([np.nan, 0.0])], "finite"),
        (HalfSquare(), "one function"),
        ([], "empty"),
    ):
        with pytest.raises(InvalidInput, match=words):
            learn(player, losses)
    with pytest.raises(InvalidInput, match="rounds"):
        learn(player, lambda past: np.ones(2))
    with pytest.raises(InvalidInput, match="no point yet"):
        learn(OMDPlus(EVERYWHERE, np.zeros(2), 0.1), [np.ones(2)], shown="slope")
    hill = Oracle(lambda z: (float(z @ z), -2 * z))  # the slope of another function
    with pytest.raises(InvalidInput, match="not convex"):
        least_point(hill, Indicator(Ball(1.0)), np.array([0.5, 0.1]))


def brute(slope, weight, part_value, divergence, center, project):
    """The step by SciPy on a parametrisation that stays inside."""

    def total(x):
        z = project(x)
        return float(slope @ z) + weight * part_value(z) + divergence.distance(z, center)

    tries = [
        minimize(
            total,
            x0,
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000},
        )
        for x0 in (center, 0.8 * center + 0.05)
    ]
    return min(found.fun for found in tries)


ENTROPIC = {
    "everywhere": (EVERYWHERE, lambda z: 0.0, lambda x: np.exp(x)),
    "sum at most 1": (
        Indicator(L1Ball(1.0)),
        lambda z: 0.0,
        lambda x: np.abs(x) / max(1.0, np.abs(x).sum()),
    ),
    "box": (Indicator(Box(0.2, 0.7)), lambda z: 0.0, lambda x: 0.45 + 0.25 * np.sin(9 * x)),
    "product": (
        Indicator(Product((Box(0.0, 0.4), Everywhere()), (1, 2))),
        lambda z: 0.0,
        lambda x: np.array([np.clip(x[0], 0.0, 0.4), *np.abs(x[1:])]),
    ),
    "norm": (norm(1, 0.5), lambda z: 0.5 * z.sum(), np.abs),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTROPIC)
def test_entropic_steps_beyond_the_simplex(name):
    part, part_value, project = ENTROPIC[name]
    kl, center = KullbackLeibler(), np.array([0.3, 0.2, 0.4])
    for slope in 0.8 * draws(7, 3, D):
        x = kl.step(part, slope, 0.6, center)
        ours = float(slope @ x) + 0.6 * part_value(x) + kl.distance(x, center)
        theirs = brute(slope, 0.6, part_value, kl, center, project)
        assert ours <= theirs + 1e-9
        assert ours >= theirs - 1e-6  # theirs is feasible, so ours cannot be far below


def negative_entropy():
    return Oracle(lambda x: (float(np.sum(x * np.log(x) - x)), np.log(x)), strong_convexity=0.5)


def test_bregman_of_known_functions_are_known_divergences():
    x, c, slope = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]), draws(8, D)
    entropy, kl = Bregman(negative_entropy()), KullbackLeibler()
    assert entropy.distance(x, c) == pytest.approx(kl.distance(x, c), rel=1e-12)
    np.testing.assert_allclose(entropy.slope(x, c), kl.slope(x, c), rtol=1e-12)
    for part in (Indicator(Box(0.05, 2.0)), EVERYWHERE):
        ours = entropy.step(part, 0.3 * slope, 1.0, c)
        np.testing.assert_allclose(ours, kl.step(part, 0.3 * slope, 1.0, c), atol=1e-7)
    half = Bregman(HalfSquare())
    for part in (Indicator(Ball(0.5)), Indicator(Simplex()), EVERYWHERE, norm(1, 0.3)):
        ours = half.step(part, slope, 0.7, c)
        np.testing.assert_allclose(ours, Euclidean().step(part, slope, 0.7, c), atol=1e-7)
    Q = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
    bowl = Bregman(Quadratic(Q))
    assert bowl.distance(x, c) == pytest.approx((x - c) @ Q @ (x - c) / 2, rel=1e-12)
    ours = bowl.step(EVERYWHERE, slope, 1.0, c)
    np.testing.assert_allclose(ours, c - np.linalg.solve(Q, slope), atol=1e-9)


def test_bregman_steps_meet_their_condition_on_a_set():
    """∇φ(c) − slope − ∇φ(x) makes no acute angle with any way into the set: x is the step."""
    burg = Bregman(
        Oracle(
            lambda x: (
                (-float(np.log(x).sum()), -1 / x)
                if x.min() > 0
                else (np.inf, np.full_like(x, np.nan))
            )
        )
    )
    center = np.array([0.2, 0.3, 0.5])
    members = np.array([Simplex().project(z) for z in draws(9, 200, D)])
    for slope in draws(10, 5, D):
        x = burg.step(Indicator(Simplex()), slope, 1.0, center)
        left = -1 / center - slope + 1 / x
        assert x.min() > 0
        assert np.max((members - x) @ left) <= 1e-6
    # The three points' identity, and D ≥ 0.
    a, b, c = np.abs(draws(11, 3, D)) + 0.1
    both = burg.distance(a, b) + burg.distance(b, c)
    assert burg.distance(a, c) == pytest.approx(both + burg.slope(b, c) @ (a - b), rel=1e-9)
    assert burg.distance(a, b) > 0
    with pytest.raises(NotConverged, match="not found"):
        Bregman(Linear(np.ones(D))).step(Indicator(Everywhere()), np.zeros(D) + 1.0, 1.0, center)


def test_matrix_entropy_is_the_entropy_of_spectra():
    neumann, kl = VonNeumann(), KullbackLeibler()
    x, c, u = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]), draws(12, D)
    turn = np.linalg.qr(draws(13, D, D))[0]
    lift = [turn @ np.diag(v) @ turn.T for v in (x, c, u)]
    assert neumann.distance(*lift[:2]) == pytest.approx(kl.distance(x, c), rel=1e-9)
    for over, flat in ((Spectrahedron(2.0), Simplex(2.0)), (Everywhere(), Everywhere())):
        step = neumann.step(Indicator(over), lift[2], 1.0, lift[1])
        expected = kl.step(Indicator(flat), u, 1.0, c)
        np.testing.assert_allclose(step, turn @ np.diag(expected) @ turn.T, atol=1e-10)
    # A slope that does not commute: the gradient at the step is a multiple of I.
    slope = draws(14, D, D)
    slope = slope + slope.T
    X = neumann.step(Indicator(Spectrahedron()), slope, 1.0, lift[1])
    left = slope + neumann.slope(X, lift[1])
    np.testing.assert_allclose(left, left[0, 0] * np.eye(D), atol=1e-9)
    losses = [A + A.T for A in draws(15, 12, D, D)]
    run = learn(OMD(Indicator(Spectrahedron()), np.eye(D) / D, 0.1, neumann), losses)
    curve = run.average_regret()
    assert np.all(curve.low <= curve.bound)
    least = np.linalg.eigvalsh(np.mean(losses, axis=0))[0]
    assert run.paid[-1] / 12 - least == pytest.approx(curve.low[-1], abs=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1e9, 1e120])
def test_least_points_at_corners_in_any_units(unit):
    """Against linear programming: descents whose steps are below rounding have not arrived."""
    for seed in range(5):
        slopes = np.random.default_rng(seed).standard_normal((4, 3))
        found = linprog(
            [0, 0, 0, 1], np.c_[slopes, -np.ones(4)], np.zeros(4), [[1, 1, 1, 0]], [1],
            bounds=[(0, None)] * 3 + [(None, None)],
        )  # fmt: skip
        ours = least_point(LargestAffine(unit * slopes), Indicator(Simplex()), np.full(3, 1 / 3))
        assert ours.level == "proved", str(ours)
        assert ours.upper[0] == pytest.approx(unit * found.fun, rel=1e-4)


def test_projections_of_what_is_huge_lie_in_the_simplex():
    for x in ([1e120, -1e120, 3e119], [-1e300, 1e300, 1e300], [-1e17, -1e17, -2e17]):
        assert Simplex().project(np.array(x)).sum() == pytest.approx(1, rel=1e-15)


def test_the_least_point_does_not_depend_on_units():
    planes = LargestAffine(draws(16, 4, D), draws(17, 4))
    part, start = Indicator(L1Ball(1.5)), np.zeros(D)
    once = least_point(planes, part, start)
    for unit in (1e-6, 1e6):
        scaled = least_point(Mixture(((unit, planes),)), part, start)
        assert scaled.certificate.level == "proved"
        assert scaled.upper[0] == pytest.approx(unit * once.upper[0], rel=1e-6)


def test_a_start_outside_and_missing_weights_are_refused():
    part = Indicator(Ball(1.0))
    with pytest.raises(InvalidInput, match="outside"):
        learn(OMD(part, np.full(2, 3.0), 0.1), [np.ones(2)])
    with pytest.raises(InvalidInput, match="2 weights and a round 3"):
        learn(OMD(part, np.zeros(2), 0.1), np.ones((3, 2)), [1.0, 1.0])
