"""The mathematics inside the experiments of Shin's lectures, against independent answers."""

from itertools import combinations

import numpy as np
import pytest
import scipy.optimize

from dualfold.data import digits
from dualfold.games import Convex, Quadratic, gradient_descent
from dualfold.programs import LinearProgram, QuadraticProgram, quadratic_dual, solve_program
from papers import Setting
from papers.shin import convexity, descent, duality
from papers.shin import pca_algorithms as algorithms
from papers.shin import pca_mnist as reconstructed


def test_rounds_of_descent_by_a_plain_loop() -> None:
    x, steps = descent.START.copy(), 0
    Q, q = np.array([[2.0, 1.0], [1.0, 20.0]]), np.array([5.0, 3.0])
    best = -q @ np.linalg.solve(Q, q) / 2
    while x @ Q @ x / 2 - q @ x - best > descent.NEAR:
        x, steps = x - descent.STEP * (Q @ x - q), steps + 1
    plain = gradient_descent(descent.VALLEY, descent.START, step=descent.STEP)
    assert descent._rounds(plain) == steps
    np.testing.assert_allclose(descent.LOWEST, np.linalg.solve(Q, q), rtol=1e-14)


def test_a_method_that_does_not_arrive_is_told() -> None:
    lost = gradient_descent(descent.VALLEY, descent.START, step=1e-9)
    assert descent._rounds(lost) == descent.ENOUGH + 1


class Dent(Convex):
    """Convex but for a dent around 0."""

    def value(self, x):  # type: ignore[no-untyped-def]
        return float(x @ x + 30 * np.exp(-x @ x / 4))

    def subgradient(self, x):  # type: ignore[no-untyped-def]
        return 2 * x - 15 * x * np.exp(-x @ x / 4)


class Steep(Quadratic):
    """Its subgradients are 2 % too long."""

    def subgradient(self, x):  # type: ignore[no-untyped-def]
        return 1.02 * super().subgradient(x)


def test_what_is_not_convex_is_found_out() -> None:
    rng = np.random.default_rng(0)
    dent = convexity.Shape("dent", Dent(), convexity._anywhere)
    assert convexity.chord_excess(dent, rng, 400) > 1e-3
    assert convexity.tangent_excess(dent, rng, 400) > 1e-3
    steep = convexity.Shape("steep", Steep(np.eye(4), np.zeros(4)), convexity._anywhere)
    assert convexity.chord_excess(steep, rng, 400) < 1e-12
    assert convexity.tangent_excess(steep, rng, 2_000) > 1e-6


def test_a_dent_has_negative_curvature() -> None:
    assert convexity.least_curvature(Dent(), np.full(4, 0.1)) < -0.5
    assert convexity.least_curvature(Quadratic(np.eye(4), np.zeros(4)), np.ones(4)) > 0.999


def _small_quadratic() -> QuadraticProgram:
    Q = np.array([[3.0, 1.0], [1.0, 2.0]])
    return QuadraticProgram(Q, [1.0, -2.0], [[1.0, 2.0], [-1.0, 0.5]], [0.5, 0.25])


def test_dual_function_is_the_least_lagrangian() -> None:
    program, y = _small_quadratic(), np.array([0.7, 1.3])
    least = scipy.optimize.minimize(
        lambda x: program.value(x) + y @ (program.A @ x - program.b), np.zeros(2), tol=1e-12
    )
    assert quadratic_dual(program, y) == pytest.approx(least.fun, abs=1e-9)
    assert duality.printed_dual(program, y) != pytest.approx(least.fun, abs=1e-2)


def test_printed_dual_of_one_variable() -> None:
    program = QuadraticProgram([[1.0]], [0.0], [[-2.0]], [-2.0])
    for weight in (0.0, 0.25, 0.5, 2.0):
        y = np.array([weight])
        assert quadratic_dual(program, y) == pytest.approx(2 * weight - 2 * weight**2)
        assert duality.printed_dual(program, y) == pytest.approx(4 * weight**2 + 2 * weight)


def test_linear_programs_by_their_corners() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        A, b, c, witness = duality.bounded_program(rng)
        np.testing.assert_allclose(A.T @ witness + c, 0, atol=1e-12)
        corners = []
        for rows in map(list, combinations(range(len(A)), A.shape[1])):
            x = np.linalg.solve(A[rows], b[rows])
            if np.all(A @ x <= b + 1e-9):
                corners.append(float(c @ x))
        program = LinearProgram(c, A, b)
        assert program.value(solve_program(program).point) == pytest.approx(min(corners), rel=1e-9)


def test_error_of_reconstruction_by_singular_values() -> None:
    X = np.random.default_rng(2).standard_normal((50, 8)) + 3
    mean = X.mean(axis=0)
    s, Vt = np.linalg.svd(X - mean, full_matrices=False)[1:]
    for M in range(9):
        error = reconstructed.mean_square_error(X, mean, Vt[:M])
        assert error == pytest.approx(np.sum(s[M:] ** 2) / 50, abs=1e-12)


def test_rivals_have_the_rank_and_differ() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20, 9))
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    best = (U[:, :3] * s[:3]) @ Vt[:3]
    for other in reconstructed.rivals(X, best, 3, rng):
        assert np.linalg.matrix_rank(other) == 3
        assert np.linalg.norm(X - other) > np.linalg.norm(X - best) * (1 + 1e-12)


def test_digits_stand_in() -> None:
    setting = Setting("brief")
    setting.__dict__["images"] = digits()
    for run in (reconstructed.reconstruction, reconstructed.low_rank):
        finding = run(setting)
        assert not finding.failed
        assert any("digits are used" in note for note in finding.notes)


def test_three_algorithms_on_random_data() -> None:
    X = np.random.default_rng(6).standard_normal((12, 30)) * np.linspace(3, 1, 30)
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / 12)
    for algorithm in algorithms.ALGORITHMS.values():
        found, directions = algorithm(X, 4)
        np.testing.assert_allclose(found, values[::-1][:4], rtol=1e-10)
        overlap = np.abs(np.sum(directions * vectors[:, ::-1][:, :4], axis=0))
        np.testing.assert_allclose(overlap, 1, rtol=1e-10)


def test_next_direction_beats_others_that_are_orthogonal() -> None:
    rng = np.random.default_rng(7)
    S = np.cov(rng.standard_normal((6, 40)))
    first = algorithms.next_direction(S, np.zeros((6, 0)))[1]
    value, b = algorithms.next_direction(S, first[:, None])
    assert abs(b @ first) < 1e-12
    others = rng.standard_normal((5_000, 6))
    others -= np.outer(others @ first, first)
    others /= np.linalg.norm(others, axis=1)[:, None]
    heights = np.einsum("ij,jk,ik->i", others, S, others)
    assert 0.9 * value < heights.max() <= value * (1 + 1e-12)
