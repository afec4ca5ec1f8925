"""All measures of one map together, with a verdict in plain language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric, Seed
from dualfold.graph.graph import Graph
from dualfold.notebook import shown_html
from dualfold.quality.class_measures import knn_accuracy, neighborhood_hit, silhouette
from dualfold.quality.coranking import CoRanking, NeighborhoodCurve, co_ranking_of, curve_of
from dualfold.quality.estimate import (
    Estimate,
    drawn_rows,
    estimate_of_mean,
    limits_of,
    mean_estimate,
    measured_weights,
    values_at_all_points,
)
from dualfold.quality.neighborhood_shape import correlation_of_densities, distortion_of
from dualfold.quality.pair_measures import (
    MAX_SORTED_PAIRS,
    PairSums,
    PairSumsCollector,
    nonmetric_stress,
    pair_sums,
)
from dualfold.quality.pair_tiles import each_pair_tile
from dualfold.quality.picture import MEASURE_MEANINGS, Picture, percent, verdict_of
from dualfold.quality.ranks import (
    NeighborRanks,
    check_half,
    neighbors_of_lists,
    ranks_of_lists,
)
from dualfold.quality.shepard import DistanceGrid, Shepard
from dualfold.quality.space import MapPoints, Measured, Space, both_spaces, neighbor_count
from dualfold.quality.tied_lists import order_means, tied_lists

if TYPE_CHECKING:
    import pandas as pd


# Neighbours of each point that the R_NX curve and the co-ranking matrix go to.
MAX_CURVE_RANK = 100


@dataclass(frozen=True, eq=False)
class QualityReport:
    """Measures of a map, with a verdict in words; `print` it.

    Attributes
    ----------
    measures : dict
        Names and numbers. Of a sample they have the limits `low` and `high`, but for Kruskal's
        stress and the correlation of densities. `to_frame` has what each means and which end is
        good.
    per_point : dict
        Names and arrays with one number for each point, to colour the map by; NaN: not sampled.
    curve : NeighborhoodCurve
        Neighbours kept for every size of the neighbourhood.
    co_ranking : CoRanking
        Counts of ranks in X and on the map.
    shepard : Shepard
        Counts of distances in X and on the map.
    n : int
        Number of points.
    n_neighbors : int
        Size of a neighbourhood.
    sampled : int
        Number of points that were measured.
    space : str
        In which table or by which metric neighbours were counted; "" for the table as given.
    filled_share : float
        Share of the cells of the table that were filled in.
    doubt : str
        Why the numbers say nothing, in words; "" where they do.
    effective_rows : float or None
        How many points that count alike would give means as certain as the weighted ones: at most
        (Σw)²/Σw² of the measured points; None where all count alike.

    See Also
    --------
    report : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import report
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> found = report(X, X[:, :2], n_neighbors=5)
    >>> found.n, found.picture.grade
    (40, 'good')
    >>> "trustworthiness" in found.to_frame().index
    True
    """

    measures: dict[str, float]
    per_point: dict[str, Array]
    curve: NeighborhoodCurve
    co_ranking: CoRanking
    shepard: Shepard
    n: int
    n_neighbors: int
    sampled: int
    space: str = ""
    filled_share: float = 0.0
    doubt: str = ""
    effective_rows: float | None = None

    @property
    def picture(self) -> Picture:
        """Share of neighbours kept, beside chance, with a grade.

        Returns
        -------
        Picture
            `kept`, `chance`, `grade` ("good", "fair", "poor" or "hardly any") and a sentence.
        """
        kept = self.measures["t_similarity"]
        chance = float(kept) - float(self.measures["lcmc"])
        return Picture(
            kept,
            self.n,
            self.n_neighbors,
            space=self.space,
            chance_share=chance,
            filled_share=self.filled_share,
            doubt=self.doubt,
        )

    @property
    def verdict(self) -> str:
        """A few sentences for readers who do not know the theory.

        Returns
        -------
        str
            The verdict.
        """
        words = verdict_of(self.measures, self.per_point, self.picture)
        if self.effective_rows is None:
            return words
        return (
            f"{words} Means over points are weighted: they are as certain as means of "
            f"{self.effective_rows:.0f} points that count alike."
        )

    def __str__(self) -> str:
        width = max(map(len, self.measures))
        lines = [
            f"  {name:<{width}}  {value:7.4f}{_bounds(value)}  {MEASURE_MEANINGS[name].short}"
            for name, value in self.measures.items()
        ]
        return "\n".join([self.verdict, "", *lines])

    def __repr__(self) -> str:
        kept = percent(self.measures["t_similarity"])
        return f"QualityReport({self.n} points; {self.picture.grade}, {kept} of neighbours kept)"

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{value:.4f}{_bounds(value)}", MEASURE_MEANINGS[name].short)
            for name, value in self.measures.items()
        ]
        return shown_html("Is it a good picture?", self.verdict, rows)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, their bounds, the curve and the verdict.

        Returns
        -------
        dict
            Ready for JSON.
        """
        bounds = {
            name: [value.low, value.high]
            for name, value in self.measures.items()
            if isinstance(value, Estimate)
        }
        return {
            "schema": "dualfold.quality/1",
            "n": self.n,
            "n_neighbors": self.n_neighbors,
            "sampled": self.sampled,
            "effective_rows": self.effective_rows,
            "measures": {name: float(value) for name, value in self.measures.items()},
            "bounds": bounds,
            "r_nx": self.curve.r_nx.tolist(),
            "picture": self.picture.to_dict(),
            "verdict": self.verdict,
        }

    def to_frame(self) -> pd.DataFrame:
        """A table with one row for each measure.

        Returns
        -------
        pandas.DataFrame
            Value, bounds, best value and meaning of each measure.
        """
        import pandas as pd

        rows = [
            {
                "measure": name,
                "value": float(value),
                "low": limits_of(value)[0],
                "high": limits_of(value)[1],
                "best": MEASURE_MEANINGS[name].best,
                "meaning": MEASURE_MEANINGS[name].short,
            }
            for name, value in self.measures.items()
        ]
        return pd.DataFrame(rows).set_index("measure")

    def points_frame(self) -> pd.DataFrame:
        """A table with one row for each point.

        Returns
        -------
        pandas.DataFrame
            What is known of each point, one column for each measure.
        """
        import pandas as pd

        return pd.DataFrame(self.per_point)


def mean_report(
    reports: Sequence[QualityReport], filled_share: float = 0.0, doubt: str = ""
) -> QualityReport:
    """Mean of reports on a map, by several plausible fillings of its table.

    Numbers are means; curves and figures are those of the first.
    """
    first = reports[0]
    return replace(
        first,
        measures={
            name: mean_estimate([of_filling.measures[name] for of_filling in reports], first.n)
            for name in first.measures
        },
        per_point={
            name: np.mean([of_filling.per_point[name] for of_filling in reports], axis=0)
            for name in first.per_point
        },
        filled_share=filled_share,
        doubt=doubt,
    )


def report(
    X: Measured,
    Y: MapPoints,
    *,
    labels: ArrayLike | None = None,
    graph: Graph | None = None,
    n_neighbors: int = 10,
    max_rank: int | None = None,
    metric: Metric = "euclidean",
    sample: int | None = None,
    kruskal: bool = True,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> QualityReport:
    """All measures of a map.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    labels : array-like of shape (n_samples,) or None, default=None
        Class of each point. Adds the silhouette and how well neighbours name the class.
    graph : Graph or None, default=None
        Neighbour graph. Adds the residual variance against its geodesic distances.
    n_neighbors : int ≥ 1, default=10
        Size of the neighbourhoods of the local measures; less than n/2.
    max_rank : int ≥ 1 or None, default=None
        End of the curve and of the co-ranking matrix; None: 100, or n − 2 if that is less.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all. Numbers of
        a sample have the limits `low` and `high`, except Kruskal's stress and the correlation of
        densities.
    kruskal : bool, default=True
        Whether to compute Kruskal's stress, which takes most of the time and memory.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in the mean over points, 0 or more; None: all alike. Neighbours
        are counted without weights, so that whole numbers are not repeated rows.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    QualityReport
        `print` it; `measures` has the numbers, `per_point` those of each point.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or `n_neighbors` is n/2 or more.

    See Also
    --------
    dualfold.judging.map_judgement : What a map shows of its data, in three answers.
    dualfold.audit : Whether groups and single points of a map can be believed.

    Notes
    -----
    Exact by default: one pass over all pairs for ranks and one for distances, which takes minutes
    for 70,000 images; a sample of 1,000 of them takes seconds. Kruskal's stress, which sorts pairs,
    is left out beyond 33 million pairs (5,800 points, or a sample of more points).

    Weights count in means over points and in the curve: neighbours kept, trustworthiness,
    continuity, rank errors, local distortion and the measures of classes. A point of weight 0
    counts for nothing there, is in no sample, and remains a neighbour of others. Limits of a sample
    are as wide as those of (Σw)²/Σw² points: weights never act as a sample size. Numbers of pairs
    of points (stress, correlations, residual variance), the correlation of densities and the
    co-ranking matrix have no weights.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import report
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> found = report(X, X[:, :2], n_neighbors=5)
    >>> round(found.measures["trustworthiness"], 2)
    0.88
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k = neighbor_count(n_neighbors, x.n)
    check_half(k, x.n)
    longest = (
        min(MAX_CURVE_RANK, x.n - 2) if max_rank is None else neighbor_count(max_rank, x.n - 1)
    )
    sampling: dict[str, Any] = {"sample": sample, "random_state": random_state}
    rows = drawn_rows(x.n, sample, random_state, sample_weight)
    # Pairs of points have no weights.
    any_rows = rows if sample_weight is None else drawn_rows(x.n, sample, random_state)
    weights = measured_weights(sample_weight, rows, x.n)
    before = tied_lists(x, max(k, longest), rows, rounded=True)
    after = tied_lists(y, max(k, longest), rows, rounded=False)
    tied = order_means(x, y, after, rows)
    near = ranks_of_lists(x, y, before.first(k), after.indices[:, :k], tied, rows)
    near = replace(near, weights=weights)
    lists = before.first(longest), after.indices[:, :longest]
    listed = replace(neighbors_of_lists(x, *lists, tied, rows), weights=weights)
    curve = curve_of(listed)
    sums, shepard = _all_pairs(x, y, any_rows)
    shapes = distortion_of(x, y, near.before, rows)
    measures = _of_neighbors(near) | {
        "r_nx_area": curve.auc,
        "local_distortion": estimate_of_mean(shapes, x.n, (0.0, 1.0), weights),
        "density_correlation": correlation_of_densities(
            before.distances[:, :k], after.distances[:, :k]
        ),
    }
    measures |= {
        "stress": _number(sums.stress()),
        "distance_correlation": sums.correlation(),
        "residual_variance": sums.residual_variance(),
    }
    if kruskal and len(sums.sums) * (x.n - 1) <= 2 * MAX_SORTED_PAIRS:
        measures["nonmetric_stress"] = _number(nonmetric_stress(x, y, **sampling))
    if graph is not None:
        geodesic, _ = both_spaces(graph, y, metric, n_jobs)
        measures["geodesic_residual_variance"] = pair_sums(
            geodesic, y, any_rows
        ).residual_variance()
    if labels is not None:
        measures |= _class_values(x, y, labels, k, sampling | {"sample_weight": sample_weight})
    per_point: dict[str, Any] = {
        "t_similarity": near.t_similarity(per_point=True),
        "trustworthiness": near.trustworthiness(per_point=True),
        "continuity": near.continuity(per_point=True),
        "r_nx_area": curve.auc_per_point,
        "stress": sums.stress(per_point=True),
        "local_distortion": values_at_all_points(shapes, rows, x.n),
    }
    ranks, measured = co_ranking_of(listed), len(near.before)
    effective = None if weights is None else weights.effective_rows
    counts = x.n, k, measured
    return QualityReport(
        measures, per_point, curve, ranks, shepard, *counts, x.about, effective_rows=effective
    )


def _class_values(
    x: Space, y: Space, labels: ArrayLike, k: int, sampling: dict[str, Any]
) -> dict[str, float]:
    """Measures of classes on the map, and the accuracy of neighbours in the data."""
    return {
        "silhouette": _number(silhouette(y, labels, **sampling)),
        "neighborhood_hit": _number(neighborhood_hit(y, labels, n_neighbors=k, **sampling)),
        "knn_accuracy": _number(knn_accuracy(y, labels, n_neighbors=k, **sampling)),
        "knn_accuracy_before": _number(knn_accuracy(x, labels, n_neighbors=k, **sampling)),
    }


def _all_pairs(x: Space, y: Space, rows: Array | None) -> tuple[PairSums, Shepard]:
    """Sums of the pairs and the Shepard diagram, from a pass over all distances."""
    sums, grid = PairSumsCollector(x, y, rows), DistanceGrid(x, y, 128)

    def whole(before: Array, after: Array, places: slice, names: Array) -> None:
        sums.add(before, after, places, names)
        grid.add(before, after, names)

    def once(before: Array, after: Array, places: slice) -> None:
        sums.add_once(before, after, places)
        grid.add_once(before, after)

    each_pair_tile(x, y, rows, whole, once)
    return sums.result(), grid.diagram()


def _of_neighbors(near: NeighborRanks) -> dict[str, float]:
    intruders, lost = near.mean_relative_rank_errors()
    return {
        "t_similarity": _number(near.t_similarity()),
        "trustworthiness": _number(near.trustworthiness()),
        "continuity": _number(near.continuity()),
        "rank_error_intruders": _number(intruders),
        "rank_error_lost": _number(lost),
        "lcmc": _number(near.lcmc()),
    }


def _number(value: float | Array) -> float:
    return value if isinstance(value, float) else float(value)


def _bounds(value: float) -> str:
    if not isinstance(value, Estimate):
        return ""
    return f" ({value.low:.4f} to {value.high:.4f})"
