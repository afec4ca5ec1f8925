"""How all pairs push one another: by sums over them, by a grid (1-D, 2-D), or by a tree (3-D)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel
from dualfold.kernels.threads import Threads, row_slices
from dualfold.tsne.grid import FINE, SPACING, Grid

_all_pairs = kernel("all_pairs_repulsion")
# Up to so many points all pairs take no longer (1.2 ns a pair; 3.8 ns a node of the grid, and
# 15 µs a point in the tree).
MOST_BY_PAIRS = {1: 400, 2: 1_500, 3: 10_000}


class Repulsion(Protocol):
    """φ_i = Σ_{j≠i} 1/(1 + t_ij) and the push Σ_j (y_i − y_j)/(1 + t_ij)² of every point."""

    phi: Array
    push: Array

    def before(self, Y: Array) -> list[Callable[[], None]]:
        """Work that may run beside other work."""

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        """The rest; `phi` and `push` are filled, and Z = Σφ is returned."""

    def refine(self) -> None:
        """From now on closer to the exact sums, at a higher price."""


class ByPairs:
    """Sums over all pairs; exact but for rounding."""

    def __init__(self, n: int, width: int) -> None:
        self.phi, self.push = np.zeros(n), np.zeros((n, width))

    def before(self, Y: Array) -> list[Callable[[], None]]:
        return []

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        apart = np.ascontiguousarray(Y.T)

        def work(rows: slice) -> None:
            _all_pairs(rows.start, rows.stop, len(Y), Y.shape[1], 1, Y, apart, self.phi, self.push)

        pool.map(work, shares(len(Y), 4 * parts))
        return float(self.phi.sum())

    def refine(self) -> None:
        """Nothing to do."""


class ByGrid:
    """Sums by a grid, in numbers of `dtype`; the points' own share is taken off."""

    def __init__(self, n: int, width: int, dtype: Any = None) -> None:
        self.phi, self.push = np.zeros(n), np.zeros((n, width))
        self.grid: Grid | None = None
        self.spacing, self.dtype = SPACING, dtype

    def refine(self) -> None:
        """A closer spacing: an error of the push of about 0.1 % instead of 0.7 %."""
        self.spacing, self.grid = FINE, None

    def before(self, Y: Array) -> list[Callable[[], None]]:
        if self.grid is None or not self.grid.holds(Y):
            self.grid = None  # the old one's memory first
            self.grid = Grid(Y, self.spacing, self.dtype)
            self.grid.holds(Y)
        grid = self.grid
        return [lambda: grid.spread(Y)]

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        grid: Any = self.grid
        grid.convolve(pool, parts)
        pool.map(grid.reader(Y, self.phi, self.push), shares(len(Y), parts))
        # Errors of the grid must not make Z vanish where points lie far apart.
        return max(float(self.phi.sum()) - len(Y), 1e-12 * len(Y))


def repulsion_for(n: int, width: int, exact: bool, angle: float = 0.5) -> Repulsion:
    """The cheapest way for n points in `width` dimensions; `exact` wants all pairs."""
    if exact or width > 3 or n <= MOST_BY_PAIRS[width]:
        return ByPairs(n, width)
    if width == 3:
        from dualfold.tsne.tree import ByTree

        return ByTree(n, width, angle)
    return ByGrid(n, width)


def shares(n: int, parts: int) -> list[slice]:
    """The rows in `parts` slices; results do not depend on how many."""
    return list(row_slices(n, max(1, -(-n // parts))))
