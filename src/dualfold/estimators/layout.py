"""Pieces that were embedded one by one, laid side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dualfold.duality.certificate import UnfoldingCertificate
from dualfold.embedding import Embedding
from dualfold.trace.certificate import Certificate

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Layout:
    """All points, and by how far each piece was moved."""

    points: Array
    offsets: Array


def side_by_side(parts: list[tuple[Array, Embedding | None]], n: int, dimensions: int) -> Layout:
    """Pieces from left to right along the first coordinate, largest first.

    Between two pieces is a tenth of the widest piece. A piece with fewer directions than
    the others has 0 in the rest; a single point takes its place alone.
    """
    points = np.zeros((n, dimensions))
    widths = [np.ptp(part.points[:, 0]) for _, part in parts if part is not None] or [0.0]
    margin = 0.1 * max(widths) or 1.0
    offsets = np.zeros((len(parts), dimensions))
    edge = 0.0
    for number, (rows, part) in enumerate(parts):
        if part is not None:
            found = part.points[:, :dimensions]
            points[rows, : found.shape[1]] = found
        low, high = points[rows, 0].min(), points[rows, 0].max()
        offsets[number, 0] = edge - low
        points[rows, 0] += offsets[number, 0]
        edge += high - low + margin
    return Layout(points, offsets)


@dataclass(frozen=True)
class PiecewiseCertificate:
    """One certificate a piece; together they are as good as the worst of them.

    Says nothing about where the pieces lie to one another: that is only drawing.
    """

    pieces: tuple[Certificate | UnfoldingCertificate, ...]

    @property
    def level(self) -> Literal["proved", "measured", "failed"]:
        levels = {piece.level for piece in self.pieces}
        if "failed" in levels:
            return "failed"
        return "measured" if "measured" in levels else "proved"

    @property
    def gap(self) -> float:
        return max((piece.gap for piece in self.pieces), default=0.0)

    @property
    def residuals(self) -> tuple[float, ...]:
        return tuple(residual for piece in self.pieces for residual in piece.residuals)

    @property
    def complete(self) -> bool | None:
        known = [piece.complete for piece in self.pieces]
        return None if None in known else all(known)

    def __str__(self) -> str:
        return (
            f"{self.level}: {len(self.pieces)} pieces, each on its own optimal to "
            f"{self.gap:.2g} or better; how they lie to one another means nothing"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "level": self.level,
            "gap": self.gap,
            "complete": self.complete,
            "verdict": str(self),
            "pieces": [piece.to_dict() for piece in self.pieces],
        }
