"""The problem of t-SNE: joint affinities that add up to 1."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.graph import knn
from dualfold.methods import tsne


def test_affinities_of_all_neighbours_are_joint():
    X = np.random.default_rng(0).normal(size=(12, 2))
    P = tsne(knn(X, 4), perplexity=2.0).P
    assert P.sum() == pytest.approx(1.0)
    np.testing.assert_allclose((P - P.T).toarray(), 0.0, atol=1e-15)
    assert P.shape == (12, 12)
