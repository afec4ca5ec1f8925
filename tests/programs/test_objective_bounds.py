"""Parts of the proofs about programs, and exact proofs of trace problems, by brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_infeasible,
    certify_program,
    certify_unbounded,
)
from dualfold.programs.exact import (
    Enclosure,
    ExactMatrix,
    ExactProgram,
    double_above,
    double_below,
    fractions,
)
from dualfold.programs.objective_bounds import (
    Box,
    _least,
    _quadratic_change,
    curvature,
    enclosed_bound,
    enclosed_value,
    least_linear,
    lower_bound,
)
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.proof.exact_arithmetic import exact_proof

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
    found = _least(Fraction(slope), Fraction(v), Fraction(bend), *exact)
    t = np.linspace(-50 if low is None else low, 50 if high is None else high, 20_001)
    brute = float((slope * t + bend / 2 * (t - v) ** 2).min())
    if found is None:
        assert brute < -20  # it falls towards an end that is not there
    else:
        assert float(found) <= brute + 1e-12
        assert float(found) == pytest.approx(brute, abs=1e-3)
    assert _least(Fraction(1), Fraction(0), Fraction(1), Fraction(2), Fraction(1)) == 0


def test_rows_bound_variables():
    """x ≥ 0 and x + 2y ≤ 6, y ≥ 1 (as −y ≤ −1), z − x = 2."""
    rows = [[1.0, 2.0, 0.0], [0.0, -1.0, 0.0]]
    program = LinearProgram(np.ones(3), rows, [6.0, -1.0], [[-1.0, 0.0, 1.0]], [2.0], 1)
    box = Box(program)
    assert [float(end) for end in box.low] == [0.0, 1.0, 2.0]
    assert [float(end) for end in box.high] == [4.0, 3.0, 6.0]
    inner = box.intersection([Fraction(3), Fraction(2), Fraction(5)])
    assert [float(end) for end in inner.high] == [3.0, 2.0, 5.0]
    assert [float(end) for end in inner.low] == [0.0, 1.0, 2.0]
    assert least_linear(whole(1, -1, 2), box) == Fraction(0 - 3 + 4)
    free = Box(LinearProgram(np.ones(2), [[1.0, 1.0]], [1.0]))
    assert free.low == free.high == [None, None]
    assert least_linear(whole(1, 0), free) is None
    assert least_linear(whole(0, 0), free) == 0
    assert [float(one) for one in free.intersection([Fraction(2), Fraction(3)]).low] == [-2, -3]
    third = Box(LinearProgram([1.0], [[3.0]], [1.0]))
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
    exact, box = ExactProgram(program), Box(program)
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
    found = _quadratic_change(ExactMatrix(Q), Q, whole(1, 0, 2), whole(0.5, 0.5, 0.5))
    slope = np.abs(Q @ [1.0, 0, 2]).sum() * 0.5
    assert found == Fraction(slope + 0.125 * np.abs(Q).sum())
    assert _quadratic_change(None, None, whole(1), whole(1)) == 0


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


def test_numbers_are_rounded_to_the_side_asked_for():
    third = Fraction(1, 3)
    assert Fraction(double_below(third)) < third < Fraction(double_above(third))
    assert math.nextafter(double_below(third), 1) == double_above(third)
    assert double_above(Fraction(1, 2)) == double_below(Fraction(1, 2)) == 0.5
    assert double_above(Fraction(10) ** 400) == math.inf
    assert double_below(Fraction(10) ** 400) == np.finfo(float).max
    assert double_above(-(Fraction(10) ** 400)) == -np.finfo(float).max


# ---- certificates with known optima


@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**30])
def test_certificates_of_a_program_with_a_known_optimum(scale):
    """min 2x + 3y, x + y ≥ 4: 8 at (4, 0), with the multiplier 2."""
    diet = LinearProgram(scale * np.array([2.0, 3.0]), [[-1.0, -1.0]], [-4.0], nonnegative=2)
    right = certify_program(diet, [4.0, 0.0], [2.0 * scale])
    assert (right.level, right.gap) == ("proved", 0.0)
    assert right.value == right.bound == right.attained == 8 * scale
    off = certify_program(diet, [4.0, 0.5], [2.0 * scale], tolerance=0.25)
    assert off.level == "proved"
    assert off.value == 9.5 * scale
    assert off.bound == pytest.approx(8 * scale)
    assert off.gap == pytest.approx(1.5 / 8, rel=1e-9)
    small = certify_program(diet, [4.0, 0.5], [2.0 * scale], tolerance=1e-3)
    assert small.level != "proved"
    most = LinearProgram(
        -scale * np.array([2.0, 3.0]), [[-1.0, -1.0]], [-4.0], None, None, 2, "max"
    )
    turned = certify_program(most, [4.0, 0.0], [2.0 * scale])
    assert (turned.level, turned.value, turned.bound) == ("proved", -8 * scale, -8 * scale)


def test_rays_by_hand():
    torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])
    for size in (1.0, 2.0**30):
        ray = certify_infeasible(torn, [size, size])
        assert (ray.level, ray.claim, ray.margin, ray.gap) == ("proved", "infeasible", 1.0, 0.0)
        assert ray.value == math.inf
    assert certify_infeasible(torn, [1.0, 0.5]).level == "failed"
    assert certify_infeasible(torn, [-1.0, -1.0]).level == "failed"
    whole_line = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, 1.0])
    assert certify_infeasible(whole_line, [1.0, 1.0]).level == "failed"
    open_end = LinearProgram([-3.0, 1.0], [[-1.0, 1.0]], [2.0], nonnegative=2)
    away = certify_unbounded(open_end, [0.0, 0.0], [1.0, 0.0])
    assert (away.level, away.claim, away.value) == ("proved", "unbounded", -math.inf)
    assert away.margin == pytest.approx(3.0)
    assert certify_unbounded(open_end, [0.0, 5.0], [1.0, 0.0]).level == "failed"
    assert certify_unbounded(open_end, [0.0, 0.0], [0.0, 1.0]).level == "failed"
    assert certify_unbounded(open_end, [0.0, 0.0], [-1.0, 0.0]).level == "failed"
    flat = QuadraticProgram(np.diag([0.0, 1.0]), [-3.0, 1.0], [[-1.0, 1.0]], [2.0], nonnegative=2)
    assert certify_unbounded(flat, [0.0, 0.0], [1.0, 0.0]).level == "proved"
    assert certify_unbounded(flat, [0.0, 0.0], [1.0, 0.5]).level == "failed"


# ---- exact proofs of trace problems


def exactly(kind, weights, excluded, sense):
    H = np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    values = np.array([1.0, 4.0, 9.0, 25.0])
    root = np.sqrt(weights)[:, None]
    M = (np.sqrt(values)[:, None] * H.T) * root.T  # MᵀM = W^½ H Λ Hᵀ W^½, exact in doubles
    A = Gramian(sp.csr_array(M)) if kind == "gramian" else M.T @ M
    vectors = H / root  # A v = λ B v with B = diag(weights), weights powers of 4
    N = vectors[:, :1] if excluded else None
    B = None if (weights == 1).all() else weights
    return TraceProblem(A, B, 2, sense, N), values, vectors


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("weights", [np.ones(4), np.array([1.0, 4.0, 0.25, 16.0])], ids=["I", "D"])
@pytest.mark.parametrize("kind", ["dense", "gramian"])
def test_exact_proofs_are_about_this_problem(kind, weights, excluded, sense):
    problem, values, vectors = exactly(kind, weights, excluded, sense)
    left = np.arange(1, 4) if excluded else np.arange(4)
    best = left[:2] if sense == "min" else left[::-1][:2]
    found = exact_proof(problem, vectors[:, best], 1e-4)
    assert found is not None
    bracket, floor = found
    sign = 1 if sense == "min" else -1
    optimum = sign * values[best].sum()
    assert bracket.value == optimum
    assert bracket.lower <= optimum
    assert bracket.lower == pytest.approx(optimum, rel=1e-4)
    assert bracket.apart >= optimum - bracket.lower - 1e-12
    assert bracket.gap <= 1e-4
    assert floor.height <= sign * values[best[0]]
    # Another pair of directions is no optimum, whatever the tolerance makes of it.
    other = left[-2:] if sense == "min" else left[:2]
    if set(other) != set(best):
        assert exact_proof(problem, vectors[:, other], 1e-4) is None
    turned = vectors[:, best] @ np.array([[0.6, -0.8], [0.8, 0.6]])
    again = exact_proof(problem, turned, 1e-4)
    assert again is not None
    assert again[0].value == pytest.approx(optimum, rel=1e-12)
