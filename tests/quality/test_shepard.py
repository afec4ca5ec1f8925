"""Shepard diagrams hold every pair once."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import quality
from dualfold.quality import shepard
from tests.quality.brute_force import off_diagonal


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


def test_the_shepard_diagram_counts_every_pair(pair):
    X, Y = pair
    # The last two see each other far off, after most pairs are counted: bins have to widen.
    Y[:-2] -= Y[:-2].mean(axis=0)
    Y[[0, -2, -1]] = [[0, 45], [40, 0], [-40, 0]]
    diagram = quality.shepard(X, Y, bins=16)
    d, s = off_diagonal(X, Y)
    counts = np.histogram2d(d, s, bins=(diagram.before, diagram.after))[0]
    np.testing.assert_array_equal(diagram.counts, counts)
    assert min(diagram.counts.shape) >= 16
    assert diagram.after[-1] >= 80
    middle = (diagram.after[1:] + diagram.after[:-1]) / 2
    full = int(np.argmax(diagram.counts.sum(axis=1)))
    inside = (d >= diagram.before[full]) & (d < diagram.before[full + 1])
    typical = middle[np.digitize(s[inside], diagram.after) - 1].mean()
    assert diagram.typical()[full] == pytest.approx(typical)
    np.testing.assert_array_equal(quality.shepard(X, Y, bins=16, n_jobs=1).counts, counts)
