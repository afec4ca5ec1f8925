"""Tables in tiles that cannot be read: one sentence each, never a raw error."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dualfold import (
    FAMD,
    PCA,
    ClassicalMDS,
    FisherDiscriminant,
    KernelPCA,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    OrthogonalLPP,
    RandomProjection,
    scale,
)
from dualfold.errors import DualfoldError
from tests.scale.door import OpenedModel, gather_rows, nearest_of, plain_rows, translate_failures

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


def tiles(rows=X, height=10):
    return dask_array.from_array(rows, chunks=(height, rows.shape[1]))


CLASSES = dask_array.from_array(np.arange(30) % 2, chunks=15)
NOTHING = tiles()[:0]
ASKED = {
    "y has 15 labels for": lambda: FisherDiscriminant().fit(
        tiles(height=(10, 20)), dask_frame.from_dask_array(CLASSES)
    ),
    "no rows in any of its tiles": lambda: FisherDiscriminant().fit(NOTHING, CLASSES[:0]),
    "fewer than 2 rows in all": lambda: RandomProjection(1).fit(tiles()[:1]),
    "leave out supervised": lambda: LocalityPreservingProjection(supervised=True).fit(
        tiles(), np.arange(30) % 2
    ),
    "leave out radius": lambda: OrthogonalLPP(n_neighbors=None, radius=2.0).fit(tiles()),
    # As in memory: no number is assumed, and a given one is not lowered.
    "neither n_neighbors nor radius": lambda: LocalityPreservingProjection(n_neighbors=None).fit(
        tiles()
    ),
    "the largest usable number here is 29": lambda: LocalityPreservingProjection(
        n_neighbors=30
    ).fit(tiles()),
    "'euclidean' is": lambda: LocalityPreservingProjection(metric="cosine").fit(tiles()),
    "goes through all rows at every step": lambda: PCA(svd_solver="gradient").fit(tiles()),
    "search is 'quick'; it is 'auto'": lambda: scale.neighbors(tiles(), 3, search="quick"),
    "less than the number of rows, 30": lambda: nearest_of(scale.table(tiles()), np.arange(3), 30),
    "the table has 30 rows and its map 20": lambda: scale.kept_neighbors(tiles(), tiles(X[:20])),
    "there are 30 rows, and one beyond": lambda: gather_rows(
        scale.table(tiles()), np.array([3, 30])
    ),
    "its shape is (2, 2, 2)": lambda: plain_rows(np.ones((2, 2, 2))),
    "rechunk the table evenly": lambda: scale.write(
        tiles(np.ones((5_000, 1)), (1_499, 1_501, 2_000)), "z.zarr"
    ),
    "all workers must see the folder": lambda: OpenedModel("gone.model").model(),
}


@pytest.mark.parametrize("said", ASKED)
def test_what_tiles_are_not_asked_for(here, said):
    with pytest.raises(DualfoldError) as refused:
        ASKED[said]()
    assert said in str(refused.value)


def test_distances_of_tiles_are_not_kept():
    with pytest.raises(AttributeError, match="but of tables in tiles"):
        _ = ClassicalMDS(n_components=2).fit(tiles()).dissimilarity_matrix_


def test_workers_that_die_of_a_task_are_told_of_in_our_words(monkeypatch):
    distributed = pytest.importorskip("distributed")
    with pytest.raises(scale.SchedulerLost, match="make the chunks smaller"), translate_failures():
        raise distributed.KilledWorker("sum", SimpleNamespace(address="tcp://1"), 4)
    monkeypatch.delitem(sys.modules, "distributed")
    with pytest.raises(ZeroDivisionError), translate_failures():  # nobody but Dask's own threads
        _ = 1 / 0


def test_rows_of_frames_are_gathered_as_frames():
    frame = pd.DataFrame(X, columns=list("abc")).assign(whole=range(30))
    rows = scale.table(dask_frame.from_pandas(frame, npartitions=4))
    found = gather_rows(rows, np.array([2, 9, 28]), raw=True)
    pd.testing.assert_frame_equal(found, frame.iloc[[2, 9, 28]])


def test_columns_of_tiles_are_standardized_as_in_memory():
    flat = X * [1, 5, 0] + [0, 0, 7]
    lazy, standard = scale.standardized(scale.table(tiles(flat)))
    np.testing.assert_allclose(standard.mean, flat.mean(axis=0), atol=1e-14)
    found, moved = lazy.collection.compute(), flat[:, :2] - flat[:, :2].mean(axis=0)
    np.testing.assert_allclose(found[:, :2], moved / flat[:, :2].std(axis=0), atol=1e-12)
    assert not found[:, 2].any()  # a column that does not vary


def test_prepared_columns_of_tiles_are_principal_components():
    prepared = FAMD(n_components=2, columns="prepared").fit(tiles())
    np.testing.assert_allclose(
        prepared.explained_variance_ratio_,
        PCA(n_components=2).fit(X).explained_variance_ratio_, rtol=1e-12,
    )  # fmt: skip


def test_a_projection_of_chunks_of_unknown_lengths(here):
    """Rows that a condition chose: their number is counted, and they are laid out in a file."""
    chosen = X[:, 0] > -0.5
    lazy = tiles()[tiles()[:, 0] > -0.5]
    found = LocalityPreservingProjection(n_components=2, n_neighbors=5).fit(lazy)
    whole = LocalityPreservingProjection(n_components=2, n_neighbors=5).fit(X[chosen])
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_a_generator_of_random_numbers_draws_landmarks():
    """As in scikit-learn, a RandomState is drawn from: the second fit is another one."""

    def landmarks(state):
        return KernelPCA(kernel="rbf", landmarks=12, random_state=state).fit(X).landmark_rows_

    drawn, again = np.random.RandomState(3), np.random.RandomState(3)
    first, second = landmarks(drawn), landmarks(drawn)
    np.testing.assert_array_equal([first, second], [landmarks(again), landmarks(again)])
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(landmarks(None), landmarks(0))


def test_means_across_pieces_are_no_rule():
    """Of landmarks in two pieces side by side each row is placed by its own piece."""
    two = np.vstack([X, X + 100])
    rows = scale.table(tiles(two, 20), landmarks=40)
    model = LaplacianEigenmaps(n_neighbors=4, pieces="separate").fit(rows)
    assert model.graph_.n_pieces > 1
    assert not model.placing_cost_.rule
