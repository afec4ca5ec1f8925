"""The column that names the rows is written beside the coordinates, and is no coordinate."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from tests.cli.command_line import run
from tests.cli.door import names_of_rows

SENTENCES = [
    f"It was the {k}th of them, and it was as good as all of those before it were."
    for k in range(9)
]


def frame_with(**columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame(columns | {"x": rng.normal(size=100), "y": rng.normal(size=100)})


@pytest.mark.parametrize(
    ("name", "values"),
    [("customer_id", range(7001, 7101)), ("town", [f"town {k}" for k in range(100)]),
     ("code", [f"{k:04d}" for k in range(100)])],
)  # fmt: skip
def test_every_command_names_the_rows_and_reads_such_maps(tmp_path, monkeypatch, name, values):
    monkeypatch.chdir(tmp_path)
    frame_with(**{name: list(values)}).to_csv("t.csv", index=False)
    run("embed", "t.csv", "-m", "pca", "-o", "m.csv", "--save-model", "m.dualfold", "-q")
    found = pd.read_csv("m.csv", dtype=str)
    assert list(found) == [name, "pca_1", "pca_2"]
    assert list(found[name]) == list(map(str, values))
    run("report", "t.csv", "m.csv", "-o", "r.csv", "-q")
    run("transform", "m.dualfold", "t.csv", "-o", "p.csv", "-q")
    if name == "customer_id":
        run("certify", "t.csv", "m.csv", "-q")
        run("audit", "t.csv", "m.csv", "-o", "a.csv", "-q")
    for path in {"r.csv", "a.csv", "p.csv"}.intersection(os.listdir()):
        assert list(pd.read_csv(path, dtype=str)[name]) == list(map(str, values))
    found[::-1].to_csv("m.csv", index=False)
    assert "another order" in run("report", "t.csv", "m.csv", code=1).stderr


def test_complete_tables_without_names_get_no_further_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = frame_with()
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "-m", "pca", "-o", "m.csv", "-q")
    assert list(pd.read_csv("m.csv")) == ["pca_1", "pca_2"]
    frame.loc[99, "x"] = np.nan  # the last row: numbers of those before it look complete
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "-m", "pca", "--missing", "drop", "-o", "d.csv", "-q")
    assert list(pd.read_csv("d.csv")["row"]) == list(range(1, 100))


def test_the_option_chooses_and_matrices_stay_matrices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame_with(id=range(100), town=[f"t{k}" for k in range(100)]).to_csv("t.csv", index=False)
    run("embed", "t.csv", "-m", "pca", "--id", "town", "-o", "m.csv", "-q")
    assert list(pd.read_csv("m.csv")) == ["town", "pca_1", "pca_2"]
    run("embed", "t.csv", "-m", "pca", "-o", "m.npy", "-q")
    assert np.load("m.npy").shape == (100, 2)


def test_what_repeats_lacks_or_is_a_sentence_names_no_row():
    assert names_of_rows({}, {"a": ["x", "y", "x"], "b": ["x", None, "y"], "c": SENTENCES}) is None
    assert names_of_rows({}, {"c": SENTENCES, "d": list("abcdefghi")}) == "d"
    numbers = {"customer_id": np.array([5, 5, 7, 9] * 3), "id": np.arange(12) + 40}
    assert names_of_rows(numbers, {}) == "id"
