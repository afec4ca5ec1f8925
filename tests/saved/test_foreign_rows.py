"""New rows of a model: those unlike its own rows are called foreign, others are not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.data import read_metadata
from dualfold.saved import (
    ForeignRows,
    judged_rows,
    kept_rows,
    load_model,
    model_of,
    old_rows,
    save_model,
)
from tests.cli.command_line import run

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("n", [10, 60, 500])
def test_many_new_rows_against_few_old_ones_raise_no_alarm(n):
    """Exchangeable scores: all new rows share the old ones, so counts are not binomial."""
    rng = np.random.default_rng(n)
    alarms = 0
    for _ in range(1_000):
        old, new = np.sort(rng.random(n)), rng.random(2_000)
        p = (1 + n - np.searchsorted(old, new)) / (n + 1)
        alarms += ForeignRows(p, n).more_than_chance
    assert alarms <= 25  # 10 are expected at the most; five standard deviations more
    assert n < 20 or ForeignRows(np.full(100, 1 / (n + 1)), n).more_than_chance


def test_rows_that_a_model_keeps():
    """Of sparse rows none; of very many some are asked; a map's own units count."""
    assert kept_rows(sp.csr_array(X)) is None
    many = np.random.default_rng(1).normal(size=(20_001, 3))
    model = model_of(dualfold.LocallyLinearEmbedding(n_neighbors=6, landmarks=100).fit(X))
    wide = replace(model, map=replace(model.map, features=many))
    assert len(old_rows(wide)[0]) == 20_000
    scaled = X * [1, 1, 1e6]
    standard = model_of(dualfold.PCA(n_components=2, standardize=True).fit(scaled))
    standard = replace(standard, reference=scaled)
    far, near = judged_rows(standard, scaled + np.array([100, 0, 0])), judged_rows(standard, scaled)
    assert far.count == 30  # by the columns as they are 1e6 would hide it
    assert not near.more_than_chance


@pytest.mark.parametrize("method", ["pca", "isomap", "lle"])
def test_a_species_that_was_never_seen_is_foreign(method, tmp_path, monkeypatch):
    """A group beside the old ones, nearer than the farthest old row from its neighbours."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "unused"]

    def table(n, middle, spread, where):
        X = np.column_stack([middle + spread * rng.standard_normal((n, 3)), rng.uniform(size=n)])
        pd.DataFrame(X, columns=names).to_csv(where, index=False)
        return X

    old = np.vstack([table(150, 0, 1, "old.csv"), [[9, 9, 9, 0.5]], table(40, -9, 1, "old.csv")])
    pd.DataFrame(old, columns=names).to_csv("old.csv", index=False)
    table(50, 4.5, 0.5, "other.csv"), table(50, 0, 1, "same.csv")
    options = ("--exclude", "unused", "--standardize")
    run("embed", "old.csv", "-m", method, *options, "--save-model", "m.dualfold")
    told = run("transform", "m.dualfold", "other.csv", "-p", "other.svg", "-o", "other.placed.csv")
    assert "of 50 new rows are foreign" in told.stderr
    assert read_metadata("other.placed.csv")["foreign"]["share"] > 0.9
    assert (pd.read_csv("other.placed.csv")["p_value"] <= 0.05).sum() >= 46
    # The next command reads the file as the model read its own.
    assert "Try next:  dualfold report other.csv other.placed.csv" in told.stderr
    assert "--exclude unused --standardize" in told.stderr
    told = run("transform", "m.dualfold", "same.csv")
    assert "The 50 new rows lie among the old ones" in told.stderr
    assert read_metadata("same.placed.csv")["foreign"]["share"] < 0.1


def test_a_model_keeps_rows_that_certify_compares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.standard_normal((60, 3)), columns=[*"abc"]).to_csv("t.csv", index=False)
    run("embed", "t.csv", "--save-model", "m.dualfold")
    model = load_model("m.dualfold")
    assert model.reference.shape == (60, 3)
    assert "Proved" in run("certify", "t.csv", "m.dualfold").stderr
    forged = model.reference.copy()
    forged[7, 1] += 0.5
    save_model("forged.dualfold", replace(model, reference=forged))
    assert "rows that the model keeps" in run("certify", "t.csv", "forged.dualfold", code=3).stderr
    save_model("bare.dualfold", replace(model, reference=None))
    assert "could not be judged" in run("transform", "bare.dualfold", "t.csv").stderr
