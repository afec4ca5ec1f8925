"""Constants on which proofs in several rooms rest: what they must be, by what they stand for."""

from __future__ import annotations

import inspect
import sys

import numpy as np

from dualfold.games import Euclidean
from dualfold.kernels.arithmetic import (
    EPS,
    LENGTH_UNDERFLOW,
    MIN_SQUARE_SUM,
    OPERATIONS_UNDERFLOW,
    PRODUCT_UNDERFLOW,
    ROW_UNDERFLOW,
    SMALLEST_NORMAL,
    SMALLEST_POSITIVE,
    UNIT_ROUNDOFF,
    smallest_positive,
    unit_roundoff,
)
from dualfold.trace import certify
from dualfold.unfolding import certify_unfolding
from tests.workflows.door import (
    NEARLY_EQUAL_TOLERANCE,
    divergences,
    game_certificate,
    rounding,
    textbook_methods,
)
from tests.workflows.door import intervals as sure


def test_units_of_rounding_are_those_of_the_machine():
    for kind in (np.float32, np.float64):
        assert 2 * unit_roundoff(kind) == np.finfo(kind).eps
        assert smallest_positive(kind) == np.nextafter(kind(0), kind(1))
    assert 2 * UNIT_ROUNDOFF == EPS == sys.float_info.epsilon
    assert sys.float_info.min == SMALLEST_NORMAL
    assert sure.LIBRARY_ERROR == 2 * 8 * EPS  # twice eight units in the last place
    assert 1 + 1e-7 <= rounding.UP <= 1 + 1e-5
    assert sure.BOUND_GROWTH >= 1 + 12 * EPS


def test_what_underflow_loses_is_covered():
    for bound in (PRODUCT_UNDERFLOW, OPERATIONS_UNDERFLOW, ROW_UNDERFLOW, SMALLEST_NORMAL):
        assert 12 * SMALLEST_POSITIVE <= bound <= 2.0**-900
    assert LENGTH_UNDERFLOW**2 >= SMALLEST_NORMAL  # its square is no underflow itself
    assert LENGTH_UNDERFLOW >= 2.0**30 * SMALLEST_POSITIVE
    assert MIN_SQUARE_SUM * UNIT_ROUNDOFF >= 2.0**20 * SMALLEST_POSITIVE
    assert rounding.MIN_SPECTRUM >= 1e10 * LENGTH_UNDERFLOW


def test_what_is_proved_where_nobody_names_a_tolerance():
    for judge in (certify, certify_unfolding):
        assert inspect.signature(judge).parameters["tolerance"].default == 1e-4
    assert game_certificate.DEFAULT_TOLERANCE == 1e-4
    assert game_certificate.RunTerms().tolerance == 1e-4
    assert NEARLY_EQUAL_TOLERANCE == 1e-3
    assert inspect.signature(certify_unfolding).parameters["most_relaxed"].default is None
    for method in (textbook_methods.adagrad, textbook_methods.rmsprop, textbook_methods.adam):
        assert inspect.signature(method).parameters["floor"].default == 1e-8
    assert Euclidean.has_closed_steps
    assert divergences.MAX_DESCENT_STEPS >= 1_000
