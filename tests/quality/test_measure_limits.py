"""Entries of spaces and measures at the limits of their arguments."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality.rank_counts import euclidean_ranks
from dualfold.quality.space import space_of


def test_limits_of_measures():
    X = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    assert [quality.measured_distortion(X, X, n_pairs=p).exhaustive for p in (9, 10)] == [
        False,
        True,
    ]
    assert -1 <= quality.silhouette(X, [0, 1, 2, 3, 3]) <= 1
    assert -1 <= quality.silhouette(X[:3], [0, 1, 1]) <= 1
    for labels in ([0, 1, 2, 3, 4], [0, 0, 0, 0, 0]):
        with pytest.raises(InvalidInput, match="from 2 to n"):
            quality.silhouette(X, labels)
    spot = quality.shepard(np.zeros((3, 1)), X[:3])
    assert spot.counts.sum() == 6
    assert spot.counts.shape[0] == 1


RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_measures_of_no_columns_and_of_lists():
    none = np.empty((40, 0), np.int32)
    assert [part.shape for part in euclidean_ranks(X, None, none, 1)] == [(40, 0)] * 2
    with pytest.raises(InvalidInput, match="one row for each point"):
        quality.t_similarity(X[:, 0], X, 3)


def test_negative_distances_are_refused_in_every_row():
    for row in range(3):
        D = np.ones((3, 3))
        D[row, 2 - row] = -0.5
        with pytest.raises(InvalidInput, match="must not be negative"):
            space_of(D, "precomputed")
    assert space_of(np.full((3, 3), 0.5), "precomputed").n == 3
