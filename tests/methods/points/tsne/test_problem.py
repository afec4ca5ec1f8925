"""The problem of t-SNE: joint affinities that add up to 1, neighbours that a map keeps."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.graph import knn, nearest
from dualfold.methods import tsne
from tests.methods.door import neighbors_kept
from tests.methods.points.tsne.problems import lists_of


def test_affinities_of_all_neighbours_are_joint():
    X = np.random.default_rng(0).normal(size=(12, 2))
    P = tsne(knn(X, 4), perplexity=2.0).P
    assert P.sum() == pytest.approx(1.0)
    np.testing.assert_allclose((P - P.T).toarray(), 0.0, atol=1e-15)
    assert P.shape == (12, 12)


def test_kept_neighbours_are_counted():
    line = np.arange(40.0)[:, None]
    lists = lists_of(line, 10)
    assert neighbors_kept(lists, line) == 1.0
    shuffled = np.random.default_rng(0).permutation(40).astype(float)[:, None]
    theirs = nearest(shuffled, 10).indices
    both = [len(set(a) & set(b)) for a, b in zip(nearest(line, 10).indices, theirs, strict=True)]
    assert neighbors_kept(lists, shuffled) == pytest.approx(np.mean(both) / 10)
