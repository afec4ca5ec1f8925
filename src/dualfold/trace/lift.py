"""From eigenvectors to points: the last column of the method table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def vectors(V: Array, values: Array) -> Array:
    """The points are the eigenvectors themselves (eigenmaps, LLE)."""
    return V


def scaled_vectors(V: Array, values: Array) -> Array:
    """V Λ^½, so that Gram matrices are reproduced (MDS, Isomap); λ ≤ 0 gives no extent."""
    return V * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True, eq=False)
class Projected:
    """(X − mean) V: the points are linear images of the data (PCA, LPP, …)."""

    data: Any
    mean: Array

    def __call__(self, V: Array, values: Array) -> Array:
        # (X − 1·meanᵀ)V loses digits as XV − 1·(meanᵀV) when the mean is far from 0:
        # dense rows are shifted in tiles, sparse ones cannot be without filling them.
        if not isinstance(self.data, np.ndarray):
            return np.asarray(self.data @ V - self.mean @ V)
        points = np.empty((len(self.data), V.shape[1]))
        tile = max(1, 2**20 // max(1, self.data.shape[1]))
        for start in range(0, len(points), tile):
            points[start : start + tile] = (self.data[start : start + tile] - self.mean) @ V
        return points
