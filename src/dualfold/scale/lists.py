"""The neighbour lists of all rows of a table in tiles: exact where bounds allow it.

Exact: a task for each partition searches it, and then every other whose box is not farther away
than the farthest neighbour of some row; what is left out is proved to hold no nearer row.
Approximate: each row goes to the few cells whose centres are nearest, and a task for each cell
searches it exactly. Rows whose true neighbours are searched among all rows decide how many cells a
row needs, and others measure the recall.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.cells import CENTRE_SAMPLE_ROWS, MAX_CENTRE_SAMPLE_ROWS, Cells, lloyd_cells
from dualfold.graph.distances import distance_rounding
from dualfold.graph.neighbor_lists import Neighbors, Search, exact_search, recall_interval
from dualfold.kernels.threads import one_thread, row_slices
from dualfold.scale.boxes import SearchBoxes, box, within_partition
from dualfold.scale.engine import compute, require_module
from dualfold.scale.list_files import ListFiles, Shuffle
from dualfold.scale.partitions import sampled_tree, sort_into_partitions
from dualfold.scale.search import nearest_of
from dualfold.scale.tiled_table import TiledTable, drawn_row_numbers, gather_rows, table

# docs/dev/notes/tables-in-tiles.md
PARTITION_ROWS = 2**15
# Cells of a row in an approximate search: each costs as much as the first.
MIN_CELLS_OF_ROW = 2
MAX_CELLS_OF_ROW = 4
DEFAULT_RECALL = 0.95
RECALL_MARGIN = 0.01  # above it, for the rows that choose the number of cells
# In "auto": other partitions that a row is compared with, on the average.
MAX_VISITED_PARTITIONS = 4.0
# Rows whose true neighbours choose the cells, and as many that measure the recall.
RECALL_ROWS = 300
# Rows whose neighbours are searched among all rows in one pass.
MAX_QUERY_ROWS = 4_096


def neighbors(
    X: Any,
    n_neighbors: int = 10,
    *,
    search: str = "auto",
    recall: float = DEFAULT_RECALL,
    partition_rows: int = PARTITION_ROWS,
    folder: str | Path | None = None,
    random_state: int = 0,
) -> Neighbors:
    """Find the nearest rows of every row of a table in tiles.

    The result is that of `dualfold.graph.nearest` in memory.

    Parameters
    ----------
    X : TiledTable, Dask collection, memmap, Zarr array, str or PathLike
        A table in tiles, or what `table` takes.
    n_neighbors : int, default=10
        Number of neighbours.
    search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact if bounds exclude most pairs of partitions.
    recall : float, default=0.95
        Share of the true neighbours that an approximate search aims at. The share that it reached
        is measured.
    partition_rows : int, default=32768
        Number of rows that a task works on; fewer if the limit of memory asks for it.
    folder : str, Path or None, default=None
        Where the lists stay, as files indices.npy and distances.npy; None takes files without a
        name. While the search lasts the folder also holds the rows, once, or two to four times for
        an approximate search. With a cluster all workers must see the folder.
    random_state : int, default=0
        Seed of samples and random cuts.

    Returns
    -------
    Neighbors
        The lists, as memory maps.

    See Also
    --------
    kept_neighbors : Share of neighbours that a map keeps.
    dualfold.graph.nearest : Tables in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from dualfold.scale import neighbors
    >>> rows = da.from_array([[0.0], [1.0], [3.0]], chunks=(2, 1))
    >>> neighbors(rows, 1, search="exact").indices.ravel()
    memmap([1, 0, 1], dtype=int32)
    """
    if search not in ("auto", "exact", "approximate"):
        raise InvalidInput(
            Argument("search"), f" is {search!r}; it is 'auto', 'exact' or 'approximate'"
        )
    if not 0 < recall <= 1:
        raise InvalidInput(Argument("recall", recall), " is no share; give a number up to 1")
    rows = table(X)
    n = rows.n_rows
    if not isinstance(n_neighbors, Integral) or not 1 <= n_neighbors < min(n, 2**31):
        raise InvalidInput(
            Argument("n_neighbors", n_neighbors),
            f" must be a whole number, at least 1 and less than the number of rows, {n}",
        )
    height = max(min(partition_rows, _rows_of_tile(rows)), 2 * n_neighbors, 16)
    with _workplace(folder) as workplace:
        files = ListFiles(str(workplace), (n, n_neighbors)).create()
        search_made: Search | None = None
        if search != "approximate":
            search_made = _exact(rows, files, height, random_state, must=search == "exact")
        if search_made is None:
            search_made = _approximate(rows, files, height, random_state, recall)
        indices, distances = files.open()
    return Neighbors(indices, distances, search_made)


@contextmanager
def _workplace(folder: str | Path | None) -> Iterator[Path]:
    base = require_module("dask").config.get("temporary-directory", None)
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(prefix="dualfold-lists-", dir=base) as made:
        yield Path(made)


def _exact(
    rows: TiledTable, files: ListFiles, height: int, seed: int, *, must: bool
) -> Search | None:
    """Every row proved; None where too many partitions would be needed and it is no `must`."""
    with tempfile.TemporaryDirectory(dir=files.folder) as workplace:
        tree = sampled_tree(rows, height, seed)
        parts = sort_into_partitions(rows, Path(workplace), tree, _slice_rows(rows, files.shape[1]))
        delayed = require_module("dask").delayed
        boxes = compute(
            "boxes",
            *[delayed(box)(parts, part) for part in range(parts.count)],
            threads=rows.budget.threads,
        )
        shuffle = Shuffle(workplace, parts, 1, files.shape[1])
        task = SearchBoxes(shuffle, np.array(boxes))
        if not must and task.partitions_visited(parts.count // 2) > MAX_VISITED_PARTITIONS:
            return None
        _search_all(rows, shuffle.create(), task, files)
    return exact_search("partitions", distance_rounding(rows.width))


def _search_all(rows: TiledTable, shuffle: Shuffle, task: object, files: ListFiles) -> Array:
    """The task on every partition, the lists in order; returns rows with too few neighbours."""
    work = require_module("dask").delayed(task, pure=False)
    tasks = [work(part) for part in range(shuffle.parts.count)]
    compute("neighbours", *tasks, threads=rows.budget.threads)
    return shuffle.merged_into(files, rows.budget.threads)


def _rows_of_tile(rows: TiledTable) -> int:
    """Rows that a tile may hold."""
    return max(1, rows.budget.tile_bytes // (8 * rows.width))


def _slice_rows(rows: TiledTable, of_each: int) -> int:
    """Rows whose lists, with `of_each` entries, are put in order at a time."""
    return max(1, rows.budget.tile_bytes // (4 * 12 * of_each))


class _SearchCell:
    """The task of an approximate search: one cell by itself, in pieces where it is large."""

    def __init__(self, shuffle: Shuffle, most: int) -> None:
        self.shuffle, self.most = shuffle, most

    def __call__(self, part: int) -> int:
        parts, done = self.shuffle.parts, 0
        for piece in parts.pieces(part, self.most):
            with one_thread():
                numbers = parts.numbers(piece)
                lists = within_partition(parts.rows(piece), numbers, self.shuffle.count)
                done += self.shuffle.put(part, piece, numbers, lists)
        return done


def _approximate(
    rows: TiledTable, files: ListFiles, height: int, seed: int, wanted: float
) -> Search:
    """Exact within cells, of which a row has as many as half of a sample asks for.

    The other half of the sample measures the recall.
    """
    count = files.shape[1]
    drawn = drawn_row_numbers(rows.n_rows, 2 * RECALL_ROWS, seed)
    truth = nearest_of(rows, drawn, count)
    half = np.random.default_rng(seed).permutation(len(drawn)) < len(drawn) // 2
    cells = _cells(rows, height, seed, wanted, (drawn[half], truth[0][half]))
    with tempfile.TemporaryDirectory(dir=files.folder) as workplace:
        step = _slice_rows(rows, cells.of_row * count)
        parts = sort_into_partitions(rows, Path(workplace), cells, step)
        shuffle = Shuffle(workplace, parts, cells.of_row, count).create()
        most = max(height, min(MAX_CELLS_OF_ROW * height, _rows_of_tile(rows)))
        short = _search_all(rows, shuffle, _SearchCell(shuffle, most), files)
    for piece in row_slices(len(short), MAX_QUERY_ROWS):  # rows of cells with too few
        files.put(short[piece], nearest_of(rows, short[piece], count))
    numbers, true = drawn[~half], truth[1][~half]
    # Another row at the same distance is as good.
    recalls = (files.open()[1][numbers] <= true[:, -1:]).mean(axis=1)
    known = exact_search("cells", distance_rounding(rows.width))
    return replace(
        known,
        exact=False,
        proved=0.0,
        recall=float(recalls.mean()),
        recall_interval=recall_interval(recalls),
        sampled=len(numbers),
    )


def _cells(
    rows: TiledTable, height: int, seed: int, wanted: float, known: tuple[Array, Array]
) -> Cells:
    """Cells of about `height` rows, as many a row as bring these rows and their nearest together.

    known : rows, and the numbers of their nearest
    """
    n, room = rows.n_rows, _rows_of_tile(rows)
    most = min(
        MAX_CENTRE_SAMPLE_ROWS, room, max(1, CENTRE_SAMPLE_ROWS * MAX_CELLS_OF_ROW * n // height)
    )
    sample = gather_rows(rows, drawn_row_numbers(n, most, seed + 1), finite=True).astype(np.float64)
    numbers = np.unique(np.concatenate([known[0], known[1].ravel()]))
    drawn = gather_rows(rows, numbers, finite=True)
    pairs = np.searchsorted(numbers, known[0])[:, None], np.searchsorted(numbers, known[1])
    for of_row in range(MIN_CELLS_OF_ROW, MAX_CELLS_OF_ROW + 1):
        rng = np.random.default_rng(seed)
        if n <= min(of_row * height, room):  # all rows in one are as many pairs
            return lloyd_cells(sample, 1, 1, rng)
        cells = lloyd_cells(sample, -(-of_row * n // height), of_row, rng)
        own = cells.of(drawn)
        shared = own[pairs[0]][..., None] == own[pairs[1]][..., None, :]
        if shared.any(axis=(2, 3)).mean() >= wanted + RECALL_MARGIN:
            break
    return cells
