"""Laplacian eigenmaps."""

from __future__ import annotations

import numpy as np

from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.trace.problem import TraceProblem
from dualfold.weights.laplacian import heat_laplacian


def eigenmaps(graph: Graph, *, n_components: int = 2, width: float | None = None) -> TraceProblem:
    """Keep neighbours close, near ones most.

        minimise tr(VᵀLV)  subject to  VᵀDegV = I,  VᵀDeg1 = 0

    with L = Deg − W and heat weights W_ij = exp(−‖x_i − x_j‖²/width²); the default
    width is the root mean square edge length. The graph is one piece here: pieces are
    joined or embedded one by one before, else all but one of them would collapse to
    points. A long strip gives harmonics of its long direction first: coordinates 1 and
    2 then lie on a curve. That is the method, not the solver.

    Belkin and Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
    representation" (2003).
    """
    laplacian, degrees = heat_laplacian(one_piece(graph), width=width)
    return TraceProblem(laplacian, degrees, n_components, "min", excluded=np.ones(graph.n))
