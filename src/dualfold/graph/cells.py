"""Cells of near rows, by Lloyd's rule, and approximate neighbour lists within them.

A row is compared with all rows of the cells whose centres are nearest to it; how many cells that
takes is decided on a sample whose neighbours are known (`needed_probes`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.distances import pair_distances
from dualfold.graph.forest import NO_NEIGHBOR
from dualfold.graph.lower_bounds import Coordinates
from dualfold.graph.panels import PANEL_POINTS
from dualfold.kernels import kernel
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, one_blas_thread, row_slices

_pack_cells = kernel("pack_cells")
_cell_lists = kernel("cell_lists")
CENTRE_SAMPLE_ROWS = 64  # for each centre
MAX_CENTRE_SAMPLE_ROWS = 2**17
# Iterations of Lloyd's rule; in two of them large cells are divided.
LLOYD_STEPS = 6
# A cell with more rows than this factor times the mean number is divided.
LARGE_CELL_RATIO = 2.0
# Largest number of entries of a product of rows with all centres.
CENTRE_CHUNK_NUMBERS = 2**20
ROWS_PER_CHUNK = 4096


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
        cells = np.empty((len(rows), self.of_row), np.int32)
        half = 0.5 * np.square(self.centres).sum(axis=1)
        for part in row_slices(len(rows), max(1, CENTRE_CHUNK_NUMBERS // self.count)):
            far = half - self._in_units(rows[part]) @ self.centres.T
            for rank in range(self.of_row):
                cells[part, rank] = nearest = far.argmin(axis=1)
                far[np.arange(len(far)), nearest] = np.inf
        return cells

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
        cell_of = Cells(centres, np.zeros_like(shift), 1.0, 1).of(rows)[:, 0]
        if turn in (LLOYD_STEPS // 3, 2 * LLOYD_STEPS // 3):
            centres = _with_divided_cells(rows, cell_of, centres, rng)
        else:
            centres = _means(rows, cell_of, centres)
    return Cells(centres, shift, scale, min(of_row, len(centres)))


def _means(rows: Array, cell_of: Array, centres: Array) -> Array:
    """The mean of each cell; an empty one keeps its centre."""
    sizes = np.bincount(cell_of, minlength=len(centres))
    order = np.argsort(cell_of, kind="stable")
    filled = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[filled]
    moved = centres.copy()
    sums = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    moved[filled] = sums / sizes[filled, None]
    return moved


def _with_divided_cells(
    rows: Array, cell_of: Array, centres: Array, rng: np.random.Generator
) -> Array:
    """Centres without those of empty cells; a large cell gets several, by its number of rows."""
    sizes = np.bincount(cell_of, minlength=len(centres))
    usual = len(rows) / len(centres)
    large = np.flatnonzero(sizes > LARGE_CELL_RATIO * usual)
    kept = np.setdiff1d(np.flatnonzero(sizes), large)
    added = [
        rows[rng.choice(np.flatnonzero(cell_of == cell), round(sizes[cell] / usual), replace=False)]
        for cell in large
    ]
    return np.unique(np.concatenate([centres[kept], *added]), axis=0)


def cells_of_points(points: Coordinates, rng: np.random.Generator) -> Cells:
    """About √n cells of √n rows each: then finding the cells of a row takes as long as a cell."""
    n = len(points.vectors)
    count = max(1, round(np.sqrt(n)))
    most = min(n, MAX_CENTRE_SAMPLE_ROWS, CENTRE_SAMPLE_ROWS * count)
    sample = points.vectors[np.sort(rng.choice(n, most, replace=False))]
    return lloyd_cells(sample, count, 1, rng)


def needed_probes(
    cells: Cells, points: Coordinates, rows: Array, lists: Array, wanted: float
) -> int:
    """The nearest cells of a row that hold a share `wanted` of the neighbours of some rows.

    rows, lists : rows, and the numbers of their nearest
    """
    numbers, positions = np.unique(lists, return_inverse=True)
    cell_of = cells.of(points.vectors[numbers])[positions.reshape(lists.shape), 0]
    near_cells = replace(cells, of_row=cells.count).of(points.vectors[rows])
    rank_of = np.argsort(near_cells, axis=1, kind="stable")
    ranks = np.take_along_axis(rank_of, cell_of, axis=1)
    return 1 + int(np.quantile(ranks, wanted, method="higher"))


def listed_share(points: Coordinates, rows: Array, reach: Array, k: int, length: int) -> float:
    """Share of the k nearest of sampled rows among the `length` nearest by the vectors.

    reach : the true distance of the k-th
    """
    shares = []
    for row, far in zip(rows, reach, strict=True):
        squares = points.square - 2 * (points.vectors @ points.vectors[row])
        squares[row] = np.inf
        near = np.argpartition(squares, length - 1)[:length]
        true = pair_distances(points.table, points.table, np.full(length, row), near)
        shares.append(min(k, int((true <= far).sum())) / k)
    return float(np.mean(shares))


def cell_lists(
    points: Coordinates, cells: Cells, length: int, n_probes: int, threads: int
) -> tuple[Array, Array]:
    """For each row the `length` nearest, by its vector, in its `n_probes` nearest cells.

    (squared distances, row numbers), in no order; missing entries are NO_NEIGHBOR.
    """
    n, depth = points.vectors.shape
    probes = np.empty((n, n_probes), np.int32)
    probed = replace(cells, of_row=n_probes)

    def sort_in(rows: slice) -> None:
        probes[rows] = probed.of(points.vectors[rows])

    with one_blas_thread(), steps("cells of points", n) as done:
        in_threads(sort_in, row_slices(n, ROWS_PER_CHUNK), threads, done)
    members = np.argsort(probes[:, 0], kind="stable").astype(np.int32)
    sizes = np.bincount(probes[:, 0], minlength=cells.count)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    panels = np.concatenate([[0], np.cumsum(-(-sizes // PANEL_POINTS))])
    packed = np.empty((panels[-1], depth, PANEL_POINTS), np.float32)
    squares = np.empty(panels[-1] * PANEL_POINTS, np.float32)
    table = points.vectors, n, depth, points.square, members, starts, panels
    _pack_cells(*table, 0, cells.count, packed, squares)
    distance = np.full((n, length), np.inf, np.float32)
    index = np.full((n, length), NO_NEIGHBOR, np.int32)
    tally("cell multiply-adds", float(sizes[probes].sum()) * depth)
    given = packed, depth, squares, n, cells.count, panels, members, starts, probes, n_probes

    def search(cell: int) -> None:
        if _cell_lists(*given, cell, cell + 1, length, distance, index):
            raise MemoryError("no memory for a cell of near rows")

    with steps("comparing points", cells.count) as done:
        in_threads(search, range(cells.count), threads, done)
    return distance, index
