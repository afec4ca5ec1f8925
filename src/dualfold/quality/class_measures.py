"""Measures for points whose classes are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels import kernel
from dualfold.quality.estimate import drawn_rows, values_or_mean
from dualfold.quality.space import neighbor_count, space_of

_class_sums = kernel("class_sums")


def silhouette(
    Y: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """How much nearer points are to their own class than to the next one. −1 to 1; 1 best.

        mean over i of (b_i − a_i)/max(a_i, b_i)

    a_i: mean distance to the others of its class, by `labels`; b_i: the smallest mean
    distance to another class. 0 for a class of one. Equal to
    `sklearn.metrics.silhouette_score`; no n×n matrix, Y a map or any data.

    Rousseeuw, "Silhouettes" (1987).
    """
    space = space_of(Y, metric, n_jobs)
    classes, codes = _classes(labels, space.n)
    rows = drawn_rows(space.n, sample, random_state)
    order = np.argsort(codes, kind="stable")
    place = np.empty(space.n, dtype=np.int32)
    place[order] = np.arange(space.n, dtype=np.int32)
    sizes = np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = np.empty(space.n if rows is None else len(rows))

    def tile(places: slice, names: Array) -> None:
        distances = np.ascontiguousarray(space.rows(names)[:, order])
        sums = np.empty((len(names), len(classes)))
        _class_sums(distances, space.n, len(names), place[names], starts, len(classes), sums)
        own = codes[names], np.arange(len(names))
        others = sizes[own[0]] - 1
        within = sums[own[1], own[0]] / np.maximum(others, 1)
        sums /= sizes
        sums[own[1], own[0]] = np.inf
        between = sums.min(axis=1)
        longer = np.maximum(within, between)
        ratio = np.divide(between - within, longer, out=np.zeros(len(names)), where=longer > 0)
        values[places] = np.where(others > 0, ratio, 0.0)

    space.each_tile(tile, rows)
    return values_or_mean(values, rows, space.n, (-1.0, 1.0), per_point)


def knn_accuracy(
    Y: Any,
    labels: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """The share of points whose k nearest vote for their class. 0 to 1; 1 best.

    Each point is left out of its own vote. Equal votes go to the class that comes first
    in sorted order, as in `sklearn.neighbors.KNeighborsClassifier`. Compare the map's with
    that of X itself: `knn_accuracy(X, labels)`.
    """
    space = space_of(Y, metric, n_jobs)
    classes, codes = _classes(labels, space.n)
    k, rows = neighbor_count(n_neighbors, space.n), drawn_rows(space.n, sample, random_state)
    own = codes if rows is None else codes[rows]
    right = majority_class(space.nearest(k, rows)[0], codes, len(classes)) == own
    values = right.astype(float)
    return values_or_mean(values, rows, space.n, (0.0, 1.0), per_point)


def neighborhood_hit(
    Y: Any,
    labels: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """The share of a point's k nearest that are of its class, on average. 0 to 1; 1 best.

    Where `knn_accuracy` asks whether the right class has most votes, this asks how many it has:
    it falls as soon as the classes of `labels` mix at their borders. Paulovich et al. (2008).
    """
    space = space_of(Y, metric, n_jobs)
    _, codes = _classes(labels, space.n)
    k, rows = neighbor_count(n_neighbors, space.n), drawn_rows(space.n, sample, random_state)
    own = codes if rows is None else codes[rows]
    values = np.mean(codes[space.nearest(k, rows)[0]] == own[:, None], axis=1)
    return values_or_mean(values, rows, space.n, (0.0, 1.0), per_point)


def majority_class(lists: Array, codes: Array, classes: int) -> Array:
    """The class that most of each row's neighbours have, the first of equals."""
    votes = np.zeros((len(lists), classes), dtype=np.int32)
    np.add.at(votes, (np.arange(len(lists))[:, None], codes[lists]), 1)
    return np.asarray(votes.argmax(axis=1))


def _classes(labels: Any, n: int) -> tuple[Array, Array]:
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InvalidInput(
            Argument("labels"),
            f" must be one class for each point ({n}); their shape is {given.shape}",
        )
    classes, codes = np.unique(given, return_inverse=True)
    if not 2 <= len(classes) <= max(n - 1, 2):
        raise InvalidInput(
            Argument("labels"),
            f" must name from 2 to n−1 classes; {len(classes)} of {n} points are given. Are "
            "they numbers to colour by rather than classes?",
        )
    return classes, codes
