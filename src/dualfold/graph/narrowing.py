"""A second look at what a scan in few directions did not rule out, in more directions.

The scan is cheapest in few directions, where it leaves many pairs that are no neighbours. Their
true distances would take longer than the scan; a lower bound in more directions (`coordinates`)
rules out most of them for a tenth of the price.

More directions also tell distances nearly, so that the first reach of a point need not be measured.
Such a reach is a guess: a point with fewer than k others within it is searched again.
"""

from __future__ import annotations

import numpy as np

from dualfold.graph.lower_bounds import SLACK_SHARE, Coordinates
from dualfold.kernels import kernel
from dualfold.kernels.threads import in_threads, row_slices

__all__ = ["SecondStage"]

_narrow_pairs = kernel("narrow_pairs")
_list_reach = kernel("list_reach")
_thresholds = kernel("thresholds")
# What a guess of a reach is lengthened by.
GUESSED_RADIUS_MARGIN = 1.002
ROWS_PER_CHUNK = 4096  # of a part of the work


class SecondStage:
    """Coordinates in more directions, in the order of the scan.

    points : of the rows; order : the row at each place; scale : of the frame
    """

    def __init__(self, points: Coordinates, order: np.ndarray, scale: float) -> None:
        self.vectors, self.square = points.vectors[order], points.square[order]
        self.slack, self.scale = points.slack[order], scale
        self.allowed = np.full(len(order), np.inf, dtype=np.float32)

    def reach(self, lists: np.ndarray, threads: int) -> np.ndarray:
        """For each place about the distance within which all places that it lists lie."""
        n, depth = self.vectors.shape
        squares = np.empty(n, dtype=np.float32)

        def work(rows: slice) -> None:
            _list_reach(
                rows.start, rows.stop, self.vectors, n, depth, lists, lists.shape[1], squares
            )

        in_threads(work, row_slices(n, ROWS_PER_CHUNK), threads)
        return np.sqrt(squares.astype(float)) * (GUESSED_RADIUS_MARGIN / self.scale)

    def shorten(self, reach: np.ndarray, first: int, last: int) -> None:
        """Take over the reach of some places, which has become shorter."""
        some = slice(first, min(last, len(self.slack)))
        slack = self.slack[some]
        _thresholds(reach[some], slack, self.scale, SLACK_SHARE, len(slack), self.allowed[some])

    def kept(self, row: np.ndarray, column: np.ndarray, bound: np.ndarray, count: int) -> int:
        """Pairs that are still not proved out of reach move to the front; how many there are."""
        return int(
            _narrow_pairs(
                self.vectors, *self.vectors.shape, self.square, self.allowed, row, column, bound,
                count,
            )
        )  # fmt: skip
