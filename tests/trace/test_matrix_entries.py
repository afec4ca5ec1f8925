"""Entries of given matrices: symmetry measured, repaired or refused; products in doubles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem, certify
from tests.trace.door import asymmetry, product, symmetric


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


def test_small_operators_that_are_not_symmetric_are_refused_in_any_units(set_limits):
    for unit in (2.0**-12, 1.0, 2.0**12):
        A = np.diag([1.0, 2.0, 3.0]) * unit
        for apart, taken in ((2.0**-22, True), (2.0**-12, False)):
            A[0, 1] = apart * unit
            operator = TraceProblem(aslinearoperator(A), count=1)
            if taken:
                assert certify(operator, np.eye(3)[:, :1]).level == "proved"
                continue
            with pytest.raises(InvalidInput, match="not symmetric"):
                certify(operator, np.eye(3)[:, :1])
    # A limit that is just reached is no mistake yet.
    half = np.array([[0.0, 1.0], [0.0, 1.0]])
    set_limits("trace.matrix_entries", ASYMMETRY_TOLERANCE=asymmetry(half))
    np.testing.assert_array_equal(symmetric(half, "A"), [[0.0, 0.5], [0.5, 1.0]])


def test_norms_and_asymmetries_are_charged_as_they_say():
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    eps = np.finfo(float).eps
    found = TraceProblem(A, count=1).square_norm
    assert found == pytest.approx(25.0 * (1 + (2**18 + 2) * eps), rel=1e-14)
    seen = []

    class Twisted(LinearOperator):
        def _matmat(self, V):
            seen.append(V)
            return A @ V + 0.5 * np.array([[0, 1.0], [-1, 0]]) @ V

    found = TraceProblem(Twisted(float, (2, 2)), count=1).asymmetry
    Y, X = seen[-2:]  # four pairs: xᵀ(A − Aᵀ)y, one in 800 of whose spread is unlikely
    assert X.shape == Y.shape == (2, 4)
    assert found == pytest.approx(400 * np.abs(X[0] * Y[1] - X[1] * Y[0]).max())


def test_what_an_operator_lacks_of_symmetry_is_never_more_than_said():
    rng = np.random.default_rng(2)
    for _ in range(1200):
        A = rng.normal(size=(3, 3))
        problem = TraceProblem(
            LinearOperator((3, 3), matvec=A.dot, matmat=A.dot, dtype=float), count=1
        )
        assert problem.asymmetry >= np.linalg.norm(A - A.T) / 2


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_matrices_that_are_not_symmetric_are_refused_in_their_own_size(size):
    A = np.diag([1.0, 2.0, 3.0])
    A[0, 1], A[1, 0] = 0.5, 0.5 + 1e-3
    with pytest.raises(InvalidInput, match="symmetric"):
        TraceProblem(size * A, count=1)
    A[1, 0] = np.nextafter(0.5, 1)
    problem = TraceProblem(size * A, count=1)
    np.testing.assert_allclose(problem.descent(np.ones(3)), size * A @ np.ones(3), rtol=1e-14)


def test_an_operator_that_returns_no_numbers_is_refused():
    broken = LinearOperator((5, 5), matvec=lambda v: v * np.nan, dtype=float)
    with pytest.raises(InvalidInput, match="returns NaN or infinite numbers"):
        certify(TraceProblem(broken, None, 1, "min"), np.eye(5)[:, :1])


def test_float32_matrix_times_doubles():
    rng = np.random.default_rng(0)
    for n in (5, 16, 37, 1100):
        A = rng.standard_normal((n, n), dtype=np.float32)
        for shape in [(n,), (n, 1), (n, 3), (n, 4), (n, 9)]:
            V = rng.standard_normal(shape)
            np.testing.assert_allclose(product(A, V), A.astype(float) @ V, atol=1e-11)


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_refused_matrix_is_named_by_the_entries_that_differ_most(made):
    A = np.array([[2.0, 4.0, 0.0], [3.0, 1.0, 0.5], [0.0, 0.4, 7.0]])
    with pytest.raises(InvalidInput) as refused:
        TraceProblem(made(A), count=1)
    assert str(refused.value) == (
        "A is not symmetric: A[0, 1] is 4 and A[1, 0] is 3; use (A + A.T) / 2"
    )
    with pytest.raises(InvalidInput, match=r"B\[0, 1\] is 4 and B\[1, 0\] is 3"):
        TraceProblem(np.eye(3), made(A + 9 * np.eye(3)), 1)
