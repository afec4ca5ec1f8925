"""Functions of the caller's own play every recipe, and nothing about them is called proved."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dualfold.errors import ConditionFails, InvalidInput, NotConverged
from dualfold.games import (
    FTRL,
    Ball,
    Box,
    Convex,
    Everywhere,
    FTRLPlus,
    HalfSquare,
    Indicator,
    L1Ball,
    LargestAffine,
    LeastSquares,
    Oracle,
    Quadratic,
    Simplex,
    Sum,
    accelerated_by_gauge,
    accelerated_proximal,
    accelerated_strongly_convex,
    averaged_descent,
    averaged_subgradient_descent,
    boundary_frank_wolfe,
    conjugate,
    cumulative_descent,
    extragradient,
    finite_sum,
    frank_wolfe,
    gradient_descent,
    heavy_ball,
    learn,
    minibatch,
    nesterov,
    nesterov_infinite_memory,
    norm,
    stochastic_gradient,
)

D = 4
rng = np.random.default_rng(31)
ROWS, TARGETS = rng.normal(size=(15, D)), rng.normal(size=15) + 4.0
KNOWN = LeastSquares(ROWS, TARGETS)
START = np.full(D, 0.1)


def own(**constants):
    """KNOWN, as a caller without this package would write it."""
    given = {"smoothness": KNOWN.smoothness, "strong_convexity": KNOWN.strong_convexity}
    return Oracle(
        lambda x: float(np.sum((ROWS @ x - TARGETS) ** 2)) / 2,
        lambda x: ROWS.T @ (ROWS @ x - TARGETS),
        **(given | constants),
    )


RECIPES = {
    "averaged": lambda f: averaged_descent(f, START, radius=5.0),
    "subgradients": lambda f: averaged_subgradient_descent(f, START, rounds=30, over=Ball(1.0)),
    "cumulative": lambda f: cumulative_descent(f, START, rounds=30, over=Ball(1.0)),
    "Frank-Wolfe": lambda f: frank_wolfe(f, START, over=L1Ball(1.0)),
    "boundary": lambda f: boundary_frank_wolfe(f, START, over=Ball(0.3)),
    "extragradient": lambda f: extragradient(f, START, over=Box(-1.0, 1.0)),
    "Nesterov": lambda f: nesterov(f, START, radius=5.0),
    "infinite memory": lambda f: nesterov_infinite_memory(f, START, over=Ball(2.0)),
    "heavy ball": lambda f: heavy_ball(f, START, over=Ball(2.0)),
    "proximal": lambda f: accelerated_proximal(f, norm(1, 0.3), START, radius=5.0),
    "gauge": lambda f: accelerated_by_gauge(f, D, over=Ball(2.0)),
    "strongly convex": lambda f: accelerated_strongly_convex(f, START),
}


@pytest.mark.parametrize("name", RECIPES)
def test_an_own_function_plays_as_the_same_function_of_the_package(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine, known = (RECIPES[name](f).play(30) for f in (own(), KNOWN))
    np.testing.assert_allclose(mine.averages, known.averages, rtol=1e-9, atol=1e-12)
    assert RECIPES[name](own()).bound(30) == RECIPES[name](KNOWN).bound(30)
    assert np.isfinite(mine.gap[-1])
    assert mine.gap[-1] == pytest.approx(known.gap[-1], rel=1e-6, abs=1e-9)


def test_the_callers_word_is_named_and_never_proved():
    run = accelerated_strongly_convex(own(), START).play(150)
    assert run.certificate.gap < 1e-8  # a function of the package would be proved
    assert run.level == "unresolved"
    assert "if Oracle is strongly convex with" in run.certificate.about
    assert accelerated_strongly_convex(KNOWN, START).play(150).level == "proved"
    path = gradient_descent(own(), START, step=0.02).play(500)
    assert path.level == "unresolved"
    with pytest.raises(InvalidInput, match="state it"):
        nesterov(own(smoothness=np.inf), START)
    with pytest.raises(InvalidInput, match="μ > L"):
        own(smoothness=1e-3)
    with pytest.raises(InvalidInput, match="gradient"):
        Oracle(lambda x: 0.0, 1.0)


def test_constants_that_the_run_contradicts_are_refused():
    with pytest.warns(ConditionFails, match="strongly convex with"):
        run = nesterov(own(strong_convexity=0.9 * KNOWN.smoothness), START).play(40)
    assert run.level == "failed"
    assert "contradict" in run.certificate.reasons[0]
    # The smoothness makes steps and promises only: the bracket does not rest on it.
    short = own(smoothness=0.3 * KNOWN.smoothness, strong_convexity=0.0)
    with pytest.warns(ConditionFails, match="a smoothness of"):
        run = averaged_descent(short, START, radius=5.0).play(5)
    assert run.level != "failed"
    hill = Oracle(lambda x: -float(x @ x), lambda x: -2 * x, smoothness=2.0)
    with pytest.warns(ConditionFails, match="convex"):
        assert nesterov(hill, START, over=Ball(1.0)).play(20).level == "failed"
    # Slopes of one function and values of another.
    mixed = Oracle(lambda x: -float(x.sum()), lambda x: 0.0 * x, smoothness=1.0)
    path = gradient_descent(mixed, START, step=lambda t: 1.0, over=Ball(1.0)).play(3)
    assert path.level == "unresolved"  # no step was made, nothing was seen
    flat = LeastSquares(np.ones((1, D)), np.array([8.0]))
    with pytest.warns(ConditionFails, match="was met"):
        run = nesterov(flat, np.zeros(D), radius=0.5).play(300)
    assert run.level == "failed"  # the ball holds no minimiser: lower values were met
    assert np.isinf(run.gap).all()


# --- finite sums ----------------------------------------------------------------------


def terms():
    return [
        lambda x, row=row, target=target: ((row @ x - target) ** 2 / 2, row * (row @ x - target))
        for row, target in zip(ROWS, TARGETS, strict=True)
    ]


class RowWise(Convex):
    """A sum in a class of the caller's own, with the two names that batches need."""

    n_terms = len(ROWS)

    def value(self, x):
        return KNOWN.value(x)

    def subgradient(self, x):
        return KNOWN.subgradient(x)

    def sample(self, x, chosen):
        return len(ROWS) / len(chosen) * ROWS[chosen].T @ (ROWS[chosen] @ x - TARGETS[chosen])


@pytest.mark.parametrize("f", [finite_sum(terms()), RowWise()], ids=["terms", "class"])
def test_own_sums_are_sampled_as_least_squares_are(f):
    plans = (
        lambda f: stochastic_gradient(f, START, step=0.01, random_state=4),
        lambda f: minibatch(gradient_descent(f, START, step=0.01), batch_size=5, random_state=4),
    )
    for plan in plans:
        np.testing.assert_allclose(plan(f).play(25).points, plan(KNOWN).play(25).points)
    x = rng.normal(size=D)
    every = [f.sample(x, np.array([i])) for i in range(f.n_terms)]
    np.testing.assert_allclose(np.mean(every, axis=0), KNOWN.subgradient(x))
    assert f.value(x) == pytest.approx(KNOWN.value(x))


def test_what_is_no_sum_has_no_batches():
    with pytest.raises(InvalidInput, match="n_terms and sample"):
        stochastic_gradient(own(), START, step=0.1)
    with pytest.raises(InvalidInput, match="empty"):
        finite_sum([])


# --- any regulariser (Tucker, Algorithm 4) ---------------------------------------------


@pytest.mark.parametrize("over", [Ball(1.0), Box(-1.0, 0.5), Simplex(), L1Ball(0.7)])
def test_the_least_point_of_a_regulariser_may_lie_outside_of_the_set(over):
    losses, center, step = rng.normal(size=(12, D)), 2 * rng.normal(size=D), 0.3
    leader = FTRL.from_regulariser(
        HalfSquare(1.0, center), Indicator(over), np.full(D, 0.25), step=step
    )
    account = learn(leader, losses)
    sums = np.vstack([np.zeros(D), np.cumsum(losses, axis=0)[:-1]])
    expected = [over.project(center - step * total) for total in sums]
    np.testing.assert_allclose(account.points, expected, atol=1e-7)
    curve = account.average_regret([3, 12])
    assert np.all(curve.low <= curve.bound + 1e-9)
    assert np.isfinite(curve.bound).all()
    ahead = learn(
        FTRLPlus.from_regulariser(
            HalfSquare(1.0, center), Indicator(over), np.full(D, 0.25), step=step
        ),
        losses,
    )
    np.testing.assert_allclose(ahead.points[:-1], expected[1:], atol=1e-7)


def test_a_regulariser_may_have_corners():
    losses, step = rng.normal(size=(7, 2)), 0.8
    player = FTRL.from_regulariser(norm(1), Indicator(Box(-1.0, 2.0)), np.ones(2), step=step)
    sums = step * np.vstack([np.zeros(2), np.cumsum(losses, axis=0)[:-1]])
    assert np.abs(sums).max() > 1.05  # the losses outweigh R somewhere
    # Each entry has its own least s·z + |z| on [−1, 2].
    expected = np.where(sums < -1, 2.0, np.where(sums > 1, -1.0, 0.0))
    np.testing.assert_allclose(learn(player, losses).points, expected, atol=1e-5)
    shrunk = FTRL.from_regulariser(
        Sum(HalfSquare(), norm(1)), Indicator(Everywhere()), np.zeros(2), step=step
    )
    expected = -np.sign(sums) * np.maximum(np.abs(sums) - 1, 0)
    np.testing.assert_allclose(learn(shrunk, losses).points, expected, atol=1e-12)
    endless = FTRL.from_regulariser(norm(1), Indicator(Everywhere()), np.zeros(1), step=1.0)
    with pytest.raises(NotConverged, match="without end"):
        learn(endless, np.full((2, 1), 2.0))


# --- conjugates (Tucker, Definition 6.1) -----------------------------------------------


def test_conjugates_of_own_functions_are_those_of_the_same_function():
    for y in rng.normal(size=(4, D)):
        expected = KNOWN.conjugate(y)
        assert own(smoothness=np.inf, strong_convexity=0.0).conjugate(y) == pytest.approx(expected)
        assert finite_sum(terms()).conjugate(y) == pytest.approx(expected)
        sure = conjugate(own(), y)
        assert sure.low - 1e-9 <= expected <= sure.high + 1e-9
        assert sure.high - sure.low < 1e-6 * (1 + abs(expected))


def test_conjugates_over_a_set_and_of_sums_are_suprema():
    grid = np.linspace(-2, 2, 401)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    Q = np.array([[2.0, 0.3], [0.3, 1.0]])
    f = Oracle(lambda x: (float(x @ Q @ x) / 2, Q @ x))
    values = np.einsum("ij,jk,ik->i", points, Q, points) / 2
    for y in rng.uniform(-2, 2, size=(3, 2)):  # the largest points are then on the grid
        in_box = (points @ y - values)[np.abs(points).max(axis=1) <= 1].max()
        found = conjugate(f, y, over=Box(-1.0, 1.0))
        # The grid misses the supremum by at most half a step times the slope.
        assert in_box - 1e-9 <= found.high
        assert found.low <= in_box + 0.01 * (np.abs(y).sum() + 6)
        assert found.high - found.low < 1e-6
        absolute = (points @ y - values - np.abs(points).sum(axis=1)).max()
        total = Sum(Quadratic(Q), norm(1))
        assert total.conjugate(y) == pytest.approx(absolute, abs=0.02)
        assert total.conjugate(y) >= absolute - 1e-9
        assert Sum(f, Indicator(Box(-1.0, 1.0))).conjugate(y) == pytest.approx(found.low, abs=1e-6)


def test_a_conjugate_that_is_infinite_is_no_number():
    growth = Oracle(lambda x: (float(np.exp(x).sum()), np.exp(x)))
    assert growth.conjugate(np.array([3.0])) == pytest.approx(3 * np.log(3) - 3)
    with pytest.raises(NotConverged):
        growth.conjugate(np.array([-1.0]))
    # Huge: at 0 its search cannot begin, elsewhere it can.
    burg = Oracle(lambda x: (-float(np.log(x).sum()) if x.min() > 0 else np.inf, -1 / x))
    with np.errstate(divide="ignore"), pytest.raises(InvalidInput, match="another start"):
        burg.conjugate(np.array([-2.0]))
    assert conjugate(burg, np.array([-2.0]), start=np.ones(1)).low == pytest.approx(-1 - np.log(2))
    hull = LargestAffine(np.vstack([np.eye(2), -np.eye(2)]))
    assert hull.conjugate(np.array([0.3, -0.2])) == pytest.approx(0.0, abs=1e-6)


def test_a_regulariser_may_be_a_python_function_and_steps_are_positive():
    ball = Indicator(Ball(1.0))
    found = FTRL.from_regulariser(lambda x: (float(x @ x), 2 * x), ball, np.ones(2), step=0.5)
    np.testing.assert_allclose(found.start, 0.0, atol=1e-6)
    for step in (0, -1.0, np.nan):
        with pytest.raises(InvalidInput, match="step"):
            FTRL.from_regulariser(norm(1), ball, np.ones(2), step=step)
