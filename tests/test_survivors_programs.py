"""Faults put into the certificates of programs and unfoldings that no quick test noticed.

What each test is about: an answer that would be called proved though it is about another program,
about points outside of what was looked at, or though nothing was proved at all.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dualfold.programs import LinearProgram, QuadraticProgram, certify_infeasible
from dualfold.programs.balance import balanced
from dualfold.programs.certificate import _Judgement
from dualfold.programs.linear_systems import Enclosed
from dualfold.unfolding import UnfoldingProblem, certify_unfolding


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
    units = balanced(program)
    assert units.program is program
    assert (units.columns == 1).all()
    assert (units.rows == 1).all()
    plain = LinearProgram(np.ones(2), np.array([[large, large], [0.0, large]]), np.ones(2))
    assert (balanced(plain).columns != 1).any()


def test_the_point_that_others_are_compared_with_is_one_of_them():
    program = LinearProgram([1.0], [[-1.0], [1.0]], [1.0, 5.0])
    judged = _Judgement(program, np.array([-1.0]), np.array([1.0, 0.0]), 1e-8, 10.0)
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
        judged.near = Enclosed(centre, zero + wide * size)
        bound, extent = judged._bound_within_reach()
        assert (bound is not None) == known, (far, wide)
        assert bool(extent) == known


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
