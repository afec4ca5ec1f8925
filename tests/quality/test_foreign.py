"""New rows: p-values that hold by simulation, and what `transform` says of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dualfold.data import read_metadata
from dualfold.errors import InvalidInput
from dualfold.quality import conformal_p_values
from dualfold.saved import ForeignRows, load_model, save_model
from tests.cli.command_line import run

DRAWS = {
    "normal": lambda n, rng: rng.standard_normal((n, 4)),
    "heavy tails": lambda n, rng: np.exp(1.5 * rng.standard_normal((n, 4))),
    "a thin group": lambda n, rng: (
        rng.standard_normal((n, 2)) * 10.0 ** (rows := rng.integers(0, 2, (n, 1))) + 80 * rows
    ),
    "repeated rows": lambda n, rng: rng.integers(0, 3, (n, 3)).astype(float),
}


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


@pytest.mark.parametrize("name", DRAWS)
def test_rows_drawn_as_the_old_ones_are_rarely_foreign(name):
    rng = np.random.default_rng(0)
    draw = DRAWS[name]
    p = np.concatenate([conformal_p_values(draw(150, rng), draw(50, rng)) for _ in range(40)])
    # 2,000 p-values: ±0.015 is three standard deviations of independent ones; they are not quite.
    assert np.mean(p <= 0.05) <= 0.07
    assert np.mean(p <= 0.2) <= 0.24
    if name != "repeated rows":  # there many tie, and ties count against foreign
        assert np.mean(p <= 0.05) >= 0.03
        assert np.mean(p <= 0.2) >= 0.12  # in two dimensions they are too large, as stated


def test_it_is_the_count_over_rows_one_by_one():
    rng = np.random.default_rng(1)
    old, new, k = rng.standard_normal((30, 2)), rng.standard_normal((5, 2)) + 1, 3
    between = np.linalg.norm(old[:, None] - old, axis=2)
    np.fill_diagonal(between, np.inf)
    order = np.argsort(between, axis=1)[:, :k]
    reach = np.sort(between, axis=1)[:, k - 1]
    scores = reach / reach[order].mean(axis=1)
    for x, p in zip(new, conformal_p_values(old, new, n_neighbors=k), strict=True):
        far = np.linalg.norm(old - x, axis=1)
        mine = np.sort(far)[k - 1] / reach[np.argsort(far)[:k]].mean()
        assert p == (1 + np.sum(scores >= mine)) / 31
    with pytest.raises(InvalidInput, match="n_neighbors"):
        conformal_p_values(old, new, n_neighbors=30)


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
