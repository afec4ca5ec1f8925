"""Coordinates packed for the scan kernel, the tiles it is called on, and the second stage.

The scan takes the fewest operations in few directions, where it leaves many pairs that are no
neighbours. Their true distances would take longer than the scan; a lower bound in more directions
(`SecondStage`) rules out most of them for a tenth of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from dualfold.graph.lower_bounds import SLACK_SHARE, Coordinates
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import tally
from dualfold.kernels.threads import in_threads, row_slices

PANEL_POINTS = c_constant("PANEL")
# A tile of two blocks is 2.4 million pairs, short enough for Ctrl-C.
_PANELS_PER_BLOCK = 32
_BUFFER_PAIRS = 1 << 18
_ROWS_PER_CHUNK = 4096
# What a guess of a search radius is multiplied by.
GUESSED_RADIUS_MARGIN = 1.002

_scan = kernel("scan_panels")
_thresholds = kernel("thresholds")
_narrow_pairs = kernel("narrow_pairs")
_list_reach = kernel("list_reach")

Block = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Packed:
    """Coordinates in panels of PANEL_POINTS rows, taken in the order of `names`."""

    table: np.ndarray
    vectors: np.ndarray
    square: np.ndarray
    slack: np.ndarray
    names: np.ndarray
    scale: float

    @classmethod
    def of(cls, points: Coordinates, names: np.ndarray | None = None) -> Packed:
        """Copy the vectors into panels; padding lies at infinity."""
        n, depth = points.vectors.shape
        names = np.arange(n, dtype=np.int32) if names is None else names
        panels = -(-n // PANEL_POINTS)
        vectors = np.zeros((panels, depth, PANEL_POINTS), dtype=np.float32)
        for panel in range(panels):
            rows = names[panel * PANEL_POINTS : (panel + 1) * PANEL_POINTS]
            vectors[panel, :, : len(rows)] = points.vectors[rows].T
        square = np.full(panels * PANEL_POINTS, np.inf, dtype=np.float32)
        square[:n] = points.square[names]
        slack = np.zeros(panels * PANEL_POINTS)
        slack[:n] = points.slack[names]
        return cls(points.table, vectors, square, slack, names, points.scale)

    @property
    def blocks(self) -> list[Block]:
        """Ranges of panels: the rows or columns of a tile."""
        return panel_blocks(len(self.vectors))

    def thresholds(self, radius: np.ndarray) -> np.ndarray:
        """The largest lower bound within the radius of each row; padding is within none."""
        out = np.full(len(self.square), -1.0, dtype=np.float32)
        _thresholds(radius, self.slack, self.scale, SLACK_SHARE, len(radius), out)
        return out


class PanelScan:
    """The candidates among the pairs of two packed tables, with a buffer for each thread.

    thresholds : of the rows; column_thresholds : of the columns, if those have a radius, too
    """

    def __init__(
        self,
        rows: Packed,
        columns: Packed,
        thresholds: np.ndarray,
        column_thresholds: np.ndarray | None,
        threads: int,
    ) -> None:
        self.rows, self.columns = rows, columns
        self.thresholds, self.column_thresholds = thresholds, column_thresholds
        self.free: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        for _ in range(threads):
            ends = (np.empty(_BUFFER_PAIRS, dtype=np.int32) for _ in range(2))
            bound, position = np.empty(_BUFFER_PAIRS, np.float32), np.empty(1, np.int64)
            self.free.put((*ends, bound, position))

    def candidates(
        self, rows: Block, columns: Block, *, upper: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Pairs of a tile that are not proved out of the radius, a full buffer at a time.

        upper : of a tile on the diagonal, only pairs row < column
        """
        a, b = self.rows, self.columns
        buffer = self.free.get()
        row, column, bound, position = buffer
        position[0] = 0
        tile = PANEL_POINTS**2 * (rows[1] - rows[0]) * (columns[1] - columns[0])
        tally("scan multiply-adds", tile // (2 if upper else 1) * a.vectors.shape[1])
        squares = a.square, b.square, self.thresholds, self.column_thresholds
        buffers = row, column, bound, _BUFFER_PAIRS, position
        try:
            while position[0] >= 0:
                where = *rows, *columns, len(b.names), upper
                count = _scan(a.vectors, b.vectors, a.vectors.shape[1], *squares, *where, *buffers)
                if count:
                    tally("distances", count)
                    yield row, column, bound, count
        finally:
            self.free.put(buffer)


class SecondStage:
    """Coordinates in more directions, in the order of the scan.

    points : of the rows; order : the row at each place
    """

    def __init__(self, points: Coordinates, order: np.ndarray) -> None:
        self.points = points.rows(order)
        self.thresholds = np.full(len(order), np.inf, dtype=np.float32)

    def guessed_radius(self, lists: np.ndarray, threads: int) -> np.ndarray:
        """For each place about the distance within which all places that it lists lie.

        It is a guess: a row with fewer than k others within it is searched again.
        """
        n, depth = self.points.vectors.shape
        squares = np.empty(n, dtype=np.float32)

        def work(rows: slice) -> None:
            places = rows.start, rows.stop, self.points.vectors, n, depth
            _list_reach(*places, lists, lists.shape[1], squares)

        in_threads(work, row_slices(n, _ROWS_PER_CHUNK), threads)
        return np.sqrt(squares.astype(float)) * (GUESSED_RADIUS_MARGIN / self.points.scale)

    def shorten(self, radius: np.ndarray, block: Block) -> None:
        """Take over the radius of the rows of a block, which has become shorter."""
        first, last = (PANEL_POINTS * panel for panel in block)
        rows = slice(first, min(last, len(self.thresholds)))
        slack, scale = self.points.slack[rows], self.points.scale
        _thresholds(radius[rows], slack, scale, SLACK_SHARE, len(slack), self.thresholds[rows])

    def keep_candidates(
        self, row: np.ndarray, column: np.ndarray, bound: np.ndarray, count: int
    ) -> int:
        """Move the pairs that are still not proved out of the radius to the front; their number."""
        points = self.points.vectors, *self.points.vectors.shape, self.points.square
        return int(_narrow_pairs(*points, self.thresholds, row, column, bound, count))


def panel_blocks(panels: int) -> list[Block]:
    """Ranges of panels: the rows or columns of a tile."""
    starts = range(0, panels, _PANELS_PER_BLOCK)
    return [(first, min(panels, first + _PANELS_PER_BLOCK)) for first in starts]


def round_robin(count: int) -> Iterator[list[tuple[int, int]]]:
    """Every pair of blocks once, each block once per round (the circle method)."""
    yield [(block, block) for block in range(count)]
    ring = list(range(count + count % 2))
    for _ in range(len(ring) - 1):
        meeting = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]), strict=True)
        yield [(min(pair), max(pair)) for pair in meeting if max(pair) < count]
        ring = [ring[0], ring[-1], *ring[1:-1]]
