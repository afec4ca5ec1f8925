"""The nearest rows of some, among all rows of a table in tiles: exact, by one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.distances import pair_distances
from dualfold.graph.neighbors import nearest
from dualfold.quality.estimate import estimate_of_mean, stream_of_samples
from dualfold.quality.space import EuclideanSpace
from dualfold.quality.tied_lists import common_ranks
from dualfold.scale.engine import compute, in_order
from dualfold.scale.placing import OnTile, model_for_tasks
from dualfold.scale.rows import dense_rows, refuse_gaps
from dualfold.scale.tiled_table import TiledTable, drawn_row_numbers, gather_rows, table

Lists = tuple[Array, Array]
# A share that is measured on them is right to ±0.02 (95 %).
DEFAULT_SAMPLE_ROWS = 1_000


class _InTile:
    """The nearest rows of a tile to queries, in the table and on maps of it."""

    def __init__(self, images: Images, queries: Sequence[Array], count: int) -> None:
        self.images, self.queries, self.count = images, queries, count

    def __call__(self, rows: Array, start: int, *given: Array) -> list[Lists]:
        every = self.images(rows, *given)
        return [self._lists(*each, start) for each in zip(every, self.queries, strict=True)]

    def _lists(self, points: Array, queries: Array, start: int) -> Lists:
        lists = nearest(points, min(self.count, len(points)), queries=queries)
        return lists.indices.astype(np.int64) + start, lists.distances


class Images:
    """The rows of a tile, and their places by rules and on maps that are given with the tile."""

    def __init__(self, rules: Sequence[Callable[[Any], Array]] = ()) -> None:
        self._tasks = [OnTile(model_for_tasks(rule), "__call__", (), float) for rule in rules]

    def __call__(self, rows: Array, *given: Array) -> list[Array]:
        every = [dense_rows(part) for part in (rows, *given)]
        for part in every:
            refuse_gaps(part)
        rows = every[0] if every[0].dtype.kind == "f" else every[0].astype(np.float64)
        return [every[0], *(task.points(rows) for task in self._tasks), *every[1:]]


class _Best:
    """Two lists become one: the nearest of both, by (distance, number)."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, one: list[Lists], other: list[Lists]) -> list[Lists]:
        return [self._nearest_of_both(*both) for both in zip(one, other, strict=True)]

    def _nearest_of_both(self, one: Lists, other: Lists) -> Lists:
        numbers, distances = (np.hstack(pair) for pair in zip(one, other, strict=True))
        order = np.lexsort((numbers, distances))[:, : self.count]
        return np.take_along_axis(numbers, order, 1), np.take_along_axis(distances, order, 1)


def nearest_of(rows: TiledTable, numbers: Array, n_neighbors: int) -> Lists:
    """The `n_neighbors` nearest other rows of the rows with these ascending numbers.

    (row numbers, distances), exact and sorted by (distance, number), in one pass.
    """
    queries = gather_rows(rows, numbers, finite=True).astype(np.float64)
    return _Pass(rows, numbers, Images(), [queries]).lists(n_neighbors)[0]


class _Pass:
    """Passes over a table, and maps of it, for some of its rows.

    numbers, queries : these rows, ascending, and their places in the table and on each map
    maps : tables of the places of all rows, in the same tiles
    """

    def __init__(
        self,
        rows: TiledTable,
        numbers: Array,
        images: Images,
        queries: Sequence[Array],
        maps: Sequence[TiledTable] = (),
    ) -> None:
        self.rows, self.numbers, self.images, self.maps = rows, numbers, images, maps
        self.queries = [np.asarray(each, dtype=np.float64) for each in queries]
        self._starts = np.concatenate([[0], np.cumsum(rows.lengths)])[:-1].tolist()

    def lists(self, n_neighbors: int) -> list[Lists]:
        """The nearest other rows, in the table and on each map."""
        if not 1 <= n_neighbors < self.rows.n_rows:
            raise InvalidInput(
                Argument("n_neighbors", n_neighbors),
                f" must be at least 1 and less than the number of rows, {self.rows.n_rows}",
            )
        count = n_neighbors + 1
        work = _InTile(self.images, self.queries, count)
        size = 16 * len(self.queries) * len(self.numbers) * count
        merged: list[Lists] = self._total("nearest rows", work, _Best(count), size)
        return [_without_own(lists, self.numbers) for lists in merged]

    def tied_counts(self, rows: Array, number: int, limits: tuple[Array, Array]) -> Array:
        """See `_TiedCounts`, of some of the rows, on the map at this place."""
        queries = self.queries[0][rows], self.queries[number][rows]
        work = _TiedCounts(self.images, number, queries, self.numbers[rows], limits)
        counts: Array = self._total("equally near rows", work, np.add, 32 * len(rows))
        return counts

    def _total(self, what: str, work: Any, merge: Any, size: int) -> Any:
        parts = self.rows.each(work, self._starts, *(each.blocks for each in self.maps))
        whole = in_order(parts, merge, size)
        return compute(what, whole, threads=self.rows.budget.threads)[0]


def _without_own(lists: Lists, numbers: Array) -> Lists:
    """Each row is its own nearest, unless enough duplicates of it come before."""
    itself = lists[0] == numbers[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = (len(numbers), itself.shape[1] - 1)
    return lists[0][~itself].reshape(shape), lists[1][~itself].reshape(shape)


class _TiedCounts:
    """Rows of a tile that lie nearer on a map than the last of a list, and as near as it: q×4,
    [nearer, of these neighbours in the table, as near, of these neighbours in the table].

    queries, numbers : rows in the table and on the map, and which they are
    limits : up to which distance a row is a neighbour in the table; that of the last on the map
    """

    def __init__(
        self,
        images: Images,
        place: int,
        queries: tuple[Array, Array],
        numbers: Array,
        limits: tuple[Array, Array],
    ) -> None:
        self.images, self.place, self.queries = images, place, queries
        self.numbers, self.limits = numbers, limits

    def __call__(self, rows: Array, start: int, *given: Array) -> Array:
        every = self.images(rows, *given)
        sides = [np.asarray(every[at], dtype=np.float64) for at in (0, self.place)]
        counts = np.zeros((len(self.numbers), 4), dtype=np.int64)
        places = self.numbers - start
        for query in range(len(self.numbers)):
            pairs = zip(sides, self.queries, strict=True)
            apart = [_distances(side, points[query]) for side, points in pairs]
            near = apart[0] <= self.limits[0][query]
            for at, shown in enumerate((np.less, np.equal)):
                listed = shown(apart[1], self.limits[1][query])
                if 0 <= places[query] < len(listed):
                    listed[places[query]] = False
                counts[query, 2 * at] = np.count_nonzero(listed)
                counts[query, 2 * at + 1] = np.count_nonzero(listed & near)
        return counts


def _distances(rows: Array, query: Array) -> Array:
    every = np.arange(len(rows), dtype=np.int32)
    return pair_distances(rows, query[None], every, np.zeros(len(rows), dtype=np.int32))


def kept_on_maps(
    rows: TiledTable,
    numbers: Array,
    places: Sequence[Array],
    rules: Sequence[Callable[[Any], Array]],
    n_neighbors: int,
) -> list[Array]:
    """The share of their nearest rows of the table that some keep where rules place all rows.

    numbers, places : these rows, ascending, and where they are on each map
    rules : place a tile, one for each map
    """
    points = gather_rows(rows, numbers, finite=True)
    return _kept_shares(_Pass(rows, numbers, Images(rules), [points, *places]), points, n_neighbors)


def _kept_shares(tiles: _Pass, points: Array, k: int) -> list[Array]:
    """The share of neighbours kept on each map, ties as in `quality.t_similarity`."""
    count = min(k + 1, tiles.rows.n_rows - 1)  # one more: whether the last of a list ties
    (numbers, distances), *maps = tiles.lists(count)
    space = EuclideanSpace(points)
    last = np.ldexp(distances[:, k - 1 : k], -space.power)
    reach = np.ldexp(last + space.tie_widths(None, last), space.power)
    tied = (distances[:, k:] <= reach).any(axis=1)
    shares = []
    for number, (listed, apart) in enumerate(maps, start=1):
        row, _, _ = common_ranks(numbers[:, :k], listed[:, :k])
        kept = np.bincount(row, minlength=len(numbers)) / k
        some = np.flatnonzero(tied | (apart[:, k:] == apart[:, k - 1 : k]).any(axis=1))
        if len(some):
            limits = reach[some, 0], apart[some, k - 1]
            nearer, inside, equal, among = tiles.tied_counts(some, number, limits).T
            kept[some] = (inside + (k - nearer) * among / equal) / k
        shares.append(kept)
    return shares


def kept_neighbors(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    sample: int = DEFAULT_SAMPLE_ROWS,
    random_state: int = 0,
) -> float:
    """Measure the share of the nearest rows that a map keeps, on a sample against all rows.

    It is `dualfold.quality.t_similarity` with a sample.

    Parameters
    ----------
    X : TiledTable, Dask collection, memmap, Zarr array, str or PathLike
        A table in tiles, or what `table` takes.
    Y : TiledTable, Dask collection, memmap, Zarr array, str or PathLike
        The map, its rows in the same order.
    n_neighbors : int, default=10
        Number of nearest rows that count.
    sample : int, default=1000
        Number of rows in the sample.
    random_state : int, default=0
        Seed of the sample.

    Returns
    -------
    float
        The share, a number with the attributes `low` and `high`, its 95 % interval.

    Raises
    ------
    InvalidInput
        If the table and its map have different numbers of rows.

    See Also
    --------
    neighbors : The lists of all rows.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from dualfold.scale import kept_neighbors
    >>> rows = da.from_array(np.arange(20.0)[:, None] ** 2, chunks=(10, 1))
    >>> float(kept_neighbors(rows, 3 * rows, n_neighbors=3))
    1.0
    """
    x, y = table(X), table(Y)
    if x.n_rows != y.n_rows:
        raise InvalidInput(f"the table has {x.n_rows} rows and its map {y.n_rows}")
    numbers = drawn_row_numbers(x.n_rows, sample, stream_of_samples(random_state))
    points, places = (gather_rows(rows, numbers, finite=True) for rows in (x, y))
    tiles = _Pass(x, numbers, Images(), [points, places], [_in_tiles_of(x, y)])
    return estimate_of_mean(_kept_shares(tiles, points, n_neighbors)[0], x.n_rows, (0.0, 1.0))


def _in_tiles_of(x: TiledTable, y: TiledTable) -> TiledTable:
    """The rows of y in tiles as long as those of x."""
    if list(x.lengths) == list(y.lengths):
        return y
    lazy = y.collection
    if y.is_frame:
        lazy = lazy.to_dask_array(lengths=tuple(y.lengths))
    return table(lazy.rechunk((tuple(x.lengths), (y.width,))))
