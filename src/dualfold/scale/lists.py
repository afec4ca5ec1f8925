"""The neighbour lists of all rows of a table in tiles: exact where bounds allow it.

Exact: a task for each partition searches it, and then every other whose box is not farther away
than the farthest neighbour of some row; what is left out is proved to hold no nearer row.
Approximate: rows are sorted twice, by cuts along random directions, and searched within their
partitions; the recall is measured on rows whose true neighbours are found among all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.graph.points import distance_rounding
from dualfold.graph.search import Neighbors, Search, exact_search, recall_interval
from dualfold.kernels.threads import one_thread
from dualfold.quality.ranks import kept_share
from dualfold.scale.engine import computed
from dualfold.scale.packages import needed
from dualfold.scale.partitions import Partitions, partitioned
from dualfold.scale.sampling import drawn_numbers
from dualfold.scale.search import Lists, nearest_of
from dualfold.scale.table import TiledTable, table

# Rows of a partition: 50 columns of them take 26 MB, and a search half a second.
PARTITION_ROWS = 2**16
# Sortings of an approximate search: what one cuts apart another keeps together.
SORTINGS = 2
# In "auto": rows that a row is compared with may be so many partitions.
MOST_VISITED = 4.0
# Rows whose true neighbours measure the recall.
RECALL_ROWS = 300
# Bounds of distances are off by rounding, far less than this share.
SLACK = 1e-9


@dataclass(frozen=True)
class _Store:
    """Lists of all rows in a folder, written by tasks."""

    folder: str
    shape: tuple[int, int]

    def made(self) -> _Store:
        for name, kind in (("indices", "int32"), ("distances", "float64")):
            np.lib.format.open_memmap(self._path(name), "w+", np.dtype(kind), self.shape)
        return self

    def opened(self, mode: Any = "r") -> Lists:
        indices, distances = (
            np.lib.format.open_memmap(self._path(name), mode) for name in ("indices", "distances")
        )
        return indices, distances

    def put(self, numbers: Array, lists: Lists) -> int:
        indices, distances = self.opened("r+")
        indices[numbers], distances[numbers] = lists
        return len(numbers)

    def _path(self, name: str) -> Path:
        return Path(self.folder) / f"{name}.npy"


def neighbors(
    X: Any,
    n_neighbors: int = 10,
    *,
    search: str = "auto",
    partition_rows: int = PARTITION_ROWS,
    folder: str | Path | None = None,
    random_state: int = 0,
) -> Neighbors:
    """The `n_neighbors` nearest rows of every row, as `graph.nearest` finds them in memory.

    X : a table in tiles, or what `scale.table` takes
    search : "exact", "approximate", or "auto": exact where bounds exclude most partitions
    partition_rows : rows that a task works on
    folder : where the lists stay, as files indices.npy and distances.npy; None is a file without
        a name. The rows, sorted, lie there too while the search lasts: as much as the table holds
    random_state : of samples and random cuts

    The lists are memory maps. With a cluster all workers must see the folder.
    """
    if search not in ("auto", "exact", "approximate"):
        raise InvalidInput(
            Argument("search"), f" is {search!r}; it is 'auto', 'exact' or 'approximate'"
        )
    rows = table(X)
    n = rows.n_rows
    if not 1 <= n_neighbors < min(n, 2**31):
        raise InvalidInput(
            Argument("n_neighbors", n_neighbors),
            f" must be at least 1 and less than the number of rows, {n}",
        )
    least = max(2 * n_neighbors, 16)
    with _workplace(folder) as place:
        store = _Store(str(place), (n, n_neighbors)).made()
        found: Search | None = None
        if search != "approximate":
            must = search == "exact"
            found = _exact(rows, store, max(partition_rows, least), random_state, must=must)
        if found is None:
            found = _approximate(rows, store, max(partition_rows, least), random_state)
        indices, distances = store.opened()
    return Neighbors(indices, distances, found)


@contextmanager
def _workplace(folder: str | Path | None) -> Iterator[Path]:
    base = needed("dask").config.get("temporary-directory", None)
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(prefix="dualfold-lists-", dir=base) as made:
        yield Path(made)


def _exact(rows: TiledTable, store: _Store, height: int, seed: int, *, must: bool) -> Search | None:
    """Every row proved; None where too many partitions would be needed and nothing was asked."""
    with tempfile.TemporaryDirectory(dir=store.folder) as place:
        parts = partitioned(rows, Path(place), height, None, seed)
        delayed = needed("dask").delayed
        boxes = computed("boxes", *[delayed(_box)(parts, part) for part in range(parts.count)],
                         threads=rows.budget.threads)  # fmt: skip
        task = _SearchBoxes(parts, store, np.array(boxes))
        if not must and task.visited(parts.count // 2) > MOST_VISITED:
            return None
        work = delayed(task, pure=False)
        tasks = [work(part) for part in range(parts.count)]
        computed("neighbours", *tasks, threads=rows.budget.threads)
    return exact_search("partitions", distance_rounding(rows.width))


def _box(parts: Partitions, part: int) -> Array:
    """The least and largest value of each column in a partition; inside out where it is empty."""
    rows = parts.rows(part).astype(np.float64)
    if not len(rows):
        return np.array([np.full(parts.width, np.inf), np.full(parts.width, -np.inf)])
    return np.array([rows.min(axis=0), rows.max(axis=0)])


class _SearchBoxes:
    """The task of the exact search: one partition against all that may hold near rows."""

    def __init__(self, parts: Partitions, store: _Store, boxes: Array) -> None:
        self.parts, self.store, self.boxes = parts, store, boxes

    def __call__(self, part: int) -> int:
        with one_thread():
            numbers = self.parts.numbers(part)
            if len(numbers):
                self.store.put(numbers, self._lists(part, numbers))
        return len(numbers)

    def visited(self, part: int) -> float:
        """How many other partitions a row of this one would be compared with, on the average."""
        with one_thread():
            rows, numbers = self.parts.rows(part), self.parts.numbers(part)
            if not len(rows):
                return 0.0
            reach = self._own(rows, numbers)[1][:, -1]
            near = np.flatnonzero(self._apart(part) * (1 - SLACK) <= reach.max())
            asked = [self._asked(rows, reach, int(other)) for other in near if other != part]
        return sum(len(some) for some in asked) / len(rows)

    def _asked(self, rows: Array, reach: Array, other: int) -> Array:
        """Rows that are not proved to have no neighbour in another partition."""
        low, high = self.boxes[other]
        wide = rows.astype(np.float64, copy=False)
        outside = np.maximum(np.maximum(low - wide, wide - high), 0.0)
        bound = np.sqrt(np.einsum("ij,ij->i", outside, outside))
        return np.flatnonzero(bound * (1 - SLACK) <= reach)

    def _lists(self, part: int, numbers: Array) -> Lists:
        rows = self.parts.rows(part)
        lists = self._own(rows, numbers)
        apart = self._apart(part)
        for other in np.argsort(apart, kind="stable"):
            if other == part or self.parts.bounds[other] == self.parts.bounds[other + 1]:
                continue
            if apart[other] * (1 - SLACK) > lists[1][:, -1].max():
                break
            asked = self._asked(rows, lists[1][:, -1], int(other))
            if len(asked):
                lists = self._with(lists, asked, rows, int(other))
        return lists

    def _with(self, lists: Lists, asked: Array, rows: Array, other: int) -> Lists:
        """Lists of the rows `asked` after a look into another partition."""
        there, names = self.parts.rows(other), self.parts.numbers(other)
        count = lists[0].shape[1]
        found = nearest(there, min(count, len(there)), queries=rows[asked])
        added = names[found.indices], found.distances
        lists[0][asked], lists[1][asked] = _best((lists[0][asked], lists[1][asked]), added, count)
        return lists

    def _own(self, rows: Array, numbers: Array) -> Lists:
        """Neighbours within the partition; of fewer rows than asked for, the rest is far away."""
        return _within(rows, numbers, self.store.shape[1], "auto")

    def _apart(self, part: int) -> Array:
        """Lower bounds of the distances between rows of this partition and of each other."""
        low, high = self.boxes[:, 0], self.boxes[:, 1]
        gaps = np.maximum(np.maximum(low - high[part], low[part] - high), 0.0)
        return np.asarray(np.sqrt(np.square(gaps).sum(axis=1)))


def _within(rows: Array, numbers: Array, count: int, search: str) -> Lists:
    indices = np.full((len(rows), count), np.iinfo(np.int32).max, np.int64)
    distances = np.full((len(rows), count), np.inf)
    own = min(count, len(rows) - 1)
    if own > 0:
        found = nearest(rows, own, search=search, random_state=0, recall_sample=0)
        indices[:, :own], distances[:, :own] = numbers[found.indices], found.distances
    return indices, distances


def _best(one: Lists, other: Lists, count: int) -> Lists:
    """The nearest of two lists by (distance, number), each row once."""
    numbers = np.hstack([one[0], other[0]])
    distances = np.hstack([one[1], other[1]])
    order = np.lexsort((distances, numbers))
    numbers = np.take_along_axis(numbers, order, 1)
    distances = np.take_along_axis(distances, order, 1)
    distances[:, 1:][numbers[:, 1:] == numbers[:, :-1]] = np.inf  # the same row from both
    order = np.lexsort((numbers, distances))[:, :count]
    return np.take_along_axis(numbers, order, 1), np.take_along_axis(distances, order, 1)


class _SearchAlone:
    """The task of an approximate search: one partition by itself, added to what is there."""

    def __init__(self, parts: Partitions, store: _Store, first: bool) -> None:
        self.parts, self.store, self.first = parts, store, first

    def __call__(self, part: int) -> int:
        with one_thread():
            rows, numbers = self.parts.rows(part), self.parts.numbers(part)
            if not len(numbers):
                return 0
            count = self.store.shape[1]
            forest = "approximate" if len(rows) > 2**13 and self.parts.width > 3 else "auto"
            lists = _within(rows, numbers, count, forest)
            if not self.first:
                indices, distances = self.store.opened()
                before = indices[numbers].astype(np.int64), np.array(distances[numbers])
                lists = _best(before, lists, count)
            return self.store.put(numbers, lists)


def _approximate(rows: TiledTable, store: _Store, height: int, seed: int) -> Search:
    """Sorted along random directions, several times; the recall is measured at the end."""
    delayed = needed("dask").delayed
    for turn in range(SORTINGS):
        rng = np.random.default_rng([seed, turn])
        with tempfile.TemporaryDirectory(dir=store.folder) as place:
            parts = partitioned(rows, Path(place), height, rng, seed + turn)
            work = delayed(_SearchAlone(parts, store, turn == 0), pure=False)
            tasks = [work(part) for part in range(parts.count)]
            computed("neighbours", *tasks, threads=rows.budget.threads)
    numbers = drawn_numbers(rows.n_rows, RECALL_ROWS, seed)
    true, _ = nearest_of(rows, numbers, store.shape[1])
    found = store.opened()[0][numbers]
    recalls = kept_share(true, found.astype(np.int64), store.shape[1])
    known = exact_search("partitions", distance_rounding(rows.width))
    return replace(
        known, exact=False, proved=0.0, recall=float(recalls.mean()),
        recall_interval=recall_interval(recalls), sampled=len(numbers),
    )  # fmt: skip
