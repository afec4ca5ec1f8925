"""Groups on a map at three levels of zoom, each inside one of the level above, and their tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from dualfold.arrays import Array
from dualfold.judging.groups import group_unions, groups_with_verdicts, linked_groups
from dualfold.judging.groups_found import (
    MAX_TESTED_GROUPS,
    MAX_TESTED_ROWS,
    MAX_VISIBLE_ROWS,
    MIN_GROUP_ROWS,
)
from dualfold.judging.valleys import MIN_PART_POINTS
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.space import Space, subspace
from dualfold.quality.visible_groups import MapGroups, map_groups

__all__ = ["FOUND", "NOT_FOUND", "NOT_TESTABLE", "ZoomGroup", "zoom_groups"]

FOUND = "found"
NOT_FOUND = "not found"
NOT_TESTABLE = "not testable"
N_LEVELS = 3
# Of each level: the smallest group, as a share of the rows and as a number of rows, and the number
# of nearest points that the density is estimated from.
LEAST_SHARES = (0.02, 0.005, 0.001)
LEAST_ROWS = (20, 20, 10)
NEAR_POINTS = (30, 30, 12)
# A group that has nearly all rows of the one above is the same group.
SAME_GROUP_SHARE = 0.9
REASONS = {
    "group": "",
    "torn": "the data have no border to another group",
    "scattered": "most neighbours of its rows are elsewhere",
    "undecided": "the tests decide neither way",
}
BETWEEN = "it was compared with the small groups between larger ones only"


@dataclass(frozen=True, eq=False)
class ZoomGroup:
    """A group on the map.

    level : 1 is the coarsest; it is seen from there on until its own groups are
    parent : the place of the group that it lies in, in the list of all; −1: the whole map
    rows : of its points
    context : the nearest group around it that was not "not found"; −1: the whole map
    surroundings : rows of the context
    verdict, reason : whether the data have it, among the groups beside it
    """

    level: int
    parent: int
    rows: Array
    context: int
    surroundings: Array
    verdict: str = NOT_TESTABLE
    reason: str = ""


def zoom_groups(x: Space | None, points: Array, random_state: int = 0) -> list[ZoomGroup]:
    """The groups of all levels, the coarsest and largest first.

    x : the data; None: nothing is tested
    """
    codes = _nested_codes(points, random_state)
    whole, found = np.arange(len(points)), list[ZoomGroup]()
    owner = np.full(len(points), -1)  # the finest group so far that a row is in
    regions = [_Region(whole)]
    for level in range(1, N_LEVELS + 1):
        own = codes[level - 1]
        verdicts, regions = _verdicts_in(x, own, regions, random_state)
        for code in range(int(own.max(initial=-1)) + 1):
            rows = np.flatnonzero(own == code)
            parent = int(np.bincount(owner[rows] + 1).argmax()) - 1
            above = whole if parent < 0 else found[parent].rows
            if len(rows) > SAME_GROUP_SHARE * len(above):
                continue
            context = parent
            while context >= 0 and found[context].verdict == NOT_FOUND:
                context = found[context].parent  # a reader does not see that group
            around = whole if context < 0 else found[context].rows
            found.append(ZoomGroup(level, parent, rows, context, around, *verdicts[code]))
        for place, one in enumerate(found):
            if one.level == level:
                owner[one.rows] = place
    return found


def _nested_codes(points: Array, seed: int) -> list[Array]:
    """The group of each point on each level, −1 for none; finer ones lie inside coarser ones."""
    n = len(points)
    rows = drawn_rows(n, MAX_VISIBLE_ROWS, seed)
    shown = points if rows is None else points[rows]
    levels = list[Array]()
    for share, least, near in zip(LEAST_SHARES, LEAST_ROWS, NEAR_POINTS, strict=True):
        k = min(near, max(5, n // 20))
        size = max(least, round(share * len(shown)))
        levels.append(map_groups(shown, near=k, least=size).codes)
    for finer in (1, 0):
        levels[finer] = _codes_of_unions(levels[finer], levels[finer + 1])
    if rows is not None:
        nearest = cKDTree(shown).query(points)[1]
        levels = [codes[nearest] for codes in levels]
    return [_by_size(codes) for codes in levels]


def _codes_of_unions(coarse: Array, fine: Array) -> Array:
    """Coarse groups as unions of fine ones: each goes where most of its points are."""
    codes = coarse.copy()
    # Without codes that no point has: those of groups whose parts all went elsewhere.
    for code in np.unique(fine[fine >= 0]).tolist():
        own = fine == code
        codes[own] = int(np.bincount(coarse[own] + 1).argmax()) - 1
    return codes


def _by_size(codes: Array) -> Array:
    sizes = np.bincount(codes + 1, minlength=1)[1:]
    order = np.argsort(-sizes, kind="stable")
    places = np.empty(len(order) + 1, dtype=np.int64)
    places[order] = np.arange(len(order))
    places[-1] = -1
    kept = int(np.count_nonzero(sizes))
    found = places[codes]
    return np.where(found < kept, found, -1)


@dataclass(frozen=True, eq=False)
class _Region:
    """Rows whose groups are tested together.

    is_whole : whether these are groups that the data do not separate, or the map; else they are
        the rows between coarser groups, of which a small group may be a part
    """

    rows: Array
    is_whole: bool = True


def _verdicts_in(
    x: Space | None, codes: Array, regions: list[_Region], seed: int
) -> tuple[dict[int, tuple[str, str]], list[_Region]]:
    """Verdicts on the groups of a level, and the regions for the next."""
    verdicts: dict[int, tuple[str, str]] = {}
    after = list[_Region]()
    for region in regions:
        for inside, tested in _tested_regions(x, codes, region, seed):
            after.append(inside)
            verdicts |= tested
    return verdicts, after


def _tested_regions(
    x: Space | None, codes: Array, region: _Region, seed: int
) -> Iterator[tuple[_Region, dict[int, tuple[str, str]]]]:
    """Groups that the data do not separate, with their verdicts, and then the rows between them."""
    own, local = np.unique(codes[region.rows], return_inverse=True)
    first = int(len(own) > 0 and own[0] < 0)
    own, local = own[first:], local - first
    why = _why_untested(x, len(region.rows), len(own))
    if x is None or why:
        yield region, {int(code): (NOT_TESTABLE, why) for code in own}
        return
    unions, tested = _verdicts_of(x, region, local, len(own), seed)
    for union in range(int(unions.max(initial=-1)) + 1):
        members = np.flatnonzero(unions == union)
        inside = region.rows[np.isin(local, members)]
        yield _Region(inside), {int(own[member]): tested[member] for member in members}
    if len(between := region.rows[local < 0]):
        yield _Region(between, is_whole=False), {}


def _why_untested(x: Space | None, rows: int, count: int) -> str:
    if x is None:
        return "no data were given to test it"
    if rows < MIN_GROUP_ROWS:
        return f"{rows} rows are too few for a test"
    return "there is no other group to compare it with" if count < 2 else ""


def _verdicts_of(
    x: Space, region: _Region, local: Array, count: int, seed: int
) -> tuple[Array, list[tuple[str, str]]]:
    """For each group of a region the union of groups that the map tore, and the verdict."""
    tested = min(count, MAX_TESTED_GROUPS)  # the largest come first
    few = np.where(local < tested, local, -1)
    drawn = drawn_rows(len(few), MAX_TESTED_ROWS, seed)
    chosen = np.arange(len(few)) if drawn is None else drawn
    found = MapGroups(few, np.full(tested, np.inf), np.bincount(few[few >= 0]))
    linked, _ = linked_groups(subspace(x, region.rows[chosen]), found, chosen, seed)
    groups, pairs = groups_with_verdicts(linked, parts=False)
    words = [_words(one.verdict, one.sampled) for one in groups]
    if not region.is_whole:
        words = [(NOT_TESTABLE, BETWEEN) if one[0] == FOUND else one for one in words]
    untested = f"only the {tested} largest groups around it are tested"
    words += [(NOT_TESTABLE, untested)] * (count - tested)
    unions = group_unions(linked.names, pairs)
    alone = unions.max(initial=-1) + 1 + np.arange(count - tested)
    return np.concatenate([unions, alone]), words


def _words(verdict: str, sampled: int) -> tuple[str, str]:
    if verdict == "group":
        return FOUND, ""
    if verdict == "undecided" and sampled < MIN_PART_POINTS:
        return NOT_TESTABLE, f"{sampled} of its rows were drawn, too few for a test"
    return (NOT_TESTABLE if verdict == "undecided" else NOT_FOUND), REASONS[verdict]
