"""The neighbours of the rows of a table: searched once, for all that is made and measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console

if TYPE_CHECKING:
    from dualfold.cli.job import Job
    from dualfold.data import Prepared
    from dualfold.graph import Graph, Neighbors
    from dualfold.quality.space import Space


class Surroundings:
    """Who is near whom in the table, by Euclid, or as a table of distances says."""

    def __init__(self, data: Prepared, jobs: Iterable[Job], console: Console, least: int) -> None:
        """`least` : neighbours of every row that measures will ask for."""
        from dualfold.quality.space import space_of

        jobs = list(jobs)
        self._console, self._n = console, int(data.X.shape[0])
        self._most = min(max([least, *(job.n_neighbors or 0 for job in jobs)]), self._n - 1)
        self._joined: dict[Any, Graph] = {}
        of_distances = any(job.of_distances for job in jobs)
        gower = "manhattan" if data.reading.mixed == "gower" else "euclidean"
        self._space = space_of(data.X, "precomputed" if of_distances else gower)
        self._judged = self._space
        if not of_distances and data.scales_differ and hasattr(data.X, "dtype"):
            self._judge_evenly(data.X)

    def _judge_evenly(self, X: Any) -> None:
        """Count neighbours with equal columns where one of them decides all distances.

        Else a map of that column alone would seem to keep everything.
        """
        from dualfold.data.scales import standard_of
        from dualfold.quality.space import space_of

        self._judged = space_of(standard_of(X).apply(X))
        self._judged.about = "with every column at the same weight"

    def known(self, k: int | None) -> Neighbors | None:
        """Lists of k or more neighbours of each row; None where there are none to be had."""
        from dualfold.quality.space import EuclideanSpace

        if not isinstance(self._space, EuclideanSpace) or k is None or k >= self._n:
            return None
        with self._console.doing("finding neighbours"):
            return self._space.neighbors(max(k, self._most))

    def graph_for(self, estimator: Any) -> Graph | Neighbors | None:
        """What spares an estimator its search: a graph that was joined before, or the lists."""
        rule = _rule(estimator)
        if hasattr(estimator, "found_parameters"):  # it may take some of the rows only
            return self.known(estimator.n_neighbors)
        return self._joined[rule] if rule in self._joined else self.known(estimator.n_neighbors)

    def keep(self, estimator: Any) -> None:
        """Remember the graph of a fitted estimator where pieces had to be joined."""
        whole = estimator.graph_.n == self._n
        if whole and _rule(estimator) is not None and estimator.graph_.links:
            self._joined[_rule(estimator)] = estimator.graph_

    @property
    def space(self) -> Space:
        """The rows as measures ask for them, where all are asked with their neighbours found."""
        from dualfold.quality.estimate import sample_size

        if sample_size(self._n) is None and self._judged is self._space:
            self.known(self._most)
        return self._judged

    def nearest(self, k: int) -> Any:
        """The k nearest of every row, nearest first, as measures see them."""
        if self._judged is self._space:
            self.known(k)
        return self._judged.nearest(k)[0] if k else None


def _rule(estimator: Any) -> tuple[Any, ...] | None:
    """What makes the graph of an estimator; None where no other has the same."""
    known = estimator.get_params(deep=False)
    # Classes, and landmarks that are asked for, may have graphs of their own.
    own = known.get("supervised") or isinstance(known.get("landmarks"), int)
    if known["pieces"] != "join" or own:
        return None
    metric = known.get("metric", "euclidean")
    metric = "euclidean" if metric == "minkowski" else metric  # p is 2 on the command line
    return (*(known[name] for name in ("n_neighbors", "radius", "neighborhood")), metric)


def measured_neighbors(data: Prepared, scored: int, *, whole: bool) -> int:
    """How many neighbours of every row measures ask for.

    scored : those that are counted again in the map
    whole : whether there will be a whole report, which looks further where all rows are asked
    """
    from dualfold.quality.estimate import sample_size
    from dualfold.quality.quality_report import MAX_CURVE_RANK

    return MAX_CURVE_RANK if whole and sample_size(data.X.shape[0]) is None else scored
