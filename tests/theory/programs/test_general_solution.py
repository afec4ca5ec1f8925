"""General problems solved: against programs and closed forms, with a verdict of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dualfold.errors import NotConverged
from dualfold.programs import (
    GeneralProblem,
    LinearProgram,
    QuadraticProgram,
    certify_program,
    solve_general,
    solve_program,
)


@pytest.mark.parametrize("seed", [21, 22, 23, 24])
def test_a_quadratic_program_of_functions_has_the_programs_answer(seed):
    rng = np.random.default_rng(seed)
    root, A, inside = rng.normal(size=(3, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    program = QuadraticProgram(
        root @ root.T + 0.1 * np.eye(3), 4 * rng.normal(size=3), A, A @ inside + 0.3,
        np.ones((1, 3)), [inside.sum()],
    )  # fmt: skip
    general = GeneralProblem(
        program.value, lambda x: program.A @ x - program.b, lambda x: program.E @ x - program.f
    )
    exact, answer = solve_program(program), solve_general(general, np.zeros(3))
    assert exact.certificate.level == "proved"
    assert answer.level == "stationary"
    scale = 1 + abs(exact.certificate.value)
    assert answer.value == pytest.approx(exact.certificate.value, abs=1e-7 * scale)
    np.testing.assert_allclose(answer.point, exact.point, atol=1e-5)
    found = np.concatenate([answer.inequality, answer.equation])
    np.testing.assert_allclose(found, exact.multipliers, atol=1e-4)
    assert abs(answer.gap) < 1e-7 * scale
    assert answer.dual.value <= answer.value + 1e-9 * scale  # weak duality


def test_a_problem_with_a_known_optimum():
    """min x + 2y in the unit disc: −√5 at −(1, 2)/√5, and λ = √5/2."""
    disc = GeneralProblem(lambda v: v[0] + 2 * v[1], lambda v: [v @ v - 1])
    answer = solve_general(disc, [0.1, 0.3])
    assert answer.value == pytest.approx(-np.sqrt(5), abs=1e-8)
    np.testing.assert_allclose(answer.point, -np.array([1, 2]) / np.sqrt(5), atol=1e-6)
    assert answer.inequality[0] == pytest.approx(np.sqrt(5) / 2, abs=1e-6)
    assert answer.dual.value == pytest.approx(-np.sqrt(5), abs=1e-8)
    assert "stationary" in str(answer)


def test_a_minimum_inside_the_constraints_is_stationary():
    bowl = GeneralProblem(lambda v: float((v - 0.3) @ (v - 0.3)), lambda v: [v @ v - 9])
    answer = solve_general(bowl, [1.0, -1.0])
    assert answer.level == "stationary"
    assert answer.inequality[0] == 0
    assert bowl.kkt([0.3, 0.3001], [0.0]).level() == "not stationary"
    log = GeneralProblem(lambda v: v[0] - math.log(v[0]))  # it raises on one side
    assert log.kkt([1.0]).level() == "stationary"
    alone = GeneralProblem(lambda v: float(np.cosh(v[0])))
    assert solve_general(alone, [0.7]).level == "stationary"


def test_wrong_multipliers_are_not_stationary_though_the_value_is_optimal():
    disc = GeneralProblem(lambda v: v[0] + 2 * v[1], lambda v: [v @ v - 1])
    best = -np.array([1, 2]) / np.sqrt(5)
    assert disc.kkt(best, [np.sqrt(5) / 2]).level() == "stationary"
    assert disc.kkt(best, [np.sqrt(5) / 2 + 0.5]).level() == "not stationary"
    assert disc.kkt(best, [np.sqrt(5) / 2 + 0.5]).level(0.9) == "stationary"
    assert disc.kkt(1.1 * best, [np.sqrt(5) / 2]).level() == "not stationary"
    pinned = LinearProgram([1.0], [[-1.0]], [-3.0]).with_bounds(3.0, 3.0)
    right, wrong = (certify_program(pinned, [3.0], [y, 0.0, 0.0]) for y in (1.0, 0.5))
    assert (right.level, right.kkt_level) == ("proved", "stationary")
    assert (wrong.level, wrong.kkt_level) == ("proved", "not stationary")
    assert "multipliers as given are not optimal" in str(wrong)
    assert "not optimal" not in str(right)


def test_the_verdict_does_not_depend_on_units():
    for unit in (1e-3, 1.0, 1e4):
        scaled = GeneralProblem(lambda v, u=unit: u * (v[0] + 2 * v[1]),
                                lambda v, u=unit: [(v @ v - 1) / u])  # fmt: skip
        best = -np.array([1, 2]) / np.sqrt(5)
        lam = unit**2 * np.sqrt(5) / 2
        assert scaled.kkt(best, [lam]).level() == "stationary"
        assert scaled.kkt(best, [1.001 * lam]).level() == "not stationary"


def test_what_has_no_optimum_is_not_called_stationary():
    torn = GeneralProblem(lambda x: x[0], lambda x: [x[0] + 1, 1 - x[0]])
    assert solve_general(torn, [0.3]).level == "not stationary"
    with pytest.raises(NotConverged, match="without end"), np.errstate(all="ignore"):
        solve_general(GeneralProblem(lambda x: x[0]), [0.3])
    # Not convex: a stationary point, and a dual that says nothing.
    hill = GeneralProblem(lambda x: -(x[0] ** 2), lambda x: [x[0] - 1, -1 - x[0]])
    answer = solve_general(hill, [0.3])
    assert answer.value == pytest.approx(-1)
    assert answer.dual.value == -np.inf
