"""One method on one table: its estimator, fitted, with its certificate and quality."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.input_table import (
    duplicate_remarks,
    max_coordinates,
    refuse_too_many_coordinates,
)
from dualfold.exploration.verdict_words import short_verdict, verdict
from dualfold.graph.metric_names import SET_METRICS
from dualfold.methods.descriptions import DESCRIPTIONS, Description

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.neighbor_cache import NeighborCache
    from dualfold.view.figures import Panel

# Neighbours that are counted again in the map.
SCORED_NEIGHBORS = 10
# A map is drawn, so it has two coordinates unless somebody asks for others.
DEFAULT_N_COMPONENTS = 2
# Of a dense decomposition, which takes about a tenth of a second.
MAX_QUICK_FLOPS = 5e9


@functools.cache
def estimator_defaults(method: str) -> dict[str, Any]:
    """What each parameter of a method's estimator is by its signature; loads the numerics."""
    signature = inspect.signature(DESCRIPTIONS[method].estimator_class())
    return {name: one.default for name, one in signature.parameters.items()}


@dataclass(frozen=True)
class Job:
    """A method with its options.

    n_components : None where nobody asks: two, or one where a table allows no more
    options : parameters of its estimator that were given; the description has the others
    """

    method: Description
    n_components: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Job:
        """The job with stored settings."""
        row = DESCRIPTIONS[settings["method"]]
        return cls(row, settings.get("n_components", 2), row.options_of_stored(settings))

    def settings(self) -> dict[str, Any]:
        """What must be known to state the same problem again, JSON-ready."""
        known = self.parameters
        names = [*self.method.options, *({"left_out"} & self.options.keys())]
        chosen = {name: known[name] for name in names}
        return {"method": self.method.name, "n_components": self.coordinates} | chosen

    @property
    def coordinates(self) -> Any:
        """How many there will be, or the word that lets the data decide."""
        return DEFAULT_N_COMPONENTS if self.n_components is None else self.n_components

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of its estimator: as given, by the description, or by the signature."""
        return estimator_defaults(self.method.name) | self._chosen_parameters

    @property
    def _chosen_parameters(self) -> dict[str, Any]:
        return {"n_components": self.coordinates} | self.method.estimator_parameters(self.options)

    def estimator(self, **more: Any) -> Any:
        """The estimator that does it, not fitted; `more` are further parameters."""
        return self.method.estimator_class()(**self._chosen_parameters, **more)

    @property
    def n_neighbors(self) -> int | None:
        """Those of its graph; None where it has no graph, or by a radius."""
        return self.parameters["n_neighbors"] if self.method.needs_graph else None

    @property
    def of_distances(self) -> bool:
        """Whether the table holds distances, not features."""
        return self.options.get("metric") == "precomputed"

    @property
    def of_sets(self) -> bool:
        """Whether the rows are compared as sets, their columns being 0 and 1."""
        return self.options.get("metric") in SET_METRICS

    @property
    def of_features(self) -> bool:
        """Whether columns are measurements of the rows: neither distances nor counts."""
        return not self.of_distances and not self.method.counts

    @property
    def uses_labels(self) -> bool:
        """Whether it learns from classes."""
        return "labels" in self.method.needs or bool(self._chosen_parameters.get("supervised"))

    def by_manhattan(self) -> Job:
        """The same by the Manhattan distance, which is Gower's of a table scaled for it."""
        if "metric" not in self.method.options:
            able = [row.name for row in DESCRIPTIONS.values() if "metric" in row.options]
            raise InvalidInput(
                Argument("mixed", "gower"),
                f" gives distances, and {self.method.name} needs columns; take one of "
                f"{', '.join(able)}, or ",
                Argument("mixed", "famd"),
            )
        return replace(self, options={**self.options, "metric": "manhattan"})

    def for_table(self, data: Prepared) -> tuple[Job, list[str]]:
        """The job with what is left to a table: how many coordinates, how many neighbours."""
        job, remarks = self.for_rows(data.X.shape[0])
        if job.n_components is not None:
            return job, remarks
        most = max_coordinates(data, job.method)
        job = replace(job, n_components=min(DEFAULT_N_COMPONENTS, most))
        return job, remarks if most > 1 else [*remarks, _one_coordinate_remark(data)]

    def for_rows(self, n: int) -> tuple[Job, list[str]]:
        """The job for n rows: by default no more neighbours than there are other rows."""
        if n >= 2 and not {"n_neighbors", "perplexity"} & self.options.keys():
            usual = self.parameters.get("perplexity", 0)
            if n <= usual:  # a third of the others, the most that other programs take
                # Short enough to be printed as it is, and never below one neighbour.
                third = max((n - 1) * 10 // 3, 10) / 10
                return self._with_fewer("perplexity", third, n, "a perplexity of")
        most = None if "n_neighbors" in self.options else self.n_neighbors
        if most is None or not 2 <= n <= most:
            return self, []
        return self._with_fewer("n_neighbors", n - 1, n, "a number of neighbours of")

    def _with_fewer(self, name: str, value: float, n: int, words: str) -> tuple[Job, list[str]]:
        usual = self.parameters[name]
        remark = f"{self.method.name}: {n} rows get {words} {value:.3g}, not the usual {usual:g}"
        return replace(self, options={**self.options, name: value}), [remark]

    def with_weights(self, weights: Any) -> dict[str, Any]:
        """Weights of rows by the argument of `fit` that takes them; {} for None."""
        from dualfold.weights.row_weights import fit_weights

        return fit_weights(self.method, weights, "weight")

    def as_fitted(self, estimator: Any) -> Job:
        """The job with what fitting decided: rows left out of the problem."""
        decided = getattr(estimator, "found_parameters", dict)
        return replace(self, options={**self.options, **decided()})


@dataclass(frozen=True, eq=False)
class FittedMap:
    """A map and all that came with it.

    columns : names of the columns that it was made of
    """

    job: Job
    estimator: Any
    points: Any
    notices: tuple[str, ...]
    seconds: float
    columns: tuple[str, ...] = ()

    @property
    def certificate(self) -> Any:
        return self.estimator.certificate_

    @property
    def values(self) -> list[float]:
        """The eigenvalues; none where nothing is optimised."""
        return [float(value) for value in getattr(self.estimator, "eigenvalues_", ())]

    @property
    def pieces(self) -> int | None:
        """How many pieces the graph had before they were joined; None without a graph."""
        if not self.job.method.needs_graph:
            return None
        joined = len(self.estimator.graph_.links) + 1
        return max(joined, int(self.estimator.n_connected_components_))

    @property
    def solved(self) -> str:
        """How far the problem was solved, in a sentence."""
        return verdict(self.job.method, self.certificate, self.points.shape[1])

    @property
    def variance_shares(self) -> list[float] | None:
        """The share of variance or inertia that each axis explains; None where axes do not."""
        named = f"explained_{self.job.method.explains}_ratio_"
        ratios = getattr(self.estimator, named, None)
        return None if ratios is None else [float(ratio) for ratio in ratios]

    @property
    def column_points(self) -> dict[str, Any] | None:
        """Places of the columns of a table of counts, by name; None where a map has none."""
        if not self.job.method.counts:
            return None
        return dict(zip(self.columns, self.estimator.column_embedding_, strict=True))

    @property
    def axis_titles(self) -> list[str]:
        """For pictures: the method's name, the number of the axis, what it explains."""
        from dualfold.quality.picture import percent

        titles = [f"{self.job.method.name} {axis + 1}" for axis in range(self.points.shape[1])]
        of = f"of the {self.job.method.explains}"
        shares = [f" ({percent(share)} {of})" for share in self.variance_shares or ()]
        return [a + b for a, b in zip(titles, shares, strict=True)] if shares else titles

    @property
    def axis_names(self) -> list[str]:
        return [f"{self.job.method.name}_{axis + 1}" for axis in range(self.points.shape[1])]

    def panel(self, color: Any, shown: str) -> Panel:
        """The map in a picture of several; `shown` says in a few words what it shows."""
        from dualfold.view.figures import Panel

        method = self.job.method
        words = f"{short_verdict(self.certificate)}\n{shown}"
        return Panel(self.points[:, :3], color, method.name, words, method.lengths)


def _one_coordinate_remark(data: Prepared) -> str:
    n, width = data.X.shape
    why = f"the table has {n} rows"
    if width == 1:
        why = f"'{data.names[0]}' is the only column that can be used"
    return f"{why}, so the map has one coordinate: a line, drawn as a strip"


def fit_map(job: Job, data: Prepared, listener: Listener, cache: NeighborCache) -> FittedMap:
    """Fit the method and note what happens; neighbours that are cached are not searched again."""
    job, remarks = job.for_table(data)
    estimator = job.estimator()
    refuse_too_many_coordinates(data, job.n_components, job.method)
    if not job.of_distances:
        remarks += duplicate_remarks(data.X, job.n_components, job.n_neighbors)
    for remark in remarks:
        listener.note(remark)
    notices = list(remarks)
    begin = perf_counter()
    with listener.note_warnings(notices):
        if job.method.needs_graph:
            estimator.set_params(graph=cache.graph_for(estimator))
        with listener.stage(job.method.name):
            points = estimator.fit_transform(data.X, data.classes, **job.with_weights(data.weights))
        if job.method.needs_graph:
            cache.add_graph_of(estimator)
    seconds = perf_counter() - begin
    made = job.as_fitted(estimator)
    return FittedMap(made, estimator, points, tuple(notices), seconds, data.names)
