"""Diffusion maps."""

from __future__ import annotations

import numpy as np

from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.trace.lift import DiffusionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import Weights, affinity
from dualfold.weights.laplacian import laplacian_of


def diffusion_maps(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    alpha: float = 1.0,
    diffusion_time: float = 1.0,
) -> TraceProblem:
    """Keep where a random walk over neighbours leads: near are points that it soon mixes.

        maximise tr(VᵀΠPV)  subject to  VᵀΠV = I,  VᵀΠ1 = 0,   points V|M|^t

    P = Deg⁻¹W is one step of the walk, Π its stationary distribution deg/Σdeg, and W the kernel
    `weights` of `width` with the density taken out: W_ij/(q_i·q_j)^`alpha`, q_i = Σ_j W_ij. 0
    leaves it in (normalised eigenmaps), 1 leaves only the shape of the surface that the points
    lie on (its heat flow), ½ is between (a walk in the potential of the density). M holds the
    eigenvalues μ of the coordinates. With all n − 1 of them distances between points are those
    between their walks after t = `diffusion_time` steps: ‖(P^t)_i − (P^t)_j‖ in the norm of Π⁻¹.

    Stated as min tr(VᵀΠ(I − P)V), which has the same answers: λ = 1 − μ keeps its digits where
    many μ are nearly 1. Fails as eigenmaps do on long shapes. The density is seen where
    neighbours are many in dense places: by a radius of some widths. Among a fixed number of
    neighbours alpha changes little.

    Coifman and Lafon, "Diffusion maps" (2006).
    """
    rule = affinity(one_piece(graph), weights=weights, width=width, alpha=alpha)
    laplacian, degrees = laplacian_of(graph, rule)
    total = degrees.sum()
    ones = np.ones(graph.n)
    return TraceProblem(
        laplacian / total,
        degrees / total,
        n_components,
        "min",
        excluded=ones,
        lift=DiffusionLift(diffusion_time),
    )
