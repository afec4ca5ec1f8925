"""Laplacian eigenmaps."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import Weights, weighted_laplacian

Constraint = Literal["degree", "identity"]


def eigenmaps(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    constraint: Constraint = "degree",
) -> TraceProblem:
    """Keep neighbours close, near ones most.

        minimise tr(VᵀLV)  subject to  VᵀDegV = I,  VᵀDeg1 = 0      ("degree": Lv = λ·Deg·v)
                                       VᵀV = I,     Vᵀ1 = 0         ("identity": Lv = λv)

    `constraint` chooses between them: "degree" is Belkin and Niyogi's normalised map, "identity"
    is LE of Tucker's paper (Proposition 3.2). L = Deg − W with weights W by "heat"
    (exp(−‖x_i − x_j‖²/width²); the default width is the root mean square edge length),
    "adaptive" (a width at each point, the default of the estimator: outliers keep their edges),
    "binary" or "density" (widths that follow the local density). With "identity", Tucker's ALE is
    density on fixed neighbourhoods, VLE heat on variable ones, and his fourth algorithm density on
    variable ones. The graph is one piece here: pieces are joined or embedded one by
    one before, else all but one of them would collapse to points. A long strip gives
    harmonics of its long direction first: coordinates 1 and 2 then lie on a curve. That is
    the method, not the solver.

    Belkin and Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
    representation" (2003); Tucker, "Dimensionality reduction and the Fenchel game", §3.
    """
    laplacian, degrees = weighted_laplacian(one_piece(graph), weights=weights, width=width)
    B = degrees if constraint == "degree" else None
    return TraceProblem(laplacian, B, n_components, "min", excluded=np.ones(graph.n))
