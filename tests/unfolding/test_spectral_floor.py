"""Floors under the second eigenvalue: below it, close to it, and reached by every way."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.unfolding import UnfoldingProblem, second_eigenvalue
from tests.unfolding.door import (
    cholesky_floor,
    eigenvalues_below,
    lowest_pairs,
    precise_floor,
    proved_floor,
)


def small(masses):
    edges = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 4], [3, 4]])
    return UnfoldingProblem(5, edges, np.array([1.0, 2.0, 0.7, 1.3, 0.9, 2.2]), masses=masses)


def cycle(n):
    edges = [[i, i + 1] for i in range(n - 1)] + [[0, n - 1]]
    return UnfoldingProblem(n, np.array(sorted(edges)), np.ones(n)), 2 - 2 * np.cos(2 * np.pi / n)


def chain(n):
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return UnfoldingProblem(n, path, np.ones(n - 1)), 2 - 2 * np.cos(np.pi / n)


def heavy(n, mass=4.0):
    problem, value = chain(n)
    return UnfoldingProblem(
        n, problem.edges, problem.squared, "at_most", np.full(n, mass)
    ), value / mass


@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("floor", [proved_floor, cholesky_floor, precise_floor])
@pytest.mark.parametrize("make", [cycle, chain, heavy], ids=["cycle", "chain", "masses"])
def test_floors_are_below_and_close(make, floor, scale):
    problem, second = make(9)
    weights = np.full(problem.m, scale)
    second = second * scale
    for drop in (1e-9, 1e-6, 1e-3, 0.5):
        height = second * (1 - drop)
        found = floor(problem, weights, height)
        assert found <= height
        # Rounding of nine rows of numbers up to 4; pivots of LDLᵀ grow towards an eigenvalue.
        room = {proved_floor: 1e-13 / drop, cholesky_floor: 1e-12, precise_floor: 1e-24}[floor]
        assert found >= height * (1 - 1e-15) - room * scale
    assert floor(problem, weights, second * (1 + 1e-9)) == 0.0


def test_floors_of_uneven_weights_hold():
    rng = np.random.default_rng(3)
    for _ in range(10):
        masses = 2.0 ** rng.integers(-3, 4, size=5)
        problem, w = small(masses=masses), 2.0 ** rng.integers(-6, 7, size=6)
        L = problem.laplacian(w).toarray()
        root = 1 / np.sqrt(masses)
        values = np.linalg.eigvalsh(root[:, None] * L * root)
        for floor in (proved_floor, cholesky_floor, precise_floor):
            assert floor(problem, w, 0.999 * values[1]) >= 0.998 * values[1]
            assert floor(problem, w, 0.999 * values[1]) <= 0.999 * values[1]
            assert floor(problem, w, 1.001 * values[1]) == 0.0
        for height in (0.5 * values[1], (values[1] + values[2]) / 2, (values[3] + values[4]) / 2):
            count, error = eigenvalues_below(problem, w, height)
            assert count == np.sum(values < height)
            assert 0 < error < 1e-10 * values[-1]


@pytest.mark.parametrize(
    ("limits", "open_share"),
    [
        ({"MAX_DENSE_ROWS": 0, "MAX_DOUBLE_DOUBLE_ROWS": 0}, 1e-5),
        ({"MAX_DENSE_ROWS": 20, "MAX_DOUBLE_DOUBLE_ROWS": 0}, 1e-9),
        ({"MAX_DENSE_ROWS": 20, "MAX_DOUBLE_DOUBLE_ROWS": 20}, 1e-9),
    ],
    ids=["sparse", "dense", "double-doubles"],
)
@pytest.mark.parametrize("make", [cycle, chain, heavy], ids=["cycle", "chain", "masses"])
def test_every_way_of_a_proof_reaches_the_second_eigenvalue(make, limits, open_share, set_limits):
    set_limits("unfolding.spectral_floor", **limits)
    problem, second = make(9)
    start = np.random.default_rng(0).normal(size=(9, 2))
    for scale in (1.0, 2.0**20):
        least = second_eigenvalue(problem, np.full(problem.m, scale), start)
        assert second * (1 - open_share) <= least.proved / scale <= second * (1 + 1e-14)


def test_double_doubles_prove_what_large_weights_cost_doubles(set_limits):
    """Weights from 1 to 10¹⁰: doubles leave 1e-7 of λ₂ open, twice as many digits nothing."""
    problem, _ = chain(9)
    weights = 10.0 ** np.linspace(0, 10, problem.m)
    start = np.random.default_rng(0).normal(size=(9, 2))
    best = second_eigenvalue(problem, weights, start).proved
    set_limits("unfolding.spectral_floor", MAX_DOUBLE_DOUBLE_ROWS=0)
    assert second_eigenvalue(problem, weights, start).proved <= best * (1 - 1e-7)


@pytest.mark.parametrize("orders", np.arange(0, 12, 0.5))
def test_no_decade_below_the_ritz_value_would_prove_more(orders, set_limits):
    """Weights of more and more orders of magnitude: rounding leaves room lower and lower."""
    set_limits("unfolding.spectral_floor", MAX_DENSE_ROWS=0, MAX_DOUBLE_DOUBLE_ROWS=0)
    problem, _ = chain(9)
    weights = 10.0 ** np.linspace(0, orders, problem.m)
    least = second_eigenvalue(problem, weights, np.random.default_rng(0).normal(size=(9, 2)))
    heights = least.ritz * (1 - 10.0 ** -np.arange(1, 13))
    assert least.proved >= max(proved_floor(problem, weights, height) for height in heights)


def test_one_point_and_directions_of_any_length_have_a_basis():
    alone = UnfoldingProblem(1, np.zeros((0, 2), dtype=int), np.zeros(0))
    values, vectors = lowest_pairs(alone, np.zeros(0), np.zeros((1, 1)))
    assert (values.tolist(), vectors.tolist()) == ([0.0], [[0.0]])
    problem, second = heavy(9)
    start = np.random.default_rng(0).normal(size=(9, 2)) * [1.0, 1e-9]
    assert second_eigenvalue(problem, np.ones(8), start).ritz == pytest.approx(second, rel=1e-9)


@pytest.mark.parametrize("make", [cycle, chain, heavy], ids=["cycle", "chain", "masses"])
def test_lowest_pairs_are_eigenpairs(make):
    problem, second = make(12)
    start = np.random.default_rng(1).normal(size=(12, 2))
    weights = np.ones(problem.m)
    values, vectors = lowest_pairs(problem, weights, start)
    assert values[0] == pytest.approx(second, rel=1e-12)
    L = problem.laplacian(weights)
    v = vectors[:, 0]
    off = L @ v - second * problem.mass * v
    assert np.linalg.norm(off) < 1e-6 * np.linalg.norm(v)
    assert abs(problem.mass @ v) < 1e-10 * np.linalg.norm(v) * problem.mass.sum()
    found = second_eigenvalue(problem, weights, start)
    assert found.factorised
    assert second * (1 - 1e-8) <= found.proved <= second * (1 + 1e-14)
    assert second * (1 - 1e-14) <= found.ritz <= second * (1 + 1e-12)
    large = second_eigenvalue(problem, weights, vectors, most_flops=1.0)
    assert (large.proved, large.factorised) == (0.0, False)
    assert large.ritz == pytest.approx(second, rel=1e-9)
    none = second_eigenvalue(problem, np.zeros(problem.m), start)
    assert none.proved == 0.0
    constant = second_eigenvalue(problem, weights, np.ones((12, 1)), most_flops=1.0)
    assert np.isnan(constant.ritz)
