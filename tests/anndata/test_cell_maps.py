"""Maps in AnnData are the estimators' own, and survive files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import Isomap, LaplacianEigenmaps
from dualfold import anndata as cell_maps
from dualfold.errors import InvalidInput

anndata = pytest.importorskip("anndata", reason="needs anndata: pip install 'dualfold[h5ad]'")


def _cells(n: int = 80) -> object:
    rows = np.random.default_rng(0).normal(size=(n, 5))
    cells = anndata.AnnData(rows.copy())
    cells.obsm["X_pca"] = rows
    return cells


def test_a_map_is_that_of_the_estimator_and_survives_h5ad_and_zarr(tmp_path: Path) -> None:
    cells = _cells()
    cell_maps.isomap(cells, n_neighbors=8)
    alone = Isomap(n_neighbors=8).fit(cells.obsm["X_pca"])
    assert np.array_equal(cells.obsm["X_isomap"], alone.embedding_)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    cells.write_zarr(tmp_path / "cells.zarr")
    for back in (
        anndata.read_h5ad(tmp_path / "cells.h5ad"),
        anndata.read_zarr(tmp_path / "cells.zarr"),
    ):
        assert back.uns["isomap"]["certificate"]["level"] == alone.certificate_.level
        assert np.array_equal(back.uns["isomap"]["eigenvalues"], alone.eigenvalues_)
        assert back.uns["isomap"]["params"]["n_neighbors"] == 8
        assert np.array_equal(back.obsm["X_isomap"], alone.embedding_)


def test_a_copy_leaves_the_cells_as_they_were() -> None:
    cells = _cells()
    other = cell_maps.eigenmaps(cells, n_neighbors=8, copy=True)
    assert "X_eigenmaps" in other.obsm
    assert "X_eigenmaps" not in cells.obsm


def test_a_stored_graph_with_varying_numbers_of_neighbours_is_used() -> None:
    cells = _cells()
    lengths = np.linalg.norm(cells.X[:, None] - cells.X[None], axis=2)
    order = np.argsort(lengths, axis=1)[:, 1:]
    kept = np.zeros(lengths.shape, bool)
    for row in range(len(lengths)):
        kept[row, order[row, : 6 + row % 5]] = True
    cells.obsp["distances"] = sp.csr_matrix(np.where(kept, lengths, 0))
    cells.uns["neighbors"] = {"distances_key": "distances", "params": {"metric": "euclidean"}}
    cell_maps.eigenmaps(cells, neighbors_key="neighbors")
    alone = LaplacianEigenmaps(graph=sp.csr_array(cells.obsp["distances"])).fit(cells.X)
    assert np.allclose(cells.obsm["X_eigenmaps"], alone.embedding_)


def test_new_cells_are_placed_and_a_changed_map_is_refused() -> None:
    cells = _cells()
    old, new = cells[:70].copy(), cells[70:].copy()
    cell_maps.isomap(old, n_neighbors=8)
    grown = cell_maps.extend(old, new, "isomap")
    assert np.array_equal(grown.embedding_[:70], old.obsm["X_isomap"])
    assert np.array_equal(grown.embedding_[70:], new.obsm["X_isomap"])
    assert "level" in new.uns["isomap"]["staleness"]
    old.obsm["X_isomap"] = old.obsm["X_isomap"] * 2
    with pytest.raises(InvalidInput, match="make the map again"):
        cell_maps.extend(old, new, "isomap")
