"""Linear maps by a neighbour graph: from a graph to the projection, for LPP, NPP and their kin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, DType, Rows
from dualfold.embedding import embed
from dualfold.errors import Argument, InPython, InvalidInput, counted
from dualfold.graph import Graph, Neighbors
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.pieces import merge_graphs, subgraph
from dualfold.methods.fitting.context import FitContext, known_graph
from dualfold.methods.fitting.dimension import MAX_AUTO_COMPONENTS, cut_at_eigengap
from dualfold.methods.fitting.estimator import Stage, asked_count
from dualfold.methods.fitting.graph_estimator import GRAPH_CONSTRAINTS, in_memory_only
from dualfold.methods.fitting.linear import LinearFit, LinearMethod, linear_fit
from dualfold.methods.fitting.neighborhoods import (
    GraphSettings,
    default_neighbors,
    neighbor_count,
    neighbor_graph,
    one_piece_graph,
)
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.parameters import Constraints
from dualfold.trace.problem import TraceProblem
from dualfold.weights.precision import joined_sentences

# The share of the variance that the data is reduced to before; orthogonal forms see noise at 0.99
# and no more than the principal plane at 0.3 (docs/dev/notes/coordinates.md).
DEFAULT_VARIANCE_SHARE = 0.99
ORTHOGONAL_VARIANCE_SHARE = 0.5

PROJECTION_CONSTRAINTS: Constraints = {
    "variance_kept": [Interval(Real, 0, 1, closed="right"), None],
    "pieces": [StrOptions({"join", "raise"})],
    "supervised": ["boolean"],
} | {
    name: GRAPH_CONSTRAINTS[name]
    for name in (
        "n_components",
        "n_neighbors",
        "radius",
        "neighborhood",
        "metric",
        "n_jobs",
        "graph",
    )
}


def projection_method(
    estimator: Any, problem: Callable[..., TraceProblem], usual_share: float
) -> LinearMethod:
    """The method of an estimator with the parameters of `PROJECTION_CONSTRAINTS`.

    problem : states the problem of a graph, `n_components` and `variance_kept`
    usual_share : of the variance, where `variance_kept` is None
    """
    share = estimator.variance_kept
    if share is None:
        # Classes tell which directions matter, and "auto" needs some to choose from.
        plain = estimator.supervised or estimator.n_components == "auto"
        share = DEFAULT_VARIANCE_SHARE if plain else usual_share
    settings = GraphSettings(
        n_neighbors=estimator.n_neighbors,
        radius=estimator.radius,
        neighborhood=estimator.neighborhood,
        metric=estimator.metric,
        n_jobs=estimator.n_jobs,
        default=default_neighbors(estimator),
    )
    stated = partial(problem, variance_kept=float(share))
    projection = _Projection(estimator, stated, settings)
    return LinearMethod(projection.fit, projection.problem_for, projection.fit_tiles)


@dataclass(frozen=True, eq=False)
class _Projection:
    """Graph → problem → linear map, the same way for all of them."""

    estimator: Any
    problem: Callable[..., TraceProblem]
    settings: GraphSettings

    @property
    def least(self) -> int:
        """The coordinates that the space is chosen for: 1 where "auto" chooses them later."""
        wanted = self.estimator.n_components
        return 1 if wanted == "auto" else int(wanted)

    def fit(self, X: Any, context: FitContext, stage: Stage) -> LinearFit:
        self.refuse_distances()
        wanted = self.estimator.n_components
        if wanted != "auto" and int(wanted) > X.shape[1]:
            raise InvalidInput(
                Argument("n_components", wanted),
                " asks for more directions than the data has columns, which is ",
                InPython("n_features="),
                f"{X.shape[1]}; lower ",
                Argument("n_components"),
            )
        with stage("neighbours"):
            graph = self.graph(X, context)
        return self.fit_graph(graph, X.dtype, context.weights)

    def problem_for(self, X: Rows, count: int, context: FitContext) -> TraceProblem:
        graph = self.connected_graph(self.graph(X, context))
        problem = self.problem_of(graph, context.weights)
        return problem.with_count(asked_count(self.estimator, count, problem.n))

    def fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> LinearFit:
        """The neighbours over partitions, then the same problem on rows that lie in a file.

        Lists and sums are as large as the number of rows; the rows are never all in memory.
        """
        estimator = self.estimator
        if context.weights is not None:
            raise in_memory_only()
        if estimator.supervised or estimator.graph is not None or estimator.radius is not None:
            raise InvalidInput(
                "X is a table in tiles, whose neighbours are searched over partitions, so many for "
                "each row; leave out ",
                Argument("supervised" if estimator.supervised else "radius"),
                " and ",
                Argument("graph"),
            )
        self.refuse_distances()
        if not isinstance(estimator.metric, str) or estimator.metric not in ("euclidean", "l2"):
            raise InvalidInput(
                Argument("metric", estimator.metric), " is not for tables in tiles; 'euclidean' is"
            )
        count = neighbor_count(self.settings, rows.n_rows)
        lists = rows.neighbors(count)
        settings = replace(self.settings, n_neighbors=count)
        fit = self.fit_graph(neighbor_graph(rows.as_one_array(), lists, settings), rows.dtype)
        certificate = fit.certificate
        if not lists.search.exact:
            about = joined_sentences(certificate.about, lists.search.sentence())
            certificate = replace(certificate, about=about)
        # The graph is as large as the table; transform makes the points.
        kept = {name: value for name, value in fit.attributes.items() if name != "graph_"}
        return replace(fit, certificate=certificate, points=None, attributes=kept)

    def fit_graph(self, graph: Graph, kind: DType, masses: Array | None = None) -> LinearFit:
        n_pieces = graph.n_pieces
        graph = self.connected_graph(graph)
        problem = self.problem_of(graph, masses)
        wanted = self.estimator.n_components
        count = min(MAX_AUTO_COMPONENTS, problem.n) if wanted == "auto" else int(wanted)
        problem = problem.with_count(count)
        whole = embed(problem, solver=solver_to_last_digits(problem))
        embedding, reason = cut_at_eigengap(whole, wanted)
        return linear_fit(
            embedding,
            kind,
            graph_=graph,
            n_connected_components_=n_pieces,
            n_components_reason_=reason,
        )

    def problem_of(self, graph: Graph, masses: Array | None) -> TraceProblem:
        given = {} if masses is None else {"masses": masses}  # two of the methods take them
        return self.problem(graph, n_components=self.least, **given)

    def connected_graph(self, graph: Graph) -> Graph:
        """In one piece; classes are pieces that stay apart."""
        return graph if self.estimator.supervised else one_piece_graph(graph, self.estimator.pieces)

    def graph(self, X: Rows, context: FitContext) -> Graph:
        """The neighbours by the estimator's rule; with classes, of the same class only.

        Classes are pieces of such a graph, and stay apart: a linear map needs no single piece,
        and a direction that makes each class one point is a good one. Only the direction
        that makes all points one is trivial, and constraints on centred points exclude it.
        """
        given, labels = known_graph(self.estimator, context), context.target
        k = self.settings.n_neighbors
        if labels is None:
            return neighbor_graph(X, given, self.settings)
        classes = labels.of_two_or_more("such a row has no neighbour of its own class").members
        # Lists of neighbours among all rows say nothing of those within a class.
        if given is not None and not isinstance(given, Neighbors):
            whole = neighbor_graph(X, given, self.settings)
            parts = [(rows, subgraph(whole, rows)) for rows in classes]
        else:
            fewer = [replace(self.settings, n_neighbors=k and min(k, len(c) - 1)) for c in classes]
            parts = [
                (rows, neighbor_graph(X[rows], None, settings))
                for rows, settings in zip(classes, fewer, strict=True)
            ]
        graph = merge_graphs(parts, X)
        alone = np.flatnonzero(graph.lists.counts == 0)
        if len(alone):
            raise InvalidInput(
                f"{counted(len(alone), 'row')} {'has' if len(alone) == 1 else 'have'} no neighbour "
                f"of their own class, the first of them is row {alone[0]}; raise ",
                Argument("radius"),
                ", or use ",
                Argument("n_neighbors"),
            )
        return graph

    def refuse_distances(self) -> None:
        if is_precomputed(self.estimator.metric):
            raise InvalidInput(
                Argument("metric", "precomputed"),
                f" was given, but {type(self.estimator).__name__} is a linear map of features and "
                "distances have none; pass the features, or use an embedding that needs no "
                "map (LaplacianEigenmaps, Isomap)",
            )
