"""Pieces that were embedded one by one, laid side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.embedding import Embedding
from dualfold.levels import Level, distance, level_of
from dualfold.trace.certificate import Certificate
from dualfold.unfolding.certificate import UnfoldingCertificate

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


# Together they are as good as the worst of them: the first of these levels that a piece has.
WORST_FIRST: tuple[Level, ...] = (
    "failed",
    "stationary",
    "unresolved",
    "measured",
    "within reach",
    "within",
    "proved",
)


@dataclass(frozen=True)
class PiecewiseCertificate:
    """One certificate a piece; together they are as good as the worst of them.

    Says nothing about where the pieces lie to one another: that is only drawing.

    pieces : the certificates, the largest piece first
    doubts : what is wrong with the whole, though every piece may be right
    """

    pieces: tuple[Certificate | UnfoldingCertificate, ...]
    doubts: tuple[str, ...] = ()

    @property
    def tolerance(self) -> float:
        """The largest gap that passes in every piece."""
        return min((piece.tolerance for piece in self.pieces), default=0.0)

    @property
    def level(self) -> Level:
        """The worst level of a piece; a gap above the tolerance is never "proved"."""
        levels = {piece.level for piece in self.pieces} | ({"failed"} if self.doubts else set())
        worst: Level = next((one for one in WORST_FIRST if one in levels), "proved")
        return level_of(self.gap, self.tolerance) if worst == "proved" else worst

    @property
    def gap(self) -> float:
        """The largest relative gap of a piece."""
        return max((piece.gap for piece in self.pieces), default=0.0)

    @property
    def value(self) -> float:
        """The sum of what the pieces reach: each is a problem of its own."""
        return float(sum(piece.value for piece in self.pieces))

    @property
    def bound(self) -> float:
        """The sum of what no answer to the pieces is better than."""
        return float(sum(piece.bound for piece in self.pieces))

    @property
    def chance(self) -> float:
        """The probability that a measured statement about any of the pieces is wrong."""
        return min(1.0, float(sum(piece.chance for piece in self.pieces)))

    @property
    def reasons(self) -> tuple[str, ...]:
        """What failed, and in which piece."""
        return self.doubts + tuple(
            f"piece {number}: {reason}"
            for number, piece in enumerate(self.pieces, 1)
            for reason in piece.reasons
        )

    @property
    def about(self) -> str:
        """What it is about, which is not all of the picture."""
        words = f"{len(self.pieces)} pieces, each on its own; how they lie to one another is free"
        own = dict.fromkeys(piece.about for piece in self.pieces if piece.about)
        return "; ".join([words, *own])

    @property
    def residuals(self) -> tuple[float, ...]:
        return tuple(residual for piece in self.pieces for residual in piece.residuals)

    @property
    def complete(self) -> bool | None:
        known = [piece.complete for piece in self.pieces]
        return None if None in known else all(known)

    def __str__(self) -> str:
        count = f"{len(self.pieces)} pieces, each on its own"
        if self.level in ("failed", "unresolved"):
            return f"{self.level}: {count}; " + "; ".join(self.reasons)
        but = f" but for a chance of {self.chance:.0e}" if self.level == "measured" else ""
        return (
            f"{self.level}: {count} optimal {distance(self.gap)} or better{but}; how they lie to "
            "one another means nothing"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings (infinite numbers become None)."""
        plain: dict[str, Any] = {
            "schema": "dualfold.piecewise-certificate/1",
            "level": self.level,
            "gap": self.gap,
            "value": self.value,
            "bound": self.bound,
            "chance": self.chance,
            "complete": self.complete,
            "tolerance": self.tolerance,
            "about": self.about,
            "reasons": list(self.reasons),
            "verdict": str(self),
            "pieces": [piece.to_dict() for piece in self.pieces],
        }
        return {
            key: None if isinstance(item, float) and not math.isfinite(item) else item
            for key, item in plain.items()
        }
