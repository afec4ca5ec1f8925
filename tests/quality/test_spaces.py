"""Spaces by given distances: what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.quality.space import space_of


def test_negative_distances_are_refused_in_every_row():
    for row in range(3):
        D = np.ones((3, 3))
        D[row, 2 - row] = -0.5
        with pytest.raises(InvalidInput, match="must not be negative"):
            space_of(D, "precomputed")
    assert space_of(np.full((3, 3), 0.5), "precomputed").n == 3
