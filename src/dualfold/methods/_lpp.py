"""Locality preserving projections, plain and orthogonal."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

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
from dualfold.weights.affinity import Weights, weighted_laplacian
from dualfold.weights.reduction import row_space


def lpp(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    variance_kept: float = 0.99,
    centred: bool = True,
) -> TraceProblem:
    """Keep neighbours close by a linear map: eigenmaps that know what to do with new points.

        minimise tr(VᵀZᵀLZV)  subject to  VᵀZᵀDegZV = I,   points ZV

    Z is the data in its leading principal directions, which hold `variance_kept` of its
    variance: beyond them a direction wins by having no extent at all, or only noise. Z is
    centred by the degree-weighted mean, as VᵀZᵀDeg1 = 0 asks; `centred`=False takes the rows as
    they are, and with `variance_kept`=1 the problem is that which He and Niyogi print (Z = X).
    With Z = I it is `eigenmaps`. Sees nothing that no linear map can show. The graph may have
    several pieces: one map serves them all, and it may draw each of them together.

    He and Niyogi, "Locality preserving projections" (2003).
    """
    laplacian, degrees = weighted_laplacian(graph, weights=weights, width=width)
    points = coordinates(graph)
    space = row_space(points, variance_kept=variance_kept, least=n_components, centred=centred)
    space = space.as_white()
    # Deg − Deg11ᵀDeg/(1ᵀDeg1): the degrees, with the weighted mean taken out.
    means = degrees / degrees.sum() if centred else np.zeros(graph.n)
    return TraceProblem(
        space.form(lambda Z: laplacian @ Z),
        space.form(lambda Z: degrees[:, None] * (Z - means @ Z)),
        n_components,
        "min",
        lift=ProjectionLift(
            space.data, space.weighted_mean(degrees) if centred else space.mean, space=space
        ),
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


_WEIGHT_CONSTRAINTS: dict[str, Any] = PROJECTION_CONSTRAINTS | {
    "weights": [StrOptions({"heat", "binary", "density"})],
    "width": [Interval(Real, 0, None, closed="neither"), None],
}


@dataclass(eq=False, repr=False)
class LocalityPreservingProjection(LinearEstimator):
    """Keep neighbours close by a linear map (LPP): eigenmaps that map new points.

    See `dualfold.methods.lpp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    weights : "heat" weights exp(−‖x−y‖²/width²), "binary", or "density" (widths follow the
        local density)
    width : of heat weights; None is the root mean square edge length
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case; None is 0.99, and 1.0 is the problem as it
        is printed, without a reduction
    centred : False takes no mean off the rows, as He and Niyogi's problem is printed
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`
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
    >>> from dualfold import LocalityPreservingProjection
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = LocalityPreservingProjection().fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.transform(X), model.embedding_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _WEIGHT_CONSTRAINTS | {
        "centred": ["boolean"]
    }

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: Weights = "heat"
    width: float | None = None
    variance_kept: float | None = None
    centred: bool = True
    metric: Any = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: Any = None

    def _method(self) -> LinearMethod:
        problem = partial(lpp, weights=self.weights, width=self.width, centred=self.centred)
        return projection_method(self, problem, DEFAULT_VARIANCE_SHARE)


@dataclass(eq=False, repr=False)
class OrthogonalLPP(LinearEstimator):
    """Keep neighbours close by an orthogonal projection: a view, never stretched.

    See `dualfold.methods.orthogonal_lpp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    weights : "heat" weights exp(−‖x−y‖²/width²), "binary", or "density" (widths follow the
        local density)
    width : of heat weights; None is the root mean square edge length
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case. None is 0.5: fainter directions cost less here
        and would be all that is seen (0.99 with supervised=True or n_components="auto"); 1.0 is the
        problem as it is printed, without a reduction
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`
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
    >>> from dualfold import OrthogonalLPP
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = OrthogonalLPP(variance_kept=0.7).fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.components_ @ model.components_.T, np.eye(2))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _WEIGHT_CONSTRAINTS

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: Weights = "heat"
    width: float | None = None
    variance_kept: float | None = None
    metric: Any = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: Any = None

    def _method(self) -> LinearMethod:
        problem = partial(orthogonal_lpp, weights=self.weights, width=self.width)
        return projection_method(self, problem, ORTHOGONAL_VARIANCE_SHARE)
