"""From a row of the method table to its problem and its certified answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dualfold.descriptions import Description

if TYPE_CHECKING:
    from dualfold.embedding import Embedding
    from dualfold.graph import Graph
    from dualfold.trace import TraceProblem
    from dualfold.unfolding import Unfolding


def certified(
    method: Description,
    X: Any,
    graph: Graph | None = None,
    *,
    n_components: int,
) -> tuple[Embedding, Unfolding | None]:
    """The certified answer to what a method states for these data; an unfolding's both sides."""
    from dualfold.embedding import embed

    embedding: Embedding = embed(problem(method, X, graph, n_components=n_components))
    return embedding, embedding.solution if method.dual else None


def problem(
    method: Description, X: Any, graph: Graph | None = None, *, n_components: int
) -> TraceProblem:
    """The problem that a method states for these data."""
    from dualfold import methods

    if method.needs_graph:
        assert graph is not None
        few = methods.landmark_count(graph.n) if method.name == "isomap" else None
        if few is not None:
            from dualfold.graph import farthest_points

            corners = farthest_points(graph, few, random_state=0)
            return methods.landmark_isomap(graph, corners, n_components=n_components)
        stated: TraceProblem = getattr(methods, method.name)(graph, n_components=n_components)
    else:
        stated = getattr(methods, method.name)(X, n_components=n_components)
    return stated
