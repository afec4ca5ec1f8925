"""Annotated matrices (h5ad): layers, maps, words with missing values, ordered categories."""

from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dualfold.data import Reading, read_table
from dualfold.errors import InvalidInput, MissingDependency
from tests.data.door import h5ad_coordinates, read_metadata, write_table

X = np.random.default_rng(0).normal(size=(12, 3))


def test_an_annotated_matrix_by_its_layers_and_maps(here, monkeypatch):
    anndata = pytest.importorskip("anndata")
    stored = anndata.AnnData(X, obsm={"X_pca": X[:, :2]}, layers={"raw": 2 * X})
    stored.write_h5ad("a.h5ad")
    np.testing.assert_array_equal(read_table("a.h5ad", Reading(array="layers/raw")).X, 2 * X)
    np.testing.assert_array_equal(h5ad_coordinates(here / "a.h5ad", "X_pca"), X[:, :2])
    with pytest.raises(InvalidInput, match="has no map 'X_umap' in obsm; it holds 'X_pca'"):
        h5ad_coordinates(here / "a.h5ad", "X_umap")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x")))
    with pytest.raises(InvalidInput, match="cannot come from standard input"):
        read_table("-", Reading(format="h5ad"))


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


def test_h5ad_without_anndata_names_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "cells.h5ad").write_bytes(b"\x89HDF")
    with pytest.raises(MissingDependency, match=r"pip install 'dualfold\[h5ad\]'"):
        read_table(tmp_path / "cells.h5ad")
    with pytest.raises(MissingDependency, match=r"pip install 'dualfold\[h5ad\]'"):
        write_table(tmp_path / "out.h5ad", {"a_1": np.zeros(3)})
    assert not (tmp_path / "out.h5ad").exists()


def test_h5ad_both_ways(tmp_path):
    anndata = pytest.importorskip("anndata", reason="h5ad files need anndata")
    X = np.random.default_rng(0).normal(size=(6, 3))
    index = pd.Index([f"cell{i}" for i in range(6)], dtype=object)
    frame = pd.DataFrame({"type": pd.Series(list("aabbcc"), index=index, dtype=object)})
    genes = pd.DataFrame(index=pd.Index(["g1", "g2", "g3"], dtype=object))
    cells = anndata.AnnData(X=scipy.sparse.csr_matrix(X), obs=frame, var=genes)
    cells.obsm["X_pca"] = X[:, :2]
    cells.write_h5ad(tmp_path / "cells.h5ad")
    found = read_table(tmp_path / "cells.h5ad", Reading(label_columns=["type"], exclude=["g2"]))
    assert found.names == ("g1", "g3")
    np.testing.assert_array_equal(found.X.toarray(), X[:, [0, 2]])
    assert list(found.labels["obs_names"]) == list(frame.index)
    assert list(found.labels["type"]) == list("aabbcc")
    coordinates = read_table(tmp_path / "cells.h5ad", Reading(array="obsm/X_pca"))
    np.testing.assert_array_equal(coordinates.X, X[:, :2])

    columns = {"kind": np.array(list("pq")), "lle_1": np.ones(2), "lle_2": np.zeros(2)}
    out, rows = tmp_path / "out.h5ad", np.array([1, 4])
    write_table(out, columns, metadata={"a": 1}, onto=tmp_path / "cells.h5ad", rows=rows)
    again = anndata.read_h5ad(out)
    assert list(again.obs_names) == ["cell1", "cell4"]
    np.testing.assert_array_equal(again.obsm["X_lle"], [[1, 0], [1, 0]])
    np.testing.assert_array_equal(again.obsm["X_pca"], X[[1, 4], :2])
    assert read_metadata(out) == {"a": 1}
    write_table(tmp_path / "new.h5ad", columns)
    assert list(anndata.read_h5ad(tmp_path / "new.h5ad").obs["kind"]) == ["p", "q"]
    (tmp_path / "bad.h5ad").write_bytes(b"no")
    with pytest.raises(InvalidInput, match="not a readable"):
        read_table(tmp_path / "bad.h5ad")
