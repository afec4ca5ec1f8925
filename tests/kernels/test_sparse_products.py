"""Products with sparse rows, a few columns at a time."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.kernels import sparse
from dualfold.kernels.sparse import sparse_product


@pytest.mark.parametrize("columns", [0, 1, 16, 17, 40])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_parts_have_the_bits_of_the_whole(columns, kind):
    rng = np.random.default_rng(0)
    X = sp.csr_array((10 * sp.random_array((50, 30), density=0.3, rng=rng)).astype(kind))
    V = rng.standard_normal((30, columns))
    np.testing.assert_array_equal(sparse_product(X, V), X @ V)
    np.testing.assert_array_equal(sparse_product(X.T, X @ V), X.T @ (X @ V))
    if columns:
        np.testing.assert_array_equal(sparse_product(X, V[:, 0]), X @ V[:, 0])


@pytest.mark.parametrize("columns", [0, 1, 2, 3, 7, 8, 9, 21])
def test_a_large_product_has_scipys_bits(columns, monkeypatch):
    monkeypatch.setattr(sparse, "MIN_KERNEL_ENTRIES", 0)
    monkeypatch.setattr(sparse, "MIN_THREADED_PRODUCTS", 2_000)
    rng = np.random.default_rng(1)
    X = sp.random_array((300, 200), density=0.02, rng=rng, format="csr")
    V = rng.standard_normal((200, columns))
    np.testing.assert_array_equal(sparse_product(X, V), X @ V)
    np.testing.assert_array_equal(sparse_product(X, np.asfortranarray(V)), X @ V)
