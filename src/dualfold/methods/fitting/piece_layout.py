"""Pieces that were embedded one by one, laid side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array


@dataclass(frozen=True, eq=False)
class PieceLayout:
    """All points, and by how far each piece was moved.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.fitting.piece_layout import side_by_side
    >>> side_by_side([(np.array([0]), None), (np.array([1]), None)], 2, 1).points.ravel()
    array([0., 1.])
    """

    points: Array
    offsets: Array


def side_by_side(
    parts: Sequence[tuple[Array, Array | None]], n: int, dimensions: int
) -> PieceLayout:
    """Pieces from left to right along the first coordinate, largest first.

    parts : the rows of each piece, and their points; None for a single point
    Between two pieces is a tenth of the widest piece. A piece with fewer directions than
    the others has 0 in the rest; a single point takes its place alone.
    """
    points = np.zeros((n, dimensions))
    widths = [np.ptp(part[:, 0]) for _, part in parts if part is not None] or [0.0]
    margin = 0.1 * max(widths) or 1.0
    offsets = np.zeros((len(parts), dimensions))
    edge = 0.0
    for number, (rows, part) in enumerate(parts):
        if part is not None:
            drawn = part[:, :dimensions]
            points[rows, : drawn.shape[1]] = drawn
        low, high = points[rows, 0].min(), points[rows, 0].max()
        offsets[number, 0] = edge - low
        points[rows, 0] += offsets[number, 0]
        edge += high - low + margin
    return PieceLayout(points, offsets)
