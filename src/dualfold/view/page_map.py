"""One map of a page: its points, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.auditing.map_meaning import MapMeaning
from dualfold.quality import QualityReport, report
from dualfold.quality.estimate import sample_size
from dualfold.quality.map_verdict import MapVerdict
from dualfold.quality.ranks import NeighborRanks, neighbor_ranks
from dualfold.quality.space import both_spaces
from dualfold.quality.tied_lists import tied_lists, ties_beyond_lists

__all__ = ["Map", "measured_map"]


@dataclass(frozen=True, eq=False)
class Map:
    """One embedding on the page; only its name and its points are needed.

    name : what the tab says, for example the method
    points : n×1, n×2 or n×3 (of more columns the first two are drawn)
    values : eigenvalues, wanted ones first
    certificate : a `dualfold.Certificate`, how far from the optimum the map can be
    quality : `dualfold.quality.report(X, points)`
    neighbors : n×k, the nearest rows of each in the data, nearest first
    tied : (rows, others): others that are as near to a row in the data as the last on its list,
        and near on the map; a map that shows them keeps neighbours
    history : the solver's records, or rows of (value, relative gap)
    ranks : `neighbor_ranks(X, points, k)`, for the curves over 1 … k
    pieces : of the neighbour graph
    equal : whether one unit is as long on every axis (False where lengths mean nothing)
    explained : the share of the variance that each axis explains, where it does
    scores : name → one value for each point, to colour this map by beside what its quality says
    verdict : `dualfold.auditing.map_verdict(X, points)`: overall order, neighbourhoods, groups
    meaning : `dualfold.auditing.map_meaning.map_meaning(columns, points)`: axes, arrows, groups
    """

    name: str
    points: Any
    values: Any = None
    certificate: Any = None
    quality: QualityReport | None = None
    neighbors: Any = None
    tied: Any = None
    history: Any = None
    ranks: NeighborRanks | None = None
    pieces: int | None = None
    equal: bool = True
    explained: Any = None
    scores: Mapping[str, Any] | None = None
    verdict: MapVerdict | None = None
    meaning: MapMeaning | None = None

    def of_rows(self, rows: Array) -> Map:
        """These rows alone, without neighbours, most of which would not be there."""
        quality = self.quality
        if quality is not None:
            per_point = {name: values[rows] for name, values in quality.per_point.items()}
            quality = replace(quality, per_point=per_point)
        scores = {name: np.asarray(v)[rows] for name, v in (self.scores or {}).items()}
        points = np.asarray(self.points)[rows]
        alone = replace(self, points=points, neighbors=None, tied=None)
        meaning = None if self.meaning is None else self.meaning.of_rows(rows)
        return replace(alone, quality=quality, scores=scores, meaning=meaning)


def measured_map(
    shown: Map,
    X: Any,
    *,
    labels: Any = None,
    n_neighbors: int = 10,
    metric: Any = "euclidean",
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Map:
    """The map with its quality, its curves and its neighbours in the data X.

    shown : a `Map`; neighbours that it has already are kept
    X : the data, n rows, or a `quality.space.Space` of them
    labels : classes, to measure how well the map keeps them together
    n_neighbors, metric : of the neighbourhoods that are compared
    sample : points that the quality is measured on (None: all up to 5,000, else 1,000 of them);
        the page says how many
    random_state, n_jobs : of the sample; threads (None: all cores)
    """
    points = np.asarray(shown.points, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    n = len(points)
    k = min(n_neighbors, (n - 1) // 2)
    if k < 1:  # one or two points: there is nothing to measure
        return replace(shown, points=points)
    sampled = {
        "metric": metric,
        "sample": sample_size(n, sample),
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    # Spaces cache the neighbours that they found: each side is searched once.
    x, y = both_spaces(X, points, metric, n_jobs)
    before = tied_lists(x, k, None, rounded=True)
    return replace(
        shown,
        points=points,
        tied=ties_beyond_lists(x, y, before),
        # No page shows Kruskal's stress, which would take most of the time and memory.
        quality=report(x, y, labels=labels, n_neighbors=k, kruskal=False, **sampled),
        ranks=neighbor_ranks(x, y, max(k, min(50, (n - 1) // 2)), **sampled),
        neighbors=before.indices if shown.neighbors is None else shown.neighbors,
    )
