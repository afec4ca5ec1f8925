"""Neighbours of a table are searched once, and pieces joined once, for all methods of a command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli.command_line import exact_csv, run
from tests.exploration.door import neighbors
from tests.tools.tables import roll_points


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A table of 60 rows and 3 columns."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(roll_points(60), columns=["x", "y", "z"])
    frame.to_csv("roll.csv", index=False)
    return tmp_path


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
    table, X = exact_csv("all.csv"), far[["x", "y", "z"]].to_numpy().copy("C")
    for method in methods:
        row = DESCRIPTIONS[method]
        estimator = row.estimator_class()(
            n_components=2, **row.estimator_parameters({"n_neighbors": 6})
        )
        with pytest.warns(dualfold.errors.PiecesJoined):
            points = estimator.fit_transform(X)
        np.testing.assert_array_equal(table[[f"{method}_1", f"{method}_2"]].to_numpy(), points)
