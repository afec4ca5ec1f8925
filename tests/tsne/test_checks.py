"""Neighbours that a map keeps, counted."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.graph import nearest
from dualfold.tsne.checks import neighbors_kept
from tests.tsne.problems import lists_of


def test_kept_neighbours_are_counted():
    line = np.arange(40.0)[:, None]
    lists = lists_of(line, 10)
    assert neighbors_kept(lists, line) == 1.0
    shuffled = np.random.default_rng(0).permutation(40).astype(float)[:, None]
    theirs = nearest(shuffled, 10).indices
    both = [len(set(a) & set(b)) for a, b in zip(nearest(line, 10).indices, theirs, strict=True)]
    assert neighbors_kept(lists, shuffled) == pytest.approx(np.mean(both) / 10)
