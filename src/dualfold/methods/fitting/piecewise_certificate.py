"""The certificate of pieces that were embedded each on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualfold.certificate import DEFAULT_TOLERANCE, Certificate, Level, level_of

# Together they are as good as the worst of them: the first of these levels that a piece has.
WORST_FIRST: tuple[Level, ...] = (
    "failed",
    "not stationary",
    "stationary",
    "unresolved",
    "measured",
    "within reach",
    "within",
    "proved",
)


@dataclass(frozen=True, kw_only=True)
class PiecewiseCertificate(Certificate):
    """The certificates of pieces that were embedded each on its own; `print` it.

    Together they are as good as the worst of them: its level, and the largest gap. Value and
    bound are sums, since each piece is a problem of its own. Where the pieces lie to one
    another is only drawing, and nothing is said of it.

    pieces : the certificates, the largest piece first
    single_points : how many further pieces are single points, which have no problem
    """

    pieces: tuple[Certificate, ...]
    single_points: int = 0

    schema: ClassVar[str] = "dualfold.piecewise-certificate/1"

    @classmethod
    def of(cls, pieces: Sequence[Certificate], single_points: int = 0) -> PiecewiseCertificate:
        """Certificate of pieces together, beside `single_points` without one."""
        gap = max((piece.gap for piece in pieces), default=0.0)
        tolerance = min((piece.tolerance for piece in pieces), default=DEFAULT_TOLERANCE)
        # Single points alone have nothing to prove. A level that is not listed is an error.
        levels = {piece.level for piece in pieces} or {"proved"}
        worst: Level = min(levels, key=WORST_FIRST.index)
        known = [piece.complete for piece in pieces]
        words = f"{len(pieces) + single_points} pieces, each on its own"
        if single_points:
            words += f", {single_points} of them single points"
        words += "; how they lie to one another is free"
        return cls(
            # A gap above the smallest tolerance is never "proved".
            level=level_of(gap, tolerance) if worst == "proved" else worst,
            gap=gap,
            value=float(sum(piece.value for piece in pieces)),
            bound=float(sum(piece.bound for piece in pieces)),
            tolerance=tolerance,
            reasons=tuple(
                f"piece {number}: {reason}"
                for number, piece in enumerate(pieces, 1)
                for reason in piece.reasons
            ),
            about="; ".join([words, *dict.fromkeys(p.about for p in pieces if p.about)]),
            chance=min(1.0, sum(piece.chance for piece in pieces)),
            complete=None if None in known else all(known),
            pieces=tuple(pieces),
            single_points=single_points,
        )

    @property
    def statement(self) -> str:
        """Words on the gap of the worst piece, or its own statement where no gap is known."""
        if not self.pieces:
            return "single points have no neighbours to be near to, so that nothing was solved"
        if np.isfinite(self.gap):
            return f"every piece {super().statement} or better"
        worst = min(self.pieces, key=lambda piece: WORST_FIRST.index(piece.level))
        return f"the worst piece: {worst.statement}"
