"""Programs and their duals: against exact optima, brute force and broken answers."""

from __future__ import annotations

import json
import os
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_infeasible,
    certify_program,
    certify_unbounded,
    farkas_ray,
    solve_program,
)
from tests.proofs.fuzz_programs import fuzz
from tests.proofs.judge_programs import judged

Array = np.ndarray[Any, Any]


def grid(numbers: Array) -> Array:
    """Numbers of few bits: their sums of products are not rounded."""
    return np.round(numbers * 1024) / 1024


def random_program(seed: int, *, curved: bool, sparse: bool = False, rounded: bool = False) -> Any:
    """A program with an optimum by construction: feasible, and so is its dual.

    Some limits are met exactly and some multipliers are 0, so degenerate ones occur. With
    `rounded` the sums that should be exact are rounded, and then such programs may have no
    point, or no optimum, by 1e-16.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 20)), int(rng.integers(0, 30))
    e, p = int(rng.integers(0, n)), int(rng.integers(0, n + 1))
    few = (lambda numbers: numbers) if rounded else grid
    A, E = few(rng.standard_normal((m, n))), few(rng.standard_normal((e, n)))
    x = few(rng.standard_normal(n))
    x[:p] = np.abs(x[:p])
    b = A @ x + few(rng.exponential(size=m)) * (rng.random(m) < 0.7)
    surplus = np.zeros(n)
    surplus[:p] = few(rng.exponential(size=p)) * (rng.random(p) < 0.5)
    multipliers = few(rng.exponential(size=m)) * (rng.random(m) < 0.5)
    c = surplus - A.T @ multipliers - E.T @ few(rng.standard_normal(e))
    if sparse:
        A, E = sp.csr_array(A), sp.csr_array(E)
    if not curved:
        return LinearProgram(c, A, b, E, E @ x, nonnegative=p)
    # A rank below n: Q is singular.
    factor = few(rng.standard_normal((int(rng.integers(1, n + 1)), n)))
    Q = factor.T @ factor
    return QuadraticProgram(Q, c - Q @ few(rng.standard_normal(n)), A, b, E, E @ x, nonnegative=p)


def dense(matrix: Any) -> Array:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


# --- duals --------------------------------------------------------------------------


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_strong_duality(seed: int, curved: bool) -> None:
    program = random_program(seed, curved=curved, sparse=seed % 3 == 0)
    primal, dual = solve_program(program), solve_program(program.dual)
    assert primal.status == dual.status == "optimal"
    assert primal.certificate.level == dual.certificate.level == "proved"
    assert primal.certificate.value == pytest.approx(dual.certificate.value, rel=1e-8, abs=1e-8)
    assert program.value(primal.point) == pytest.approx(primal.certificate.value, rel=1e-12)
    # The multipliers, with v = x, are a point of the dual of the same value, and x its
    # multipliers: what certifies the one certifies the other.
    turned = np.concatenate([primal.multipliers, primal.point])[: program.dual.point_size]
    assert certify_program(program.dual, turned, primal.point[: program.n]).level == "proved"


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("curved", [False, True])
def test_the_dual_of_the_dual_is_the_primal(curved: bool, sense: Any) -> None:
    for seed in range(6):
        first = random_program(seed, curved=curved, sparse=seed % 2 == 0)
        given = [first.c, first.A, first.b, first.E, first.f, first.nonnegative, sense]
        program = QuadraticProgram(first.Q, *given) if curved else LinearProgram(*given)
        again = program.dual.dual
        assert type(again) is type(program)
        for name in ("c", "b", "f", *("Q" * curved), "A", "E"):
            np.testing.assert_array_equal(
                dense(getattr(again, name)), dense(getattr(program, name))
            )
        assert (again.sense, again.nonnegative) == (program.sense, program.nonnegative)
        assert again.R is None
        assert program.dual.sense != program.sense


def test_weak_duality_of_the_textbook_forms() -> None:
    """−bᵀλ and −½(c+Aᵀλ)ᵀQ⁻¹(c+Aᵀλ) − bᵀλ, written out, are the dual's values."""
    rng = np.random.default_rng(0)
    A, b, c = rng.standard_normal((4, 3)), rng.random(4), rng.standard_normal(3)
    Q = np.diag([1.0, 2.0, 3.0])
    multipliers = rng.random(4)
    pulled = c + A.T @ multipliers
    v = -np.linalg.solve(Q, pulled)
    dual = QuadraticProgram(Q, c, A, b).dual
    expected = -pulled @ np.linalg.solve(Q, pulled) / 2 - b @ multipliers
    point = np.concatenate([multipliers, v])
    assert dual.value(point) == pytest.approx(expected)
    np.testing.assert_allclose(dual.slack(point), 0, atol=1e-12)
    flat = LinearProgram(c, A, b).dual
    assert flat.value(multipliers) == pytest.approx(-b @ multipliers)
    np.testing.assert_allclose(flat.slack(multipliers), pulled, atol=1e-12)


def test_linear_programs_against_all_vertices() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        A = np.vstack([rng.standard_normal((4, 3)), np.eye(3), -np.eye(3)])
        b, c = np.concatenate([rng.random(4), np.full(6, 2.0)]), rng.standard_normal(3)
        best = np.inf
        for rows in combinations(range(len(A)), 3):
            if abs(np.linalg.det(A[list(rows)])) < 1e-9:
                continue
            corner = np.linalg.solve(A[list(rows)], b[list(rows)])
            if (A @ corner <= b + 1e-9).all():
                best = min(best, float(c @ corner))
        boxed = LinearProgram(c, A[:4], b[:4]).with_bounds(-2.0, 2.0)
        assert solve_program(boxed).certificate.value == pytest.approx(best, rel=1e-10)
        largest = LinearProgram(-c, A[:4], b[:4], sense="max").with_bounds([-2.0] * 3, [2.0] * 3)
        assert solve_program(largest).certificate.value == pytest.approx(-best, rel=1e-10)


def test_quadratic_programs_with_known_optima() -> None:
    # The point of the simplex nearest to (1, ½, −1): (¾, ¼, 0).
    target = np.array([1.0, 0.5, -1.0])
    simplex = QuadraticProgram(np.eye(3), -target, E=np.ones((1, 3)), f=[1.0], nonnegative=3)
    np.testing.assert_allclose(solve_program(simplex).point, [0.75, 0.25, 0], atol=1e-9)
    # Q = 0 is a linear program and needs no quadratic solver.
    flat = QuadraticProgram(np.zeros((1, 1)), [1.0], [[-1.0]], [-3.0])
    answer = solve_program(flat)
    assert (answer.solver, answer.certificate.value) == ("HiGHS", 3.0)
    # A singular Q with a whole line of optima, and one without constraints.
    line = QuadraticProgram(np.ones((2, 2)), [-1.0, -1.0])
    assert solve_program(line).certificate.value == pytest.approx(-0.5)
    assert solve_program(line.dual).certificate.value == pytest.approx(-0.5)


# --- certificates -------------------------------------------------------------------


@pytest.mark.parametrize("curved", [False, True])
def test_broken_answers_are_rejected(curved: bool) -> None:
    rng = np.random.default_rng(0)
    for seed in range(12):
        program = random_program(seed, curved=curved)
        answer = solve_program(program)
        x, y = answer.point, answer.multipliers
        if len(y):
            other = y + 1e-4 * (1 + np.abs(y).max()) * rng.standard_normal(len(y))
            assert certify_program(program, x, other).level in ("within", "failed")
        moved = x + 1e-4 * (1 + np.abs(x).max()) * rng.standard_normal(len(x))
        verdict = certify_program(program, moved, y)
        # A linear objective may be as good elsewhere, but then only inside the constraints.
        allowed = not curved and verdict.primal_feasibility < 1e-8 and verdict.gap < 1e-8
        assert verdict.level in ("within", "failed") or allowed
        if np.abs(y).max(initial=0) > 1e-3:
            assert certify_program(program, x, 1.001 * y).level in ("within", "failed")
            assert certify_program(program, x, -y).level in ("within", "failed")
            assert certify_program(program, x, 0 * y).level in ("within", "failed")


def test_each_condition_is_named() -> None:
    rows = [[-2.0, -1.0], [-1.0, -2.0], [1.0, 1.0]]
    program = LinearProgram([3.0, 3.0], rows, [-4.0, -5.0, 9.0])
    verdict = certify_program(program, [1.0, 2.0], [1.0, 1.0, 0.0])
    assert verdict.level == "proved"
    assert verdict.value == verdict.bound == verdict.attained == 9.0
    for point, multipliers, word in (
        ([0.9, 2.0], [1.0, 1.0, 0.0], "constraints"),
        ([1.0, 2.0], [1.5, 1.5, 1.5], "tight"),
        ([1.0, 2.0], [1.0, 0.9, 0.0], "balance"),
        ([1.0, 2.0], [0.5, 0.5, -0.5], "negative"),
        ([1.0, 3.0], [1.0, 1.0, 0.0], "the value is not the bound"),
    ):
        verdict = certify_program(program, point, multipliers)
        assert verdict.level == ("within" if point == [1.0, 3.0] else "failed")
        assert word in str(verdict)
    assert verdict.gap == pytest.approx(1 / 3)  # 12 for 9
    record = json.loads(json.dumps(verdict.to_dict()))
    assert record["level"] == "within"
    assert record["sense"] == "min"


@pytest.mark.parametrize("seed", range(6))
def test_certificates_do_not_depend_on_units(seed: int) -> None:
    program = random_program(seed, curved=False)
    answer = solve_program(program)
    rng = np.random.default_rng(seed)
    # Powers of 2: other units would round the program, and rounded it may have no point.
    columns = 2.0 ** rng.integers(-60, 61, program.n)
    rows = 2.0 ** rng.integers(-60, 61, len(program.limits))
    held = len(program.b)
    scaled = LinearProgram(
        program.c * columns,
        program.A * rows[:held, None] * columns,
        program.b * rows[:held],
        program.E * rows[held:, None] * columns,
        program.f * rows[held:],
        program.nonnegative,
    )
    x, y = answer.point / columns, answer.multipliers / rows
    assert certify_program(scaled, x, y).level == "proved"
    if len(rows) and np.abs(answer.multipliers).max() > 1e-3:
        assert certify_program(scaled, x, 1.0001 * y).level in ("within", "failed")
    assert solve_program(scaled).certificate.level == "proved"


def test_a_huge_entry_excuses_nothing() -> None:
    """x₂ is free to be 10¹²; the constraint on x₁ is judged by its own terms all the same."""
    program = LinearProgram([1.0, 0.0], [[-1.0, 0.0]], [-3.0])
    assert certify_program(program, [3.0, 1e12], [1.0]).level == "proved"
    short = certify_program(program, [2.999, 1e12], [1.0])
    assert short.level == "failed"
    assert short.primal_feasibility > 1e-5
    loose = certify_program(program, [3.001, 1e12], [1.0])
    assert (loose.level, loose.gap) == ("within", pytest.approx(1 / 3000))
    # Terms that cancel are no scale of a gap.
    flat = QuadraticProgram([[1.0, -1.0], [-1.0, 1.0]], [1.0, -1.0])
    assert certify_program(flat, [1.0, 2.0], []).level == "proved"
    assert certify_program(flat, [1e3, 1e3 + 1.01], []).level == "failed"


# --- rays ---------------------------------------------------------------------------


@pytest.mark.parametrize("curved", [False, True])
def test_rays(curved: bool) -> None:
    """Random programs of every kind: each is optimal, infeasible or unbounded, and proved so."""
    seen: set[str] = set()
    for seed in range(18):
        rng = np.random.default_rng(seed)
        n, m, p = 4, 3 + seed % 6, seed % 5
        A, c = rng.standard_normal((m, n)), rng.standard_normal(n)
        b = rng.standard_normal(m) + seed % 3
        w = grid(rng.standard_normal((1, n)))  # so that wᵀw has rank 1 exactly
        program: Any = (
            QuadraticProgram(w.T @ w, c, A, b, nonnegative=p)
            if curved
            else LinearProgram(c, A, b, nonnegative=p)
        )
        answer = solve_program(program)
        seen.add(answer.status)
        assert answer.certificate.level == "proved"
        other = solve_program(program.dual)
        assert other.certificate.level == "proved"
        if answer.status == "infeasible":  # by hand: yᵀA ≥ 0 (= 0), bᵀy < 0, y ≥ 0
            y = answer.ray
            assert y.min() >= 0
            assert b @ y < 0
            np.testing.assert_allclose((A.T @ y)[p:], 0, atol=1e-9)
            assert (A.T @ y)[:p].min(initial=0) > -1e-9
            assert other.status in ("unbounded", "infeasible")
        if answer.status == "unbounded":  # far along the ray all is kept and nothing is left
            far = answer.point + 1e6 * answer.ray
            assert (A @ far - b).max() < 1e-3
            assert program.value(far) < program.value(answer.point) - 1e3
            assert other.status == "infeasible"
    assert seen == {"optimal", "infeasible", "unbounded"}


def test_false_rays_are_rejected() -> None:
    torn = LinearProgram([0.0, 0.0], [[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0])
    ray = farkas_ray(torn)
    assert ray is not None
    assert certify_infeasible(torn, ray).level == "proved"
    for broken in (-ray, 0 * ray, ray + np.array([1e-3, 0.0]), np.array([1.0, 0.0])):
        assert certify_infeasible(torn, broken).level == "failed"
    sound = LinearProgram([1.0], [[-1.0]], [-3.0])
    assert farkas_ray(sound) is None
    assert certify_infeasible(sound, [1.0]).level == "failed"
    endless = LinearProgram([-1.0, 0.0], [[-1.0, 0.0]], [0.0])
    assert certify_unbounded(endless, [0.0, 0.0], [1.0, 0.0]).level == "proved"
    assert certify_unbounded(endless, [-1.0, 0.0], [1.0, 0.0]).level == "failed"
    assert certify_unbounded(endless, [0.0, 0.0], [-1.0, 0.0]).level == "failed"
    assert certify_unbounded(endless, [0.0, 0.0], [0.0, 1.0]).level == "failed"
    assert "unbounded" in str(solve_program(endless).certificate)
    assert solve_program(endless).certificate.to_dict()["claim"] == "unbounded"


def test_tiny_and_degenerate_programs() -> None:
    free = LinearProgram([0.0])
    assert solve_program(free).certificate.level == "proved"
    assert solve_program(free.dual).certificate.level == "proved"  # no variables at all
    assert solve_program(LinearProgram([1.0])).status == "unbounded"
    impossible = LinearProgram([1.0], [[0.0]], [-1.0])  # 0 ≤ −1
    assert solve_program(impossible).status == "infeasible"
    assert solve_program(LinearProgram([1.0], E=[[0.0]], f=[1.0])).status == "infeasible"
    # Both sides infeasible: the primal is named.
    both = LinearProgram([-1.0, 0.0], [[0.0, 1.0], [0.0, -1.0]], [-1.0, -1.0])
    assert solve_program(both).status == solve_program(both.dual).status == "infeasible"
    # Every row three times, and a vertex where all of them meet.
    tripled = LinearProgram([1.0, 1.0], -np.tile(np.eye(2), (3, 1)), np.zeros(6))
    assert solve_program(tripled).certificate.value == 0


# --- claims that were false once ----------------------------------------------------


def bounded_badly_scaled() -> dict[str, Any]:
    """HiGHS stops 1.4 % from the optimum, and that was "proved 6.4e-11"."""
    A = [
        [-1.2351880361534347e-16, -1.6202733293084122e05],
        [5.9642659136612313e-19, 0.0],
        [0.0, 3.8424613463551660e09],
        [-4.4061978308134545e-15, 0.0],
        [0.0, -2.9669789208679592e01],
    ]
    b = [
        2.7387083526704547e-08,
        3.0587680326065302e-10,
        7.2593995473165364e-04,
        2.2597143161175881e-06,
        5.6053876652467244e-12,
    ]
    return {"c": np.array([4.5438047461463214e-23, -7.7850169721083411]), "A": A, "b": b}


def test_a_parabola_is_not_unbounded() -> None:
    """½·1e-9·x² − 1e-8·x, x ≥ −1: the minimum is at 10, and Qd is small but not 0."""
    bowl = QuadraticProgram([[1e-9]], [-1e-8], [[-1.0]], [1.0])
    verdict = certify_unbounded(bowl, [0.0], [1.0])
    assert verdict.level not in ("proved", "within reach")
    assert certify_program(bowl, [10.0], [0.0]).level == "proved"


def test_small_curvature_is_curvature() -> None:
    Q = 1e-10 * np.array([[2.0, -1.0], [-1.0, 3.0]])
    given = {"c": [-1e-8, -3e-8], "A": [[-1.0, 1.0]], "b": [3.0], "Q": Q}
    answer = solve_program(QuadraticProgram(**given))
    assert (answer.status, answer.certificate.level) == ("optimal", "proved")
    assert answer.certificate.value == pytest.approx(float(judged(**given).optimum), rel=1e-8)


def test_a_bounded_program_in_odd_units() -> None:
    given = bounded_badly_scaled()
    best = float(judged(**given).optimum)
    answer = solve_program(LinearProgram(**given))
    assert answer.certificate.level == "proved"
    assert answer.certificate.value == pytest.approx(best, rel=1e-8)
    off = certify_program(LinearProgram(**given), answer.point * [1.0, 0.986], answer.multipliers)
    assert off.level != "proved"


def test_an_optimum_farther_than_the_reach() -> None:
    """x₁ may go to 1e12, where it is worth −100; at the point it is 0."""
    c = np.r_[-1e-10, 1, np.zeros(6)]
    A = np.eye(8) * np.r_[1, -1, np.ones(6)][:, None]
    program = LinearProgram(c, A, np.r_[1e12, -1, np.ones(6)], nonnegative=8)
    verdict = certify_program(program, np.eye(8)[1], np.eye(8)[1])
    assert verdict.level == "failed"
    assert verdict.bound <= -99
    right = solve_program(program).certificate
    assert (right.level, right.value) == ("proved", pytest.approx(-99))


def test_without_bounds_or_an_exact_dual_the_level_says_so() -> None:
    """c is off the rows by one digit: far out, at 1e16, the objective falls for ever."""
    program = LinearProgram([3.0, np.nextafter(0.3, 1)], [[-1.0, -0.1]], [-4.0])
    verdict = certify_program(program, [1.0, 30.0], [3.0])
    assert verdict.level == "within reach"
    assert "up to 10 times" in str(verdict)
    assert all(np.isfinite(verdict.extent))
    assert verdict.to_dict()["extent"] == list(verdict.extent)
    assert judged(program.c, program.A, program.b).status == "unbounded"
    assert (solve_program(program).status, solve_program(program).certificate.level) == (
        "unbounded",
        "proved",
    )
    bounded = program.with_bounds(-1e3, 1e3)
    multipliers = np.r_[3.0, np.zeros(4)]
    assert certify_program(bounded, [1.0, 30.0], multipliers).level == "proved"


def test_a_point_that_keeps_its_constraints_to_rounding_only() -> None:
    """x ≤ 0.1·3 and x ≥ 0.3 differ by one digit: there is a point, or there is none."""
    above, below = 0.1 * 3, 0.3
    open_ = LinearProgram([1.0], [[1.0], [-1.0]], [above, -below])
    assert certify_program(open_, [0.3], [0.0, 1.0]).level == "proved"
    closed = LinearProgram([1.0], [[1.0], [-1.0]], [below, -above])
    verdict = certify_program(closed, [0.3], [0.0, 1.0])
    assert verdict.level == "unresolved"
    assert np.isinf(verdict.attained)
    assert (solve_program(closed).status, solve_program(closed).certificate.level) == (
        "infeasible",
        "proved",
    )


def test_an_optimum_of_zero_has_no_relative_gap() -> None:
    program = LinearProgram([1.0, -1.0], [[-1.0, 1.0]], [0.0])
    assert certify_program(program, [0.3, 0.3], [1.0]).level == "proved"  # 0, exactly
    verdict = certify_program(program, [0.1 * 3, 0.3], [1.0])  # 5e-17
    assert (verdict.level, verdict.gap) == ("unresolved", np.inf)
    assert "the optimum is between" in str(verdict)


def test_rounding_can_take_convexity_away() -> None:
    """wwᵀ is rounded to a matrix with an eigenvalue of −1e-17: unbounded, strictly speaking."""
    w = np.array([[0.3, 0.7, 1.1]])
    program = QuadraticProgram(w.T @ w, -(w.T @ w).sum(axis=1))
    convex = judged(program.c, Q=program.Q).convex
    verdict = certify_program(program, np.ones(3), [])
    assert verdict.level == ("proved" if convex else "within reach")
    boxed = program.with_bounds(-9.0, 9.0)
    assert certify_program(boxed, np.ones(3), np.zeros(6)).level == "proved"


@pytest.mark.parametrize("tolerance", [np.nan, np.inf, -1.0, 2.0, "much"])
def test_the_tolerance_is_a_number(tolerance: Any) -> None:
    program = LinearProgram([1.0], [[-1.0]], [-3.0])
    for judge in (
        lambda: solve_program(program, tolerance=tolerance),
        lambda: certify_program(program, [4.0], [1.0], tolerance=tolerance),
        lambda: certify_infeasible(program, [1.0], tolerance=tolerance),
        lambda: certify_unbounded(program, [4.0], [1.0], tolerance=tolerance),
    ):
        with pytest.raises(InvalidInput, match="tolerance"):
            judge()


def test_the_tolerance_comes_from_the_caller() -> None:
    program = LinearProgram([1.0], [[-1.0]], [-3.0])
    assert certify_program(program, [3.003], [1.0]).level == "within"
    assert certify_program(program, [3.003], [1.0], tolerance=0.01).level == "proved"


# --- the other way to exact answers -------------------------------------------------


@pytest.mark.parametrize("curved", [False, True])
def test_enclosed_solutions(curved: bool, set_limits: Any) -> None:
    """Large systems are enclosed in floating point; here small ones are, too."""
    set_limits("theory.programs.exact", MAX_EXACT_EQUATIONS=0)
    set_limits("theory.programs.objective_bounds", MAX_EXACT_ROWS=0)
    rng = np.random.default_rng(3)
    for _ in range(6):
        n, m = 5, 9
        A, c = rng.standard_normal((m, n)), np.zeros(n)
        b = rng.exponential(size=m)
        c -= A.T @ rng.exponential(size=m)
        program: Any = QuadraticProgram(np.eye(n), c, A, b) if curved else LinearProgram(c, A, b)
        answer = solve_program(program)
        assert answer.certificate.level == "proved"
        truth = judged(c, A, b, Q=np.eye(n) if curved else None)
        assert answer.certificate.bound <= truth.optimum <= answer.certificate.attained


def test_programs_beyond_exact_elimination() -> None:
    rng = np.random.default_rng(0)
    n, m = 90, 150
    A = rng.standard_normal((m, n))
    b = A @ rng.standard_normal(n) + rng.exponential(size=m)
    program = LinearProgram(-A.T @ rng.exponential(size=m), A, b)
    answer = solve_program(program)
    assert answer.certificate.level == "proved"
    assert certify_program(program, answer.point, 1.01 * answer.multipliers).level == "failed"


def test_entries_at_the_ends_of_the_doubles() -> None:
    """Scaling would overflow; exact arithmetic does not."""
    program = LinearProgram([1e308, 5e-324], [[-1e-300, 0.0], [0.0, -1e300]], [-1e5, -1e-5])
    verdict = certify_program(program, [1e305, 0.0], [0.0, 0.0])  # x₂ ≥ 1e-305 is broken
    assert verdict.level not in ("proved", "within", "within reach")
    small = LinearProgram([5e-324], [[-5e-324]], [-5e-324])  # min x, x ≥ 1, in the least unit
    verdict = certify_program(small, [1.0], [1.0])
    assert (verdict.level, verdict.value) == ("proved", 5e-324)


# --- fuzzing ------------------------------------------------------------------------


def total(table: Any, name: str) -> int:
    return sum(counts[name] for counts in table.values())


def test_no_claim_is_false() -> None:
    """A few programs of every family; `python -m tests.proofs.fuzz_programs` has more."""
    table = fuzz(72, int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    assert total(table, "false") == 0
    assert total(table, "claims") > 250


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_no_claim_is_false_among_many() -> None:
    table = fuzz(20_000, int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    assert total(table, "false") == 0
    assert total(table, "alarms") < 0.005 * total(table, "well-posed")


# --- errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LinearProgram([1.0], [[1.0, 2.0]], [1.0]), "one column for each of the 1"),
        (lambda: LinearProgram([1.0], [[1.0]], [1.0, 2.0]), "b must be 1 numbers"),
        (lambda: LinearProgram([1.0], [[1.0]]), "belong together"),
        (lambda: LinearProgram([[1.0]]), "c must be a row"),
        (lambda: LinearProgram([np.nan]), "NaN"),
        (lambda: LinearProgram([1 + 1j]), "c is complex"),
        (lambda: LinearProgram([1.0], [[1j]], [1.0]), "A is complex"),
        (lambda: LinearProgram([2**53 + 1]), "beyond 2"),
        (lambda: LinearProgram(np.array([2**60 + 1])), "beyond 2"),
        (lambda: LinearProgram([10**400]), "numbers"),
        (lambda: LinearProgram([1.0], sp.csr_array([[2**60 + 1]]), [1.0]), "beyond 2"),
        (lambda: LinearProgram(["one"]), "must hold numbers"),
        (lambda: LinearProgram([1.0], nonnegative=0.5), "from 0 to 1"),  # type: ignore[arg-type]
        (lambda: LinearProgram([1.0]).with_bounds(2**60 + 1), "beyond 2"),
        (lambda: QuadraticProgram(1j * np.eye(1), [1.0]), "Q is complex"),
        (lambda: QuadraticProgram([[1.0, 1e-13], [0.0, 1.0]], [1.0, 1.0]), "not symmetric"),
        (lambda: QuadraticProgram(np.diag([1e20, -1.0]), [1.0, 1.0]), "indefinite"),
        (lambda: certify_program(LinearProgram([1.0]), [1j], []), "complex"),
        (lambda: certify_program(LinearProgram([1.0]), [0.0], [], reach=np.nan), "reach"),
        (lambda: certify_program(LinearProgram([1.0]), [0.0], [], reach=0.5), "reach"),
        (lambda: LinearProgram([1.0], [[np.inf]], [1.0]), "NaN or infinite"),
        (lambda: LinearProgram([1.0], nonnegative=2), "from 0 to 1"),
        (lambda: LinearProgram([1.0], sense="most"), "'min' or 'max'"),  # type: ignore[arg-type]
        (lambda: LinearProgram([1.0]).with_bounds([0.0, 1.0]), "one for each of the 1"),
        (lambda: QuadraticProgram(np.eye(2), [1.0]), "Q must be 1×1"),
        (lambda: QuadraticProgram([[0.0, 1.0], [0.0, 0.0]], [1.0, 1.0]), "not symmetric"),
        (lambda: QuadraticProgram(np.diag([1.0, -1e-6]), [1.0, 1.0]), "indefinite"),
        (
            lambda: QuadraticProgram(np.eye(1), [1.0]).dual.with_bounds(0.0),
            "before taking",
        ),
        (lambda: certify_program(LinearProgram([1.0]), [1.0, 2.0], []), "the point must be 1"),
        (lambda: certify_program(LinearProgram([1.0]), [1.0], [1.0]), "multipliers must be 0"),
    ],
)
def test_wrong_programs_are_refused(make: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make()
