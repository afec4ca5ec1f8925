"""The attraction of neighbours while points descend: along the edges of P.

On the plane rows are sorted by their place on the map and edges packed in single precision
(`kernels/packed_edges.c`). Differences of places are right to 2⁻²⁴ of the map's width there, less
than a thousandth of the kernel's width on any grid; certificates sum in doubles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels import c_constant, kernel
from dualfold.methods.points.forces import Task, row_shares

_attraction, _costs = kernel("edge_attraction"), kernel("edge_costs")
_pack = kernel("pack_edges")
_packed_attraction, _packed_costs = kernel("packed_attraction"), kernel("packed_costs")
EDGES_TOGETHER = c_constant("EDGES_TOGETHER")


class DoubleAttraction:
    """Attraction in double precision, rows in the order of the problem."""

    def __init__(self, P: sp.csr_array) -> None:
        self.P = P

    def order(self, Y: Array) -> Array:
        return np.arange(len(Y), dtype=np.int32)

    def tasks(self, Y: Array, out: Array, parts: int) -> list[Task]:
        return self._tasks(_attraction, Y, out, parts)

    def costs(self, Y: Array, out: Array, parts: int) -> list[Task]:
        return self._tasks(_costs, Y, out, parts)

    def _tasks(self, sums: Callable[..., None], Y: Array, out: Array, parts: int) -> list[Task]:
        P, (n, width) = self.P, Y.shape

        def task(rows: slice) -> Task:
            return lambda: sums(
                rows.start, rows.stop, n, width, P.indptr, P.indices, P.data, Y, out
            )

        return [task(rows) for rows in row_shares(n, parts)]


class PackedAttraction:
    """Attraction on the plane: what is near on the map lies near in memory."""

    def __init__(self, P: sp.csr_array) -> None:
        self.P = P
        self.groups = -(-np.diff(P.indptr) // EDGES_TOGETHER)
        total = int(self.groups.sum(dtype=np.int64)) * EDGES_TOGETHER
        self.starts = np.zeros(P.shape[0] + 1, dtype=np.int64)
        self.columns, self.weights = np.empty(total, np.int32), np.empty(total, np.float32)
        self.packed = (self.starts, self.columns, self.weights)
        self.places = np.empty((P.shape[0], 2), np.float32)

    def order(self, Y: Array) -> Array:
        n, P = len(Y), self.P
        order = _by_place(Y)
        position = np.empty(n, dtype=np.int32)
        position[order] = np.arange(n, dtype=np.int32)
        np.cumsum(self.groups[order], out=self.starts[1:])
        _pack(0, n, n, order, position, P.indptr, P.indices, P.data, *self.packed)
        return order

    def tasks(self, Y: Array, out: Array, parts: int) -> list[Task]:
        return self._tasks(_packed_attraction, Y, out, parts)

    def costs(self, Y: Array, out: Array, parts: int) -> list[Task]:
        return self._tasks(_packed_costs, Y, out, parts)

    def _tasks(self, sums: Callable[..., None], Y: Array, out: Array, parts: int) -> list[Task]:
        self.places[...] = Y

        def task(rows: slice) -> Task:
            return lambda: sums(rows.start, rows.stop, len(Y), *self.packed, self.places, out)

        return [task(rows) for rows in row_shares(len(Y), parts)]


def _by_place(Y: Array) -> Array:
    """Rows in strips of the map, about as many strips as a strip has rows across."""
    n = len(Y)
    strips = max(1, int(np.sqrt(n) / 4))
    strip = np.empty(n, dtype=np.int64)
    strip[np.argsort(Y[:, 0], kind="stable")] = np.arange(n) * strips // n
    return np.lexsort((Y[:, 1], strip)).astype(np.int32)
