"""Groups that a map shows: how many of them the data have, too."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.groups import groups_with_verdicts, joined_groups, linked_groups
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.picture import percent
from dualfold.quality.space import Space, subspace
from dualfold.quality.visible_groups import MapGroups, map_groups, smallest_visible_group

__all__ = ["GroupsFound", "groups_found", "visible_groups"]

# Fewer rows have no tests of groups (docs/audit-tests.md).
MIN_GROUP_ROWS = 100
# Rows on which groups are looked for on the map, and rows whose links are counted: a second each.
MAX_VISIBLE_ROWS = 20_000
MAX_TESTED_ROWS = 2_000
# Their pairs are tested.
MAX_TESTED_GROUPS = 60


@dataclass(frozen=True)
class GroupsFound:
    """Groups that a map shows, and how many of them the data have.

    visible : hills of density on the map
    found : of these, groups of the data: most links to near rows stay inside, and a border runs all
        round, at the level 0.05; torn : no border to at least one other group; scattered : most
        links leave it. The others are undecided.
    sampled : rows whose links were counted; 0: groups were not tested
    reason : why not
    verdicts : of each group, the largest first; () where they were not tested
    joined : groups of the data that there are where torn ones are joined

    >>> print(GroupsFound(8, 6, 2, 0, 1_000))
    most: 6 of 8 visible groups are groups of the data, too (level 0.05); 2 are torn from others
    """

    visible: int
    found: int = 0
    torn: int = 0
    scattered: int = 0
    sampled: int = 0
    reason: str = ""
    verdicts: tuple[str, ...] = ()
    joined: int = 0

    @property
    def is_tested(self) -> bool:
        """Whether there were groups to test, and they were."""
        return self.sampled > 0 and self.visible > 1

    @property
    def grade(self) -> str:
        """all, most, some, none; undecided; none visible; not tested."""
        if self.visible < 2 and not self.reason:
            return "none visible"
        if not self.is_tested:
            return "not tested"
        if self.found == self.visible:
            return "all"
        if 2 * self.found >= self.visible:
            return "most"
        return "some" if self.found else "none" if self.are_false else "undecided"

    @property
    def are_false(self) -> bool:
        """Whether most of them are no groups of the data."""
        return self.is_tested and 2 * (self.torn + self.scattered) > self.visible

    def __str__(self) -> str:
        if self.grade == "none visible":
            n = max(self.sampled, 2)
            least = percent(min(1.0, smallest_visible_group(n) / n))
            return (
                f"none visible: no groups of {least} of the points or more stand apart on the map"
            )
        if not self.is_tested:
            return f"not tested: {self.reason}"
        text = (
            f"{self.grade}: {self.found} of {self.visible} visible groups are groups of the data, "
            "too (level 0.05)"
        )
        open_ = self.visible - self.found - self.torn - self.scattered
        counts = {
            "torn from others": self.torn,
            "scattered in the data": self.scattered,
            "undecided": open_,
        }
        parts = [f"{n} {'is' if n == 1 else 'are'} {what}" for what, n in counts.items() if n]
        whole = [f"where torn ones are joined, {self.joined} groups"] if self.joined else []
        return "; ".join([text, *parts, *whole])

    def without_denials(self) -> GroupsFound:
        """Copy in which groups that were not found are undecided.

        Guesses in filled cells blur the border of a group; they do not show that there is none.
        """
        open_ = tuple(word if word == "group" else "undecided" for word in self.verdicts)
        return replace(self, torn=0, scattered=0, verdicts=open_, joined=0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        words = {"grade": self.grade, "tested": self.is_tested, "text": str(self)}
        return vars(self) | words


def groups_found(x: Space, Y: Any, *, random_state: int = 0) -> GroupsFound:
    """Visible groups of a map, and how many the data have; on a sample of many rows.

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
