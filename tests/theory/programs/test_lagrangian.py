"""Lagrangian, dual function and KKT of general problems, against closed forms and programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from dualfold.errors import InvalidInput
from dualfold.programs import GeneralProblem, QuadraticProgram, quadratic_dual, solve_program


def draws(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


# min e^a + b² subject to a ≥ 1 (g = 1 − a), a + b = 3: at (a, 3 − a), e^a = 2(3 − a).
CURVED = GeneralProblem(
    lambda x: np.exp(x[0]) + x[1] ** 2, lambda x: [1 - x[0]], lambda x: [x[0] + x[1] - 3]
)
GIVEN = GeneralProblem(
    CURVED.f,
    CURVED.g,
    CURVED.h,
    f_gradient=lambda x: [np.exp(x[0]), 2 * x[1]],
    g_jacobian=lambda x: [[-1.0, 0.0]],
    h_jacobian=lambda x: [[1.0, 1.0]],
)


@pytest.mark.parametrize("problem", [CURVED, GIVEN], ids=["differences", "derivatives"])
def test_kkt_holds_at_the_solution_and_names_what_fails_elsewhere(problem):
    # a ≥ 1 is active: e > 2·2 − … at a = 1: e^1 − 2(3 − 1) = −1.28 < 0, so it is not; solve.
    a = minimize(lambda t: np.exp(t[0]) + (3 - t[0]) ** 2, [1.2], tol=1e-14).x[0]
    nu = -2 * (3 - a)
    # λ = 0 where g < 0
    residuals = problem.kkt([a, 3 - a], [0.0], [nu])
    assert residuals.largest < 1e-6
    off = problem.kkt([a, 3 - a], [0.1], [nu])
    assert off.stationarity == pytest.approx(0.1, abs=1e-6)
    assert off.complementarity == pytest.approx(0.1 * (a - 1), abs=1e-9)
    assert problem.kkt([0.5, 2.5], [0.0], [nu]).primal_feasibility == pytest.approx(0.5)
    assert problem.kkt([a, 4.0 - a], [0.0], [nu]).primal_feasibility == pytest.approx(1.0)
    assert problem.kkt([a, 3 - a], [-0.2], [nu]).dual_feasibility == pytest.approx(0.2)


def test_the_lagrangian_and_its_dual_have_their_closed_forms():
    """inf over (a, b) of e^a + b² − λ(a − 1) + ν(a + b − 3): a = log(λ − ν), b = −ν/2."""
    for lam, nu in ((0.5, -1.0), (0.0, -2.0), (1.5, 0.5)):
        slack = lam - nu
        exact = slack - slack * np.log(slack) + lam - nu**2 / 4 - 3 * nu
        found = GIVEN.dual_function([lam], [nu], start=[0.0, 0.0])
        assert found.value == pytest.approx(exact, abs=1e-8)
        np.testing.assert_allclose(found.point, [np.log(slack), -nu / 2], atol=1e-5)
        assert CURVED.dual_function([lam], [nu], start=[0.0, 0.0]).value == pytest.approx(exact)
        x = draws(0, 2)
        expected = np.exp(x[0]) + x[1] ** 2 + lam * (1 - x[0]) + nu * (x.sum() - 3)
        assert GIVEN.lagrangian(x, [lam], [nu]) == pytest.approx(expected, rel=1e-14)
        # Weak duality, against the best feasible point.
        best = min(np.exp(a) + (3 - a) ** 2 for a in np.linspace(1, 3, 2001))
        assert found.value <= best + 1e-9
    bowl = GeneralProblem(lambda x: 1.5 * float(x @ x), lambda x: [1 - x[0]])
    sure = bowl.dual_function([2.0], start=[1.0, 1.0], strong_convexity=3.0)
    assert sure.lower <= 2 - 2 / 3 + 1e-12
    assert sure.lower == pytest.approx(2 - 2 / 3, abs=1e-9)  # −λ²/6 + λ


def test_a_dual_without_a_minimum_is_minus_infinity():
    line = GeneralProblem(lambda x: x[0] + 2 * x[1], lambda x: [-x[0], -x[1]])
    assert line.dual_function([1.0, 2.0], start=[3.0, 4.0]).value == pytest.approx(0.0, abs=1e-9)
    assert line.dual_function([1.0, 1.0], start=[3.0, 4.0]).value == -np.inf
    assert line.dual_function([1.0, 1.0], start=[3.0, 4.0]).point is None
    # e^−x has no least point, but an infimum: not −∞.
    tail = GeneralProblem(lambda x: float(np.exp(-x[0])))
    assert 0 <= tail.dual_function(start=[0.0]).value < 1e-6


def test_the_quadratic_dual_is_the_dual_function_and_meets_the_optimum():
    root, c, A, inside = draws(1, 3, 3), draws(2, 3), draws(3, 4, 3), draws(4, 3)
    program = QuadraticProgram(
        root @ root.T + np.eye(3), 3 * c, A, A @ inside + 0.5, np.ones((1, 3)), [inside.sum()]
    )
    general = GeneralProblem(
        program.value, lambda x: program.A @ x - program.b, lambda x: program.E @ x - program.f
    )
    answer = solve_program(program)
    assert answer.multipliers is not None
    at = np.concatenate([np.maximum(answer.multipliers[:4], 0.0), answer.multipliers[4:]])
    assert quadratic_dual(program, at) == pytest.approx(program.value(answer.point), abs=1e-8)
    assert general.kkt(answer.point, at[:4], at[4:]).largest < 1e-6
    for y in np.abs(draws(5, 10, 5)):
        D = quadratic_dual(program, y)
        assert program.value(answer.point) + 1e-9 >= D
        by_descent = general.dual_function(y[:4], y[4:], start=np.zeros(3))
        assert by_descent.value == pytest.approx(D, rel=1e-7)
        # Wolfe's dual at its best v is the same number.
        v = np.linalg.solve(program.Q, program.c + program.rows.T @ y)
        assert program.dual.value(np.concatenate([y, -v])) == pytest.approx(D, rel=1e-9)


def test_the_quadratic_dual_of_a_flat_program():
    flat = QuadraticProgram(np.diag([2.0, 0.0]), [0.0, 1.0], [[1.0, -1.0]], [3.0])
    assert quadratic_dual(flat, [1.0]) == pytest.approx(-1 / 4 - 3)
    assert quadratic_dual(flat, [0.5]) == -np.inf
    with pytest.raises(InvalidInput, match="≥ 0"):
        quadratic_dual(flat, [-1.0])
    with pytest.raises(InvalidInput, match="with_bounds"):
        quadratic_dual(QuadraticProgram(np.eye(1), [0.0], nonnegative=1), [])
    with pytest.raises(InvalidInput, match="≥ 0"):
        CURVED.dual_function([-1.0], [0.0], start=[0.0, 0.0])
    with pytest.raises(InvalidInput, match="1 finite numbers"):
        CURVED.kkt([0.0, 0.0], [], [0.0])
    with pytest.raises(InvalidInput, match="columns"):
        GeneralProblem(lambda x: x[0], f_gradient=lambda x: [1.0]).kkt([0.0, 0.0])
