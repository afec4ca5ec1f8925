"""One method on one table: its estimator, fitted, with what can be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.input_table import copy_remarks, refuse_too_many
from dualfold.cli.verdict_words import verdict
from dualfold.cli.wording import shown
from dualfold.descriptions import DESCRIPTIONS, Description
from dualfold.errors import Argument, InvalidInput

if TYPE_CHECKING:
    from dualfold.cli.neighbor_cache import Surroundings
    from dualfold.data import Prepared

# Neighbours that are counted again in the map.
SCORED_NEIGHBORS = 10
# Multiply-adds that take about a tenth of a second.
CHEAP = 5e9


@dataclass(frozen=True)
class Job:
    """What a method is asked for.

    options : parameters of its estimator that were given; the description has the others
    """

    method: Description
    n_components: Any = 2
    options: Mapping[str, Any] = field(default_factory=dict)

    def estimator(self, **more: Any) -> Any:
        """The estimator that does it, not fitted; `more` are further parameters."""
        chosen = {"n_components": self.n_components} | self.method.estimator_parameters(
            self.options
        )
        return self.method.estimator_class()(**chosen, **more)

    @property
    def n_neighbors(self) -> int | None:
        """Those of its graph; None where it has no graph, or by a radius."""
        return self.estimator().n_neighbors if self.method.needs_graph else None

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

    @property
    def of_distances(self) -> bool:
        """Whether the table holds distances, not features."""
        return self.options.get("metric") == "precomputed"

    @property
    def uses_labels(self) -> bool:
        """Whether it learns from classes."""
        if not self.method.takes_labels:
            return False
        from sklearn.utils import get_tags

        return bool(get_tags(self.estimator()).target_tags.required)

    def settings(self) -> dict[str, Any]:
        """What must be known to state the same problem again, JSON-ready."""
        known = self.estimator().get_params(deep=False)
        names = [*self.method.options, *({"left_out"} & self.options.keys())]
        chosen = {name: known[name] for name in names}
        return {"method": self.method.name, "n_components": self.n_components} | chosen

    @classmethod
    def again(cls, settings: Mapping[str, Any]) -> Job:
        """The job with these settings."""
        row = DESCRIPTIONS[settings["method"]]
        return cls(row, settings.get("n_components", 2), row.options_of_stored(settings))

    def for_rows(self, n: int) -> tuple[Job, list[str]]:
        """The job for n rows: what nobody chose is no more than so few rows can have."""
        if n >= 2 and not {"n_neighbors", "perplexity"} & self.options.keys():
            usual = getattr(self.estimator(), "perplexity", 0)
            if n <= usual:  # a third of the others, as other programs take at the most
                third = max((n - 1) * 10 // 3, 1) / 10  # short enough to be told as it is
                return self._with_fewer("perplexity", third, n, "a perplexity of", usual)
        usual = None if "n_neighbors" in self.options else self.n_neighbors
        if usual is None or not 2 <= n <= usual:
            return self, []
        return self._with_fewer("n_neighbors", n - 1, n, "a number of neighbours of", usual)

    def _with_fewer(
        self, name: str, value: float, n: int, words: str, usual: float
    ) -> tuple[Job, list[str]]:
        remark = f"{self.method.name}: {n} rows get {words} {value:.3g}, not the usual {usual:g}"
        return replace(self, options={**self.options, name: value}), [remark]

    def as_fitted(self, estimator: Any) -> Job:
        """The job with what the estimator found of itself: rows left out of the problem."""
        tell = getattr(estimator, "found_parameters", dict)
        return replace(self, options={**self.options, **tell()})


@dataclass(frozen=True, eq=False)
class FittedMap:
    """A map and all that came with it."""

    job: Job
    estimator: Any
    points: Any
    notices: tuple[str, ...]
    seconds: float

    @property
    def certificate(self) -> Any:
        return self.estimator.certificate_

    @property
    def values(self) -> list[float]:
        """The eigenvalues; none where nothing is optimised."""
        return [float(value) for value in getattr(self.estimator, "eigenvalues_", ())]

    @property
    def pieces(self) -> int | None:
        """In how many pieces the graph was before it was joined; None without a graph."""
        if not self.job.method.needs_graph:
            return None
        joined = len(self.estimator.graph_.links) + 1
        return max(joined, int(self.estimator.n_connected_components_))

    @property
    def verdict(self) -> str:
        return verdict(self.job.method, self.certificate, self.points.shape[1])

    @property
    def explained(self) -> list[float] | None:
        """The share of the variance that each axis explains; None where axes do not."""
        ratios = getattr(self.estimator, "explained_variance_ratio_", None)
        return None if ratios is None else [float(ratio) for ratio in ratios]

    @property
    def axis_titles(self) -> list[str]:
        """For pictures: the method's name, the number of the axis, what it explains."""
        from dualfold.quality.picture import percent

        titles = [f"{self.job.method.name} {axis + 1}" for axis in range(self.points.shape[1])]
        shares = [f" ({percent(share)} of the variance)" for share in self.explained or ()]
        return [a + b for a, b in zip(titles, shares, strict=True)] if shares else titles

    @property
    def axis_names(self) -> list[str]:
        return [f"{self.job.method.name}_{axis + 1}" for axis in range(self.points.shape[1])]


def fit_map(job: Job, data: Prepared, console: Console, around: Surroundings) -> FittedMap:
    """Fit the method and note what happens; neighbours that are known are not searched again."""
    job, remarks = job.for_rows(data.X.shape[0])
    estimator = job.estimator()
    refuse_too_many(data, job.n_components, job.method)
    k = job.n_neighbors
    if not job.of_distances:
        remarks += copy_remarks(data.X, n_components=job.n_components, n_neighbors=k)
    for remark in remarks:
        console.note(remark)
    notices = [shown(remark) for remark in remarks]
    begin = perf_counter()
    with console.noting_warnings(notices):
        if job.method.needs_graph:
            estimator.set_params(graph=around.graph_for(estimator))
        with console.doing(job.method.name):
            points = estimator.fit_transform(data.X, data.classes)
        if job.method.needs_graph:
            around.keep(estimator)
    job = job.as_fitted(estimator)
    return FittedMap(job, estimator, points, tuple(notices), perf_counter() - begin)


def picture_of(result: FittedMap, around: Surroundings, data: Prepared, console: Console) -> Any:
    """How good a picture the map is, a `Picture`; None where there are too few rows to ask."""
    from dualfold.quality import Picture, t_similarity
    from dualfold.quality.estimate import sample_size

    n = len(result.points)
    if n <= SCORED_NEIGHBORS:
        return None

    def kept(points: Any) -> Any:
        return t_similarity(around.space, points, SCORED_NEIGHBORS, sample=sample_size(n))

    with console.doing("counting kept neighbours"):
        rival = _plain_map(result, data)
        rivals = {} if rival is None else {"pca": kept(rival)}
        return Picture(kept(result.points), n, SCORED_NEIGHBORS, rivals, around.space.about)


def _plain_map(result: FittedMap, data: Prepared) -> Any:
    """The principal components, to hold a map against, where they cost next to nothing."""
    n, width = data.X.shape
    d, job = result.points.shape[1], result.job
    cheap = n * width * min(n, width) <= CHEAP and d <= min(n - 1, width)
    if job.method.name in ("pca", "famd") or job.of_distances or not cheap:
        return None
    return Job(DESCRIPTIONS["pca"], d).estimator().fit_transform(data.X)
