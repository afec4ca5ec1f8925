"""What a map shows of its data: overall order, neighbourhoods, groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.groups import groups_with_verdicts, joined_groups, linked_groups
from dualfold.quality.estimate import drawn_rows, sample_size
from dualfold.quality.map_layout import layout_of
from dualfold.quality.map_verdict import GroupsFound, MapVerdict
from dualfold.quality.picture import Picture
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import EuclideanSpace, Space, both_spaces, subspace
from dualfold.quality.visible_groups import MapGroups, map_groups

__all__ = ["groups_found", "map_verdict"]

N_NEIGHBORS = 10
# Fewer rows have no tests of groups (docs/audit-tests.md).
MIN_GROUP_ROWS = 100
# Rows on which groups are looked for on the map, and rows whose links are counted: a second each.
MAX_VISIBLE_ROWS = 20_000
MAX_TESTED_ROWS = 2_000
# Their pairs are tested.
MAX_TESTED_GROUPS = 60


def map_verdict(
    X: Any,
    Y: Any,
    *,
    columns: Mapping[str, Any] | None = None,
    metric: Any = "euclidean",
    sample_weight: Any = None,
    random_state: int = 0,
) -> MapVerdict:
    """What a map shows of its data: overall order, neighbourhoods, groups.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    columns : mapping or None, default=None
        Names and values of columns in which overall order is looked for; None: the columns of X.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in the share of neighbours kept, 0 or more; None: all alike.
        Order and groups count every point once.
    random_state : int, default=0
        Seed of samples and permutations.

    Returns
    -------
    MapVerdict
        The three answers; `print` it.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows.

    See Also
    --------
    dualfold.audit : Tests of groups, points and statements about distances.
    dualfold.quality.report : All measures of a map.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging import map_verdict
    >>> t = np.linspace(0, 9, 60)
    >>> X = np.column_stack([t, t**2, np.sin(t)])
    >>> found = map_verdict(X, X[:, 1:])
    >>> found.layout.grade, found.neighborhoods.grade, found.groups.grade
    ('good', 'good', 'not tested')
    """
    x, y = both_spaces(X, Y, metric, None)
    near = None
    if x.n > N_NEIGHBORS:
        near = picture_of(
            x,
            y,
            N_NEIGHBORS,
            sample=sample_size(x.n),
            sample_weight=sample_weight,
            random_state=random_state,
        )
    return verdict_with_picture(x, y, near, columns=columns, random_state=random_state)


def verdict_with_picture(
    x: Space,
    y: EuclideanSpace,
    near: Picture | None,
    *,
    columns: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    blocks: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> MapVerdict:
    """The same, where neighbourhoods were measured before; names, blocks : of the columns of X."""
    layout = layout_of(x, y.points, columns, names=names, blocks=blocks, random_state=random_state)
    groups = groups_found(x, y.points, random_state=random_state)
    return MapVerdict(layout, near, groups)


def groups_found(x: Space, Y: Any, *, random_state: int = 0) -> GroupsFound:
    """How many of the visible groups of a map the data have; on a sample of many rows.

    The tests are those of `audit`; more rows have more power there.
    """
    points = np.asarray(Y, dtype=float)
    if x.n < MIN_GROUP_ROWS:
        return GroupsFound(0, reason=f"{x.n} rows are too few; {MIN_GROUP_ROWS} are needed")
    rows, visible = visible_groups(points, random_state)
    if visible.count < 2:
        return GroupsFound(visible.count, sampled=len(rows))
    if visible.count > MAX_TESTED_GROUPS:
        return GroupsFound(visible.count, reason=f"{visible.count} groups are visible, too many")
    chosen = _rows(len(rows), MAX_TESTED_ROWS, random_state)
    linked, _ = linked_groups(subspace(x, rows[chosen]), visible, chosen, random_state)
    groups, pairs = groups_with_verdicts(linked, parts=False)
    unions = joined_groups(linked, pairs, parts=False)
    joined = [one.verdict for one in unions].count("group")
    verdicts = tuple(one.verdict for one in groups)
    counts = Counter(verdicts)
    return GroupsFound(
        visible.count,
        counts["group"],
        counts["torn"],
        counts["scattered"],
        len(chosen),
        verdicts=verdicts,
        joined=joined if joined > 1 else 0,
    )


def visible_groups(points: Array, random_state: int = 0) -> tuple[Array, MapGroups]:
    """The rows on which groups are looked for, a sample of many, and the groups of these."""
    rows = _rows(len(points), MAX_VISIBLE_ROWS, random_state)
    return rows, map_groups(points[rows])


def _rows(n: int, most: int, seed: int) -> Array:
    rows = drawn_rows(n, most, seed)
    return np.arange(n) if rows is None else rows
