"""Bounds of programs: boxes from single rows, curvature less its rounding, the words of a proof."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dualfold.programs import LinearProgram, certify_program
from dualfold.programs import objective_bounds as bounds
from dualfold.programs import objective_bounds as curvature
from tests.proofs.coarse import patched


def test_rows_bound_single_variables_by_division():
    """−2x ≤ −4 and 4x ≤ 12: x from 2 to 3."""
    program = LinearProgram(np.ones(1), A=np.array([[-2.0], [4.0]]), b=np.array([-4.0, 12.0]))
    box = bounds.Box(program)
    assert (box.low, box.high) == ([Fraction(2)], [Fraction(3)])


def test_multipliers_exclude_lower_values_of_what_is_made_small():
    program = LinearProgram(np.ones(1), A=np.array([[-1.0]]), b=np.array([-1.0]))
    found = certify_program(program, np.ones(1), np.ones(1))
    assert "exclude any value lower than" in found.grounds


def test_curvature_of_many_rows_pays_for_each(monkeypatch):
    unit, n = 2.0**-16, 30
    patched(monkeypatch, curvature, EPS=unit, TINY=0.0)
    Q = np.eye(n) + np.diag(np.full(n - 1, 0.125), 1) + np.diag(np.full(n - 1, 0.125), -1)
    least = float(np.linalg.eigvalsh(Q)[0])
    slack = (n + 1) * unit / 2 * n * (1 - 0.9 * least)
    assert 0.9 * least - 10 * slack <= float(curvature._eigenvalue_floor(Q)) <= 0.9 * least - slack
