"""The certificate of least stress: whether forces balance, and what no points fall below."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.methods.door import StopRule, certify_stress, stress_descent, stress_problem


def stress_of(D, Y):
    return float(sum((np.linalg.norm(Y[i] - Y[j]) - D[i, j]) ** 2
                     for i in range(len(Y)) for j in range(i)))  # fmt: skip


def slope_of(D, Y, step=1e-6):
    """∇σ by central differences."""
    gradient = np.zeros_like(Y)
    for place in np.ndindex(*Y.shape):
        move = np.zeros_like(Y)
        move[place] = step
        gradient[place] = (stress_of(D, Y + move) - stress_of(D, Y - move)) / (2 * step)
    return gradient


def noisy_plane(n, noise, seed):
    """Distances in a plane, each off by a few percent."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, 2))
    D = np.triu(cdist(Y, Y) * np.exp(noise * rng.normal(size=(n, n))), 1)
    return D + D.T, Y


def test_the_share_of_unbalanced_forces_is_that_of_the_gradient():
    rng = np.random.default_rng(1)
    D, Y = cdist(*[rng.normal(size=(14, 5))] * 2), rng.normal(size=(14, 2))
    found = certify_stress(stress_problem(D), Y)
    sizes = np.abs(cdist(Y, Y) - D).sum(axis=1)
    share = np.linalg.norm(slope_of(D, Y)) / np.linalg.norm(2 * sizes)
    assert found.unbalanced == pytest.approx(share, rel=1e-6)
    assert found.value == pytest.approx(stress_of(D, Y), rel=1e-12)
    assert found.level == "not stationary"


def test_descended_points_are_stationary_and_no_bound_is_above_them():
    D = cdist(*[np.random.default_rng(2).normal(size=(30, 5))] * 2)
    problem = stress_problem(D)
    found = stress_descent(problem, D[:, :2], StopRule(tolerance=1e-7, max_steps=2000))
    judged = certify_stress(problem, found.points, tolerance=1e-6)
    assert judged.level == "stationary"
    assert 0 < judged.bound < judged.value
    assert judged.bound == max(judged.convex_bound, judged.rank_bound)


def test_a_map_of_noisy_distances_in_a_plane_is_proved_optimal():
    """The stress is not convex, and no points of a plane at all have less."""
    D, Y = noisy_plane(150, 0.05, seed=4)
    found = stress_descent(stress_problem(D), Y, StopRule(tolerance=1e-8, max_steps=2000))
    judged = certify_stress(stress_problem(D), found.points)
    assert judged.level == "proved", str(judged)
    assert judged.value > 1
    moved = found.points + 0.01 * np.random.default_rng(4).normal(size=Y.shape)
    worse = certify_stress(stress_problem(D), moved)
    assert worse.bound < judged.value < worse.value
    assert worse.level != "proved"
    assert worse.gap >= worse.value / judged.value - 1


def test_points_in_more_dimensions_than_they_need_are_optimal_in_all():
    rng = np.random.default_rng(5)
    D = np.triu(rng.uniform(0.5, 1.5, size=(12, 12)), 1)
    problem = stress_problem(D + D.T, 11)
    found = stress_descent(
        problem, rng.normal(size=(12, 11)), StopRule(tolerance=1e-9, max_steps=5000)
    )
    judged = certify_stress(problem, found.points)
    assert judged.level == "proved"
    assert judged.convex_bound == pytest.approx(judged.value, rel=1e-5)


@pytest.mark.parametrize("size", [2.0**-300, 1e-6, 1e6, 2.0**300])
def test_units_do_not_matter(size):
    D, Y = noisy_plane(40, 0.05, seed=6)
    found = stress_descent(stress_problem(D), Y, StopRule(tolerance=1e-8, max_steps=2000)).points
    plain = certify_stress(stress_problem(D), found)
    scaled = certify_stress(stress_problem(size * D), size * found)
    assert scaled.level == plain.level
    assert scaled.bound == pytest.approx(size**2 * plain.bound, rel=1e-6)


def test_exact_points_are_stationary():
    Y = np.random.default_rng(7).normal(size=(12, 2))
    judged = certify_stress(stress_problem(cdist(Y, Y)), Y)
    assert (judged.level, judged.unbalanced) == ("stationary", 0.0)


def test_points_in_one_place_that_should_lie_apart_are_not_stationary():
    """σ has no gradient there, and falls in every direction."""
    problem = stress_problem(cdist(*[np.random.default_rng(4).normal(size=(6, 2))] * 2))
    judged = certify_stress(problem, np.zeros((6, 2)))
    assert (judged.level, judged.unbalanced) == ("not stationary", 1.0)
    assert certify_stress(problem, np.full((6, 2), np.nan)).level == "failed"


@pytest.mark.parametrize("kind", ["weights", "missing", "order"])
def test_other_problems_have_no_bound(kind):
    D, Y = noisy_plane(20, 0.05, seed=8)
    weights = np.where(np.arange(20) + np.arange(20)[:, None] == 5, 2.0, 1.0)
    D[0, 5] = D[5, 0] = np.nan if kind == "missing" else D[0, 5]
    problem = stress_problem(
        D, weights=weights if kind == "weights" else None, ordinal=kind == "order"
    )
    found = stress_descent(problem, Y, StopRule(tolerance=1e-6, max_steps=3000))
    judged = certify_stress(problem, found.points, tolerance=1e-5)
    assert judged.level == "stationary"
    assert np.isnan(judged.bound)
    assert not judged.holds
    assert "no bound" in str(judged)
