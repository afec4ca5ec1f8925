"""Tables in tiles that cannot be read: one sentence each, never a raw error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dualfold import FAMD, PCA, scale
from dualfold.errors import DualfoldError

dask_array = pytest.importorskip("dask.array")
dask_frame = pytest.importorskip("dask.dataframe")
zarr = pytest.importorskip("zarr")

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a sound table in it."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    return tmp_path


def damaged_npy(kind):
    content = Path("x.npy").read_bytes()
    if kind == "cut":
        return content[:200]
    if kind == "header":
        return content.replace(b"'<f8'", b"f(8) ")
    return {"empty": b"", "other": b"a,b\n1,2\n"}[kind]


@pytest.mark.parametrize("kind", ["cut", "header", "empty", "other"])
def test_damaged_npy_files_are_damaged(here, kind):
    (here / "y.npy").write_bytes(damaged_npy(kind))
    with pytest.raises(DualfoldError, match=r"y\.npy is not a readable NPY file"):
        scale.table("y.npy")


def test_python_objects_are_not_loaded(here):
    np.save("y.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
    with pytest.raises(DualfoldError, match=r"y\.npy is not a readable NPY file"):
        scale.table("y.npy")


def parquet(name, **columns):
    pd.DataFrame(columns).to_parquet(name)


REFUSALS = {
    "shape (3, 2, 2); a table has rows and columns": lambda: np.save("y.npy", np.ones((3, 2, 2))),
    "no rows or no columns": lambda: np.save("y.npy", np.ones((0, 2))),
    "it must hold numbers": lambda: np.save("y.npy", X + 1j),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_arrays_that_are_no_table_of_numbers(here, said):
    REFUSALS[said]()
    with pytest.raises(DualfoldError) as refused:
        PCA(n_components=1).fit(scale.table("y.npy"))
    assert said in str(refused.value)


def test_memory_maps_are_read_as_they_are_or_refused(here):
    rows = np.load("x.npy", mmap_mode="r")
    with pytest.raises(DualfoldError, match="turned around; give a copy"):
        scale.table(rows[::-1])
    with pytest.raises(DualfoldError, match=r"shape \(30,\); a table has rows and columns"):
        scale.table(rows[:, 0])
    for some in (rows[3:9], rows[::2], rows[5:][:20]):  # views of views
        fitted = PCA(n_components=1).fit(scale.table(some))
        np.testing.assert_allclose(fitted.mean_, np.mean(some, axis=0), atol=1e-14)


def test_a_file_that_has_become_shorter_names_itself(here):
    rows = scale.table("x.npy")
    (here / "x.npy").write_bytes((here / "x.npy").read_bytes()[:300])
    with pytest.raises(DualfoldError, match=r"x\.npy cannot be read"):
        PCA(n_components=1).fit(rows)


def test_parquet_files_of_one_table_have_the_same_columns(here):
    (here / "folder").mkdir()
    with pytest.raises(DualfoldError, match="no Parquet files in it"):
        scale.table("folder")
    parquet("folder/a.parquet", a=[1.0, 2.0], b=[1.0, 3.0])
    parquet("folder/b.parquet", a=[1.0, 2.0], c=[1.0, 3.0])
    with pytest.raises(DualfoldError, match="has other columns than"):
        scale.table("folder")
    with pytest.raises(DualfoldError, match="names 'z', which is not in"):
        scale.table("folder/a.parquet", columns=["a", "z"])
    parquet("none.parquet", a=np.empty(0))
    with pytest.raises(DualfoldError, match=r"none\.parquet has no rows"):
        scale.table("none.parquet")


def test_a_group_of_zarr_arrays_is_named(here):
    group = zarr.create_group("g.zarr")
    group.create_array("one", shape=(4, 2), dtype="f8")
    with pytest.raises(DualfoldError, match=r"a group of arrays \(one\); give one of them"):
        scale.table("g.zarr")
    zarr.create_array("line.zarr", shape=(4,), dtype="f8")
    with pytest.raises(DualfoldError, match="a table has rows and columns"):
        scale.table("line.zarr")
    (here / "no.zarr").mkdir()
    with pytest.raises(DualfoldError, match="is no Zarr store that can be read"):
        scale.table("no.zarr")


def test_other_things_than_tables(here):
    with pytest.raises(DualfoldError, match="is of type dict"):
        scale.table({"a": [1.0]})
    with pytest.raises(DualfoldError, match="two dimensions"):
        scale.table(dask_array.ones(5))


def test_whole_numbers_that_doubles_do_not_hold(here):
    long = dask_array.from_array(np.arange(12).reshape(6, 2) + 2**62, chunks=(3, 2))
    with pytest.raises(DualfoldError, match="X holds integers beyond"):
        PCA(n_components=1).fit(long)
    frame = dask_frame.from_pandas(pd.DataFrame({"a": np.arange(6) + 2**62, "b": 1.0}))
    with pytest.raises(DualfoldError, match="a holds integers beyond"):
        PCA(n_components=1).fit(frame)


def test_famd_of_numbers_alone_is_that_of_the_whole_table(here):
    frame = pd.DataFrame(X, columns=list("abc"))
    tiles = FAMD(n_components=2).fit(dask_frame.from_pandas(frame, npartitions=3))
    whole = FAMD(n_components=2).fit(frame)
    np.testing.assert_allclose(
        tiles.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-12
    )
