"""Estimators whose problem may be about some of the rows only; the others are placed by them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.estimators.graph_estimator import GraphEstimator
from dualfold.graph import Graph, Neighbors
from dualfold.trace.problem import TraceProblem

# So many rows are named in words.
NAMED = 10


class SomeRows(GraphEstimator):
    """A graph estimator with `rows_`, those whose graph is embedded (None: all).

    `landmarks` of them are drawn at random; `left_out` are no part of the problem in any case.
    """

    landmarks: Any = None
    left_out: Any = None
    rows_: Array | None
    landmarks_: Array | None
    left_out_: Array

    def _graph(self, X: Any) -> Graph:
        self._n = int(X.shape[0])
        self._take(self._drawn(X))
        if self.left_out is not None and len(self.left_out):
            self.refuse_without_rule("left_out", self.left_out)
            self.rows_ = np.setdiff1d(self._pool, _row_numbers(self.left_out, self._n))
        return super()._graph(X) if self.rows_ is None else self._graph_of(X, self.rows_)

    def _take(self, drawn: Array | None) -> None:
        """These rows are in the problem; None for all."""
        self._pool = np.arange(self._n) if drawn is None else drawn
        self.rows_ = self.landmarks_ = drawn
        self.left_out_ = np.zeros(0, int)

    def _drawn(self, X: Any) -> Array | None:
        if self.landmarks is None or self.landmarks >= X.shape[0]:
            return None
        self.refuse_without_rule("landmarks", self.landmarks)
        return self._random_rows(int(self.landmarks))

    def _random_rows(self, count: int) -> Array:
        """Drawn at random: as dense as all of them are, which farthest points are not."""
        rng = np.random.default_rng(self._seed())
        return np.sort(rng.choice(self._n, count, replace=False))

    def _graph_of(self, X: Any, rows: Array) -> Graph:
        if len(rows) < 3:
            raise InvalidInput(f"{len(rows)} rows are left in the problem; 3 are needed")
        return self._neighbor_graph(X[rows], None)

    def refuse_without_rule(self, name: str, value: Any) -> None:
        """Some of the rows have a graph of their own only where there are features."""
        if not self._has_rule():
            raise InvalidInput(
                Argument(name, value),
                " needs a graph of some rows, made from features; give features, or ",
                Argument(name, None),
                " with a given graph or precomputed distances",
            )

    def _has_rule(self) -> bool:
        # Lists of neighbours among all rows, which may be at hand, do not serve some of them.
        given = self.graph is not None and not isinstance(self.graph, Neighbors)
        return not given and "precomputed" not in (self.metric, getattr(self, "weights", None))

    def _said(self, problem: TraceProblem) -> TraceProblem:
        """The problem with the words that say which rows it is about."""
        if self.rows_ is None:
            return problem
        gone = np.setdiff1d(self._pool, self.rows_)
        words = []
        if len(self._pool) < self._n:
            words.append(f"the {len(self.rows_)} landmarks; the other points are placed by them")
        if len(gone):
            words.append(
                f"{len(self.rows_):,} of {len(self._pool):,} rows; {listed_rows(gone)} left out of "
                "the problem and placed as new rows are"
            )
        return replace(problem, about="; ".join(words))

    def found_parameters(self) -> dict[str, Any]:
        """Parameters that state the fitted problem again where they were left open."""
        found: dict[str, Any] = {}
        if self.landmarks_ is not None:
            found["landmarks"] = len(self.landmarks_)
        if len(self.left_out_):
            found["left_out"] = [int(row) for row in self.left_out_]
        return found

    def _place_others(self, X: Any) -> None:
        if self.rows_ is not None:
            points = self.placing_map()(X)
            points[self.rows_] = self.embedding_
            self.embedding_ = points


def _row_numbers(given: Any, n: int) -> Array:
    rows = np.asarray(given)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not ((rows >= 0) & (rows < n)).all():
        raise InvalidInput(
            Argument("left_out"), f" is a list of row numbers from 0 to {n - 1}, or None"
        )
    return rows.astype(int)


def listed_rows(rows: Array) -> str:
    """Rows in words, the first few by their numbers."""
    if len(rows) == 1:
        return f"row {rows[0]} (counted from 0) was"
    more = " …" if len(rows) > NAMED else ""
    numbers = ", ".join(str(row) for row in rows[:NAMED])
    return f"{len(rows):,} rows (counted from 0: {numbers}{more}) were"
