"""Neighbours and projections over partitions, measures on a sample, tables out."""

import json

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zarr

import dualfold
from dualfold import (
    PCA,
    LocalityPreservingProjection,
    NeighborhoodPreservingProjection,
    OrthogonalLPP,
    scale,
)
from dualfold.errors import InvalidInput
from dualfold.graph import nearest
from dualfold.scale import TileFailed, kept_neighbors, neighbors, standardized, table, write
from tests.scale.door import median_tree, nearest_of
from tests.scale.tiled_tables import NAMES, WIDTH, N, frame, in_parquet, points, uneven


def surface(n=4_000, width=6):
    """A curved sheet with noise, and a clump of copies."""
    rng = np.random.default_rng(3)
    X = np.sin(rng.random((n, 2)) @ rng.standard_normal((2, width)) * 3)
    X += 0.01 * rng.standard_normal(X.shape)
    X[50:80] = X[50]
    return X


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_exact_lists_over_partitions_are_those_in_memory(dtype):
    X = surface().astype(dtype)
    found = neighbors(da.from_array(X, chunks=(700, 6)), 8, partition_rows=500, search="exact")
    whole = nearest(X, 8)
    np.testing.assert_array_equal(found.indices, whole.indices)
    np.testing.assert_array_equal(found.distances, whole.distances)
    assert found.search.exact
    assert "every row proved" in found.search.sentence()


def test_approximate_lists_say_how_many_they_found(tmp_path):
    X = np.random.default_rng(0).standard_normal((3_000, 10))
    lazy = da.from_array(X, chunks=(700, 10))
    found = neighbors(lazy, 5, partition_rows=400, search="approximate", folder=tmp_path / "lists")
    true = nearest(X, 5).indices
    recall = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(found.indices, true, strict=True)])
    low, high = found.search.recall_interval
    assert low - 0.02 <= recall <= high + 0.02
    assert not found.search.exact
    assert {one.name for one in (tmp_path / "lists").iterdir()} == {"indices.npy", "distances.npy"}
    # Noise in ten columns: no bound excludes anything, and "auto" sees it.
    assert not neighbors(lazy, 5, partition_rows=400).search.exact
    with pytest.raises(InvalidInput, match="n_neighbors=3000"):
        neighbors(lazy, 3_000)


def copies(rng):
    X = rng.standard_normal((1_500, 4))
    X[:1_000] = X[0]
    return X


def far_away(rng):
    """Cells of three and two rows: fewer than neighbours are asked for."""
    far = 1e3 + 1e-3 * rng.standard_normal((3, 4)), rng.standard_normal((2, 4)) - 1e4
    return np.concatenate([rng.standard_normal((1_500, 4)), *far])


AWKWARD = {
    "copies": copies,
    "far away": far_away,
    "one point": lambda rng: np.zeros((800, 3)),
    "clumps": lambda rng: np.concatenate(
        [10.0**-size * rng.standard_normal((250, 6)) + size for size in range(8)]
    ),
    "large units": lambda rng: 1e140 * rng.standard_normal((1_000, 5)),
    "in order": lambda rng: np.sort(rng.random((1_501, 1)), axis=0) * np.ones(4),
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", AWKWARD)
def test_cells_of_awkward_tables(kind, seed):
    """Lists are whole and their distances true; the recall is what brute force finds."""
    X = AWKWARD[kind](np.random.default_rng(seed))
    lazy = da.from_array(X, chunks=(313, X.shape[1]))
    found = neighbors(lazy, 5, search="approximate", partition_rows=120, random_state=seed)
    indices, distances = np.asarray(found.indices), np.asarray(found.distances)
    assert (indices < len(X)).all()
    assert (indices != np.arange(len(X))[:, None]).all()
    assert (np.diff(np.sort(indices, axis=1)) > 0).all()
    apart = np.linalg.norm(X[:, None] - X[indices], axis=2)
    np.testing.assert_allclose(distances, apart, rtol=1e-12)
    recall = (distances <= nearest(X, 5).distances[:, -1:]).mean()
    low, high = found.search.recall_interval
    assert low - 0.02 <= recall <= high + 0.02
    assert recall > 0.9


def test_more_cells_where_more_recall_is_asked_for():
    X = da.from_array(np.random.default_rng(0).random((3_000, 6)), chunks=(700, 6))
    recalls = [
        neighbors(X, 5, search="approximate", partition_rows=200, recall=asked).search.recall
        for asked in (0.5, 0.999)
    ]
    assert recalls[0] + 0.01 < recalls[1]


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_what_is_wrong_with_a_search_is_said(search):
    X = surface(1_000)
    X[507, 2] = np.inf
    lazy = da.from_array(X, chunks=(200, 6))
    with pytest.raises(TileFailed, match=r"block 2 of 5: .*row 107"):
        neighbors(lazy, 5, search=search, partition_rows=200)
    with pytest.raises(InvalidInput, match="whole number"):
        neighbors(lazy, 5.0, search=search)
    with pytest.raises(InvalidInput, match=r"recall=1\.5 is no share"):
        neighbors(lazy, 5, search=search, recall=1.5)


def test_a_tree_halves_its_rows():
    X = surface()
    counts = np.bincount(median_tree(X, 3).of(X)[:, 0], minlength=8)
    assert counts.sum() == len(X)
    assert counts.max() < 1.1 * len(X) / 8


@pytest.mark.parametrize(
    "method", [LocalityPreservingProjection, OrthogonalLPP, NeighborhoodPreservingProjection]
)
def test_projections_in_two_passes(method):
    X = pd.DataFrame(surface(1_500), columns=list("abcdef"))
    lazy = dd.from_pandas(X, npartitions=4)
    whole, tiled = method(n_neighbors=8).fit(X), method(n_neighbors=8).fit(lazy)
    np.testing.assert_allclose(tiled.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    size = np.abs(whole.components_).max()
    np.testing.assert_allclose(tiled.components_, whole.components_, atol=1e-8 * size)
    np.testing.assert_allclose(
        tiled.transform(lazy).compute(), whole.transform(X), atol=1e-7 * size
    )
    assert tiled.certificate_.level == "proved"


def test_kept_neighbors_on_a_sample_against_all_rows():
    X = points()
    Y = PCA(n_components=2).fit_transform(X)
    lazy = uneven(X)
    some = np.array([0, 17, 2_999])
    found = nearest_of(table(lazy), some, 7)
    whole = nearest(X, 7)
    np.testing.assert_array_equal(found[0], whole.indices[some])
    np.testing.assert_array_equal(found[1], whole.distances[some])
    every = kept_neighbors(lazy, da.from_array(Y, chunks=400), 10, sample=N)
    assert every == pytest.approx(dualfold.t_similarity(X, Y, 10), abs=1e-12)
    drawn = kept_neighbors(lazy, da.from_array(Y, chunks=400), 10, sample=500)
    assert drawn.low <= every <= drawn.high


def test_standardising_stays_lazy():
    X = frame().assign(flat=3.0)
    lazy, standard = standardized(table(dd.from_pandas(X, npartitions=3)))
    found = lazy.collection.compute()
    np.testing.assert_allclose(found[NAMES].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(found[NAMES].std(ddof=0), 1, rtol=1e-12)
    assert not found["flat"].any()
    np.testing.assert_allclose(standard.mean, X.mean(), rtol=1e-12)


def test_tables_out_and_in_again(tmp_path):
    X = frame()
    model = PCA(n_components=2).fit(X)
    expected = model.transform(X)
    parts = in_parquet(X, tmp_path)
    lazy = model.transform(parts)
    assert write(lazy, tmp_path / "out.parquet", metadata={"a": 1}) == N
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "out.parquet"), expected, rtol=1e-12)
    assert json.loads((tmp_path / "out.parquet" / "_dualfold.json").read_text()) == {"a": 1}
    even = da.from_array(X.to_numpy(), chunks=(1_000, 12))
    model = PCA(n_components=2).fit(X.to_numpy())
    assert write(model.transform(even), tmp_path / "out.zarr") == N
    np.testing.assert_allclose(zarr.open_array(str(tmp_path / "out.zarr"))[:], expected, rtol=1e-12)
    with pytest.raises(InvalidInput, match="exists already"):
        write(lazy, tmp_path / "out.parquet")
    with pytest.raises(InvalidInput, match="must end with"):
        write(lazy, tmp_path / "out.csv")
    assert write(lazy, tmp_path / "out.parquet", overwrite=True) == N


def test_what_fails_leaves_nothing_behind(tmp_path):
    def late(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 3:
            raise ValueError("damaged")
        return block

    lazy = da.from_array(points(), chunks=(500, 12)).map_blocks(late, dtype=float)
    (tmp_path / "kept.parquet").mkdir()
    before = sorted(tmp_path.iterdir())
    with pytest.raises((ValueError, TileFailed), match="damaged"):
        write(lazy, tmp_path / "out.parquet")
    with pytest.raises((ValueError, TileFailed), match="damaged"):
        write(lazy, tmp_path / "kept.parquet", overwrite=True)
    assert sorted(tmp_path.iterdir()) == before


RNG = np.random.default_rng(0)
POINTS, NEW_POINTS = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_approximate_lists_of_few_rows_are_exact():
    da = pytest.importorskip("dask.array")
    found = scale.neighbors(da.from_array(POINTS, chunks=(15, 3)), 4, search="approximate")
    assert found.search.recall == 1
    np.testing.assert_allclose(found.distances, nearest(POINTS, 4).distances, rtol=1e-12)


dask_array = pytest.importorskip("dask.array")


X = np.random.default_rng(0).normal(size=(30, 3))


def tiles(rows=X, height=10):
    return dask_array.from_array(rows, chunks=(height, rows.shape[1]))


def test_exact_lists_of_rows_with_many_copies():
    """Cuts cannot part copies: some partitions are empty, others hold a single row."""
    rows = np.vstack([np.zeros((60, 3)), X, [[50.0, 0.0, 0.0]]])
    found = scale.neighbors(tiles(rows, 13), 4, search="exact", partition_rows=16)
    assert found.search.exact
    np.testing.assert_allclose(found.distances, nearest(rows, 4).distances, rtol=1e-12)


def test_blocks_of_sparse_matrices():
    X = points()
    X[np.abs(X) < np.median(np.abs(X))] = 0
    blocks = da.from_array(X, chunks=(700, WIDTH)).map_blocks(sp.csr_matrix)
    whole, tiled = PCA(n_components=2).fit(X), PCA(n_components=2).fit(blocks)
    # Sparse scatter is XᵀX − n·mmᵀ: it loses what the squares of the means have beside it.
    lost = 1e-14 * np.square(X).sum(axis=1).mean() / whole.eigenvalues_.min()
    np.testing.assert_allclose(tiled.eigenvalues_, whole.eigenvalues_, rtol=lost)
    np.testing.assert_allclose(tiled.transform(blocks).compute(), whole.transform(X), atol=1e-8)
    found = neighbors(blocks, 5, search="exact", partition_rows=500)
    np.testing.assert_array_equal(found.indices, nearest(X, 5).indices)
