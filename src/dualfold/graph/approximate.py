"""Approximate lists with a measured recall."""

from __future__ import annotations

import numpy as np

from dualfold.graph.forest import forest_lists, refine_lists
from dualfold.graph.lower_bounds import Coordinates, Frame, frame_of, principal_directions
from dualfold.graph.neighbor_lists import Neighbors, Search, recall_interval, without_self
from dualfold.graph.scan import rerank_lists, scan_queries

__all__ = ["approximate_search"]

# MNIST 70,000, k = 10 (seconds of one core in forest, refinement, ranking): these .965
# (2.2 + .8 + 1.3); 8 trees .948, and with a second round .975 (1.5 + 2.2 + 1.2); 48
# directions .956, no faster.
FOREST_DIRECTIONS, FOREST_TREES, MIN_LEAF_ROWS, REFINEMENT_ROUNDS = 64, 12, 320, 1


def approximate_search(
    X: np.ndarray,
    k: int,
    threads: int,
    random_state: int | np.random.Generator | None,
    recall_sample: int,
) -> Neighbors:
    """A forest in the top principal coordinates, refined, re-ranked by true distance."""
    rng = np.random.default_rng(random_state)
    n, width = X.shape
    count = min(width, FOREST_DIRECTIONS)
    basis = principal_directions(X, count) if count < width else None
    frame = frame_of(X, None, basis)
    points = frame.coordinates(X)
    # The coordinates order neighbours only roughly: keep more than k for the re-ranking.
    length = min(n - 1, 2 * k + 12)
    distance, index, _ = forest_lists(
        points,
        length,
        trees=FOREST_TREES,
        leaf=max(MIN_LEAF_ROWS, 2 * length),
        threads=threads,
        rng=rng,
    )
    for _ in range(REFINEMENT_ROUNDS):
        distance, index = refine_lists(points, distance, index, near=k + 2, threads=threads)
    indices, distances = rerank_lists(X, points, frame.scale, (distance, index), k, threads)
    recalls = _row_recalls(X, frame, points, distances, min(n, recall_sample), threads, rng)
    recall = float(recalls.mean()) if len(recalls) else float("nan")
    found = Search("forest", False, 0.0, recall, recall_interval(recalls), len(recalls))
    return Neighbors(indices, distances, found)


def _row_recalls(
    X: np.ndarray,
    frame: Frame,
    points: Coordinates,
    distances: np.ndarray,
    size: int,
    threads: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Of sampled rows: the share of entries no farther than the true k-th neighbour."""
    n, k = distances.shape
    rows = np.sort(rng.choice(n, size, replace=False))
    if not size:
        return np.empty(0)
    asked = np.ascontiguousarray(X[rows])
    reach = distances[rows, -1].copy()  # the point itself and k others lie within it
    lists = scan_queries(
        X, points, asked, frame.coordinates(asked), frame.scale, k + 1, threads, reach
    )
    _, true = without_self(*lists, rows)
    return np.asarray((distances[rows] <= true[:, -1:]).mean(axis=1))
