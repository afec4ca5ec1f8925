"""`embed --append`: the coordinates beside the columns of the file, which stay as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.cli.command_line import run


def test_the_columns_of_the_file_stay_as_they_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": [f"{k:04d}" for k in range(40)], "x": rng.normal(size=40)})
    frame["y"], frame["note"] = [f"{value:.2f}0" for value in rng.normal(size=40)], "as, it is"
    frame.loc[[3, 9], "y"] = ""
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "-m", "pca", "--missing", "drop", "--append", "-o", "both.csv", "-q")
    both = pd.read_csv("both.csv", dtype=str, keep_default_na=False)
    first = pd.read_csv("t.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(both[list(first)], first)
    assert list(both)[4:] == ["pca_1", "pca_2"]
    assert list(both.index[both["pca_1"] == ""]) == [3, 9]
    run("report", "t.csv", "both.csv", "-q")
    run("certify", "t.csv", "both.csv", "-q")


def test_matrices_and_streams_have_no_columns_to_write_beside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("t.npy", np.random.default_rng(0).normal(size=(30, 3)))
    assert "is a matrix" in run("embed", "t.npy", "--append", code=1).stderr
    assert not list(tmp_path.glob("*.csv"))
