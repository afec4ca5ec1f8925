"""What the four graph projections share as estimators: from a graph to a linear map."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.errors import InvalidInput
from dualfold.estimators.base import solver_to_last_digits
from dualfold.estimators.dimension import LOOKED_AT, embedded
from dualfold.estimators.linear import LinearEstimator
from dualfold.estimators.neighborhoods import connected, neighbor_graph
from dualfold.graph.graph import Graph
from dualfold.trace.problem import TraceProblem

PROJECTION_CONSTRAINTS: dict[str, Any] = {
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


class GraphProjection(LinearEstimator):
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
        self._keep_map(embedding, X.dtype)

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
