"""`dualfold compare`: a row for every method, with its certificate or its refusal."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dualfold
from dualfold.errors import PiecesJoined
from tests.cli.command_line import ROLL, exact_csv, run


def test_compare_puts_methods_side_by_side(here):
    words = ["compare", "roll.csv", "--methods", "pca,isomap,eigenmaps", "--color", "when"]
    done = run(*words, "--json", "-p", "c.png", "-o", "all.csv")
    rows = json.loads(done.stdout)["results"]
    assert [row["method"] for row in rows] == ["pca", "isomap", "eigenmaps"]
    points = dualfold.embed(dualfold.methods.pca(ROLL)).points
    assert rows[0]["t_similarity"] == pytest.approx(dualfold.t_similarity(ROLL, points))
    assert all(row["certificate"]["level"] == "proved" for row in rows)
    assert list(exact_csv("all.csv"))[:3] == ["name", "when", "pca_1"]
    best = max(rows, key=lambda row: row["t_similarity"])["method"]
    assert f"Try next:  dualfold embed roll.csv --method {best}" in done.stderr
    assert "proved optimal" in run(*words).stdout


@pytest.mark.filterwarnings("ignore", category=PiecesJoined)
def test_a_method_without_a_map_has_its_row_and_strict_counts_it(here):
    words = ("compare", "t.csv", "--methods", "pca,isomap", "-k", "40", "--strict")
    done = run(*words, code=3)
    assert "no map: " in done.stdout
    told = json.loads(run(*words, "--json", code=3).stdout)["results"]
    assert ["error" in row for row in told] == [False, True]


def test_maps_without_many_neighbours_are_called_so(here):
    rows = np.random.default_rng(1).normal(size=(400, 60))
    np.savetxt("noise.csv", rows, delimiter=",", header=",".join(f"c{k}" for k in range(60)))
    done = run("compare", "noise.csv", "--methods", "pca")
    assert "None of these maps keeps many neighbours; pca keeps most" in done.stdout + done.stderr


def test_mixed_columns_are_compared_by_gowers_distance(here):
    text = (here / "t.csv").read_text().splitlines()
    rows = [text[0] + ",kind", *(f"{row},{'xy'[place % 2]}" for place, row in enumerate(text[1:]))]
    (here / "mixed.csv").write_text("\n".join(rows))
    done = run("compare", "mixed.csv", "--methods", "isomap,mds", "--mixed", "gower", "--json")
    assert [row["method"] for row in json.loads(done.stdout)["results"]] == ["isomap", "mds"]


def test_the_three_questions_have_a_column_each(here):
    """Six columns follow one quantity in noise: order, and no neighbours."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(150, 1))
    rows = np.hstack([t + 0.3 * rng.normal(size=(150, 6)), rng.normal(size=(150, 14))])
    names = [*(f"size{k}" for k in range(6)), *(f"noise{k}" for k in range(14))]
    np.savetxt("sizes.csv", rows, delimiter=",", header=",".join(names), comments="")
    told = json.loads(run("compare", "sizes.csv", "--methods", "pca", "--json").stdout)
    (row,) = told["results"]
    shown = row["map_verdict"]
    assert shown["layout"]["grade"] == "good"
    assert sorted(shown["layout"]["columns_in_order"]) == names[:6]
    assert shown["headline"].startswith("Shows overall order (size")
    assert shown["neighborhoods"]["kept"] == pytest.approx(row["t_similarity"])
    assert "Overall order: pca shows most (good)" in told["verdict"]
