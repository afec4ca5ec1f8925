"""Whose neighbours attract in t-SNE: the lists that its parameters ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, InPython, InvalidInput, TooLarge
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


def refuse_odd_input(model: Any, X: Any) -> None:
    """What scikit-learn's TSNE refuses, in its words, and what else has no answer."""
    init = model.init
    if is_precomputed(model.metric):
        if isinstance(init, str) and init == "pca":
            raise InvalidInput(
                InPython('The parameter init="pca" cannot be used with metric="precomputed". '),
                "Distances alone have no principal components; use ",
                Argument("init", "spectral"),
                " or ",
                Argument("init", "random"),
            )
        if X.shape[0] != X.shape[1]:
            raise InvalidInput(
                "X should be a square distance matrix with ", Argument("metric", "precomputed")
            )
        stored = X.data if sp.issparse(X) else X
        if (stored < 0).any():
            raise InvalidInput(
                Argument("metric", "precomputed"),
                ": X should contain positive distances; some are below 0",
            )
        if model.method == "exact" and sp.issparse(X):
            raise TypeError(
                'TSNE with method="exact" does not accept a sparse precomputed distance matrix. '
                'Use method="barnes_hut" or give the dense matrix.'
            )
    if model.method == "barnes_hut" and model.n_components > 3:
        raise InvalidInput(
            "'n_components' should be at most 3, since grids and trees end there; ",
            Argument("method", "exact"),
            " takes more",
        )
    by_perplexity = model.n_neighbors is None
    if by_perplexity and model.perplexity >= X.shape[0]:
        raise InvalidInput(
            f"perplexity ({model.perplexity}) must be less than n_samples ({X.shape[0]}); lower ",
            Argument("perplexity"),
        )


def asked_neighbors(model: Any, n: int) -> int:
    """How many neighbours attract each row: 3·perplexity, `n_neighbors`, or all others."""
    if model.n_neighbors is not None:
        if model.n_neighbors >= n:
            raise InvalidInput(
                Argument("n_neighbors", model.n_neighbors), f" needs more than {n} rows; lower it"
            )
        return int(model.n_neighbors)
    if model.method == "exact":
        if n > MAX_FULL_ROWS:
            raise TooLarge(
                Argument("method", "exact"),
                f" keeps {n}² affinities, which is meant for at most {MAX_FULL_ROWS} rows; ",
                Argument("method", "barnes_hut"),
                " keeps those of neighbours",
            )
        return n - 1
    return int(min(n - 1, int(3.0 * model.perplexity + 1)))


def tsne_lists(model: Any, X: Any, graph: Any) -> tuple[Lists, str]:
    """The neighbours that attract, with their distances; nearest first.

    And a sentence on how they were found, where the search was approximate.
    """
    n = X.shape[0]
    if graph is not None:
        return _lists_of_graph(model, graph, n)
    k = asked_neighbors(model, n)
    search = "approximate" if _is_approximate(model, X) else "auto"
    if is_precomputed(model.metric):
        return _of_distances(X, k), ""
    if not is_euclidean(model.metric) and (model.metric_params or n <= MAX_FULL_TABLE_ROWS):
        return _of_distances(_full_table(model, X), k), ""
    found = nearest(
        X,
        k,
        metric=model.metric,
        search=search,
        n_jobs=model.n_jobs,
        random_state=SEARCH_SEED,
    )
    _refuse_negative(found.distances)
    return _as_lists(found), _search_words(found)


def _is_approximate(estimator: Any, X: Any) -> bool:
    """Whether neighbours are searched for in near cells only."""
    searchable = isinstance(X, np.ndarray) and (
        is_euclidean(estimator.metric) or is_cosine(estimator.metric)
    )
    if estimator.search == "auto":
        large = X.shape[0] > MAX_EXACT_ROWS and not is_tree_faster(*X.shape)
        if not (searchable and large):
            return False
        return not is_cosine(estimator.metric) or directions(X) is not None
    if estimator.search == "approximate" and not searchable:
        raise InvalidInput(
            Argument("search", "approximate"),
            " takes dense tables and Euclidean or cosine distances; ",
            Argument("search", "exact"),
            " takes others",
        )
    return bool(estimator.search == "approximate")


def _search_words(found: Neighbors) -> str:
    return "" if found.search.exact else found.search.sentence()


def _as_lists(found: Neighbors) -> Lists:
    n, k = found.indices.shape
    return Lists(np.arange(0, n * k + 1, k), found.indices.ravel(), found.distances.ravel())


def _lists_of_graph(model: Any, graph: Any, n: int) -> tuple[Lists, str]:
    about = ""
    if sp.issparse(graph):
        lists = Lists(*from_precomputed(graph))
    elif isinstance(graph, Neighbors):
        k = min(asked_neighbors(model, graph.indices.shape[0]), graph.indices.shape[1])
        lists, about = _as_lists(graph.first(k)), _search_words(graph)
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


def _of_distances(X: Any, k: int) -> Lists:
    stored = np.diff(sp.csr_array(X).indptr).min() if sp.issparse(X) else k
    lists = Lists(*from_precomputed(X, k))
    if lists.counts.min(initial=k) < k:
        raise InvalidInput(
            f"{k + 1} neighbors per samples are required, but some samples have only {stored} "
            "neighbors in precomputed graph matrix (a row itself among them); lower ",
            Argument("perplexity"),
        )
    return lists


def _full_table(model: Any, X: Any) -> Any:
    """All distances by a metric with parameters."""

    given = dict(model.metric_params or {})
    if model.metric == "mahalanobis" and not given.keys() & {"V", "VI"}:
        raise InvalidInput(
            "Must provide either V or VI for Mahalanobis distance, in ", Argument("metric_params")
        )
    refuse_other_width(model.metric, given, X.shape[1])
    if model.metric == "mahalanobis" and "V" in given:
        given["VI"] = np.linalg.inv(given.pop("V")).T
    if X.shape[0] > MAX_FULL_ROWS:
        raise TooLarge(
            Argument("metric_params"),
            f" need all distances between {X.shape[0]} rows, which is meant for at most "
            f"{MAX_FULL_ROWS}; give the neighbours as ",
            Argument("graph"),
        )
    found = np.array(metric_distances(X, None, model.metric, **given), dtype=float)
    _refuse_negative(found)
    return found


def _refuse_negative(distances: Any) -> None:
    if (distances < 0).any():
        raise InvalidInput(
            "All distances should be positive, the metric given is not correct; change ",
            Argument("metric"),
        )
