"""Arrays in files: numbers of any byte order and shape, or a refusal that says what they hold."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse as sp

from dualfold.data import Reading, prepare, read_table
from dualfold.errors import DamagedFile, InvalidInput
from tests.data.files import said

X = np.random.default_rng(0).normal(size=(12, 3))


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
        prepare(sp.csr_array(X + 1j))


def test_an_archive_that_names_an_array_twice_is_damaged(here):
    np.save("x.npy", X)
    content = (here / "x.npy").read_bytes()
    with zipfile.ZipFile("two.npz", "w") as file:
        file.writestr("X.npy", content)
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("X.npy", content)
    with pytest.raises(DamagedFile, match="two of its arrays have the same name"):
        read_table("two.npz")


def test_a_sparse_matrix_from_standard_input(here, monkeypatch):
    sp.save_npz("s.npz", sp.csr_array(np.where(X > 0, X, 0)))
    content = io.TextIOWrapper(io.BytesIO((here / "s.npz").read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    found = read_table("-", Reading(format="npz"))
    np.testing.assert_array_equal(found.X.toarray(), np.where(X > 0, X, 0))


def test_complex_matrices_are_refused_and_large_ones_not_made(here):
    (here / "c.mtx").write_text(
        "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n"
    )
    with pytest.raises(InvalidInput, match="holds complex ones") as refused:
        read_table("c.mtx")
    assert not isinstance(refused.value, DamagedFile)


NUMBERS = np.array([[1.5, -2.0], [0.25, 3e-9], [7.0, 1e20]])


def test_pickles_are_not_loaded(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidInput, match="Python objects"):
        read_table(tmp_path / "o.npy")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int64, ">f8", np.float16])
def test_npy(tmp_path, dtype):
    stored = (np.arange(12).reshape(4, 3) % 5).astype(dtype)
    np.save(tmp_path / "x.npy", stored)
    found = read_table(tmp_path / "x.npy")
    np.testing.assert_array_equal(found.X, stored)
    small = np.dtype(dtype) in (np.float32, np.float16)
    assert found.X.dtype == (np.float32 if small else np.float64)
    assert found.X.dtype.isnative
    part = read_table(tmp_path / "x.npy", Reading(exclude=["column_2"], label_columns=["column_3"]))
    np.testing.assert_array_equal(part.X, stored[:, :1])
    np.testing.assert_array_equal(part.labels["column_3"], stored[:, 2])


def test_a_large_npy_is_mapped(tmp_path, set_limits):
    np.save(tmp_path / "x.npy", NUMBERS)
    set_limits("data.array_files", MAP_BYTES=10)
    found = read_table(tmp_path / "x.npy")
    assert isinstance(found.X.base if not isinstance(found.X, np.memmap) else found.X, np.memmap)
    np.testing.assert_array_equal(found.X, NUMBERS)


def test_other_shapes(tmp_path):
    np.save(tmp_path / "images.npy", np.arange(24.0).reshape(2, 3, 4))
    found = read_table(tmp_path / "images.npy")
    np.testing.assert_array_equal(found.X, np.arange(24.0).reshape(2, 12))
    assert said(found, "2×3×4")
    np.save(tmp_path / "records.npy", np.array([(1.5, "a"), (2.5, "b")], dtype="f8,U3"))
    records = read_table(tmp_path / "records.npy")
    np.testing.assert_array_equal(records.X, [[1.5], [2.5]])
    assert list(records.labels["f1"]) == ["a", "b"]
    np.save(tmp_path / "none.npy", np.zeros((0, 3)))
    with pytest.raises(InvalidInput, match="0×3"):
        read_table(tmp_path / "none.npy")
    np.save(tmp_path / "complex.npy", NUMBERS * 1j)
    with pytest.raises(InvalidInput, match="complex128"):
        read_table(tmp_path / "complex.npy")


def test_npz(tmp_path):
    y = np.array(["p", "q", "r"])
    np.savez(tmp_path / "xy.npz", X=NUMBERS, y=y, other=np.zeros(7))
    found = read_table(tmp_path / "xy.npz")
    np.testing.assert_array_equal(found.X, NUMBERS)
    np.testing.assert_array_equal(found.labels["y"], y)
    assert said(found, "'other'", "not used")
    np.savez(tmp_path / "one.npz", anything=NUMBERS)
    np.testing.assert_array_equal(read_table(tmp_path / "one.npz").X, NUMBERS)
    np.savez(tmp_path / "two.npz", a=NUMBERS, b=NUMBERS + 1)
    with pytest.raises(InvalidInput, match=r"'a' \(3, 2\), 'b' \(3, 2\); choose one, as array='a'"):
        read_table(tmp_path / "two.npz")
    np.testing.assert_array_equal(
        read_table(tmp_path / "two.npz", Reading(array="b")).X, NUMBERS + 1
    )


@pytest.mark.parametrize("name", ["m.mtx", "m.mtx.gz", "m.npz"])
def test_sparse(tmp_path, name):
    matrix = scipy.sparse.random_array((20, 7), density=0.2, rng=np.random.default_rng(0))
    if name == "m.npz":
        scipy.sparse.save_npz(tmp_path / name, matrix.tocsc())
    else:
        target = io.BytesIO()
        scipy.io.mmwrite(target, matrix, precision=17)
        content = target.getvalue()
        (tmp_path / name).write_bytes(
            gzip.compress(content, mtime=0) if name.endswith("gz") else content
        )
    found = read_table(tmp_path / name)
    assert scipy.sparse.issparse(found.X)
    assert found.X.format == "csr"
    np.testing.assert_allclose(found.X.toarray(), matrix.toarray(), rtol=1e-15)
    part = read_table(tmp_path / name, Reading(label_columns=["column_2"]))
    np.testing.assert_allclose(part.labels["column_2"], matrix.toarray()[:, 1])
    assert part.X.shape == (20, 6)
