"""Programs in balanced units are the same programs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
)
from tests.theory.programs.door import balanced_program


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_programs_in_their_own_units_are_the_same_programs(kind):
    A = np.array([[1e6, 2.0], [3e-5, 4e3]])
    program = QuadraticProgram(kind(np.diag([1e8, 1e-4])), [1.0, 2.0], kind(A), [5.0, 6.0])
    units = balanced_program(program)
    D, S = units.columns, units.rows
    inner = units.program
    dense = inner.A.toarray() if sp.issparse(inner.A) else inner.A
    np.testing.assert_array_equal(dense, S[:, None] * A * D)
    assert sp.issparse(inner.A) == (kind is sp.csr_array)
    np.testing.assert_array_equal(inner.c, D * [1.0, 2.0])
    np.testing.assert_array_equal(inner.b, S * [5.0, 6.0])
    point = np.array([0.5, -0.25])
    assert inner.value(point) == pytest.approx(program.value(units.point(point)), rel=1e-14)
    assert (np.log2(np.r_[D, S]) % 1 == 0).all()
    assert np.abs(dense).max() < 8
    lost = LinearProgram([1e-300, 1e300], [[1e-200, 1e200]], [1.0])
    np.testing.assert_array_equal(balanced_program(lost).columns * 0 + 1, [1.0, 1.0])


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
