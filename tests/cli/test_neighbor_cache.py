"""Neighbours of a table are searched once, and pieces joined once, for all methods of a command."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dualfold
from dualfold.cli import app
from dualfold.data import Reading, prepare, swiss_roll
from dualfold.descriptions import DESCRIPTIONS
from dualfold.graph import neighbors

# pandas 2 rounds the last digit unless told not to; later ones never do.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}


exact_csv = functools.partial(pd.read_csv, **EXACT)


# About as far apart as numbers of constraints are: a radius of 1 is a neighbourhood.
ROLL = swiss_roll(60, random_state=0).points / 4
KINDS = np.array(["low", "middle", "high"])[np.digitize(ROLL[:, 1], [1.6, 3.4])]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(ROLL, columns=["x", "y", "z"])
    frame["name"] = [f"n{row}" for row in range(len(ROLL))]
    frame["kind"] = KINDS
    frame.to_csv("roll.csv", index=False)
    return tmp_path


def run(*words, code=0):
    # These are about methods; what becomes of categories is in test_mixed.py.
    numbers = ["--mixed", "numbers"] if words[0] in ("embed", "compare") else []
    words = (*words, *numbers) if words[-1] != "--help" else words
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, (result.output, result.exception)
    assert "should not" not in result.stderr  # a crash in plain words
    return result


@pytest.fixture
def searches(monkeypatch):
    """The widths of the tables whose own neighbours are searched."""
    found = []
    search = neighbors._exact_neighbors

    def counted(X, queries, *rest):
        if queries is None:
            found.append(X.shape[1])
        return search(X, queries, *rest)

    monkeypatch.setattr(neighbors, "_exact_neighbors", counted)
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["embed", "roll.csv", "-m", "isomap", "-q", "--html", "p.html", "--save-model", "m"],
        ["embed", "roll.csv", "-m", "eigenmaps", "--neighborhood", "variable", "-k", "12"],
        ["embed", "roll.csv", "-m", "pca", "--html", "p.html"],
        ["compare", "roll.csv", "--methods", "pca,isomap,lle,lpp,mvu", "--html", "p.html"],
        ["report", "roll.csv", "map.csv"],
    ],
)
def test_neighbours_of_the_table_are_searched_once(here, searches, words):
    if words[0] == "report":
        run("embed", "roll.csv", "-m", "isomap", "-o", "map.csv", "-q")
        searches.clear()
    run(*words)
    assert searches.count(3) == 1  # the table has 3 columns, the maps have 2


def test_pieces_are_joined_once_for_all_methods(here):
    far = exact_csv("roll.csv")
    far.loc[30:, ["x", "y", "z"]] += 100
    far.to_csv("two.csv", index=False)
    methods = ["isomap", "lle", "eigenmaps", "lpp"]
    words = ["compare", "two.csv", "--methods", ",".join(methods), "-k", 6, "-o", "all.csv"]
    done = run(*words, "--html", "p.html", "--json")
    assert done.stderr.count("They were joined") == 1
    table, X = exact_csv("all.csv"), prepare("two.csv", Reading(mixed="numbers")).X
    for method in methods:
        row = DESCRIPTIONS[method]
        estimator = row.estimator_class()(
            n_components=2, **row.estimator_parameters({"n_neighbors": 6})
        )
        with pytest.warns(dualfold.errors.PiecesJoined):
            points = estimator.fit_transform(X)
        np.testing.assert_array_equal(table[[f"{method}_1", f"{method}_2"]].to_numpy(), points)


def test_longer_lists_begin_with_the_shorter_ones():
    X = np.round(swiss_roll(400, random_state=2).points)  # full of ties
    for table in (X, np.hstack([X, X[:, ::-1], X**2]), X[:, :1]):
        many, few = neighbors.nearest(table, 100).first(7), neighbors.nearest(table, 7)
        np.testing.assert_array_equal(many.indices, few.indices)
        np.testing.assert_array_equal(many.distances, few.distances)
