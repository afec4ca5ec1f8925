"""Beside scanpy itself: pip install 'dualfold[scanpy]'."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import anndata as cell_maps
from dualfold import embed
from dualfold.methods import diffusion_maps
from tests.anndata.door import stored_graph

sc = pytest.importorskip("scanpy", reason="needs scanpy: pip install 'dualfold[scanpy]'")


def test_scanpy_takes_our_transformer_and_finds_its_own_neighbours() -> None:
    ours, theirs = sc.datasets.pbmc68k_reduced(), sc.datasets.pbmc68k_reduced()
    search = cell_maps.KnnTransformer(15)
    sc.pp.neighbors(ours, n_neighbors=15, transformer=search)
    cell_maps.record_search(ours, search)
    sc.pp.neighbors(theirs, n_neighbors=15, transformer="sklearn")
    assert ours.uns["neighbors"]["search"]["exact"]
    difference = ours.obsp["distances"] - theirs.obsp["distances"]
    assert abs(difference).max() < 1e-3
    weights = ours.obsp["connectivities"] - theirs.obsp["connectivities"]
    assert abs(weights).max() < 1e-3
    assert np.array_equal(ours.obsp["distances"].indptr, theirs.obsp["distances"].indptr)


def test_every_map_of_stored_neighbours_is_certified() -> None:
    cells = sc.datasets.pbmc68k_reduced()
    for make in (cell_maps.isomap, cell_maps.diffusion_maps, cell_maps.eigenmaps):
        make(cells, neighbors_key="neighbors")
        name = make.__name__
        assert cells.uns[name]["certificate"]["level"] == "proved"
        assert cells.obsm[f"X_{name}"].shape == (700, 2)


def test_diffmap_is_symmetrised_and_ours_are_its_right_eigenvectors_without_the_first() -> None:
    cells = sc.datasets.pbmc68k_reduced()
    sc.tl.diffmap(cells, n_comps=6)
    theirs, values = cells.obsm["X_diffmap"].astype(float), cells.uns["diffmap_evals"]
    weights = cells.obsp["connectivities"].toarray().astype(float)
    density = weights.sum(axis=0)
    kernel = weights / np.outer(density, density)
    degrees = kernel.sum(axis=0)
    symmetrised = kernel / np.sqrt(np.outer(degrees, degrees))
    assert np.allclose(symmetrised @ theirs, theirs * values, atol=1e-6)
    assert not np.allclose(kernel / degrees[:, None] @ theirs, theirs * values, atol=1e-3)
    assert np.allclose(abs(theirs[:, 0]), np.sqrt(degrees / degrees.sum()), atol=1e-5)
    graph = stored_graph(cells, "neighbors", affinities=True)
    ours = embed(diffusion_maps(graph, n_components=5, weights="precomputed", diffusion_time=0))
    assert np.allclose(1 - ours.values, values[1:], atol=1e-6)
    right = theirs[:, 1:] / np.sqrt(degrees)[:, None]
    for own, other in zip(ours.points.T, right.T, strict=True):
        assert abs(np.corrcoef(own, other)[0, 1]) > 1 - 1e-6


def test_maps_of_connectivities_are_those_of_diffmap_divided_by_the_roots_of_degrees() -> None:
    cells = sc.datasets.pbmc68k_reduced()
    sc.tl.diffmap(cells, n_comps=4)
    options = {"n_components": 3, "weights": "precomputed", "diffusion_time": 0}
    cell_maps.diffusion_maps(cells, neighbors_key="neighbors", **options)
    values = cells.uns["diffusion_maps"]["eigenvalues"]
    assert np.allclose(1 - values, cells.uns["diffmap_evals"][1:])
    right = cells.obsm["X_diffmap"][:, 1:] / cells.obsm["X_diffmap"][:, :1]
    for own, other in zip(cells.obsm["X_diffusion_maps"].T, right.T, strict=True):
        assert abs(np.corrcoef(own, other)[0, 1]) > 1 - 1e-5
    cell_maps.eigenmaps(cells, neighbors_key="neighbors", weights="precomputed")
    assert cells.uns["eigenmaps"]["certificate"]["level"] == "proved"
    assert "use_rep" not in cells.uns["eigenmaps"]["params"]


def test_components_are_those_of_scanpy_with_its_choice_of_genes() -> None:
    ours = sc.datasets.pbmc68k_reduced()
    ours.var["highly_variable"] = np.arange(ours.n_vars) % 3 > 0
    theirs = ours.copy()
    cell_maps.pca(ours, 5)
    sc.pp.pca(theirs, n_comps=5)
    assert np.array_equal(ours.varm["PCs"].any(axis=1), theirs.varm["PCs"].any(axis=1))
    bases = [np.linalg.qr(cells.varm["PCs"].astype(float))[0] for cells in (ours, theirs)]
    assert np.linalg.svd(bases[0].T @ bases[1])[1].min() > 1 - 1e-6
    assert np.allclose(ours.uns["pca"]["variance"], theirs.uns["pca"]["variance"], rtol=1e-4)
