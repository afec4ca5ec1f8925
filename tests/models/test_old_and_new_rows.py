"""New rows of a model: those unlike its own rows are called foreign, others are not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.saved import judged_rows, load_model, model_of, save_model
from tests.cli.command_line import run
from tests.data.door import read_metadata
from tests.quality.door import ForeignRows

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
    assert alarms <= 85  # 50 are expected at the most; five standard deviations more
    assert ForeignRows(np.full(100, 1 / (n + 1)), n).more_than_chance


@pytest.mark.parametrize("kind", [dualfold.PCA, dualfold.Isomap])
@pytest.mark.parametrize(("n", "m"), [(15, 1), (38, 1), (39, 1), (12, 30), (90, 1), (90, 40)])
def test_rows_a_million_deviations_away_are_never_called_near(kind, n, m):
    """Foreign where the arithmetic of ranks can say so; else the distance leads."""
    old = np.random.default_rng(n).standard_normal((n, 3))
    model = replace(model_of(kind(n_components=2, **few(kind)).fit(old)), reference=old)
    found = judged_rows(model, np.full((m, 3), 1e6))
    apart = np.linalg.norm(old[:, None] - old, axis=2)[np.triu_indices(n, 1)]
    away = np.linalg.norm(old - 1e6, axis=1).min() / np.median(apart)
    np.testing.assert_allclose(found.distances, away, rtol=1e-9)
    # One row is as far out as any can be with a chance of 1/(n + 1); half of 0.05 must hold that.
    assert found.more_than_chance == (n >= 39 or m > 1)
    said = str(found)
    assert f"{away:.2g} spreads away" in said
    assert ("no p-value is below" in said) == (n < 39)
    foreign = "The new row is foreign" if m == 1 else f"{m} of {m} new rows are foreign"
    first = foreign if found.more_than_chance else "The new row is more than 10 times as far"
    assert said.startswith(first)
    assert "1 new row lie" not in said
    assert "1 new rows" not in said
    assert found.to_dict()["largest_distance"] == pytest.approx(away)


def few(kind):
    return {"n_neighbors": 5} if kind is dualfold.Isomap else {}


def test_one_far_row_among_others_leads_what_is_said():
    """Of 60 old rows none can show one foreign row among 50: the fact stands first instead."""
    rng = np.random.default_rng(4)
    old, new = rng.standard_normal((60, 3)), rng.standard_normal((50, 3))
    new[7] = 1e6
    model = replace(model_of(dualfold.PCA(n_components=2).fit(old)), reference=old)
    assert str(judged_rows(model, new)).startswith("1 of 50 new rows is more than 10 times as far")
    many = ForeignRows(np.r_[np.linspace(0.06, 1, 49), 1 / 6_001], 6_000)
    assert many.chance_of_furthest == pytest.approx(50 / 6_050)  # of 6,050 places 50 are new
    assert str(many).startswith("1 of 50 new rows is foreign: 0 of 6,000 old rows are as far out")


def test_equal_old_rows_have_no_unit():
    model = model_of(dualfold.PCA(n_components=2).fit(X))
    model = replace(model, reference=np.ones((50, 3)))
    found = judged_rows(model, np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]))
    assert "distances from them have no unit" in str(found)
    assert found.to_dict()["largest_distance"] is None
    assert found.distances.tolist() == [0, np.inf]


def test_rows_that_a_model_keeps():
    """Of very many some are asked; a map's own units count."""
    many = np.random.default_rng(1).normal(size=(20_001, 3))
    model = model_of(dualfold.LocallyLinearEmbedding(n_neighbors=6, landmarks=100).fit(X))
    wide = replace(model, map=replace(model.map, features=many))
    assert judged_rows(wide, X).old_rows == 20_000
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
    assert "The number of rows far out is no sign of foreign rows" in told.stderr
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
