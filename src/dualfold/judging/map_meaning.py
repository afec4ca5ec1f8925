"""What a map means in the words of its table: its axes, and the column that it separates best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from dualfold.arrays import Array
from dualfold.graph.neighbors import nearest
from dualfold.graph.number_rows import rows_in_units
from dualfold.quality.axis_meanings import AxisMeaning, axis_meanings
from dualfold.quality.column_directions import ColumnDirection, column_directions
from dualfold.quality.estimate import drawn_rows

__all__ = ["BEST_COLOR_REASON", "MapMeaning", "map_meaning", "shared_by_neighbors"]

# Why a map is coloured by its best column.
BEST_COLOR_REASON = "of all columns the map separates this one best"

# Axes that are listed in a few lines.
MAX_LISTED_AXES = 3
# Rows whose neighbours on the map are compared, and these neighbours.
MAX_COMPARED_ROWS = 2_000
COMPARED_NEIGHBORS = 5
# Levels that a legend has colours for.
MAX_COLORED_LEVELS = 20
# Neighbours that are hardly more alike than any two rows are not separated by the map.
MIN_SHARED = 0.1


@dataclass(frozen=True, eq=False)
class MapMeaning:
    """Meaning of a map in the words of its table.

    directions : the straight direction of each column
    axes : the columns that each axis follows
    best_column : the column in which neighbours on the map are most alike; None where none is
    """

    directions: tuple[ColumnDirection, ...]
    axes: tuple[AxisMeaning, ...]
    best_column: str | None = None

    @property
    def lines(self) -> list[str]:
        """For the terminal: a line for each of the first axes."""
        axes = self.axes[:MAX_LISTED_AXES] if self.directions else ()
        return [f"A{str(axis).removeprefix('a')}" for axis in axes]

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "axes": [one.to_dict() for one in self.axes],
            "best_column": self.best_column,
            "text": "\n".join(self.lines),
        }


def map_meaning(
    columns: Mapping[str, object],
    Y: Any,
    *,
    directions: Sequence[ColumnDirection] | None = None,
    random_state: int = 0,
) -> MapMeaning:
    """The columns that axes follow, and the column that is separated best.

    columns : name → one value for each row of the map: numbers, dates or words
    directions : by `column_directions`, where they are known
    """
    points = np.asarray(Y, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    n, d = points.shape
    if n < 2:
        return MapMeaning((), ())
    if directions is None:
        directions = column_directions(columns, points, random_state=random_state)
    return MapMeaning(
        tuple(directions),
        axis_meanings(directions, d),
        _best_column(columns, points, random_state),
    )


def shared_by_neighbors(values: Array, rows: Array, neighbors: Array) -> float:
    """Likeness of neighbours in a column beyond that of any two rows: 1 equal, 0 no more.

    For numbers this is 1 − Geary's C, one minus the mean squared difference of neighbours over
    that of all pairs; for words the same with "differs" (0 or 1) as the squared difference.
    """
    if values.dtype.kind in "iufM":
        numbers = values.astype(float)
        known = np.isfinite(numbers)
        expected = 2 * float(numbers[known].var()) if known.any() else 0.0
        steps = numbers[rows][:, None] - numbers[neighbors[rows]]
        steps = steps[np.isfinite(steps)] ** 2
    else:
        codes = np.unique(values.astype(str), return_inverse=True)[1]
        expected = 1.0 - float(((np.bincount(codes) / len(codes)) ** 2).sum())
        steps = (codes[rows][:, None] != codes[neighbors[rows]]).astype(float).ravel()
    return 1.0 - float(steps.mean()) / expected if expected > 0 and len(steps) else -np.inf


def _best_column(columns: Mapping[str, object], points: Array, seed: int) -> str | None:
    """The column that neighbours on the map share most; never one whose values all differ."""
    n = len(points)
    rows = drawn_rows(n, MAX_COMPARED_ROWS, seed)
    rows = np.arange(n) if rows is None else rows
    if len(rows) <= COMPARED_NEIGHBORS:
        return None
    near = nearest(rows_in_units(points[rows], "Y")[0], COMPARED_NEIGHBORS).indices
    best: tuple[float, str | None] = (MIN_SHARED, None)
    for name in columns:
        values = np.asarray(columns[name])
        if _can_color(values):
            ranks = _ranks(values[rows]) if values.dtype.kind in "biufM" else values[rows]
            best = max(
                best,
                (shared_by_neighbors(ranks, np.arange(len(rows)), near), name),
                key=lambda one: one[0],
            )
    return best[1]


def _can_color(values: Array) -> bool:
    """Whether the colours of a column tell something: some values repeat, and not all are equal."""
    if values.dtype.kind in "biufM":
        known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
        return 1 < len(np.unique(known)) < len(known)
    words = [str(value) for value in values.tolist() if value is not None and value == value]
    return 1 < len(set(words)) <= min(MAX_COLORED_LEVELS, len(words) // 2)


def _ranks(values: Array) -> Array:
    """Numbers as ranks, so that few far values do not decide; NaN stays."""
    numbers = values.astype("datetime64[s]").astype(float) if values.dtype.kind == "M" else values
    return np.asarray(rankdata(np.asarray(numbers, dtype=float), nan_policy="omit"))
