"""Plain methods against peers, exact answers and their definitions; and their pictures."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import (
    Ball,
    Box,
    HalfSquare,
    LeastSquares,
    Logistic,
    Quadratic,
    accelerated_gradient,
    adagrad,
    adam,
    averaged_descent,
    gradient_descent,
    minibatch,
    momentum,
    nesterov,
    rmsprop,
    stochastic_gradient,
)
from tests.theory.games.door import Curve, Rate

ZIGZAG = Quadratic(np.array([[2.0, 1.0], [1.0, 20.0]]), np.array([-5.0, -3.0]))

START = np.array([-3.0, -1.0])

BEST = np.linalg.solve(ZIGZAG.matrix, -ZIGZAG.linear)

METHODS = {
    "descent": gradient_descent(ZIGZAG, START, step=0.085),
    "momentum": momentum(ZIGZAG, START, step=0.05, memory=0.6),
    "nag": accelerated_gradient(ZIGZAG, START, step=0.04, memory=0.6),
    "adagrad": adagrad(ZIGZAG, START, step=2.0),
    "rmsprop": rmsprop(ZIGZAG, START, step=lambda t: 1.0 / t**0.7),
    "adam": adam(ZIGZAG, START, step=lambda t: 1.0 / t**0.5),
}


def test_descent_by_its_eigenvalues():
    """On a quadratic the error is (I − γQ)^t times the first one, exactly."""
    path = METHODS["descent"].play(40)
    values, vectors = np.linalg.eigh(ZIGZAG.matrix)
    for t in range(41):
        error = vectors @ ((1 - 0.085 * values) ** t * (vectors.T @ (START - BEST)))
        assert path.points[t] == pytest.approx(BEST + error)
    # The zig-zag: the steep coordinate changes sides at every step.
    steep = (path.points - BEST) @ vectors[:, 1]
    assert np.all(steep[1:20] * steep[:19] < 0)


def test_momentum_and_nag_by_their_companion_matrices():
    """Both are linear recurrences on a quadratic: (x_t, x_{t−1}) = M^t (x_0, x_0)."""
    Q, I, O = ZIGZAG.matrix, np.eye(2), np.zeros((2, 2))
    for name, step in (("momentum", I * 1.6 - 0.05 * Q), ("nag", (I - 0.04 * Q) * 1.6)):
        back = -0.6 * I if name == "momentum" else -0.6 * (I - 0.04 * Q)
        M = np.block([[step, back], [I, O]])
        pair = np.concatenate([START - BEST, START - BEST])
        path = METHODS[name].play(30)
        for t in range(31):
            assert path.points[t] == pytest.approx(BEST + pair[:2])
            pair = M @ pair


@pytest.mark.parametrize("name", METHODS)
def test_every_method_arrives_with_a_proof(name):
    path = METHODS[name].play(400)
    least = ZIGZAG.value(BEST)
    assert path.upper[-1] - least < 1e-3
    assert np.all(path.lower <= least + 1e-9)
    assert np.all(path.upper - least <= path.gap + 1e-9)
    stopped = METHODS[name].play(100_000, tolerance=0.2)
    assert stopped.gap[-1] <= 0.2
    assert stopped.rounds < 100_000


def test_projected_descent_stays_and_finds_the_boundary():
    box = Box(np.array([-4.0, -4.0]), np.array([1.0, 4.0]))
    path = gradient_descent(ZIGZAG, START, step=0.045, over=box).play(300)
    assert all(box.contains(x) for x in path.points)
    assert path.answer == pytest.approx([1.0, (3 - 1) / 20])
    assert path.gap[-1] < 0.5
    outside = gradient_descent(
        HalfSquare(center=np.array([3.0, 1.0])), np.zeros(2), step=0.03, over=Ball(0.05)
    )
    short = outside.play(5)  # the verdict is about the last point
    assert short.certificate.value == short.upper[-1]
    assert short.answer == pytest.approx(short.points[-1])


def test_the_same_interface_as_a_recipe():
    for made in (averaged_descent(ZIGZAG, START), METHODS["adam"], nesterov(ZIGZAG, START)):
        run = made.play(20)
        assert run.answer.shape == (2,)
        assert run.rounds == 20
        for rows in (run.upper, run.lower, run.gap, run.averages):
            assert len(rows) in (20, 21)
    # Averages agree with the recipe of the same name.
    plain = gradient_descent(ZIGZAG, START, step=1 / (2 * ZIGZAG.smoothness)).play(19)
    assert plain.averages == pytest.approx(averaged_descent(ZIGZAG, START).play(20).averages)


random = np.random.default_rng(0)

ROWS = random.normal(size=(12, 3))

SUMS = [
    LeastSquares(ROWS, random.normal(size=12)),
    Logistic(ROWS, np.sign(random.normal(size=12))),
]


@pytest.mark.parametrize("f", SUMS)
def test_samples_are_right_on_average(f):
    """The mean over all batches of one and of three rows is the gradient, exactly."""
    from itertools import combinations

    x = np.array([0.3, -0.2, 0.5])
    for size in (1, 3):
        batches = list(combinations(range(12), size))
        mean = np.mean([f.sample(x, np.array(batch)) for batch in batches], axis=0)
        assert mean == pytest.approx(f.subgradient(x))


def test_stochastic_descent_finds_the_minimum():
    f = SUMS[0]
    best = np.linalg.lstsq(f.rows, f.targets, rcond=None)[0]
    falling = lambda t: 0.02 / t**0.6  # noqa: E731
    single = stochastic_gradient(f, np.zeros(3), step=falling, random_state=1)
    batched = minibatch(adam(f, np.zeros(3), step=falling), batch_size=6, random_state=1)
    assert np.linalg.norm(single.play(4000).averages[-1] - best) < 0.1
    assert np.linalg.norm(batched.play(4000).answer - best) < 0.1
    assert np.array_equal(single.play(50).points, single.play(50).points)
    assert np.all(np.isinf(single.play(50).gap))  # noise proves nothing
    whole = minibatch(gradient_descent(f, np.zeros(3), step=0.01), batch_size=12).play(20)
    plain = gradient_descent(f, np.zeros(3), step=0.01).play(20)
    assert whole.points == pytest.approx(plain.points)
    for wrong in (0, 13):
        with pytest.raises(InvalidInput, match="from 1 to all 12 terms"):
            minibatch(gradient_descent(f, np.zeros(3), step=0.1), batch_size=wrong)
    with pytest.raises(InvalidInput, match="no sum of terms"):
        stochastic_gradient(ZIGZAG, START, step=0.1)


def test_stated_ball_gives_a_gap_where_nothing_else_does():
    f = SUMS[1]
    without = gradient_descent(f, np.zeros(3), step=0.1).play(300)
    # The minimiser is 10.4 away.
    stated = gradient_descent(f, np.zeros(3), step=0.1, minimiser_ball=Ball(11.0)).play(1000)
    wrong = gradient_descent(f, np.zeros(3), step=0.1, minimiser_ball=Ball(5.0)).play(300)
    assert np.isinf(without.gap[-1])
    assert stated.gap[-1] < 1.0
    assert np.isinf(wrong.gap[-1])
    assert "radius 5" in str(wrong)
    assert HalfSquare().strong_convexity == 1.0


@pytest.mark.parametrize(
    "method", [gradient_descent, momentum, accelerated_gradient, adagrad, rmsprop, adam]
)
def test_steps_are_counted_from_one(method):
    """Every method takes step(1), then step(2); the first update goes against the gradient."""
    seen = []
    run = method(HalfSquare(), np.array([8.0, -2.0]), step=lambda t: seen.append(t) or 0.25).play(3)
    assert seen == [1, 2, 3]
    first = run.points[1] - run.points[0]
    if method in (gradient_descent, momentum, accelerated_gradient):
        np.testing.assert_allclose(first, [-2.0, 0.5])
    elif method is rmsprop:  # squares are a tenth of the slope's
        np.testing.assert_allclose(first, [-0.25 / np.sqrt(0.1), 0.25 / np.sqrt(0.1)], rtol=1e-6)
    else:
        np.testing.assert_allclose(first, [-0.25, 0.25], rtol=1e-6)
    second = run.points[2] - run.points[1]
    x, before = run.points[1], run.points[0]
    wanted = {
        gradient_descent: -0.25 * x,
        momentum: -0.25 * x + 0.9 * (x - before),
        accelerated_gradient: 0.9 * (x - before) - 0.25 * (x + 0.9 * (x - before)),
        adagrad: -0.25 * x / np.sqrt(before**2 + x**2),
        rmsprop: -0.25 * x / np.sqrt(0.09 * before**2 + 0.1 * x**2),
    }
    if method in wanted:
        np.testing.assert_allclose(second, wanted[method], rtol=1e-6)
    else:
        mean = (0.09 * before + 0.1 * x) / (1 - 0.81)
        root = np.sqrt((0.999 * 0.001 * before**2 + 0.001 * x**2) / (1 - 0.999**2))
        np.testing.assert_allclose(second, -0.25 * mean / root, rtol=1e-6)


def test_adaptive_steps_are_divided_by_slope_and_floor():
    f, start = HalfSquare(2.0), np.array([1.0, -0.25])
    g = f.subgradient(start)
    for method in (adagrad, adam):
        points = method(f, start, step=0.5, floor=1.0).play(1).points
        np.testing.assert_allclose(points[1], start - 0.5 * g / (np.abs(g) + 1.0), rtol=1e-12)


# ---- curves of gaps


def test_slopes_of_curves_by_hand():
    T = np.arange(1, 101)
    power = Curve("p", Rate("1/T", -1.0), T, 5.0 / T, 6.0 / T)
    assert power.slope == pytest.approx(-1.0)
    assert power.as_steep_as_promised
    slow = Curve("s", Rate("1/T", -1.0), T, 5.0 / T**0.9, 6.0 / T)
    assert slow.slope == pytest.approx(-0.9)
    assert not slow.as_steep_as_promised
    linear = Curve("l", Rate("0.5^T", 0, 0.5), T, 3.0 * 0.5**T, 4.0 * 0.5**T)
    assert linear.slope == pytest.approx(0.5)
    assert linear.as_steep_as_promised
    late = np.where(T < 10, 1.0, 10.0 / T)  # only the last decade counts
    assert Curve("d", Rate("1/T", -1.0), T, late, late).slope == pytest.approx(-1.0)


def test_slopes_of_curves_leave_out_what_is_rounding():
    T = np.arange(1.0, 11.0)
    for tail in (1e-11, 1e-14, 0.0):
        gap = T**-2.0
        gap[-1] = tail
        curve = Curve("", Rate("1/T²", -2.0), T, gap, gap)
        assert curve.slope == pytest.approx(-2.0)
