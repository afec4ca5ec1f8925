"""The graph that an estimator's parameters ask for."""

from __future__ import annotations

from typing import Any

from dualfold.errors import InvalidInput
from dualfold.graph import Graph, joined, knn, one_piece, variable
from dualfold.graph import radius as radius_graph


def neighbor_graph(
    X: Any,
    *,
    n_neighbors: int,
    radius: float | None = None,
    neighborhood: str = "fixed",
    metric: Any = "euclidean",
    n_jobs: int | None = None,
) -> Graph:
    """Neighbours within `radius` if it is given, else `n_neighbors` of them.

    "variable" neighbourhoods have fewer than `n_neighbors` where points are sparse.
    """
    if radius is not None:
        if neighborhood == "variable":
            raise InvalidInput(
                f"radius={radius} and neighborhood='variable' were given; a radius already lets "
                "the number of neighbours vary: drop one of the two"
            )
        return radius_graph(X, radius, metric=metric, n_jobs=n_jobs)
    if n_neighbors >= X.shape[0]:
        raise InvalidInput(
            f"n_neighbors={n_neighbors} other points were asked for, and there are "
            f"n_samples={X.shape[0]} points in all; lower n_neighbors"
        )
    rule = variable if neighborhood == "variable" else knn
    return rule(X, n_neighbors, metric=metric, n_jobs=n_jobs)


def connected(graph: Graph, pieces: str) -> Graph:
    """The graph in one piece: joined by its shortest links (with a warning), or refused."""
    if pieces == "raise":
        return one_piece(graph)
    return joined(graph, otherwise="pieces='raise' would have refused")
