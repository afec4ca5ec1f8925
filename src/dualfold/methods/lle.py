"""Locally linear embedding."""

from __future__ import annotations

import scipy.sparse as sp

from dualfold.graph.directed_lists import neighborhoods
from dualfold.graph.graph import Graph
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.weights.reconstruction import reconstruction_null_vectors, reconstruction_weights


def lle(graph: Graph, *, n_components: int = 2, ridge: float = 1e-3) -> TraceProblem:
    """Keep each point the same combination of its neighbours.

        minimise tr(Vᵀ(I−W)ᵀ(I−W)V)  subject to  VᵀV = I,  VᵀN = 0

    Row i of W holds the weights, adding up to 1, with which i's neighbours come closest
    to x_i; `ridge`·trace is added to the diagonal of the local Gram matrices. (I−W)ᵀ(I−W)
    is never formed: its small eigenvalues would drown in rounding.

    N are the null vectors of I−W. The lists are directed: a group of points that list
    only one another is a null vector of its own, in a graph of one piece too. *All* of
    them are excluded, not the constant alone, else the coordinates would be such groups
    against the rest. The price is that every group but the largest comes out as about
    one spot; a `PointsCollapse` warning says how many points that are. More neighbours
    tie them in.

    Preserves local affine structure, not lengths: a sheet may come back sheared or
    unevenly stretched. With more neighbours than columns and a tiny ridge any linear
    image of X is (almost) optimal, so X's own projection wins. Eigenvalues lie close to 0
    (10⁻⁶ to 10⁻¹² of the largest), so solvers that stop early return noise.

    Roweis and Saul, "Nonlinear dimensionality reduction by locally linear embedding"
    (2000).
    """
    points, lists = neighborhoods(graph, n_components=n_components)
    weights = reconstruction_weights(points, lists, ridge=ridge)
    factor = sp.csr_array(sp.eye_array(graph.n) - weights)
    excluded = reconstruction_null_vectors(weights, lists)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=excluded)
