"""Programs at the edges of what their proofs take, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import TooLarge
from dualfold.programs import LinearProgram, QuadraticProgram
from dualfold.programs import exact as exact_programs
from dualfold.programs.bounds import (
    Box,
    Curvature,
    _eigenvalue_floor,
    _is_semidefinite,
    enclosed_bound,
    least_linear,
    lower_bound,
)
from dualfold.programs.entries import MAX_CURVED_ROWS
from dualfold.programs.exact import (
    ExactProgram,
    _elimination_solution,
    _enclosed_solution,
    corrections,
    fractions,
)


def test_programs_have_limits_of_size(monkeypatch):
    n = MAX_CURVED_ROWS + 1
    with pytest.raises(TooLarge, match=f"has {n} rows"):
        QuadraticProgram(sp.eye_array(n, format="csr"), np.ones(n))
    monkeypatch.setattr(exact_programs, "MAX_EXACT_ENTRIES", 1)
    with pytest.raises(TooLarge, match="the program has 2 entries"):
        ExactProgram(LinearProgram([1.0, 1.0], [[1.0, 1.0]], [1.0]))


def test_one_side_of_bounds_may_be_left_open():
    program = LinearProgram([1.0, 1.0], [[1.0, 1.0]], [3.0])
    upper = program.with_bounds(None, 2.0)
    lower = program.with_bounds(-1.0, None)
    assert len(upper.b) == len(lower.b) == 3
    np.testing.assert_array_equal(upper.b[1:], [2.0, 2.0])
    np.testing.assert_array_equal(lower.b[1:], [1.0, 1.0])


def test_linear_systems_in_fractions():
    """Singular ones are not enclosed; contradictions have no solution, whatever the columns."""
    right = fractions(np.array([1.0, 2.0]))
    assert _enclosed_solution(np.zeros((2, 2)), right) is None
    assert _enclosed_solution(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), right) is None
    near = _enclosed_solution(np.diag([2.0, 4.0]), right)
    assert list(near.centre) == [Fraction(1, 2), Fraction(1, 2)]
    assert _elimination_solution(np.array([[1.0, 1.0], [1.0, 1.0]]), right) is None
    third = _elimination_solution(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 3.0]]), right)
    assert third == {0: Fraction(1), 2: Fraction(1, 3)}
    assert (
        _elimination_solution(np.array([[1.0, 1.0, 0.0, 5.0], [1.0, 1.0, 3.0, 5.0]]), right)
        == third
    )
    same = sp.csr_array(np.ones((21, 22)))  # too many rows to begin with fractions, and singular
    (found,) = corrections(same, fractions(np.ones(21)), np.ones(22))
    assert sum(found.centre) == 1
    assert not any(found.radius)
    assert list(corrections(sp.csr_array((2, 0)), right, np.ones(0))) == []


def test_curvature_is_proved_or_not_known():
    scaled = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert Fraction(0) < _eigenvalue_floor(scaled) <= Fraction(1, 2)
    assert _eigenvalue_floor(np.full((2, 2), np.nan)) is None
    assert _is_semidefinite(np.diag([1.0, 2.0]))
    assert _is_semidefinite(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not _is_semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not _is_semidefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))


def test_bounds_without_a_floor_of_the_curvature_are_none():
    program = QuadraticProgram(np.eye(1), [1.0])
    exact = ExactProgram(program)
    unknown, hollow = Curvature(None, np.ones(1)), Curvature(Fraction(-1), np.ones(1))
    box = Box(program)
    point = fractions(np.array([-1.0]))
    assert lower_bound(exact, point, fractions(np.zeros(0)), box, unknown) is None
    assert enclosed_bound(exact, None, hollow) is None
    assert least_linear(fractions(np.array([1.0])), box) is None
    above = Box(LinearProgram([1.0], [[-1.0]], [3.0]))  # x ≥ −3
    assert least_linear(fractions(np.array([1.0])), above) == -3
