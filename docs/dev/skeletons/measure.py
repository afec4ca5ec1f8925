"""The nearest row kept near: a skeleton of a measure.

Copy it to a file of src/dualfold/quality/, write your measure, then give it its place in
quality_report.py and its meaning in picture.py. ARCHITECTURE.md has the recipe;
tests/workflows/test_skeletons.py compares this one with brute force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.quality.estimate import drawn_rows, values_or_mean
from dualfold.quality.space import neighbor_count, space_of


def nearest_kept(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """The share of rows whose nearest row is among their k nearest on the map. 0 to 1; 1 best.

    What 0 and 1 mean, and what a random map scores: about k/(n − 1).

    X, Y : rows, distances or a graph; their points on the map
    n_neighbors : k
    metric, n_jobs : of the rows; threads
    per_point : a value for each row instead of the mean
    sample, random_state : so many rows, drawn at random, stand for all
    """
    rows_of_data, points = space_of(X, metric, n_jobs), space_of(Y)
    k = neighbor_count(n_neighbors, points.n)
    rows = drawn_rows(points.n, sample, random_state)
    nearest = rows_of_data.nearest(1, rows)[0]
    values = np.mean(points.nearest(k, rows)[0] == nearest, axis=1) * k
    return values_or_mean(values, rows, points.n, (0.0, 1.0), per_point)
