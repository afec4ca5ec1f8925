"""The graph that an estimator's parameters ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Metric, Rows
from dualfold.errors import Argument, FewerNeighbors, InPython, InvalidInput, Message, warn
from dualfold.graph import Graph, Neighbors, from_lengths, join_pieces, knn, variable
from dualfold.graph import radius as radius_graph
from dualfold.graph.metrics import (
    MetricWithParameters,
    is_precomputed,
    metric_distances,
)
from dualfold.graph.pieces import one_piece


@dataclass(frozen=True, eq=False)
class GraphSettings:
    """Which neighbours a graph has.

    n_neighbors, radius : how many nearest rows, or all within this distance
    neighborhood : "fixed", or "variable": fewer than `n_neighbors` where points are sparse
    metric, n_jobs : of the distances; threads of the search
    default : the number of neighbours that nobody chose: of fewer rows it is all others, with a
        warning
    """

    n_neighbors: int | None
    radius: float | None = None
    neighborhood: str = "fixed"
    metric: Metric = "euclidean"
    n_jobs: int | None = None
    default: int | None = None


def graph_settings(estimator: Any) -> GraphSettings:
    """Graph settings from an estimator's parameters."""
    return GraphSettings(
        n_neighbors=estimator.n_neighbors,
        radius=estimator.radius,
        neighborhood=estimator.neighborhood,
        metric=metric_with_parameters(estimator),
        n_jobs=estimator.n_jobs,
        default=default_neighbors(estimator),
    )


def neighbor_graph(X: Rows, graph: Any, settings: GraphSettings) -> Graph:
    """The given `graph` over the rows of X, else neighbours within the radius, else nearest ones.

    A `graph` may also be lists of neighbours (`Neighbors`, by Euclidean distances): they are used
    instead of a search where they serve.
    """
    known = graph if isinstance(graph, Neighbors) else None
    if graph is not None and known is None:
        return _given_graph(graph, X)
    radius, metric = settings.radius, settings.metric
    _refuse_both(settings.n_neighbors, radius)
    if radius is not None:
        if settings.neighborhood == "variable":
            raise InvalidInput(
                Argument("radius", radius),
                " and ",
                Argument("neighborhood", "variable"),
                " were given; a radius already lets the number of neighbours vary: drop one of "
                "the two",
            )
        return radius_graph(X, _finite(radius, X, metric), metric=metric, n_jobs=settings.n_jobs)
    n_neighbors = neighbor_count(settings, X.shape[0])
    if known is not None and not _serves(known, X, n_neighbors, metric):
        known = None
    rule = variable if settings.neighborhood == "variable" else knn
    return rule(X, n_neighbors, metric=metric, n_jobs=settings.n_jobs, known=known)


def neighbor_count(settings: GraphSettings, n: int) -> int:
    """Number of neighbours of each of n rows; none and too many are refused."""
    count = settings.n_neighbors
    if count is None:
        raise InvalidInput(
            "neither ",
            Argument("n_neighbors"),
            " nor ",
            Argument("radius"),
            " is given; one of them is needed",
        )
    if count == settings.default and 2 <= n <= count:
        count = _all_others(n, count)
    if count >= n:
        raise InvalidInput(
            Argument("n_neighbors", count),
            " needs more points than that, and there are ",
            InPython("n_samples="),
            f"{n}; the largest usable number here is {n - 1}",
        )
    return count


def default_neighbors(estimator: Any) -> int | None:
    """The default of `n_neighbors`, which small tables may fall short of."""
    default = type(estimator).n_neighbors  # of a field of a dataclass
    return default if isinstance(default, int) else None


def metric_with_parameters(estimator: Any) -> Any:
    """The metric with its parameters; Minkowski's p = 2 is the fast Euclidean one."""
    metric, p = estimator.metric, estimator.p
    given = dict(estimator.metric_params or {})
    if metric == "minkowski":
        p = given.pop("p", p)
        if not given and p in (1, 2):
            return {1: "manhattan", 2: "euclidean"}[p]
        given["p"] = p
    return MetricWithParameters(metric, given) if given else metric


def _all_others(n: int, usual: int) -> int:
    warn(
        FewerNeighbors(
            f"there are {n} rows, so each has the other {n - 1} as neighbours instead of the usual "
            f"{usual}; ",
            Argument("n_neighbors"),
            " chooses another number",
        )
    )
    return n - 1


def _serves(known: Neighbors, X: Rows, n_neighbors: int, metric: Metric) -> bool:
    """Whether lists that were found before are those that would be searched for."""
    n, k = known.indices.shape
    if n != X.shape[0]:
        raise InvalidInput(
            Argument("graph"),
            f" holds the neighbours of {n} points and X has {X.shape[0]} rows; pass those of these "
            "rows",
        )
    return k >= n_neighbors and isinstance(metric, str) and metric in ("euclidean", "l2")


def _refuse_both(n_neighbors: int | None, radius: float | None) -> None:
    if n_neighbors is not None and radius is not None:
        raise InvalidInput(
            "Both ",
            Argument("n_neighbors"),
            " and ",
            Argument("radius"),
            " are provided. Use ",
            Argument("n_neighbors", None),
            " with ",
            Argument("radius", radius),
            ", or ",
            Argument("radius", None),
            " with ",
            Argument("n_neighbors", n_neighbors),
        )


def _given_graph(graph: Any, X: Rows) -> Graph:
    """A `Graph` or a sparse matrix of edge lengths, as the graph of the rows of X."""
    if not isinstance(graph, Graph) and not sp.issparse(graph):
        raise InvalidInput(
            Argument("graph"),
            f" is a {type(graph).__name__}; it must be a Graph (dualfold.graph), lists of "
            "neighbours, or a sparse matrix of edge lengths",
        )
    if graph.shape[0] != X.shape[0] if sp.issparse(graph) else graph.n != X.shape[0]:
        raise InvalidInput(
            "the given ",
            Argument("graph"),
            f" is not over the {X.shape[0]} rows of X; pass one of their size",
        )
    if sp.issparse(graph):
        return replace(from_lengths(graph), points=X, metric="euclidean")
    return replace(graph, points=X)


def _finite(radius: float, X: Rows, metric: Metric) -> float:
    """An infinite radius means everybody: the largest distance there is."""
    if float(radius) < np.inf:
        return float(radius)
    if is_precomputed(metric):
        return float(np.asarray(X).max())
    return float(metric_distances(X, None, metric).max()) * (1 + 1e-9)


def one_piece_graph(graph: Graph, pieces: str) -> Graph:
    """The graph in one piece: joined by its shortest links (with a warning), or refused."""
    if pieces == "raise":
        return one_piece(graph)
    return join_pieces(graph, otherwise=Message(Argument("pieces", "raise"), " would have refused"))
