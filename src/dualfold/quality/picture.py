"""Is a map a good picture? Neighbours kept compared with chance and other maps, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.quality.estimate import Estimate, limits_of, mean_estimate

# Where words change, in shares of what a random map loses: conventions, chosen by maps that
# people call good or bad (docs/dev/notes/quality.md).
GRADE_THRESHOLDS = (
    (0.5, "good"),
    (0.2, "fair"),
    (0.05, "poor"),
    (-1e9, "hardly any"),
)
MIN_FAIR_SHARE = GRADE_THRESHOLDS[1][0]
# A map with fewer places than this share of the different rows cannot be good.
MIN_PLACES_SHARE = 0.5
# A smaller share is what rounding leaves of zero.
ROUNDING_SHARE = 1e-12
AS_PREPARED = "in the table as it was prepared"


@dataclass(frozen=True)
class Picture:
    """Neighbourhoods that a map keeps, as a share and in words.

    kept : the share of the k nearest neighbours that are the k nearest on the map, too
    n, n_neighbors : of the rows that were judged
    rivals : what other maps of the same rows keep, by name
    space : where neighbours were counted, in words; "" for the table as methods take it
    chance_share : what a random map keeps, where ties in the data make it more than k/(n − 1)
    places, distinct_rows : different places of the map and different rows of the data; None:
        not counted. Where more than k rows share a place on average, or different rows do, the
        map does not say who is near whom, and is not good.
    filled_share : of the cells of the table, those that were filled in; `kept` is then the mean
        over plausible fillings, with limits that hold all of them
    doubt : why these say nothing, in words; "" where they do

    >>> print(Picture(0.02, 10_001, 10))
    Hardly any: it keeps 2 % of the 10 nearest neighbours (a random map: 0.1 %).
    """

    kept: float
    n: int
    n_neighbors: int
    rivals: Mapping[str, float] = field(default_factory=dict)
    space: str = ""
    chance_share: float | None = None
    filled_share: float = 0.0
    doubt: str = ""
    places: int | None = None
    distinct_rows: int | None = None

    @property
    def chance(self) -> float:
        """Share of neighbours that a random map keeps."""
        untied = self.n_neighbors / (self.n - 1)
        return untied if self.chance_share is None else self.chance_share

    @property
    def beyond_chance(self) -> float:
        """0: as a random map, 1: all are kept (R_NX of this neighbourhood).

        Where all rows are equally far every map keeps all.
        """
        left = 1 - self.chance
        return (float(self.kept) - self.chance) / left if left > 0 else 1.0

    @property
    def sampled(self) -> int:
        """Number of rows that were measured; all, unless `kept` is an estimate."""
        return self.kept.sampled if isinstance(self.kept, Estimate) else self.n

    @property
    def grade(self) -> str:
        """good, fair, poor, hardly any; or that it cannot be judged."""
        if self.doubt:
            return "cannot be judged"
        word = next(word for least, word in GRADE_THRESHOLDS if self.beyond_chance >= least)
        return "fair" if word == "good" and self.has_few_places else word

    @property
    def has_few_places(self) -> bool:
        """Whether rows share places, so that the map cannot say which of them are near."""
        if self.places is None:
            return False
        different = self.n if self.distinct_rows is None else self.distinct_rows
        return self.places < MIN_PLACES_SHARE * different or self.places * self.n_neighbors < self.n

    @property
    def is_judged(self) -> bool:
        """Whether maps can differ: not where all rows are equally far, or most cells filled."""
        return self.chance < 1 and not self.doubt

    @property
    def poor(self) -> bool:
        """Whether this must be reported before anything else."""
        return bool(self.doubt) or self.beyond_chance < MIN_FAIR_SHARE

    @property
    def best_rival(self) -> str | None:
        """Name of the other map that keeps most."""
        return max(self.rivals, key=lambda name: self.rivals[name], default=None)

    def __str__(self) -> str:
        beside = f"a random map: {percent(self.chance)}"
        if self.best_rival is not None:
            beside += f"; {self.best_rival}: {percent(self.rivals[self.best_rival])}"
        where = f" {self.space}" if self.space else ""
        which = "nearest" if self.n_neighbors == 1 else f"{self.n_neighbors} nearest"
        if self.chance >= 1:
            return (
                f"It cannot be judged: every map keeps all neighbours{where}, for no row is nearer "
                "than another."
            )
        if self.doubt:
            return f"It cannot be judged: {self.doubt}."
        return (
            f"{self.grade.capitalize()}: it keeps {percent(self.kept)} of the {which} "
            f"neighbours{where} ({beside}).{self._words_of_places()}{self._words_of_filling()}"
        )

    def _words_of_filling(self) -> str:
        if not self.filled_share:
            return ""
        limits = limits_of(self.kept)
        low, high = (percent(limit) for limit in limits)
        between = low if low == high else f"{low} to {high}"
        return (
            f" {percent(self.filled_share)} of the cells were filled in; this is the mean over "
            f"plausible fillings ({between})."
        )

    def _words_of_places(self) -> str:
        if not self.has_few_places:
            return ""
        rows = self.n if self.distinct_rows is None else self.distinct_rows
        different = "" if rows == self.n else f", {rows} of them different,"
        return f" Its {self.n} rows{different} lie on {self.places} places only."

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "grade": self.grade,
            "kept": float(self.kept),
            "chance": self.chance,
            "beyond_chance": self.beyond_chance,
            "n_neighbors": self.n_neighbors,
            "sampled": self.sampled,
            "tried": {name: float(value) for name, value in self.rivals.items()},
            "space": self.space or AS_PREPARED,
            "filled_share": self.filled_share,
            "text": str(self),
        }


def mean_picture(
    pictures: Sequence[Picture], filled_share: float = 0.0, doubt: str = ""
) -> Picture:
    """Mean of pictures of a map, by several plausible fillings of its table.

    filled_share, doubt : as in `Picture`
    """
    first = pictures[0]
    return replace(
        first,
        kept=mean_estimate([picture.kept for picture in pictures], first.n),
        chance_share=float(np.mean([picture.chance for picture in pictures])),
        filled_share=filled_share,
        doubt=doubt,
    )


def percent(share: float) -> str:
    """A share as a reader wants it: two digits below 10 %, none of rounding errors."""
    share = 0.0 if abs(share) < ROUNDING_SHARE else share
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


class Meaning(NamedTuple):
    """A measure's best and worst value (or that of a random map), and a few words."""

    best: float
    worst: float
    short: str


MEASURE_MEANINGS = {
    "t_similarity": Meaning(1, 0, "share of nearest neighbours kept"),
    "trustworthiness": Meaning(1, 0, "neighbours on the map are real"),
    "continuity": Meaning(1, 0, "real neighbours are on the map"),
    "rank_error_intruders": Meaning(0, 1, "relative rank error of neighbours on the map"),
    "rank_error_lost": Meaning(0, 1, "relative rank error of real neighbours"),
    "lcmc": Meaning(1, 0, "neighbours kept beyond chance"),
    "r_nx_area": Meaning(1, 0, "neighbours kept beyond chance, over all sizes up to max_rank"),
    "local_distortion": Meaning(0, 1, "change of shape of neighbourhoods"),
    "density_correlation": Meaning(1, -1, "dense regions are dense on the map"),
    "stress": Meaning(0, 1, "relative error of distances, at the best scale"),
    "nonmetric_stress": Meaning(0, 1, "error in the order of distances"),
    "distance_correlation": Meaning(1, -1, "correlation of distances before and after"),
    "residual_variance": Meaning(0, 1, "1 - correlation of distances, squared"),
    "geodesic_residual_variance": Meaning(0, 1, "the same against geodesics of the graph"),
    "silhouette": Meaning(1, -1, "classes are apart on the map"),
    "neighborhood_hit": Meaning(1, 0, "share of neighbours on the map that are of one class"),
    "knn_accuracy": Meaning(1, 0, "neighbours on the map name the class"),
    "knn_accuracy_before": Meaning(1, 0, "neighbours in the data name the class"),
}

# Where words change: conventions (docs/dev/notes/quality.md); a random map scores 0.5.
_TRUST_WORDS = (
    (0.95, "can be believed"),
    (0.85, "can mostly be believed"),
    (0.7, "need a second look"),
    (-np.inf, "cannot be believed"),
)
_CONTINUITY_WORDS = (
    (0.95, "stays together"),
    (0.85, "mostly stays together"),
    (0.7, "is torn in places"),
    (-np.inf, "is torn apart"),
)
_DISTANCE_WORDS = (
    (0.9, "Distances on the map mean what they seem to"),
    (0.7, "Distances on the map are a rough guide"),
    (0.4, "Distances on the map say little"),
    (-np.inf, "Distances on the map say next to nothing"),
)


def verdict_of(measures: dict[str, float], per_point: dict[str, Array], picture: Picture) -> str:
    """A few sentences: neighbours, tears, distances, classes, where to be careful."""
    sentences = [
        str(picture),
        f"Neighbours seen on the map {_word(_TRUST_WORDS, measures['trustworthiness'])} "
        f"(trustworthiness {measures['trustworthiness']:.3f}), and what was near in the data "
        f"{_word(_CONTINUITY_WORDS, measures['continuity'])} (continuity "
        f"{measures['continuity']:.3f}).",
        f"{_word(_DISTANCE_WORDS, measures['distance_correlation'])} "
        f"(correlation {measures['distance_correlation']:.2f}, stress {measures['stress']:.2f}).",
    ]
    if "knn_accuracy" in measures:
        sentences.append(
            f"Neighbours name the class of {percent(measures['knn_accuracy'])} of the points on "
            f"the map, of {percent(measures['knn_accuracy_before'])} in the data."
        )
    trust = per_point["trustworthiness"]
    trust = trust[np.isfinite(trust)]
    worst = float(np.quantile(trust, 0.1)) if len(trust) else 1.0
    if worst < 0.95 and worst < float(measures["trustworthiness"]) - 0.05:
        sentences.append(
            f"The map is uneven: a tenth of the points have a trustworthiness below {worst:.2f}; "
            "colour it by the trustworthiness of each point to see which."
        )
    return " ".join(sentences)


def _word(scale: tuple[tuple[float, str], ...], value: float) -> str:
    return next(words for least, words in scale if value >= least)
