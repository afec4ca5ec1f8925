"""Entries of given matrices: symmetry measured, repaired or refused; products in doubles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.trace.matrix_entries import asymmetry, symmetric
from dualfold.trace.problem import product


def test_how_far_from_symmetric():
    A = np.array([[1.0, 2.0, 0.0], [2.5, 1.0, 0.0], [0.0, 0.0, 3.0]])
    truth = np.linalg.norm(A - A.T, 2) / 2
    for given in (A, sp.csr_array(A)):
        assert truth <= asymmetry(given) <= 3 * truth
        assert asymmetry(given + given.T) == 0.0
        nearly = given * 1.0
        nearly[1, 0] = 2.0 + 1e-9
        mean = symmetric(nearly, "A")
        mean = mean.toarray() if sp.issparse(mean) else mean
        np.testing.assert_array_equal(mean, mean.T)
        assert mean[0, 1] == pytest.approx(2.0 + 5e-10, abs=1e-15)
        with pytest.raises(InvalidInput, match="not symmetric"):
            symmetric(given, "A")
    same = A + A.T
    assert symmetric(same, "A") is same


def test_float32_matrix_times_doubles():
    rng = np.random.default_rng(0)
    for n in (5, 16, 37, 1100):
        A = rng.standard_normal((n, n), dtype=np.float32)
        for shape in [(n,), (n, 1), (n, 3), (n, 4), (n, 9)]:
            V = rng.standard_normal(shape)
            np.testing.assert_allclose(product(A, V), A.astype(float) @ V, atol=1e-11)
