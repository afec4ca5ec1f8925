"""How many neighbours an embedding keeps, on a sample of its points against all of them."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.graph import nearest
from dualfold.graph.kd_tree import without_self

T, SAMPLE = 10, 2_000


def sampled_t_similarity(X: Array, Y: Array) -> float | None:
    """The share of the T nearest neighbours kept, over SAMPLE points (None: no numbers in Y).

    All neighbours are sought among all points. With the whole data as the sample it is
    `dualfold.quality.t_similarity`.
    """
    if Y.shape[0] != X.shape[0] or not np.isfinite(Y).all():
        return None
    count = min(SAMPLE, len(X))
    rows = np.sort(np.random.default_rng(0).choice(len(X), count, replace=False))
    lists = [_lists(points, rows) for points in (X, np.asarray(Y, dtype=float))]
    together = np.sort(np.hstack(lists), axis=1)
    kept = np.count_nonzero(together[:, 1:] == together[:, :-1], axis=1)
    return float(kept.mean() / T)


def _lists(points: Array, rows: Array) -> Array:
    found = nearest(points, T + 1, queries=points[rows])
    return without_self(found.indices, found.distances, rows)[0]
