"""Exact arithmetic of programs: one-sided rounding, systems in fractions, limits of size."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import TooLarge
from dualfold.kernels.arithmetic.exact import double_above, double_below, fractions
from dualfold.theory.programs import (
    LinearProgram,
    QuadraticProgram,
)
from dualfold.theory.programs import exact as exact_programs
from dualfold.theory.programs.entries import MAX_CURVED_ROWS
from dualfold.theory.programs.exact import (
    ExactProgram,
    _elimination_solution,
    _enclosed_solution,
    corrections,
)


def test_numbers_are_rounded_to_the_side_asked_for():
    third = Fraction(1, 3)
    assert Fraction(double_below(third)) < third < Fraction(double_above(third))
    assert math.nextafter(double_below(third), 1) == double_above(third)
    assert double_above(Fraction(1, 2)) == double_below(Fraction(1, 2)) == 0.5
    assert double_above(Fraction(10) ** 400) == math.inf
    assert double_below(Fraction(10) ** 400) == np.finfo(float).max
    assert double_above(-(Fraction(10) ** 400)) == -np.finfo(float).max


def test_programs_have_limits_of_size(monkeypatch):
    n = MAX_CURVED_ROWS + 1
    with pytest.raises(TooLarge, match=f"has {n} rows"):
        QuadraticProgram(sp.eye_array(n, format="csr"), np.ones(n))
    monkeypatch.setattr(exact_programs, "MAX_EXACT_ENTRIES", 1)
    with pytest.raises(TooLarge, match="the program has 2 entries"):
        ExactProgram(LinearProgram([1.0, 1.0], [[1.0, 1.0]], [1.0]))


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
