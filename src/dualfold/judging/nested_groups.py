"""Groups on a map at three levels of zoom, each inside one of the level above, and their tests.

Of the first level are all groups that lie in no other: what is said of "visible groups" counts
these, and their tests are one test at the level 0.05 for all pairs together. Finer groups are
tested among the groups beside them in the same part of the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from dualfold.arrays import Array
from dualfold.judging.groups import (
    Group,
    LinkedGroups,
    Pair,
    group_names,
    group_unions,
    groups_with_verdicts,
    joined_groups,
    linked_groups,
)
from dualfold.judging.named_groups import NamedGroup, NamedGroups
from dualfold.judging.valleys import MIN_PART_POINTS
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.space import Space, subspace
from dualfold.quality.visible_groups import (
    MapGroups,
    groups_by_least_size,
    smallest_visible_group,
)

__all__ = ["nested_groups"]

# Fewer rows have no tests of groups (docs/audit-tests.md).
MIN_GROUP_ROWS = 100
# Rows on which groups are looked for on the map, and rows whose links are counted: a second each.
MAX_VISIBLE_ROWS = 20_000
MAX_TESTED_ROWS = 2_000
# Their pairs are tested.
MAX_TESTED_GROUPS = 60
N_LEVELS = 3
# Of each level: the smallest group, as a share of the rows and as a number of rows. The second
# level is that of an audit (`map_groups`).
LEAST_SHARES = (0.02, 0.005, 0.001)
LEAST_ROWS = (20, 20, 10)
# Of the finest level: the nearest points that the density is estimated from.
FINE_NEAR_POINTS = 12
# A group that has nearly all rows of the one above is the same group.
SAME_GROUP_SHARE = 0.9
REASONS = {
    "torn": "the data have no border to another group",
    "scattered": "most neighbours of its rows are elsewhere",
    "undecided": "the tests decide neither way",
}
BETWEEN = "it was compared with the small groups between larger ones only"


def nested_groups(
    x: Space | None, Y: Any, *, n_levels: int = N_LEVELS, random_state: int = 0
) -> NamedGroups:
    """The groups of a map with what the data say of each, the coarsest and largest first.

    x : the data; None: nothing is tested
    n_levels : 1: the visible groups alone
    """
    points = np.asarray(Y, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    n = len(points)
    if n < 2:
        return NamedGroups((), n)
    codes, least = _nested_codes(points, n_levels, random_state)
    groups, owner = list[NamedGroup](), np.full(n, -1)  # the finest group so far that a row is in
    first = _region_test(x, codes[0], _Region(np.arange(n)), random_state)
    regions, verdicts = first.regions, first.findings
    for level in range(1, n_levels + 1):
        if level > 1:
            tests = [_region_test(x, codes[level - 1], one, random_state) for one in regions]
            regions = [inside for test in tests for inside in test.regions]
            verdicts = {code: words for test in tests for code, words in test.findings.items()}
        found = _groups_of_level(points, codes[level - 1], level, groups, owner, verdicts)
        groups += list(found)
        for index, group in enumerate(groups):
            if group.level == level:
                owner[group.rows] = index
    return NamedGroups(
        tuple(groups), n, first.sampled, first.untested, first.joined, min(1.0, least / n)
    )


def _groups_of_level(
    points: Array,
    codes: Array,
    level: int,
    above: Sequence[NamedGroup],
    owner: Array,
    verdicts: dict[int, tuple[str, str]],
) -> Iterator[NamedGroup]:
    """The groups of a level that are no group of a level above, with their letters."""
    letters = group_names(int(codes.max(initial=-1)) + 1)
    children = Counter(group.parent for group in above)
    for code in range(len(letters)):
        rows = np.flatnonzero(codes == code)
        parent = int(owner[rows[0]])
        around = above[parent].size if parent >= 0 else len(points)
        if level > 1 and len(rows) > SAME_GROUP_SHARE * around:
            continue
        children[parent] += 1
        letter = letters[code]
        if level > 1:
            inside = above[parent].letter if parent >= 0 else ""
            letter = f"{inside}{'.' if inside[-1:].isdigit() else ''}{children[parent]}"
        own = points[rows]
        middle = int(np.argmin(np.square(own - np.median(own, axis=0)).sum(axis=1)))
        place = tuple(map(float, own[middle]))
        yield NamedGroup(letter, rows, place, level, parent, *verdicts[code])


def _nested_codes(points: Array, n_levels: int, seed: int) -> tuple[list[Array], int]:
    """The group of each point on each level, −1 for none; and the rows of a visible group."""
    n = len(points)
    rows = drawn_rows(n, MAX_VISIBLE_ROWS, seed)
    shown = points if rows is None else points[rows]
    sizes = [
        max(least, round(share * len(shown)))
        for share, least in zip(LEAST_SHARES, LEAST_ROWS, strict=True)
    ]
    coarse, middle = (found.codes for found in groups_by_least_size(shown, sizes[:2]))
    levels = [_first_codes(coarse, middle)]
    if levels[0].max() < 0:  # one hill is the map itself, or what is left of it without its edge
        middle = levels[0]
    if n_levels > 1:
        near = min(FINE_NEAR_POINTS, max(5, len(shown) // 20))
        (fine,) = groups_by_least_size(shown, sizes[2:], near=near)
        levels.append(_codes_inside(middle, levels[0], sizes[1]))
        inside = _codes_inside(fine.codes, levels[1], sizes[2])
        levels.append(_codes_inside(inside, levels[0], sizes[2]))
    least = smallest_visible_group(len(shown), sizes[0])
    if rows is not None:
        nearest = cKDTree(shown).query(points)[1]
        levels = [codes[nearest] for codes in levels]
        least = round(least * n / len(shown))
    return [_by_size(codes) for codes in levels], least


def _first_codes(coarse: Array, middle: Array) -> Array:
    """Coarse groups, and smaller ones that lie in none of them; −1 for all where there is one.

    A map whose small groups all hang on one large one shows these.
    """
    first = coarse.copy()
    outside = np.where(coarse < 0, middle, -1)
    for code in np.unique(outside[outside >= 0]).tolist():
        own = outside == code
        if 2 * own.sum() > (middle == code).sum():
            first[own] = first.max(initial=-1) + 1
    for codes in (first, middle):
        if codes.max(initial=-1) > 0:
            return codes
    return np.full(len(first), -1)


def _codes_inside(fine: Array, coarse: Array, least: int) -> Array:
    """Fine groups, without rows that lie outside of the coarse group that has most of them."""
    codes = fine.copy()
    for code in range(int(fine.max(initial=-1)) + 1):
        own = fine == code
        if own.any():
            home = int(np.bincount(coarse[own] + 1).argmax()) - 1
            codes[own & (coarse != home)] = -1
            if (codes == code).sum() < least:
                codes[own] = -1
    return codes


def _by_size(codes: Array) -> Array:
    sizes = np.bincount(codes + 1, minlength=1)[1:]
    order = np.argsort(-sizes, kind="stable")
    new_codes = np.empty(len(order) + 1, dtype=np.int64)
    new_codes[order] = np.arange(len(order))
    new_codes[-1] = -1
    kept = int(np.count_nonzero(sizes))
    codes = new_codes[codes]
    return np.where(codes < kept, codes, -1)


@dataclass(frozen=True, eq=False)
class _Region:
    """Rows whose groups are tested together.

    is_whole : whether these are groups that the data do not separate, or the map; else they are
        the rows between coarser groups, of which a small group may be a part
    """

    rows: Array
    is_whole: bool = True


@dataclass(frozen=True, eq=False)
class _RegionTest:
    """Findings of the tests of groups in one region.

    findings : code of a group → finding and reason, as a `NamedGroup` has them
    regions : where the groups of the next level are tested together
    sampled, untested, joined : as in `NamedGroups`
    """

    findings: dict[int, tuple[str, str]]
    regions: list[_Region]
    sampled: int = 0
    untested: str = ""
    joined: int = 0


def _region_test(x: Space | None, codes: Array, region: _Region, seed: int) -> _RegionTest:
    own, local = np.unique(codes[region.rows], return_inverse=True)
    first = int(len(own) > 0 and own[0] < 0)
    own, local = own[first:], local - first
    untested = _why_untested(x, len(region.rows))
    lonely = "" if len(own) > 1 else "there is no other group to compare it with"
    if x is None or untested or lonely:
        findings = {int(code): ("", untested or lonely) for code in own}
        return _RegionTest(findings, [region], untested=untested)
    linked, groups, pairs = _tested_groups(x, region, local, len(own), seed)
    sampled = len(linked.codes)
    findings, regions = {}, []
    for code, group in zip(own.tolist(), groups, strict=False):
        if group.verdict == "undecided" and group.sampled < MIN_PART_POINTS:
            finding = "undecided", f"{group.sampled} of its rows were drawn, too few for a test"
        elif group.verdict == "group" and not region.is_whole:
            finding = "", BETWEEN
        else:
            finding = group.verdict, REASONS.get(group.verdict, "")
        findings[code] = finding
    for code in own[len(groups) :].tolist():
        findings[code] = "", f"only the {len(groups)} largest groups around it are tested"
    unions = group_unions(linked.names, pairs)
    unions = np.concatenate([unions, unions.max() + 1 + np.arange(len(own) - len(groups))])
    for union in range(int(unions.max()) + 1):
        members = np.flatnonzero(unions == union)
        regions.append(_Region(region.rows[np.isin(local, members)]))
    if len(between := region.rows[local < 0]):
        regions.append(_Region(between, is_whole=False))
    joined = 0
    if len(region.rows) == len(codes):
        joined = [one.verdict for one in joined_groups(linked, pairs, parts=False)].count("group")
    return _RegionTest(findings, regions, sampled, joined=joined if joined > 1 else 0)


def _why_untested(x: Space | None, rows: int) -> str:
    if x is None:
        return "no data were given to test it"
    return "" if rows >= MIN_GROUP_ROWS else f"{rows} rows are too few; {MIN_GROUP_ROWS} are needed"


def _tested_groups(
    x: Space, region: _Region, local: Array, count: int, seed: int
) -> tuple[LinkedGroups, tuple[Group, ...], tuple[Pair, ...]]:
    """The largest groups of a region with their verdicts, from the links of some of its rows."""
    tested = min(count, MAX_TESTED_GROUPS)  # the largest come first
    codes = np.where(local < tested, local, -1)
    drawn = drawn_rows(len(codes), MAX_TESTED_ROWS, seed)
    chosen = np.arange(len(codes)) if drawn is None else drawn
    found = MapGroups(codes, np.full(tested, np.inf), np.bincount(codes[codes >= 0]))
    linked, _ = linked_groups(subspace(x, region.rows[chosen]), found, chosen, seed)
    return linked, *groups_with_verdicts(linked, parts=False)
