"""Errata of the project's own notes: two guarantees that held only under a condition."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.games import Box, Quadratic, averaged_descent, extragradient
from tests.papers.errata import shows

# Almost straight on [−1, 1], falling to the left; from 1 to the minimiser −1 it is R = 2.
F = Quadratic(np.array([[1e-3]]), np.ones(1))
K, START, L, R = Box(-np.ones(1), np.ones(1)), np.ones(1), 1e-3, 2.0
LEAST = F.value(-np.ones(1))


def test_averaged_descent_on_a_set():
    T = 10
    printed = L * R**2 / T
    right = printed + R * float(np.linalg.norm(F.subgradient(START))) / T
    recipe = averaged_descent(F, START, over=K)
    path, x = [], START
    for _ in range(T):
        path.append(x)
        x = K.project(x - F.subgradient(x) / (2 * L))
    error = F.value(np.mean(path, axis=0)) - LEAST
    assert recipe.play(T).upper[-1] - LEAST == pytest.approx(error)
    assert printed < error <= right
    assert right == pytest.approx(recipe.bound(T))
    shows(error / printed, error / right)


def first_error(guess):
    """Error of single-call extragradient after one round, with y₀ = guess."""
    return F.value(K.project(START - guess / (2 * L))) - LEAST


def test_extragradient_starts_with_a_gradient():
    bound = L * R**2
    printed, right = first_error(np.zeros(1)), first_error(F.subgradient(START))
    assert right <= bound < printed
    assert extragradient(F, START, over=K).play(1).upper[-1] - LEAST == pytest.approx(right)
    shows(printed / bound, right / bound)
