"""What the data say about the groups on a map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from string import ascii_uppercase
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.auditing.blur import LINKS, half_valley
from dualfold.auditing.density import MapGroups
from dualfold.auditing.links import LEAST, parts_of
from dualfold.auditing.valleys import CUT, Cut, Slowest, between
from dualfold.certificate import plain
from dualfold.quality.estimate import Estimate, estimate_of_mean
from dualfold.quality.picture import percent

__all__ = ["LINKS", "Group", "Pair", "judged_groups", "names_of", "united_groups"]


@dataclass(frozen=True)
class Group:
    """One group of the map, and what the data say about it.

    name : A is the largest
    size : points on the map; sampled : those of them that were asked
    label, label_share : the most frequent of the given labels in it
    inside : the share of its points' links that stay in it, with a 95 % interval
    partner : the other group that it has most links with, beside its own size
    verdict : "group": most links stay inside and a border runs all round it, at the level 0.05;
        "torn": no border to at least one other group, at the level 0.05 for all pairs
        together; "scattered": most links leave it; "undecided"; "alone": there is no other
    torn_from : the groups that it has no border with
    parts : sizes of the two groups of the data that it holds, where it was thrown together
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

    @property
    def title(self) -> str:
        """Its name with what it mostly holds."""
        if self.label is None:
            return self.name
        return f"{self.name} (mostly {self.label}, {percent(self.label_share or 0)})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        inside = (float(self.inside), self.inside.low, self.inside.high)
        return {key: plain(value) for key, value in (vars(self) | {"inside": inside}).items()}


@dataclass(frozen=True)
class Pair:
    """Two groups of the map and the valley between them; θ is that of `auditing.valleys`."""

    first: str
    second: str
    cut: Cut

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        share = self.cut.share
        return {
            "groups": [self.first, self.second],
            "links": self.cut.links,
            "share": plain(float(share)),
            "interval": plain((share.low, share.high)),
            "bar": plain(self.cut.bar),
            "apart": self.cut.apart,
            "one": self.cut.one,
        }


def names_of(count: int) -> list[str]:
    """A, B, …, Z, AA, AB, …"""
    names = list(ascii_uppercase)
    while len(names) < count:
        names += [first + last for first in names[-26:] for last in ascii_uppercase]
    return names[:count]


def judged_groups(
    found: MapGroups, codes: Array, lists: Array, labels: Array | None, dimension: float
) -> tuple[tuple[Group, ...], tuple[Pair, ...]]:
    """Every group of the map, held against the links of the sampled points.

    found : the groups of all points; codes, lists : of the sampled points
    labels : of all points, or None; dimension : of the data
    """
    names = names_of(found.count)
    members = [np.flatnonzero(codes == item) for item in range(found.count)]
    asked = [item for item, rows in enumerate(members) if len(rows) >= LEAST]
    tests = max(1, len(asked) * (len(asked) - 1) // 2)
    slowest: Slowest = {}
    cuts = {
        (a, b): _cut(lists, members[a], members[b], tests, dimension, slowest)
        for a, b in combinations(asked, 2)
    }
    groups = []
    for item in range(found.count):
        known = _label_of(labels, found.codes == item)
        if item not in asked:
            none = Estimate(np.nan, 0.0, 1.0, len(members[item]))
            groups.append(
                Group(names[item], int(found.sizes[item]), len(members[item]), none, "undecided",
                      None, (), None, *known)
            )  # fmt: skip
            continue
        own = {
            (second if first == item else first): cut
            for (first, second), cut in cuts.items()
            if item in (first, second)
        }
        together = _thrown_together(lists, members[item])
        groups.append(_group(item, names, found, codes, lists, members[item], own, together, known))
    pairs = tuple(Pair(names[a], names[b], cut) for (a, b), cut in cuts.items())
    return tuple(groups), pairs


def united_groups(
    found: MapGroups,
    codes: Array,
    lists: Array,
    labels: Array | None,
    pairs: tuple[Pair, ...],
    dimension: float,
) -> tuple[Group, ...]:
    """Groups without a valley between them, joined and judged as one; () where none are torn.

    Joined groups have more points, which may show what their parts did not: they are joined and
    judged until none are torn.
    """
    called, judged = names_of(found.count), tuple[Group, ...]()
    while any(pair.cut.one for pair in pairs):
        names = names_of(found.count)
        union = _union(names, pairs)
        sizes = np.bincount(union, weights=found.sizes).astype(int)
        whole = _renamed(union, found.codes)
        found = MapGroups(whole, np.full(len(sizes), np.inf), sizes)
        codes = _renamed(union, codes)
        called = [
            "+".join(called[item] for item in np.flatnonzero(union == one))
            for one in range(len(sizes))
        ]
        judged, pairs = judged_groups(found, codes, lists, labels, dimension)
    back = dict(zip(names_of(found.count), called, strict=True))
    return tuple(
        replace(
            one, name=back[one.name], partner=None if one.partner is None else back[one.partner]
        )
        for one in judged
    )


def _cut(
    lists: Array, first: Array, second: Array, tests: int, dimension: float, known: Slowest
) -> Cut:
    """The valley between two groups, with the bar of its dimension where that matters."""
    cut = between(lists, first, second, tests, known)
    return replace(cut, bar=half_valley(dimension, len(first), len(second))) if cut.one else cut


def _union(names: list[str], pairs: tuple[Pair, ...]) -> Array:
    """For each group the number of what it belongs to, joined along torn pairs."""
    torn = np.array([(names.index(p.first), names.index(p.second)) for p in pairs if p.cut.one]).T
    links = sp.coo_array((np.ones(torn.shape[1]), (torn[0], torn[1])), shape=(len(names),) * 2)
    return np.asarray(connected_components(links, directed=False)[1])


def _renamed(union: Array, codes: Array) -> Array:
    return np.asarray(np.where(codes >= 0, union[codes], -1))


def _group(
    item: int,
    names: list[str],
    found: MapGroups,
    codes: Array,
    lists: Array,
    rows: Array,
    cuts: dict[int, Cut],
    together: tuple[int, int] | None,
    known: tuple[str | None, float | None],
) -> Group:
    stays = np.mean(codes[lists[rows]] == item, axis=1)
    # Points of a group stand for others like them: the interval is of drawing, not of sampling.
    inside = estimate_of_mean(stays, 10**9, (0.0, 1.0))
    assert isinstance(inside, Estimate)
    torn = tuple(names[other] for other, cut in cuts.items() if cut.one)
    partner = max(cuts, key=lambda other: float(cuts[other].share), default=None)
    if found.count == 1:
        verdict = "alone"
    elif torn:
        verdict = "torn"
    elif inside.high < 0.5:
        verdict = "scattered"
    elif inside.low > 0.5 and all(cut.apart for cut in cuts.values()):
        verdict = "group"
    else:
        verdict = "undecided"
    return Group(
        names[item], int(found.sizes[item]), len(rows), inside, verdict,
        None if partner is None else names[partner], torn, together, *known,
    )  # fmt: skip


def _thrown_together(lists: Array, rows: Array) -> tuple[int, int] | None:
    """Sizes of two parts of a group with a valley between them in the data; None without one."""
    first = parts_of(lists, rows)
    if first is None or min(first.sum(), (~first).sum()) < LEAST:
        return None
    cut = between(lists, rows[first], rows[~first], 1)
    # The best of many cuts was taken: it must be as clear as half of what a pair needs.
    return (int(first.sum()), int((~first).sum())) if cut.share.high < CUT / 2 else None


def _label_of(labels: Array | None, chosen: Array) -> tuple[str | None, float | None]:
    if labels is None or not chosen.any():
        return None, None
    values, counts = np.unique(labels[chosen].astype(str), return_counts=True)
    best = int(np.argmax(counts))
    return str(values[best]), float(counts[best] / counts.sum())
