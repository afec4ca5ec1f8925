"""Repulsion between all pairs by a tree, with a bound of its error: 3-D maps, and large ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel, shared
from dualfold.kernels.threads import Threads, row_slices

_grow = kernel("grow_tree")
_repulsion = kernel("tree_repulsion")
# Digits of a Morton key, by the number of coordinates: their bits fit into 63.
LEVELS = {1: 40, 2: 30, 3: 20}
ROWS = 2048  # of a part of the work


class ByTree:
    """Sums in which points far away are their centroid; the smaller the angle, the closer.

    angle : a group of points counts as one where it is seen under a smaller angle (its largest
        diameter over its distance)
    bounded : whether errors are bounded, which takes a third longer
    off, off_push : bounds of the errors of `phi` and of the length of `push`, row by row
    """

    def __init__(self, n: int, width: int, angle: float, *, bounded: bool = False) -> None:
        self.angle, self.bounded = max(angle, 1e-9), bounded
        self.phi, self.push = np.zeros(n), np.zeros((n, width))
        self.off, self.off_push = np.zeros(n), np.zeros(n)
        self._range, self._past = np.zeros(4 * n, np.int64), np.zeros(2 * n, np.int64)
        self._numbers = np.zeros(2 * n * shared("NODE_NUMBERS"))

    def before(self, Y: Array) -> list[Callable[[], None]]:
        """Nothing: the tree is grown in one go."""
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
        nodes = _grow(
            n, width, LEVELS[width], np.ascontiguousarray(keys[order]), points,
            self._range, self._past, self._numbers,
        )  # fmt: skip
        phi, push = np.zeros(n), np.zeros((n, width))
        off, off_push = np.zeros(n), np.zeros(n)

        def work(rows: slice) -> None:
            _repulsion(
                rows.start, rows.stop, n, width, nodes, self.angle, int(self.bounded), points,
                self._range, self._past, self._numbers, phi, push, off, off_push,
            )  # fmt: skip

        pool.map(work, row_slices(n, ROWS))
        self.phi[order], self.push[order] = phi, push
        self.off[order], self.off_push[order] = off, off_push
        return float(self.phi.sum())


def morton_keys(Y: Array) -> Array:
    """Whole numbers in which the bits of the coordinates alternate: near points, near numbers."""
    n, width = Y.shape
    levels = LEVELS[width]
    low = Y.min(axis=0)
    wide = float((Y - low).max(initial=0.0)) or 1.0
    cells = np.minimum((Y - low) / wide * 2.0**levels, 2.0**levels - 1).astype(np.int64)
    keys = np.zeros(n, np.int64)
    for level in range(levels):
        for axis in range(width):
            bit = (cells[:, axis] >> level) & 1
            keys |= bit << (level * width + axis)
    return keys
