"""One map of a page: its points, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.judgement import Judgement
from dualfold.quality import QualityReport, report
from dualfold.quality.estimate import sample_size
from dualfold.quality.ranks import NeighborRanks, neighbor_ranks
from dualfold.quality.space import both_spaces
from dualfold.quality.tied_lists import tied_lists, ties_beyond_lists

__all__ = ["Map", "measured_map"]


@dataclass(frozen=True, eq=False)
class Map:
    """Map of a page; only its name and its points are needed.

    Parameters
    ----------
    name : str
        What the tab says, for example the method.
    points : array-like of shape (n_samples, n_components)
        Map; of more than three columns the first two are drawn.
    values : array-like or None, default=None
        Eigenvalues, wanted ones first.
    certificate : Certificate or None, default=None
        How far from the optimum the map can be.
    quality : QualityReport or None, default=None
        What `dualfold.quality.report(X, points)` returns.
    neighbors : array-like of shape (n_samples, k) or None, default=None
        The nearest rows of each row in the data, nearest first.
    tied : tuple of array-like or None, default=None
        Pairs (rows, others): others that are as near to a row in the data as the last on its list,
        and near on the map. A map that shows them keeps neighbours.
    history : list or None, default=None
        Records of the solver, or rows of (value, relative gap).
    ranks : NeighborRanks or None, default=None
        Ranks of neighbours, for the curves over their number; `measured_map` has them.
    pieces : int or None, default=None
        Number of pieces of the neighbour graph.
    equal : bool, default=True
        Whether one unit is as long on every axis; False where lengths mean nothing.
    explained : array-like or None, default=None
        Share of the variance that each axis explains.
    scores : mapping or None, default=None
        Names, and one value for each point, to colour this map by.
    judgement : Judgement or None, default=None
        What `dualfold.judging.map_judgement(X, points)` returns: what the map shows, and what its
        axes and groups mean.
    columns : mapping or None, default=None
        Names of columns that have a place on the map, and their coordinates.
    explains : str, default="variance"
        What `explained` are shares of.

    See Also
    --------
    measured_map : A map with its quality and its neighbours.
    PageContent : Takes maps.

    Examples
    --------
    >>> from dualfold.view import Map
    >>> Map("PCA", [[0.0, 1.0], [2.0, 3.0]]).name
    'PCA'
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
    judgement: Judgement | None = None
    columns: Mapping[str, Any] | None = None
    explains: str = "variance"

    def of_rows(self, rows: Array) -> Map:
        """Some rows of the map alone, without neighbours, most of which would not be there.

        Parameters
        ----------
        rows : ndarray of int
            Row numbers.

        Returns
        -------
        Map
            The map of these rows.
        """
        quality = self.quality
        if quality is not None:
            per_point = {name: values[rows] for name, values in quality.per_point.items()}
            quality = replace(quality, per_point=per_point)
        scores = {name: np.asarray(v)[rows] for name, v in (self.scores or {}).items()}
        points = np.asarray(self.points)[rows]
        alone = replace(self, points=points, neighbors=None, tied=None)
        judgement = None if self.judgement is None else self.judgement.of_rows(rows)
        return replace(alone, quality=quality, scores=scores, judgement=judgement)


def measured_map(
    shown: Map,
    X: Any,
    *,
    labels: Any = None,
    n_neighbors: int = 10,
    metric: Any = "euclidean",
    sample: int | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Map:
    """Map with its quality, its curves and its neighbours in the data.

    Parameters
    ----------
    shown : Map
        Map to measure; neighbours that it has already are kept.
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    labels : array-like of shape (n_samples,) or None, default=None
        Classes, to measure how well the map keeps them together.
    n_neighbors : int, default=10
        Number of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample : int or None, default=None
        Number of points that the quality is measured on; None: all up to 5,000, else 1,000 of them.
        The page says how many.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in means over points, 0 or more; None: all alike.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Map
        The same map, measured.

    See Also
    --------
    make_page : A page of maps.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.view import Map, measured_map
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> measured_map(Map("two columns", X[:, :2]), X, n_neighbors=5).quality.n
    30
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
        "sample_weight": sample_weight,
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
