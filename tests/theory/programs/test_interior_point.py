"""Quadratic programs are solved without a package of solvers, and as well as Clarabel does."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.programs import QuadraticProgram, solve_program


def program_of_many_kinds(seed: int, n: int = 40) -> QuadraticProgram:
    """A singular Q, rows, equations that repeat, and variables of both signs; it has an optimum."""
    rng = np.random.default_rng(seed)
    factor, rows = rng.normal(size=(n // 2, n)), rng.normal(size=(n // 2, n))
    inside = rng.normal(size=n)
    inside[: n // 4] = np.abs(inside[: n // 4])
    equations = rng.normal(size=(3, n))
    equations = np.vstack([equations, equations[:1] + equations[1:2]])
    return QuadraticProgram(
        sp.csr_array(factor.T @ factor),
        rng.normal(size=n),
        rows,
        rows @ inside + rng.exponential(size=n // 2),
        equations,
        equations @ inside,
        nonnegative=n // 4,
    ).with_bounds(-9.0, 9.0)


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_the_optimum_is_that_of_clarabel(seed: int) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    program = program_of_many_kinds(seed)
    answer = solve_program(program)
    x = cvxpy.Variable(program.n)
    curved = cvxpy.quad_form(x, cvxpy.psd_wrap(program.Q))
    peer = cvxpy.Problem(
        cvxpy.Minimize(curved / 2 + program.c @ x),
        [program.A @ x <= program.b, program.E @ x == program.f, x[: program.nonnegative] >= 0],
    )
    peer.solve(solver="CLARABEL")
    # Clarabel stops at relative gaps of 1e-8.
    assert program.value(answer.point) == pytest.approx(peer.value, rel=1e-6)
    assert program.slack(answer.point)[: len(program.b)].min() > -1e-9


def test_no_further_package_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("clarabel", "cvxpy", "osqp", "quadprog"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    target = np.array([1.0, 0.5, -1.0])
    nearest = QuadraticProgram(np.eye(3), -target, E=np.ones((1, 3)), f=[1.0], nonnegative=3)
    answer = solve_program(nearest)
    assert (answer.status, answer.certificate.level) == ("optimal", "proved")
    np.testing.assert_allclose(answer.point, [0.75, 0.25, 0.0], atol=1e-9)


def test_without_an_optimum_there_is_no_answer() -> None:
    infeasible = QuadraticProgram(np.eye(1), [1.0], [[1.0], [-1.0]], [0.0, -1.0])
    unbounded = QuadraticProgram(np.diag([1.0, 0.0]), [0.0, -1.0], nonnegative=2)
    assert solve_program(infeasible).status == "infeasible"
    assert solve_program(unbounded).status == "unbounded"
