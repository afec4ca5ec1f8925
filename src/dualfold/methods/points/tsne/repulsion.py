"""Repulsion between all pairs: by sums over them, by a grid (1-D, 2-D), or by a tree (3-D).

The tree also bounds its error, for the objective of large maps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array, DType
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import tally
from dualfold.kernels.threads import Threads, row_slices
from dualfold.methods.points.forces import Repulsion, Task, row_shares
from dualfold.methods.points.tsne.grid import FINE_SPACING, NODE_SPACING, Grid

_all_pairs = kernel("all_pairs_repulsion")
# Up to this many points, by the number of coordinates, all pairs take no longer than grid or tree
# (docs/dev/notes/tsne-grid.md).
MAX_ROWS_BY_PAIRS = {1: 400, 2: 1_500, 3: 10_000}
_grow = kernel("grow_tree")
_repulsion = kernel("tree_repulsion")
# Digits of a Morton key, by the number of coordinates: their bits fit into 63.
MORTON_DIGITS = {1: 40, 2: 30, 3: 20}
TREE_CHUNK_ROWS = 2048


class ByPairs:
    """Repulsion by sums over all pairs; exact but for rounding."""

    def __init__(self, n: int, width: int) -> None:
        self.phi, self.push = np.zeros(n), np.zeros((n, width))

    def before(self, Y: Array) -> list[Task]:
        return []

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        columns = np.ascontiguousarray(Y.T)

        def work(rows: slice) -> None:
            _all_pairs(
                rows.start, rows.stop, len(Y), Y.shape[1], 1, Y, columns, self.phi, self.push
            )

        pool.map(work, row_shares(len(Y), 4 * parts if parts > 1 else 1))
        tally("repelled pairs", len(Y) ** 2)
        return float(self.phi.sum())

    def refine(self) -> None:
        """Nothing to do."""


class ByGrid:
    """Repulsion by a grid of numbers of `dtype`; what points push themselves is taken off."""

    def __init__(self, n: int, width: int, dtype: DType | None = None) -> None:
        self.phi, self.push = np.zeros(n), np.zeros((n, width))
        self.grid: Grid | None = None
        self.spacing, self.dtype = NODE_SPACING, dtype

    def refine(self) -> None:
        """Take a closer spacing (`FINE_SPACING`)."""
        self.spacing, self.grid = FINE_SPACING, None

    def before(self, Y: Array) -> list[Task]:
        if self.grid is None or not self.grid.holds(Y):
            self.grid = None  # the old one's memory first
            self.grid = Grid(Y, self.spacing, self.dtype)
            self.grid.holds(Y)
        grid = self.grid
        return [lambda: grid.spread_points(Y)]

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        grid: Any = self.grid
        grid.convolve(pool, parts)
        tally("grid nodes", grid.values.size)
        pool.map(grid.reader(Y, self.phi, self.push), row_shares(len(Y), parts))
        if not grid.wide:  # errors of the grid must not push points off the one spot they share
            self.push[...] = 0.0
        # Errors of the grid must not make Z 0 where points lie far apart.
        return max(float(self.phi.sum()) - len(Y), 1e-12 * len(Y))


def repulsion_for(n: int, width: int, exact: bool, angle: float = 0.5) -> Repulsion:
    """The cheapest way for n points in `width` dimensions; `exact` wants all pairs."""
    if exact or width > 3 or n <= MAX_ROWS_BY_PAIRS[width]:
        return ByPairs(n, width)
    if width == 3:
        return ByTree(n, width, angle)
    return ByGrid(n, width)


class ByTree:
    """Repulsion by a tree: groups of points far away are replaced by their centroid.

    angle : a group of points counts as one where it is seen under a smaller angle (its largest
        diameter over its distance); the smaller, the more exact
    bounded : whether errors are bounded, which takes a third longer
    off, off_push : bounds of the errors of `phi` and of the length of `push`, row by row
    """

    def __init__(self, n: int, width: int, angle: float, *, bounded: bool = False) -> None:
        self.angle, self.bounded = max(angle, 1e-9), bounded
        self.phi, self.push = np.zeros(n), np.zeros((n, width))
        self.off, self.off_push = np.zeros(n), np.zeros(n)
        self._range, self._past = np.zeros(4 * n, np.int64), np.zeros(2 * n, np.int64)
        self._numbers = np.zeros(2 * n * c_constant("NODE_NUMBERS"))

    def before(self, Y: Array) -> list[Task]:
        """No work: the tree is grown later, in one pass."""
        return []

    def refine(self) -> None:
        """Half the angle."""
        self.angle /= 2

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        """Grow the tree and walk it for every point."""
        n, width = Y.shape
        keys = morton_keys(Y)
        order = np.argsort(keys, kind="stable")
        points = np.ascontiguousarray(Y[order])
        tree = (self._range, self._past, self._numbers)
        keys = np.ascontiguousarray(keys[order])
        nodes = _grow(n, width, MORTON_DIGITS[width], keys, points, *tree)
        tally("tree nodes", nodes)
        given = (n, width, nodes, self.angle, int(self.bounded), points, *tree)
        sums = (np.zeros(n), np.zeros((n, width)), np.zeros(n), np.zeros(n))

        def work(rows: slice) -> None:
            _repulsion(rows.start, rows.stop, *given, *sums)

        pool.map(work, row_slices(n, TREE_CHUNK_ROWS))
        for out, sum_ in zip((self.phi, self.push, self.off, self.off_push), sums, strict=True):
            out[order] = sum_
        return float(self.phi.sum())


def morton_keys(Y: Array) -> Array:
    """Integers in which the bits of the coordinates alternate: near points have near integers."""
    n, width = Y.shape
    levels = MORTON_DIGITS[width]
    low = Y.min(axis=0)
    wide = float((Y - low).max(initial=0.0)) or 1.0
    cells = np.minimum((Y - low) / wide * 2.0**levels, 2.0**levels - 1).astype(np.int64)
    keys = np.zeros(n, np.int64)
    for level in range(levels):
        for axis in range(width):
            bit = (cells[:, axis] >> level) & 1
            keys |= bit << (level * width + axis)
    return keys
