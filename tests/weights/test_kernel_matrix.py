"""Kernel matrices: centred in place, with bounds for their rounding."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.weights.door import Kernel, KernelProducts, RowWeights, centre_kernel

RNG = np.random.default_rng(0)


def exact_kernel(X: np.ndarray, name: str, gamma: float, degree: float, coef0: float):
    """In long double, from differences, not from products of far rows."""
    wide = X.astype(np.longdouble)
    products = wide @ wide.T
    if name == "rbf":
        return np.exp(-gamma * np.square(wide[:, None] - wide[None]).sum(axis=2))
    if name == "laplacian":
        return np.exp(-gamma * np.abs(wide[:, None] - wide[None]).sum(axis=2))
    if name == "poly":
        return (gamma * products + coef0) ** degree
    if name == "sigmoid":
        return np.tanh(gamma * products + coef0)
    if name == "cosine":
        lengths = np.sqrt(np.diagonal(products))
        return products / np.outer(lengths, lengths)
    return products


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no wider numbers to compare with")
@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian", "poly", "sigmoid", "cosine"])
@pytest.mark.parametrize(("size", "coef0"), [(1.0, -1.5), (1e3, 40.0)])
def test_entries_are_within_their_bound(name, size, coef0):
    X = size * (RNG.standard_normal((40, 6)) + 2)
    numbers = {"gamma": 0.1 / size**2, "degree": 3, "coef0": coef0}
    if name == "laplacian":
        numbers["gamma"] = 0.1 / size
    kernel = Kernel(name, numbers)
    K = kernel.matrix(X)
    bound = kernel.error_bound(X, np.abs(K).mean(axis=1))
    off = np.linalg.norm((K - exact_kernel(X, name, **numbers)).astype(float), 2)
    assert off <= bound <= 1e-10 * np.linalg.norm(K, 2)


def test_blocks_that_are_mirrored_are_the_whole_matrix():
    X = RNG.standard_normal((1_100, 3))
    kernel = Kernel("rbf", {"gamma": 0.3})
    K = kernel.matrix(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel.between(X, X), rtol=1e-12)


def test_centring_takes_off_rows_and_columns_within_its_bound():
    given = RNG.uniform(0.1, 3, size=90)
    for weights in (None, RowWeights(given)):
        K = Kernel("linear").matrix(RNG.standard_normal((90, 4)) + 9)
        w = np.ones(90, np.longdouble) if weights is None else given.astype(np.longdouble)
        H = np.eye(90, dtype=np.longdouble) - np.outer(np.ones(90), w / w.sum())
        roots = np.sqrt(w)
        exact = roots[:, None] * (H @ K.astype(np.longdouble) @ H.T) * roots
        columns = (K @ w / w.sum()).astype(float)
        centred = centre_kernel(K, weights)
        assert centred.matrix is K  # in place
        assert np.linalg.norm((K - exact).astype(float), 2) <= centred.error
        np.testing.assert_allclose(centred.column_means, columns, rtol=1e-12)


def test_the_matrix_is_stored_once():
    """Its blocks and means beside it are small."""
    X = RNG.standard_normal((1_500, 4))
    tracemalloc.start()
    centre_kernel(Kernel("rbf", {"gamma": 0.3}).matrix(X))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Each thread has a block of 2 MB in work, or a few thin slices.
    assert most < 8 * 1_500**2 + 24e6


@pytest.mark.parametrize("weights", [None, RowWeights(RNG.uniform(0.1, 3, size=70))])
def test_products_know_their_norm_and_trace(weights):
    X = RNG.standard_normal((70, 3))
    kernel = Kernel("sigmoid", {"gamma": 0.5, "coef0": -0.3})
    A = KernelProducts(X, kernel, weights)
    K = centre_kernel(kernel.matrix(X), weights).matrix
    V = RNG.standard_normal((70, 4))
    np.testing.assert_allclose(A @ V, K @ V, atol=1e-12)
    np.testing.assert_allclose(A @ V[:, 0], K @ V[:, 0], atol=1e-12)
    np.testing.assert_allclose(A.diagonal, np.diagonal(K), atol=1e-13)
    assert A.trace == pytest.approx(np.trace(K), abs=1e-12)
    assert np.linalg.norm(K, 2) <= A.norm_bound


def test_nothing_is_said_of_kernels_whose_rounding_is_not_known():
    X = np.abs(RNG.standard_normal((9, 2)))
    for kernel in (Kernel("poly", {"gamma": 1.0, "degree": 0.5, "coef0": 0.0}), Kernel("chi2")):
        assert kernel.error_bound(X, np.abs(kernel.matrix(X)).mean(axis=1)) is None
