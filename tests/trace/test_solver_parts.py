"""Parts of the solvers by hand: filters, shifts, forms; what they hand on is judged elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.polynomial import chebyshev
from scipy.sparse.linalg import aslinearoperator

from dualfold.trace import Gramian, TraceProblem
from tests.trace.door import ChebyshevFilter, KrylovSpace, _in_own_sense, _standard_form

VALUES = np.array([0.0, 1.0, 3.0, 6.0, 10.0])


def filter_of(values=VALUES):
    return ChebyshevFilter.of(TraceProblem(sp.csr_array(np.diag(values) + 0.0), count=1))


@pytest.mark.parametrize("degree", [1, 2, 3, 7])
def test_filters_are_chebyshev_polynomials_that_are_1_at_the_low_end(degree):
    made = filter_of()
    X, low, cut = np.eye(5) + 0.0, 0.5, 2.0
    found = made._filtered_block(X.copy(), low, cut, degree)
    half, centre = (made.top - cut) / 2, (made.top + cut) / 2
    T = chebyshev.Chebyshev.basis(degree)
    expected = T((VALUES - centre) / half) / T((low - centre) / half)
    np.testing.assert_allclose(found, np.diag(expected), atol=1e-12)
    assert made.products == degree * 5


def test_values_of_a_factor_are_made_from_its_images():
    M = np.diag([1.0, 2.0, 4.0])
    V = np.eye(3)[:, :2]
    for A, expected in ((Gramian(sp.csr_array(M)), [1.0, 4.0]), (M @ M, [7.0, 9.0])):
        problem = TraceProblem(A, count=2)
        assert _in_own_sense(problem, V, np.array([7.0, 9.0]))[1].tolist() == expected


def test_the_standard_form_has_the_same_values():
    A, root = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[2.0], [4.0]])
    expected = A / (root * root.T)
    for given in (aslinearoperator(A), sp.csr_array(A)):
        problem = TraceProblem(given, (root**2)[:, 0], count=1)
        standard = _standard_form(problem, root).A
        for v in (np.array([1.0, -3.0]), np.eye(2)):
            np.testing.assert_allclose(standard @ v, expected @ v, rtol=1e-14)


def test_a_space_that_is_whole_does_not_grow():
    space = KrylovSpace(TraceProblem(sp.csr_array(np.diag(np.arange(1.0, 9))), count=1), 1e-6)
    assert space._grow(4)
    space._next = np.zeros((8, 1))
    assert not space._grow(4)
    assert space.first(1) is None
