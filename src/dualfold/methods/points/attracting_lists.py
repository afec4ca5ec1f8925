"""Neighbours that attract: the lists that the parameters of a method ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.graph import Graph, Neighbors, nearest
from dualfold.graph.cosines import directions, is_cosine
from dualfold.graph.graph import Lists
from dualfold.graph.metrics import (
    from_precomputed,
    is_euclidean,
    is_precomputed,
    metric_distances,
    refuse_other_width,
)
from dualfold.graph.search_plan import is_tree_faster

# Rows whose full table of distances, or of affinities (method="exact"), is made.
MAX_FULL_ROWS = 20_000
# Rows up to which all distances by another metric are computed at once.
MAX_FULL_TABLE_ROWS = 2_000
# Beyond so many rows search="auto" is approximate (docs/dev/notes/tsne-grid.md).
MAX_EXACT_ROWS = 200_000
# The approximate search draws samples; a map's random state is about its start alone.
SEARCH_SEED = 0


@dataclass(frozen=True, eq=False)
class NeighborSettings:
    """Which rows attract a row.

    n_neighbors : how many; None takes three times the perplexity, or all others
    perplexity : effective number of neighbours
    all_pairs : whether all other rows attract where `n_neighbors` is None
    metric, metric_params : of the distances
    search, n_jobs : how neighbours are searched
    """

    n_neighbors: int | None
    perplexity: float
    all_pairs: bool
    metric: Metric
    metric_params: dict[str, object] | None
    search: str
    n_jobs: int | None


def asked_neighbors(settings: NeighborSettings, n: int) -> int:
    """Number of neighbours that attract a row: 3·perplexity, `n_neighbors`, or all others."""
    asked = settings.n_neighbors
    if asked is not None:
        if asked >= n:
            raise InvalidInput(
                Argument("n_neighbors", asked), f" needs more than {n} rows; lower it"
            )
        return int(asked)
    if settings.all_pairs:
        if n > MAX_FULL_ROWS:
            raise TooLarge(
                Argument("method", "exact"),
                f" keeps {n}² affinities, which is meant for at most {MAX_FULL_ROWS} rows; ",
                Argument("method", "barnes_hut"),
                " keeps those of neighbours",
            )
        return n - 1
    return int(min(n - 1, int(3.0 * settings.perplexity + 1)))


def attracting_lists(X: Rows, settings: NeighborSettings, graph: Any) -> tuple[Lists, str]:
    """The neighbours that attract, nearest first, and a sentence on an approximate search.

    graph : neighbours that are known: a graph, edge lengths or lists; None searches
    """
    n = X.shape[0]
    if graph is not None:
        return _lists_of_graph(graph, settings, n)
    k = asked_neighbors(settings, n)
    search = "approximate" if _is_approximate(settings, X) else "auto"
    if is_precomputed(settings.metric):
        return _of_distances(X, k), ""
    if not is_euclidean(settings.metric) and (settings.metric_params or n <= MAX_FULL_TABLE_ROWS):
        return _of_distances(_full_table(settings, X), k), ""
    neighbors = nearest(
        X,
        k,
        metric=settings.metric,
        search=search,
        n_jobs=settings.n_jobs,
        random_state=SEARCH_SEED,
    )
    _refuse_negative(neighbors.distances)
    lists = Lists.of_equal(neighbors.indices, neighbors.distances)
    return lists, _search_words(neighbors)


def _is_approximate(settings: NeighborSettings, X: Rows) -> bool:
    """Whether neighbours are searched for in near cells only."""
    searchable = isinstance(X, np.ndarray) and (
        is_euclidean(settings.metric) or is_cosine(settings.metric)
    )
    if settings.search == "auto":
        large = X.shape[0] > MAX_EXACT_ROWS and not is_tree_faster(*X.shape)
        if not (searchable and large):
            return False
        return not is_cosine(settings.metric) or directions(X) is not None
    if settings.search == "approximate" and not searchable:
        raise InvalidInput(
            Argument("search", "approximate"),
            " takes dense tables and Euclidean or cosine distances; ",
            Argument("search", "exact"),
            " takes others",
        )
    return bool(settings.search == "approximate")


def _search_words(neighbors: Neighbors) -> str:
    return "" if neighbors.search.exact else neighbors.search.sentence()


def _lists_of_graph(graph: Any, settings: NeighborSettings, n: int) -> tuple[Lists, str]:
    about = ""
    if sp.issparse(graph):
        lists = Lists(*from_precomputed(graph))
    elif isinstance(graph, Neighbors):
        k = min(asked_neighbors(settings, graph.indices.shape[0]), graph.indices.shape[1])
        near = graph.first(k)
        lists, about = Lists.of_equal(near.indices, near.distances), _search_words(graph)
    elif isinstance(graph, Graph):
        lists = Lists(*from_precomputed(graph.lengths))
    else:
        raise InvalidInput(
            Argument("graph"),
            " must be a Graph, a sparse matrix of edge lengths, or the lists of "
            f"graph.nearest(X, …); it is a {type(graph).__name__}",
        )
    if len(lists) != n:
        raise InvalidInput(
            Argument("graph"),
            f" is about {len(lists)} points and X has {n} rows; pass one of these rows",
        )
    return lists, about


def _of_distances(X: Rows, k: int) -> Lists:
    stored = np.diff(sp.csr_array(X).indptr).min() if sp.issparse(X) else k
    lists = Lists(*from_precomputed(X, k))
    if lists.counts.min(initial=k) < k:
        raise InvalidInput(
            f"{k + 1} neighbors per samples are required, but some samples have only {stored} "
            "neighbors in precomputed graph matrix (a row itself among them); lower ",
            Argument("perplexity"),
        )
    return lists


def _full_table(settings: NeighborSettings, X: Rows) -> Array:
    """All distances by a metric with parameters."""
    metric, given = settings.metric, dict(settings.metric_params or {})
    if metric == "mahalanobis" and not given.keys() & {"V", "VI"}:
        raise InvalidInput(
            "Must provide either V or VI for Mahalanobis distance, in ", Argument("metric_params")
        )
    refuse_other_width(metric, given, X.shape[1])
    if metric == "mahalanobis" and "V" in given:
        given["VI"] = np.linalg.inv(np.asarray(given.pop("V"))).T
    if X.shape[0] > MAX_FULL_ROWS:
        raise TooLarge(
            Argument("metric_params"),
            f" need all distances between {X.shape[0]} rows, which is meant for at most "
            f"{MAX_FULL_ROWS}; give the neighbours as ",
            Argument("graph"),
        )
    distances = np.array(metric_distances(X, None, metric, **given), dtype=float)
    _refuse_negative(distances)
    return distances


def _refuse_negative(distances: Array) -> None:
    if (distances < 0).any():
        raise InvalidInput(
            "All distances should be positive, the metric given is not correct; change ",
            Argument("metric"),
        )
