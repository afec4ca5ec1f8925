"""The first updates of plain methods, and batches of rows: each equal to its formula."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.theory.games import (
    HalfSquare,
    LeastSquares,
    accelerated_gradient,
    adagrad,
    adam,
    gradient_descent,
    minibatch,
    momentum,
    rmsprop,
    stochastic_gradient,
)
from dualfold.theory.games import textbook_methods as descent


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


def test_batches_of_all_rows_are_the_whole_gradient():
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    f, start = LeastSquares(rows, np.ones(3)), np.array([3.0, -1.0])
    plain = gradient_descent(f, start, step=0.1)
    np.testing.assert_allclose(minibatch(plain, batch_size=3).play(2).points, plain.play(2).points)
    one = stochastic_gradient(f, start, step=0.1).play(1).points[1]
    each = [start - 0.3 * row * (row @ start - 1) for row in rows]
    assert any(np.allclose(one, point) for point in each)
    for wrong in (0, 4):
        with pytest.raises(InvalidInput, match="batch_size"):
            minibatch(plain, batch_size=wrong)


def test_adaptive_steps_are_divided_by_slope_and_floor():
    f, start = HalfSquare(2.0), np.array([1.0, -0.25])
    g = f.subgradient(start)
    for method in (descent.adagrad, descent.adam):
        points = method(f, start, step=0.5, floor=1.0).play(1).points
        np.testing.assert_allclose(points[1], start - 0.5 * g / (np.abs(g) + 1.0), rtol=1e-12)
