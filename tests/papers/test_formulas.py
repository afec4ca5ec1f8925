"""Formulas that only illustrate the papers, against differences, eigenvalues and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.point_pca import commutation_matrix, kronecker_gradient, point_gradient
from dualfold.trace import subspace_quotients


def draws(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_kronecker_gradient_is_that_of_the_definition():
    X, Y = draws(0, 7, 4) + 1.5, draws(1, 7, 2) - 0.5  # not centred
    L = np.eye(7) - 1 / 7

    def f(Y):
        return np.square(L @ (cdist(X, X, "sqeuclidean") - cdist(Y, Y, "sqeuclidean")) @ L).sum()

    differences = np.zeros_like(Y)
    for place in np.ndindex(*Y.shape):
        move = np.zeros_like(Y)
        move[place] = 1e-5
        differences[place] = (f(Y + move) - f(Y - move)) / 2e-5
    gradient = kronecker_gradient(X, Y)
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-5 * np.abs(gradient).max())
    np.testing.assert_allclose(gradient, point_gradient(X, Y), rtol=1e-9, atol=1e-9)
    A = draws(2, 3, 5)
    turned = commutation_matrix(3, 5) @ A.ravel(order="F")
    np.testing.assert_array_equal(turned, A.T.ravel(order="F"))


@pytest.mark.parametrize("metric", [False, True])
def test_every_subspace_bounds_two_eigenvalues_and_some_reach_them(metric):
    A, C = draws(3, 6, 6), draws(4, 6, 6)
    A, B = A + A.T, C @ C.T + np.eye(6) if metric else np.eye(6)
    values, vectors = scipy.linalg.eigh(A, B)
    for k in range(1, 7):
        for U in draws(5 + k, 20, 6, k):
            found = subspace_quotients(A, U, B if metric else None)
            assert found.dimension == k
            assert found.largest >= values[k - 1] - 1e-10
            assert found.least <= values[6 - k] + 1e-10
            # Brute force: no point of the span leaves the range, and its ends are in the span.
            x = U @ draws(50, k, 200)
            quotients = np.sum(x * (A @ x), axis=0) / np.sum(x * (B @ x), axis=0)
            assert found.least - 1e-10 <= quotients.min()
            assert quotients.max() <= found.largest + 1e-10
            for value, at in ((found.least, found.least_at), (found.largest, found.largest_at)):
                assert at @ A @ at / (at @ B @ at) == pytest.approx(value, abs=1e-9)
                assert np.linalg.norm(at - U @ np.linalg.lstsq(U, at, rcond=None)[0]) < 1e-9
        first, last = vectors[:, :k], vectors[:, 6 - k :]
        assert subspace_quotients(A, first, B).largest == pytest.approx(values[k - 1], abs=1e-9)
        assert subspace_quotients(A, last, B).least == pytest.approx(values[6 - k], abs=1e-9)
    with pytest.raises(InvalidInput, match="independent"):
        subspace_quotients(A, np.ones((6, 2)))
