"""Folders with tables, for commands to work in."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from tests.cli.command_line import CLOUD, ROLL, run


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """t.csv with its map m.csv, and roll.csv with names and dates: made once."""
    folder = tmp_path_factory.mktemp("tables")
    pd.DataFrame(CLOUD, columns=["a", "b", "c"]).to_csv(folder / "t.csv", index=False)
    run("embed", folder / "t.csv", "-m", "pca", "-o", folder / "m.csv", "-q")
    frame = pd.DataFrame(ROLL, columns=["x", "y", "z"])
    frame["name"] = [f"r{row}" for row in range(len(ROLL))]
    frame["when"] = [f"2020-0{1 + row % 9}-11" for row in range(len(ROLL))]
    frame.to_csv(folder / "roll.csv", index=False)
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch, tables):
    """A working directory with the tables; files of tests may have tables of their own."""
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
