"""Alignment of tangents needs no more memory than its batches."""

from __future__ import annotations

import tracemalloc

import numpy as np

from dualfold.graph import knn
from dualfold.weights import batches, tangent_alignment


def test_memory_is_bounded_by_the_batches(monkeypatch):
    X = np.random.default_rng(0).standard_normal((3000, 200))
    lists = knn(X, 10).lists  # all neighbourhoods at once would take 48 MB, and copies of that
    monkeypatch.setattr(batches, "BATCH_NUMBERS", 2**17)
    tracemalloc.start()
    factor = tangent_alignment(X, lists, n_components=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = factor.data.nbytes + factor.indices.nbytes + factor.indptr.nbytes
    assert peak < 3 * kept + 8 * 2**20
