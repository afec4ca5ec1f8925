"""Modified locally linear embedding."""

from __future__ import annotations

import numpy as np

from dualfold.graph.directed_lists import neighborhoods
from dualfold.graph.graph import Graph
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.weights.reconstruction import several_weights


def modified_lle(
    graph: Graph, *, n_components: int = 2, ridge: float = 1e-3, modified_tol: float = 1e-12
) -> TraceProblem:
    """Keep each point several combinations of its neighbours at once.

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    With more neighbours than dimensions many weights reconstruct a point equally well;
    LLE's ridge picks one of them, and the choice bends the result. Here all that are
    about as good take part, s_i rows of F for point i (`several_weights`), which removes
    most of LLE's distortion. Changes of weights below `modified_tol` are left out. Needs
    n_neighbors ≥ n_components. Fails where noise is as large as the neighbourhoods: the
    small directions are then no longer distinct.

    A group of points that list only one another forces no null vector here, since the
    others cannot satisfy all of their combinations at once: only 1 is excluded.

    Zhang and Wang, "MLLE: modified locally linear embedding using multiple weights" (2006).
    """
    points, lists = neighborhoods(graph, n_components=n_components, least=n_components)
    factor = several_weights(
        points, lists, n_components=n_components, ridge=ridge, modified_tol=modified_tol
    )
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))
