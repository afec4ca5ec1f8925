"""Measures that compare distances before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.graph.geodesics import geodesic_distances
from dualfold.graph.graph import Graph

Array = np.ndarray[Any, np.dtype[Any]]

# Numbers in a tile of distances: 16 MB in float64.
TILE = 2**21


def residual_variance(distances: Any, points: Any) -> float:
    """1 − R² between given distances and those of the embedded points; 0 is perfect.

    `distances` is an n×n matrix or a `Graph`, which stands for its geodesics (computed
    some rows at a time, never all together). R is the correlation over all pairs of
    different points. A scale between the two does not matter, and a constant added to
    every distance does not either. 1 when one side does not vary at all.

    Tenenbaum, de Silva and Langford (2000), note 42.
    """
    Y = np.asarray(points, dtype=float)
    n = distances.n if isinstance(distances, Graph) else np.shape(distances)[0]
    if Y.ndim != 2 or len(Y) != n or (not isinstance(distances, Graph) and distances.shape[1] != n):
        raise InvalidInput(
            f"distances between {n} points and as many embedded ones are needed; the points have "
            f"shape {Y.shape}"
            + ("" if isinstance(distances, Graph) else f", the distances {distances.shape}")
        )
    moments = Moments()
    for start, tile in _row_tiles(distances, n):
        given = np.asarray(tile, dtype=float)
        embedded = _distances_to_all(Y, start, len(given))
        others = np.ones(given.shape, dtype=bool)
        others[np.arange(len(given)), np.arange(start, start + len(given))] = False
        moments.add(given[others], embedded[others])
    if not np.isfinite(moments.products).all():
        raise InvalidInput(
            "the distances hold NaN or infinite entries; a graph in several pieces gives infinite "
            "geodesics: measure each piece on its own"
        )
    (xx, xy), (_, yy) = moments.products
    return float(1 - xy / xx * (xy / yy)) if xx > 0 and yy > 0 else 1.0


@dataclass
class Moments:
    """Mean and centred products of two series that come in parts.

    Parts are centred by their own means and merged (Chan, Golub and LeVeque 1983), so
    nothing is lost when the distances vary little against their size.
    """

    count: int = 0

    def __post_init__(self) -> None:
        self.mean, self.products = np.zeros(2), np.zeros((2, 2))

    def add(self, x: Array, y: Array) -> None:
        if not len(x):
            return
        mean = np.array([x.mean(), y.mean()])
        x, y = x - mean[0], y - mean[1]
        total, apart = self.count + len(x), mean - self.mean
        self.products = self.products + np.array([[x @ x, x @ y], [x @ y, y @ y]])
        self.products += np.outer(apart, apart) * (self.count * len(x) / total)
        self.mean = self.mean + apart * (len(x) / total)
        self.count = total


def _row_tiles(distances: Any, n: int) -> Iterator[tuple[int, Array]]:
    height = max(1, TILE // max(1, n))
    for start in range(0, n, height):
        rows = np.arange(start, min(n, start + height))
        geodesic = isinstance(distances, Graph)
        yield start, geodesic_distances(distances, rows) if geodesic else distances[rows]


def _distances_to_all(Y: Array, start: int, height: int) -> Array:
    """Distances of some rows to all, from differences: exact for close points too."""
    squares = np.zeros((height, len(Y)))
    for column in Y.T:
        squares += np.square(np.subtract.outer(column[start : start + height], column))
    return np.sqrt(squares)
