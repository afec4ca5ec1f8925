"""`dualfold recommend` says which method, and the command that makes the map."""

from __future__ import annotations

import json

import pandas as pd

from dualfold.data import read_metadata, swiss_roll
from tests.cli.command_line import run


def test_advice_about_standard_input_names_no_file(here):
    done = run("recommend", "-", "--json", input=(here / "t.csv").read_text())
    assert json.loads(done.stdout)["source"] == "-"
    assert "Try next" not in done.stderr


def test_the_command_line_recommends_and_makes_the_map(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    roll = swiss_roll(300, random_state=1)
    pd.DataFrame(roll.points, columns=[*"xyz"]).assign(angle=roll.color).to_csv(
        "r.csv", index=False
    )
    told = run("recommend", "r.csv", "--color", "angle", "--json")
    found = json.loads(told.stdout)
    assert found["method"] == "isomap"
    words = f"dualfold embed r.csv --method isomap --n-neighbors {found['n_neighbors']}"
    words = words.removesuffix(" --n-neighbors 10")
    assert f"Try next:  {words} --color angle" in told.stderr
    made = run("embed", "r.csv", "--color", "angle", "-m", "auto")
    assert "subsamples" in made.stderr
    stored = read_metadata("r.isomap.csv")["settings"]
    assert (stored["method"], stored["n_neighbors"]) == ("isomap", found["n_neighbors"])
    assert "give one" in run("recommend", "r.csv", "-d", "auto", code=2).stderr
