"""What the data say about the groups on a map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from string import ascii_uppercase

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.certificate import plain
from dualfold.judging.valleys import (
    HALF_HEIGHT,
    LINKS_PER_POINT,
    MIN_PART_POINTS,
    SlowestDirections,
    Valley,
    best_cut,
    half_valley,
    valley_between,
)
from dualfold.quality.dimension_estimates import Dimension, intrinsic_dimension
from dualfold.quality.estimate import Estimate, drawn_rows, estimate_of_mean, measured_weights
from dualfold.quality.picture import percent
from dualfold.quality.space import Space, subspace
from dualfold.quality.visible_groups import MapGroups

__all__ = [
    "LINKS_PER_POINT",
    "Group",
    "LinkedGroups",
    "Pair",
    "group_names",
    "group_unions",
    "groups_with_verdicts",
    "joined_groups",
    "linked_groups",
]

MAX_DIMENSION_ROWS = 2_000


@dataclass(frozen=True)
class Group:
    """Group of a map, and what the data say about it.

    Attributes
    ----------
    name : str
        "A" is the largest.
    size : int
        Number of points on the map.
    sampled : int
        Number of its points whose links were counted.
    inside : Estimate
        Share of its points' links that stay in the group, with the limits `low` and `high`.
    verdict : str
        "group": most links stay inside, and a border runs all round it, at the level 0.05.
        "torn": no border to at least one other group, at the level 0.05 for all pairs together.
        "scattered": most links leave it. "undecided". "alone": there is no other group.
    partner : str or None
        The other group that it has most links with, for its own size.
    torn_from : tuple of str
        Groups that it has no border with.
    parts : tuple of int or None
        Sizes of the two groups of the data that it holds, where these were thrown together.
    label : str or None
        The most frequent of the given labels in it.
    label_share : float or None
        Share of its points that have this label, by weight where points have weights.
    weight : float or None
        Share of the weights of all points that its points have; None where all count alike.

    See Also
    --------
    dualfold.audit : Finds the groups of a map.

    Examples
    --------
    >>> from dualfold.judging import Group
    >>> from dualfold.quality.estimate import Estimate
    >>> inside = Estimate(0.9, 0.8, 1.0, 60)
    >>> Group("A", 60, 60, inside, "group", label="cats", label_share=0.75).title
    'A (mostly cats, 75 %)'
    """

    name: str
    size: int
    sampled: int
    inside: Estimate
    verdict: str
    partner: str | None = None
    torn_from: tuple[str, ...] = ()
    parts: tuple[int, int] | None = None
    label: str | None = None
    label_share: float | None = None
    weight: float | None = None

    @property
    def title(self) -> str:
        """The name with the most frequent label.

        Returns
        -------
        str
            The name alone where no labels were given.
        """
        if self.label is None:
            return self.name
        return f"{self.name} (mostly {self.label}, {percent(self.label_share or 0)})"

    def to_dict(self) -> dict[str, object]:
        """All fields.

        Returns
        -------
        dict
            Ready for JSON.
        """
        inside = (float(self.inside), self.inside.low, self.inside.high)
        return {key: plain(value) for key, value in (vars(self) | {"inside": inside}).items()}


@dataclass(frozen=True)
class Pair:
    """Two groups of a map, and whether the data have a border between them.

    Attributes
    ----------
    first : str
        Name of one group.
    second : str
        Name of the other group.
    valley : Valley
        The density between them: `share`, its height as a share of that of the groups; `links`, the
        number of links between them; `is_present`, whether there is a border, and `is_absent`,
        whether there is none, each at the level 0.05.

    See Also
    --------
    dualfold.audit : Finds the groups of a map.

    Examples
    --------
    >>> from dualfold.judging import Pair
    >>> from dualfold.quality.estimate import Estimate
    >>> between = Valley(Estimate(0.1, 0.0, 0.2, 60), links=3, lower_bound=0.0, chance=0.01)
    >>> Pair("A", "B", between).valley.is_present
    True
    """

    first: str
    second: str
    valley: Valley

    def to_dict(self) -> dict[str, object]:
        """The names, the share with its interval, and both tests.

        Returns
        -------
        dict
            Ready for JSON.
        """
        share = self.valley.share
        return {
            "groups": [self.first, self.second],
            "links": self.valley.links,
            "share": plain(float(share)),
            "interval": plain((share.low, share.high)),
            "chance": plain(self.valley.chance),
            "bar": plain(self.valley.threshold),
            "apart": self.valley.is_present,
            "one": self.valley.is_absent,
        }


def group_names(count: int) -> list[str]:
    """A, B, …, Z, AA, AB, …"""
    names = list(ascii_uppercase)
    while len(names) < count:
        names += [first + last for first in names[-26:] for last in ascii_uppercase]
    return names[:count]


@dataclass(frozen=True, eq=False)
class LinkedGroups:
    """The groups of a map, and the links in the data of some of its points.

    found : the groups of all points
    codes, lists : the group and the links of each sampled point
    dimension : of the data
    labels : of all points, or None
    weights : of all points, together 1; None where all count alike
    rows : the sampled points
    radii : the length of the longest link of each sampled point; None: unknown
    """

    found: MapGroups
    codes: Array
    lists: Array
    dimension: float
    labels: Array | None = None
    weights: Array | None = None
    rows: Array | None = None
    radii: Array | None = None

    @cached_property
    def names(self) -> list[str]:
        """A, B, …: the largest group first."""
        return group_names(self.found.count)

    @cached_property
    def members(self) -> list[Array]:
        """The sampled points of each group."""
        return [np.flatnonzero(self.codes == item) for item in range(self.found.count)]

    def reached_codes(self, large: list[int]) -> Array:
        """The groups of the list; points of no such group count to the one that their links reach.

        Else a map that draws the points between two groups elsewhere would cut the path from one
        to the other.
        """
        codes = np.where(np.isin(self.codes, large), self.codes, -1)
        while len(open_ := np.flatnonzero(codes < 0)):
            ends = codes[self.lists[open_]]
            first = np.argmax(ends >= 0, axis=1)  # the nearest that has a group
            codes[open_] = ends[np.arange(len(open_)), first]
            if np.array_equal(open_, np.flatnonzero(codes < 0)):
                break
        return codes

    def with_unions(self, union: Array) -> LinkedGroups:
        """Groups of the same number in `union`, joined."""
        sizes = np.bincount(union, weights=self.found.sizes).astype(int)
        whole = _union_codes(union, self.found.codes)
        found = MapGroups(whole, np.full(len(sizes), np.inf), sizes)
        return replace(self, found=found, codes=_union_codes(union, self.codes))


def linked_groups(
    some: Space,
    found: MapGroups,
    rows: Array,
    seed: int,
    labels: Array | None = None,
    weights: Array | None = None,
) -> tuple[LinkedGroups, Dimension]:
    """The groups of a map with the links of some of its points, and the dimension of these.

    some : the data of the points `rows`; labels, weights : of all points
    """
    few = drawn_rows(some.n, MAX_DIMENSION_ROWS, seed)
    dimension = intrinsic_dimension(some if few is None else subspace(some, few), random_state=seed)
    # The larger one is the cautious one: it needs more to call a group torn.
    width = max(float(dimension.two_nn), float(dimension.levina_bickel))
    lists, lengths = some.nearest(LINKS_PER_POINT)
    codes = found.codes[rows]
    radii = lengths[:, -1]
    return LinkedGroups(found, codes, lists, width, labels, weights, rows, radii), dimension


def groups_with_verdicts(
    linked: LinkedGroups, *, parts: bool = True
) -> tuple[tuple[Group, ...], tuple[Pair, ...]]:
    """Every group of the map, compared with the links of the sampled points.

    parts : whether each is searched for two groups of the data; no verdict depends on it
    """
    members, names = linked.members, linked.names
    large = [item for item, rows in enumerate(members) if len(rows) >= MIN_PART_POINTS]
    tests = max(1, len(large) * (len(large) - 1) // 2)
    slowest: SlowestDirections = {}
    valleys: dict[tuple[int, int], Valley] = {}
    reached = linked.reached_codes(large)
    territories = {item: np.flatnonzero(reached == item) for item in large}
    for a, b in combinations(large, 2):
        sides = territories[a], territories[b]
        valley = valley_between(linked.lists, *sides, tests, slowest, radii=linked.radii)
        if valley.is_absent:  # the threshold of the data's dimension matters only there
            threshold = half_valley(linked.dimension, len(members[a]), len(members[b]))
            valley = replace(valley, threshold=threshold)
        valleys[a, b] = valley
    groups = []
    for item in range(linked.found.count):
        own = {
            (second if first == item else first): valley
            for (first, second), valley in valleys.items()
            if item in (first, second)
        }
        group = _group(linked, item, own if item in large else None)
        if parts and item in large:
            group = replace(group, parts=_thrown_together(linked, members[item]))
        groups.append(group)
    pairs = tuple(Pair(names[a], names[b], valley) for (a, b), valley in valleys.items())
    return tuple(groups), pairs


def joined_groups(
    linked: LinkedGroups, pairs: tuple[Pair, ...], *, parts: bool = True
) -> tuple[Group, ...]:
    """Groups without a valley between them, joined and judged as one; () where none are torn.

    Joined groups have more points, which may show what their parts did not: they are joined and
    judged until none are torn.
    """
    called, groups = linked.names, tuple[Group, ...]()
    while any(pair.valley.is_absent for pair in pairs):
        union = group_unions(linked.names, pairs)
        linked = linked.with_unions(union)
        called = [
            "+".join(called[item] for item in np.flatnonzero(union == one))
            for one in range(linked.found.count)
        ]
        groups, pairs = groups_with_verdicts(linked, parts=parts)
    back = dict(zip(linked.names, called, strict=True))
    return tuple(
        replace(
            one, name=back[one.name], partner=None if one.partner is None else back[one.partner]
        )
        for one in groups
    )


def group_unions(names: list[str], pairs: tuple[Pair, ...]) -> Array:
    """For each group the number of what it belongs to, joined along torn pairs."""
    absent = [pair for pair in pairs if pair.valley.is_absent]
    torn = np.array(
        [(names.index(pair.first), names.index(pair.second)) for pair in absent], dtype=np.intp
    )
    torn = torn.reshape(-1, 2).T
    links = sp.coo_array((np.ones(torn.shape[1]), (torn[0], torn[1])), shape=(len(names),) * 2)
    return np.asarray(connected_components(links, directed=False)[1])


def _union_codes(union: Array, codes: Array) -> Array:
    return np.asarray(np.where(codes >= 0, union[codes], -1))


def _group(linked: LinkedGroups, item: int, valleys: dict[int, Valley] | None) -> Group:
    """A group with its verdict; `valleys` to the other groups, None where it is too small."""
    found, rows, names = linked.found, linked.members[item], linked.names
    size, own = int(found.sizes[item]), found.codes == item
    label, share = _commonest_label(linked.labels, own, linked.weights)
    weight = None if linked.weights is None else float(linked.weights[own].sum())
    if valleys is None:
        unknown = Estimate(np.nan, 0.0, 1.0, len(rows))
        undecided = Group(names[item], size, len(rows), unknown, "undecided", weight=weight)
        return replace(undecided, label=label, label_share=share)
    inside = _inside(linked, item)
    torn = tuple(names[other] for other, valley in valleys.items() if valley.is_absent)
    partner = max(valleys, key=lambda other: float(valleys[other].share), default=None)
    if found.count == 1:
        verdict = "alone"
    elif torn:
        verdict = "torn"
    elif inside.high < 0.5:
        verdict = "scattered"
    elif inside.low > 0.5 and all(valley.is_present for valley in valleys.values()):
        verdict = "group"
    else:
        verdict = "undecided"
    return Group(
        names[item],
        size,
        len(rows),
        inside,
        verdict,
        partner=None if partner is None else names[partner],
        torn_from=torn,
        label=label,
        label_share=share,
        weight=weight,
    )


def _inside(linked: LinkedGroups, item: int) -> Estimate:
    """The share of links that stay in a group, by weight; unknown where none of it counts."""
    rows, counted = linked.members[item], None
    if linked.weights is not None and linked.rows is not None:
        own = linked.weights[linked.rows[rows]]
        if not own.any():
            return Estimate(np.nan, 0.0, 1.0, len(rows))
        counted = measured_weights(own, None, len(rows))
    stays = np.mean(linked.codes[linked.lists[rows]] == item, axis=1)
    # Points of a group stand for others like them: the interval is of drawing, not of sampling.
    if counted is not None:
        counted = replace(counted, left=1.0)
    inside = estimate_of_mean(stays, 10**9, (0.0, 1.0), counted)
    assert isinstance(inside, Estimate)
    return inside


def _thrown_together(linked: LinkedGroups, rows: Array) -> tuple[int, int] | None:
    """Sizes of two parts of a group with a valley between them in the data; None without one.

    The valley must be there among all points, too: the ends of one line are no groups where
    only its middle was drawn elsewhere.
    """
    lists, radii = linked.lists, linked.radii
    first = best_cut(lists, rows)
    if first is None or min(first.sum(), (~first).sum()) < MIN_PART_POINTS:
        return None
    others = np.setdiff1d(np.arange(len(lists)), rows)
    for passed in (None, others):
        sides = rows[first], rows[~first]
        valley = valley_between(lists, *sides, 1, others=passed, radii=radii)
        # The best of many cuts was taken: it must be as clear as half of what a pair needs.
        if not valley.is_below(HALF_HEIGHT / 2):
            return None
    return int(first.sum()), int((~first).sum())


def _commonest_label(
    labels: Array | None, chosen: Array, weights: Array | None
) -> tuple[str | None, float | None]:
    if labels is None or not chosen.any():
        return None, None
    own = None if weights is None or not weights[chosen].any() else weights[chosen]
    values, places = np.unique(labels[chosen].astype(str), return_inverse=True)
    counts = np.bincount(places, own)
    best = int(np.argmax(counts))
    return str(values[best]), float(counts[best] / counts.sum())
