"""One map of a page: its points, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.quality import NeighborRanks, QualityReport, neighbor_ranks, report
from dualfold.quality.estimate import sample_size
from dualfold.quality.ranks import both_spaces

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
    history : the solver's records, or rows of (value, relative gap)
    ranks : `dualfold.quality.neighbor_ranks(X, points, k)`, for the curves over 1 … k
    pieces : of the neighbour graph
    equal : whether one unit is as long on every axis (False where lengths mean nothing)
    explained : the share of the variance that each axis explains, where it does
    scores : name → one value for each point, to colour this map by beside what its quality says
    """

    name: str
    points: Any
    values: Any = None
    certificate: Any = None
    quality: QualityReport | None = None
    neighbors: Any = None
    history: Any = None
    ranks: NeighborRanks | None = None
    pieces: int | None = None
    equal: bool = True
    explained: Any = None
    scores: Mapping[str, Any] | None = None


def measured_map(
    name: str,
    X: Any,
    points: Any,
    *,
    values: Any = None,
    certificate: Any = None,
    history: Any = None,
    labels: Any = None,
    pieces: int | None = None,
    equal: bool = True,
    explained: Any = None,
    n_neighbors: int = 10,
    neighbors: Any = None,
    metric: Any = "euclidean",
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Map:
    """A `Map` with its quality, its curves and its neighbours in the data X measured here.

    name : the map's, on its tab; points : n×2 or n×3
    values, certificate, history : eigenvalues, verdict and steps of the solver, if there are any
    labels : classes, to measure how well the map keeps them together
    pieces : in how many the neighbour graph was
    equal : False where lengths on the map mean nothing, as in eigenmaps
    explained : the share of the variance that each axis explains
    n_neighbors, metric : of the neighbourhoods that are held against each other
    random_state, n_jobs : of the sample; threads (None: all cores)
    sample : points asked for the quality (None: all up to 5,000, else 1,000 of them); the
        page says how many
    neighbors : n×k, if they are known already
    """
    placed = np.asarray(points, dtype=float)
    placed = placed[:, None] if placed.ndim == 1 else placed
    n = len(placed)
    asked = sample_size(n, sample)
    k = min(n_neighbors, (n - 1) // 2)
    if k < 1:  # one or two points: there is nothing to measure
        known = {"history": history, "pieces": pieces, "equal": equal, "explained": explained}
        return Map(name, placed, values, certificate, **known)
    drawn = {"metric": metric, "sample": asked, "random_state": random_state, "n_jobs": n_jobs}
    # Spaces keep the neighbours that they found: each side is searched once.
    x, y = both_spaces(X, placed, metric, n_jobs)
    quality = report(x, y, labels=labels, n_neighbors=k, **drawn)
    ranks = neighbor_ranks(x, y, max(k, min(50, (n - 1) // 2)), **drawn)
    if neighbors is None:
        neighbors = x.nearest(k)[0]
    return Map(
        name, placed, values, certificate, quality, neighbors, history, ranks, pieces, equal,
        explained,
    )  # fmt: skip
