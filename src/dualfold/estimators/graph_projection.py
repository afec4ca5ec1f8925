"""What the four graph projections share as estimators: from a graph to a linear map."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.data.labels import Labels
from dualfold.errors import Argument, InPython, InvalidInput
from dualfold.estimators.base import solver_to_last_digits
from dualfold.estimators.dimension import LOOKED_AT, embedded
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS
from dualfold.estimators.linear import LinearEstimator
from dualfold.estimators.neighborhoods import connected, neighbor_graph, usual_neighbors
from dualfold.estimators.stated import Stated, linear_statement
from dualfold.graph import Graph, Neighbors, merge_graphs, subgraph
from dualfold.graph.metrics import is_precomputed
from dualfold.scale.lists import neighbors
from dualfold.scale.placing import laid_out
from dualfold.scale.table import TiledTable
from dualfold.trace.problem import TraceProblem
from dualfold.weights.precision import joined_sentences

# Neighbours that OLPP and ONPP keep of 10, where 0.99, 0.9, 0.7, 0.5 and 0.3 of the variance stay
# (the plain forms keep about the same at all of these shares: 11, 14, 24 and 35 %):
#   1,200 images of MNIST   2-3   3-4    6-7    8-10   10 %
#   1,200 digits            4-6   9     10-12  12-13  14-15 %
#   breast cancer           5-7   9-21  18-24  25     25 %
#   wine                    15-25 27-32 33-36  37     37 %
# 0.3 is often no more than the principal plane itself.
ORTHOGONAL_SHARE = 0.5

PROJECTION_CONSTRAINTS: dict[str, Any] = {
    "variance_kept": [Interval(Real, 0, 1, closed="right"), None],
    "pieces": [StrOptions({"join", "raise"})],
    "supervised": ["boolean"],
} | {
    name: GRAPH_CONSTRAINTS[name]
    for name in (
        "n_components", "n_neighbors", "radius", "neighborhood", "metric", "n_jobs", "graph",
    )
}  # fmt: skip


class GraphProjection(LinearEstimator):
    """Graph → problem → linear map, the same way for all four."""

    n_components: int | str
    n_neighbors: int | None
    radius: float | None
    neighborhood: str
    variance_kept: float | None
    # The share where variance_kept is None, as `methods` has it; orthogonal forms have their own.
    _usual_share: ClassVar[float] = 0.99
    metric: Any
    pieces: str
    supervised: bool
    n_jobs: int | None
    graph: Any
    graph_: Graph
    _unused_for_new_rows: ClassVar[tuple[str, ...]] = ("embedding_", "graph_")

    def _problem(self, graph: Graph, n_components: int) -> TraceProblem:
        raise NotImplementedError

    def _uses_labels(self) -> bool:
        return self.supervised

    def _stated(self, X: Any, count: int, labels: Labels | None = None) -> Stated:
        made = self._neighbors(X, labels)
        graph = made if self.supervised else connected(made, self.pieces)
        problem = self._problem(graph, self._least)
        return linear_statement(replace(problem, count=self._asked(count, problem.n)))

    @property
    def _least(self) -> int:
        """The coordinates that the space is chosen for: 1 where "auto" chooses them later."""
        return 1 if self.n_components == "auto" else int(self.n_components)

    def _fit(self, X: Any) -> None:
        self._fit_labelled(X, None)

    def _fit_labelled(self, X: Any, labels: Labels | None) -> None:
        self._refuse_distances()
        if self.n_components != "auto" and int(self.n_components) > X.shape[1]:
            raise InvalidInput(
                Argument("n_components", self.n_components),
                " asks for more directions than the data has columns, which is ",
                InPython("n_features="),
                f"{X.shape[1]}; lower ",
                Argument("n_components"),
            )
        with self._stage("neighbours"):
            made = self._neighbors(X, labels)
        self._fit_graph(made, X.dtype)

    def _fit_tiles(self, rows: TiledTable, y: Any) -> None:
        """The neighbours over partitions, then the same problem on rows that lie in a file.

        Lists and sums are as large as the number of rows; the rows are never all in memory.
        """
        if self.supervised or self.graph is not None or self.radius is not None:
            raise InvalidInput(
                "X is a table in tiles, whose neighbours are searched over partitions, so many for "
                "each row; leave out ",
                Argument("supervised" if self.supervised else "radius"),
                " and ",
                Argument("graph"),
            )
        self._refuse_distances()
        if not isinstance(self.metric, str) or self.metric not in ("euclidean", "l2"):
            raise InvalidInput(
                Argument("metric", self.metric), " is not for tables in tiles; 'euclidean' is"
            )
        count = min(self.n_neighbors or 10, rows.n_rows - 1)
        lists = neighbors(rows, count)
        self._fit_graph(self._neighbor_graph(laid_out(rows), count, lists), rows.dtype)
        if not lists.search.exact:
            about = joined_sentences(self.certificate_.about, lists.search.sentence())
            self.certificate_ = replace(self.certificate_, about=about)
        del self.embedding_, self.graph_  # as large as the table; transform makes the points

    def _fit_graph(self, made: Graph, kind: Any) -> None:
        self.n_connected_components_ = made.n_pieces
        self.graph_ = made if self.supervised else connected(made, self.pieces)
        problem = self._problem(self.graph_, self._least)
        problem = replace(problem, count=self._count(problem.n))
        embedding, reason = embedded(problem, solver_to_last_digits(problem), self.n_components)
        self.n_components_reason_ = reason
        self._keep_map(embedding, kind)

    def _neighbors(self, X: Any, labels: Labels | None) -> Graph:
        """The neighbours by this estimator's rule; with labels, of the same class only.

        Classes are pieces of such a graph, and stay apart: a linear map needs no single piece,
        and a direction that makes each class one point is a good one. Only the direction
        that makes all points one is trivial, and constraints on centred points exclude it.
        """
        if labels is None:
            return self._neighbor_graph(X, self.n_neighbors, self.graph)
        classes = labels.of_two_or_more("such a row has no neighbour of its own class").members
        # Lists of neighbours among all rows say nothing of those within a class.
        if self.graph is not None and not isinstance(self.graph, Neighbors):
            whole = self._neighbor_graph(X, self.n_neighbors, self.graph)
            parts = [(rows, subgraph(whole, rows)) for rows in classes]
        else:
            k = self.n_neighbors
            parts = [
                (rows, self._neighbor_graph(X[rows], k and min(k, len(rows) - 1), None))
                for rows in classes
            ]
        graph = merge_graphs(parts, X)
        alone = np.flatnonzero(graph.lists.counts == 0)
        if len(alone):
            raise InvalidInput(
                f"{len(alone)} rows have no neighbour of their own class, the first of them is row "
                f"{alone[0]}; raise ",
                Argument("radius"),
                ", or use ",
                Argument("n_neighbors"),
            )
        return graph

    def _neighbor_graph(self, X: Any, n_neighbors: int | None, graph: Any) -> Graph:
        return neighbor_graph(
            X,
            n_neighbors=n_neighbors,
            radius=self.radius,
            neighborhood=self.neighborhood,
            metric=self.metric,
            n_jobs=self.n_jobs,
            graph=graph,
            usual=usual_neighbors(self),
        )

    @property
    def _share(self) -> float:
        """The share of the variance that the data is reduced to."""
        if self.variance_kept is not None:
            return float(self.variance_kept)
        # Classes tell which directions matter, and "auto" needs some to choose from.
        plain = self.supervised or self.n_components == "auto"
        return 0.99 if plain else self._usual_share

    def _count(self, room: int) -> int:
        """The number of directions to look for among those that the variance left."""
        return min(LOOKED_AT, room) if self.n_components == "auto" else int(self.n_components)

    def _refuse_distances(self) -> None:
        if is_precomputed(self.metric):
            raise InvalidInput(
                Argument("metric", "precomputed"),
                f" was given, but {type(self).__name__} is a linear map of features and "
                "distances have none; pass the features, or use an embedding that needs no "
                "map (LaplacianEigenmaps, Isomap)",
            )
