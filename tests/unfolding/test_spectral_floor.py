"""Floors under the second eigenvalue: reached, and paying for their rounding."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.unfolding import (
    UnfoldingProblem,
    second_eigenvalue,
    spectral_floor,
)
from dualfold.unfolding import spectral_floor as floors
from dualfold.unfolding.spectral_floor import (
    cholesky_floor,
    eigenvalues_below,
    lowest_pairs,
    precise_floor,
    proved_floor,
)
from tests.unfolding.test_rounding import MASS, problem


@pytest.mark.parametrize("n", [9, 30])
def test_a_cholesky_floor_pays_what_higham_asks(n):
    """λ₂ ≥ σ − γ_(n+1) Σ a_ii/m_i (theorem 10.5), at least."""
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem, w = UnfoldingProblem(n, path, np.ones(n - 1)), np.full(n - 1, 64.0)
    height = 0.5 * 64 * (2 - 2 * np.cos(np.pi / n))
    diagonal = problem.laplacian(w).diagonal() - height + 2 * height / n
    paid = height - cholesky_floor(problem, w, height)
    assert paid >= (n + 1) * 2.0**-53 * diagonal.sum()
    assert paid <= 8 * (n + 1) * 2.0**-53 * diagonal.sum() + 1e-12


X = np.random.default_rng(0).normal(size=(120, 4))


def test_sparse_proofs_alone_reach_the_second_eigenvalue(monkeypatch):
    monkeypatch.setattr(spectral_floor, "MAX_DENSE_ROWS", 0)
    monkeypatch.setattr(spectral_floor, "MAX_DOUBLE_DOUBLE_ROWS", 0)
    n = 9
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem = UnfoldingProblem(n, path, np.ones(n - 1))
    second = 2 - 2 * np.cos(np.pi / n)
    found = spectral_floor.second_eigenvalue(problem, np.ones(n - 1), X[:n, :2])
    assert second * (1 - 1e-5) <= found.proved <= second
    dense = []
    monkeypatch.setattr(spectral_floor, "MAX_DENSE_ROWS", 20)
    monkeypatch.setattr(spectral_floor, "proved_floor", lambda *_: 0.0)
    plain = spectral_floor.cholesky_floor
    monkeypatch.setattr(
        spectral_floor, "cholesky_floor", lambda *given: dense.append(given[2]) or plain(*given)
    )
    found = spectral_floor.second_eigenvalue(problem, np.ones(n - 1), X[:n, :2])
    assert second * (1 - 1e-9) <= found.proved <= second
    assert dense == sorted(dense, reverse=True)  # further and further below


def tried(monkeypatch, n, drops):
    """The shares below the Ritz value 1 that each way is tried at, and the best floor."""
    seen = {"proved_floor": [], "cholesky_floor": [], "precise_floor": []}
    for name, heights in seen.items():

        def floor(stated, weights, height, *_, name=name, heights=heights):
            heights.append(float(f"{1 - height:.0e}"))
            return drops.get(name, 0.0)

        monkeypatch.setattr(floors, name, floor)
    best = floors._best_floor(SimpleNamespace(n=n), None, 1.0, None)
    return [seen[name] for name in seen], best


def test_lower_floors_are_tried_while_they_can_do_better(monkeypatch):
    every = [10.0**-k for k in range(12, 0, -1)] + [0.5, 0.9]
    assert tried(monkeypatch, 5, {}) == ([every] * 3, 0.0)
    # What leaves 1e-8 open is not worth double-doubles; doubles are tried as far as they can help.
    fair = {"proved_floor": 1 - floors.DENSE_OPEN_SHARE}
    assert tried(monkeypatch, 5, fair) == ([every[:4], every[:4], []], 1 - floors.DENSE_OPEN_SHARE)
    good = {"proved_floor": 1 - floors.SPARSE_OPEN_SHARE}
    assert tried(monkeypatch, 5, good) == ([every[:3], [], []], 1 - floors.SPARSE_OPEN_SHARE)
    later = {"proved_floor": 1 - 5e-7, "cholesky_floor": 1 - 2e-7}
    assert tried(monkeypatch, 5, later) == ([every[:6], every[:6], every[:6]], 1 - 2e-7)
    monkeypatch.setattr(floors, "MAX_DOUBLE_DOUBLE_ROWS", 5)
    monkeypatch.setattr(floors, "MAX_DENSE_ROWS", 5)
    assert tried(monkeypatch, 5, {})[0] == [every] * 3
    assert tried(monkeypatch, 6, {})[0] == [every, [], []]


def test_bases_hold_directions_of_any_length():
    block = np.random.default_rng(0).normal(size=(5, 2)) * [1.0, 1e-9]
    Q = floors._orthonormal(problem(), block)
    np.testing.assert_allclose(Q.T @ (MASS[:, None] * Q), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(MASS @ Q, 0.0, atol=1e-12)
    alone = UnfoldingProblem(1, np.zeros((0, 2), dtype=int), np.zeros(0))
    values, vectors = floors.lowest_pairs(alone, np.zeros(0), np.zeros((1, 1)))
    assert (values.tolist(), vectors.tolist()) == ([0.0], [[0.0]])


SCALES = [2.0**-20, 1.0, 2.0**20]


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
