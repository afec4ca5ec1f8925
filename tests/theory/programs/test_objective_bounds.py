"""Bounds of programs by brute force: boxes, curvature, enclosed points, and what rounding costs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dualfold.programs import LinearProgram, QuadraticProgram
from tests.kernels.door import ExactMatrix, fractions
from tests.proofs.coarse import patched
from tests.theory.programs.door import (
    Curvature,
    Enclosure,
    ExactProgram,
    VariableBounds,
    curvature,
    eigenvalue_floor,
    enclosed_bound,
    enclosed_value,
    is_semidefinite,
    least_between,
    least_linear,
    lower_bound,
    objective_bounds,
    quadratic_change,
)

Q = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 3.0]])


def whole(*numbers):
    return fractions(np.array(numbers, dtype=float))


# ---- the least value of one variable


@pytest.mark.parametrize("slope", [-2.0, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("bend", [-1.0, 0.0, 0.25, 2.0])
@pytest.mark.parametrize("ends", [(-1.0, 2.0), (None, 2.0), (-1.0, None), (None, None), (1.5, 1.5)])
def test_the_least_of_a_parabola_between_ends(slope, bend, ends):
    low, high = ends
    v = 0.25
    exact = [None if end is None else Fraction(end) for end in ends]
    found = least_between(Fraction(slope), Fraction(v), Fraction(bend), *exact)
    t = np.linspace(-50 if low is None else low, 50 if high is None else high, 20_001)
    brute = float((slope * t + bend / 2 * (t - v) ** 2).min())
    if found is None:
        assert brute < -20  # it falls towards an end that is not there
    else:
        assert float(found) <= brute + 1e-12
        assert float(found) == pytest.approx(brute, abs=1e-3)
    assert least_between(Fraction(1), Fraction(0), Fraction(1), Fraction(2), Fraction(1)) == 0


def test_rows_bound_variables():
    """x ≥ 0 and x + 2y ≤ 6, y ≥ 1 (as −y ≤ −1), z − x = 2."""
    rows = [[1.0, 2.0, 0.0], [0.0, -1.0, 0.0]]
    program = LinearProgram(np.ones(3), rows, [6.0, -1.0], [[-1.0, 0.0, 1.0]], [2.0], 1)
    box = VariableBounds(program)
    assert [float(end) for end in box.low] == [0.0, 1.0, 2.0]
    assert [float(end) for end in box.high] == [4.0, 3.0, 6.0]
    inner = box.intersection([Fraction(3), Fraction(2), Fraction(5)])
    assert [float(end) for end in inner.high] == [3.0, 2.0, 5.0]
    assert [float(end) for end in inner.low] == [0.0, 1.0, 2.0]
    assert least_linear(whole(1, -1, 2), box) == Fraction(0 - 3 + 4)
    free = VariableBounds(LinearProgram(np.ones(2), [[1.0, 1.0]], [1.0]))
    assert free.low == free.high == [None, None]
    assert least_linear(whole(1, 0), free) is None
    assert least_linear(whole(0, 0), free) == 0
    assert [float(one) for one in free.intersection([Fraction(2), Fraction(3)]).low] == [-2, -3]
    sides = VariableBounds(LinearProgram([1.0], [[-2.0], [4.0]], [-4.0, 12.0]))
    assert (sides.low, sides.high) == ([Fraction(2)], [Fraction(3)])
    third = VariableBounds(LinearProgram([1.0], [[3.0]], [1.0]))
    assert Fraction(1, 3) <= third.high[0] <= Fraction(1, 3) * (1 + Fraction(1, 2**50))


def feasible_points(program, count=4_000):
    points = np.random.default_rng(0).uniform(-4, 4, size=(count, program.n))
    slack = program.limits - points @ np.asarray(program.rows).T
    inside = (slack[:, : len(program.b)] >= 0).all(axis=1)
    inside &= (points[:, : program.nonnegative] >= 0).all(axis=1)
    return points[inside]


@pytest.mark.parametrize("matrix", [None, Q])
def test_bounds_hold_for_every_feasible_point(matrix):
    A, b, c = np.array([[1.0, 1, 1], [-1, 0.5, 0]]), np.array([3.0, 2.0]), np.array([1.0, -2, 0.5])
    A, b = np.vstack([A, np.eye(3), -np.eye(3)]), np.r_[b, np.full(3, 4.0), np.full(3, 4.0)]
    program = (
        LinearProgram(c, A, b, nonnegative=1)
        if matrix is None
        else QuadraticProgram(matrix, c, A, b, nonnegative=1)
    )
    points = feasible_points(program)
    least = min(program.value(x) for x in points)
    exact, box = ExactProgram(program), VariableBounds(program)
    curved = curvature(program.Q, 3)
    random = np.random.default_rng(2)
    for _ in range(20):
        v, y = random.normal(size=3), np.abs(random.normal(size=8))
        bound = lower_bound(exact, fractions(v), fractions(y), box, curved)
        assert float(bound) <= least
        radius = np.abs(random.normal(size=11)) * 0.1
        near = Enclosure(fractions(np.r_[y, v]), fractions(radius))
        if matrix is None:
            continue
        worst = enclosed_bound(exact, near, curved)
        for _ in range(20):
            moved = np.r_[y, v] + radius * random.uniform(-1, 1, 11)
            value = exact.dual_value(fractions(moved[8:]), fractions(moved[:8]))
            assert worst <= value
        point = Enclosure(fractions(v), fractions(radius[:3]))
        most = enclosed_value(exact, point)
        for _ in range(20):
            moved = v + radius[:3] * random.uniform(-1, 1, 3)
            assert exact.value(fractions(moved), fractions([])) <= most
        assert enclosed_value(exact, Enclosure(fractions(v), whole(0, 0, 0))) == exact.value(
            fractions(v), fractions([])
        )
    assert program.n == 3


def test_how_far_a_form_moves():
    """½uᵀQu around (1, 0, 2) within 0.5: |Qv|ᵀr + ½rᵀ|Q|r."""
    found = quadratic_change(ExactMatrix(Q), Q, whole(1, 0, 2), whole(0.5, 0.5, 0.5))
    slope = np.abs(Q @ [1.0, 0, 2]).sum() * 0.5
    assert found == Fraction(slope + 0.125 * np.abs(Q).sum())
    assert quadratic_change(None, None, whole(1), whole(1)) == 0


@pytest.mark.parametrize("scale", [2.0**-40, 1.0, 2.0**40])
def test_curvature_is_below_and_near_the_least_eigenvalue(scale):
    for matrix in (Q, Q - 0.9 * np.linalg.eigvalsh(Q)[0] * np.eye(3), Q - 2 * np.eye(3)):
        found = curvature(scale * matrix, 3)
        D = np.diag(found.units)
        values = np.linalg.eigvalsh(D @ (scale * matrix) @ D)
        assert float(found.floor) <= values[0] + 1e-15
        assert float(found.floor) >= values[0] - 0.11 * abs(values[0]) - 1e-12
    flat = curvature(scale * np.outer([1.0, 2, 3], [1.0, 2, 3]), 3)
    assert flat.floor == 0
    assert curvature(None, 2).floor == 0
    assert curvature(np.zeros((2, 2)), 2).floor == 0
    assert curvature(np.array([[0.0, 1.0], [1.0, 0.0]]), 2).floor < 0


def test_the_value_of_an_enclosed_point_is_not_below_its_corners():
    Q, R = np.array([[2.0, -1.0], [-1.0, 3.0]]), np.array([[1.0, 0.5], [0.5, 4.0]])
    program = QuadraticProgram(Q, [1.0, -2.0], np.ones((2, 2)), [1.0, 2.0], R=R)
    centre = np.array([Fraction(one) for one in (1, -1, 2, -1)], dtype=object)
    for wide in (0, Fraction(1, 8)):
        radius = np.array([Fraction(wide)] * 4, dtype=object)
        found = enclosed_value(ExactProgram(program), Enclosure(centre, radius))
        corners = [
            program.value([float(c) + s * float(wide) for c, s in zip(centre, signs, strict=True)])
            for signs in itertools.product((-1, 1), repeat=4)
        ]
        assert max(corners) <= found <= max(corners) + 8 * wide


def test_exact_elimination_knows_semidefinite_matrices():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        Q = rng.integers(-2, 3, size=(3, 3))
        Q = (Q @ Q.T if rng.integers(2) else np.triu(Q) + np.triu(Q, 1).T).astype(float)
        minors = [
            round(np.linalg.det(Q[np.ix_(rows, rows)]))
            for k in (1, 2, 3)
            for rows in itertools.combinations(range(3), k)
        ]
        truth = min(minors) >= 0  # Sylvester, all principal minors
        assert is_semidefinite(Q) == truth
        seen.add(truth)
    assert seen == {True, False}


def test_curvature_is_decided_to_the_last_digit_of_the_numbers():
    """Integers of 53 bits: singular ones are semidefinite, and a determinant of 1 is positive."""
    a, b = 2**26 + 1, 2**26 + 3
    singular = np.diag([2.0**52 + 1, float(a * a), float(b * b)])
    singular[1, 2] = singular[2, 1] = float(a * b)
    assert is_semidefinite(singular)
    singular[2, 2] = np.nextafter(singular[2, 2], 0)
    assert not is_semidefinite(singular)
    c, d = 3 * 2**24 + 1, 3 * 2**24
    corners = [[c * c + d * d, c * (c + 1) + d * (d + 1)], [0, (c + 1) ** 2 + (d + 1) ** 2]]
    corners[1][0] = corners[0][1]
    assert corners[0][0] * corners[1][1] - corners[0][1] ** 2 == 1
    assert is_semidefinite(np.array(corners, dtype=float))


def test_curvature_pays_for_its_factorisation(monkeypatch):
    unit = 2.0**-12
    patched(monkeypatch, objective_bounds, EPS=unit, SMALLEST_NORMAL=0.0)
    Q = np.array([[1.0, 0.25, 0.0], [0.25, 1.5, -0.25], [0.0, -0.25, 1.0]])
    n, least = 3, float(np.linalg.eigvalsh(Q)[0])
    found = float(eigenvalue_floor(Q))
    shift = 0.9 * least
    slack = (n + 1) * unit / 2 * np.trace(Q - shift * np.eye(n))
    slack += unit / 2 * (np.diagonal(Q).max() - shift + shift)
    assert shift - 10 * slack <= found <= shift - slack


def test_curvature_of_many_rows_pays_for_each(monkeypatch):
    unit, n = 2.0**-16, 30
    patched(monkeypatch, objective_bounds, EPS=unit, SMALLEST_NORMAL=0.0)
    Q = np.eye(n) + np.diag(np.full(n - 1, 0.125), 1) + np.diag(np.full(n - 1, 0.125), -1)
    least = float(np.linalg.eigvalsh(Q)[0])
    slack = (n + 1) * unit / 2 * n * (1 - 0.9 * least)
    assert 0.9 * least - 10 * slack <= float(eigenvalue_floor(Q)) <= 0.9 * least - slack


def test_one_side_of_bounds_may_be_left_open():
    program = LinearProgram([1.0, 1.0], [[1.0, 1.0]], [3.0])
    upper = program.with_bounds(None, 2.0)
    lower = program.with_bounds(-1.0, None)
    assert len(upper.b) == len(lower.b) == 3
    np.testing.assert_array_equal(upper.b[1:], [2.0, 2.0])
    np.testing.assert_array_equal(lower.b[1:], [1.0, 1.0])


def test_curvature_is_proved_or_not_known():
    scaled = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert Fraction(0) < eigenvalue_floor(scaled) <= Fraction(1, 2)
    assert eigenvalue_floor(np.full((2, 2), np.nan)) is None
    assert is_semidefinite(np.diag([1.0, 2.0]))
    assert is_semidefinite(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not is_semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not is_semidefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))


def test_bounds_without_a_floor_of_the_curvature_are_none():
    program = QuadraticProgram(np.eye(1), [1.0])
    exact = ExactProgram(program)
    unknown, hollow = Curvature(None, np.ones(1)), Curvature(Fraction(-1), np.ones(1))
    box = VariableBounds(program)
    point = fractions(np.array([-1.0]))
    assert lower_bound(exact, point, fractions(np.zeros(0)), box, unknown) is None
    assert enclosed_bound(exact, None, hollow) is None
    assert least_linear(fractions(np.array([1.0])), box) is None
    above = VariableBounds(LinearProgram([1.0], [[-1.0]], [3.0]))  # x ≥ −3
    assert least_linear(fractions(np.array([1.0])), above) == -3
