"""From a row of the method table to its problem and its certified answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dualfold.cli.registry import Method

if TYPE_CHECKING:
    from dualfold.duality import Unfolding
    from dualfold.duality.solution import Callback
    from dualfold.embedding import Embedding
    from dualfold.graph import Graph
    from dualfold.trace import TraceProblem


def certified(
    method: Method,
    X: Any,
    graph: Graph | None = None,
    *,
    n_components: int,
    callback: Callback | None = None,
) -> tuple[Embedding, Unfolding | None]:
    """The certified answer to what a method states for these data; an unfolding's both sides.

    callback : told of the iterations of an unfolding
    """
    from dualfold.embedding import embed

    if method.name != "mvu":
        return embed(problem(method, X, graph, n_components=n_components)), None
    from dualfold.duality import unfold
    from dualfold.methods import unfolded

    assert graph is not None
    unfolding = unfold(graph, n_components=n_components, callback=callback)
    return unfolded(unfolding, n_components=n_components), unfolding


def expected_seconds(method: Method, shape: tuple[int, int]) -> float | None:
    """Roughly how long solving and certifying takes; None where it hangs on the data.

    Guessed from how the work grows, not fitted to runs; only the bar on a terminal uses it.
    """
    n, width = shape
    if method.name in ("pca", "mds"):
        small = min(n, width)
        return n * width * small / 5e10 + (small / 2500) ** 3
    if method.name == "isomap":
        return 8 * (n / 10_000) ** 2.3 if n <= 10_000 else 20 * (n / 100_000) ** 1.5
    if method.name == "eigenmaps":
        return 2 * (n / 100_000) * (1 if width < 15 else 10)
    return None


def problem(
    method: Method, X: Any, graph: Graph | None = None, *, n_components: int
) -> TraceProblem:
    """The problem that a method states for these data."""
    from dualfold import methods

    if method.needs == "graph":
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
