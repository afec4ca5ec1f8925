"""The neighbours of the rows of a table: searched once, for all methods and measures."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from dualfold.data.scales import standard_of
from dualfold.methods.maps.profile_map import chi_square_rows
from dualfold.quality.estimate import sample_size
from dualfold.quality.quality_report import MAX_CURVE_RANK
from dualfold.quality.space import EuclideanSpace, space_of

if TYPE_CHECKING:
    from dualfold.arrays import Array, Matrix
    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.plan import Plan
    from dualfold.graph import Neighbors
    from dualfold.quality.space import Space


class NeighborCache:
    """The nearest rows of each row, by the distances of the table."""

    def __init__(
        self, data: Prepared, plans: Iterable[Plan], listener: Listener, least: int
    ) -> None:
        """`least` : how many neighbours of every row the measures need."""
        plans = list(plans)
        self._listener, self._n = listener, int(data.X.shape[0])
        self._most = min(max([least, *(plan.n_neighbors or 0 for plan in plans)]), self._n - 1)
        of_distances = any(plan.of_distances for plan in plans)
        gower = "manhattan" if data.reading.mixed == "gower" else "euclidean"
        self._metric = "precomputed" if of_distances else gower
        self._space = space_of(data.X, self._metric)
        self._equal_weights = not of_distances and data.scales_differ and hasattr(data.X, "dtype")
        self._of_counts = data.reading.mixed == "counts"
        others = self._equal_weights or self._of_counts
        self._measured = self._measured_space(data.X) if others else self._space
        self._data, self.weights = data, data.weights  # of rows, where a column has them

    def _measured_space(self, X: Matrix) -> Space:
        """The rows of X by standardised columns where one of them decides all distances.

        Else a map of that column alone would seem to keep everything. Counts are compared as
        profiles.
        """
        if self._of_counts:
            space = space_of(chi_square_rows(X))
            space.about = "by the χ² distances of profiles"
            return space
        if not self._equal_weights:
            return space_of(X, self._metric)
        space = space_of(standard_of(X).apply(X))
        space.about = "with every column at the same weight"
        return space

    def lists(self, k: int | None) -> Neighbors | None:
        """Lists of k or more neighbours of each row; None where the table has no such lists."""
        if not isinstance(self._space, EuclideanSpace) or k is None or k >= self._n:
            return None
        with self._listener.stage("finding neighbours"):
            return self._space.neighbors(max(k, self._most))

    @property
    def space(self) -> Space:
        """The rows as measures take them; with their neighbours where all rows are measured."""
        if sample_size(self._n) is None and self._measured is self._space:
            self.lists(self._most)
        return self._measured

    @cached_property
    def spaces(self) -> list[Space]:
        """The rows that maps are judged by: `space`, or where cells of the table were filled in
        plausible fillings of it, since a map shows what was filled in too well."""
        if self._data.filled is None:
            return [self.space]
        return [self._measured_space(X) for X in self._data.plausible_tables()]

    def nearest(self, k: int) -> Array | None:
        """The k nearest of every row, nearest first, by the distances that measures take."""
        if self._measured is self._space:
            self.lists(k)
        return self._measured.nearest(k)[0] if k else None


def neighbors_to_measure(data: Prepared, scored: int, *, whole: bool) -> int:
    """Number of neighbours of every row that the measures need.

    scored : those that are counted again in the map
    whole : whether there will be a whole report, which needs more where all rows are measured
    """
    # One more than is counted: it tells whether the last of a list ties with the next.
    return 1 + (MAX_CURVE_RANK if whole and sample_size(data.X.shape[0]) is None else scored)
