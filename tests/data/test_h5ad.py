"""Annotated matrices (h5ad): layers, maps, words with missing values, ordered categories."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, read_table, write_table
from dualfold.data.h5ad import h5ad_coordinates, h5ad_table
from dualfold.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
