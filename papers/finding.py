"""What an experiment is and what it finds: the paper's number beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeVar

import numpy as np

from dualfold.data import DataSet, digits, mnist
from dualfold.errors import DataUnavailable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
Size = Literal["brief", "quick", "full"]
STAND_IN = (
    "MNIST was not found (DUALFOLD_MNIST may name a file of it): scikit-learn's 8×8 digits are "
    "used instead, so numbers differ."
)


@dataclass(frozen=True)
class Paper:
    """One of the five papers, as the report names it: by its `letter`, `author` and `title`."""

    letter: str
    author: str
    title: str


PAPERS = (
    Paper("T", "Tucker", "PCA, eigenmaps, Isomap and the Fenchel game"),
    Paper("D", "Draganov", "PCA as gradient descent on the points"),
    Paper("C", "Cunha", "spectral methods from the view of duality; unfolding"),
    Paper("K", "Kokiopoulou", "trace optimisation and eigenproblems (notes on the paper)"),
    Paper("S", "Shin", "decompositions, convex optimisation, PCA (three lectures)"),
)


@dataclass(frozen=True)
class Setting:
    """How large an experiment is run, and from which seed.

    "quick" is what a reader waits for (a few minutes for everything), "full" the papers'
    own sizes and beyond, "brief" the smallest run that still shows the effect, for tests.
    """

    size: Size = "quick"
    seed: int = 0

    def of(self, brief: T, quick: T, full: T) -> T:
        """The value for this size."""
        return {"brief": brief, "quick": quick, "full": full}[self.size]

    def random(self) -> np.random.Generator:
        """A fresh generator; the same numbers in every run."""
        return np.random.default_rng(self.seed)

    @cached_property
    def images(self) -> DataSet:
        """MNIST, all of it; the small digits where it cannot be had (see `stand_in`)."""
        try:
            return mnist()
        except DataUnavailable:
            return digits()

    @property
    def stand_in(self) -> str:
        """A note when the digits replace MNIST, else nothing."""
        return "" if self.images.shape == (28, 28) else STAND_IN


@dataclass(frozen=True)
class Row:
    """One number (or word) of a paper beside ours.

    what: what is measured.
    paper: what the paper says; None where it gives no number.
    ours: what came out.
    holds: whether ours agrees with the paper or, where the paper is silent or wrong, with
        what is proved or known; None where there is nothing to agree with.
    note: what agreement means here (a tolerance, a bound), or why there is none.
    """

    what: str
    paper: float | str | None
    ours: float | str
    holds: bool | None = None
    note: str = ""

    def __post_init__(self) -> None:
        # NumPy's False is not False: a row that does not hold would pass unseen.
        if self.holds is not None:
            object.__setattr__(self, "holds", bool(self.holds))

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, where both are numbers."""
        if isinstance(self.paper, str) or isinstance(self.ours, str) or self.paper is None:
            return None
        return float(self.ours) - float(self.paper)


def agrees(
    what: str, ours: SupportsFloat, limit: float, *, paper: float = 0.0, about: str = ""
) -> Row:
    """A row that holds when ours is as near to the paper's number as `limit`."""
    near = f"within {limit:.0e}".replace("e-0", "e-") if limit else "equal"
    note = f"{near}; {about}" if about else near
    return Row(what, paper, float(ours), abs(float(ours) - paper) <= limit, note)


@dataclass(frozen=True, eq=False)
class Finding:
    """What one experiment showed.

    sentence: what is to be seen, in words made from the numbers of this run.
    rows: the table.
    figures: (caption, matplotlib figure) in the order to be shown.
    notes: sizes, seeds, stand-ins: what a reader needs to judge it.
    """

    sentence: str
    rows: tuple[Row, ...]
    figures: tuple[tuple[str, Figure], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows that do not hold."""
        return tuple(row for row in self.rows if row.holds is False)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper, and the function that makes it again.

    name: for the command line ("tucker-similarity").
    paper: the letter of the paper.
    place: where in the paper ("Figures 1 and 2").
    title: what it is about.
    run: makes it.
    """

    name: str
    paper: str
    place: str
    title: str
    run: Callable[[Setting], Finding]


@dataclass(frozen=True, eq=False)
class Done:
    """An experiment with what it found and how long it took."""

    experiment: Experiment
    finding: Finding
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the figures."""
        return {
            "name": self.experiment.name,
            "paper": self.experiment.paper,
            "place": self.experiment.place,
            "title": self.experiment.title,
            "seconds": self.seconds,
            "sentence": self.finding.sentence,
            "notes": list(self.finding.notes),
            "rows": [
                {
                    "what": row.what,
                    "paper": row.paper,
                    "ours": row.ours,
                    "difference": row.difference,
                    "holds": row.holds,
                    "note": row.note,
                }
                for row in self.finding.rows
            ],
        }
