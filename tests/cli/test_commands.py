"""The commands around maps: their numbers are the library's, their words are plain."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from tests.cli.command_line import ROLL, run
from tests.cli.door import duplicate_counts, read_metadata


def test_identical_rows_are_told(here):
    pd.DataFrame(np.ones((20, 2)), columns=["a", "b"]).to_csv("same.csv", index=False)
    assert "all 20 rows are the same" in run("embed", "same.csv").stderr
    assert any("same" in note for note in read_metadata("same.pca.csv")["notices"])
    pd.DataFrame(np.repeat(ROLL[:4], 15, axis=0), columns=["a", "b", "c"]).to_csv(
        "four.csv", index=False
    )
    assert "15 rows are identical" in run("embed", "four.csv", "-m", "isomap").stderr


def test_identical_rows_are_counted_in_sparse_tables_too():
    rows = np.array([[1.0, 0, 2], [0, 3, 0], [1, 0, 2], [1, 0, 2], [0, 3, 0], [5, 5, 5]])
    for table in (rows, sp.csr_array(rows)):
        assert duplicate_counts(table).tolist() == [3, 2, 1]


@pytest.mark.parametrize("command", ["embed", "transform", "compare", "report", "certify"])
def test_help_shows_examples_first(command):
    shown = run(command, "--help").stdout
    assert shown.index("Examples:") < shown.index("Arguments:") < shown.index("General:")


def test_h5ad_in_and_out(here):
    anndata = pytest.importorskip("anndata", reason="h5ad files need anndata")
    run("embed", "roll.csv", "--color", "when", "-o", "roll.h5ad", "-q")
    first = anndata.read_h5ad("roll.h5ad")
    assert first.obsm["X_pca"].shape == (150, 2)
    assert "Proved" in run("certify", "roll.csv", "roll.h5ad").stderr
    run("embed", "roll.h5ad", "--array", "X_pca", "-m", "isomap", "-o", "again.h5ad", "-q")
    assert sorted(anndata.read_h5ad("again.h5ad").obsm) == ["X_isomap", "X_pca"]


# ---- shell completion, by the protocol that the printed scripts speak


def test_pictures_of_another_shape_are_refused_before_any_work(here):
    refused = run("embed", "roll.csv", "--html", "roll.html", "--images", "3x3", code=1)
    assert "give --images the shape of a row" in refused.stderr
    assert not list(here.glob("*.pca.*"))


def test_one_column_in_grams_does_not_buy_a_good_verdict(tmp_path, monkeypatch):
    """Neighbours are counted with equal columns, and a poor map says so before "Proved"."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) * [1, 1, 1, 1000]
    pd.DataFrame(X, columns=[*"abcd"]).to_csv("grams.csv", index=False)
    told = run("embed", "grams.csv", "-d", "1", "--no-standardize")
    lines = told.stderr.splitlines()
    first = lines.index("A good picture? Shows neither overall order nor who is near whom.")
    assert lines[first + 2].startswith("  Neighbourhoods: poor: it keeps ")
    assert "with every column at the same weight" in lines[first + 2]
    assert lines[first + 4].startswith("Solved? Proved: ")
    stored = read_metadata("grams.pca.csv")
    points = pd.read_csv("grams.pca.csv").to_numpy()
    even = (X - X.mean(axis=0)) / X.std(axis=0)
    assert stored["t_similarity"] == pytest.approx(dualfold.t_similarity(even, points), abs=1e-3)
    assert dualfold.t_similarity(X, points) > 0.9 > 0.2 > stored["t_similarity"]
    assert stored["picture_quality"]["chance"] == 10 / 299


def test_no_command_answers_in_python(here):
    """Options of other commands are named as theirs; no argument of a function is shown."""
    pd.DataFrame({"a": ROLL[:, 0], "b": 1000 * ROLL[:, 1], "y": ROLL[:, 2]}).to_csv(
        "t.csv", index=False
    )
    pd.DataFrame(ROLL[:9], columns=["a", "b", "y"]).to_csv("few.csv", index=False)
    run("embed", "t.csv", "--id", "y", "--no-standardize", "-q", "-o", "map.csv")
    run("embed", "t.csv", "-q", "-o", "other.csv", "--save-model", "m.dualfold")
    run("embed", "few.csv", "-q", "-o", "few.map.csv")
    told = run("certify", "t.csv", "other.csv").stderr
    assert "--color y (of `dualfold embed`) keeps it apart" in told
    assert "--exclude y (of `dualfold embed`) leaves it out" in told
    told += run("certify", "roll.csv", "map.csv", code=1).stderr
    told += run("certify", "few.csv", "map.csv", code=1).stderr
    told += run("embed", "t.csv", "--biplot", "b.png", "-d", 1, "-o", "one.csv", code=1).stderr
    told += run("transform", "t.csv", "few.csv", code=1).stderr
    told += run("embed", "t.csv", "-m", "auto", "--memory-limit", "1GB", code=1).stderr
    isomap, eigenmaps = ("embed", "t.csv", "-m", "isomap"), ("embed", "t.csv", "-m", "eigenmaps")
    told += run(*isomap, "--metric", "nope", "-o", "i.csv", code=1).stderr
    told += run(*eigenmaps, "--width", 0.1, "-o", "e.csv", code=1).stderr
    told += run("audit", "few.csv", "few.map.csv", code=1).stderr
    for word in ("Python", "save_model", "=[", "='", "=True", "sklearn", "None", "dualfold."):
        assert word not in told
