"""Neighbours by cosine: rows of length 1, and distances computed from the rows as given.

Between rows of length 1 the cosine distance 1 − cos is half of the squared Euclidean one, so that
the Euclidean searches find the neighbours. They take the rows of length 1 in float32, which are off
by u = 2⁻²⁴ at most: a Euclidean distance between two of them is off by 2u. A few more neighbours
than asked for are listed, their distances are computed in float64 from the rows as given, and a
list is complete where the last of the asked ones is nearer than the last listed one by more
than that. Other lists (many rows in one direction up to rounding) are searched again among
all rows within that distance. So the lists are those of comparing every pair by `pair_cosines`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, DType, Metric
from dualfold.graph.distances import chunks
from dualfold.graph.lower_bounds import frame_of
from dualfold.graph.metrics import double_table, sorted_lists
from dualfold.graph.neighbor_lists import Neighbors, Pairs, exact_search, without_self
from dualfold.graph.number_rows import exact_numbers
from dualfold.graph.scan import pairs_between
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF, unit_roundoff
from dualfold.kernels.threads import in_threads, row_slices

# Neighbours listed beyond those asked for.
_SPARE = 4
# Rows that are searched again together; more of them get rows of length 1 in float64 first.
_ROWS_AGAIN = 256
_MAX_ROWS_AGAIN = 1024
# Distances from so many roundings on are told apart, and the share of rows whose neighbours may be
# nearer in an approximate search.
CLEAR_DISTANCE = 4096
MOST_ALIKE = 0.01
# Lengths whose squares have all their digits.
_LENGTHS = 1e-140, 1e140

# A Euclidean search of the neighbours in a table of queries (None: of its own rows), k of each.
EuclideanSearch = Callable[[Array, Array | None, int], Neighbors]


def is_cosine(metric: Metric) -> bool:
    """Whether it is the cosine distance by its name."""
    return isinstance(metric, str) and metric == "cosine"


@dataclass(frozen=True, eq=False)
class RowDirections:
    """Rows that are compared by their directions alone.

    rows : as given, in float32 or float64
    length : the length of each, in float64
    """

    rows: Array
    length: Array

    def unit_rows(self, which: Any, dtype: DType = np.float64) -> Array:
        """Some of the rows at length 1."""
        return np.asarray(self.rows[which] / self.length[which, None], dtype=dtype)

    def unit_table(self, dtype: DType) -> Array:
        """All rows at length 1; a table of this type is all the memory it takes."""
        table = np.empty(self.rows.shape, dtype)
        for part in chunks(*self.rows.shape):
            table[part] = self.unit_rows(part)
        return table


def directions(X: Any, name: str = "X") -> RowDirections | None:
    """The directions of the rows; None where some have none (zeros), or the table is no dense one.

    Float32 stays float32. What is None here is compared by scikit-learn, which refuses rows
    that are not finite and sets rows of zeros at distance 1 from all others.
    """
    if sp.issparse(X):
        return None
    numbers = exact_numbers(X, name)
    single = numbers.dtype == np.float32 and numbers.ndim == 2
    rows = numbers if single else double_table(numbers, name)
    if rows.dtype == bool or not rows.size:
        return None
    length = np.empty(len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        for part in chunks(*rows.shape):
            block = rows[part].astype(np.float64)
            length[part] = np.sqrt(np.einsum("ij,ij->i", block, block))
    low, high = _LENGTHS
    return RowDirections(rows, length) if ((length > low) & (length < high)).all() else None


def pair_cosines(
    X: RowDirections, Y: RowDirections, rows: Array, columns: Array, threads: int = 1
) -> Array:
    """1 − cos of the angle between X[rows[p]] and Y[columns[p]] for each p.

    Half of the squared distance at length 1: it is 0 for copies, and small ones keep their digits.
    """
    distances = np.empty(len(rows))

    def compute(part: slice) -> None:
        offsets = X.unit_rows(rows[part])
        offsets -= Y.unit_rows(columns[part])
        distances[part] = np.einsum("ij,ij->i", offsets, offsets) / 2

    # Blocks that stay in a core's cache.
    parts = row_slices(len(rows), max(1, (1 << 16) // X.rows.shape[1]))
    in_threads(compute, parts, threads)
    return distances


def rounding_of(dtype: DType, width: int) -> float:
    """A bound on the error of the Euclidean distance between two rows of length 1 as stored.

    Each is off by the unit of its type, and by the rounding of its float64 length and entries;
    a tenth more, and 1e-15 for the Euclidean distance itself.
    """
    return 2.2 * (unit_roundoff(dtype) + (width + 8) * UNIT_ROUNDOFF) + 1e-14


def cosine_search(
    X: RowDirections,
    queries: RowDirections | None,
    k: int,
    euclidean: EuclideanSearch,
    threads: int,
) -> Neighbors:
    """The k nearest rows of X of each row, or of each query, by cosine; ties by row number."""
    asked = X if queries is None else queries
    most = len(X.rows) - (queries is None)
    count = min(k + _SPARE, most)
    table = X.unit_table(np.float32)
    others = None if queries is None else queries.unit_table(np.float32)
    near = euclidean(table, others, count)
    indices, distances = _ranked_lists(X, asked, near.indices, threads)
    slack = rounding_of(np.float32, table.shape[1])
    unsure = _unsure(distances[:, k - 1], near.distances[:, -1], slack, count == most)
    indices, distances = indices[:, :k].copy(), distances[:, :k].copy()
    if len(unsure) > _MAX_ROWS_AGAIN:
        # Directions closer to one another than float32 tells apart.
        table, slack = X.unit_table(np.float64), rounding_of(np.float64, table.shape[1])
        again = euclidean(table, asked.unit_rows(unsure), count + (queries is None))
        lists = again.indices, again.distances
        near_rows, last = without_self(*lists, unsure) if queries is None else lists
        unsure_rows = RowDirections(asked.rows[unsure], asked.length[unsure])
        near_rows, values = _ranked_lists(X, unsure_rows, near_rows, threads)
        indices[unsure], distances[unsure] = near_rows[:, :k], values[:, :k]
        unsure = unsure[_unsure(values[:, k - 1], last[:, -1], slack, count == most)]
    for part in row_slices(len(unsure), _ROWS_AGAIN):
        rows = unsure[part]
        reach = np.sqrt(2 * distances[rows, -1]) + slack
        selves = rows if queries is None else None
        lists = _nearest_within(X, table, (asked, rows, selves), (reach, k), threads)
        indices[rows], distances[rows] = lists
    return Neighbors(indices, distances, exact_search("metric", float("nan")))


def _ranked_lists(
    X: RowDirections, asked: RowDirections, indices: Array, threads: int
) -> tuple[Array, Array]:
    """Lists ordered by the distances of the rows as given, and these; equal ones by number."""
    rows = np.repeat(np.arange(len(indices)), indices.shape[1])
    distances = pair_cosines(asked, X, rows, indices.ravel(), threads).reshape(indices.shape)
    order = np.lexsort((indices, distances), axis=-1)
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def _unsure(last_asked: Array, last_listed: Array, slack: float, everyone: bool) -> Array:
    """The rows whose lists may lack a nearer one: those not listed are nearer than the slack."""
    if everyone:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.sqrt(2 * last_asked) + slack >= last_listed - slack)


def _nearest_within(
    X: RowDirections,
    table: Array,
    asked: tuple[RowDirections, Array, Array | None],
    wanted: tuple[Array, int],
    threads: int,
) -> tuple[Array, Array]:
    """The nearest of all rows within a reach that holds as many as wanted.

    table : the rows at length 1
    asked : a table, which of its rows are asked, and which numbers these have in X (None: none)
    wanted : the reach of each, and how many
    """
    (queries, rows, selves), (reach, k) = asked, wanted
    units = queries.unit_rows(rows, table.dtype)
    frame = frame_of(table, units, None)
    pairs = pairs_between(frame.coordinates(table), frame.coordinates(units), reach, threads)
    columns, places, _ = pairs
    if selves is not None:
        others = columns != selves[places]
        columns, places = columns[others], places[others]
    distances = pair_cosines(queries, X, rows[places], columns, threads)
    indptr, indices, distances = sorted_lists(Pairs(places, columns, distances), len(rows))
    first = indptr[:-1, None] + np.arange(k)
    return indices[first], distances[first]


def cosines_within(X: RowDirections, queries: RowDirections, radius: Array, threads: int) -> Pairs:
    """All pairs (query, row) at a cosine distance within the radius of the row, in no order."""
    table, asked = X.unit_table(np.float32), queries.unit_table(np.float32)
    frame = frame_of(table, asked, None)
    reach = np.sqrt(2 * np.minimum(radius, 2.1)) + rounding_of(np.float32, table.shape[1])
    units = frame.coordinates(asked), frame.coordinates(table)
    rows, columns, _ = pairs_between(*units, reach, threads)
    distances = pair_cosines(queries, X, rows, columns, threads)
    return Pairs(rows, columns, distances).where(distances <= radius[columns])


def approximate_cosines(
    X: RowDirections, search: Callable[[Array], Neighbors], threads: int
) -> Neighbors:
    """Lists by the approximate search of the rows at length 1, at their distances by cosine.

    The recall is that of the rows at length 1: in float32, or in float64 where neighbours are so
    near that float32 is no measure of them. Lists of the exact search, which `search` takes where
    it is faster, are those by cosine already.
    """
    near = search(X.unit_table(np.float32))
    if near.search.exact:
        return near
    lists = _ranked_lists(X, X, near.indices, threads)
    reach = np.sqrt(2 * lists[1][:, -1])
    alike = (reach > 0) & (reach < CLEAR_DISTANCE * rounding_of(np.float32, X.rows.shape[1]))
    if alike.mean() > MOST_ALIKE:
        near = search(X.unit_table(np.float64))
        if near.search.exact:
            return near
        lists = _ranked_lists(X, X, near.indices, threads)
    return Neighbors(*lists, near.search)
