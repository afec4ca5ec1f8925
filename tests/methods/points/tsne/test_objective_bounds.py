"""Stated errors of t-SNE's objective and gradient hold for any map, against 50 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.methods.points.tsne import TsneProblem, certify_tsne, tsne_objective

SIZES = (1e-200, 1e-20, 1e-6, 1.0, 50.0, 1e6, 1e50, 1e100)


def random_problem(rng, n, width):
    near = rng.random((n, n)) ** 4 * (rng.random((n, n)) < 0.6)
    near[0, 1] = 1
    P = sp.csr_array(np.triu(near, 1) + np.triu(near, 1).T)
    P = sp.csr_array(P / P.sum())
    P.indices, P.indptr = P.indices.astype(np.int32), P.indptr.astype(np.int32)
    return TsneProblem(P, width, attraction=float(10 ** rng.uniform(-1, 1)))


def random_map(rng, n, width, size):
    Y = rng.standard_normal((n, width)) * np.exp(rng.standard_normal((n, 1)))
    Y[: n // 4] = Y[0]  # points in one place
    return Y * size + (1e8 * size if rng.random() < 0.3 else 0)


def in_50_digits(problem, Y):
    """F, KL, ∇F and the share of the forces that is unbalanced, from the definition."""
    (n, width), rho = Y.shape, mp.mpf(problem.attraction)
    points = [[mp.mpf(float(v)) for v in row] for row in Y]
    square = {
        (i, j): sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True))
        for i in range(n)
        for j in range(n)
        if i != j
    }
    Z = sum(1 / (1 + t) for t in square.values())
    pull, push = mp.zeros(n, width), mp.zeros(n, width)
    information = cost = mp.mpf(0)
    edges = problem.P.tocoo()
    for i, j, p in zip(edges.row, edges.col, map(mp.mpf, edges.data.tolist()), strict=True):
        information, cost = information + p * mp.log(p), cost + p * mp.log(1 + square[i, j])
        for c in range(width):
            pull[i, c] += 4 * rho * p * (points[i][c] - points[j][c]) / (1 + square[i, j])
    for (i, j), t in square.items():
        for c in range(width):
            push[i, c] += 4 * (points[i][c] - points[j][c]) / (1 + t) ** 2 / Z
    gradient, forces = pull - push, mp.norm(pull) + mp.norm(push)
    return (
        information + rho * cost + mp.log(Z),
        information + cost + mp.log(Z),
        gradient,
        mp.norm(gradient) / forces,
    )


@pytest.mark.parametrize("tree", [False, True])
def test_stated_errors_of_objective_and_gradient_hold(tree, set_limits):
    if tree:
        set_limits("methods.points.tsne.student_objective", MAX_ROWS_BY_PAIRS=1)
    rng = np.random.default_rng(3201)
    with mp.workdps(50):
        for size in SIZES:
            n, width = int(rng.integers(10, 14)), int(rng.integers(1, 4))
            problem, Y = random_problem(rng, n, width), random_map(rng, n, width, size)
            found = tsne_objective(problem, Y)
            value, kl, gradient, unbalanced = in_50_digits(problem, Y)
            assert abs(mp.mpf(found.value) - value) <= found.error
            assert abs(mp.mpf(found.kl) - kl) <= found.error
            off = mp.norm(gradient - mp.matrix(found.gradient.tolist()))
            assert off <= found.gradient_error
            assert found.unbalanced_share >= unbalanced * (1 - mp.mpf(10) ** -9)
            # The bound is of use: it is some hundred units in the last place of F.
            assert found.error < 1e-13 * max(10, found.value) or not found.exact


def test_a_map_of_one_place_is_stationary_and_a_tiny_one_is_not():
    """Forces of a tiny map underflow as squares; they are unbalanced all the same."""
    problem = random_problem(np.random.default_rng(5), 12, 2)
    place = np.zeros((12, 2))
    assert certify_tsne(problem, place).level == "stationary"
    tiny = np.random.default_rng(6).standard_normal((12, 2)) * 1e-200
    judged = certify_tsne(problem, tiny)
    assert judged.level == "not stationary"
    assert 0.01 < judged.unbalanced <= 1
