"""Tables of odd kinds: small, sparse, with gaps, of other packages; read right or named."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dualfold.data import Reading, delimited, mnist, prepare, read_table, write_table
from dualfold.data.array_files import npz_table, sparse_table
from dualfold.data.columns import _column_kind, _plain_column
from dualfold.data.encoding import Encoding, from_json, to_json
from dualfold.data.h5ad import h5ad_coordinates, h5ad_table
from dualfold.data.missing_values import pca_imputed
from dualfold.data.scales import column_limits
from dualfold.descriptions import described
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.scale.engine import TileFailed
from dualfold.scale.files import ReadParquet, parquet_parts

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- arrays in files


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


def test_an_annotated_matrix_by_its_layers_and_maps(here):
    anndata = pytest.importorskip("anndata")
    stored = anndata.AnnData(X, obsm={"X_pca": X[:, :2]}, layers={"raw": 2 * X})
    stored.write_h5ad("a.h5ad")
    np.testing.assert_array_equal(read_table("a.h5ad", Reading(array="layers/raw")).X, 2 * X)
    np.testing.assert_array_equal(h5ad_coordinates(here / "a.h5ad", "X_pca"), X[:, :2])
    with pytest.raises(InvalidInput, match="has no map 'X_umap' in obsm; it holds 'X_pca'"):
        h5ad_coordinates(here / "a.h5ad", "X_umap")
    with pytest.raises(InvalidInput, match="cannot come from standard input"):
        h5ad_table(io.BytesIO(), "standard input", None)


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_words_with_gaps_go_into_annotated_files(here, kind):
    """h5py writes no gap among words, and raised an error of its own."""
    pytest.importorskip("anndata")
    words = pd.Series(["a", "b", None] * 4, dtype="string").astype(kind)
    write_table("w.h5ad", {"pca_1": X[:, 0], "pca_2": X[:, 1], "word": words, "n": range(12)})
    again = read_table("w.h5ad", Reading(array="X_pca"))
    np.testing.assert_array_equal(again.X, X[:, :2])
    assert list(again.labels["word"][:2]) == ["a", "b"]
    assert pd.isna(again.labels["word"][2::3]).all()
    assert again.labels["n"].tolist() == list(range(12))


def test_categories_of_an_annotated_file_stay_in_their_order(here):
    """Onto a copy of a file its columns are written as they were."""
    anndata = pytest.importorskip("anndata")
    words = pd.Categorical(["low", "high", "low"] * 4, categories=["low", "high"], ordered=True)
    anndata.AnnData(X, obs=pd.DataFrame({"size": words})).write_h5ad("a.h5ad")
    write_table("b.h5ad", {"pca_1": X[:, 0], "pca_2": X[:, 1]}, onto=here / "a.h5ad")
    found = anndata.read_h5ad("b.h5ad").obs["size"]
    assert list(found.cat.categories) == ["low", "high"]
    assert found.cat.ordered


# ---- columns


def test_whole_numbers_of_pandas_own_kind_stay_whole():
    assert _plain_column(pd.Series([1, 2, 3], dtype="Int64")).dtype == np.int64
    gaps = _plain_column(pd.Series([1, None, 3], dtype="Int64"))
    np.testing.assert_array_equal(gaps, [1.0, np.nan, 3.0])
    assert (
        _column_kind(pd.Series([None, None], dtype=object), "a", keep=False, mixed=False) == "empty"
    )


@pytest.mark.parametrize(("most", "kind"), [(255, np.int16), (70_000, np.int32), (2**40, np.int64)])
def test_whole_numbers_are_kept_in_few_bytes(monkeypatch, most, kind):
    monkeypatch.setattr(delimited, "CHUNK_CELLS", 8)
    chunk = pd.DataFrame({"a": [0, 1, most], "b": [2, 3, 4]})
    for frame in (chunk, chunk.assign(c=0.5)):
        narrow = delimited._narrow(frame)
        assert narrow["a"].dtype == kind
        pd.testing.assert_frame_equal(narrow, frame, check_dtype=False)


def test_the_ends_of_columns_pass_over_what_is_no_number():
    known = np.array([[1.0, np.nan], [np.inf, 3.0], [-2.0, 5.0]])
    low, high = column_limits(known)
    assert low.tolist() == [-2.0, 3.0]
    assert high.tolist() == [1.0, 5.0]
    low, high = column_limits(sp.csr_array([[0.0, 2.0], [0.0, -1.0]]))
    assert low.tolist() == [0.0, -1.0]
    assert high.tolist() == [0.0, 2.0]


def test_gaps_are_filled_as_far_as_a_table_allows():
    """One column has its mean alone; without deviations the units of the columns count."""
    hole = X.copy()
    hole[2, 1] = np.nan
    filled, settled = pca_imputed(hole[:, 1:2])
    assert settled
    assert filled[2, 0] == pytest.approx(np.nanmean(hole[:, 1]))
    plane = np.outer(np.arange(12.0), [1, 2, 3]) + np.outer(np.ones(12), [1, 5, 2])
    plane += np.outer(np.arange(12.0) ** 2, [1, 0, 1])
    lacking = plane.copy()
    lacking[4, 0] = np.nan
    for standardize in (True, False):
        found, settled = pca_imputed(lacking, standardize=standardize)
        assert settled
        assert found[4, 0] == pytest.approx(plane[4, 0], rel=0.05)


def test_columns_that_a_file_states_are_read_again_or_refused():
    stated = (Encoding("a", "category", ("x", "y")), Encoding("b", "number", ()))
    assert from_json(to_json(stated)) == stated
    for odd in ([{"name": "a", "kind": "spell", "levels": []}], [3], [{"name": "a"}]):
        with pytest.raises(DamagedFile, match="unknown form"):
            from_json(odd)


def test_rows_left_out_are_left_out_of_the_numbers_as_read(here):
    frame = pd.DataFrame(X.copy(), columns=list("abc"))
    frame.loc[3, "b"] = np.nan
    prepared = prepare(frame, Reading(missing="drop"))
    names, numbers = prepared.numbers
    assert names == ("a", "b", "c")
    np.testing.assert_array_equal(numbers, np.delete(X, 3, axis=0))


# ---- names and places


def test_a_method_by_the_name_that_people_write():
    assert described("t-SNE") is described("tsne")
    assert described("PCA") is described("pca")


def test_images_in_a_folder_by_either_name(here, monkeypatch):
    images, labels = np.arange(2 * 784).reshape(2, 784) % 255, np.array([3, 5])
    (here / "m").mkdir()
    monkeypatch.setenv("DUALFOLD_MNIST", "m")
    with pytest.raises(InvalidInput, match="has none of them"):
        mnist()
    np.savez("m/mnist.npz", X=images.astype(np.uint8), y=labels)
    np.testing.assert_array_equal(mnist().points, images)
    (here / "other.idx").write_bytes(b"")
    monkeypatch.setenv("DUALFOLD_MNIST", "other.idx")
    with pytest.raises(InvalidInput, match="with 'images' in its name"):
        mnist()


def test_text_in_other_encodings_and_with_blank_lines(here):
    (here / "wide.csv").write_bytes("a,b\n1,2\n3,5\n".encode("utf-32"))
    np.testing.assert_array_equal(read_table("wide.csv").X, [[1, 2], [3, 5]])
    (here / "blank.txt").write_text("1.5 2.5\n\n3.5 4.5\n   \n5.5 7.5\n")
    np.testing.assert_array_equal(read_table("blank.txt").X, [[1.5, 2.5], [3.5, 4.5], [5.5, 7.5]])


def test_files_that_are_not_there_or_hold_too_long_numbers(here):
    (here / "link.csv").symlink_to(here / "gone.csv")
    with pytest.raises(InvalidInput, match="is a link to a file that is not there"):
        read_table("link.csv")
    np.save("long.npy", np.array([[2**60, 1], [3, 4]]))
    with pytest.raises(InvalidInput, match="2\\^53"):
        read_table("long.npy")


def test_a_parquet_file_needs_no_metadata(here):
    pytest.importorskip("pyarrow")
    write_table("x.parquet", {"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_array_equal(read_table("x.parquet").X, X[:, :2])


def test_tiles_of_parquet_are_row_groups_and_are_counted_again(here):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask")
    pd.DataFrame(X, columns=list("abc")).to_parquet("g.parquet", row_group_size=3)
    parts, empty = parquet_parts(here / "g.parquet", None, tile_bytes=1, most=10**9)
    assert [part.rows for part in parts] == [3, 3, 3, 3]
    read = ReadParquet(tuple(empty.columns))
    np.testing.assert_array_equal(read(parts[1]).to_numpy(), X[3:6])
    with pytest.raises(TileFailed, match="has changed while it was read"):
        read(replace(parts[1], rows=2))
