"""Is a map a good picture? Neighbours kept, beside chance and beside other maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Picture", "percent"]

# Where words change, in shares of what a random map loses. Conventions, not theorems: maps of
# images that people call good (t-SNE, UMAP of MNIST) keep 0.25 to 0.45, unrolled sheets 0.8 and
# more, and the first two principal components of MNIST 0.02.
GRADE_THRESHOLDS = (
    (0.5, "good"),
    (0.2, "fair"),
    (0.05, "poor"),
    (-1e9, "no picture of these data"),
)
# Maps that keep less than this say so before they say that the problem was solved.
MIN_FAIR_SHARE = GRADE_THRESHOLDS[1][0]
AS_PREPARED = "in the table as it was prepared"


@dataclass(frozen=True)
class Picture:
    """How much of its neighbourhoods a map keeps.

    kept : the share of the k nearest neighbours that are the k nearest on the map, too
    n, n_neighbors : of the rows that were judged
    rivals : what other maps of the same rows keep, by name
    space : where neighbours were counted, in words; "" for the table as methods take it

    >>> print(Picture(0.02, 10_001, 10))
    No picture of these data: it keeps 2 % of the 10 nearest neighbours (a random map: 0.1 %).
    """

    kept: float
    n: int
    n_neighbors: int
    rivals: Mapping[str, float] = field(default_factory=dict)
    space: str = ""

    @property
    def chance(self) -> float:
        """What a random map keeps."""
        return self.n_neighbors / (self.n - 1)

    @property
    def beyond_chance(self) -> float:
        """0: as a random map, 1: all are kept (R_NX of this neighbourhood)."""
        return (float(self.kept) - self.chance) / max(1 - self.chance, 1e-300)

    @property
    def grade(self) -> str:
        """good, fair, poor, or no picture of these data."""
        return next(word for least, word in GRADE_THRESHOLDS if self.beyond_chance >= least)

    @property
    def poor(self) -> bool:
        """Whether this must be said before anything else."""
        return self.beyond_chance < MIN_FAIR_SHARE

    @property
    def best_rival(self) -> str | None:
        """The other map that keeps most."""
        return max(self.rivals, key=lambda name: self.rivals[name], default=None)

    def __str__(self) -> str:
        beside = f"a random map: {percent(self.chance)}"
        if self.best_rival is not None:
            beside += f"; {self.best_rival}: {percent(self.rivals[self.best_rival])}"
        where = f" {self.space}" if self.space else ""
        which = "nearest" if self.n_neighbors == 1 else f"{self.n_neighbors} nearest"
        return (
            f"{self.grade.capitalize()}: it keeps {percent(self.kept)} of the {which} "
            f"neighbours{where} ({beside})."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "grade": self.grade,
            "kept": float(self.kept),
            "chance": self.chance,
            "beyond_chance": self.beyond_chance,
            "n_neighbors": self.n_neighbors,
            "sampled": getattr(self.kept, "sampled", self.n),
            "tried": {name: float(value) for name, value in self.rivals.items()},
            "space": self.space or AS_PREPARED,
            "text": str(self),
        }


def percent(share: float) -> str:
    """A share as a reader wants it: two digits below 10 %."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
