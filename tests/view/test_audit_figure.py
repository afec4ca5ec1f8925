"""Figures of audits: groups with their names, dubious points in their colour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold import audit
from tests.tools.tables import write_trees
from tests.view.door import Nearness, audit_columns, audit_figure, judgements

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def clouds():
    """Three groups in a row, 40 points each, and their map as it is."""
    middles = np.repeat([[0.0, 0.0], [8.0, 0.0], [30.0, 0.0]], 40, axis=0)
    points = middles + RNG.normal(size=(120, 2))
    return points, audit(points, points)


def test_a_map_of_one_group_shows_none_apart(clouds):
    _, found = clouds
    alone = replace(found, groups=found.groups[:1], nearness=Nearness())
    assert "The map shows no separate groups." in alone.verdict
    assert set(judgements(alone)) <= {"not dubious", "dubious point"}
    assert not audit_figure(alone, verdict="mine").axes[0].texts
    assert "Groups on the map" not in str(alone)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_trees(tmp_path_factory.mktemp("audit"))


def test_a_figure_names_groups_and_colours_dubious_points(folder):
    X = pd.read_csv(folder / "trees.csv")[list("abcd")].to_numpy()
    found = dualfold.audit(X, pd.read_csv(folder / "map.csv").to_numpy())
    figure = audit_figure(found, title="trees")
    assert {"A", "B", "C"} <= {text.get_text() for text in figure.axes[0].texts}
    columns = audit_columns(found)
    assert (np.asarray(columns["audit"]) == "dubious point").sum() == found.dubious.sum()
    whole = pd.DataFrame(X, columns=list("abcd"))
    again = dualfold.audit(whole, found.points)
    assert (again.points == found.points).all()
