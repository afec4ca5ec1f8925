"""Cells of an approximate search: each row belongs to the few whose centres are nearest.

Rows near a border then share a cell with the neighbours beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import row_slices

CENTRE_SAMPLE_ROWS = 64  # for each centre
MAX_CENTRE_SAMPLE_ROWS = 2**17
# Of Lloyd's rule; at two of them large cells are divided.
LLOYD_STEPS = 6
# A cell of more times the mean number of rows is divided.
LARGE_CELL_RATIO = 2.0
# Entries of a product with all centres.
CENTRE_CHUNK_NUMBERS = 2**20


@dataclass(frozen=True, eq=False)
class Cells:
    """Centres, and to how many of the nearest a row belongs.

    centres : float32, in the units (x − shift)/scale; of_row : cells of a row
    """

    centres: Array
    shift: Array
    scale: float
    of_row: int

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.centres)

    def of(self, rows: Array) -> Array:
        """The cells of each row, the nearest first."""
        found = np.empty((len(rows), self.of_row), np.int32)
        half = 0.5 * np.square(self.centres).sum(axis=1)
        for some in row_slices(len(rows), max(1, CENTRE_CHUNK_NUMBERS // self.count)):
            far = half - self._in_units(rows[some]) @ self.centres.T
            for place in range(self.of_row):
                found[some, place] = nearest = far.argmin(axis=1)
                far[np.arange(len(far)), nearest] = np.inf
        return found

    def _in_units(self, rows: Array) -> Array:
        return ((rows - self.shift) / self.scale).astype(np.float32)


def lloyd_cells(sample: Array, count: int, of_row: int, rng: np.random.Generator) -> Cells:
    """Centres of about equally many rows each, by Lloyd's rule on a sample."""
    shift = sample.mean(axis=0)
    scale = float(np.abs(sample - shift).max()) or 1.0
    rows = ((sample - shift) / scale).astype(np.float32)
    count = min(count, len(rows))
    centres = rows[np.sort(rng.choice(len(rows), count, replace=False))]
    for turn in range(LLOYD_STEPS):
        own = Cells(centres, np.zeros_like(shift), 1.0, 1).of(rows)[:, 0]
        if turn in (LLOYD_STEPS // 3, 2 * LLOYD_STEPS // 3):
            centres = _with_divided_cells(rows, own, centres, rng)
        else:
            centres = _means(rows, own, centres)
    return Cells(centres, shift, scale, min(of_row, len(centres)))


def _means(rows: Array, own: Array, centres: Array) -> Array:
    """The mean of each cell; an empty one keeps its centre."""
    sizes = np.bincount(own, minlength=len(centres))
    order = np.argsort(own, kind="stable")
    filled = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[filled]
    moved = centres.copy()
    sums = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    moved[filled] = sums / sizes[filled, None]
    return moved


def _with_divided_cells(rows: Array, own: Array, centres: Array, rng: np.random.Generator) -> Array:
    """Centres without those of empty cells; a large cell gets several, by its number of rows."""
    sizes = np.bincount(own, minlength=len(centres))
    usual = len(rows) / len(centres)
    large = np.flatnonzero(sizes > LARGE_CELL_RATIO * usual)
    kept = np.setdiff1d(np.flatnonzero(sizes), large)
    added = [
        rows[rng.choice(np.flatnonzero(own == cell), round(sizes[cell] / usual), replace=False)]
        for cell in large
    ]
    return np.unique(np.concatenate([centres[kept], *added]), axis=0)
