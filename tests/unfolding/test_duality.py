"""The Lagrangian and the dual function: weak duality, the supremum, scaling, optimality."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.unfolding import (
    UnfoldingProblem,
    dual_function,
    dual_slack,
    interior_point,
    lagrangian,
    lowest_bend,
    optimality_residuals,
    weights_of_budget,
    weights_of_unit_bend,
)
from tests.proofs.unfoldings import chain, dense_laplacian, random_problem


def symmetric(rng, n):
    A = rng.standard_normal((n, n))
    return A + A.T


@pytest.mark.parametrize("masses", [False, True])
def test_the_lagrangian_is_affine_in_k_with_the_matrix_of_the_dual(masses):
    """(29): tr K(I + Z − ν11ᵀ − L) + Σ w d², by plain NumPy; for any symmetric K and Z."""
    rng = np.random.default_rng(20)
    p = random_problem(9, 21, masses=masses)
    m = p.mass
    for _ in range(5):
        K, Z = symmetric(rng, 9), symmetric(rng, 9)
        w, nu = rng.standard_normal(p.m), float(rng.standard_normal())
        A = np.diag(m) + Z - nu * np.outer(m, m) - dense_laplacian(p, w)
        assert lagrangian(p, K, w, nu, Z) == pytest.approx(np.trace(K @ A) + w @ p.squared)


def test_the_dual_function_is_the_supremum_of_the_lagrangian():
    """Constant in K where it is finite; elsewhere the Lagrangian grows along some K."""
    rng = np.random.default_rng(22)
    p = random_problem(8, 23)
    w, nu = rng.standard_normal(p.m), 0.3
    Z = dual_slack(p, w, nu)
    value = dual_function(p, w, nu, Z)
    for scale in (1.0, 1e3):
        K = scale * symmetric(rng, 8)
        assert lagrangian(p, K, w, nu, Z) == pytest.approx(value, abs=1e-9 * scale)
    Z = Z + 1e-3 * symmetric(rng, 8)
    assert dual_function(p, w, nu, Z) == np.inf
    values, vectors = np.linalg.eigh(Z - dual_slack(p, w, nu))
    v = vectors[:, [int(np.argmax(np.abs(values)))]]
    K = np.sign(values[np.argmax(np.abs(values))]) * v @ v.T
    grown = [lagrangian(p, t * K, w, nu, Z) for t in (1.0, 1e3, 1e6)]
    assert grown[0] < grown[1] < grown[2]


@pytest.mark.parametrize("seed", range(4))
def test_every_dual_feasible_triple_bounds_every_feasible_k(seed):
    """Weak duality with = for signed weights, with ≤ for weights that are not negative."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 3))
    p = random_problem(9, seed + 30)
    i, j = p.edges.T
    p = UnfoldingProblem(9, p.edges, np.sum((X[i] - X[j]) ** 2, axis=1), "equal")
    K = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    for w in (rng.random(p.m), rng.random(p.m) - 0.05):
        if lowest_bend(p, w)[0] <= 0:
            continue
        w = weights_of_unit_bend(p, w)
        Z = dual_slack(p, w)
        assert np.linalg.eigvalsh(Z)[0] > -1e-9 * np.abs(Z).max()
        bound = dual_function(p, w, 1 / 9, Z)
        assert np.trace(K) <= bound * (1 + 1e-12)
        assert lagrangian(p, K, w, 1 / 9, Z) == pytest.approx(bound)
        assert lagrangian(p, K, w, 1 / 9) == pytest.approx(bound - np.trace(K @ Z))


def test_the_lowest_bend_is_an_infimum_and_is_concave():
    rng = np.random.default_rng(24)
    p = random_problem(10, 25, masses=True)
    w = rng.random(p.m) - 0.2
    least, u = lowest_bend(p, w)
    assert p.mass @ u**2 == pytest.approx(1)
    assert p.mass @ u == pytest.approx(0, abs=1e-12)
    assert w @ (u[p.edges[:, 0]] - u[p.edges[:, 1]]) ** 2 == pytest.approx(least)
    for _ in range(50):
        v = p.centred_points(rng.standard_normal((10, 1)))[:, 0]
        v /= np.sqrt(p.mass @ v**2)
        assert w @ (v[p.edges[:, 0]] - v[p.edges[:, 1]]) ** 2 >= least - 1e-12
        a, b, t = rng.standard_normal(p.m), rng.standard_normal(p.m), rng.random()
        mixed = lowest_bend(p, t * a + (1 - t) * b)[0]
        assert mixed >= t * lowest_bend(p, a)[0] + (1 - t) * lowest_bend(p, b)[0] - 1e-9


def test_the_transformed_dual_has_the_optimum_c_over_c_star():
    """(43)–(48) on the chain of unit steps: c* = n(n² − 1)/12."""
    p, n = chain(7), 7
    w = np.arange(1, n) * (n - np.arange(1, n)) / 2
    best = n * (n**2 - 1) / 12
    assert dual_function(p, w, 1 / n, dual_slack(p, w)) == pytest.approx(best)
    assert lowest_bend(p, w)[0] == pytest.approx(1)
    for budget in (1.0, 250.0):
        scaled = weights_of_budget(p, w, budget)
        assert scaled @ p.squared == pytest.approx(budget)
        assert lowest_bend(p, scaled)[0] == pytest.approx(budget / best)
        rng = np.random.default_rng(26)
        for _ in range(20):
            other = weights_of_budget(p, scaled * rng.uniform(0.5, 1.5, p.m), budget)
            assert lowest_bend(p, other)[0] <= budget / best * (1 + 1e-12)
    np.testing.assert_allclose(weights_of_unit_bend(p, 9 * w), w)


def test_residuals_vanish_at_an_optimum_and_see_each_broken_condition():
    p = random_problem(9, 27)
    found = interior_point(p, tol=1e-10)
    K = found.factor @ found.factor.T
    at = optimality_residuals(p, K, found.weights)
    assert at.largest < 1e-4  # they fall with the root of the gap
    assert abs(at.gap) < 1e-8
    assert optimality_residuals(p, 1.1 * K, found.weights).lengths == pytest.approx(0.1, rel=1e-3)
    assert optimality_residuals(p, K + 0.1, found.weights).centring > 1e-3
    assert optimality_residuals(p, K, 0.5 * found.weights).bend == pytest.approx(0.5, rel=1e-3)
    assert optimality_residuals(p, K - 0.1 * np.eye(9), found.weights).definiteness > 1e-3
    assert optimality_residuals(p, K, found.weights - 0.1).sign > 1e-3
    other = np.random.default_rng(28).standard_normal((9, 2))
    assert optimality_residuals(p, other @ other.T, found.weights).slackness > 1e-2


def test_other_shapes_are_refused():
    p = chain(4)
    with pytest.raises(InvalidInput, match="symmetric 4×4"):
        lagrangian(p, np.eye(3), np.ones(3), 0.0)
    with pytest.raises(InvalidInput, match="symmetric"):
        lagrangian(p, np.triu(np.ones((4, 4))), np.ones(3), 0.0)
    with pytest.raises(InvalidInput, match="3 numbers"):
        dual_slack(p, np.ones(4))
    with pytest.raises(InvalidInput, match="positive"):
        weights_of_budget(p, -np.ones(3), 1.0)
    with pytest.raises(InvalidInput, match="λ₂"):
        weights_of_unit_bend(p, -np.ones(3))
