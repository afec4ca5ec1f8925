"""`dualfold audit`, its figure and its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dualfold.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A table of three groups with names, and a map on which 20 rows changed places."""
    rng = np.random.default_rng(0)
    place = tmp_path_factory.mktemp("audit")
    kinds = np.repeat([0, 1, 2], 100)
    X = rng.standard_normal((300, 4)) + 9 * np.eye(4)[kinds]
    table = pd.DataFrame(X, columns=list("abcd"))
    table["kind"] = np.array(["oak", "elm", "ash"])[kinds]
    table["name"] = [f"tree {i}" for i in range(300)]
    table.to_csv(place / "trees.csv", index=False)
    Y = X @ rng.standard_normal((4, 2))
    Y[:20] = Y[200:220]
    pd.DataFrame(Y, columns=["x", "y"]).to_csv(place / "map.csv", index=False)
    return place


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
