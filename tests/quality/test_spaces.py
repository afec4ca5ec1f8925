"""Spaces by given distances: what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality.space import _given_distances


def test_negative_distances_are_refused_in_every_row():
    for row in range(3):
        D = np.ones((3, 3))
        D[row, 2 - row] = -0.5
        with pytest.raises(InvalidInput, match="must not be negative"):
            _given_distances(D)
    assert _given_distances(np.full((3, 3), 0.5))[0] == 3


def test_lists_of_distances_are_distances():
    D = np.abs(np.arange(5.0)[:, None] - np.arange(5.0))
    Y = np.arange(5.0)[:, None]
    given = quality.distance_correlation(D.tolist(), Y, metric="precomputed")
    assert given == pytest.approx(1.0)
