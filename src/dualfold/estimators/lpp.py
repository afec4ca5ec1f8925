"""Locality preserving projections as estimators: stretched, and orthogonal."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.estimators.graph_projection import (
    ORTHOGONAL_SHARE,
    PROJECTION_CONSTRAINTS,
    GraphProjection,
)
from dualfold.graph.graph import Graph
from dualfold.methods.lpp import lpp, orthogonal_lpp
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import Weights

_WEIGHT_CONSTRAINTS: dict[str, Any] = PROJECTION_CONSTRAINTS | {
    "weights": [StrOptions({"heat", "binary", "density"})],
    "width": [Interval(Real, 0, None, closed="neither"), None],
}


class LocalityPreservingProjection(GraphProjection):
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
        directions as n_components stay in any case; None is 0.99
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

    _parameter_constraints: ClassVar[dict[str, Any]] = _WEIGHT_CONSTRAINTS

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_neighbors: int | None = 10,
        radius: float | None = None,
        neighborhood: str = "fixed",
        weights: Weights = "heat",
        width: float | None = None,
        variance_kept: float | None = None,
        metric: Any = "euclidean",
        pieces: str = "join",
        supervised: bool = False,
        n_jobs: int | None = None,
        graph: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.neighborhood = neighborhood
        self.weights = weights
        self.width = width
        self.variance_kept = variance_kept
        self.metric = metric
        self.pieces = pieces
        self.supervised = supervised
        self.n_jobs = n_jobs
        self.graph = graph

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        return lpp(
            graph,
            n_components=n_components,
            weights=self.weights,
            width=self.width,
            variance_kept=self._share,
        )


class OrthogonalLPP(LocalityPreservingProjection):
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
        and would be all that is seen (0.99 with supervised=True or n_components="auto")
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

    _usual_share: ClassVar[float] = ORTHOGONAL_SHARE

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        return orthogonal_lpp(
            graph,
            n_components=n_components,
            weights=self.weights,
            width=self.width,
            variance_kept=self._share,
        )
