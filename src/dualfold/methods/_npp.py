"""Neighbourhood preserving projections, plain and orthogonal."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from dualfold.fitting.linear import LinearEstimator, LinearMethod
from dualfold.fitting.projection import (
    DEFAULT_VARIANCE_SHARE,
    ORTHOGONAL_VARIANCE_SHARE,
    PROJECTION_CONSTRAINTS,
    projection_method,
)
from dualfold.graph.graph import Graph, coordinates
from dualfold.maps.linear_map import ProjectionLift
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


_RIDGE_CONSTRAINTS: dict[str, Any] = PROJECTION_CONSTRAINTS | {
    "reg": [Interval(Real, 0, None, closed="left")],
}


@dataclass(eq=False, repr=False)
class NeighborhoodPreservingProjection(LinearEstimator):
    """Rebuild each point from its neighbours, after a linear map, by LLE's weights (NPP).

    See `dualfold.methods.npp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    reg : share of the local trace that steadies the weights
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case; None is 0.99, and 1.0 is the problem as it
        is printed, without a reduction
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`. Joining adds no neighbours to rebuild from
    supervised : True reads y, a class for each row: neighbours are then of the same class, as many
        as that class has where those are fewer, and `pieces` has no meaning
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius; or the lists of `graph.nearest(X, …)`,
        so that they are not searched again
    n_jobs : threads (None: all cores)

    Attributes
    ----------
    components_, mean_ : the map; embedding_ : the fitted points
    eigenvalues_, certificate_ : the values of the problem, and how far from optimal they can be
    graph_, n_connected_components_ : the neighbours, and in how many pieces they were
    n_components_, n_components_reason_ : how many coordinates, and for "auto" why, in words

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import NeighborhoodPreservingProjection
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = NeighborhoodPreservingProjection().fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.transform(X), model.embedding_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _RIDGE_CONSTRAINTS

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    reg: float = 1e-3
    variance_kept: float | None = None
    metric: Any = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: Any = None

    def _method(self) -> LinearMethod:
        return projection_method(self, partial(npp, ridge=self.reg), DEFAULT_VARIANCE_SHARE)


@dataclass(eq=False, repr=False)
class OrthogonalNPP(LinearEstimator):
    """Rebuild each point from its neighbours, after an orthogonal projection (ONPP).

    See `dualfold.methods.orthogonal_npp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    reg : share of the local trace that steadies the weights
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case. None is 0.5: fainter directions cost less here
        and would be all that is seen (0.99 with supervised=True or n_components="auto"); 1.0 is the
        problem as it is printed, without a reduction
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`. Joining adds no neighbours to rebuild from
    supervised : True reads y, a class for each row: neighbours are then of the same class, as many
        as that class has where those are fewer, and `pieces` has no meaning
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius; or the lists of `graph.nearest(X, …)`,
        so that they are not searched again
    n_jobs : threads (None: all cores)

    Attributes
    ----------
    components_, mean_ : the map; embedding_ : the fitted points
    eigenvalues_, certificate_ : the values of the problem, and how far from optimal they can be
    graph_, n_connected_components_ : the neighbours, and in how many pieces they were
    n_components_, n_components_reason_ : how many coordinates, and for "auto" why, in words

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import OrthogonalNPP
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = OrthogonalNPP(variance_kept=0.7).fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.components_ @ model.components_.T, np.eye(2))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _RIDGE_CONSTRAINTS

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    reg: float = 1e-3
    variance_kept: float | None = None
    metric: Any = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: Any = None

    def _method(self) -> LinearMethod:
        problem = partial(orthogonal_npp, ridge=self.reg)
        return projection_method(self, problem, ORTHOGONAL_VARIANCE_SHARE)
