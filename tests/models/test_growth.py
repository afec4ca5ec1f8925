"""Stored models that grow: what was added comes back with its bits, and goes on growing."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import swiss_roll
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.saved import load_model, model_of, rechecked_model, save_model, updated_map_of
from tests.robustness.forgeries import SPARSE

X = swiss_roll(150, random_state=0).points
NEW, MORE = X[100:130], X[130:]
OLD = X[:100]
WITHOUT = [0, 7, 99, 110]
METHODS = {
    "pca": dualfold.PCA(2),
    "isomap": dualfold.Isomap(n_neighbors=8),
    "landmarks": dualfold.Isomap(n_neighbors=8, landmarks=30),
    "eigenmaps": dualfold.LaplacianEigenmaps(n_neighbors=8, weights="heat"),
    "diffusion": dualfold.DiffusionMaps(n_neighbors=8),
    "lle": dualfold.LocallyLinearEmbedding(n_neighbors=8),
    "lle of landmarks": dualfold.LocallyLinearEmbedding(n_neighbors=8, landmarks=60),
    "kernel pca": dualfold.KernelPCA(2, kernel="rbf"),
    "lpp": dualfold.LocalityPreservingProjection(2),
    "tsne": dualfold.TSNE(perplexity=8, max_iter=250),
}
KEEPS_NO_ROWS = ("pca", "lpp")


def stored_and_read(grown, folder):
    """The model of a map, once it was a file; the second file has the same bytes."""
    paths = folder / "one.dualfold", folder / "two.dualfold"
    save_model(paths[0], model_of(grown), overwrite=True)
    model = load_model(paths[0])
    save_model(paths[1], model, overwrite=True)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    return model


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: one.fit(OLD) for name, one in METHODS.items()}


def assert_same_map(ours, theirs, rtol=0.0):
    for name in ("embedding_", "batch_", "rows"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        scale = rtol * np.abs(mine).max()
        np.testing.assert_allclose(mine, other, rtol=0, atol=scale, strict=True)
    if ours.graph_ is not None:
        np.testing.assert_array_equal(ours.growth.graph_rows, theirs.growth.graph_rows)


@pytest.mark.parametrize("name", METHODS)
def test_what_grew_comes_back_with_its_bits_and_grows_again(fitted, name, tmp_path):
    old = OLD if name in KEEPS_NO_ROWS else None
    grown = fitted[name].extend(NEW, old=old)
    grown = grown.extend(without=[row for row in WITHOUT if row < grown.n_rows])
    again = updated_map_of(stored_and_read(grown, tmp_path), old)
    assert_same_map(grown, again)
    assert again.staleness_.level == grown.staleness_.level
    np.testing.assert_allclose(again.staleness_.gap, grown.staleness_.gap, rtol=1e-3)
    assert again.new_rows_.to_dict() == grown.new_rows_.to_dict()
    further = [one.extend(MORE, without=[3]) for one in (grown, again)]
    assert_same_map(*further, rtol=1e-12)  # sums of arrays in another order in memory
    assert_same_map(further[1], updated_map_of(stored_and_read(further[1], tmp_path), old))


@pytest.mark.parametrize("name", ["isomap", "lle of landmarks", "pca"])
def test_a_map_that_was_fitted_again_is_stored_and_judged(fitted, name, tmp_path):
    old = OLD if name in KEEPS_NO_ROWS else None
    grown = fitted[name].extend(NEW, old=old)
    from_file = updated_map_of(stored_and_read(grown, tmp_path), old).refit()
    rows = grown.rows
    for again in (grown.refit(), from_file):
        model = stored_and_read(again, tmp_path)
        np.testing.assert_array_equal(model.transform(MORE), again.transform(MORE))
        judged = rechecked_model(model, rows)
        assert judged.level == "proved"
        assert "turned and moved" in str(judged)
        assert_same_map(again, updated_map_of(model, rows if old is not None else None))


def test_a_grown_model_is_judged_by_the_rows_that_were_fitted(fitted):
    model = model_of(fitted["isomap"].extend(NEW, without=[4]))
    judged = rechecked_model(model, OLD)
    assert judged.level == "proved"
    assert "not about 30 rows added and 1 taken away later" in str(judged)
    assert rechecked_model(model, OLD + 0.1 * np.sin(OLD)).level == "failed"


def test_a_map_that_keeps_no_rows_asks_for_the_right_ones(fitted):
    model = model_of(fitted["pca"].extend(NEW, old=OLD))
    with pytest.raises(InvalidInput, match="keeps no rows"):
        updated_map_of(model)
    with pytest.raises(InvalidInput, match=r"has 99 rows; the map was made of 100"):
        updated_map_of(model, OLD[:99])
    with pytest.raises(DamagedFile, match="not those of its map"):
        updated_map_of(model, OLD[::-1])
    plain = replace(model_of(fitted["pca"]), reference=OLD.astype(np.float32)[:100])
    with pytest.raises(InvalidInput, match="other rows"):
        updated_map_of(plain, OLD[::-1])


def test_sparse_rows_and_mixed_tables_grow(tmp_path):
    sparse = dualfold.LocallyLinearEmbedding(n_neighbors=8).fit(SPARSE[:50]).extend(SPARSE[50:])
    again = updated_map_of(stored_and_read(sparse, tmp_path))
    assert abs(again.rows - sparse.rows).max() == 0
    np.testing.assert_array_equal(again.embedding_, sparse.embedding_)
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 2] > 0, "up", "down")})
    mixed = dualfold.FAMD(2).fit(frame[:100]).extend(frame[100:120], old=frame[:100])
    assert mixed.staleness_.level == "unresolved"
    again = updated_map_of(stored_and_read(mixed, tmp_path), frame[:100])
    assert_same_map(mixed.extend(frame[120:]), again.extend(frame[120:]))
    with pytest.raises(InvalidInput, match="its problem needs the table"):
        again.refit()


def test_weights_are_remembered(tmp_path):
    weighted = dualfold.PCA(2).fit(OLD, sample_weight=np.arange(1.0, 101.0)).extend(NEW, old=OLD)
    again = updated_map_of(stored_and_read(weighted, tmp_path), OLD)
    assert again.staleness_.level == "unresolved"
    assert "weights" in again.staleness_.reasons[0]
    with pytest.raises(InvalidInput, match="fitted with weights"):
        again.refit()


def changed(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


GROWN_TWICE = dualfold.Isomap(n_neighbors=8).fit(OLD).extend(NEW, without=[2]).extend(MORE)
GROWTH = model_of(GROWN_TWICE).growth
FORGED = {
    "'growth_source' has shape": {"source": GROWTH.source[:-1]},
    "'growth_source' has entries above": {"source": changed(GROWTH.source, 0, 100)},
    "or one of them twice": {"source": changed(GROWTH.source, 0, 1)},
    "'growth_rows' has shape": {"rows": GROWTH.rows[1:]},
    "'growth_rows' has entries that are no numbers": {"rows": changed(GROWTH.rows, 3, np.nan)},
    "'growth_points' has shape": {"points": GROWTH.points[:, :1]},
    "'growth_batch' has entries as low as -1": {"batch": changed(GROWTH.batch, 0, -1)},
    "not in the order in which they came": {"batch": changed(GROWTH.batch, -1, 1)},
    "its map holds 100 rows, and it states 90": {"n_fitted": 90},
    "rows of its graph are named twice": {"graph_rows": changed(GROWTH.graph_rows, 1, 0)},
    "the places of its rows are not those": {"points": changed(GROWTH.points, 120, 5.0)},
    "the places of its rows are not": {"points": changed(GROWTH.points, 3, -9.0)},
}


@pytest.mark.parametrize("said", FORGED)
def test_forged_growth_is_refused_in_words(said, tmp_path):
    forged = replace(model_of(GROWN_TWICE), growth=replace(GROWTH, **FORGED[said]))
    save_model(tmp_path / "forged.dualfold", forged)
    with pytest.raises(DamagedFile) as refused:
        updated_map_of(load_model(tmp_path / "forged.dualfold"))
    assert said in str(refused.value)
