"""Coordinates packed for the scan kernel, and the tiles it is called on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from dualfold.graph.lower_bounds import SLACK_SHARE, Coordinates
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import tally

__all__ = ["Buffers", "Packed", "panel_blocks", "round_robin"]

PANEL_POINTS = c_constant("PANEL")
_PANELS_PER_BLOCK = 32  # panels: 1536 points, a tile of 2.4 million pairs takes about 10 ms
_BUFFER_PAIRS = 1 << 18

_scan = kernel("scan_panels")
_thresholds = kernel("thresholds")


@dataclass(frozen=True, eq=False)
class Packed:
    """Coordinates in panels of PANEL points, taken in the order of `names`."""

    vectors: np.ndarray
    square: np.ndarray
    slack: np.ndarray
    names: np.ndarray
    panels: int

    @classmethod
    def of(cls, points: Coordinates, names: np.ndarray) -> Packed:
        """Copy the vectors into panels; padding lies at infinity."""
        n, depth = points.vectors.shape
        panels = -(-n // PANEL_POINTS)
        vectors = np.zeros((panels, depth, PANEL_POINTS), dtype=np.float32)
        for panel in range(panels):
            rows = names[panel * PANEL_POINTS : (panel + 1) * PANEL_POINTS]
            vectors[panel, :, : len(rows)] = points.vectors[rows].T
        square = np.full(panels * PANEL_POINTS, np.inf, dtype=np.float32)
        square[:n] = points.square[names]
        slack = np.zeros(panels * PANEL_POINTS)
        slack[:n] = points.slack[names]
        return cls(vectors, square, slack, names, panels)

    def allowed(self, reach: np.ndarray, scale: float) -> np.ndarray:
        """Thresholds of the points; padding allows nothing."""
        out = np.full(len(self.square), -1.0, dtype=np.float32)
        _thresholds(reach, self.slack, scale, SLACK_SHARE, len(reach), out)
        return out


class Buffers:
    """Room for found pairs, handed from tile to tile."""

    def __init__(self, threads: int) -> None:
        self.free: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        for _ in range(threads):
            self.free.put(
                (
                    np.empty(_BUFFER_PAIRS, dtype=np.int32),
                    np.empty(_BUFFER_PAIRS, dtype=np.int32),
                    np.empty(_BUFFER_PAIRS, dtype=np.float32),
                    np.empty(1, dtype=np.int64),
                )
            )

    def found(
        self,
        a: Packed,
        b: Packed,
        allowed: np.ndarray,
        column_allowed: np.ndarray | None,
        rows: tuple[int, int],
        columns: tuple[int, int],
        upper: bool,
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Pairs of a tile that are not proved out of reach, a bufferful at a time."""
        buffer = self.free.get()
        row, column, bound, position = buffer
        position[0] = 0
        pairs = (
            PANEL_POINTS**2 * (rows[1] - rows[0]) * (columns[1] - columns[0]) // (2 if upper else 1)
        )
        tally("scan multiply-adds", pairs * a.vectors.shape[1])
        try:
            while position[0] >= 0:
                count = _scan(
                    a.vectors, b.vectors, a.vectors.shape[1], a.square, b.square, allowed,
                    column_allowed, *rows, *columns, len(b.names), upper, row, column, bound,
                    _BUFFER_PAIRS, position,
                )  # fmt: skip
                if count:
                    tally("distances", count)
                    yield row, column, bound, count
        finally:
            self.free.put(buffer)


def panel_blocks(panels: int) -> list[tuple[int, int]]:
    """Ranges of panels: the rows or columns of a tile."""
    return [
        (first, min(panels, first + _PANELS_PER_BLOCK))
        for first in range(0, panels, _PANELS_PER_BLOCK)
    ]


def round_robin(count: int) -> Iterator[list[tuple[int, int]]]:
    """Every pair of blocks once, each block once per round (the circle method)."""
    yield [(block, block) for block in range(count)]
    ring = list(range(count + count % 2))
    for _ in range(len(ring) - 1):
        meeting = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]), strict=True)
        yield [(min(pair), max(pair)) for pair in meeting if max(pair) < count]
        ring = [ring[0], ring[-1], *ring[1:-1]]
