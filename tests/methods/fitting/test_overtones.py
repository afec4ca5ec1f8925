"""What a coordinate leaves unexplained_share of another one, and the neighbours that it keeps."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.graph import knn
from dualfold.quality import t_similarity
from tests.methods.door import kept_neighbors, overtones, unexplained_share
from tests.tools.tables import strip


def test_what_a_function_leaves():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, 1500))
    assert unexplained_share(x[:, None], np.cos(9 * x)) < 0.02
    assert unexplained_share(x[:, None], y) > 0.9
    assert unexplained_share(np.column_stack([x, y]), x * y) < 0.05
    assert [k for k, _ in overtones(np.column_stack([x, y, np.sin(4 * x)]))] == [2]
    assert overtones(np.column_stack([x, x])[:20]) == []


def test_kept_neighbours_are_the_t_similarity():
    X = strip(3)
    Y = np.random.default_rng(2).normal(size=(600, 2)) * 0.05 + X
    rows = np.arange(600)
    expected = float(t_similarity(X, Y, 10))
    assert kept_neighbors(knn(X, 10), Y, rows) == pytest.approx(expected, abs=1e-12)
