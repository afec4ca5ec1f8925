"""Local tangent space alignment."""

from __future__ import annotations

import numpy as np

from dualfold.graph.directed_lists import connected_lists, neighborhoods, with_unlisted_points
from dualfold.graph.graph import Graph
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.weights.local_tangents import tangent_alignment


def ltsa(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Coordinates that are affine in the tangent coordinates of every neighbourhood.

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    ‖Fv‖² adds up, over all neighbourhoods, the squared distance of v from the affine
    functions of the local tangent coordinates (`tangent_alignment`). A flat sheet comes
    back up to an affine map; coordinates are scaled to VᵀV = I. Needs n_neighbors ≥
    n_components + 2: with fewer every function is affine on a neighbourhood. Fails where
    neighbourhoods bend or the tangent is noisy, by folding.

    As in scikit-learn a neighbourhood is the listed points without their owner; a point
    that nobody lists is added to its own, since nothing else would hold it.

    Zhang and Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent
    space alignment" (2004).
    """
    points, lists = neighborhoods(graph, n_components=n_components, least=n_components + 2)
    lists = connected_lists(with_unlisted_points(lists))
    factor = tangent_alignment(points, lists, n_components=n_components)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))
