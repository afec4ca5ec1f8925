"""Neighbour lists with their ties.

Of points that are equally far in X, within the rounding of the distances, no order is wrong: they
share their ranks, and a map that takes any of them keeps a neighbour. Points that are equally far
on the map have no order there: what is counted of them is its mean over all orders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.threads import row_slices
from dualfold.quality.rank_counts import Ranks
from dualfold.quality.space import Space

# Entries of a list compared with each other at a time.
_ENTRIES_PER_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class TiedLists:
    """The k nearest of m points, nearest first, and the ranks that each shares with its ties.

    indices, distances : m×k
    ranks : of these points among all
    """

    indices: Array
    distances: Array
    ranks: Ranks

    def first(self, k: int) -> TiedLists:
        """The first k columns."""
        ranks = Ranks(*(part[:, :k] for part in self.ranks))
        return TiedLists(self.indices[:, :k], self.distances[:, :k], ranks)


def tied_lists(space: Space, k: int, rows: Array | None, *, rounded: bool) -> TiedLists:
    """The k nearest of each row (None: of all). `rounded`: as `Space.ranks` takes it."""
    # One more than k: whether a tie goes on beyond the list.
    indices, distances = space.nearest(min(k + 1, space.n - 1), rows)
    untied = np.arange(1, indices.shape[1] + 1, dtype=np.int32)
    ranks = Ranks(*(np.broadcast_to(untied, indices.shape) for _ in range(2)))
    widths = np.broadcast_to(0.0, distances.shape)
    if rounded:
        widths = space.tie_widths(rows, distances)
    tied = np.flatnonzero((np.diff(distances, axis=1) <= widths[:, 1:]).any(axis=1))
    if len(tied):
        ranks = Ranks(*(part.copy() for part in ranks))
        step = max(1, _ENTRIES_PER_CHUNK // indices.shape[1] ** 2)
        for part in row_slices(len(tied), step):
            rows_of_part = tied[part]
            each, other = distances[rows_of_part][:, :, None], distances[rows_of_part][:, None, :]
            width = widths[rows_of_part][:, :, None]
            ranks.first[rows_of_part] = 1 + np.count_nonzero(other < each - width, axis=2)
            ranks.last[rows_of_part] = np.count_nonzero(other <= each + width, axis=2)
        some_ranks = Ranks(*(part[:, :k] for part in ranks))
        _extend_last_ties(space, indices[:, :k], some_ranks, rows, rounded)
    return TiedLists(indices, distances, ranks).first(k)


def _extend_last_ties(
    space: Space, indices: Array, ranks: Ranks, rows: Array | None, rounded: bool
) -> None:
    """Count, in place, the last ranks of ties that go on beyond the lists."""
    k = indices.shape[1]
    open_ = np.flatnonzero(ranks.last[:, -1] > k)
    if not len(open_):
        return
    names = open_ if rows is None else rows[open_]
    last = space.ranks(indices[open_, -1:], names, rounded=rounded).last
    ends = ranks.last[open_]
    ranks.last[open_] = np.where(ends > k, np.maximum(last, ends), ends)


def ranks_of_listed(x: Space, before: TiedLists, columns: Array, rows: Array | None) -> Ranks:
    """The ranks in X of `columns`, as far as the lists `before` know them; n beyond."""
    m, k = before.indices.shape
    ranks = Ranks(*(np.full(columns.shape, x.n, dtype=np.int32) for _ in range(2)))
    step = max(1, _ENTRIES_PER_CHUNK // (k + columns.shape[1]))
    for part in row_slices(m, step):
        row, position, other = common_ranks(before.indices[part], columns[part])
        for known, rank in zip(before.ranks, ranks, strict=True):
            rank[part][row, other] = known[part][row, position]
    tied = np.flatnonzero(before.ranks.last[:, -1] > k)
    if len(tied):  # as far as the last of the list, but not on it
        names = tied if rows is None else rows[tied]
        ends = before.distances[tied, -1:]
        near = x.distances_to(columns[tied], names) <= ends + x.tie_widths(names, ends)
        row, other = np.nonzero(near & (ranks.first[tied] > k))
        for known, rank in zip(before.ranks, ranks, strict=True):
            rank[tied[row], other] = known[tied[row], -1]
    return ranks


def ties_beyond_lists(x: Space, y: Space, before: TiedLists) -> tuple[Array, Array]:
    """Pairs (row, point as far in X as the last of its list, but not on it), near on the map.

    before : the lists of all rows; near are the points among twice as many as a list holds
    """
    k = before.indices.shape[1]
    tied = np.flatnonzero(before.ranks.last[:, -1] > k)
    if not len(tied):
        return tied, tied
    tied_rows = TiedLists(
        before.indices[tied], before.distances[tied], Ranks(*(r[tied] for r in before.ranks))
    )
    shown = y.nearest(min(2 * k, y.n - 1))[0][tied]
    near = ranks_of_listed(x, tied_rows, shown, tied).first <= k
    row, _, column = common_ranks(tied_rows.indices, shown)
    near[row, column] = False
    row, column = np.nonzero(near)
    return tied[row], shown[row, column]


def common_ranks(before: Array, after: Array) -> tuple[Array, Array, Array]:
    """(row, place in `before`, place in `after`) of every neighbour in both lists."""
    k = before.shape[1]
    both = np.hstack([before, after]).astype(np.int64)
    position = np.argsort(both, axis=1, kind="stable")  # equal names: the one of `before` first
    ordered = np.take_along_axis(both, position, axis=1)
    row, at = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
    return row, position[row, at], position[row, at + 1] - k


@dataclass(frozen=True, eq=False)
class OrderMeans:
    """Rows with ties on the map: means over all orders of the points that tie there.

    places : which of the measured rows these are
    kept, excess, errors : t×k, of the first 1 … k places of the map's list the number of
        neighbours kept, Σ max(0, ρ − k), and Σ (distance of the place from ρ's ties) / place
    counts : k×k, of [rank in X, place on the map], over all these rows
    """

    places: Array
    kept: Array
    excess: Array
    errors: Array
    counts: Array


def order_means(x: Space, y: Space, after: TiedLists, rows: Array | None) -> OrderMeans | None:
    """Means for the rows whose lists `after` have ties on the map; None if there are none."""
    k = after.indices.shape[1]
    places = np.flatnonzero((after.ranks.last > after.ranks.first).any(axis=1)).astype(np.int32)
    if not len(places):
        return None
    sums = np.empty((3, len(places), k))
    counts: dict[int, Array] = {}

    def tile(part: slice, names: Array) -> None:
        before, shown = x.true_rows(names), y.true_rows(names)
        widths = x.tie_widths(names, before)
        counts[part.start] = np.zeros((k, k))
        for row in range(len(names)):
            members, ranks_y = _map_members(shown[row], k)
            ordered, near, width = np.sort(before[row]), before[row][members], widths[row][members]
            first = 1 + np.searchsorted(ordered, near - width, side="left")
            ranks_x = Ranks(first, np.searchsorted(ordered, near + width, side="right"))
            sums[:, part.start + row] = _order_sums(ranks_x, ranks_y, k)
            _add_counts(counts[part.start], ranks_x, ranks_y)

    x.each_tile(tile, places if rows is None else rows[places])
    total = np.sum([counts[start] for start in sorted(counts)], axis=0)
    return OrderMeans(places, sums[0], sums[1], sums[2], total)


def _map_members(distances: Array, k: int) -> tuple[Array, Ranks]:
    """The points that may be among the k nearest, nearest first, and the ranks that they share."""
    members = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
    members = members[np.argsort(distances[members], kind="stable")]
    starts = np.flatnonzero(np.diff(distances[members], prepend=-1.0))
    sizes = np.diff(np.append(starts, len(members)))
    return members, Ranks(np.repeat(starts + 1, sizes), np.repeat(starts + sizes, sizes))


def _order_sums(ranks_x: Ranks, ranks_y: Ranks, k: int) -> tuple[Array, Array, Array]:
    """Numbers of one row for `OrderMeans`: kept, excess, errors."""
    position = np.arange(1, k + 1)[:, None]
    sizes = ranks_y.last - ranks_y.first + 1
    kept = kept_by_size(ranks_x.first, ranks_y, k)
    among = np.clip(position - ranks_y.first + 1, 0, sizes) / sizes  # chance to be in the list
    excess = (among * np.maximum(ranks_x.first - position, 0)).sum(axis=1)
    here = ((ranks_y.first <= position) & (position <= ranks_y.last)) / sizes
    errors = (here * ties_distance(position, ranks_x)).sum(axis=1) / position[:, 0]
    return kept, excess, np.cumsum(errors)


def kept_by_size(first: Array, ranks_y: Ranks, k: int) -> Array:
    """Numbers of the K nearest on the map that are among the K nearest in X, K = 1 … k.

    Where points tie on the map they are means over the orders of ties.

    first : the first ranks in X of some points around one; ranks_y : those on the map

    A point is among the K nearest in X from K = first on, and on the map with the chance
    (K − ranks_y.first + 1)/size: 0, a step, a slope, then 1.
    """
    sizes = ranks_y.last - ranks_y.first + 1
    start = np.maximum(first, ranks_y.first)
    steps = np.minimum(start - ranks_y.first + 1, sizes) / sizes
    slopes = np.zeros(k + 2)
    np.add.at(slopes, np.minimum(start + 1, k + 1), 1 / sizes)
    np.add.at(slopes, np.minimum(np.maximum(start, ranks_y.last) + 1, k + 1), -1 / sizes)
    rises = np.bincount(np.minimum(start, k + 1), weights=steps, minlength=k + 2)
    return np.asarray(np.cumsum(rises[1 : k + 1] + np.cumsum(slopes)[1 : k + 1]))


def _add_counts(counts: Array, ranks_x: Ranks, ranks_y: Ranks) -> None:
    k = len(counts)
    listed = np.flatnonzero(ranks_x.first <= k)
    position = np.arange(1, k + 1)[:, None]
    first, last = (part[listed] for part in ranks_y)
    at, who = np.nonzero((first <= position) & (position <= last))
    rank = np.clip(at + 1, ranks_x.first[listed][who], ranks_x.last[listed][who])
    inside = rank <= k
    np.add.at(counts, (rank[inside] - 1, at[inside]), (1 / (last - first + 1))[who[inside]])


def ties_distance(places: Array, ranks: Ranks) -> Array:
    """Distance of places from the ranks that ties share; 0 within them."""
    return np.maximum(np.maximum(ranks.first - places, places - ranks.last), 0)
