"""Constants on which proofs in several rooms rest: what they must be, by what they stand for."""

from __future__ import annotations

import inspect
import sys

from dualfold.theory.games import certificate as verdict
from dualfold.theory.games import divergences
from dualfold.theory.games import intervals as sure
from dualfold.theory.games import textbook_methods as descent
from dualfold.theory.games.divergences import Euclidean
from dualfold.theory.programs import exact as exact_arithmetic
from dualfold.trace.certificate import certify
from dualfold.trace.proof import rounding
from dualfold.trace.sparse import factorisation
from dualfold.unfolding import bounds, certificate, certify_unfolding, spectral_floor

ROUND_OFF = sys.float_info.epsilon / 2  # of IEEE doubles, to nearest
DENORMAL = 2.0**-1074


def test_units_of_rounding_are_those_of_doubles():
    for unit in (
        rounding.UNIT_ROUNDOFF,
        factorisation.ROUND_OFF,
        bounds.UNIT_ROUNDOFF,
        spectral_floor.UNIT_ROUNDOFF,
        sure.EPS / 2,
        exact_arithmetic.EPS / 2,
    ):
        assert unit == ROUND_OFF
    assert sure.LIBRARY_ERROR == 2 * 8 * 2 * ROUND_OFF  # twice eight units in the last place
    assert 1 + 1e-7 <= rounding.UP <= 1 + 1e-5
    assert sure.BOUND_GROWTH >= 1 + 24 * ROUND_OFF


def test_what_underflow_loses_is_covered():
    for tiny in (
        bounds.UNDERFLOW_BOUND,
        spectral_floor.UNDERFLOW_BOUND,
        sure.UNDERFLOW_BOUND,
        exact_arithmetic.TINY,
    ):
        assert tiny >= 12 * DENORMAL
        assert tiny <= 2.0**-900
    assert sys.float_info.min <= rounding.UNDERFLOW_BOUND**2  # its square is no underflow itself
    assert rounding.UNDERFLOW_BOUND >= 2.0**30 * DENORMAL
    assert rounding.MIN_SPECTRUM >= 1e10 * rounding.UNDERFLOW_BOUND


def test_what_is_proved_where_nobody_names_a_tolerance():
    for judge in (certify, certify_unfolding):
        assert inspect.signature(judge).parameters["tolerance"].default == 1e-4
    assert verdict.DEFAULT_TOLERANCE == 1e-4
    assert verdict.Terms().tolerance == 1e-4
    assert certificate.NEARLY_EQUAL_TOLERANCE == 1e-3
    assert inspect.signature(certify_unfolding).parameters["most_relaxed"].default is None
    for method in (descent.adagrad, descent.rmsprop, descent.adam):
        assert inspect.signature(method).parameters["floor"].default == 1e-8
    assert Euclidean.has_closed_steps
    assert divergences.MAX_DESCENT_STEPS >= 1_000
