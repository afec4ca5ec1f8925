"""A few rows that hang on the others by almost nothing do not rule the map.

Two outliers beside each other, or a dozen rows apart, are the cheapest cut of a neighbour graph:
a coordinate is then about them alone, and all others share one spot of the map. Such specks are
left out of the problem, which the certificate says, and placed as new rows are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import Argument, RowsLeftOut, warn
from dualfold.estimators.chosen import COORDINATE_RULES, ChoosesCoordinates
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS
from dualfold.estimators.some_rows import listed_rows
from dualfold.graph import Graph
from dualfold.trace.problem import TraceProblem

SPECK_CONSTRAINTS: dict[str, Any] = (
    GRAPH_CONSTRAINTS | COORDINATE_RULES | {"left_out": ["array-like", None]}
)
# A speck is a fiftieth of the rows at most, and never more than 100: beyond, it is a cluster. With
# ten neighbours a piece has 11 rows or more, so of few rows it may be a twentieth, up to 24.
SHARE, MOST = 50, 100
TWENTIETH, SOME = 20, 24
LEAST = 3
# It rules a coordinate when it holds half of the coordinate's sum of squares.
RULES = 0.5
# Fewer rows have no "few among many".
FEWEST_ROWS = 30
# Each round is one more embedding. Tables that still have specks after them are made of specks,
# and so are those where a tenth of the rows would go.
ROUNDS, TENTH = 8, 10


class LeavesSpecksOut(ChoosesCoordinates):
    """One that looks for specks where `left_out` is None."""

    def _whole(self, graph: Graph, X: Any) -> tuple[Graph, Embedding]:
        """The graph in one piece and its embedding, without the specks."""
        looks = self.left_out is None and graph.n >= FEWEST_ROWS and self._has_rule()
        if looks and self.pieces == "join" and graph.n_pieces > 1:
            graph = self._without(graph, _small_pieces(graph), X)
        graph, embedding = super()._whole(graph, X)
        for _ in range(ROUNDS if looks else 0):
            solution, lift = embedding.solution, embedding.problem.lift
            V = lift.selected_columns(solution.vectors, solution.values)[0]
            fewer = self._without(graph, specks(embedding.problem, V), X)
            if fewer is graph:
                break
            graph, embedding = super()._whole(fewer, X)
        self.left_out_ = np.setdiff1d(self._pool, self._embedded_rows())
        if looks and len(self.left_out_):
            warn(
                RowsLeftOut(
                    f"{listed_rows(self.left_out_)} left out of the problem and placed as new rows "
                    "are: they hang on the others by so little that a coordinate of the map would "
                    "be about them alone; ",
                    Argument("left_out", ()),
                    " keeps them in",
                )
            )
        return graph, embedding

    def _embedded_rows(self) -> Array:
        return self._pool if self.rows_ is None else self.rows_

    def _without(self, graph: Graph, some: Array, X: Any) -> Graph:
        """The graph of the rows but `some` of its own; the same graph where too many would go."""
        rows = np.delete(self._embedded_rows(), some)
        if not len(some) or len(rows) < len(self._pool) - len(self._pool) // TENTH:
            return graph
        self.rows_ = rows
        return self._graph_of(X, rows)


def specks(problem: TraceProblem, vectors: Array) -> Array:
    """Rows of the graph that rule a coordinate, few among many: A is its Laplacian.

    Of a coordinate that they rule, the best cut among its heaviest rows: the set S with the least
    1ᵀ_S A 1_S/1ᵀ_S B 1_S, taken by falling size (a sweep, as in Cheeger's inequality).
    """
    if problem.n < FEWEST_ROWS:
        return np.zeros(0, int)
    most = _most(problem.n)
    masses = vectors * problem.metric.times(vectors)
    found = [np.zeros(0, int)]
    for vector, mass in zip(vectors.T, masses.T, strict=True):
        heavy = np.argsort(-mass, kind="stable")[:most]
        if mass[heavy].sum() < RULES * mass.sum():
            continue
        heavy = heavy[np.sign(vector[heavy]) == np.sign(vector[heavy[0]])]
        inside = problem.A[heavy][:, heavy].toarray()
        cuts = np.cumsum(np.cumsum(inside, axis=0), axis=1).diagonal()
        ones = np.zeros((problem.n, 1))
        ones[heavy] = 1.0
        volumes = np.cumsum(problem.metric.times(ones)[heavy, 0])
        found.append(heavy[: int(np.argmin(cuts / volumes)) + 1])
    return np.unique(np.concatenate(found))


def _most(n: int) -> int:
    """As many rows as a speck has at most."""
    return max(LEAST, min(MOST, n // SHARE), min(SOME, n // TWENTIETH))


def _small_pieces(graph: Graph) -> Array:
    sizes = np.bincount(graph.piece_of)
    return np.flatnonzero(sizes[graph.piece_of] <= _most(graph.n))
