"""Estimators whose problem may be about some of the rows only; the others are placed by them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import Argument, InvalidInput, NotConverged, RowsLeftOut, TooLarge, warn
from dualfold.estimators.graph_estimator import GraphEstimator
from dualfold.graph import Graph, Neighbors

# So many rows are named in words.
NAMED = 10
# Fewer distinct rows are no table to speak of; they stay as they are.
FEWEST = 12


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
        return self._graph_with(X, self._drawn(X))

    def _graph_with(self, X: Any, drawn: Array | None) -> Graph:
        """The graph of the rows drawn (None: all), each once where many are copies."""
        self._pool = np.arange(self._n) if drawn is None else drawn
        self.rows_ = self.landmarks_ = drawn
        self.left_out_ = np.zeros(0, int)
        graph = super()._graph(X) if drawn is None else self._graph_of(X, drawn)
        once = self._each_once(graph)
        if once is not None:
            self.rows_ = self._pool = self._pool[once]
            graph = self._graph_of(X, self.rows_)
        if self.left_out is not None and len(self.left_out):
            self.refuse_without_rule("left_out", self.left_out)
            self.rows_ = np.setdiff1d(self._pool, _row_numbers(self.left_out, self._n))
            graph = self._graph_of(X, self.rows_)
        return graph

    def _each_once(self, graph: Graph) -> Array | None:
        """One of each row where some have more copies than neighbours; None where none has.

        Such a row would list its copies alone, and each clump of them be a piece apart. Copies of
        a row are placed where it is, as every new row that is an old one.
        """
        k, asked = graph.n_neighbors or 0, self.left_out is None or len(self.left_out) > 0
        if graph.kind != "fixed" or self.pieces != "join" or not asked or not self._has_rule():
            return None
        last = graph.lists.distances[graph.lists.indptr[1:] - 1]
        if last.all() or sp.issparse(graph.points):
            return None
        once = np.sort(np.unique(np.asarray(graph.points), axis=0, return_index=True)[1])
        return once if len(once) > max(k, FEWEST) else None

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

    def _said(self, problem: Any) -> Any:
        """The problem with the words that say which rows it is about."""
        return replace(problem, about=self.about_rows()) if self.about_rows() else problem

    def about_rows(self) -> str:
        """Which rows the problem is about, in words; "" for all."""
        if self.rows_ is None:
            return ""
        gone = np.setdiff1d(self._pool, self.rows_)
        words = []
        if self.landmarks_ is not None:
            words.append(f"the {len(self.rows_)} landmarks; the other points are placed by them")
        elif len(self._pool) < self._n:
            words.append(f"the {len(self._pool):,} rows that differ; copies stand where they stand")
        if len(gone):
            words.append(
                f"{len(self.rows_):,} of {len(self._pool):,} rows; {listed_rows(gone)} left out of "
                "the problem and placed as new rows are"
            )
        return "; ".join(words)

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


class SolvableRows(SomeRows):
    """All rows, or as many as can be solved for in seconds: half of them, a quarter, …"""

    def _drawable(self, count: int) -> bool:
        """Whether fewer rows than `count` may be drawn where these are too many."""
        raise NotImplementedError

    def _all_rows(self) -> Argument:
        """What asks for all rows whatever it takes, for messages."""
        raise NotImplementedError

    def _whole(self, graph: Graph, X: Any) -> tuple[Graph, Embedding]:
        stated = count = graph.n
        while True:
            try:
                found = super()._whole(graph, X)
            except (TooLarge, NotConverged) as refusal:
                if isinstance(refusal, TooLarge):
                    self.refuse_without_rule("landmarks", self.landmarks)
                if self.landmarks is not None or not self._drawable(count):
                    raise
                count //= 2
                graph = self._graph_with(X, self._random_rows(count))
                continue
            if count < stated:
                warn(_drawn_in_words(count, self._n, self._all_rows()))
            return found


def _drawn_in_words(count: int, n: int, all_rows: Argument) -> RowsLeftOut:
    return RowsLeftOut(
        f"the neighbours of these {n:,} rows lie on no shape of few dimensions, and solving for "
        f"all of them would take minutes or not arrive; the problem is that of {count:,} rows "
        "drawn at random, and the others are placed as new rows are (",
        Argument("landmarks"),
        " says how many, ",
        all_rows,
        " tries all of them)",
    )


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
