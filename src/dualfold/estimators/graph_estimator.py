"""Estimators that begin with a neighbour graph: how it is made, and its pieces."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.data.labels import Labels
from dualfold.embedding import Embedding
from dualfold.errors import (
    Argument,
    DisconnectedGraph,
    InPython,
    InvalidInput,
    Message,
    PointsCollapse,
    warn,
)
from dualfold.estimators.base import SOLVERS, CertifiedEstimator, solver_named
from dualfold.estimators.dimension import LOOKED_AT, embedded
from dualfold.estimators.landmark_tiles import fit_landmarks, seed_of
from dualfold.estimators.layout import PiecewiseCertificate, side_by_side
from dualfold.estimators.neighborhoods import neighbor_graph, usual_neighbors
from dualfold.estimators.stated import Stated
from dualfold.graph import Graph, join_pieces, separate
from dualfold.graph.metrics import is_precomputed, refuse_other_width
from dualfold.graph.pieces import SEPARATE_MESSAGE, pieces_in_words
from dualfold.maps.piecewise import PiecewiseMap
from dualfold.scale.table import TiledTable

GRAPH_CONSTRAINTS: dict[str, Any] = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
    "radius": [Interval(Real, 0, None, closed="both"), None],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "neighborhood": [StrOptions({"fixed", "variable"})],
    "metric": [str, callable],
    "p": [Interval(Real, 1, None, closed="left")],
    "metric_params": [dict, None],
    "pieces": [StrOptions({"join", "separate", "raise"})],
    "eigen_solver": [StrOptions(set(SOLVERS))],
    "tol": [Interval(Real, 0, None, closed="left")],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "graph": "no_validation",  # a Graph or a sparse matrix of edge lengths
}


class GraphEstimator(CertifiedEstimator):
    """Graph → problem → embedding, piece by piece if asked.

    Subclasses state `_problem(graph, count)` and `_map(graph, embedding)`, the callable
    that places new points; `_solver()` answers the problem, and `_keep_answers(parts)` may
    keep more of the answers than their points. Fitted attributes: `embedding_`, `eigenvalues_`,
    `certificate_`, `graph_`, `n_connected_components_`, and `n_components_reason_` when
    n_components="auto".
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = GRAPH_CONSTRAINTS

    # The largest gap that is "proved"; an estimator may have it as a parameter.
    tolerance: float = 1e-4

    def _problem(self, graph: Graph, count: int) -> Any:
        raise NotImplementedError

    def _solver(self) -> Any:
        return solver_named(self.eigen_solver, self.tol, self._seed())

    def _keep_answers(self, parts: list[tuple[Array, Embedding | None]]) -> None:
        """Called with the rows and the embedding of every piece; None for a single point."""

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        raise NotImplementedError

    def _fit(self, X: Any) -> None:
        with self._stage("neighbours"):
            graph = self._graph(X)
        _warn_of_one_point(graph)
        self.n_connected_components_ = graph.n_pieces
        if graph.n_pieces > 1 and self.pieces == "separate":
            self._fit_pieces(graph)
        else:
            graph, embedding = self._whole(graph, X)
            self._keep(embedding.points, embedding.values, embedding.certificate)
            self._keep_answers([(np.arange(graph.n), embedding)])
            self._placing: Callable[[Any], Array] = self._map(graph, embedding)
        self.graph_ = graph
        self._place_others(X)
        if X.dtype == np.float32:
            self.embedding_ = self.embedding_.astype(np.float32)

    def _fit_tiles(self, rows: TiledTable, y: Any) -> None:
        fit_landmarks(self, rows)

    def _whole(self, graph: Graph, X: Any) -> tuple[Graph, Embedding]:
        """The graph in one piece, and its embedding."""
        with self._stage("pieces"):
            graph = self._in_one_piece(graph)
        return graph, self._embedding(graph)

    def _place_others(self, X: Any) -> None:
        """Rows that are not in the graph, where it is one of some rows, join `embedding_`."""

    def _most_components(self, graph: Graph) -> int:
        """How many coordinates "auto" may look at; some methods cannot have more."""
        return graph.n

    def _in_one_piece(self, graph: Graph) -> Graph:
        if self.pieces != "join" and graph.n_pieces > 1:
            raise DisconnectedGraph(
                pieces_in_words(graph),
                "; ",
                Argument("pieces", "join"),
                " joins them by their shortest links, ",
                Argument("pieces", "separate"),
                " embeds each on its own",
            )
        return join_pieces(
            graph,
            otherwise=Message(
                SEPARATE_MESSAGE,
                InPython(" (n_connected_components_ is the number of connected components)"),
            ),
        )

    def _embedding(self, graph: Graph, fixed: int | None = None) -> Embedding:
        """The embedding of one piece; a piece of s points has at most s − 1 directions."""
        wanted: Any = self.n_components if fixed is None else fixed
        room = max(1, min(LOOKED_AT, graph.n - 2, self._most_components(graph)))
        most = room if wanted == "auto" else min(wanted, graph.n - 1)
        if wanted != "auto" and most < wanted and self.pieces != "separate":
            raise InvalidInput(
                Argument("n_components", wanted),
                f" needs more than {wanted} points; there are {graph.n}",
            )
        solver = self._solver()
        with self._stage("problem"):
            problem = self._problem(graph, most)
            self._refuse_hopeless(problem)
        with self._stage("solution and certificate"):
            embedding, reason = self._answered(
                graph, problem, solver, wanted, settled=fixed is not None
            )
        if reason is not None:
            self.n_components_reason_ = reason
        return embedding

    def _answered(
        self, graph: Graph, problem: Any, solver: Any, wanted: Any, settled: bool
    ) -> tuple[Embedding, str | None]:
        """The answer, with the reason for its number of coordinates where that was left open.

        settled : whether it is of a piece for which a larger one has made the choices
        """
        return embedded(problem, solver, wanted, tolerance=self.tolerance)

    def _refuse_hopeless(self, problem: Any) -> None:
        """`TooLarge` for a problem that no solver would answer in reasonable time."""

    def _fit_pieces(self, graph: Graph) -> None:
        parts: list[tuple[Array, Embedding | None]] = []
        maps: list[Callable[[Any], Array] | None] = []
        width: int | None = None
        for rows, part in separate(graph):
            if len(rows) == 1:
                parts.append((rows, None))
                maps.append(None)
                continue
            embedding = self._embedding(part, width)
            # The largest piece comes first and settles what "auto" means for the others.
            width = width or embedding.points.shape[1]
            parts.append((rows, embedding))
            maps.append(self._map(part, embedding))
        layout = side_by_side(parts, graph.n, width or 1)
        kept = [embedding for _, embedding in parts if embedding is not None]
        values = kept[0].values if kept else np.zeros(1)
        certificate = PiecewiseCertificate.of([piece.certificate for piece in kept])
        self._keep(layout.points, values, certificate)
        self._keep_answers(parts)
        self._placing = PiecewiseMap(
            graph.points, graph.metric, graph.piece_of, layout.points, layout.offsets, tuple(maps)
        )

    def _keep(self, points: Array, values: Array, certificate: Any) -> None:
        self.embedding_ = points
        self.eigenvalues_ = values
        self.certificate_ = certificate

    def placing_map(self) -> Callable[[Any], Array]:
        """The rule that places new points: of the whole, or of each piece."""
        check_is_fitted(self, "embedding_")
        return self._placing

    def graph_of(self, X: Any) -> Graph:
        """The neighbour graph that fitting X would embed, without embedding it."""
        graph = self._graph(self._checked(X, reset=True))
        return graph if self.pieces == "separate" else self._in_one_piece(graph)

    def _stated(self, X: Any, count: int, labels: Labels | None = None) -> Stated:
        graph = self._in_one_piece(self._graph(X))
        return self._stated_piece(graph, self._asked(count, graph.n - 1))

    def _stated_piece(self, graph: Graph, count: int) -> Stated:
        """The problem of one piece, and where its answer leads."""
        return Stated(self._problem(graph, count), lambda answer: self._map(graph, answer))

    def _graph(self, X: Any) -> Graph:
        return self._neighbor_graph(X, self.graph)

    def _neighbor_graph(self, X: Any, graph: Any) -> Graph:
        return neighbor_graph(
            X,
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            neighborhood=self.neighborhood,
            metric=self._metric(),
            n_jobs=self.n_jobs,
            graph=graph,
            usual=usual_neighbors(self),
        )

    @property
    def nbrs_(self) -> Any:
        """A scikit-learn NearestNeighbors of the data, made when asked for."""
        from sklearn.neighbors import NearestNeighbors

        check_is_fitted(self, "graph_")
        finder = NearestNeighbors(
            n_neighbors=self.n_neighbors or 5,
            radius=1.0 if self.radius is None else self.radius,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )
        return finder.fit(self.graph_.points)

    def _metric(self) -> Any:
        """The metric with its parameters; Minkowski's p = 2 is the fast Euclidean one."""
        given = dict(self.metric_params or {})
        p = given.pop("p", self.p) if self.metric == "minkowski" else self.p
        if self.metric == "minkowski" and not given and p in (1, 2):
            return {1: "manhattan", 2: "euclidean"}[p]
        if self.metric == "minkowski":
            given["p"] = p
        return WithParameters(self.metric, given) if given else self.metric

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.metric)
        return tags


def _warn_of_one_point(graph: Graph) -> None:
    """Identical rows have no map; eigenvectors of their graph are coordinates out of nothing."""
    made = graph.kind != "given"  # a given graph may have edges without length
    if made and graph.n_edges and not graph.lengths.data.any() and _all_the_same(graph.points):
        warn(
            PointsCollapse(
                f"all {graph.n} points are the same: there is nothing to map, and coordinates of "
                "them mean nothing. Look at how the data was read or scaled"
            )
        )


def _all_the_same(points: Any) -> bool:
    if points is None or sp.issparse(points):
        return points is not None and (points - points[[0] * points.shape[0]]).count_nonzero() == 0
    rows = np.asarray(points)
    return bool((rows == rows[0]).all())


class WithParameters:
    """A metric of scikit-learn with its parameters, as a function of two points."""

    def __init__(self, metric: Any, parameters: dict[str, Any]) -> None:
        self.metric, self.parameters = metric, parameters

    def __call__(self, x: Array, y: Array) -> float:
        if callable(self.metric):
            return float(self.metric(x, y, **self.parameters))
        from sklearn.metrics import pairwise_distances

        refuse_other_width(self.metric, self.parameters, len(x))
        pair = np.vstack([x, y])
        return float(pairwise_distances(pair, metric=self.metric, **self.parameters)[0, 1])
