"""The four graph projections as scikit-learn estimators."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.errors import InvalidInput
from dualfold.estimators.base import solver_to_last_digits
from dualfold.estimators.dimension import LOOKED_AT, embedded
from dualfold.estimators.linear import LinearEstimator, signed
from dualfold.estimators.neighborhoods import connected, neighbor_graph
from dualfold.graph.graph import Graph
from dualfold.methods.lpp import lpp, orthogonal_lpp
from dualfold.methods.npp import npp, orthogonal_npp
from dualfold.trace.problem import TraceProblem
from dualfold.weights.laplacian import Weights

Array = np.ndarray[Any, np.dtype[Any]]

_GRAPH_CONSTRAINTS: dict[str, Any] = {
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "radius": [Interval(Real, 0, None, closed="neither"), None],
    "neighborhood": [StrOptions({"fixed", "variable"})],
    "variance_kept": [Interval(Real, 0, 1, closed="right")],
    "metric": [str, callable],
    "pieces": [StrOptions({"join", "raise"})],
    "n_jobs": [Integral, None],
    "graph": "no_validation",  # a Graph or a sparse matrix of edge lengths
}
_WEIGHT_CONSTRAINTS: dict[str, Any] = _GRAPH_CONSTRAINTS | {
    "weights": [StrOptions({"heat", "binary", "density"})],
    "width": [Interval(Real, 0, None, closed="neither"), None],
}
_RIDGE_CONSTRAINTS: dict[str, Any] = _GRAPH_CONSTRAINTS | {
    "reg": [Interval(Real, 0, None, closed="left")],
}


class _GraphProjection(LinearEstimator):
    """Graph → problem → linear map, the same way for all four."""

    n_components: int | str
    n_neighbors: int
    radius: float | None
    neighborhood: str
    variance_kept: float
    metric: Any
    pieces: str
    n_jobs: int | None
    graph: Any

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        raise NotImplementedError

    def _fit(self, X: Any) -> None:
        self._refuse_distances()
        if self.n_components != "auto" and int(self.n_components) > X.shape[1]:
            raise InvalidInput(
                f"n_components={self.n_components} directions were asked for, and the data has "
                f"n_features={X.shape[1]}; lower n_components"
            )
        with self._stage("neighbours"):
            made = neighbor_graph(
                X,
                n_neighbors=self.n_neighbors,
                radius=self.radius,
                neighborhood=self.neighborhood,
                metric=self.metric,
                n_jobs=self.n_jobs,
                graph=self.graph,
            )
        self.n_connected_components_ = made.n_pieces
        self.graph_ = connected(made, self.pieces)
        wanted = 1 if self.n_components == "auto" else int(self.n_components)
        problem = self._problem(self.graph_, wanted)
        problem = replace(problem, count=self._count(problem.n))
        embedding, reason = embedded(problem, solver_to_last_digits(problem), self.n_components)
        self.n_components_reason_ = reason
        lift: Any = embedding.problem.lift
        map_ = lift.linear_map(embedding.solution.vectors, embedding.values)
        self.components_ = signed(map_.components).astype(X.dtype, copy=False)
        self.mean_ = map_.mean.astype(X.dtype, copy=False)
        self.n_components_ = len(self.components_)
        self.eigenvalues_ = embedding.values
        self.certificate_ = embedding.certificate
        turned = np.einsum("ij,ij->i", self.components_, map_.components) < 0
        points = embedding.points * np.where(turned, -1.0, 1.0)
        self.embedding_ = points.astype(X.dtype, copy=False)

    def _count(self, room: int) -> int:
        """The number of directions to look for among those that the variance left."""
        if self.n_components == "auto":
            return min(LOOKED_AT, room)
        if int(self.n_components) > room:
            raise InvalidInput(
                f"n_components={self.n_components} directions were asked for, and the data has "
                f"only {room}; lower n_components"
            )
        return int(self.n_components)

    def _refuse_distances(self) -> None:
        if isinstance(self.metric, str) and self.metric == "precomputed":
            raise InvalidInput(
                f"metric='precomputed' was given, but {type(self).__name__} is a linear map of "
                "features and distances have none; pass the features, or use an embedding that "
                "needs no map (LaplacianEigenmaps, Isomap)"
            )


class LocalityPreservingProjection(_GraphProjection):
    """Keep neighbours close by a linear map (LPP): eigenmaps that map new points.

    See `dualfold.methods.lpp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors, radius, neighborhood : who is a neighbour: that many ("fixed"), at most
        that many ("variable": fewer where points are sparse), or all within `radius`
    weights, width : "heat" weights exp(−‖x−y‖²/width²) (None: the root mean square edge
        length), "binary", or "density" (widths follow the local density)
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius
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
        n_neighbors: int = 10,
        radius: float | None = None,
        neighborhood: str = "fixed",
        weights: Weights = "heat",
        width: float | None = None,
        variance_kept: float = 0.99,
        metric: Any = "euclidean",
        pieces: str = "join",
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
        self.n_jobs = n_jobs
        self.graph = graph

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        return lpp(
            graph,
            n_components=n_components,
            weights=self.weights,
            width=self.width,
            variance_kept=self.variance_kept,
        )


class OrthogonalLPP(LocalityPreservingProjection):
    """Keep neighbours close by an orthogonal projection: a view, never stretched.

    See `dualfold.methods.orthogonal_lpp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors, radius, neighborhood : who is a neighbour: that many ("fixed"), at most
        that many ("variable": fewer where points are sparse), or all within `radius`
    weights, width : "heat" weights exp(−‖x−y‖²/width²) (None: the root mean square edge
        length), "binary", or "density" (widths follow the local density)
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case; lower it where the
        picture looks like noise
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius
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

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        return orthogonal_lpp(
            graph,
            n_components=n_components,
            weights=self.weights,
            width=self.width,
            variance_kept=self.variance_kept,
        )


class NeighborhoodPreservingProjection(_GraphProjection):
    """Rebuild each point from its neighbours, after a linear map, by LLE's weights (NPP).

    See `dualfold.methods.npp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors, radius, neighborhood : who is a neighbour: that many ("fixed"), at most
        that many ("variable": fewer where points are sparse), or all within `radius`
    reg : share of the local trace that steadies the weights
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`. Joining adds no neighbours to rebuild from
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius
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

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        n_neighbors: int = 10,
        radius: float | None = None,
        neighborhood: str = "fixed",
        reg: float = 1e-3,
        variance_kept: float = 0.99,
        metric: Any = "euclidean",
        pieces: str = "join",
        n_jobs: int | None = None,
        graph: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.neighborhood = neighborhood
        self.reg = reg
        self.variance_kept = variance_kept
        self.metric = metric
        self.pieces = pieces
        self.n_jobs = n_jobs
        self.graph = graph

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        return npp(
            graph, n_components=n_components, ridge=self.reg, variance_kept=self.variance_kept
        )


class OrthogonalNPP(NeighborhoodPreservingProjection):
    """Rebuild each point from its neighbours, after an orthogonal projection (ONPP).

    See `dualfold.methods.orthogonal_npp` for the problem it solves.

    Parameters
    ----------
    n_components : int, or "auto": up to the widest eigengap among the first ten
    n_neighbors, radius, neighborhood : who is a neighbour: that many ("fixed"), at most
        that many ("variable": fewer where points are sparse), or all within `radius`
    reg : share of the local trace that steadies the weights
    variance_kept : share of the variance that the data is reduced to before; as many
        directions as n_components stay in any case; lower it where the
        picture looks like noise
    metric : of the graph; "precomputed" is refused, since a linear map needs features
    pieces : "join" a graph in several pieces by its shortest links (with a warning), or
        "raise" `DisconnectedGraph`. Joining adds no neighbours to rebuild from
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius
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

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        return orthogonal_npp(
            graph, n_components=n_components, ridge=self.reg, variance_kept=self.variance_kept
        )
