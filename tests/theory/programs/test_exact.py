"""Exact arithmetic of programs: one-sided rounding, systems in fractions, limits of size."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import TooLarge
from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
)
from tests.kernels.door import double_above, double_below, fractions
from tests.theory.programs.door import (
    ExactProgram,
    corrections,
    elimination_solution,
    enclosed_solution,
)


def test_numbers_are_rounded_to_the_side_asked_for():
    third = Fraction(1, 3)
    assert Fraction(double_below(third)) < third < Fraction(double_above(third))
    assert math.nextafter(double_below(third), 1) == double_above(third)
    assert double_above(Fraction(1, 2)) == double_below(Fraction(1, 2)) == 0.5
    assert double_above(Fraction(10) ** 400) == math.inf
    assert double_below(Fraction(10) ** 400) == np.finfo(float).max
    assert double_above(-(Fraction(10) ** 400)) == -np.finfo(float).max


def test_programs_have_limits_of_size(set_limits):
    with pytest.raises(TooLarge, match="has 3001 rows"):
        QuadraticProgram(sp.eye_array(3001, format="csr"), np.ones(3001))
    set_limits("theory.programs.exact", MAX_EXACT_ENTRIES=1)
    with pytest.raises(TooLarge, match="the program has 2 entries"):
        ExactProgram(LinearProgram([1.0, 1.0], [[1.0, 1.0]], [1.0]))


def test_linear_systems_in_fractions():
    """Singular ones are not enclosed; contradictions have no solution, whatever the columns."""
    right = fractions(np.array([1.0, 2.0]))
    assert enclosed_solution(np.zeros((2, 2)), right) is None
    assert enclosed_solution(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), right) is None
    near = enclosed_solution(np.diag([2.0, 4.0]), right)
    assert list(near.centre) == [Fraction(1, 2), Fraction(1, 2)]
    assert elimination_solution(np.array([[1.0, 1.0], [1.0, 1.0]]), right) is None
    third = elimination_solution(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 3.0]]), right)
    assert third == {0: Fraction(1), 2: Fraction(1, 3)}
    assert (
        elimination_solution(np.array([[1.0, 1.0, 0.0, 5.0], [1.0, 1.0, 3.0, 5.0]]), right) == third
    )
    same = sp.csr_array(np.ones((21, 22)))  # too many rows to begin with fractions, and singular
    (found,) = corrections(same, fractions(np.ones(21)), np.ones(22))
    assert sum(found.centre) == 1
    assert not any(found.radius)
    assert list(corrections(sp.csr_array((2, 0)), right, np.ones(0))) == []
