"""Exact lists: a partition, and then every other whose box is not farther than a neighbour."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.neighbors import nearest
from dualfold.kernels.threads import one_thread
from dualfold.scale.list_files import NO_NEIGHBOR, Shuffle, best
from dualfold.scale.partitions import Partitions
from dualfold.scale.search import Lists

# Bounds of distances are off by rounding, far less than this share.
BOUND_MARGIN = 1e-9


def box(parts: Partitions, part: int) -> Array:
    """The least and largest value of each column in a partition; inside out where it is empty."""
    rows = parts.rows(parts.whole(part)).astype(np.float64)
    if not len(rows):
        return np.array([np.full(parts.width, np.inf), np.full(parts.width, -np.inf)])
    return np.array([rows.min(axis=0), rows.max(axis=0)])


class SearchBoxes:
    """The task of the exact search: one partition against all that may hold near rows."""

    def __init__(self, shuffle: Shuffle, boxes: Array) -> None:
        self.shuffle, self.parts, self.boxes = shuffle, shuffle.parts, boxes

    def __call__(self, part: int) -> int:
        rows = self.parts.whole(part)
        with one_thread():
            numbers = self.parts.numbers(rows)
            if len(numbers):
                self.shuffle.put(part, rows, numbers, self._lists(part, numbers))
        return len(numbers)

    def partitions_visited(self, part: int) -> float:
        """Average number of other partitions that a row of this one would be compared with."""
        with one_thread():
            sample = self.parts.whole(part)
            rows, numbers = self.parts.rows(sample), self.parts.numbers(sample)
            if not len(rows):
                return 0.0
            reach = self._own(rows, numbers)[1][:, -1]
            near = np.flatnonzero(self._box_distances(part) * (1 - BOUND_MARGIN) <= reach.max())
            asked = [
                self._rows_near_box(rows, reach, int(other)) for other in near if other != part
            ]
        return sum(len(sample) for sample in asked) / len(rows)

    def _rows_near_box(self, rows: Array, reach: Array, other: int) -> Array:
        """Rows that are not proved to have no neighbour in another partition."""
        low, high = self.boxes[other]
        wide = rows.astype(np.float64, copy=False)
        outside = np.maximum(np.maximum(low - wide, wide - high), 0.0)
        bound = np.sqrt(np.einsum("ij,ij->i", outside, outside))
        return np.flatnonzero(bound * (1 - BOUND_MARGIN) <= reach)

    def _lists(self, part: int, numbers: Array) -> Lists:
        rows = self.parts.rows(self.parts.whole(part))
        lists = self._own(rows, numbers)
        distances = self._box_distances(part)
        for other in np.argsort(distances, kind="stable"):
            if other == part or self.parts.bounds[other] == self.parts.bounds[other + 1]:
                continue
            if distances[other] * (1 - BOUND_MARGIN) > lists[1][:, -1].max():
                break
            asked = self._rows_near_box(rows, lists[1][:, -1], int(other))
            if len(asked):
                lists = self._with(lists, asked, rows, int(other))
        return lists

    def _with(self, lists: Lists, asked: Array, rows: Array, other: int) -> Lists:
        """Lists of the rows `asked` after a look into another partition."""
        others = self.parts.whole(other)
        there, names = self.parts.rows(others), self.parts.numbers(others)
        count = lists[0].shape[1]
        nearer = nearest(there, min(count, len(there)), queries=rows[asked])
        both = (
            np.hstack([lists[0][asked], names[nearer.indices]]),
            np.hstack([lists[1][asked], nearer.distances]),
        )
        lists[0][asked], lists[1][asked] = best(both, count)
        return lists

    def _own(self, rows: Array, numbers: Array) -> Lists:
        """Neighbours within the partition; of fewer rows than asked for, the rest is far away."""
        return within_partition(rows, numbers, self.shuffle.count)

    def _box_distances(self, part: int) -> Array:
        """Lower bounds of the distances between rows of this partition and of each other."""
        low, high = self.boxes[:, 0], self.boxes[:, 1]
        gaps = np.maximum(np.maximum(low - high[part], low[part] - high), 0.0)
        return np.asarray(np.sqrt(np.square(gaps).sum(axis=1)))


def within_partition(rows: Array, numbers: Array, count: int) -> Lists:
    """The lists of rows among themselves; of fewer rows than asked for, the rest is NO_NEIGHBOR."""
    indices = np.full((len(rows), count), NO_NEIGHBOR, np.int64)
    distances = np.full((len(rows), count), np.inf)
    others = min(count, len(rows) - 1)
    if others > 0:
        lists = nearest(rows, others)
        indices[:, :others], distances[:, :others] = numbers[lists.indices], lists.distances
    return indices, distances
