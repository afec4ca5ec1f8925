"""A method with its options, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.input_table import (
    max_coordinates,
    read_input,
    reading_for,
    refuse_scaled_distances,
)
from dualfold.graph.metric_names import SET_METRICS
from dualfold.methods.descriptions import DESCRIPTIONS, Description
from dualfold.weights.row_weights import fit_weights

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading
    from dualfold.exploration.listener import Listener
    from dualfold.judging.recommendation import Recommendation

# Neighbours that are counted again in the map.
SCORED_NEIGHBORS = 10
# A map is drawn, so it has two coordinates unless somebody asks for others.
DEFAULT_N_COMPONENTS = 2


@dataclass(frozen=True)
class Plan:
    """A method with its options for a table, before anything is fitted.

    n_components : None where nobody asks: two, or one where a table allows no more
    options : parameters of its estimator that were given; the description has the others
    table : the table, where it was read to choose the method
    advice : the recommendation behind "auto"
    """

    method: Description
    n_components: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    table: Prepared | None = field(default=None, compare=False)
    advice: Recommendation | None = field(default=None, compare=False)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Plan:
        """Plan with stored settings."""
        row = DESCRIPTIONS[settings["method"]]
        return cls(row, settings.get("n_components", 2), row.options_of_stored(settings))

    def with_choices(self, n_components: Any, options: Mapping[str, object]) -> Plan:
        """Plan with what somebody chose; recommended options stay where nobody did."""
        return replace(self, n_components=n_components, options={**self.options, **options})

    def settings(self) -> dict[str, Any]:
        """Settings that state the same problem again, JSON-ready."""
        known = self.parameters
        names = [*self.method.options, *({"left_out"} & self.options.keys())]
        chosen = {name: known[name] for name in names}
        return {"method": self.method.name, "n_components": self.coordinates} | chosen

    @property
    def coordinates(self) -> Any:
        """Number of coordinates, or the word that lets the data decide."""
        return DEFAULT_N_COMPONENTS if self.n_components is None else self.n_components

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of its estimator: as given, by the description, or by the signature."""
        return self.method.estimator_defaults | self._chosen_parameters

    @property
    def _chosen_parameters(self) -> dict[str, Any]:
        return {"n_components": self.coordinates} | self.method.estimator_parameters(self.options)

    def estimator(self, **more: Any) -> Any:
        """The estimator that does it, not fitted; `more` are further parameters."""
        return self.method.estimator_class()(**self._chosen_parameters, **more)

    @property
    def n_neighbors(self) -> int | None:
        """Number of graph neighbours; None without a graph, or by a radius."""
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

    def by_manhattan(self) -> Plan:
        """Plan with the Manhattan distance, which is Gower's of a table scaled for it."""
        if "metric" not in self.method.options:
            able = [row.name for row in DESCRIPTIONS.values() if "metric" in row.options]
            raise InvalidInput(
                Argument("mixed", "gower"),
                f" gives distances, and {self.method.name} needs columns; take one of "
                f"{', '.join(able)}, or ",
                Argument("mixed", "famd"),
            )
        return replace(self, options={**self.options, "metric": "manhattan"})

    def for_table(self, data: Prepared) -> tuple[Plan, list[str]]:
        """Plan with what is left to a table: how many coordinates, how many neighbours."""
        plan, remarks = self.for_rows(data.X.shape[0])
        if plan.n_components is not None:
            return plan, remarks
        most = max_coordinates(data, plan.method)
        plan = replace(plan, n_components=min(DEFAULT_N_COMPONENTS, most))
        return plan, remarks if most > 1 else [*remarks, _one_coordinate_remark(data)]

    def for_rows(self, n: int) -> tuple[Plan, list[str]]:
        """Plan for n rows: by default no more neighbours than there are other rows."""
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

    def _with_fewer(self, name: str, value: float, n: int, words: str) -> tuple[Plan, list[str]]:
        usual = self.parameters[name]
        remark = f"{self.method.name}: {n} rows get {words} {value:.3g}, not the usual {usual:g}"
        return replace(self, options={**self.options, name: value}), [remark]

    def reading_of(self, reading: Reading) -> Reading:
        """Reading of the table for it; as typed where it was read to choose the method."""
        return reading if self.table is not None else reading_for(reading, self)

    def read(self, source: Any, reading: Reading, listener: Listener) -> Prepared:
        """The table, read now where it was not read to choose the method.

        source : a file, a data frame or an array
        reading : what `reading_of` returns
        """
        table = self.table
        if table is None:
            table = read_input(source, reading, listener)
        refuse_scaled_distances(reading, self)
        return table

    def with_weights(self, weights: Any) -> dict[str, object]:
        """Weights of rows by the argument of `fit` that takes them; {} for None."""
        return fit_weights(self.method, weights, "weight")

    def as_fitted(self, estimator: Any) -> Plan:
        """Plan with what fitting decided: rows left out of the problem."""
        if self.method.linear or not self.method.needs_graph:
            return self
        return replace(self, options={**self.options, **estimator.found_parameters()})


def _one_coordinate_remark(data: Prepared) -> str:
    n, width = data.X.shape
    why = f"the table has {n} rows"
    if width == 1:
        why = f"'{data.names[0]}' is the only column that can be used"
    return f"{why}, so the map has one coordinate: a line, drawn as a strip"
