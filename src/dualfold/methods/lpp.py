"""Locality preserving projections, plain and orthogonal."""

from __future__ import annotations

from dualfold.graph.graph import Graph, coordinates
from dualfold.maps.linear import ProjectionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import Weights
from dualfold.weights.laplacian import weighted_laplacian
from dualfold.weights.reduction import row_space


def lpp(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    variance_kept: float = 0.99,
) -> TraceProblem:
    """Keep neighbours close by a linear map: eigenmaps that know what to do with new points.

        minimise tr(VᵀZᵀLZV)  subject to  VᵀZᵀDegZV = I,   points ZV

    Z is the data in its leading principal directions, which hold `variance_kept` of its
    variance: beyond them a direction wins by having no extent at all, or only noise. Z is
    centred by the degree-weighted mean, as VᵀZᵀDeg1 = 0 asks. With Z = I it is
    `eigenmaps`. Sees nothing that no linear map can show. The graph may have several
    pieces: one map serves them all, and it may draw each of them together.

    He and Niyogi, "Locality preserving projections" (2003).
    """
    laplacian, degrees = weighted_laplacian(graph, weights=weights, width=width)
    points = coordinates(graph)
    space = row_space(points, variance_kept=variance_kept, least=n_components).as_white()
    total = degrees.sum()
    return TraceProblem(
        space.form(lambda Z: laplacian @ Z),
        # Deg − Deg11ᵀDeg/(1ᵀDeg1): the degrees, with the weighted mean taken out.
        space.form(lambda Z: degrees[:, None] * (Z - degrees @ Z / total)),
        n_components,
        "min",
        lift=ProjectionLift(space.data, space.weighted_mean(degrees), space=space),
    )


def orthogonal_lpp(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    variance_kept: float = 0.99,
) -> TraceProblem:
    """Keep neighbours close by an orthogonal projection.

        minimise tr(VᵀZᵀLZV)  subject to  VᵀV = I,   points ZV

    As `lpp`, but directions are of length 1 among the features, so that the picture is a
    view of the data and never stretched. For the same reason it favours directions of
    little variance: of two directions along which neighbours are equally alike, the
    fainter one costs less. Lower `variance_kept` where the picture looks like noise (on
    the digits 0.99 is not enough, 0.7 is; the estimator takes 0.5).

    Kokiopoulou, Chen and Saad, "Trace optimization and eigenproblems in dimension
    reduction methods" (2011).
    """
    laplacian, degrees = weighted_laplacian(graph, weights=weights, width=width)
    points = coordinates(graph)
    space = row_space(points, variance_kept=variance_kept, least=n_components)
    lift = ProjectionLift(space.data, space.weighted_mean(degrees), space=space)
    return TraceProblem(space.form(lambda Z: laplacian @ Z), None, n_components, "min", lift=lift)
