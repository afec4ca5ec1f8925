"""Hessian eigenmaps, also called Hessian locally linear embedding."""

from __future__ import annotations

import numpy as np

from dualfold.graph.directed_lists import connected_lists, neighborhoods, with_unlisted_points
from dualfold.graph.graph import Graph
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.weights.local_tangents import tangent_hessian


def hessian_lle(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Coordinates that bend least: their second derivatives along the sheet are small.

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    F estimates the d(d+1)/2 second derivatives of a function on the tangent plane of every
    neighbourhood (`tangent_hessian`). Only affine functions of an isometric chart have
    none, so a sheet that is locally isometric to an open connected part of the plane, even
    one with holes, comes back up to an affine map. Needs
    n_neighbors > n_components·(n_components + 3)/2, and data dense enough for second
    derivatives; noise hurts it first of the four.

    As in the usual implementations a neighbourhood is the listed points without their
    owner; a point that nobody lists is added to its own. (scikit-learn's `hessian_tol`
    guards a division by the sums of F's rows, which are 0 here by construction: nothing
    is divided.)

    Donoho and Grimes, "Hessian eigenmaps: locally linear embedding techniques for
    high-dimensional data" (2003).
    """
    least = n_components * (n_components + 3) // 2 + 1
    points, lists = neighborhoods(graph, n_components=n_components, least=least)
    lists = connected_lists(with_unlisted_points(lists))
    factor = tangent_hessian(points, lists, n_components=n_components)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))
