"""What the rows that came last have changed: foreign rows, drift, new groups, pieces, short cuts.

All tests assume that rows of one kind are exchangeable and ask whether new rows are of the kind of
the old ones. On the nearest rows of all rows together they permute which of them are new, so that
their levels hold for every distribution (Schilling 1986; Henze 1988); foreign rows have conformal
p-values.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array, Metric, Rows
from dualfold.certificate import plain
from dualfold.graph.grown_graphs import nearest_others, stacked_rows
from dualfold.graph.neighbors import nearest
from dualfold.quality.conformal import compared_rows
from dualfold.quality.foreign_rows import ForeignRows

# Most rows that are compared: enough to see a group that is 3 % of the rows of one update.
MAX_OLD_ROWS = 20_000
MAX_NEW_ROWS = 5_000
# Neighbours whose labels are counted, and the share of them that is new inside a group of new rows.
N_NEIGHBORS = 10
BORN_SHARE = 0.8
# On a map that was fitted to a neighbour graph, the neighbours of a fitted row were drawn together
# through it, those of a new row only through others: their spread must be larger by this factor.
# Without it 4 of 60 updates raised an alarm at a level of 1 in 80 (docs/dev/notes/growing-maps.md).
GRAPH_SPREAD = 2.0
# They resolve a chance of 1 in 1,000.
PERMUTATIONS = 999
# Rows of each kind whose neighbours on the map are compared with those in the data.
MAX_KEPT_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class BornGroup:
    """New rows next to one another that no old row is among.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers among all rows of the map.
    chance : float
        Chance that exchangeable rows have a group as large.
    place : ndarray
        The middle of their points.

    See Also
    --------
    NewRows : Has them.

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(120, random_state=0).points
    >>> new = X[100:] + [500, 0, 0]
    >>> grown = PCA().fit(X[:100]).extend(new, old=X[:100])
    >>> [len(group.rows) for group in grown.new_rows_.born]
    [20]
    """

    rows: Array
    chance: float
    place: Array


@dataclass(frozen=True, eq=False)
class NewRows:
    """Changes by the rows that came last; print it.

    Attributes
    ----------
    n_new : int
        Number of rows that came last.
    kept_by_old : float
        Share of the nearest rows in the data that are nearest on the map, mean over old rows.
    kept_by_new : float
        The same over new rows.
    foreign : ForeignRows or None
        Conformal comparison of new rows with old ones; None with fewer than 3 old rows.
    drift : float
        Share of new rows among the neighbours of new rows, beyond their share of all rows, from 0
        (as mixed as rows of one kind) to 1.
    drift_chance : float
        Chance that exchangeable rows are mixed as little.
    born : tuple of BornGroup
        Groups of new rows without old ones, the largest first.
    new_pieces : tuple of ndarray
        Rows of each piece of the graph that holds no old row; empty without a graph.
    short_cuts : ndarray of int
        New rows whose neighbours lie farther apart on the map than those of any old row; more than
        twice as far on maps of a neighbour graph, whose fit drew those of old rows together.
    short_cut_chance : float
        Chance that exchangeable rows have as many; NaN where points pull their neighbours, so that
        old rows have nearer ones than others and no chance is known.

    See Also
    --------
    dualfold.UpdatedMap : Has one.

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(120, random_state=0).points
    >>> new = PCA().fit(X[:100]).extend(X[100:], old=X[:100]).new_rows_
    >>> new.n_new, new.alarms(0.005)
    (20, [])
    """

    n_new: int
    kept_by_old: float
    kept_by_new: float
    foreign: ForeignRows | None = None
    drift: float = 0.0
    drift_chance: float = 1.0
    born: tuple[BornGroup, ...] = ()
    new_pieces: tuple[Array, ...] = ()
    short_cuts: Array = field(default_factory=lambda: np.zeros(0, int))
    short_cut_chance: float = 1.0

    def alarms(self, level: float) -> list[str]:
        """In words, what rows of one kind would show in at most a share `level` of updates.

        Parameters
        ----------
        level : float
            Share of updates with a false alarm; each of the four tests gets a quarter of it.

        Returns
        -------
        list of str
            One sentence for each test that finds more than chance allows.
        """
        part, sentences = level / 4, []
        born = [len(group.rows) for group in self.born if group.chance <= part]
        if born:
            groups = "a group" if len(born) == 1 else f"{len(born)} groups"
            sentences.append(f"{sum(born):,} new rows make {groups} that no old row is in")
        # The two tests of foreign rows share their part.
        rows = self.foreign
        if rows is not None and min(rows.chance_of_count, rows.chance_of_furthest) <= part / 2:
            sentences.append(
                f"{rows.count:,} of {self.n_new:,} new rows are foreign to the old ones"
            )
        if self.drift_chance <= part:
            sentences.append(
                "new rows lie elsewhere than old ones: more of their neighbours are new than by "
                f"chance (drift {self.drift:.2f})"
            )
        if self.short_cut_chance <= part:
            sentences.append(
                f"{len(self.short_cuts):,} new rows link places that are far apart on the map"
            )
        return sentences

    def __str__(self) -> str:
        lines = [
            f"{self.n_new:,} rows came. Neighbours kept on the map: {self.kept_by_old:.0%} by old "
            f"rows, {self.kept_by_new:.0%} by new ones."
        ]
        if self.foreign is not None:
            lines.append(str(self.foreign))
        lines.append(
            f"Drift {self.drift:.2f} (0: new rows lie as old ones; chance {self.drift_chance:.2g} "
            "if rows are exchangeable)."
        )
        for group in self.born:
            lines.append(
                f"{len(group.rows):,} new rows make a group of their own (chance "
                f"{group.chance:.2g})."
            )
        if self.new_pieces:
            sizes = ", ".join(f"{len(rows):,}" for rows in self.new_pieces[:5])
            lines.append(f"New pieces of the graph: {len(self.new_pieces)}, of {sizes} rows.")
        if len(self.short_cuts):
            chance = self.short_cut_chance
            words = "no chance is known" if np.isnan(chance) else f"chance {chance:.2g}"
            lines.append(
                f"{len(self.short_cuts):,} new rows link places farther apart on the map than any "
                f"old row does ({words})."
            )
        return " ".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers and lists, as JSON takes them.

        Returns
        -------
        dict
            The attributes.
        """
        return {
            "n_new": self.n_new,
            "neighbors_kept": {"old": plain(self.kept_by_old), "new": plain(self.kept_by_new)},
            "foreign": None if self.foreign is None else self.foreign.to_dict(),
            "drift": {"share": plain(self.drift), "chance": plain(self.drift_chance)},
            "born": [
                {
                    "rows": [int(row) for row in group.rows],
                    "chance": group.chance,
                    "place": [float(x) for x in group.place],
                }
                for group in self.born
            ],
            "new_pieces": [len(rows) for rows in self.new_pieces],
            "short_cuts": {
                "rows": [int(row) for row in self.short_cuts],
                "chance": plain(self.short_cut_chance),
            },
        }


def compared_with_old(
    X: Rows,
    points: Array,
    is_new: Array,
    metric: Metric,
    graph_pieces: tuple[Array, ...],
    *,
    points_pull: bool = False,
    from_graph: bool = False,
) -> NewRows:
    """Changes by new rows.

    X, points : all rows in the units of their metric, and their places on the map
    is_new : whether each row came last
    graph_pieces : rows of the pieces of the graph that hold no old row
    points_pull : whether the fit moved the neighbours of each fitted row towards it
    from_graph : whether the map was fitted to a neighbour graph
    """
    old, new = _sample(~is_new, MAX_OLD_ROWS), _sample(is_new, MAX_NEW_ROWS)
    known = NewRows(
        n_new=int(is_new.sum()),
        kept_by_old=_kept_share(X, points, old, metric),
        kept_by_new=_kept_share(X, points, new, metric),
        new_pieces=graph_pieces,
    )
    k = min(N_NEIGHBORS, len(old) - 1)
    if k < 1:
        return known
    near = compared_rows(X[old], X[new], n_neighbors=min(5, len(old) - 1), metric=metric)
    both = np.concatenate([old, new])
    drift, chance, groups = _permutation_tests(stacked_rows(X[old], X[new]), len(old), k, metric)
    cuts, cut_chance = _short_cuts(X, points, old, new, metric, GRAPH_SPREAD if from_graph else 1.0)
    return replace(
        known,
        foreign=ForeignRows(near.p_values, len(old), near.distances, near.old_distance),
        drift=drift,
        drift_chance=chance,
        born=tuple(
            BornGroup(np.sort(both[rows]), p, points[both[rows]].mean(axis=0)) for rows, p in groups
        ),
        short_cuts=cuts,
        short_cut_chance=np.nan if points_pull else cut_chance,
    )


def _sample(which: Array, most: int) -> Array:
    rows = np.flatnonzero(which)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _kept_share(X: Rows, points: Array, rows: Array, metric: Metric) -> float:
    """The share of nearest rows in the data that are nearest on the map, mean over some rows."""
    n = X.shape[0]
    k = min(N_NEIGHBORS, n - 1)
    if k < 1 or not len(rows):
        return np.nan
    sample = rows
    if len(rows) > MAX_KEPT_ROWS:
        sample = np.random.default_rng(1).choice(rows, MAX_KEPT_ROWS, replace=False)
    places = np.asarray(points, dtype=float)
    in_data = nearest_others(X, sample, k, metric)[0]
    on_map = nearest_others(places, sample, k, "euclidean")[0]
    shared = [len(np.intersect1d(a, b)) for a, b in zip(in_data, on_map, strict=True)]
    return float(np.mean(shared)) / k


def _permutation_tests(
    X: Rows, n_old: int, k: int, metric: Metric
) -> tuple[float, float, list[tuple[Array, float]]]:
    """Drift with its chance, and groups of new rows without old ones with theirs.

    X holds n_old old rows, then the new ones. Under exchangeability every choice of as many rows is
    as likely to be the new ones.
    """
    N, m = X.shape[0], X.shape[0] - n_old
    draw = np.random.default_rng(0)
    lists = _lists_in_random_order(X, k, metric, draw)
    share, groups = _share_and_groups(lists, np.arange(n_old, N))
    shares, sizes = np.empty(PERMUTATIONS), np.empty(PERMUTATIONS, int)
    for number in range(PERMUTATIONS):
        chosen, others = _share_and_groups(lists, draw.choice(N, m, replace=False, shuffle=False))
        shares[number], sizes[number] = chosen, max((len(rows) for rows in others), default=0)
    usual = (m - 1) / (N - 1)
    chance = float(1 + np.sum(shares >= share)) / (PERMUTATIONS + 1)
    drift = max(0.0, (share - usual) / (1 - usual))
    chances = [
        (rows, float(1 + np.sum(sizes >= len(rows))) / (PERMUTATIONS + 1))
        for rows in sorted(groups, key=len, reverse=True)
    ]
    return drift, chance, [(rows, p) for rows, p in chances if p <= 0.05]


def _lists_in_random_order(X: Rows, k: int, metric: Metric, draw: np.random.Generator) -> Array:
    """Nearest rows; of rows that are equally near a random order decides.

    The search takes those with smaller numbers, which are the old ones: where new rows are copies
    of old ones, no new row would be in the list of another one.
    """
    order = draw.permutation(X.shape[0])
    lists = np.empty((X.shape[0], k), int)
    lists[order] = order[nearest(X[order], k, metric=metric).indices]
    return lists


def _share_and_groups(lists: Array, chosen: Array) -> tuple[float, list[Array]]:
    """The share of chosen rows among the neighbours of chosen ones, and groups of them.

    A group: rows most of whose neighbours are chosen, linked by being neighbours.
    """
    mark = np.zeros(len(lists), bool)
    mark[chosen] = True
    counts = mark[lists[chosen]].sum(axis=1)
    inside = chosen[counts >= np.ceil(BORN_SHARE * lists.shape[1])]
    if not len(inside):
        return float(counts.mean()) / lists.shape[1], []
    number = np.full(len(lists), -1)
    number[inside] = np.arange(len(inside))
    columns = number[lists[inside]]
    rows = np.repeat(np.arange(len(inside)), columns.shape[1])
    linked = columns.ravel() >= 0
    edges = sp.coo_array(
        (np.ones(int(linked.sum()), np.int8), (rows[linked], columns.ravel()[linked])),
        shape=(len(inside), len(inside)),
    )
    labels = connected_components(edges, directed=False)[1]
    groups = [inside[labels == label] for label in range(labels.max() + 1)]
    return float(counts.mean()) / lists.shape[1], groups


def _short_cuts(
    X: Rows, points: Array, old: Array, new: Array, metric: Metric, times: float
) -> tuple[Array, float]:
    """New rows whose nearest old rows lie farther apart on the map than those of any old row.

    Their spread is more than `times` the largest spread of an old row. Beside them stands the
    chance that as many exchangeable rows have such a spread.
    """
    k = min(N_NEIGHBORS, len(old) - 1)
    places = np.asarray(points, dtype=float)[old]
    of_old = nearest(X[old], k, metric=metric).indices
    of_new = nearest(X[old], k, queries=X[new], metric=metric).indices
    spreads = [_neighbor_spreads(places, lists) for lists in (of_old, of_new)]
    beyond = spreads[1] > times * spreads[0].max()
    count = int(beyond.sum())
    chance = ForeignRows(np.ones(len(new)), len(old)).chance_of(count, 1)
    return new[beyond], chance


def _neighbor_spreads(places: Array, lists: Array) -> Array:
    """The root mean square distance of each row's neighbours from their middle, on the map."""
    spread = np.empty(len(lists))
    for start in range(0, len(lists), 4096):
        near = places[lists[start : start + 4096]]
        near = near - near.mean(axis=1, keepdims=True)
        spread[start : start + 4096] = np.sqrt(np.sum(near**2, axis=(1, 2)) / near.shape[1])
    return spread
