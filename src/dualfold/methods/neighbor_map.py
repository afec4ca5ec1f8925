"""Neighbour maps: attraction along the graph, repulsion between all points."""

from __future__ import annotations

import scipy.sparse as sp

from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.neighbor_map.problem import NeighborProblem, neighbor_problem
from dualfold.weights.affinity import Weights, affinity


def neighbor_map(
    graph: Graph,
    *,
    n_components: int = 2,
    spread: float = 0.1,
    weights: Weights = "adaptive",
    width: float | None = None,
) -> NeighborProblem:
    """Neighbours attract, all points repel, and there is a lower bound.

        minimise KL(P‖Q),  q_ij ∝ exp(−‖y_i − y_j‖²),  subject to  YᵀY = n·s·I,  Yᵀ1 = 0

    P are the `weights` of the graph over their sum, s is the `spread`. s → 0 are eigenmaps
    ("identity"); with a larger one points that are no neighbours push each other apart, as in
    stochastic neighbour embedding. The objective is convex in YYᵀ, whose set has a convex hull
    (a Fantope) over which it can be minimised: that bounds every map from below. The bound is
    tight for small spreads and fades as the repulsion grows. Maps are white: clusters that want
    unequal room in the two coordinates do not get it, which t-SNE allows.

    The kernel is that of Hinton and Roweis, "Stochastic neighbor embedding" (2002), in the
    symmetric form of van der Maaten and Hinton (2008); constraint and bound are ours
    (docs/theory.md).
    """
    rule = affinity(one_piece(graph), weights=weights, width=width)
    entries = (rule.of_graph(graph), graph.lengths.indices, graph.lengths.indptr)
    W = sp.csr_array(entries, shape=graph.lengths.shape)
    return neighbor_problem(W, n_components=n_components, spread=spread)
