"""The radius that a scan begins with holds the rows that it looks for."""

from __future__ import annotations

import numpy as np

from dualfold.graph.initial_radius import query_radius
from dualfold.graph.lower_bounds import frame_of


def test_one_nearest_row_lies_within_its_first_radius():
    rng = np.random.default_rng(0)
    X, queries = rng.standard_normal((300, 30)), rng.standard_normal((9_000, 30))
    frame = frame_of(X, queries, None)
    radius = query_radius(frame.coordinates(X), frame.coordinates(queries), 1)
    nearest_row = np.sqrt(((queries[:200, None] - X[None]) ** 2).sum(axis=2)).min(axis=1)
    assert (radius[:200] >= nearest_row * (1 - 1e-12)).all()
    assert radius.mean() < 2 * nearest_row.mean()
