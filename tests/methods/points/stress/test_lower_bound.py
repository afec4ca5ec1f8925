"""No points have less stress than a bound says: small problems, minimised from many starts.

The bounds are compared with the exact stress of the best points found, without any tolerance.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.methods.door import StopRule, convex_bound, rank_bound, stress_descent, stress_problem

KINDS = (
    "euclidean", "random", "ties", "zeros", "line", "noisy line", "copies", "wide", "orders",
    "clusters", "nearly",
)  # fmt: skip


def small_distances(kind, n, rng):
    """A matrix of distances of one of several kinds; few are those of points."""
    X = rng.normal(size=(n, {"line": 1, "noisy line": 1, "wide": 6}.get(kind, 3)))
    if kind == "copies":
        X[n // 2 :] = X[: n - n // 2]
    D = cdist(X, X)
    if kind in ("random", "ties", "zeros"):
        D = rng.uniform(0, 1, size=(n, n))
    if kind == "ties":
        D = np.ceil(3 * D)
    if kind == "zeros":
        D[rng.random((n, n)) < 0.3] = 0
    if kind == "orders":  # of magnitude
        D = 10 ** rng.uniform(-5, 2, size=(n, n))
    if kind == "clusters":
        D = cdist(X + 50 * rng.integers(0, 2, size=(n, 1)), X)
    if kind == "nearly":  # those of points on a line but for the last digits
        D = cdist(X[:, :1], X[:, :1]) * (1 + 10.0 ** rng.uniform(-15, -3) * rng.normal(size=(n, n)))
    if kind == "noisy line":
        D = D * np.exp(0.2 * rng.normal(size=(n, n)))
    D = np.triu(D, 1)
    return (D + D.T) * 2.0 ** rng.integers(-9, 9)


def exact_stress(D, Y):
    """Σ_{i<j} (‖y_i − y_j‖ − δ_ij)² of the doubles, to 50 digits."""
    with localcontext(prec=60):
        points = [[Decimal(float(x)) for x in row] for row in Y]
        total = Decimal(0)
        for i, a in enumerate(points):
            for j, b in enumerate(points[:i]):
                square = sum((x - y) ** 2 for x, y in zip(a, b, strict=True))
                total += (Decimal(square).sqrt() - Decimal(float(D[i, j]))) ** 2
        return total


def least_stress(D, count, rng, starts):
    """The best of many descents, with its points."""
    problem = stress_problem(D, count)
    size = max(float(D.max()), 1e-300)
    stop = StopRule(tolerance=1e-9, eps=0, max_steps=400)
    runs = [
        stress_descent(problem, size * rng.normal(size=(len(D), count)), stop)
        for _ in range(starts)
    ]
    best = min(runs, key=lambda run: run.stresses[-1])
    return exact_stress(D, best.points), best.points, runs[0].points


def check(seed, starts):
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, count = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    D = small_distances(kind, n, rng)
    if not D.any():
        return 0.0
    least, best, other = least_stress(D, count, rng, starts)
    found = []
    for points in (best, other, rng.normal(size=(n, count)) * D.max()):
        d = cdist(points, points)
        stress = float(np.square(d - D).sum()) / 2 * (1 + 1e-12)
        bounds = convex_bound(D, points), rank_bound(D, points, count, stress, 10)
        assert max(bounds) <= least, (seed, kind, n, count, bounds, least)
        found.append(max(bounds))
    return max(found[0], 0.0) / float(least) if least > 1e-300 else 0.0


def test_no_bound_is_above_the_least_stress():
    shares = [check(seed, starts=4) for seed in range(24)]
    assert max(shares) > 0.5  # they are no trivial ones


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(4))
def test_no_bound_is_above_the_least_stress_of_many_problems(part):
    for seed in range(100 + 250 * part, 350 + 250 * part):
        check(seed, starts=12)


def test_the_bound_of_the_dimension_is_no_worse_than_that_of_strain():
    """2·tail/max(r_i + r_j + δ)², tail what no d eigenvalues of −½Hδ²H reach."""
    rng = np.random.default_rng(1)
    D = cdist(*[rng.normal(size=(25, 6))] * 2)
    H = np.eye(25) - 1 / 25
    values = np.linalg.eigvalsh(-0.5 * H @ D**2 @ H)
    tail = np.square(values).sum() - np.square(np.maximum(values[-2:], 0)).sum()
    radius = D.mean(axis=1)
    plain = 2 * tail / np.max(np.add.outer(radius, radius) + D) ** 2
    assert plain > 0
    Y = rng.normal(size=(25, 2))
    stress = float(np.square(cdist(Y, Y) - D).sum()) / 2
    assert rank_bound(D, Y, 2, stress, 0) >= plain


def test_a_larger_matrix_is_bounded_by_another_route(set_limits):
    """Without all eigenvalues the bounds are the same to a small share."""
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(60, 2))
    D = np.triu(cdist(Y, Y) * np.exp(0.03 * rng.normal(size=(60, 60))), 1)
    D = D + D.T
    points = stress_descent(stress_problem(D), Y, StopRule(tolerance=1e-9, max_steps=2000)).points
    stress = float(np.square(cdist(points, points) - D).sum()) / 2 * (1 + 1e-12)
    plain = rank_bound(D, points, 2, stress, 5)
    set_limits("methods.points.stress.lower_bound", MAX_DECOMPOSED_ROWS=0, MAX_LAPACK_ROWS=0)
    assert rank_bound(D, points, 2, stress, 5) == pytest.approx(plain, rel=1e-6)
    assert plain > 0.9 * stress
    R = np.triu(rng.uniform(0.5, 1.5, size=(16, 16)), 1)
    R = R + R.T
    full = stress_descent(stress_problem(R, 15), rng.normal(size=(16, 15)),
                   StopRule(tolerance=1e-9, max_steps=5000))  # fmt: skip
    assert convex_bound(R, full.points) == pytest.approx(full.stresses[-1], rel=1e-5)
