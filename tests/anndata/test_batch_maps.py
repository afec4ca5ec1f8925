"""Maps of batches are those of AlignedMaps, along links that are called an assumption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dualfold import AlignedMaps
from dualfold import anndata as cell_maps
from dualfold.errors import InvalidInput
from tests.anndata.door import mutual_nearest

anndata = pytest.importorskip("anndata", reason="needs anndata: pip install 'dualfold[h5ad]'")


def _two_batches(n: int = 120) -> Any:
    """One sheet of cells; the second batch is shifted as a whole."""
    draw = np.random.default_rng(0)
    rows = np.column_stack([3 * draw.uniform(size=n), draw.uniform(size=n), np.zeros(n)])
    batch = draw.permutation(n) % 2
    rows[:, 2] += 0.3 * batch
    cells = anndata.AnnData(rows)
    cells.obs["batch"] = np.array(["b", "a"])[batch]
    return cells


def test_links_are_all_pairs_that_are_nearest_both_ways() -> None:
    draw = np.random.default_rng(1)
    one, other = draw.normal(size=(30, 3)), draw.normal(size=(20, 3))
    lengths = np.linalg.norm(one[:, None] - other[None], axis=2)
    forth = lengths.argsort(axis=1).argsort(axis=1) < 4
    back = lengths.argsort(axis=0).argsort(axis=0) < 4
    found = {(int(row), int(partner)) for row, partner in mutual_nearest(one, other, 4)}
    assert found == {(int(i), int(j)) for i, j in np.argwhere(forth & back)}


def test_maps_are_those_of_the_estimator_and_linked_cells_come_near(tmp_path: Path) -> None:
    cells = _two_batches()
    before = cells.X.copy()
    cell_maps.aligned_maps(cells, "batch", use_rep="X", mu=1.0)
    assert np.array_equal(cells.X, before)
    parts = [cells.X[(cells.obs["batch"] == name).to_numpy()] for name in ("a", "b")]
    alone = AlignedMaps(mu=1.0).fit(parts, links=[mutual_nearest(*parts, 5)])
    for name, points in zip(("a", "b"), alone.embeddings_, strict=True):
        assert np.array_equal(
            cells.obsm["X_aligned_maps"][(cells.obs["batch"] == name).to_numpy()], points
        )
    cell_maps.aligned_maps(cells, "batch", use_rep="X", mu=0.0, key_added="apart")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    stored = anndata.read_h5ad(tmp_path / "cells.h5ad").uns
    assert stored["aligned_maps"]["movement"][0] < stored["apart"]["movement"][0]
    assert stored["aligned_maps"]["assumption"].startswith("assumed, not tested")
    assert list(stored["aligned_maps"]["batches"]) == ["a", "b"]


def test_batches_that_cannot_be_linked_are_refused_with_a_reason() -> None:
    cells = _two_batches(40)
    with pytest.raises(InvalidInput, match="is no column of obs"):
        cell_maps.aligned_maps(cells, "donor", use_rep="X")
    with pytest.raises(InvalidInput, match="at least 1"):
        cell_maps.aligned_maps(cells, "batch", use_rep="X", n_links=0)
    cells.obs["batch"] = cells.obs["batch"].astype("category")
    cells.obs.iloc[0, 0] = None
    with pytest.raises(InvalidInput, match="missing for 1 cell; drop"):
        cell_maps.aligned_maps(cells, "batch", use_rep="X")
    cells.obs["batch"] = "one"
    with pytest.raises(InvalidInput, match="two batches or more apart; all cells are of 'one'"):
        cell_maps.aligned_maps(cells, "batch", use_rep="X")
    cells.obs["batch"] = ["rare"] * 2 + ["rest"] * (cells.n_obs - 2)
    with pytest.raises(InvalidInput, match="needs 3 cells or more in each batch; 'rare' has 2"):
        cell_maps.aligned_maps(cells, "batch", use_rep="X")
