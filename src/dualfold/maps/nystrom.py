"""New points for eigenmaps: the weighted mean of their neighbours, stretched by 1 − λ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.graph.attach import attach
from dualfold.graph.graph import Graph
from dualfold.weights.affinity import Affinity

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class NystromMap:
    """An eigenvector, read as an equation for one more row of the graph.

    B = Deg: y_k = Σ_j (w_j/deg) y_jk/(1 − λ_k);  B = I: y_k = Σ_j w_j y_jk/(deg − λ_k).
    Old points come back exactly (their rows of the graph are rebuilt by `attach`), but
    for the ends of links that joined pieces. A point too far off for any weight takes the
    place of its nearest old point.
    """

    graph: Graph
    affinity: Affinity
    points: Array
    values: Array
    constraint: str

    def __call__(self, queries: Any) -> Array:
        new = attach(self.graph, queries)
        W = self.affinity.of_attachment(new)
        degrees = np.asarray(W.sum(axis=1)).ravel()
        total = W @ self.points
        lost = degrees <= 0
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.constraint == "degree":
                places = total / degrees[:, None] / (1 - self.values)
            else:
                places = total / (degrees[:, None] - self.values)
        if lost.any():
            firsts = np.minimum(new.lists.indptr[:-1], len(new.lists.indices) - 1)
            places[lost] = self.points[new.lists.indices[firsts[lost]]]
        return np.asarray(places)
