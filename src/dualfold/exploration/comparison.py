"""Several methods on one table: their maps, measured and judged side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dualfold.errors import DualfoldError, InvalidInput, Message
from dualfold.exploration.fitted_map import FittedMap, fit_map
from dualfold.exploration.map_judgement import judgement_of_points, mean_quality
from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.exploration.plan import SCORED_NEIGHBORS, Plan
from dualfold.exploration.verdict_words import short_verdict
from dualfold.judging import Judgement
from dualfold.quality import QualityReport
from dualfold.quality.estimate import sample_size
from dualfold.quality.map_layout import LAYOUT_WORDS, SHOWN_GRADES
from dualfold.quality.picture import percent

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener

COMPARED_MEASURES = ("t_similarity", "trustworthiness", "continuity", "distance_correlation")
NUMBER_HEADS = ("neighbours kept", "trustworthiness", "continuity", "distances", "seconds")


@dataclass(frozen=True, eq=False)
class ComparedMap:
    """Map of one method, measured and judged."""

    fitted: FittedMap
    quality: QualityReport
    judgement: Judgement

    @property
    def method(self) -> str:
        return self.fitted.plan.method.name

    @property
    def kept(self) -> float:
        """Share of the nearest neighbours that it keeps."""
        return float(self.quality.measures["t_similarity"])

    @property
    def holds(self) -> bool:
        """Whether the method's problem is solved to the tolerance."""
        return bool(self.fitted.certificate.holds)

    @property
    def cells(self) -> list[str]:
        """In the table on standard output."""
        measures = [f"{float(self.quality.measures[name]):.3f}" for name in COMPARED_MEASURES]
        words = [answer.cell for answer in self.judgement.answers if answer.column]
        proof = short_verdict(self.fitted.certificate)
        return [self.method, *measures, f"{self.fitted.seconds:.2f}", *words, proof]

    def to_dict(self, others: Mapping[str, float]) -> dict[str, object]:
        """JSON-ready.

        others : what the maps of other methods keep, by name
        """
        fitted, quality = self.fitted, self.quality
        picture = replace(quality.picture, rivals=others)
        return {
            "method": self.method,
            **{name: float(quality.measures[name]) for name in COMPARED_MEASURES},
            "sampled": quality.sampled,
            "picture_quality": picture.to_dict() | {"sampled": quality.sampled},
            "map_verdict": self.judgement.to_dict(),
            "certificate": fitted.certificate.to_dict(),
            "short_verdict": short_verdict(fitted.certificate),
            "verdict": fitted.solved,
            "explained_variance_ratio": fitted.variance_shares,
            "settings": fitted.plan.settings(),
            "seconds": fitted.seconds,
        }


@dataclass(frozen=True)
class FailedMap:
    """Method that gave no map, and why."""

    method: str
    reason: str
    holds: bool = False

    def to_dict(self, others: Mapping[str, float]) -> dict[str, object]:
        """JSON-ready."""
        return {"method": self.method, "error": self.reason}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one table.

    rows : a map of each method, or why there is none
    """

    data: Prepared
    neighbors: NeighborCache
    rows: Sequence[ComparedMap | FailedMap]

    @property
    def heads(self) -> tuple[str, ...]:
        """Heads of the columns of its table; those of numbers stand after the first."""
        words = [answer.column for answer in self.maps[0].judgement.answers if answer.column]
        return ("method", *NUMBER_HEADS, *words, "certificate")

    @property
    def cells(self) -> list[list[str]]:
        """Rows of its table; of a method without a map the name and the reason."""
        empty = [""] * (len(self.heads) - 2)
        return [
            row.cells
            if isinstance(row, ComparedMap)
            else [row.method, *empty, f"no map: {row.reason}"]
            for row in self.rows
        ]

    @property
    def n_numbers(self) -> int:
        """Number of columns of its table that hold numbers."""
        return len(NUMBER_HEADS)

    def with_reasons(self, words: Callable[[str], str]) -> Comparison:
        """Comparison whose reasons are as `words` puts them."""
        rows = [
            replace(row, reason=words(row.reason)) if isinstance(row, FailedMap) else row
            for row in self.rows
        ]
        return replace(self, rows=rows)

    @property
    def maps(self) -> list[ComparedMap]:
        return [row for row in self.rows if isinstance(row, ComparedMap)]

    @property
    def best(self) -> ComparedMap:
        """The map that keeps most neighbours."""
        return max(self.maps, key=lambda row: row.kept)

    @property
    def results(self) -> list[dict[str, object]]:
        """JSON-ready: each map beside the others."""
        kept = {row.method: row.kept for row in self.maps}
        return [
            row.to_dict({name: share for name, share in kept.items() if name != row.method})
            for row in self.rows
        ]

    @property
    def verdict(self) -> str:
        """Which map answers which of the three questions best."""
        near, picture = self.best.method, self.best.quality.picture
        numbers = f"({percent(picture.kept)}; a random map: {percent(picture.chance)})"
        if picture.grade in SHOWN_GRADES:
            parts = [f"Who is near whom: {near} keeps most neighbours {numbers}"]
        else:
            parts = [f"None of these maps keeps many neighbours; {near} keeps most {numbers}"]
        order = max(self.maps, key=_order_rank)
        word = order.judgement.order_grade
        shows = f"{order.method} shows most ({word})"
        parts.append(f"Overall order: {shows if word in SHOWN_GRADES else 'none of them shows it'}")
        first = max(self.maps, key=lambda row: row.judgement.group_counts[0])
        found, visible = first.judgement.group_counts
        if found:
            counts = f"{found} of {visible} visible ones are in the data"
            parts.append(f"Groups: {first.method} shows most ({counts})")
        return ". ".join(parts) + "."


def _order_rank(row: ComparedMap) -> tuple[int, float]:
    """By which maps are compared for overall order: the grade first, then its number."""
    return -LAYOUT_WORDS.index(row.judgement.order_grade), row.judgement.order_strength


def compared_maps(
    plans: Sequence[Plan], data: Prepared, listener: Listener, *, named: bool
) -> Comparison:
    """Run each method, measure and judge its map.

    named : whether axes and groups are put into words
    """
    least = neighbors_to_measure(data, SCORED_NEIGHBORS, whole=True)
    cache = NeighborCache(data, plans, listener, least)
    rows = list[ComparedMap | FailedMap]()
    for number, plan in enumerate(plans):
        name = plan.method.name
        listener.prefix = f"{number + 1} of {len(plans)}, "
        try:
            earlier = [row.fitted for row in rows if isinstance(row, ComparedMap)]
            fitted = fit_map(plan, data, listener, cache, earlier)
        except (DualfoldError, MemoryError) as error:
            reason = error.message if isinstance(error, DualfoldError) else "out of memory"
            rows.append(FailedMap(name, reason))
            listener.note(Message(f"{name}: ", reason))
            continue
        rows.append(_measured_map(fitted, data, cache, listener, named=named))
    listener.prefix = ""
    comparison = Comparison(data, cache, rows)
    if not comparison.maps:
        raise InvalidInput("none of the methods gave a map; see the notes above")
    return comparison


def _measured_map(
    fitted: FittedMap, data: Prepared, cache: NeighborCache, listener: Listener, *, named: bool
) -> ComparedMap:
    """All measures of a map and its judgement; with names of axes and groups where `named`."""
    points, of_distances = fitted.points, fitted.plan.of_distances
    with listener.stage(f"measuring {fitted.plan.method.name}"):
        sample = sample_size(len(points))
        quality = mean_quality(
            points, data, cache, n_neighbors=SCORED_NEIGHBORS, sample=sample, kruskal=False
        )
    judgement = judgement_of_points(
        points, quality.picture, data, cache, listener, of_distances=of_distances, named=named
    )
    return ComparedMap(fitted, quality, judgement)
