"""From eigenvectors to points: the last column of the method table.

Lifts that end in a linear map of the features live with it, in `dualfold.maps.linear`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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

    def of(self, V: Array, values: Array) -> Array:
        """The same, as a `Scale`."""
        return self.factors(values)

    def __call__(self, V: Array, values: Array) -> Array:
        return np.asarray(V * self.factors(values))


class Scale(Protocol):
    """By how much each coordinate is multiplied: from the vectors and their eigenvalues."""

    def of(self, V: Array, values: Array) -> Array: ...


@dataclass(frozen=True)
class Evened:
    """V·√(λ_min/λ), λ_min of those shown: an eigenvector of a Laplacian varies over 1/√λ.

    Unit vectors become as long as what they measure. Eigenvalues below `floor` count as it:
    they are rounding.
    """

    floor: float = 0.0

    def of(self, V: Array, values: Array) -> Array:
        """What each coordinate is multiplied by, 1 for the longest."""
        sizes = np.maximum(values, max(self.floor, np.finfo(float).tiny))
        return np.asarray(np.sqrt(sizes.min() / sizes))


@dataclass(frozen=True, eq=False)
class Stepped:
    """Steps of one length: coordinates over their root mean square difference along edges.

    What 1/√λ does where A is a Laplacian; the eigenvalues of other matrices say less. Steps that
    differ by less than `alike` stay as they are: on a square LLE stretches places by more.
    """

    edges: tuple[Array, Array]
    alike: float = 1.5

    def of(self, V: Array, values: Array) -> Array:
        """What each coordinate is multiplied by, 1 for the longest."""
        i, j = self.edges
        steps = np.sqrt([np.mean((column[i] - column[j]) ** 2) for column in V.T])
        steps = np.maximum(steps, np.finfo(float).tiny)
        if steps.max() <= self.alike * steps.min():
            return np.ones(len(steps))
        return np.asarray(steps.min() / steps)


@dataclass(frozen=True)
class Chosen:
    """The columns `indices` of V, scaled."""

    indices: tuple[int, ...]
    scale: Scale

    def __call__(self, V: Array, values: Array) -> Array:
        columns, their = shown(self, V, values)
        return np.asarray(columns * self.scale.of(columns, their))


def shown(lift: object, V: Array, values: Array) -> tuple[Array, Array]:
    """The vectors that are coordinates, with their values: all, or those that a lift chose."""
    if not isinstance(lift, Chosen):
        return V, values
    columns = list(lift.indices)
    return V[:, columns], np.asarray(values)[columns]
