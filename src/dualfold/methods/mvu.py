"""Maximum variance unfolding."""

from __future__ import annotations

from dualfold.graph.graph import Graph
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import Constraints


def mvu(
    graph: Graph,
    *,
    n_components: int = 2,
    constraints: Constraints = "at_most",
    angles: bool = False,
) -> Contraction:
    """Pull the points as far apart as the edges of their graph let them.

        maximise tr K  subject to  K ⪰ 0,  K1 = 0,  K_ii + K_jj − 2K_ij ≤ (or =) d_ij²
        on the edges;  points VΛ^½ of the leading eigenvectors of K

    `constraints` says whether edges are "at_most" as long as in the data or "equal" to that
    (proved, where the lengths could be kept to 1e-9 of d², for exactly those of the answer);
    `angles` also keeps the distances between neighbours of a common point. A sheet without
    holes is laid flat, and a hole is not blown up as by Isomap. Fails where one edge cuts across
    a gap, which then pins the two sides together; a graph in several pieces has no answer
    at all (they could fly apart for ever).

    Weinberger and Saul, "Unsupervised learning of image manifolds by semidefinite
    programming" (2004); Xiao, Sun and Boyd, "A duality view of spectral methods for
    dimensionality reduction" (2006).
    """
    return contraction_of(graph, constraints=constraints, angles=angles, n_components=n_components)
