"""Approximate lists from random projection trees, from which searches have their first radius.

A tree halves the points along random directions until the leaves are small; in a
leaf all pairs are compared. Near points share a leaf in most of several trees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.graph.lower_bounds import Coordinates
from dualfold.kernels import kernel
from dualfold.kernels.reports import tally
from dualfold.kernels.threads import in_threads

_leaf_lists = kernel("leaf_lists")
# An entry of a list that is not filled, beyond all row numbers.
NO_NEIGHBOR = np.int32(2**31 - 1)
_LEAVES_PER_CALL = 8


def tree_leaves(
    vectors: np.ndarray, largest: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Members of the leaves one after the other, and where each leaf starts.

    One random direction per level serves all nodes of that level: a single product
    gives every projection, and the halves are exact medians, so the depth is known.
    """
    n = len(vectors)
    levels = max(0, int(np.ceil(np.log2(n / largest))))
    directions = rng.standard_normal((vectors.shape[1], max(1, levels))).astype(np.float32)
    heights = vectors @ directions
    members = np.arange(n, dtype=np.int32)
    starts = np.array([0, n], dtype=np.int64)
    for level in range(levels):
        middles = (starts[:-1] + starts[1:]) // 2
        for first, middle, last in zip(starts[:-1], middles, starts[1:], strict=True):
            node = members[first:last]
            split = np.argpartition(heights[node, level], middle - first)
            members[first:last] = node[split]
        starts = np.sort(np.concatenate([starts, middles]))
    return members, starts


def forest_lists(
    points: Coordinates,
    length: int,
    *,
    trees: int,
    leaf: int,
    threads: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ascending lists of the `length` nearest seen, and the order of the first tree.

    Distances are squares in the coordinates' units; missing entries are NO_NEIGHBOR.
    """
    n = len(points.vectors)
    distance = np.full((n, length), np.inf, dtype=np.float32)
    index = np.full((n, length), NO_NEIGHBOR, dtype=np.int32)
    order = np.arange(n, dtype=np.int32)
    for tree in range(trees):
        members, starts = tree_leaves(points.vectors, leaf, rng)
        if tree == 0:
            order = members
        count = len(starts) - 1
        pairs = float(np.square(np.diff(starts)).sum())
        tally("forest multiply-adds", pairs * points.vectors.shape[1])
        compare = _leaf_worker(points, members, starts, distance, index)
        in_threads(compare, range(0, count, _LEAVES_PER_CALL), threads)
    return distance, index, order


def _leaf_worker(
    points: Coordinates,
    members: np.ndarray,
    starts: np.ndarray,
    distance: np.ndarray,
    index: np.ndarray,
) -> Callable[[int], None]:
    """Compares all pairs in some leaves; leaves share no point, so no two threads write to one."""

    def compare(first: int) -> None:
        last = min(first + _LEAVES_PER_CALL, len(starts) - 1)
        depth, length = points.vectors.shape[1], index.shape[1]
        leaves = members, starts, first, last
        if _leaf_lists(points.vectors, depth, points.square, *leaves, length, distance, index):
            raise MemoryError("no memory for a leaf of the neighbour forest")

    return compare
