"""Which rows a problem is about: all, landmarks, rows that differ, all but those left out.

The others are placed by the rule for new rows, and the certificate says which rows it is about.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric
from dualfold.errors import Argument, InvalidInput, Message, RowNumbers, counted
from dualfold.graph import Graph, Neighbors

# Rows that a message names by their numbers; of more it names these and "…".
MAX_NAMED_ROWS = 10
# Of fewer distinct rows all copies stay: they are no table to speak of.
MIN_DISTINCT_ROWS = 12
# The fewest rows that have a graph.
MIN_ROWS = 3


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows whose graph is embedded.

    n : how many rows the table has
    pool : the rows that could be embedded: all, those drawn, or one of each copy
    numbers : the rows that are; None for all
    landmarks : the rows drawn at random; None for all
    left_out : rows of the pool that are no part of the problem
    """

    n: int
    pool: Array
    numbers: Array | None = None
    landmarks: Array | None = None
    left_out: Array = field(default_factory=lambda: np.zeros(0, int))

    @classmethod
    def of(cls, n: int, drawn: Array | None) -> FittedRows:
        """All n rows, or those drawn."""
        return cls(n, np.arange(n) if drawn is None else drawn, drawn, drawn)

    @property
    def embedded_rows(self) -> Array:
        """The numbers of the rows that are embedded."""
        return self.pool if self.numbers is None else self.numbers

    @property
    def unused_rows(self) -> Array:
        """The rows of the pool that are not embedded."""
        if self.numbers is None:
            return np.zeros(0, int)
        return np.setdiff1d(self.pool, self.numbers)

    def only(self, numbers: Array) -> FittedRows:
        """Rows with only these of the pool embedded."""
        return replace(self, numbers=numbers)

    def scope(self) -> str:
        """Which rows the problem is about, in words; "" for all."""
        if self.numbers is None:
            return ""
        gone = self.unused_rows
        words = []
        if self.landmarks is not None:
            words.append(f"the {len(self.numbers)} landmarks; the other points are placed by them")
        elif len(self.pool) < self.n:
            words.append(f"the {len(self.pool):,} rows that differ; copies stand where they stand")
        if len(gone):
            words.append(
                f"{len(self.numbers):,} of {len(self.pool):,} rows; {rows_in_words(gone)} left out "
                "of the problem and placed as new rows are"
            )
        return "; ".join(words)


@dataclass(frozen=True, eq=False)
class RowSettings:
    """Parameters that say which rows are embedded.

    landmarks : how many are drawn at random; None for all
    left_out : rows that are no part of the problem; None where the method may find some
    without_copies : whether of many copies of a row one is taken
    has_features : whether some rows have a graph of their own
    seed : of the draw
    """

    landmarks: int | None = None
    left_out: Any = None
    without_copies: bool = False
    has_features: bool = True
    seed: int = 0

    def landmark_rows(self, n: int) -> Array | None:
        """Landmarks, if some are asked for."""
        if self.landmarks is None or self.landmarks >= n:
            return None
        self.refuse_without_features("landmarks", self.landmarks)
        return self.random_rows(n, int(self.landmarks))

    def random_rows(self, n: int, count: int) -> Array:
        """Drawn at random: as dense as all of them are, which farthest points are not."""
        return np.sort(np.random.default_rng(self.seed).choice(n, count, replace=False))

    def refuse_without_features(self, name: str, value: Any) -> None:
        """Some of the rows have a graph of their own only where there are features."""
        if not self.has_features:
            raise InvalidInput(
                Argument(name, value),
                " needs a graph of some rows, made from features; give features, or ",
                Argument(name, None),
                " with a given graph or precomputed distances",
            )

    def rows_left(self, rows: FittedRows) -> Array | None:
        """The rows without those that `left_out` names; None where it names none."""
        if self.left_out is None or not len(self.left_out):
            return None
        self.refuse_without_features("left_out", self.left_out)
        return np.setdiff1d(rows.pool, _row_numbers(self.left_out, rows.n))

    def one_of_each(self, graph: Graph) -> Array | None:
        """A copy of each row where some have more copies than neighbours; None where none has.

        Such a row would list its copies alone, and each clump of them be a piece apart. Copies of
        a row are placed where it is, as every new row that is an old one.
        """
        asked = self.left_out is None or len(self.left_out) > 0
        if not self.without_copies or graph.kind != "fixed" or not asked or not self.has_features:
            return None
        last = graph.lists.distances[graph.lists.indptr[1:] - 1]
        if last.all() or sp.issparse(graph.points):
            return None
        once = np.sort(np.unique(np.asarray(graph.points), axis=0, return_index=True)[1])
        return once if len(once) > max(graph.n_neighbors or 0, MIN_DISTINCT_ROWS) else None


def has_features(graph: Any, metric: Metric, weights: Any = None) -> bool:
    """Whether some of the rows have a graph of their own: nothing but features was given."""
    # Lists of neighbours among all rows, which may be at hand, do not serve some of them.
    given = graph is not None and not isinstance(graph, Neighbors)
    return not given and "precomputed" not in (metric, weights)


def refuse_few_rows(count: int) -> None:
    """`InvalidInput` where so few rows are left that they have no graph."""
    if count < MIN_ROWS:
        left = f"{counted(count, 'row')} {'is' if count == 1 else 'are'} left in the problem"
        raise InvalidInput(f"{left}; {MIN_ROWS} are needed")


def _row_numbers(given: Any, n: int) -> Array:
    rows = np.asarray(given)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not ((rows >= 0) & (rows < n)).all():
        raise InvalidInput(
            Argument("left_out"), f" is a list of row numbers from 0 to {n - 1}, or None"
        )
    return rows.astype(int)


def rows_in_words(rows: Array) -> Message:
    """Rows as the subject of a sentence, the first few by their numbers."""
    named = RowNumbers(*rows, most=MAX_NAMED_ROWS)
    if len(rows) == 1:
        return Message(named, " was")
    return Message(f"{len(rows):,} rows, ", named, ", were")
