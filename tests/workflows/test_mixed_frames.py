"""Data frames with categories are taken by what judges and shows a map, as FAMD takes them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import prepare
from tests.workflows.door import PLAIN_READING

N = 120


@pytest.fixture(scope="module")
def shops():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    frame = pd.DataFrame({"size": size, "sold": 1000 * size + rng.normal(0, 300, N)})
    frame["kind"] = pd.Categorical(np.where(size > 0, "grocer", rng.choice(["cafe", "bar"], N)))
    frame["open"] = rng.random(N) > 0.3
    return frame


@pytest.fixture(scope="module")
def model(shops):
    return dualfold.FAMD().fit(shops)


def test_measures_take_categories_as_prepare_does(shops, model):
    X, Y = prepare(shops, PLAIN_READING).X, model.embedding_
    found = dualfold.quality.report(shops, Y)
    assert found.measures == dualfold.quality.report(X, Y).measures
    assert dualfold.trustworthiness(shops, Y) == dualfold.trustworthiness(X, Y)
    polars = pytest.importorskip("polars", reason="needs polars")
    assert dualfold.quality.report(polars.from_pandas(shops), Y).measures == found.measures


def test_frames_of_numbers_are_measured_as_they_are(shops):
    numbers = shops[["size", "sold"]]
    Y = numbers.to_numpy()[:, :1]
    ours = dualfold.quality.report(numbers, Y).measures
    assert ours == dualfold.quality.report(numbers.to_numpy(), Y).measures


def test_a_page_shows_them(shops, model):
    shown = dualfold.view.page(model, shops)
    assert "grocer" in shown.html
    assert "FAMD" in shown.html


def test_loadings_of_famd_are_correlations_of_its_numbers(shops, model):
    table = model.loadings_frame()
    assert {"size", "sold", "kind=cafe", "open"} <= {name.split("=True")[0] for name in table.index}
    for column in ("size", "sold"):
        for axis in range(2):
            found = np.corrcoef(shops[column], model.embedding_[:, axis])[0, 1]
            assert table.iloc[list(table.index).index(column), axis] == pytest.approx(found)
    level = (shops["kind"] == "cafe").to_numpy()
    axes = model.embedding_ / model.embedding_.std(axis=0)
    covariances = (level - level.mean()) @ axes / N / np.sqrt(level.mean())
    np.testing.assert_allclose(table.loc["kind=cafe"], covariances, atol=1e-12)
