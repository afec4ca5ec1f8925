"""`dualfold audit`, its figure and its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from tests.tools.tables import write_trees


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_trees(tmp_path_factory.mktemp("audit"))


def run(*words: str) -> str:
    answer = CliRunner().invoke(app, ["audit", *words])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_the_command_writes_json_points_picture_and_page(folder):
    words = [str(folder / "trees.csv"), str(folder / "map.csv"), "--color", "kind", "--id", "name"]
    places = [str(folder / name) for name in ("points.csv", "audit.png", "audit.html")]
    out = run(*words, "-o", places[0], "-p", places[1], "--html", places[2], "--json")
    stated = json.loads(out)
    assert set(range(20)) <= set(stated["dubious"]["rows"])
    assert {one["label"] for one in stated["groups"]} == {"oak", "elm", "ash"}
    points = pd.read_csv(places[0])
    assert points["name"][0] == "tree 0"
    assert np.flatnonzero(points["dubious"]).tolist() == stated["dubious"]["rows"]
    assert Path(places[1]).read_bytes()[:4] == b"\x89PNG"
    page = Path(places[2]).read_text()
    for word in ("dubious point", "group on the map", "posterior of a random place", "oak"):
        assert word in page


def test_the_command_speaks(folder):
    out = run(str(folder / "trees.csv"), str(folder / "map.csv"), "--color", "kind", "-q")
    assert "dubious" in out
    assert "For a methods section:" in out
    assert "mostly oak" in out
    refused = CliRunner().invoke(app, ["audit", *[str(folder / "trees.csv")] * 2])
    assert refused.exit_code != 0
    assert "is the table itself" in refused.output
