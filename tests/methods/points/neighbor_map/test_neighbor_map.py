"""Neighbour maps: the bound against Clarabel, exact arithmetic and many starts; the estimator."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput, TooLarge
from dualfold.methods.points.neighbor_map import (
    certify_neighbors,
    neighbor_bound,
    neighbor_problem,
)
from tests.methods.door import (
    GaussianSums,
    _clipped_eigenvalues,
    divergence,
    fantope_minimum,
    in_fantope,
    kernel,
    neighbor_answer,
    pair_shares,
    slope,
    slope_times,
    squared_distances,
    stiefel_descent,
)


def random_problem(seed: int, n: int, spread: float | None = None, d: int = 2):
    """A random weighted graph in one piece: a ring, and some edges across."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(0.1, 1, (n, n)) * (rng.uniform(size=(n, n)) < 3 / n), 1)
    W[np.arange(n - 1), np.arange(1, n)] = rng.uniform(0.1, 1, n - 1)
    spread = 10 ** rng.uniform(-2, 0.5) if spread is None else spread
    return neighbor_problem(sp.csr_array(W + W.T), n_components=d, spread=spread)


def some_map(problem, rng):
    """White points drawn at random."""
    drawn = rng.normal(size=(problem.n, problem.count))
    Q = np.linalg.qr(drawn - drawn.mean(axis=0))[0]
    return Q * np.sqrt(problem.size)


def by_clarabel(problem):
    """The minimum over the Fantope, in nats, and the gap that the solver reports."""
    cvxpy = pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    n = problem.n
    G = cvxpy.Variable((n, n), symmetric=True)
    i, j = np.triu_indices(n, 1)
    diagonal = cvxpy.diag(G)
    t = diagonal[i] + diagonal[j] - 2 * cvxpy.vec(G, order="F")[i + n * j]
    p = problem.P.toarray()[i, j]
    goal = 2 * p @ t + np.log(2) + cvxpy.log_sum_exp(-t)
    rules = [G >> 0, problem.size * np.eye(n) - G >> 0, cvxpy.sum(G, axis=1) == 0]
    rules.append(cvxpy.trace(G) == problem.size * problem.count)
    model = cvxpy.Problem(cvxpy.Minimize(goal), rules)
    model.solve(solver="CLARABEL")
    return float(model.value) + problem.negative_entropy


def compare(seeds, most, starts):
    for seed in seeds:
        problem = random_problem(seed, 6 + seed % (most - 5))
        rng = np.random.default_rng(seed)
        near = fantope_minimum(problem, some_map(problem, rng), tol=1e-6, most=3_000)
        bound = neighbor_bound(problem, near.weights)
        least = by_clarabel(problem)
        # Clarabel stops at relative gaps of 1e-8 of numbers of about 10.
        assert bound <= least + 1e-6, seed
        assert bound >= least - 1e-4, seed
        best = np.inf
        for _ in range(starts):
            start = some_map(problem, rng)
            best = min(best, divergence(problem, stiefel_descent(problem, start, most=200).points))
        assert bound <= best, seed


def test_the_bound_on_random_graphs():
    compare(range(3), 9, 5)


@pytest.mark.full
def test_the_bound_on_fifty_random_graphs():
    compare(range(50), 40, 100)


def test_any_weights_bound_every_map():
    rng = np.random.default_rng(3)
    for seed in range(8):
        problem = random_problem(seed, 12, d=1 + seed % 3)
        w = rng.exponential(size=(12, 12)) ** rng.uniform(0, 4)
        w[rng.uniform(size=w.shape) < 0.3] = 0.0
        w = np.triu(w, 1) + np.triu(w, 1).T
        found = stiefel_descent(problem, some_map(problem, rng))
        least = divergence(problem, found.points)
        for weights in (w, 1e-200 * w, 1e150 * w):
            assert neighbor_bound(problem, weights) <= least


def test_the_bound_in_fifty_digits():
    rng = np.random.default_rng(0)
    for seed in range(3):
        problem = random_problem(seed, 7)
        w = kernel(squared_distances(some_map(problem, rng)))
        found = neighbor_bound(problem, w)
        with mpmath.workdps(50):
            P = mpmath.matrix(problem.P.toarray().tolist())
            q = mpmath.matrix(w.tolist())
            total = mpmath.fsum(q)
            q = q / total
            entropy = -mpmath.fsum(x * mpmath.log(x) for x in q if x > 0)
            known = mpmath.fsum(x * mpmath.log(x) for x in P if x > 0)
            M = mpmath.matrix(7, 7)
            for i in range(7):
                for j in range(7):
                    if i != j:
                        M[i, j] = -2 * (P[i, j] - q[i, j])
                        M[i, i] += 2 * (P[i, j] - q[i, j])
            values = sorted(mpmath.eigsy(M, eigvals_only=True))
            values.remove(min(values, key=abs))  # that of the vector 1
            exact = known + entropy + problem.size * mpmath.fsum(values[:2])
        assert 0 <= exact - found < 1e-10


def test_large_problems_take_other_ways(set_limits):
    problem, rng = random_problem(5, 30, 0.2), np.random.default_rng(0)
    start = stiefel_descent(problem, some_map(problem, rng)).points
    near = fantope_minimum(problem, start)
    known = neighbor_bound(problem, near.weights)
    set_limits("methods.points.neighbor_map.lower_bound", MAX_DECOMPOSED_ROWS=0)
    # The certificate of the trace problem, at 1e-10 of the trace.
    assert neighbor_bound(problem, near.weights) == pytest.approx(known, abs=1e-7)
    set_limits("methods.points.neighbor_map.fantope", MAX_PROJECTED_ROWS=0)
    by_vertices = fantope_minimum(problem, start)
    own = neighbor_bound(problem, kernel(squared_distances(start)))
    assert own < neighbor_bound(problem, by_vertices.weights) <= known + 1e-6
    assert (
        near.value - 1e-6
        <= by_vertices.value
        <= divergence(problem, start) - (problem.negative_entropy)
    )


def test_the_gradient_is_that_of_the_divergence(set_limits):
    problem, rng = random_problem(1, 12, 0.5), np.random.default_rng(0)
    Y, V = some_map(problem, rng), rng.normal(size=(12, 2))
    w = kernel(squared_distances(Y))
    for few in (300, 0):  # by all pairs, and by polynomials
        set_limits("methods.points.neighbor_map.problem", MAX_ALWAYS_PAIRED_ROWS=few)
        found = slope_times(problem, pair_shares(Y), V)
        np.testing.assert_allclose(slope(problem, w) @ V, found, atol=1e-14)
    step = 1e-5
    rise = divergence(problem, Y + step * V) - divergence(problem, Y - step * V)
    assert rise / (2 * step) == pytest.approx(2 * np.vdot(slope(problem, w) @ Y, V), rel=1e-6)


def test_the_nearest_point_of_the_fantope():
    rng = np.random.default_rng(0)
    G = rng.normal(size=(9, 9))
    near = in_fantope(G + G.T, 2.0, 3)
    values = np.linalg.eigvalsh(near)
    assert values.min() > -1e-12
    assert values.max() < 2 + 1e-12
    assert np.trace(near) == pytest.approx(6)
    assert np.abs(near.sum(axis=0)).max() < 1e-12
    # ⟨G − near, other − near⟩ ≤ 0 for every other point of the set
    for _ in range(30):
        Q = np.linalg.qr(rng.normal(size=(9, 3)) @ np.eye(3))[0]
        Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
        assert np.vdot(G + G.T - near, 2 * Q @ Q.T - near) < 1e-9


def test_what_is_no_map_and_what_is_no_bound():
    problem = random_problem(2, 20, 0.05)
    good = neighbor_answer(problem, some_map(problem, np.random.default_rng(0)), tolerance=0.5)
    Y = good.descent.points
    assert certify_neighbors(problem, Y, tolerance=0.5).level == "proved"
    assert certify_neighbors(problem, Y * [1, 1.01]).level == "failed"
    assert certify_neighbors(problem, Y + 0.1).level == "failed"
    assert certify_neighbors(problem, Y[:, :1]).level == "failed"
    assert certify_neighbors(problem, np.full_like(Y, np.nan)).level == "failed"
    other = some_map(problem, np.random.default_rng(1))
    assert certify_neighbors(problem, other).gap > certify_neighbors(problem, Y).gap
    for spread in (50.0, 1e6):  # where every exp(−t) is below the smallest double, too
        wide = random_problem(2, 20, spread)
        verdict = certify_neighbors(wide, Y * np.sqrt(spread / 0.05))
        assert verdict.level == "unresolved"
        assert "KL ≥ 0" in str(verdict)
        assert not verdict.holds
        assert np.isfinite(verdict.value)
        assert verdict.value > 0
    for wrong in (np.ones((20, 20)), -kernel(squared_distances(Y)), np.zeros((20, 20))):
        with pytest.raises(InvalidInput, match="weights of pairs"):
            neighbor_bound(problem, wrong)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_products_by_polynomials(width):
    for seed, spread in enumerate((1e-8, 0.1, 1.0, 5.0)):
        rng = np.random.default_rng(seed)
        Y = rng.standard_t(5, size=(400, width)) * np.sqrt(spread)
        Y = Y if width < 3 else np.clip(Y, -3, 3)
        w = np.exp(-squared_distances(Y))
        np.fill_diagonal(w, 0.0)
        V = rng.normal(size=(400, 2))
        sums = GaussianSums(Y)
        off = np.abs(sums.times(V) - w @ V).max(axis=0) / np.abs(V).sum(axis=0)
        # The reference is rounded, too: 400 terms, and exp of t to its last digits.
        assert (off <= sums.error + 400 * 2.0**-52).all()
        assert off.max() < 1e-14
        assert sums.error < 1e-6


def test_points_too_far_out_for_polynomials():
    with pytest.raises(TooLarge, match="kernel widths"):
        GaussianSums(np.random.default_rng(0).normal(size=(100, 2)) * 1e4)


@pytest.mark.parametrize("seed", range(20))
def test_values_are_moved_by_one_number_and_cut(seed):
    """Against bisection; equal values, and a size far below or above them, are among the cases."""
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(2, 40)), 10 ** rng.uniform(-3, 3)
    values = np.sort(rng.normal(size=n) * 10 ** rng.uniform(-3, 3))
    values = np.round(values) if seed % 3 == 0 else values
    count = int(rng.integers(1, n))
    low, high = values.min() - size, values.max()
    for _ in range(200):
        middle = (low + high) / 2
        over = np.clip(values - middle, 0, size).sum() > size * count
        low, high = (middle, high) if over else (low, middle)
    room = 8 * n * 2.0**-52 * max(size, np.abs(values).max())  # rounding of sums of n numbers
    found = _clipped_eigenvalues(values, size, count)
    np.testing.assert_allclose(found, np.clip(values - high, 0, size), rtol=0, atol=room)
    assert abs(found.sum() - size * count) <= n * room


RNG = np.random.default_rng(0)


def test_a_neighbour_map_that_is_cut_short_or_far_says_so():
    ring = sp.csr_array(np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1))
    problem = neighbor_problem(ring, n_components=2, spread=0.05)
    cut = stiefel_descent(problem, RNG.normal(size=(12, 2)), most=2, tol=0.0)
    assert not cut.arrived
    assert cut.rounds == 2
    far = certify_neighbors(problem, np.full((12, 2), 1e101))
    assert far.level == "failed"
    assert "too large to be squared" in far.reasons[0]
