"""New points as combinations of their neighbours, there and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.weights.batches import BATCH_NUMBERS, dense_rows
from dualfold.weights.reconstruction import affine_weights, gram_weights


@dataclass(frozen=True, eq=False)
class LocalWeightsMap:
    """y = Σ_j w_j y_j with the affine weights that rebuild x from its nearest old points.

    features, points : the old points in space and on the map
    n_neighbors, ridge : how many rebuild a new one, and what steadies their weights

    `inverse` does the same from the embedding to the features. A point that coincides
    with an old one takes its place; without that the ridge would spread some of its
    weight to the others, and old points come back only up to the reconstruction error.
    """

    features: Any
    points: Array
    n_neighbors: int
    ridge: float

    def __call__(self, X: Any) -> Array:
        return self._carried(X, self.features, self.points)

    def inverse(self, Y: Any) -> Array:
        """Features of points on the map, by weights found among its points."""
        everything = np.arange(self.features.shape[0])
        return self._carried(np.asarray(Y), self.points, dense_rows(self.features, everything))

    def _carried(self, queries: Any, known: Any, images: Array) -> Array:
        found = nearest(known, self.n_neighbors, queries=queries)
        near = found.indices
        carried = np.empty((len(near), images.shape[1]))
        height = max(1, BATCH_NUMBERS // (near.shape[1] * (known.shape[1] + near.shape[1])))
        for start in range(0, len(near), height):
            rows = np.arange(start, min(start + height, len(near)))
            around = dense_rows(known, near[rows].ravel()).reshape(len(rows), near.shape[1], -1)
            around = around - dense_rows(queries, rows)[:, None]
            weights = affine_weights(around, self.ridge)
            carried[rows] = np.einsum("bk,bkd->bd", weights, images[near[rows]])
        same = found.distances[:, 0] == 0
        carried[same] = images[near[same, 0]]
        return carried


@dataclass(frozen=True, eq=False)
class LocalDistancesMap:
    """The same from distances alone: rows of X are those from a new point to every old one.

    The Gram matrix of the neighbours around the new point is G_ab = ½(δ_a² + δ_b² − d_ab²).
    """

    distances: Any
    points: Array
    n_neighbors: int
    ridge: float

    def __call__(self, X: Any) -> Array:
        if sp.issparse(X) or sp.issparse(self.distances):
            raise InvalidInput(
                "new points are placed by dense precomputed distances; these are sparse: give "
                "every distance from the new points to the old ones, or fit on features"
            )
        rows = np.asarray(X, dtype=float)
        near = np.argsort(rows, axis=1, kind="stable")[:, : self.n_neighbors]
        reach = np.take_along_axis(rows, near, axis=1)
        between = np.asarray(self.distances)[near[:, :, None], near[:, None, :]].astype(float)
        gram = (reach[:, :, None] ** 2 + reach[:, None, :] ** 2 - between**2) / 2
        weights = gram_weights(gram, self.ridge)
        placed = np.einsum("bk,bkd->bd", weights, self.points[near])
        same = reach[:, 0] == 0
        placed[same] = self.points[near[same, 0]]
        return np.asarray(placed)
