"""`dualfold transform`: new rows lie where the estimator puts them, or are refused by name."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.saved import load_model, save_model
from tests.cli.command_line import CLOUD, ROLL, exact_csv, run

ESTIMATORS = {
    "pca": lambda: dualfold.PCA(2),
    "isomap": lambda: dualfold.Isomap(n_neighbors=10),
    "eigenmaps": lambda: dualfold.LaplacianEigenmaps(coordinates="independent"),
    "lle": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10, coordinates="independent"),
    "lpp": lambda: dualfold.LocalityPreservingProjection(2),
}


@pytest.mark.parametrize("method", ESTIMATORS)
def test_transform_places_rows_as_the_estimator_does(here, method):
    words = ("--save-model", "m.dualfold", "-q", "--exclude", "when")
    run("embed", "roll.csv", "-m", method, *words)
    # another order, another column, and whole numbers where they may look like identifiers
    new = pd.DataFrame({"z": ROLL[:, 2], "extra": 1.5, "x": ROLL[:, 0], "y": ROLL[:, 1]})
    new.to_csv("new.csv", index=False)
    done = run("transform", "m.dualfold", "new.csv", "--json", "-q")
    found = exact_csv("new.placed.csv").drop(columns=["p_value", "distance"]).to_numpy()
    expected = ESTIMATORS[method]().fit(ROLL).transform(ROLL)
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-7 * np.abs(expected).max())
    assert json.loads(done.stdout)["rows"] == len(ROLL)


def test_transform_keeps_the_scale_and_the_means_of_the_old_rows(here):
    frame = pd.DataFrame(ROLL * [1, 50, 1], columns=["x", "y", "z"])
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "--standardize", "--save-model", "m.dualfold", "-q")
    gap = pd.DataFrame({"x": [np.nan, 3.0], "y": [40.0, 5.0], "z": [1.0, 2.0]})
    gap.to_csv("gap.csv", index=False)
    refused = run("transform", "m.dualfold", "gap.csv", "--missing", "raise", code=1)
    assert "--missing drop" in refused.stderr
    told = run("transform", "m.dualfold", "gap.csv").stderr
    assert "1 missing value was filled with the means of the model's own rows" in told
    filled = gap.fillna({"x": frame["x"].mean()}).to_numpy()
    scaled = (filled - frame.to_numpy().mean(axis=0)) / frame.to_numpy().std(axis=0)
    model = load_model("m.dualfold")
    expected = model.map.encode(scaled)
    placed = exact_csv("gap.placed.csv").drop(columns=["p_value", "distance"])
    np.testing.assert_allclose(placed.to_numpy(), expected, atol=1e-9)


def test_transform_of_rows_that_do_not_fit(here):
    words = ("--save-model", "m.dualfold", "-q", "--exclude", "when")
    run("embed", "roll.csv", "-m", "isomap", *words)
    pd.DataFrame(ROLL, columns=["X", "y", "z"]).to_csv("other.csv", index=False)
    wrong = run("transform", "m.dualfold", "other.csv", code=1)
    assert "the table lacks 1 column that is needed: 'x'" in wrong.stderr
    assert "no readable model" in run("transform", "roll.csv", "other.csv", code=1).stderr
    far = pd.DataFrame(ROLL[:3] + 1000, columns=["x", "y", "z"])
    far.to_csv("far.csv", index=False)
    assert "3 of 3 new rows are foreign" in run("transform", "m.dualfold", "far.csv").stderr


def test_rows_without_names_are_taken_in_the_models_order(here):
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    np.save("new.npy", CLOUD[:5])
    done = run("transform", "m.dualfold", "new.npy", "-o", "p.csv")
    assert "taken in the model's order" in done.stderr
    placed = np.loadtxt("p.csv", delimiter=",", skiprows=1)[:, -2:]
    known = np.loadtxt("m.csv", delimiter=",", skiprows=1)[:5, -2:]
    np.testing.assert_allclose(placed, known, atol=1e-12)
    assert (
        "names no label" in run("transform", "m.dualfold", "t.csv", "--color", "z", code=1).stderr
    )


def test_labels_of_new_rows_go_with_them(here):
    """Names and colours that were asked for, and the numbers of rows where some were left out."""
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    lines = [f"{row},w{place}" for place, row in enumerate((here / "t.csv").read_text().split())]
    (here / "new.csv").write_text("\n".join([lines[0].replace("w0", "who"), *lines[1:4]]) + "\n")
    run("transform", "m.dualfold", "new.csv", "--color", "who", "-o", "p.csv")
    assert (here / "p.csv").read_text().splitlines()[0].startswith("who,")
    gap = "\n".join([lines[0].replace("w0", "who"), ",1,2,x", *lines[1:4]]) + "\n"
    (here / "gap.csv").write_text(re.sub(r"w\d", "x", gap))  # names no row
    run("transform", "m.dualfold", "gap.csv", "--missing", "drop", "-o", "g.csv")
    head, first = (here / "g.csv").read_text().splitlines()[:2]
    assert head.startswith("row,")
    assert first.startswith("2,")


def test_rows_with_gaps_get_the_places_that_they_have_on_the_map(here):
    """New rows that are the old ones, also with gaps in numbers and categories, fall on these."""
    rng = np.random.default_rng(4)
    hidden = rng.standard_normal((80, 2))
    frame = pd.DataFrame(hidden @ rng.standard_normal((2, 5)), columns=list("abcde"))
    frame += 0.05 * rng.standard_normal(frame.shape)
    frame["kind"] = np.where(hidden[:, 0] > 0, "p", "q")
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    told = run("transform", "m.dualfold", "t.csv", "-o", "p.csv").stderr
    assert "filled in as those of the model's own rows" in told
    placed, known = (exact_csv(name).to_numpy()[:, -2:] for name in ("p.csv", "o.csv"))
    np.testing.assert_allclose(placed, known, atol=1e-8)
    run("transform", "m.dualfold", "t.csv", "-o", "q.csv", "--missing", "mean", "-q")
    assert np.abs(exact_csv("q.csv").to_numpy()[:, -2:] - known).max() > 0.1
    model = load_model("m.dualfold")
    run("certify", "t.csv", "m.dualfold")
    known = model.preparation.imputation
    for forged in (None, replace(known, components=2 * known.components)):
        preparation = replace(model.preparation, imputation=forged)
        save_model("forged.dualfold", replace(model, preparation=preparation), overwrite=True)
        doubted = run("certify", "t.csv", "forged.dualfold", code=None)
        assert "fills missing values in as the table does not" in doubted.output


def test_words_mean_for_new_rows_what_they_meant_for_the_old(here):
    """One row shows no frequency: what was decided for the map is stored with it."""
    rng = np.random.default_rng(0)
    old = pd.DataFrame(
        {
            "bags": rng.choice(["Driver", "Both", "None"], 60),
            "price": [f"${1000 * value:,.2f}" for value in rng.uniform(1, 9, 60)],
            "size": ["rotary" if i == 7 else f"{i % 9}" for i in range(60)],
            "v": rng.normal(size=60),
        }
    )
    old.to_csv("old.csv", index=False)
    run("embed", "old.csv", "-m", "famd", "--save-model", "m.dualfold", "-o", "map.csv", "-q")
    stored = json.loads((here / "map.csv.json").read_text())["reading"]
    assert stored["levels"] == ["bags=None"]
    assert stored["gap_markers"] == ["size=rotary"]
    rows = old.iloc[[int(np.flatnonzero(old["bags"] == "None")[0]), 7]]
    for number, kind in ((0, "csv"), (1, "csv"), (0, "jsonl"), (1, "jsonl")):
        one = rows.iloc[[number]]
        if kind == "csv":
            one.to_csv("new.csv", index=False)
        else:
            one.to_json("new.jsonl", orient="records", lines=True)
        told = run("transform", "m.dualfold", f"new.{kind}", "-o", "new.out.csv", "--force").stderr
        assert "no level" not in told
        if number == 0:  # nothing of it is missing
            placed = exact_csv("new.out.csv").drop(columns=["p_value", "distance"]).to_numpy()
            expected = exact_csv("map.csv").filter(like="famd").to_numpy()[rows.index[0]]
            np.testing.assert_allclose(placed[0], expected, atol=1e-9)
