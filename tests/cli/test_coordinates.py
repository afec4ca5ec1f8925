"""Independent coordinates on the command line."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from typer.testing import CliRunner

from dualfold.cli import app


@cache
def strip(aspect: float, n: int = 600) -> np.ndarray:
    """Points of a rectangle, its long side along the first axis."""
    points = np.random.default_rng(1).uniform(size=(n, 2)) / [1, aspect]
    points.setflags(write=False)
    return points


def test_the_command_line_has_independent_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("strip.csv", strip(3), delimiter=",", header="a,b", comments="")

    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return result.stdout

    embed = ("embed", "strip.csv", "-m", "eigenmaps", "-o", "map.csv", "--no-standardize", "--json")
    found = json.loads(run(*embed))
    assert found["settings"]["coordinates"] == [0, 2]
    assert "no other choice of 6 coordinates" in found["solved"]
    assert (
        json.loads(run("certify", "strip.csv", "map.csv", "--json"))["certificate"]["level"]
        == "proved"
    )
    found = json.loads(run(*embed, "--force", "--coordinates", "first"))
    assert found["settings"]["coordinates"] == "first"
    assert any("overtone" in notice for notice in found["notices"])
    assert "(in Python: first)" in run("methods", "eigenmaps")
