"""What an experiment is and what it finds: the paper's number beside ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypeVar

import numpy as np

from dualfold.data import digits, mnist
from dualfold.data.data_sets import DataSet
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
    """Paper among the five, as the report names it: by its `letter`, `author` and `title`."""

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
    """Size of a run of experiments, and its seed.

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


Kind = Literal["number", "claim", "theorem", "identity"]
# What is said of a row that holds, and of one that does not.
VERDICTS: dict[Kind, tuple[str, str]] = {
    "number": ("reproduced", "not reproduced"),
    "claim": ("confirmed", "not confirmed"),
    "theorem": ("holds", "FAILS"),
    "identity": ("holds", "FAILS"),
}


@dataclass(frozen=True)
class Row:
    """Quantity that was measured with this package, and what it is held against.

    what: what is measured.
    kind: "number", a number that the paper prints; "claim", what the paper says of the matter;
        "theorem", what is proved, checked on our code; "identity", two ways to compute one
        thing; None for what only belongs to the picture.
    paper: what the paper says, or the theorem; None for what only belongs to the picture.
    ours: what came out.
    judge: whether a value is as `paper` has it; a row holds when it says so of `ours`.
    note: the tolerance and where it comes from, or what the claim was taken to mean.
    """

    what: str
    kind: Kind | None
    paper: float | str | None
    ours: float | str
    judge: Callable[[Any], bool] | None = field(default=None, compare=False, repr=False)
    note: str = ""

    @cached_property
    def holds(self) -> bool | None:
        """Answer of `judge` to `ours`: NumPy's False is False here, and NaN holds nowhere."""
        if self.judge is None:
            return None
        if not isinstance(self.ours, str) and np.isnan(self.ours):
            return False
        return bool(self.judge(self.ours))

    @property
    def verdict(self) -> str:
        """The judgement in words; nothing where there is none."""
        return "" if self.kind is None else VERDICTS[self.kind][0 if self.holds else 1]

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, where both are numbers."""
        if isinstance(self.paper, str) or isinstance(self.ours, str) or self.paper is None:
            return None
        return float(self.ours) - float(self.paper)


def number(what: str, paper: float, ours: SupportsFloat, within: float, why: str) -> Row:
    """A number that the paper prints; `why` says where the tolerance comes from."""
    note = f"within {_short(within)}: {why}" if within else f"equal: {why}"
    return Row(what, "number", paper, float(ours), _near(paper, within), note)


def claim(
    what: str,
    says: float | str,
    ours: SupportsFloat | str,
    means: Callable[[Any], bool],
    why: str = "",
) -> Row:
    """Claim of the paper; `means` is the test that its words were taken to mean."""
    value = ours if isinstance(ours, str) else float(ours)
    return Row(what, "claim", says, value, means, why)


def theorem(
    what: str,
    ours: SupportsFloat,
    *,
    equals: float | None = None,
    within: float = 0.0,
    at_most: float | None = None,
    at_least: float | None = None,
    about: str = "",
) -> Row:
    """Theorem, checked on our code: a value, or a bound (`within` is for rounding)."""
    value = float(ours)
    if equals is not None:
        note = "; ".join(filter(None, (f"within {_short(within)}", about)))
        return Row(what, "theorem", equals, value, _near(equals, within), note)
    if at_most is not None:
        top = at_most + within
        return Row(what, "theorem", f"≤ {_short(at_most)}", value, lambda x: x <= top, about)
    assert at_least is not None
    low = at_least - within
    return Row(what, "theorem", f"≥ {_short(at_least)}", value, lambda x: x >= low, about)


def identity(
    what: str, ours: SupportsFloat, limit: float, *, equals: float = 0.0, about: str = ""
) -> Row:
    """Two ways to compute one thing, one of them this package's: ours is how far they are apart."""
    note = f"within {_short(limit)}" if limit else "equal"
    note = f"{note}; {about}" if about else note
    return Row(what, "identity", equals, float(ours), _near(equals, limit), note)


def also(what: str, ours: SupportsFloat | str, note: str = "") -> Row:
    """A number that belongs to the picture and is held against nothing."""
    return Row(what, None, None, ours if isinstance(ours, str) else float(ours), note=note)


def _near(wanted: float, limit: float) -> Callable[[Any], bool]:
    return lambda value: abs(value - wanted) <= limit


def _short(value: float) -> str:
    return f"{value:.2g}".replace("e-0", "e-")


@dataclass(frozen=True, eq=False)
class Finding:
    """Outcome of one experiment.

    sentence: what is to be seen, in words made from the numbers of this run.
    rows: the table, and what is only measured beside it.
    figures: (caption, matplotlib figure) in the order to be shown.
    notes: sizes, seeds, stand-ins: what a reader needs to judge it.
    """

    sentence: str
    rows: tuple[Row, ...]
    figures: tuple[tuple[str, Figure], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Row, ...]:
        """Theorems and identities that do not hold: here something is wrong with our code."""
        return tuple(r for r in self.rows if r.kind in ("theorem", "identity") and not r.holds)

    @property
    def unconfirmed(self) -> tuple[Row, ...]:
        """Numbers that did not come out and claims that were not confirmed: about the paper."""
        return tuple(r for r in self.rows if r.kind in ("number", "claim") and not r.holds)


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
                    "kind": row.kind,
                    "paper": row.paper,
                    "ours": row.ours,
                    "difference": row.difference,
                    "holds": row.holds,
                    "verdict": row.verdict,
                    "note": row.note,
                }
                for row in self.finding.rows
            ],
        }
