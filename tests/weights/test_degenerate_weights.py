"""Weights of points on a line."""

from __future__ import annotations

import numpy as np

from dualfold import methods
from dualfold.graph import knn


def test_reflections_by_nothing_are_left_out_whatever_the_tolerance():
    line = knn(np.arange(12.0)[:, None], 4)
    F = methods.modified_lle(line, n_components=1, modified_tol=0.0).A
    assert np.isfinite(F @ np.ones(12)).all()
