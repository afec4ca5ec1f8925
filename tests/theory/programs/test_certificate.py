"""Certificates of programs: what they claim, about which points, and for which reasons."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_program,
)
from tests.theory.programs.door import Certification, Enclosure, balanced_program


def test_the_point_that_others_are_compared_with_is_one_of_them():
    program = LinearProgram([1.0], [[-1.0], [1.0]], [1.0, 5.0])
    judged = Certification(program, np.array([-1.0]), np.array([1.0, 0.0]), 1e-8, 10.0)
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
        bound, extent = judged.bound_within_reach()
        assert (bound is not None) == known, (far, wide)
        assert bool(extent) == known


def test_softening_variables_have_no_size_to_be_within():
    program = QuadraticProgram(np.eye(1), [1.0], [[-1.0], [1.0]], [1.0, 5.0], R=0.5 * np.eye(2))
    judged = Certification(program, np.array([-1.0, 0.0, 0.0]), np.array([0.5, 0.0]), 1e-8, 10.0)
    centre = np.array([Fraction(-1), Fraction(10**9), Fraction(0)], dtype=object)
    judged.near = Enclosure(centre, 0 * centre)
    bound, extent = judged.bound_within_reach()
    assert bound is not None
    assert len(extent) == 1


def test_softening_that_is_not_convex_has_no_bound():
    """½w′Rw′ falls for ever in w′, which is free."""
    for off, known in ((0.5, True), (1.0, True), (1 + 2.0**-50, False)):  # the last by rounding
        R = np.array([[1.0, off], [off, 1.0]])
        program = QuadraticProgram(np.eye(1), [0.0], [[1.0], [-1.0]], [1.0, 1.0], R=R)
        found = certify_program(program, np.zeros(program.point_size), np.zeros(2))
        assert np.isfinite(found.bound) == known
        assert (found.level in ("proved", "within")) <= known


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


def test_multipliers_exclude_lower_values_of_what_is_made_small():
    program = LinearProgram(np.ones(1), A=np.array([[-1.0]]), b=np.array([-1.0]))
    found = certify_program(program, np.ones(1), np.ones(1))
    assert "exclude any value lower than" in found.grounds


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
    largest = certify_program(most, [4.0, 0.0], [2.0 * scale])
    assert (largest.level, largest.value, largest.bound) == ("proved", -8 * scale, -8 * scale)
