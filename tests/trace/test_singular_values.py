"""Certificates by singular values of a factor: what rounding and missing rows cost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.singular_values import singular_bracket
from tests.proofs.coarse import coarse, gamma


def test_counts_hold_above_the_square_of_what_is_null(monkeypatch):
    turned = TraceProblem(Gramian(sp.csr_array(np.diag([1.0, 2.0, 4.0]))), count=1)
    monkeypatch.setattr(singular, "null_error", lambda problem: 0.5)
    factor = SimpleNamespace(zero=0, negative=4)
    for reached, known in ((0.2, False), (0.25, False), (0.3, True)):
        found = singular._counted_floor(turned, 1, 1.0, factor, reached)
        assert (found.seen is not None) == known
        assert isinstance(found, SpectralFloor)


def test_fewer_rows_than_directions_prove_nothing_but_that_values_are_not_negative():
    M = sp.csr_array(np.array([[1.0, 2.0, 0.0, 0.0]]))
    problem, V = TraceProblem(Gramian(M), count=2), np.eye(4)[:, :2]
    found = singular_bracket(problem, V, 0.0, V, SpectralFloor(2, 9.0, "inertia", seen=2))
    assert (found.lower, found.value) == (0.0, 5.0)
    assert found.apart >= 5.0
    assert found.value_blur < 1e-12
    low = singular_bracket(problem, V, 0.0, V, SpectralFloor(2, 0.0, "inertia", seen=2))
    assert low.lower == -np.inf
    few = singular_bracket(problem, V, 0.0, V[:, :1], SpectralFloor(2, 9.0, "inertia", seen=2))
    assert few.lower == -np.inf


def test_values_over_factors_pay_for_skew_and_depth_together(monkeypatch):
    coarse(monkeypatch)
    M = np.diag([1.0, 2.0, 4.0, 8.0])
    problem = TraceProblem(Gramian(sp.csr_array(M)), count=2)
    for long in (1.0, 1.125):
        V = long * np.eye(4)[:, :2]
        value, blur = singular._value(problem, V, 0.0)
        skew = np.sqrt(2) * (long**2 - 1)
        assert blur >= (skew + gamma(4)) * value
