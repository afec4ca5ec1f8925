"""Shifts of the solvers lie below the spectrum."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from tests.trace.door import factored, gershgorin, shift_below


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


@pytest.mark.parametrize("metric", ["plain", "diagonal", "dense"])
@pytest.mark.parametrize("seed", range(4))
def test_a_shift_that_is_not_below_steps_down_until_it_is(metric, seed):
    """Discs are far too wide here, and a short search may end beside the least value."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((40, 40), density=0.2, rng=rng, data_sampler=rng.standard_normal)
    A = sp.csr_array(A + A.T)
    B = {"plain": np.eye(40), "diagonal": np.diag(rng.uniform(0.1, 10, 40))}.get(
        metric, 2 * np.eye(40) + 1.0
    )
    for sense, sign in (("min", 1), ("max", -1)):
        problem = TraceProblem(A, np.diagonal(B) if metric == "diagonal" else B, 2, sense)
        values = scipy.linalg.eigh(sign * A.toarray(), B, eigvals_only=True)
        factor, shift = factored.factor_below(problem)
        assert shift < values[0]
        assert (factor.negative, factor.zero) == (0, 0)
        assert shift > values[0] - 2 * np.ptp(values)
