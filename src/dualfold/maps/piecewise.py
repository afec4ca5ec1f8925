"""Maps made of other maps: pieces laid side by side, coordinates scaled afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.neighbors import nearest


@dataclass(frozen=True, eq=False)
class PiecewiseMap:
    """A new point goes by the map of the piece that its nearest old point belongs to.

    features, metric : the old points, and how near is measured
    owner : the piece of each of them
    points : where they are
    offsets : by how far each piece was moved, a row a piece
    maps : one for each piece; None for a single point, beside which new ones take its place
    """

    features: Any
    metric: Any
    owner: Array
    points: Array
    offsets: Array
    maps: tuple[Callable[[Any], Array] | None, ...]

    def __call__(self, X: Any) -> Array:
        if is_precomputed(self.metric):
            raise InvalidInput(
                "new points cannot be placed with ",
                Argument("pieces", "separate"),
                " and ",
                Argument("metric", "precomputed"),
                "; use ",
                Argument("pieces", "join"),
            )
        closest = nearest(self.features, 1, queries=X, metric=self.metric).indices[:, 0]
        owner = self.owner[closest]
        places = self.points[closest].copy()
        for piece in np.unique(owner):
            rows = np.flatnonzero(owner == piece)
            place = self.maps[piece]
            if place is not None:
                found = place(X[rows])
                places[rows] = 0.0
                places[rows, : found.shape[1]] = found
                places[rows] += self.offsets[piece]
        return places


@dataclass(frozen=True, eq=False)
class RescaledMap:
    """Coordinates multiplied by `times` (a diffusion time) or divided by `over` (whitening)."""

    map: Callable[[Any], Array]
    times: Array | None = None
    over: Array | None = None

    def __call__(self, X: Any) -> Array:
        points = self.map(X)
        points = points if self.times is None else points * self.times
        return points if self.over is None else points / self.over
