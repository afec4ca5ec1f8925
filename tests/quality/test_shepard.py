"""Shepard diagrams hold every pair once."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.quality.shepard import shepard


def test_every_pair_is_in_its_cell():
    """Distances 1, 2, 3 of X and 2, 4, 6 of Y, from both ends."""
    X = np.array([[0.0], [1.0], [3.0]])
    diagram = shepard(X, 2 * X, bins=4)
    assert diagram.counts.sum() == 6
    width = diagram.before[1]
    for distance in (1.0, 2.0, 3.0):
        place = int(distance // width)
        assert diagram.counts[place].sum() == 2
        assert diagram.counts[place, int(2 * distance // diagram.after[1])] == 2
        assert diagram.typical()[place] == pytest.approx(2 * distance, abs=diagram.after[1])
    assert len(diagram.before) == diagram.counts.shape[0] + 1
    assert width <= 3 / 4
    # From the middle the range starts at 2 and doubles to 4 when 3 is met.
    turned = shepard(X[[1, 0, 2]], 2 * X[[1, 0, 2]], bins=4)
    assert turned.counts.sum() == 6
    assert turned.before[1] == pytest.approx(4 / 8, rel=1e-6)
    assert turned.counts[int(3.0 // turned.before[1])].sum() == 2
