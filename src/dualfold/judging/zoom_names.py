"""Names of the groups of a map at three levels of zoom, with the figures behind each name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.judging.column_names import NameFigure, figures_by_columns
from dualfold.judging.term_names import telling_terms
from dualfold.judging.zoom_levels import NOT_FOUND, ZoomGroup, zoom_groups
from dualfold.quality.space import Space

__all__ = ["GroupName", "GroupNames", "NameFigure", "zoom_names"]

MAX_LISTED_NAMES = 12


@dataclass(frozen=True, eq=False)
class GroupName:
    """A group on a map with its name.

    Attributes
    ----------
    name : str
        Two to four terms, or what differs in columns; "" where the data have no such group, or
        nothing tells it from its surroundings.
    level : int
        Level of zoom at which it appears: 1, 2 or 3, the finest.
    parent : int
        Place of the group that it lies in, in the list of all groups; −1: the whole map.
    size : int
        Number of its rows.
    around : int
        Number of rows of its surroundings outside of it.
    figures : tuple of NameFigure
        What the name is made of, with how many rows have each, inside and outside.
    inside : int
        Rows of the group that have one of these terms, or all of these differences of columns.
    outside : int
        Rows of the surroundings outside of the group that have.
    verdict : str
        "found": the data have this group among its surroundings, at the level 0.05; "not found";
        "not testable".
    reason : str
        Why it was not found, or could not be tested.
    place : tuple of float
        Coordinates of the row in its middle.
    rows : ndarray of int
        Its rows, counted from 0.
    made_of : str
        "terms" or "columns".

    See Also
    --------
    named_groups : Finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging.zoom_names import GroupName
    >>> rows = np.arange(2)
    >>> one = GroupName("soup · bread", 1, -1, 2, 8, (), 2, 1, "found", "", (0.0, 0.0), rows)
    >>> print(one)
    soup · bread: 2 rows; 2 of them and 1 of 8 around have one of these terms; found in the data
    """

    name: str
    level: int
    parent: int
    size: int
    around: int
    figures: tuple[NameFigure, ...]
    inside: int
    outside: int
    verdict: str
    reason: str
    place: tuple[float, ...]
    rows: Array = field(repr=False)
    made_of: str = "terms"

    def __str__(self) -> str:
        judged = self.verdict if self.verdict == "not testable" else f"{self.verdict} in the data"
        judged += f" ({self.reason})" if self.reason else ""
        if not self.name:
            why = "" if self.verdict == NOT_FOUND else ", nothing tells it from its surroundings"
            return f"(no name): {self.size:,} rows{why}; {judged}"
        shares = f"{self.inside:,} of them and {self.outside:,} of {self.around:,} around"
        have = "one of these terms" if self.made_of == "terms" else "all of this"
        have = "it" if len(self.figures) == 1 else have
        return f"{self.name}: {self.size:,} rows; {shares} have {have}; {judged}"

    def to_dict(self) -> dict[str, Any]:
        """All but the rows.

        Returns
        -------
        dict
            Ready for JSON.
        """
        known = {key: value for key, value in vars(self).items() if key != "rows"}
        figures = [vars(one) for one in self.figures]
        return known | {"figures": figures, "place": list(self.place), "text": str(self)}


@dataclass(frozen=True, eq=False)
class GroupNames:
    """The named groups of a map; a sequence of `GroupName`.

    Attributes
    ----------
    groups : tuple of GroupName
        The coarsest first, then the largest.
    n_rows : int
        Number of rows of the map.

    See Also
    --------
    named_groups : Finds them.

    Examples
    --------
    >>> from dualfold.judging.zoom_names import GroupNames
    >>> len(GroupNames((), 5)), GroupNames((), 5).named_share
    (0, 0.0)
    """

    groups: tuple[GroupName, ...]
    n_rows: int

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[GroupName]:
        return iter(self.groups)

    def __getitem__(self, place: int) -> GroupName:
        return self.groups[place]

    @property
    def named_share(self) -> float:
        """Share of the rows that are in a group with a name.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(np.mean(self.codes(3) >= 0)) if self.n_rows else 0.0

    def codes(self, level: int) -> Array:
        """The named group that each row is in, at a level of zoom.

        Parameters
        ----------
        level : int
            1, 2 or 3; groups of coarser levels count where there is no finer one.

        Returns
        -------
        ndarray of int
            Places in `groups`; −1 for rows in no group that has a name.
        """
        found = np.full(self.n_rows, -1)
        for place, one in enumerate(self.groups):
            if one.name and one.level <= level:
                found[one.rows] = place
        return found

    def of_rows(self, rows: Array) -> GroupNames:
        """Groups on a map that shows some of the rows; figures stay those of all.

        Parameters
        ----------
        rows : ndarray of int
            Row numbers, in rising order.

        Returns
        -------
        GroupNames
            With the numbers of the rows that are left.
        """
        kept = [
            replace(one, rows=np.flatnonzero(np.isin(rows, one.rows, assume_unique=True)))
            for one in self.groups
        ]
        return GroupNames(tuple(kept), len(rows))

    def __str__(self) -> str:
        if not self.groups:
            return "no groups stand apart on the map"
        named = [one for one in self.groups if one.name]
        lines = [f"{len(named)} of {len(self)} groups have a name"]
        lines += [f"  level {one.level}: {one}" for one in named[:MAX_LISTED_NAMES]]
        if len(named) > MAX_LISTED_NAMES:
            lines.append(f"  and {len(named) - MAX_LISTED_NAMES} more")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All groups.

        Returns
        -------
        dict
            Ready for JSON.
        """
        return {
            "groups": [one.to_dict() for one in self.groups],
            "named": sum(bool(one.name) for one in self.groups),
            "named_share": self.named_share,
            "text": str(self),
        }


def zoom_names(
    x: Space | None,
    points: Array,
    columns: Mapping[str, Any],
    *,
    terms: Sequence[str] = (),
    weights: Any = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    random_state: int = 0,
) -> GroupNames:
    """The groups of a map, named by terms of texts, or by columns where there are none.

    x : the data; columns : name → one value for each row; weights : of terms, sparse, or None
    """
    points = np.asarray(points, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    groups = zoom_groups(x, points[:, :3], random_state)
    if weights is not None:
        present = sp.csr_array(weights, copy=True)
        present.data = np.ones_like(present.data)
        overall = np.asarray(present.sum(axis=0)).ravel()
        parts = [_term_figures(one, present, terms, overall, len(groups)) for one in groups]
    else:
        parts = _column_figures(groups, columns, orders, random_state)
    kind = "columns" if weights is None else "terms"
    named = [
        replace(_named_group(one, points, *part), made_of=kind)
        for one, part in zip(groups, parts, strict=True)
    ]
    return GroupNames(tuple(named), len(points))


# The words of a name with their figures, and for each of the surroundings whether it has any.
Part = tuple[list[NameFigure], Array]


def _named_group(
    group: ZoomGroup, points: Array, figures: list[NameFigure], has: Array
) -> GroupName:
    own = points[group.rows]
    middle = int(np.argmin(np.square(own - np.median(own, axis=0)).sum(axis=1)))
    inside = np.isin(group.surroundings, group.rows, assume_unique=True)
    shown = [] if group.verdict == NOT_FOUND else figures
    return GroupName(
        name=" · ".join(one.words for one in shown),
        level=group.level,
        parent=group.parent,
        size=len(group.rows),
        around=len(group.surroundings) - len(group.rows),
        figures=tuple(shown),
        inside=int(has[inside].sum()) if shown else 0,
        outside=int(has[~inside].sum()) if shown else 0,
        verdict=group.verdict,
        reason=group.reason,
        place=tuple(map(float, own[middle])),
        rows=group.rows,
    )


def _term_figures(
    group: ZoomGroup, present: sp.csr_array, terms: Sequence[str], overall: Array, tests: int
) -> Part:
    chosen = telling_terms(present, terms, group.rows, group.surroundings, overall, tests)
    inside = np.isin(group.surroundings, group.rows, assume_unique=True)
    if not chosen:
        return [], np.zeros(len(inside), dtype=bool)
    has = present[group.surroundings][:, chosen].toarray() > 0
    counts = has[inside].sum(axis=0), has[~inside].sum(axis=0)
    figures = [
        NameFigure(terms[place], int(own), int(other))
        for place, own, other in zip(chosen, *counts, strict=True)
    ]
    return figures, has.any(axis=1)


def _column_figures(
    groups: Sequence[ZoomGroup],
    columns: Mapping[str, Any],
    orders: Mapping[str, Sequence[str]] | None,
    seed: int,
) -> list[Part]:
    """Differences of each group from the rest of its surroundings; siblings in one pass."""
    parts: list[Part] = [([], np.zeros(len(one.surroundings), dtype=bool)) for one in groups]
    values = {name: np.asarray(column) for name, column in columns.items()}
    for key in dict.fromkeys((one.level, one.context) for one in groups):
        own = [place for place, one in enumerate(groups) if (one.level, one.context) == key]
        around = groups[own[0]].surroundings
        codes = np.full(len(around), -1)
        for code, place in enumerate(own):
            codes[np.isin(around, groups[place].rows, assume_unique=True)] = code
        some = {name: column[around] for name, column in values.items()}
        found = figures_by_columns(some, codes, len(own), orders, seed)
        for place, part in zip(own, found, strict=True):
            parts[place] = part
    return parts
