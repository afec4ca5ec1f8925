"""One method on one table: its estimator, fitted, with its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold.exploration.input_table import duplicate_remarks, refuse_too_many_coordinates
from dualfold.exploration.verdict_words import short_verdict, verdict
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import fit_with
from dualfold.quality.picture import percent
from dualfold.view.figures import Panel

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.certificate import Certificate
    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.neighbor_cache import NeighborCache
    from dualfold.exploration.plan import Plan
    from dualfold.graph import Graph, Neighbors

# Of a dense decomposition, which takes about a tenth of a second.
MAX_QUICK_FLOPS = 5e9


@dataclass(frozen=True, eq=False)
class FittedMap:
    """A map and all that came with it.

    columns : names of the columns that it was made of
    """

    plan: Plan
    estimator: Any
    points: Array
    notices: tuple[str, ...]
    seconds: float
    columns: tuple[str, ...] = ()

    @property
    def certificate(self) -> Certificate:
        return self.estimator.certificate_

    @property
    def values(self) -> list[float]:
        """The eigenvalues; none where nothing is optimised."""
        return [float(value) for value in getattr(self.estimator, "eigenvalues_", ())]

    @property
    def pieces(self) -> int | None:
        """Number of pieces of the graph before they were joined; None without a graph."""
        if not self.plan.method.needs_graph:
            return None
        joined = len(self.estimator.graph_.links) + 1
        return max(joined, int(self.estimator.n_connected_components_))

    @property
    def solved(self) -> str:
        """Sentence on how far the problem was solved."""
        return verdict(self.plan.method, self.certificate, self.points.shape[1])

    @property
    def variance_shares(self) -> list[float] | None:
        """The share of variance or inertia that each axis explains; None where axes do not."""
        named = f"explained_{self.plan.method.explains}_ratio_"
        ratios = getattr(self.estimator, named, None)
        return None if ratios is None else [float(ratio) for ratio in ratios]

    @property
    def column_points(self) -> dict[str, Array] | None:
        """Places of the columns of a table of counts, by name; None where a map has none."""
        if not self.plan.method.counts:
            return None
        return dict(zip(self.columns, self.estimator.column_embedding_, strict=True))

    @property
    def axis_titles(self) -> list[str]:
        """For pictures: the method's name, the number of the axis, what it explains."""
        titles = [f"{self.plan.method.name} {axis + 1}" for axis in range(self.points.shape[1])]
        of = f"of the {self.plan.method.explains}"
        shares = [f" ({percent(share)} {of})" for share in self.variance_shares or ()]
        return [a + b for a, b in zip(titles, shares, strict=True)] if shares else titles

    @property
    def axis_names(self) -> list[str]:
        return [f"{self.plan.method.name}_{axis + 1}" for axis in range(self.points.shape[1])]

    def panel(self, color: Array | None, shown: str) -> Panel:
        """The map in a picture of several; `shown` says in a few words what it shows."""
        method = self.plan.method
        words = f"{short_verdict(self.certificate)}\n{shown}"
        return Panel(self.points[:, :3], color, method.name, words, method.lengths)


def fit_map(
    plan: Plan,
    data: Prepared,
    listener: Listener,
    cache: NeighborCache,
    earlier: Sequence[FittedMap] = (),
) -> FittedMap:
    """Fit the method and note what happens; neighbours that are known are not searched again.

    earlier : maps of the table, whose graphs serve where they are those of this plan
    """
    plan, remarks = plan.for_table(data)
    estimator = plan.estimator()
    refuse_too_many_coordinates(data, plan.n_components, plan.method)
    if not plan.of_distances:
        remarks += duplicate_remarks(data.X, plan.n_components, plan.n_neighbors)
    for remark in remarks:
        listener.note(remark)
    notices = list(remarks)
    begin = perf_counter()
    with listener.note_warnings(notices):
        weights = plan.with_weights(data.weights)
        if plan.method.needs_graph:
            context = FitContext(graph=_known_graph(plan, cache, earlier))
            with listener.stage(plan.method.name):
                fit_with(estimator, data.X, context, data.classes, **weights)
            points = estimator.embedding_
        else:
            with listener.stage(plan.method.name):
                points = estimator.fit_transform(data.X, data.classes, **weights)
    seconds = perf_counter() - begin
    fitted = replace(plan.as_fitted(estimator), table=None)
    return FittedMap(fitted, estimator, points, tuple(notices), seconds, data.names)


def _known_graph(
    plan: Plan, cache: NeighborCache, earlier: Sequence[FittedMap]
) -> Graph | Neighbors | None:
    """Neighbours that a fit takes instead of a search: an earlier map's joined graph, or lists."""
    key = _graph_key(plan)
    if plan.method.linear and key is not None:  # others may take some of the rows only
        for fitted in earlier:
            if fitted.plan.method.needs_graph and _graph_key(fitted.plan) == key:
                graph: Graph = fitted.estimator.graph_
                if graph.n == len(fitted.points) and graph.links:
                    return graph
    return cache.lists(plan.n_neighbors)


def _graph_key(plan: Plan) -> tuple[object, ...] | None:
    """Parameters that determine the graph of a plan; None where no other has the same."""
    known = plan.parameters
    # Classes and landmarks may have graphs of their own.
    own = known.get("supervised") or isinstance(known.get("landmarks"), int)
    if known["pieces"] != "join" or own:
        return None
    metric = known.get("metric", "euclidean")
    metric = "euclidean" if metric == "minkowski" else metric  # p is 2 on the command line
    return (*(known[name] for name in ("n_neighbors", "radius", "neighborhood")), metric)
