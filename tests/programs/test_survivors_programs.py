"""Faults put into the certificates of programs and unfoldings that no quick test noticed.

What each test is about: an answer that would be called proved though it is about another program,
about points outside of what was looked at, or though nothing was proved at all.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import Unrealisable
from dualfold.graph import from_lengths
from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_infeasible,
    certify_program,
    certify_unbounded,
)
from dualfold.programs import objective_bounds as curvature
from dualfold.programs.balance import balanced_program
from dualfold.programs.certificate import _Certification
from dualfold.programs.exact import Enclosure, ExactProgram
from dualfold.programs.objective_bounds import _is_semidefinite, enclosed_value
from dualfold.unfolding import UnfoldingProblem, certify_unfolding
from dualfold.unfolding.certificate import ABOUT_GIVEN_LENGTHS, ABOUT_OWN_LENGTHS
from dualfold.unfolding.contraction import contraction_of


@pytest.mark.parametrize("where", ["rows", "cost", "limits", "curvature"])
def test_units_that_would_lose_one_entry_are_not_taken(where):
    """Among many entries that come back exactly, one would vanish: another program."""
    large, tiny = 2.0**700, 2.0**-800
    A = np.array([[large, tiny if where == "rows" else 1.0], [0.0, large]])
    c = np.array([1.0, 2.0**-1000 if where == "cost" else 1.0])
    b = np.array([1.0, 2.0**-1000 if where == "limits" else 1.0])
    program = LinearProgram(c, A, b)
    if where == "curvature":
        program = QuadraticProgram(np.array([[1.0, tiny], [tiny, 1.0]]), c, A, b)
    units = balanced_program(program)
    assert units.program is program
    assert (units.columns == 1).all()
    assert (units.rows == 1).all()
    plain = LinearProgram(np.ones(2), np.array([[large, large], [0.0, large]]), np.ones(2))
    assert (balanced_program(plain).columns != 1).any()


def test_the_point_that_others_are_compared_with_is_one_of_them():
    program = LinearProgram([1.0], [[-1.0], [1.0]], [1.0, 5.0])
    judged = _Certification(program, np.array([-1.0]), np.array([1.0, 0.0]), 1e-8, 10.0)
    zero = np.array([Fraction(0)], dtype=object)
    size = Fraction(float(judged.reach * judged.terms.reaches[0]))
    for far, wide, known in (
        (1, 0, True),
        (-1, 0, True),
        (2, 0, False),
        (-2, 0, False),
        (1, 2, False),
    ):
        centre = np.array([far * size], dtype=object)
        judged.near = Enclosure(centre, zero + wide * size)
        bound, extent = judged._bound_within_reach()
        assert (bound is not None) == known, (far, wide)
        assert bool(extent) == known


def test_softening_variables_have_no_size_to_be_within():
    program = QuadraticProgram(np.eye(1), [1.0], [[-1.0], [1.0]], [1.0, 5.0], R=0.5 * np.eye(2))
    judged = _Certification(program, np.array([-1.0, 0.0, 0.0]), np.array([0.5, 0.0]), 1e-8, 10.0)
    centre = np.array([Fraction(-1), Fraction(10**9), Fraction(0)], dtype=object)
    judged.near = Enclosure(centre, 0 * centre)
    bound, extent = judged._bound_within_reach()
    assert bound is not None
    assert len(extent) == 1


def far_away():
    """Rows that only points beyond 10¹³ keep: x − y ≤ −1 and −x + (1 + 10⁻¹³)y ≤ 0."""
    tilt = 1 + 2.0**-43
    return np.array([[1.0, -1.0], [-1.0, tilt]]), np.array([-1.0, 0.0]), np.ones(2)


def test_a_ray_that_does_not_vanish_excludes_points_up_to_a_size():
    A, b, ray = far_away()
    found = certify_infeasible(LinearProgram(np.zeros(2), A, b), ray)
    assert found.level == "within reach"
    assert np.isnan(found.value)
    inside = np.array([-(2.0**44) - 2, -(2.0**44)])  # keeps both rows
    assert (A @ inside <= b).all()
    assert max(found.extent) < np.abs(inside).max()
    assert min(found.extent) > 1e8
    # Softened rows bound nothing: there every size of x has points.
    soft = QuadraticProgram(np.zeros((2, 2)), np.zeros(2), A, b, R=np.array([[1.0, -1], [-1, 1]]))
    assert certify_infeasible(soft, ray).level == "failed"


def test_reasons_name_what_was_not_proved_and_nothing_else():
    n = 6
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem = UnfoldingProblem(n, path, np.ones(n - 1))
    Y = np.random.default_rng(0).normal(size=(n, 2))
    words = "could not be proved positive"
    nothing = certify_unfolding(problem, Y, np.array([1.0, 0.0, 1.0, 1.0, 1.0]))  # two pieces
    assert any(words in reason for reason in nothing.reasons)
    rough = certify_unfolding(problem, Y, np.ones(n - 1))
    assert rough.level != "proved"
    assert rough.second_eigenvalue > 0
    assert not any(words in reason for reason in rough.reasons)


def test_softened_rows_that_do_not_vanish_prove_nothing():
    """Ry must be 0 exactly: a point with −Rw as large as it likes keeps all rows."""
    A, b = np.array([[1.0], [-1.0]]), np.array([0.0, -1.0])  # x ≤ 0 and x ≥ 1
    almost = np.array([[1.0, -1.0], [-1.0, 1.0 + 2.0**-40]])
    for R, level in (
        (None, "proved"),
        (np.array([[1.0, -1], [-1, 1]]), "proved"),
        (almost, "failed"),
    ):
        stated = LinearProgram([0.0], A, b)
        if R is not None:
            stated = QuadraticProgram(np.zeros((1, 1)), [0.0], A, b, R=R)
        assert certify_infeasible(stated, np.ones(2)).level == level


def test_sizes_of_excluded_points_are_held_against_the_limits():
    """Rays that exclude points up to 10¹³: far for limits of 1, not for limits of 10⁸."""
    A, b, ray = far_away()
    for scale, level in ((1.0, "within reach"), (2.0**30, "within reach")):
        assert certify_infeasible(LinearProgram(np.zeros(2), A, scale * b), ray).level == level
    more = LinearProgram(np.zeros(2), np.vstack([A, [[1.0, 0.0]]]), np.r_[b, 2.0**30])
    assert certify_infeasible(more, np.r_[ray, 0.0]).level == "failed"


def test_what_is_not_negative_costs_only_where_the_rest_is_negative():
    tilt = 2.0**-43
    for last, level in ((-1 - tilt, "within reach"), (-1 + tilt, "proved")):
        A = np.array([[-1.0, 1.0], [1.0, last]])
        program = LinearProgram(np.zeros(2), A, np.array([-1.0, 0.0]), nonnegative=2)
        found = certify_infeasible(program, np.ones(2))
        assert found.level == level
        if level == "within reach":  # y = 2⁴⁴, x = y + 1 keeps everything
            assert 1e8 < min(found.extent) <= max(found.extent) < 2.0**44


def test_rays_say_what_they_do():
    torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])
    assert "combines the constraints" in certify_infeasible(torn, [1.0, 1.0]).grounds
    falling = LinearProgram([-2.0], [[-1.0]], [0.0])
    found = certify_unbounded(falling, [1.0], [1.0])
    assert found.level == "proved"
    assert "improves by" in found.grounds


def test_softening_that_is_not_convex_has_no_bound():
    """½w′Rw′ falls for ever in w′, which is free."""
    for off, known in ((0.5, True), (1.0, True), (1 + 2.0**-50, False)):  # the last by rounding
        R = np.array([[1.0, off], [off, 1.0]])
        program = QuadraticProgram(np.eye(1), [0.0], [[1.0], [-1.0]], [1.0, 1.0], R=R)
        found = certify_program(program, np.zeros(program.point_size), np.zeros(2))
        assert np.isfinite(found.bound) == known
        assert (found.level in ("proved", "within")) <= known


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
        assert _is_semidefinite(Q) == truth
        seen.add(truth)
    assert seen == {True, False}


def test_reasons_of_a_point_that_breaks_its_constraints():
    diet = LinearProgram([2.0, 3.0], [[-1.0, -1.0]], [-4.0], nonnegative=2)
    words = "no point was found that keeps all constraints exactly"
    for point in ([3.0, 0.0], [5.0, 0.0]):  # outside; inside, but not the best
        found = certify_program(diet, point, [2.0])
        assert found.reasons
        assert not any(words in reason for reason in found.reasons)
    units = balanced_program(diet)
    assert units.answer((np.ones(2), np.array([np.inf]))) is None
    assert units.answer((np.array([np.nan, 1.0]), np.ones(1))) is None
    assert units.answer((np.ones(2), np.ones(1))) is not None


def test_a_failed_unfolding_claims_nothing_and_says_what_it_is_about():
    problem = UnfoldingProblem(3, np.array([[0, 1], [1, 2]]), np.ones(2))
    Y, w = np.array([[-1.0], [0.0], [1.0]]), np.ones(2)
    broken = certify_unfolding(problem, np.full((3, 1), np.nan), w)
    assert (broken.level, broken.value, broken.bound) == ("failed", 0.0, np.inf)
    assert (broken.second_eigenvalue, broken.upper_exact) == (0.0, np.inf)
    assert certify_unfolding(problem, Y, w, about="three points").about == "three points"
    assert certify_unfolding(problem, Y, w).about == ABOUT_GIVEN_LENGTHS
    equal = UnfoldingProblem(3, problem.edges, np.ones(2), "equal")
    assert certify_unfolding(equal, Y, w).about == ABOUT_OWN_LENGTHS
    assert certify_unfolding(equal, Y * [[1.0], [1.0], [1.001]], w).about == ABOUT_GIVEN_LENGTHS


def test_contradictions_of_any_size_are_refused():
    """Points linked by edges of length 0 are one point, and have no distance of 0.001 either."""
    rows, columns = np.array([0, 1, 0, 2, 3]), np.array([1, 2, 2, 3, 1])
    lengths = np.array([1e-300, 1e-300, 0.001, 1.0, 1.0])
    stored = sp.coo_array(
        (np.tile(lengths, 2), (np.r_[rows, columns], np.r_[columns, rows])), (4, 4)
    )
    stored = sp.csr_array(stored)
    stored.data[stored.data == 1e-300] = 0.0  # stored zeros: the same place
    graph = from_lengths(stored)
    with pytest.raises(Unrealisable, match="linked by edges of length 0"):
        contraction_of(graph, constraints="equal")
    assert contraction_of(graph).problem.n == 2


def test_curvature_is_decided_to_the_last_digit_of_the_numbers():
    """Integers of 53 bits: singular ones are semidefinite, and a determinant of 1 is positive."""
    a, b = 2**26 + 1, 2**26 + 3
    singular = np.diag([2.0**52 + 1, float(a * a), float(b * b)])
    singular[1, 2] = singular[2, 1] = float(a * b)
    assert _is_semidefinite(singular)
    singular[2, 2] = np.nextafter(singular[2, 2], 0)
    assert not _is_semidefinite(singular)
    c, d = 3 * 2**24 + 1, 3 * 2**24
    corners = [[c * c + d * d, c * (c + 1) + d * (d + 1)], [0, (c + 1) ** 2 + (d + 1) ** 2]]
    corners[1][0] = corners[0][1]
    assert corners[0][0] * corners[1][1] - corners[0][1] ** 2 == 1
    assert _is_semidefinite(np.array(corners, dtype=float))


def test_a_floor_of_curvature_is_charged_for_its_trace(monkeypatch):
    eps = 2.0**-20
    monkeypatch.setattr(curvature, "EPS", eps)
    monkeypatch.setattr(curvature, "TINY", 0.0)
    floor = curvature._eigenvalue_floor(np.diag([1.0, 2.0, 4.0]))
    left = np.array([1.0, 2.0, 4.0]) - 0.9
    charged = 2 * (3 + 2) * eps * left.sum() + 2 * eps * (left.max() + 0.9)
    assert 0.9 - float(floor) == pytest.approx(charged, rel=1e-8)
