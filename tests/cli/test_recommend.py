"""`dualfold recommend` says which method, and the command that makes the map."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from dualfold.data import swiss_roll
from tests.cli.command_line import run
from tests.cli.door import read_metadata


def test_advice_about_standard_input_names_no_file(here):
    done = run("recommend", "-", "--json", input=(here / "t.csv").read_text())
    assert json.loads(done.stdout)["source"] == "-"
    assert "Try next" not in done.stderr


@pytest.mark.full
def test_the_command_line_recommends_and_makes_the_map(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    roll = swiss_roll(300, random_state=1)
    pd.DataFrame(roll.points, columns=[*"xyz"]).assign(angle=roll.color).to_csv(
        "r.csv", index=False
    )
    told = run("recommend", "r.csv", "--color", "angle", "--json")
    found = json.loads(told.stdout)
    method = found["method"]
    assert method in ("isomap", "tsne")  # on 240 of its rows both unroll it
    words = f"dualfold embed r.csv --method {method}"
    if method == "isomap" and found["n_neighbors"] != 10:
        words += f" --n-neighbors {found['n_neighbors']}"
    assert f"Try next:  {words} --color angle" in told.stderr
    assert found["answers"]["neighbours"] == method
    made = run("embed", "r.csv", "--color", "angle", "-m", "auto")
    assert "subsamples" in made.stderr
    assert read_metadata(f"r.{method}.csv")["settings"]["method"] == method
    assert "give one" in run("recommend", "r.csv", "-d", "auto", code=2).stderr
    wrong = run("embed", "r.csv", "--question", "order", code=2).stderr
    assert "--question order is only asked with --method auto" in " ".join(wrong.split())
    unknown = run("recommend", "r.csv", "--question", "size", code=2).stderr
    assert "--question: 'size' is none of neighbours, order, groups" in " ".join(unknown.split())
