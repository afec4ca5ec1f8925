"""Rows of a map and where they lie: those that were fitted and stay, and those that came later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.errors import DamagedFile
from dualfold.graph.grown_graphs import stacked_rows
from dualfold.methods.maps import file_checks
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.maps.parts import Parts

# No table has as many rows.
MAX_ROWS = 2**40


@dataclass(frozen=True, eq=False)
class Growth:
    """Rows of a map after its fit, beside the rows that its rule was made of.

    Attributes
    ----------
    n_fitted : int
        Number of rows that the rule was made of.
    source : ndarray of int of shape (n_samples,)
        Number of each row of the map among these; -1 for the others.
    rows : ndarray or csr_array
        The others, in their order and in the units that the map takes.
    points : ndarray of shape (n_samples, n_components)
        Places of all rows of the map.
    batch : ndarray of int of shape (n_samples,)
        With which update each row came; 0 for rows that were fitted.
    graph_rows : ndarray of int or None
        Numbers of the rows that the neighbour graph has; None for methods without one.

    See Also
    --------
    UpdatedMap : Has one.
    """

    n_fitted: int
    source: Array
    rows: Rows
    points: Array
    batch: Array
    graph_rows: Array | None = None

    @classmethod
    def of_fit(cls, rows: Rows, points: Array) -> Growth:
        """The growth of a map as it was fitted: none."""
        n = rows.shape[0]
        return cls(n, np.arange(n), rows[:0], points, np.zeros(n, int))

    @property
    def is_new(self) -> Array:
        """Whether each row came after the fit."""
        return np.asarray(self.batch > 0)

    @property
    def n_added(self) -> int:
        """Number of rows that came after the fit."""
        return int(np.sum(self.is_new))

    @property
    def n_left(self) -> int:
        """Number of fitted rows that left."""
        return self.n_fitted - int(np.sum(self.source >= 0))

    def all_rows(self, fitted: Rows) -> Rows:
        """All rows of the map in the order in which they came; `fitted` are those of the rule."""
        numbers = self.source.copy()
        others = numbers < 0
        if not others.any():
            whole = np.array_equal(numbers, np.arange(fitted.shape[0]))
            return fitted if whole else fitted[numbers]
        numbers[others] = fitted.shape[0] + np.arange(int(others.sum()))
        return stacked_rows(fitted, self.rows)[numbers]

    def with_rows(self, rows: Rows, points: Array, batch: int) -> Growth:
        """The growth with further rows, which came with an update."""
        graph_rows, n = self.graph_rows, len(points)
        if graph_rows is not None:
            graph_rows = np.concatenate([graph_rows, len(self.points) + np.arange(n)])
        return replace(
            self,
            source=np.concatenate([self.source, np.full(n, -1)]),
            rows=stacked_rows(self.rows, rows) if self.rows.shape[0] else rows,
            points=np.concatenate([self.points, points]),
            batch=np.concatenate([self.batch, np.full(n, batch)]),
            graph_rows=graph_rows,
        )

    def without(self, gone: Array) -> Growth:
        """The growth after some rows left."""
        graph_rows = self.graph_rows
        if graph_rows is not None:
            numbers = np.cumsum(~gone) - 1
            graph_rows = numbers[graph_rows[~gone[graph_rows]]]
        return replace(
            self,
            source=self.source[~gone],
            rows=self.rows[~gone[self.source < 0]],
            points=self.points[~gone],
            batch=self.batch[~gone],
            graph_rows=graph_rows,
        )

    def is_in(self, rule: OutOfSampleMap) -> bool:
        """Whether a rule holds all rows and points, so that nothing grew."""
        points = rule.stored_points()
        whole = np.array_equal(self.source, np.arange(self.n_fitted))
        return whole and points is not None and np.array_equal(points, self.points)

    def put_into(self, parts: Parts) -> dict[str, Any]:
        """Add the arrays to those of a file, and return what its header states."""
        parts.put("growth_source", (self.source + 1).astype(np.int64))
        if self.rows.shape[0]:
            parts.put("growth_rows", self.rows)
        parts.put("growth_points", self.points)
        parts.put("growth_batch", self.batch.astype(np.int64))
        if self.graph_rows is not None:
            parts.put("growth_graph_rows", self.graph_rows.astype(np.int64))
        return {"fitted_rows": int(self.n_fitted)}

    @classmethod
    def from_file(cls, header: dict[str, Any], parts: Parts, map_: OutOfSampleMap) -> Growth | None:
        """Growth that a file states: rows that came and left; None where nothing did."""
        if header.get("growth") is None:
            if any(name.startswith("growth_") for name in parts.arrays):
                raise DamagedFile(
                    "it holds rows that were added, and its header does not state them"
                )
            return None
        stated = file_checks.json_object(header, "growth")
        held = map_.fitted_rows()
        n_fitted = file_checks.integer(stated, "fitted_rows", 1, MAX_ROWS)
        if held is not None and held[0].shape[0] != n_fitted:
            raise DamagedFile(f"its map holds {held[0].shape[0]} rows, and it states {n_fitted}")
        points = parts.array("growth_points", [None, map_.n_coordinates])
        n = len(points)
        source = parts.indices("growth_source", [n], n_fitted + 1).astype(np.int64) - 1
        batch = parts.indices("growth_batch", [n], MAX_ROWS).astype(np.int64)
        count = int(np.sum(source < 0))
        rows: Rows = np.zeros((0, map_.n_columns))
        if count or parts.get("growth_rows") is not None:
            rows = parts.table("growth_rows", [count, map_.n_columns], features=True)
        known = source[source >= 0]
        if n < 2 or len(np.unique(known)) < len(known):
            raise DamagedFile("its map has fewer than 2 rows, or one of them twice")
        if (np.diff(batch) < 0).any() or (batch[source >= 0] > 0).any():
            raise DamagedFile("its rows are not in the order in which they came")
        graph_rows = None
        if parts.get("growth_graph_rows") is not None:
            graph_rows = parts.indices("growth_graph_rows", [None], n).astype(np.int64)
            if (np.diff(graph_rows) <= 0).any() or (batch > 0).sum() > len(graph_rows):
                raise DamagedFile("the rows of its graph are named twice, or are too few")
        return cls(n_fitted, source, rows, points, batch, graph_rows)
