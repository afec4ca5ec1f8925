"""Arrays in files: numbers of any byte order and shape, or a refusal that says what they hold."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.data import read_table
from dualfold.data.array_files import npz_table, sparse_table
from dualfold.errors import DamagedFile, InvalidInput

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lists_and_other_byte_orders_are_numbers_all_the_same(here):
    np.save("list.npy", X[:, 0])
    found = read_table("list.npy")
    assert found.X.shape == (12, 1)
    assert "taken as one column" in str(found.notices[0])
    np.save("swapped.npy", X.astype(">f8"))
    swapped = read_table("swapped.npy").X
    assert swapped.dtype.isnative
    np.testing.assert_array_equal(swapped, X)


def test_arrays_that_are_no_table(here):
    np.save("one.npy", 3.0)
    with pytest.raises(InvalidInput, match="holds a single number"):
        read_table("one.npy")
    np.savez("x.npz", X=X)
    (here / "x.npz").rename(here / "x.npy")
    with pytest.raises(DamagedFile, match="but an archive"):
        read_table("x.npy")
    with pytest.raises(InvalidInput, match="the matrix is complex"):
        sparse_table(sp.csr_array(X + 1j))


def test_an_archive_that_names_an_array_twice_is_damaged(here):
    np.save("x.npy", X)
    content = (here / "x.npy").read_bytes()
    with zipfile.ZipFile("two.npz", "w") as file:
        file.writestr("X.npy", content)
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("X.npy", content)
    with pytest.raises(DamagedFile, match="two of its arrays have the same name"):
        read_table("two.npz")


def test_a_sparse_matrix_from_standard_input(here):
    sp.save_npz("s.npz", sp.csr_array(np.where(X > 0, X, 0)))
    found = npz_table(io.BytesIO((here / "s.npz").read_bytes()), "standard input", None)
    np.testing.assert_array_equal(found.X.toarray(), np.where(X > 0, X, 0))


def test_complex_matrices_are_refused_and_large_ones_not_made(here):
    (here / "c.mtx").write_text(
        "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n"
    )
    with pytest.raises(InvalidInput, match="holds complex ones") as refused:
        read_table("c.mtx")
    assert not isinstance(refused.value, DamagedFile)
