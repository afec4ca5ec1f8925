"""Sparse matrices: every form becomes the same rows, and products have the bits of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from tests.kernels.door import canonical_rows, sparse_product
from tests.tools.sparse_forms import forms_of

RNG = np.random.default_rng(11)
DENSE = np.where(RNG.random((20, 8)) < 0.5, RNG.integers(-4, 5, (20, 8)) * 2.0, 0.0)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_form_becomes_the_same_rows(kind):
    plain = sp.csr_array(DENSE.astype(kind))
    for name, form in forms_of(DENSE.astype(kind)).items():
        before = form.copy()
        rows = canonical_rows(form, "X")
        for part in ("data", "indices", "indptr"):
            found, wanted = getattr(rows, part), getattr(plain, part)
            assert np.array_equal(found, wanted), (name, part)
            assert found.dtype == wanted.dtype, (name, part)
        if form.format in ("csr", "csc"):
            assert all(
                np.array_equal(getattr(before, part), getattr(form, part))
                for part in ("data", "indices", "indptr")
            ), name


def test_canonical_rows_are_not_copied():
    plain = sp.csr_array(DENSE)
    assert canonical_rows(plain, "X") is plain
    assert np.shares_memory(canonical_rows(sp.csr_matrix(plain), "X").data, plain.data)


def test_stored_zeros_stay_and_zeros_that_fill_blocks_go():
    stored = sp.csr_array((np.array([0.0, 3.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    rows = canonical_rows(stored, "X")
    assert [list(rows.indices), list(rows.data)] == [[0, 1], [3.0, 0.0]]
    assert canonical_rows(sp.bsr_array(np.eye(4), blocksize=(2, 2)), "X").nnz == 4


@pytest.mark.parametrize(
    ("parts", "total"),
    [
        (np.array([100, 100], np.int8), 200),
        (np.array([200, 100], np.uint8), 300),
        (np.array([1, 2.0**-30], np.float32), 1 + 2.0**-30),
    ],
    ids=["int8", "uint8", "float32"],
)
def test_parts_are_summed_without_rounding_or_overflow(parts, total):
    places = (np.zeros(2, int), np.zeros(2, int))
    for form in (sp.coo_array, sp.csr_array):
        made = sp.csr_array((parts, [0, 0], [0, 2]), shape=(1, 1))
        made = sp.coo_array((parts, places), shape=(1, 1)) if form is sp.coo_array else made
        assert canonical_rows(made, "X").toarray()[0, 0] == total


def test_sparse_arrays_of_one_dimension_are_refused():
    with pytest.raises(InvalidInput, match="rows and columns"):
        canonical_rows(sp.coo_array(np.ones(3)), "X")


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
def test_a_large_product_in_threads_has_scipys_bits(columns, set_limits, set_threads):
    set_threads(3)
    set_limits("kernels.sparse", MIN_KERNEL_ENTRIES=0, MIN_THREADED_PRODUCTS=2_000)
    rng = np.random.default_rng(1)
    X = sp.random_array((300, 200), density=0.02, rng=rng, format="csr")
    V = rng.standard_normal((200, columns))
    np.testing.assert_array_equal(sparse_product(X, V), X @ V)
    np.testing.assert_array_equal(sparse_product(X, np.asfortranarray(V)), X @ V)
