"""Groups that a reader sees on a map: hills of density with valleys between them.

The density at a point is taken from the mean squared distance to its nearest points on the map.
Points are visited from the densest down; each joins the highest hill among its neighbours. Where
two hills meet, the lower one joins the higher one unless it rises above the meeting point by
`MIN_RISE` (in logarithms of the density) and has enough points. What is left are the groups.

Chazal, Guibas, Oudot and Skraba, "Persistence-based clustering in Riemannian manifolds" (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.graph.number_rows import rows_in_units

__all__ = ["MapGroups", "groups_by_least_size", "map_groups"]

MAX_NEAR_POINTS = 30
# Above the noise of a density from 30 neighbours (docs/dev/notes/audits.md).
MIN_RISE = 1.0
MIN_GROUP_POINTS = 20
MIN_GROUP_SHARE = 0.005


@dataclass(frozen=True, eq=False)
class MapGroups:
    """Hills of the map.

    codes : the group of each point, 0 the largest; −1 where none is large enough
    rises : how far each group's top lies above where it meets another, in logarithms of the
        density; infinite for the highest, and where the two do not meet at all
    sizes : points of each group
    """

    codes: Array
    rises: Array
    sizes: Array

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @property
    def separation(self) -> float:
        """Depth of the valleys, 0 (one hill) to 1 (nothing lies between the groups).

        The mean over the points of 1 − (density at the pass)/(density at the top), groups by size,
        the highest group left out.
        """
        if self.count < 2:
            return 0.0
        others = np.arange(self.count) != int(np.argmax(np.where(np.isinf(self.rises), 1, 0)))
        depths = 1 - np.exp(-self.rises[others])
        return float(np.average(depths, weights=self.sizes[others]))


def map_groups(Y: Array, *, n_jobs: int | None = None) -> MapGroups:
    """The groups on a map of a few columns."""
    return groups_by_least_size(Y, (_least_points(len(Y)),), n_jobs=n_jobs)[0]


def groups_by_least_size(
    Y: Array, sizes: Sequence[int], *, n_jobs: int | None = None, near: int | None = None
) -> list[MapGroups]:
    """Groups of one density on a map, for several sizes of the smallest group.

    near : points that the density at a point is taken from
    """
    Y = rows_in_units(Y, "Y")[0]
    n = len(Y)
    if n < 2:
        raise InvalidInput(Argument("Y"), f" needs two rows or more; it has {n}")
    near = _near_points(n) if near is None else min(near, n - 1)
    lists = nearest(Y, near, n_jobs=n_jobs)
    squares = np.square(lists.distances).mean(axis=1)
    positive = squares[squares > 0]
    floor = float(positive.min()) if len(positive) else 1.0
    heights = -0.5 * Y.shape[1] * np.log(np.maximum(squares, floor))
    return [_hills(lists.indices, heights, least) for least in sizes]


def smallest_visible_group(n: int, least: int) -> int:
    """Points that a group of a map needs to be seen: no density is taken across its border."""
    return max(_near_points(n) + 1, least)


def _near_points(n: int) -> int:
    return min(MAX_NEAR_POINTS, max(5, n // 20), n - 1)


def _least_points(n: int) -> int:
    return max(MIN_GROUP_POINTS, round(MIN_GROUP_SHARE * n))


def _hills(lists: Array, heights: Array, least: int) -> MapGroups:
    """Union-find from the top down."""
    n = len(heights)
    order = np.argsort(-heights, kind="stable").astype(np.int32)
    turn_of = np.empty(n, dtype=np.int32)
    turn_of[order] = np.arange(n, dtype=np.int32)
    # A link is seen from its lower end, whichever of the two lists the other.
    rows, columns = np.repeat(turn_of, lists.shape[1]), turn_of[lists.ravel()]
    lower, higher = np.maximum(rows, columns), np.minimum(rows, columns)
    del rows, columns
    arranged = np.argsort(lower, kind="stable")
    ends = np.cumsum(np.bincount(lower, minlength=n)).tolist()
    higher = order[higher[arranged]]
    del arranged, lower
    parent, size, rise = list(range(n)), [1] * n, [np.inf] * n
    top = heights.tolist()

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    begin = 0
    for turn, point in enumerate(order.tolist()):
        # Most of them hang on the same hill already: fewer are left to climb from.
        above = set(map(parent.__getitem__, higher[begin : ends[turn]].tolist()))
        near = {root(other) for other in above}
        begin = ends[turn]
        if not near:
            continue
        hill, *others = sorted(near, key=lambda item: (-top[item], item))
        parent[point] = hill
        size[hill] += 1
        for other in others:
            height = top[other] - top[point]
            if height < MIN_RISE or size[other] < least:
                parent[other] = hill
                size[hill] += size[other]
            else:
                rise[other] = min(rise[other], height)
    return _groups_by_size(np.array([root(item) for item in range(n)]), rise, least)


def _groups_by_size(roots: Array, rise: list[float], least: int) -> MapGroups:
    names, inverse, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    large = np.flatnonzero(sizes >= least)
    large = large[np.argsort(-sizes[large], kind="stable")]
    codes = np.full(len(names), -1)
    codes[large] = np.arange(len(large))
    rises = np.array([rise[names[item]] for item in large])
    return MapGroups(codes[inverse], rises, sizes[large])
