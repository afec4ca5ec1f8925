"""Neighbourhood preserving projections, plain and orthogonal."""

from __future__ import annotations

from dualfold.graph.graph import Graph, coordinates
from dualfold.maps.linear import ProjectionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.reconstruction import reconstruction_error, reconstruction_weights
from dualfold.weights.reduction import row_space


def npp(
    graph: Graph,
    *,
    n_components: int = 2,
    ridge: float = 1e-3,
    variance_kept: float = 0.99,
) -> TraceProblem:
    """Rebuild each point from its neighbours, after a linear map, by the same weights.

        minimise ‖(I − W)ZV‖²  subject to  VᵀZᵀZV = I,   points ZV

    W holds LLE's weights (`ridge` times the trace steadies them). Z is the centred data
    in its leading principal directions, which hold `variance_kept` of its variance:
    beyond them a direction wins by having no extent at all, or only noise. With Z = I it
    is LLE. When neighbours outnumber the features and there is no ridge, every point is
    rebuilt exactly, A is 0 and every direction is as good as any other.

    Kokiopoulou and Saad, "Orthogonal neighborhood preserving projections" (2007).
    """
    points = coordinates(graph)
    W = reconstruction_weights(points, graph.lists, ridge=ridge)
    space = row_space(points, variance_kept=variance_kept, least=n_components).as_white()
    lift = ProjectionLift(space.data, space.mean, space=space)
    return TraceProblem(
        space.form(reconstruction_error(W)), space.form(lambda Z: Z), n_components, "min", lift=lift
    )


def orthogonal_npp(
    graph: Graph,
    *,
    n_components: int = 2,
    ridge: float = 1e-3,
    variance_kept: float = 0.99,
) -> TraceProblem:
    """Rebuild each point from its neighbours, after an orthogonal projection (ONPP).

        minimise ‖(I − W)ZV‖²  subject to  VᵀV = I,   points ZV

    As `npp`, but directions are of length 1 among the features, so that the picture is a
    view of the data and never stretched. For the same reason it favours directions of
    little variance: of two directions along which points are rebuilt equally well, the
    fainter one costs less. Lower `variance_kept` where the picture looks like noise (on
    the digits 0.99 is not enough, 0.7 is; the estimator takes 0.5).

    Kokiopoulou and Saad, "Orthogonal neighborhood preserving projections" (2007).
    """
    points = coordinates(graph)
    W = reconstruction_weights(points, graph.lists, ridge=ridge)
    space = row_space(points, variance_kept=variance_kept, least=n_components)
    lift = ProjectionLift(space.data, space.mean, space=space)
    return TraceProblem(space.form(reconstruction_error(W)), None, n_components, "min", lift=lift)
