"""Rows of a table sorted into partitions of near ones, in a file in which each is a slice.

A tree on a sample cuts space in halves, and each row goes to its leaf (exact searches), or to a few
cells (`Cells`). The file holds the table as often as a row has partitions, and goes with its
folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import row_slices
from dualfold.scale.engine import compute
from dualfold.scale.rows import dense_rows, refuse_gaps
from dualfold.scale.tiled_table import TiledTable, drawn_row_numbers, gather_rows

# For each partition: their sizes are then right to a tenth.
TREE_SAMPLE_ROWS = 100


class Sorting(Protocol):
    """A rule that gives each row its partitions."""

    @property
    def count(self) -> int:
        """Number of partitions."""

    @property
    def of_row(self) -> int:
        """Partitions of a row."""

    def of(self, rows: Array) -> Array:
        """The partitions of each row, (rows, of_row)."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Cuts of space: at node i, rows with x·directions[i] > thresholds[i] go right.

    Nodes lie as in a heap, 2i + 1 and 2i + 2 below node i; there are 2^depth leaves.
    """

    depth: int
    directions: Array
    thresholds: Array
    of_row: int = 1

    @property
    def count(self) -> int:
        """Number of leaves."""
        return int(2**self.depth)

    def of(self, rows: Array) -> Array:
        """The leaf of each row, as a column."""
        node = np.zeros(len(rows), np.int64)
        for _ in range(self.depth):
            height = np.einsum("ij,ij->i", rows, self.directions[node])
            node = 2 * node + 1 + (height > self.thresholds[node])
        return np.asarray(node - (2**self.depth - 1))[:, None]


def sampled_tree(rows: TiledTable, partition_rows: int, seed: int) -> Tree:
    """Cuts of a table into partitions of at most about `partition_rows`, by a sample of it."""
    depth = max(0, int(np.ceil(np.log2(max(1.0, rows.n_rows / partition_rows)))))
    numbers = drawn_row_numbers(rows.n_rows, TREE_SAMPLE_ROWS * 2**depth, seed)
    return median_tree(gather_rows(rows, numbers, finite=True).astype(np.float64), depth)


def median_tree(sample: Array, depth: int) -> Tree:
    """Medians along the column of the largest spread."""
    width, count = sample.shape[1], 2**depth - 1
    directions, thresholds = np.zeros((count, width)), np.zeros(count)
    parts = [sample]
    for level in range(depth):
        halves = []
        for number, rows in enumerate(parts):
            node = 2**level - 1 + number
            column = int(np.argmax(rows.std(axis=0))) if len(rows) else 0
            directions[node, column] = 1.0
            if len(rows):
                thresholds[node] = np.median(rows[:, column])
            right = rows[:, column] > thresholds[node]
            halves += [rows[~right], rows[right]]
        parts = halves
    return Tree(depth, directions, thresholds)


@dataclass(frozen=True)
class Partitions:
    """The sorted rows in a folder; every task opens its slice of them.

    bounds : where each partition begins, and the end; width : number of columns
    kind : the numbers' type
    edges : slices of the table, whose rows lie side by side in each partition
    counts : how many rows of each slice (rows) are in each partition (columns)
    """

    folder: str
    bounds: tuple[int, ...]
    width: int
    kind: str
    edges: Array
    counts: Array

    @property
    def count(self) -> int:
        """Number of partitions."""
        return len(self.bounds) - 1

    def pieces(self, part: int, most: int) -> list[slice]:
        """A partition as slices of the file of at most `most` rows each."""
        first, last = self.bounds[part : part + 2]
        cuts = np.linspace(first, last, -(-(last - first) // most) + 1).astype(int)
        return [slice(int(a), int(b)) for a, b in pairwise(cuts)]

    def whole(self, part: int) -> slice:
        """A partition as a slice of the file."""
        return slice(*self.bounds[part : part + 2])

    def rows(self, piece: slice) -> Array:
        """Rows of the file, read into memory; in a partition they keep the order of the table."""
        return np.array(self.open_slice("rows", piece))

    def numbers(self, piece: slice) -> Array:
        """Their numbers in the table."""
        return np.array(self.open_slice("numbers", piece))

    def open_slice(self, name: str, piece: slice, mode: Any = "r") -> Array:
        """Part of the file of rows, or of their numbers, as a memory map of this part alone."""
        wide = name == "rows"
        kind, inner = np.dtype(self.kind if wide else "int64"), (self.width,) if wide else ()
        shape = (piece.stop - piece.start, *inner)
        if not shape[0]:
            return np.empty(shape, kind)
        begin = piece.start * kind.itemsize * (self.width if wide else 1)
        return np.memmap(Path(self.folder) / f"{name}.bin", kind, mode, begin, shape)


class _Assign:
    """Writes down the partitions of a tile's rows, and counts them in slices of the tile."""

    def __init__(self, sorting: Sorting, path: Path, n: int, step: int) -> None:
        self.sorting, self.path, self.n, self.step = sorting, path, n, step

    def __call__(self, block: Any, first: int) -> Array:
        rows = dense_rows(block)
        refuse_gaps(rows)
        partitions = self.sorting.of(rows)
        every = np.memmap(self.path, "int32", "r+", shape=(self.n, self.sorting.of_row))
        every[first : first + len(rows)] = partitions
        slices = (partitions[some].ravel() for some in row_slices(len(rows), self.step))
        return np.array([np.bincount(some, minlength=self.sorting.count) for some in slices])


class _Put:
    """Writes the rows of a tile to the places of their partitions."""

    def __init__(self, path: Path, into: Partitions, n: int, of_row: int) -> None:
        self.path, self.into, self.n, self.of_row = path, into, n, of_row

    def __call__(self, block: Any, first: int, starts: Array) -> int:
        rows = dense_rows(block)
        numbers = np.memmap(self.path, "int32", "r", shape=(self.n, self.of_row))
        parts = np.array(numbers[first : first + len(rows)]).ravel()
        order = np.argsort(parts, kind="stable")
        ends = np.cumsum(np.bincount(parts, minlength=len(starts)))
        begins = np.concatenate([[0], ends[:-1]])
        for part in np.flatnonzero(ends > begins):
            some = order[begins[part] : ends[part]] // self.of_row
            target = slice(int(starts[part]), int(starts[part]) + len(some))
            self.into.open_slice("rows", target, "r+")[:] = rows[some]
            self.into.open_slice("numbers", target, "r+")[:] = some + first
        return len(rows)


def sort_into_partitions(rows: TiledTable, folder: Path, sorting: Sorting, step: int) -> Partitions:
    """The table sorted into partitions, in two passes.

    folder : where the files lie; all workers must see it
    step : rows of the slices in which they are counted
    """
    n, owners = rows.n_rows, folder / "partitions.bin"
    np.memmap(owners, "int32", "w+", shape=(n, sorting.of_row))
    firsts = np.concatenate([[0], np.cumsum(rows.lengths)]).tolist()
    tasks = rows.each(_Assign(sorting, owners, n, step), firsts[:-1])
    sorted_rows = compute("sorting rows", *tasks, threads=rows.budget.threads)
    none = np.zeros((0, sorting.count), np.int64)
    by_tile = [none if one is None else one for one in sorted_rows]
    edges = [at for a, b in pairwise(firsts) for at in range(a, b, step)]
    counts = np.concatenate(by_tile)
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    # Where the rows of each tile begin in each partition: after those of the tiles before.
    totals = np.array([tile.sum(axis=0) for tile in by_tile])
    starts = bounds[:-1] + np.cumsum(totals, axis=0) - totals
    into = Partitions(
        str(folder),
        tuple(int(at) for at in bounds),
        rows.width,
        str(rows.dtype),
        np.array([*edges, n]),
        counts,
    )
    for name in ("rows", "numbers"):
        into.open_slice(name, slice(0, into.bounds[-1]), "w+")
    tasks = rows.each(_Put(owners, into, n, sorting.of_row), firsts[:-1], list(starts))
    compute("sorting rows", *tasks, threads=rows.budget.threads)
    owners.unlink()
    return into
