"""Tucker's experiments on games: test functions and averages, by definition."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.games import averaged_subgradient_descent
from papers.tucker import game


def test_test_functions_have_their_minimum_slope_and_distance() -> None:
    for f, start in (game.counterexample(), game.largest_entry(5)):
        assert f.value(np.zeros_like(start)) == 0
        assert f.gradient_bound == pytest.approx(1)
        assert np.linalg.norm(start) == pytest.approx(1)
        random = np.random.default_rng(0).standard_normal((2_000, len(start)))
        assert min(f.value(x) for x in random) > 0


@pytest.mark.parametrize("rounds", [1, 2, 7, 16])
def test_both_averages_by_hand(rounds: int) -> None:
    f, w = game.counterexample()
    points = [w]
    for _ in range(rounds):
        planes = [0.25 * w[0] + np.sqrt(15) / 4 * w[1], 0.25 * w[0] - np.sqrt(15) / 4 * w[1], -w[0]]
        w = w - f.rows[int(np.argmax(planes))] / np.sqrt(rounds)
        points.append(w)
    first, second = (
        max(0.25 * x[0] + np.sqrt(15) / 4 * abs(x[1]), -x[0])
        for x in (np.mean(points[:-1], axis=0), np.mean(points[1:], axis=0))
    )
    found = game.both_averages(*game.counterexample(), rounds)
    np.testing.assert_allclose(found, np.sqrt(rounds) * np.array([first, second]), atol=1e-12)
    run = averaged_subgradient_descent(f, points[0], rounds=rounds, radius=1.0).play()
    assert run.upper[-1] == pytest.approx(first)


def test_the_printed_average_stays_below_its_right_constant() -> None:
    """1 + 1/(2T), on random functions too: the largest of planes around a minimum at 0."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(300):
        rows = rng.standard_normal((int(rng.integers(3, 8)), 2))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        f = game.LargestAffine(np.vstack([rows, -rows]))
        rounds, angle = int(rng.integers(1, 6)), rng.uniform(0, 2 * np.pi)
        start = np.array([np.cos(angle), np.sin(angle)])
        before, after = game.both_averages(f, start, rounds)
        assert before <= 1 + 1e-12
        assert after <= 1 + 1 / (2 * rounds)
        worst = max(worst, after)
    assert worst > 0.5
