"""X → Graph: neighbours, exact or with a measured recall, and the pieces they form."""

from dualfold.graph.build import from_lengths, knn, radius, variable
from dualfold.graph.geodesics import (
    Landmarks,
    farthest_points,
    geodesic_distances,
    landmarks_at,
)
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.neighbors import Neighbors, nearest, within
from dualfold.graph.pieces import joined, joining_n_neighbors, one_piece, separate
from dualfold.graph.search import Search

__all__ = [
    "Graph",
    "Landmarks",
    "Lists",
    "Neighbors",
    "Search",
    "farthest_points",
    "from_lengths",
    "geodesic_distances",
    "joined",
    "joining_n_neighbors",
    "knn",
    "landmarks_at",
    "nearest",
    "one_piece",
    "radius",
    "separate",
    "variable",
    "within",
]
