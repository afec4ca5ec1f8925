"""Krylov spaces that grow: the lowest values, one count after another."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.trace import TraceProblem
from dualfold.trace.solvers.krylov import KrylovSpace


def test_a_krylov_space_finds_the_lowest_values_one_count_after_another():
    values = np.r_[1.0, 2.0, 4.0, np.linspace(10, 20, 197)]
    space = KrylovSpace(TraceProblem(sp.csr_array(np.diag(values)), count=1), 1e-6)
    for count in (1, 2, 3):
        found = space.first(count)
        np.testing.assert_allclose(found.values, values[:count], rtol=1e-9)
        np.testing.assert_allclose(np.abs(found.vectors), np.eye(200)[:, :count], atol=1e-4)
