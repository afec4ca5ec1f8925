"""X → Graph: neighbours, exact or with a measured recall, and the pieces they form.

What the functions share:

X : rows of numbers (dense, sparse, float32, a memory map), or a square matrix of distances
    with metric="precomputed"
metric : "euclidean", any of scikit-learn's metrics, a function of two rows, or "precomputed"
symmetry : "or" keeps an edge when either end lists the other, "and" when both do
search : "auto" is exact and chooses its algorithm; "approximate" is a forest whose recall is
    measured, for large data in many dimensions
random_state : of the approximate search; the same number gives the same lists
n_jobs : threads (None: all cores); the lists do not depend on them
"""

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
from dualfold.graph.neighbors import Neighbors, nearest, neighbors_within
from dualfold.graph.pieces import join_pieces, separate, subgraph

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
    "subgraph",
    "variable",
]
