"""New points for eigenmaps: the weighted mean of their neighbours, stretched by 1 − λ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.attachment import attach
from dualfold.graph.graph import Graph
from dualfold.weights.affinity import Affinity


@dataclass(frozen=True, eq=False)
class NystromMap:
    """An eigenvector, read as an equation for one more row of the graph.

    B = Deg: y_k = Σ_j (w_j/deg) y_jk/(1 − λ_k);  B = I: y_k = Σ_j w_j y_jk/(deg − λ_k).
    Old points come back exactly: their rows of the graph are rebuilt by `attach`, with
    the links that joined pieces. A point too far off for any weight takes the place of
    its nearest old point.

    graph, affinity : the old points' graph, and the rule of its weights
    points, values : their coordinates, and the eigenvalues λ of these
    constraint : "degree" (B = Deg) or "identity" (B = I)
    """

    graph: Graph
    affinity: Affinity
    points: Array
    values: Array
    constraint: str

    def __call__(self, queries: Any) -> Array:
        new = attach(self.graph, queries)
        W = self.affinity.of_attachment(new, self.graph)
        degrees = np.asarray(W.sum(axis=1)).ravel()
        total = W @ self.points
        lost = degrees <= 0
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.constraint == "degree":
                places = total / degrees[:, None] / _away_from_zero(1 - self.values, 1.0)
            else:
                stretch = _away_from_zero(degrees[:, None] - self.values, degrees[:, None])
                places = total / stretch
        if lost.any():
            firsts = np.minimum(new.lists.indptr[:-1], len(new.lists.indices) - 1)
            places[lost] = self.points[new.lists.indices[firsts[lost]]]
        return np.asarray(places)


def _away_from_zero(stretch: Array, plain: Any) -> Array:
    """λ = 1 (or the degree) leaves the equation without an answer: then the plain mean."""
    return np.where(np.abs(stretch) > 1e-8 * np.abs(plain), stretch, plain)
