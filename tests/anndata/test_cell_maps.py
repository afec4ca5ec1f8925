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


def test_a_table_in_a_file_is_read_and_a_copy_of_it_is_in_memory(tmp_path: Path) -> None:
    cells = _cells()
    cells.X = sp.csr_matrix(cells.X.astype(np.float32))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    cell_maps.pca(cells, 3)
    cell_maps.pca(backed, 3)
    assert np.array_equal(backed.obsm["X_pca"], cells.obsm["X_pca"])
    cell_maps.isomap(backed, use_rep="X", n_neighbors=8)
    copy = cell_maps.isomap(backed, use_rep="X", n_neighbors=8, copy=True, key_added="again")
    assert not copy.isbacked
    assert np.array_equal(copy.obsm["again"], backed.obsm["X_isomap"])
    backed.file.close()


def test_principal_components_of_a_layer_and_of_some_genes() -> None:
    cells = _cells()
    cells.layers["twice"] = 2 * cells.X
    cell_maps.pca(cells, 2)
    first = cells.uns["pca"]["variance"]
    cell_maps.pca(cells, 2, layer="twice")
    assert np.allclose(cells.uns["pca"]["variance"], 4 * first)
    cells.var["highly_variable"] = [True, False, True, True, False]
    cell_maps.pca(cells, 2)
    assert not cells.varm["PCs"][[1, 4]].any()
    assert cells.uns["pca"]["params"]["mask_var"] == "highly_variable"
    cell_maps.pca(cells, 2, mask_var=None)
    assert np.allclose(cells.uns["pca"]["variance"], first)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda cells: cell_maps.pca(cells.X), "must be an AnnData; it is of type ndarray"),
        (lambda cells: cell_maps.pca(cells, layer="counts"), "layer='counts' is not in layers"),
        (lambda cells: cell_maps.pca(cells, mask_var="hvg"), "no column of var"),
        (lambda cells: cell_maps.pca(cells, mask_var=[1, 0]), "for each of 5 genes"),
        (lambda cells: cell_maps.tsne(cells, use_rep="X_umap"), "which holds 'X_pca'; compute"),
        (lambda cells: cell_maps.isomap(cells, neighbors_key="neighbors"), "not in uns"),
        (
            lambda cells: cell_maps.eigenmaps(cells, weights="precomputed"),
            "weights='precomputed' takes connectivities as weights; .* neighbors_key='neighbors'",
        ),
        (lambda cells: cell_maps.audit(cells), "basis='X_umap' is not in obsm"),
        (lambda cells: cell_maps.extend(cells, cells, "isomap"), "no map of dualfold.anndata"),
        (
            lambda cells: cell_maps.record_search(cells, cell_maps.KnnTransformer(5)),
            "has searched nothing",
        ),
        (
            lambda cells: cell_maps.record_search(cells, cell_maps.KnnTransformer(5).fit(cells.X)),
            "neighbors_key='neighbors' is not in uns",
        ),
    ],
)
def test_what_is_missing_is_named(call, said) -> None:
    with pytest.raises(InvalidInput, match=said):
        call(_cells())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_cells_with_missing_numbers_are_named(kind) -> None:
    cells = _cells()
    rows = np.array(cells.X)
    rows[[3, 7], 1] = np.nan, np.inf
    cells.obsm["X_pca"] = kind(rows)
    said = "use_rep='X_pca' holds missing or infinite numbers for 2 cells, first for '3'"
    with pytest.raises(InvalidInput, match=said):
        cell_maps.tsne(cells)
    cells.X = kind(rows)
    with pytest.raises(InvalidInput, match="X holds missing or infinite numbers for 2 cells"):
        cell_maps.pca(cells)


def test_rows_in_a_sparse_entry_are_mapped_as_others() -> None:
    dense, sparse = _cells(), _cells()
    sparse.obsm["X_pca"] = sp.csr_matrix(sparse.obsm["X_pca"])
    for cells in (dense, sparse):
        cell_maps.isomap(cells, n_neighbors=8)
    assert np.array_equal(dense.obsm["X_isomap"], sparse.obsm["X_isomap"])
