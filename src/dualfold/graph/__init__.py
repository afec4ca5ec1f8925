"""Neighbour graphs: exact or approximate neighbours, connected pieces, shortest paths."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfold.graph.builders import (
        from_affinities,
        from_lengths,
        knn,
        neighborhood_spread,
        radius,
        variable,
    )
    from dualfold.graph.geodesics import farthest_points, geodesic_distances
    from dualfold.graph.graph import Graph
    from dualfold.graph.neighbor_lists import Neighbors
    from dualfold.graph.neighbors import nearest, neighbors_within
    from dualfold.graph.pieces import join_pieces, separate

__all__ = [
    "Graph",
    "Neighbors",
    "farthest_points",
    "from_affinities",
    "from_lengths",
    "geodesic_distances",
    "join_pieces",
    "knn",
    "nearest",
    "neighborhood_spread",
    "neighbors_within",
    "radius",
    "separate",
    "variable",
]
# Loaded when first used: PCA checks its rows with this room, and searches nothing.
_NAMES_BY_MODULE = {
    "builders": (
        "from_affinities",
        "from_lengths",
        "knn",
        "neighborhood_spread",
        "radius",
        "variable",
    ),
    "geodesics": ("farthest_points", "geodesic_distances"),
    "graph": ("Graph",),
    "neighbor_lists": ("Neighbors",),
    "neighbors": ("nearest", "neighbors_within"),
    "pieces": ("join_pieces", "separate"),
}
_MODULE_OF = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dualfold.graph' has no attribute {name!r}")
    return getattr(import_module(f"dualfold.graph.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
