"""Neighbour graphs: exact or approximate neighbours, connected pieces, shortest paths."""

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
