"""From eigenvectors to points: the last column of the method table.

Lifts that end in a linear map of the features live with it, in `dualfold.maps.linear`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array


def vectors(V: Array, values: Array) -> Array:
    """The points are the eigenvectors themselves (eigenmaps, LLE)."""
    return V


def scaled_vectors(V: Array, values: Array) -> Array:
    """V Λ^½, so that Gram matrices are reproduced (MDS, Isomap); λ ≤ 0 gives no extent."""
    return V * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True)
class Diffused:
    """V·|1 − λ|^t: eigenvectors of a random walk after t = `time` steps; λ is 0 where it rests."""

    time: float

    def factors(self, values: Array) -> Array:
        """What each coordinate is multiplied by."""
        return np.asarray(np.abs(1 - values) ** self.time)

    def __call__(self, V: Array, values: Array) -> Array:
        return np.asarray(V * self.factors(values))
