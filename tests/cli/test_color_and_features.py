"""What colours a map is no feature unless it is kept; a map's settings decide how it is judged."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from tests.cli.command_line import exact_csv, run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Three groups in numbers of different units, and the groups as a category."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 120)
    frame = pd.DataFrame(rng.normal(size=(120, 3)) + 2 * group[:, None], columns=[*"abc"])
    frame["price"] = 100 * frame["a"] + rng.normal(500, 200, 120)
    frame["kind"] = np.array(["x", "y", "z"])[group]
    monkeypatch.chdir(tmp_path)
    frame.to_csv("t.csv", index=False)
    return tmp_path


def _judged(command, *words):
    done = run(command, "t.csv", "m.csv", *words, "--json")
    found = json.loads(done.stdout)
    part, name = {"report": ("measures", "t_similarity"), "audit": ("picture_quality", "kept")}[
        command
    ]
    kept = found[part][name]
    return kept["value"] if isinstance(kept, dict) else kept, done.stderr


@pytest.mark.parametrize("command", ["report", "audit"])
def test_colours_do_not_change_what_is_judged(here, command):
    run("embed", "t.csv", "-o", "m.csv", "-q")
    alone, _ = _judged(command)
    for color in ("price", "kind"):
        colored, said = _judged(command, "--color", color)
        assert colored == alone
        assert "was not set" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--exclude", "a"], "--exclude a was not set when the map was made"),
        (["--no-standardize"], "--no-standardize was not set when the map was made"),
        (["--exclude", "price", "--color", "price"], "--exclude price was not set"),
    ],
)
def test_another_table_than_the_maps_is_said(here, words, said):
    run("embed", "t.csv", "-o", "m.csv", "-q")
    assert said in _judged("report", *words)[1]
    run("embed", "t.csv", "-o", "m.csv", *words, "-q", "--force")
    assert "was not set" not in _judged("report", *words)[1]


def test_a_column_that_colours_is_said_to_be_no_feature_and_can_be_kept(here):
    told = run("embed", "t.csv", "--color", "price", "-o", "apart.csv").stderr
    words = "'price' colours the map and is not used as a feature; --keep price uses it, too"
    assert words in told
    kept = run("embed", "t.csv", "--color", "price", "--keep", "price", "-o", "m.csv").stderr
    assert words not in kept
    assert "Columns used: 'a', 'b', 'c', 'price', 'kind'" in kept
    both = dualfold.explore("t.csv", color="price", keep="price")
    np.testing.assert_array_equal(both.points, dualfold.explore("t.csv").points)
    np.testing.assert_array_equal(both.data.colors, exact_csv("t.csv")["price"])
    assert run("certify", "t.csv", "m.csv", "-q").exit_code == 0


def test_columns_of_a_matrix_can_colour_and_be_kept(here):
    np.save("t.npy", np.random.default_rng(0).normal(size=(40, 4)))
    alone = dualfold.explore("t.npy")
    both = dualfold.explore("t.npy", color="column_2", keep="column_2")
    np.testing.assert_array_equal(both.points, alone.points)
    assert dualfold.explore("t.npy", color="column_2").data.X.shape == (40, 3)
