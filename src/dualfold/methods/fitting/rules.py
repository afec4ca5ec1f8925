"""Rules for new rows that several graph methods share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.embedding import Embedding
from dualfold.graph import Graph
from dualfold.graph.metrics import is_precomputed
from dualfold.methods.fitting.neighborhoods import metric_with_parameters
from dualfold.methods.maps.attraction_map import AttractionMap
from dualfold.methods.maps.local_map import LocalDistancesMap, LocalWeightsMap
from dualfold.methods.maps.nystrom_map import NystromMap
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.maps.piecewise_map import RescaledMap
from dualfold.trace.lift import CoordinateScale
from dualfold.weights.laplacians import Affinity

# Of the few nearest landmarks, how many count, as a share: fewer keep more on surfaces and less in
# clusters (docs/dev/notes/tables-in-tiles.md).
PERPLEXITY_SHARE = 0.8


def local_rule(graph: Graph, embedding: Embedding, *, estimator: Any) -> OutOfSampleMap:
    """New rows by local weights of their nearest, as many as `n_neighbors` of the estimator."""
    return local_map(graph, embedding.points, estimator)


def local_map(graph: Graph, points: Array, estimator: Any) -> OutOfSampleMap:
    """Rule of local weights from the points of a graph alone."""
    k = min(estimator.n_neighbors or int(np.median(graph.lists.counts)), graph.n)
    kind = LocalDistancesMap if is_precomputed(graph.metric) else LocalWeightsMap
    return kind(graph.points, points, k, estimator.reg)


def nystrom_rule(
    graph: Graph,
    embedding: Embedding,
    weights: Affinity,
    constraint: str,
    scale: CoordinateScale | None,
) -> Callable[[Rows], Array]:
    """New rows by Nyström's equation, scaled as the fitted points are."""
    problem, solution = embedding.problem, embedding.solution
    vectors, values = problem.lift.selected_columns(solution.vectors, solution.values)
    rule = NystromMap(graph, weights, vectors, values, constraint)
    return rule if scale is None else RescaledMap(rule, times=scale.factors(vectors, values))


def near_mean(estimator: Any, graph: Graph, points: Array, landmarks: Any) -> AttractionMap | None:
    """New rows at the mean of a few nearest landmarks: half as many as the graph has neighbours.

    The other rule of eigenmaps and diffusion maps. Nyström's is the mean of all neighbours in the
    graph, and where a map shows clusters or a curve it draws new rows to their middles; on a
    surface it keeps more. So held-out rows decide (docs/dev/notes/tables-in-tiles.md).
    """
    usual = graph.n_neighbors or int(np.median(graph.lists.counts))
    count = min(max(2, usual // 2), landmarks.shape[0])
    if graph.n_pieces > 1 and estimator.pieces == "separate":
        return None  # means across pieces lie nowhere
    metric = metric_with_parameters(estimator)
    return AttractionMap(landmarks, points, count, PERPLEXITY_SHARE * count, np.inf, metric)
