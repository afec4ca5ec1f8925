"""Shifts of the solvers lie below the spectrum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.solvers import factored
from dualfold.trace.solvers.factored import gershgorin, shift_below


def test_shifts_lie_below_the_spectrum():
    n = 12
    L = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    L[0, 0] = L[-1, -1] = 1
    for B in (None, np.linspace(1, 3, n)):
        problem = TraceProblem(sp.csr_array(L), B, 2, "min", np.ones((n, 1)))
        low, size = gershgorin(problem)
        assert low == pytest.approx(0.0, abs=1e-12)
        assert size >= 2
        found = shift_below(problem)
        assert -1e-6 < found < 0
        least = TraceProblem(sp.csr_array(L + np.eye(n)), B, 2)
        root = np.ones(n) if B is None else 1 / np.sqrt(B)
        assert shift_below(least) < np.linalg.eigvalsh(root[:, None] * least.A.toarray() * root)[0]
    most = TraceProblem(sp.csr_array(L), None, 2, "max")
    assert shift_below(most) < -2 - 2 * np.cos(np.pi / n)
    dense = TraceProblem(sp.csr_array(L), sp.csr_array(L + np.eye(n)), 2)
    assert gershgorin(dense)[0] == -np.inf
    assert shift_below(dense) < 0


def test_margins_of_shifts_are_those_of_their_matrices():
    assert factored.shift_margin(TraceProblem(np.eye(2), count=1)) == factored.SHIFT_MARGIN
    turned = TraceProblem(Gramian(sp.csr_array(np.eye(3))), count=1)
    assert factored.shift_margin(turned) == factored.GRAMIAN_MARGIN
