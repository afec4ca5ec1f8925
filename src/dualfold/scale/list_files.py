"""Neighbour lists on their way from partitions to the order of the table, through files.

A partition's rows come from everywhere in the table, so that lists put to their places one by one
would touch every page of the file. Instead each partition writes them to slices of a file, one for
each slice of the table, and slices are put in order one at a time: memory stays that of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import one_thread
from dualfold.scale.engine import compute, require_module
from dualfold.scale.partitions import Partitions
from dualfold.scale.search import Lists

NO_NEIGHBOR = np.iinfo(np.int32).max
LIST_DTYPES = {"indices": "int32", "distances": "float64"}


@dataclass(frozen=True)
class ListFiles:
    """The lists of all rows, in order: files indices.npy and distances.npy of a folder.

    shape : rows and neighbours of each
    """

    folder: str
    shape: tuple[int, int]

    def create(self) -> ListFiles:
        """Makes the files."""
        for name, kind in LIST_DTYPES.items():
            np.lib.format.open_memmap(self._path(name), "w+", np.dtype(kind), self.shape)
        return self

    def open(self, mode: Any = "r") -> Lists:
        """Indices and distances as memory maps."""
        indices, distances = (np.lib.format.open_memmap(self._path(n), mode) for n in LIST_DTYPES)
        return indices, distances

    def put(self, some: slice | Array, lists: Lists) -> None:
        """Lists of a slice of rows, or of a few by their numbers."""
        indices, distances = self.open("r+")
        indices[some], distances[some] = lists

    def _path(self, name: str) -> Path:
        return Path(self.folder) / f"{name}.npy"


@dataclass(frozen=True, eq=False)
class Shuffle:
    """Lists that partitions write and slices of the table read.

    folder : of the files; of_row : lists of a row, one from each of its partitions
    count : neighbours in a list
    """

    folder: str
    parts: Partitions
    of_row: int
    count: int

    def create(self) -> Shuffle:
        """Makes the files."""
        for name in (*LIST_DTYPES, "owners"):
            self._open_file(name, "w+")
        return self

    def put(self, part: int, some: slice, numbers: Array, lists: Lists) -> int:
        """The lists of a slice of rows of the partitions' file, all of one partition."""
        files = [self._open_file(name, "r+") for name in (*LIST_DTYPES, "owners")]
        counts = self.parts.counts
        # Where each slice of the table begins in the partition, and the partition in the slice.
        begins = self.parts.bounds[part] + np.cumsum(counts[:, part]) - counts[:, part]
        starts = self.of_row * self.parts.edges[:-1] + counts[:, :part].sum(axis=1)
        first = np.maximum(some.start, begins)
        last = np.minimum(some.stop, begins + counts[:, part])
        for at in np.flatnonzero(last > first):
            taken = slice(first[at] - some.start, last[at] - some.start)
            target = starts[at] + first[at] - begins[at]
            for file, values in zip(files, (*lists, numbers), strict=True):
                file[target : target + last[at] - first[at]] = values[taken]
        return len(numbers)

    def merged_into(self, final: ListFiles, threads: int) -> Array:
        """The best of each row's lists, in the order of the table; returns rows with too few."""
        work = require_module("dask").delayed(_Merge(self, final), pure=False)
        tasks = [work(at) for at in range(len(self.parts.edges) - 1)]
        return np.concatenate(compute("putting lists in order", *tasks, threads=threads))

    def read_slice(self, at: int) -> tuple[Array, Array, Array]:
        """Lists of a slice of the table as they were written: indices, distances, row numbers."""
        first, last = (self.of_row * int(edge) for edge in self.parts.edges[at : at + 2])
        files = (self._open_file(name, "r") for name in (*LIST_DTYPES, "owners"))
        indices, distances, owners = (np.array(file[first:last]) for file in files)
        return indices, distances, owners

    def _open_file(self, name: str, mode: Any) -> Array:
        n = self.parts.bounds[-1]
        shape = (n,) if name == "owners" else (n, self.count)
        kind = LIST_DTYPES.get(name, "int32")
        return np.memmap(Path(self.folder) / f"{name}.bin", kind, mode, shape=shape)


class _Merge:
    """The task of `merged_into`: the lists of one slice of the table."""

    def __init__(self, shuffle: Shuffle, final: ListFiles) -> None:
        self.shuffle, self.final = shuffle, final

    def __call__(self, at: int) -> Array:
        first, last = self.shuffle.parts.edges[at : at + 2]
        with one_thread():
            indices, distances, owners = self.shuffle.read_slice(at)
            order = np.argsort(owners, kind="stable")
            shape = (int(last - first), self.shuffle.of_row * self.shuffle.count)
            lists = indices[order].reshape(shape), distances[order].reshape(shape)
            if self.shuffle.of_row > 1:
                lists = best(lists, self.shuffle.count)
            self.final.put(slice(int(first), int(last)), lists)
        return np.asarray(first + np.flatnonzero(lists[0][:, -1] == NO_NEIGHBOR))


def best(lists: Lists, count: int) -> Lists:
    """The first `count` of each row's entries by (distance, number), each number once."""
    numbers, distances = lists
    order = np.lexsort((numbers, distances))
    numbers = np.take_along_axis(numbers, order, 1)
    distances = np.take_along_axis(distances, order, 1)
    # The same pair has the same distance, bit for bit: duplicates stand side by side.
    again = np.zeros(numbers.shape, bool)
    again[:, 1:] = (numbers[:, 1:] == numbers[:, :-1]) & (numbers[:, 1:] != NO_NEIGHBOR)
    order = np.argsort(again, axis=1, kind="stable")[:, :count]
    numbers[again], distances[again] = NO_NEIGHBOR, np.inf
    return np.take_along_axis(numbers, order, 1), np.take_along_axis(distances, order, 1)
