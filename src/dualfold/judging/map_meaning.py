"""What a map means in the words of its table: axes, groups, and the column it separates best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import rankdata

from dualfold.arrays import Array
from dualfold.graph.neighbors import nearest
from dualfold.graph.number_rows import rows_in_units
from dualfold.judging.group_names import NOT_FOUND, NamedGroup, groups_with_names
from dualfold.judging.groups_found import visible_groups
from dualfold.quality.axis_meanings import AxisMeaning, axis_meanings
from dualfold.quality.column_directions import ColumnDirection, column_directions
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.visible_groups import MapGroups

__all__ = ["BEST_COLOR_REASON", "MapMeaning", "map_meaning", "shared_by_neighbors"]

# Why a map is coloured by its best column.
BEST_COLOR_REASON = "of all columns the map separates this one best"

# Groups that are listed in a few lines.
MAX_LISTED_GROUPS = 5
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
    groups : the visible groups, each with what differs in it; () where the map is one cloud
    codes : the group of each row, −1 where it is in none
    best_column : the column in which neighbours on the map are most alike; None where none is
    """

    directions: tuple[ColumnDirection, ...]
    axes: tuple[AxisMeaning, ...]
    groups: tuple[NamedGroup, ...]
    codes: Array
    best_column: str | None = None

    @property
    def lines(self) -> list[str]:
        """For the terminal: a line for each of the first axes and of the largest groups."""
        axes = self.axes[:MAX_LISTED_AXES] if self.directions else ()
        lines = [f"A{str(one).removeprefix('a')}" for one in axes]
        if self.groups:
            lines += self._group_lines()
        return lines

    def _group_lines(self) -> list[str]:
        """Lines on the number of groups, and on those that are not missing in the data."""
        told = [one for one in self.groups if one.verdict != NOT_FOUND]
        listed, missing = told[:MAX_LISTED_GROUPS], len(self.groups) - len(told)
        first = f"The map shows {len(self.groups)} groups"
        if not told:
            return [f"{first}; none of them is found in the data"]
        if missing:
            first += f"; {missing} of them {'is' if missing == 1 else 'are'} {NOT_FOUND}"
        others = " of the others" if missing else ""
        if len(listed) < len(told):
            first += f"; the largest {len(listed)}{others}"
        elif missing:
            first += "; the others" if len(told) > 1 else "; the other"
        return [f"{first}:", *(f"  {one}" for one in listed)]

    def of_rows(self, rows: Array) -> MapMeaning:
        """Meaning with the groups of these rows alone."""
        return replace(self, codes=self.codes[rows])

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "axes": [one.to_dict() for one in self.axes],
            "groups": [one.to_dict() for one in self.groups],
            "best_column": self.best_column,
            "text": "\n".join(self.lines),
        }


def map_meaning(
    columns: Mapping[str, Any],
    Y: Any,
    *,
    directions: Sequence[ColumnDirection] | None = None,
    groups: MapGroups | None = None,
    verdicts: Sequence[str] = (),
    orders: Mapping[str, Sequence[str]] | None = None,
    random_state: int = 0,
) -> MapMeaning:
    """The columns that axes follow, what differs in groups, the column that is separated best.

    columns : name → one value for each row of the map: numbers, dates or words
    directions, groups : by `column_directions` and `map_groups`, where they are known
    verdicts : of an audit on each group; () where there is none
    orders : column → its levels from low to high, of columns that hold their places, from 0
    """
    points = np.asarray(Y, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    n, d = points.shape
    if n < 2:
        return MapMeaning((), (), (), np.full(n, -1))
    if directions is None:
        directions = column_directions(columns, points, random_state=random_state)
    found = _groups_of_all(points, random_state) if groups is None else groups
    return MapMeaning(
        tuple(directions),
        axis_meanings(directions, d),
        groups_with_names(columns, found, verdicts, orders=orders, random_state=random_state),
        found.codes if found.count > 1 else np.full(n, -1),
        _best_column(columns, points, random_state),
    )


def _groups_of_all(points: Array, seed: int) -> MapGroups:
    """The visible groups; rows beside the sample that shows them belong to the nearest in it."""
    rows, seen = visible_groups(points, seed)
    if len(rows) == len(points):
        return seen
    codes = seen.codes[cKDTree(points[rows]).query(points)[1]]
    sizes = np.bincount(codes[codes >= 0], minlength=seen.count)
    return MapGroups(codes, seen.rises, sizes)


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


def _best_column(columns: Mapping[str, Any], points: Array, seed: int) -> str | None:
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
