"""Rows of a table sorted into partitions of near ones, in a file.

A tree on a sample of rows cuts space in halves; each row goes to the place of its leaf in one file,
in which a partition is a slice. The file is as large as the table and goes with its folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dualfold.arrays import Array
from dualfold.scale.engine import computed
from dualfold.scale.sampling import drawn_numbers, gathered
from dualfold.scale.table import TiledTable

# Rows of the sample for each partition: sizes are then right to a tenth.
SAMPLED = 100


@dataclass(frozen=True, eq=False)
class Tree:
    """Cuts of space: at node i, rows with x·directions[i] > thresholds[i] go right.

    Nodes lie as in a heap, 2i + 1 and 2i + 2 below node i; there are 2^depth leaves.
    """

    depth: int
    directions: Array
    thresholds: Array

    def leaf_of(self, rows: Array) -> Array:
        """The partition of each row."""
        node = np.zeros(len(rows), np.int64)
        for _ in range(self.depth):
            height = np.einsum("ij,ij->i", rows, self.directions[node])
            node = 2 * node + 1 + (height > self.thresholds[node])
        return np.asarray(node - (2**self.depth - 1))


def grown_tree(sample: Array, depth: int, rng: np.random.Generator | None = None) -> Tree:
    """Medians along the column of the largest spread, or (`rng`) along random directions.

    These are drawn with the spread of the rows, so that what is wide is halved first.
    """
    width, count = sample.shape[1], 2**depth - 1
    directions, thresholds = np.zeros((count, width)), np.zeros(count)
    parts = [sample]
    for level in range(depth):
        halves = []
        for place, rows in enumerate(parts):
            node = 2**level - 1 + place
            if len(rows):
                directions[node] = _direction(rows, rng)
                heights = rows @ directions[node]
                thresholds[node] = np.median(heights)
                right = heights > thresholds[node]
            else:
                right = np.zeros(0, bool)
            halves += [rows[~right], rows[right]]
        parts = halves
    return Tree(depth, directions, thresholds)


def _direction(rows: Array, rng: np.random.Generator | None) -> Array:
    if rng is None:
        return np.asarray(np.eye(rows.shape[1])[int(np.argmax(rows.std(axis=0)))])
    centred = rows - rows.mean(axis=0)
    drawn = centred.T @ rng.standard_normal(len(rows))
    length = float(np.linalg.norm(drawn))
    return drawn / length if length else np.asarray(np.eye(rows.shape[1])[0])


@dataclass(frozen=True)
class Partitions:
    """The sorted rows in a folder, opened by whoever works on a slice of them.

    bounds : where each partition begins, and the end; width : number of columns
    kind : the numbers' type
    """

    folder: str
    bounds: tuple[int, ...]
    width: int
    kind: str

    @property
    def count(self) -> int:
        """Number of partitions."""
        return len(self.bounds) - 1

    def rows(self, part: int) -> Array:
        """The rows of a partition, read into memory; they keep the order of the table."""
        return np.array(self._opened("rows")[self.bounds[part] : self.bounds[part + 1]])

    def numbers(self, part: int) -> Array:
        """Their numbers in the table."""
        return np.array(self._opened("numbers")[self.bounds[part] : self.bounds[part + 1]])

    def _opened(self, name: str) -> Array:
        n = self.bounds[-1]
        kind, shape = (self.kind, (n, self.width)) if name == "rows" else ("int64", (n,))
        return np.memmap(Path(self.folder) / f"{name}.bin", kind, "r", shape=shape)


class _Counts:
    """How many rows of a tile each partition gets."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def __call__(self, rows: Array) -> Array:
        return np.bincount(self.tree.leaf_of(rows), minlength=2**self.tree.depth)


class _Put:
    """Writes the rows of a tile to the places of their partitions."""

    def __init__(self, tree: Tree, into: Partitions) -> None:
        self.tree, self.into = tree, into

    def __call__(self, rows: Array, first: int, starts: Array) -> int:
        leaf = self.tree.leaf_of(rows)
        order = np.argsort(leaf, kind="stable")
        ends = np.cumsum(np.bincount(leaf, minlength=len(starts)))
        begins = np.concatenate([[0], ends[:-1]])
        n, folder = self.into.bounds[-1], Path(self.into.folder)
        shape = (n, self.into.width)
        sorted_rows = np.memmap(folder / "rows.bin", self.into.kind, "r+", shape=shape)
        numbers = np.memmap(folder / "numbers.bin", "int64", "r+", shape=(n,))
        for part in np.flatnonzero(ends > begins):
            some = order[begins[part] : ends[part]]
            place = slice(int(starts[part]), int(starts[part]) + len(some))
            sorted_rows[place] = rows[some]
            numbers[place] = some + first
        return len(rows)


def partitioned(
    rows: TiledTable, folder: Path, partition_rows: int, rng: np.random.Generator | None, seed: int
) -> Partitions:
    """The table sorted into partitions of at most about `partition_rows`: two passes.

    folder : where the file lies; all workers must see it
    rng : for cuts along random directions; None cuts across columns
    seed : draws the sample that the cuts are medians of
    """
    n = rows.n_rows
    depth = max(0, int(np.ceil(np.log2(max(1.0, n / partition_rows)))))
    sample = gathered(rows, drawn_numbers(n, SAMPLED * 2**depth, seed)).astype(np.float64)
    tree = grown_tree(sample, depth, rng)
    found = computed("sorting rows", *rows.each(_Counts(tree)), threads=rows.budget.threads)
    counts = np.array([np.zeros(2**depth, np.int64) if one is None else one for one in found])
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    # Where the rows of each tile begin in each partition: after those of the tiles before.
    starts = bounds[:-1] + np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, 0)[:-1]])
    into = Partitions(str(folder), tuple(int(at) for at in bounds), rows.width, str(rows.dtype))
    np.memmap(folder / "rows.bin", into.kind, "w+", shape=(n, rows.width))
    np.memmap(folder / "numbers.bin", "int64", "w+", shape=(n,))
    firsts = np.concatenate([[0], np.cumsum(rows.lengths)])[:-1].tolist()
    tasks = rows.each(_Put(tree, into), firsts, list(starts))
    computed("sorting rows", *tasks, threads=rows.budget.threads)
    return into
