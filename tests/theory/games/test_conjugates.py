"""Values and conjugates of functions against their formulas, flat directions included."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.theory.games import Conjugate, HalfSquare, Logistic, Quadratic
from dualfold.theory.games.convex_functions import Move


def test_flat_directions_of_a_quadratic_are_left_alone():
    for q in np.random.default_rng(7).normal(size=(20, 5)):
        f = Quadratic(np.outer(q, q))
        x = f.maximiser(f.subgradient(q))
        np.testing.assert_allclose(x, q, atol=1e-6 * np.linalg.norm(q))


X = np.random.default_rng(0).normal(size=(120, 4))


@pytest.mark.parametrize("weight", [0.3, 1.0, 7.0])
def test_a_half_square_surely_is_its_value(weight):
    function = HalfSquare(weight, center=np.arange(4.0))
    for x in X[:5]:
        bounds = function.value_interval(x)
        exact = weight / 2 * sum((a - b) ** 2 for a, b in zip(x, range(4), strict=True))
        assert bounds.low() <= exact * (1 + 1e-15)
        assert bounds.high() >= exact * (1 - 1e-15)
        assert bounds.high() - bounds.low() <= 1e-12 * exact
        slope = function.slope_interval(x)
        np.testing.assert_allclose(slope.mid, weight * (x - np.arange(4.0)), rtol=1e-14)


def test_the_conjugate_of_a_logistic_loss_by_its_shares():
    rows, labels = np.eye(3), np.array([1.0, -1.0, 1.0])
    f = Logistic(rows, labels)
    for p, finite in (
        ([0.5, 0.25, 1.0], True),
        ([1.5, 0.5, 0.5], False),
        ([-0.1, 0.5, 0.5], False),
    ):
        found = f.conjugate(-np.array(p) * labels)
        terms = [q * np.log(q) for one in p for q in (one, 1 - one) if q > 0]
        assert found == (pytest.approx(sum(terms)) if finite else np.inf)


def test_flat_quadratics_have_their_maximum_along_their_range():
    q = np.array([3.0, 4.0, 0.0])
    f = Quadratic(np.outer(q, q), np.array([0.0, 0.0, 1.0]), 2.0)
    y = 50 * q + [0.0, 0.0, 1.0]
    np.testing.assert_allclose(f.maximiser(y), 2 * q, rtol=1e-12)
    assert f.conjugate(y) == pytest.approx(50**2 / 2 - 2.0)
    assert f.conjugate(y + 1e-3 * np.eye(3)[2]) == np.inf


def test_a_conjugate_costs_the_same_with_and_without_its_point():
    f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, 0.0]))
    y = np.array([0.5, 2.0])
    plain = Conjugate(f).cost(Move(y))
    assert plain == pytest.approx(Conjugate(f).cost(Move(y, taken_at=f.maximiser(y))))
