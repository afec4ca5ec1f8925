"""The figure and the words of an audit of a map with one group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dualfold import audit
from dualfold.auditing.nearness import Nearness
from dualfold.view import audit_figure
from dualfold.view.audit_page import judgements

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
