"""Neighbour graphs: exact or approximate neighbours, connected pieces, shortest paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

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
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Graph": "graph",
        "Neighbors": "neighbor_lists",
        "farthest_points": "geodesics",
        "from_affinities": "builders",
        "from_lengths": "builders",
        "geodesic_distances": "geodesics",
        "join_pieces": "pieces",
        "knn": "builders",
        "nearest": "neighbors",
        "neighborhood_spread": "builders",
        "neighbors_within": "neighbors",
        "radius": "builders",
        "separate": "pieces",
        "variable": "builders",
    },
)
