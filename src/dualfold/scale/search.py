"""The nearest rows of some, among all rows of a table in tiles: exact, by one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.quality.estimate import estimate_of_mean
from dualfold.quality.ranks import kept_share
from dualfold.scale.engine import compute, in_order
from dualfold.scale.rows import dense_rows, refuse_gaps
from dualfold.scale.table import TiledTable, drawn_row_numbers, gather_rows, table

Lists = tuple[Array, Array]
# A share that is measured on them is right to ±0.015 (95 %).
DEFAULT_SAMPLE_ROWS = 1_000


class _InTile:
    """The nearest rows of a tile to the queries, by their numbers among all rows."""

    def __init__(self, queries: Array, count: int) -> None:
        self.queries, self.count = queries, count

    def __call__(self, rows: Array, start: int) -> Lists:
        rows = dense_rows(rows)
        refuse_gaps(rows)
        found = nearest(rows, min(self.count, len(rows)), queries=self.queries)
        return found.indices.astype(np.int64) + start, found.distances


class _Best:
    """Two lists become one: the nearest of both, by (distance, number)."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, one: Lists, other: Lists) -> Lists:
        numbers = np.hstack([one[0], other[0]])
        distances = np.hstack([one[1], other[1]])
        order = np.lexsort((numbers, distances))[:, : self.count]
        return np.take_along_axis(numbers, order, 1), np.take_along_axis(distances, order, 1)


def nearest_of(rows: TiledTable, numbers: Array, n_neighbors: int) -> Lists:
    """The `n_neighbors` nearest other rows of the rows with these ascending numbers.

    (row numbers, distances), exact and sorted by (distance, number), in one pass.
    """
    if not 1 <= n_neighbors < rows.n_rows:
        raise InvalidInput(
            Argument("n_neighbors", n_neighbors),
            f" must be at least 1 and less than the number of rows, {rows.n_rows}",
        )
    queries = gather_rows(rows, numbers, finite=True).astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(rows.lengths)])[:-1].tolist()
    parts = rows.each(_InTile(queries, n_neighbors + 1), starts)
    size = 16 * len(numbers) * (n_neighbors + 1)
    whole = in_order(parts, _Best(n_neighbors + 1), size)
    found, distances = compute("nearest rows", whole, threads=rows.budget.threads)[0]
    # Each row is its own nearest, unless enough duplicates of it come before.
    own = found == numbers[:, None]
    own[~own.any(axis=1), -1] = True
    kept = ~own
    shape = (len(numbers), n_neighbors)
    return found[kept].reshape(shape), distances[kept].reshape(shape)


def kept_neighbors(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    sample: int = DEFAULT_SAMPLE_ROWS,
    random_state: int = 0,
) -> float:
    """The share of the nearest rows in X that rows keep in Y, on a `sample` against all rows.

    X, Y : the table and its map, both in tiles, rows in the same order
    n_neighbors : how many nearest rows count
    random_state : draws the sample

    As `quality.t_similarity` with a sample: the number has `low` and `high`.
    """
    x, y = table(X), table(Y)
    if x.n_rows != y.n_rows:
        raise InvalidInput(f"the table has {x.n_rows} rows and its map {y.n_rows}")
    numbers = drawn_row_numbers(x.n_rows, sample, random_state)
    before, after = (nearest_of(rows, numbers, n_neighbors)[0] for rows in (x, y))
    kept = kept_share(before, after, n_neighbors)
    return estimate_of_mean(kept, x.n_rows, (0.0, 1.0))
