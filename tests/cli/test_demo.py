"""`dualfold demo`: in seconds, the same bytes twice, and a next command that works."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dualfold
from dualfold.data import swiss_roll
from tests.cli.command_line import exact_csv, run
from tests.cli.door import demo_methods, next_command, read_metadata
from tests.tools import demo_run
from tests.tools.demo_run import a_demo

COMMAND = [sys.executable, "-c", "from dualfold.cli import main; main()"]


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def check_the_demo(done, folder, rows):
    """What it prints and writes, of a roll of so many rows."""
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * len(demo_methods())
    assert all("t-similarity" in line for line in lines)
    # Of t-SNE nobody can prove anything; its forces balance.
    assert all(("stationary" if " tsne " in line else "Proved") in line for line in lines)
    tables = [f"{name}{end}" for name in ("digits", "swiss_roll") for end in (".csv", ".maps.csv")]
    jsons = ["digits.maps.csv.json", "swiss_roll.maps.csv.json"]
    assert names(folder) == sorted(["demo.png", "digits.html", *tables, *jsons])
    assert "dualfold-demo/demo.png" in done.stderr

    roll = exact_csv(folder / "swiss_roll.csv")
    points = swiss_roll(rows, random_state=0).points
    np.testing.assert_array_equal(roll.to_numpy(), points)  # and not the answer beside them
    maps = exact_csv(folder / "swiss_roll.maps.csv")
    expected = dualfold.embed(dualfold.methods.pca(points)).points
    np.testing.assert_array_equal(maps[["pca_1", "pca_2"]].to_numpy(), expected)
    stored = read_metadata(folder / "swiss_roll.maps.csv")["methods"]["pca"]
    assert stored["certificate"]["level"] == "proved"
    assert stored["t_similarity"] == dualfold.t_similarity(points, expected)


def in_seconds(words, folder, most):
    """A command that ends well in so many seconds."""
    begin, before = time.perf_counter(), os.times()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    waited, after = time.perf_counter() - begin, os.times()
    # On a machine that others use too, its own work counts and not the waiting for its turn.
    worked = after.children_user + after.children_system
    worked -= before.children_user + before.children_system
    assert min(waited, worked) < most
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.full
def test_the_demo_in_seconds(tmp_path):
    done = in_seconds([*COMMAND, "demo"], tmp_path, 20)
    check_the_demo(done, tmp_path / "dualfold-demo", 3000)


@pytest.mark.full
def test_a_short_demo_twice(tmp_path):
    """The same command with a tenth of the rows, and the same bytes from this process."""
    done = in_seconds([sys.executable, demo_run.__file__, "demo"], tmp_path, 10)
    again, folder = a_demo(), tmp_path / "dualfold-demo"
    check_the_demo(done, folder, demo_run.ROWS)
    assert [entry["method"] for entry in json.loads(again.stdout)["results"]] == [
        method.name for method in demo_methods()
    ] * 2
    assert names(again.folder) == names(folder)
    for name in names(folder):
        assert (again.folder / name).read_bytes() == (folder / name).read_bytes(), name


def test_the_next_command_of_the_demo_works(monkeypatch):
    folder = a_demo().folder
    monkeypatch.chdir(folder.parent)
    program, *words = shlex.split(next_command(Path(folder.name)))
    assert program == "dualfold"
    before = names(folder)
    run(*words)
    assert (folder / "digits.eigenmaps.png").stat().st_size > 10_000
    for name in set(names(folder)) - set(before):  # tests share the folder
        (folder / name).unlink()
