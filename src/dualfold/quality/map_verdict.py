"""The verdict on a map: overall order, neighbourhoods, groups; none above the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.quality.estimate import mean_estimate
from dualfold.quality.map_layout import SHOWN_GRADES, TRIVIAL, Layout
from dualfold.quality.picture import Picture, mean_picture, percent
from dualfold.quality.visible_groups import smallest_visible_group

# What is missing where two axes show a part of everything, whatever the columns are.
UNRELATED_ORDER = "more overall order than unrelated columns have"


@dataclass(frozen=True)
class GroupsFound:
    """How many of the groups that a map shows the data have, too.

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
        """The same where groups that were not found are undecided.

        Guesses in filled cells blur the border of a group; they do not show that there is none.
        """
        open_ = tuple(word if word == "group" else "undecided" for word in self.verdicts)
        return replace(self, torn=0, scattered=0, verdicts=open_, joined=0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        words = {"grade": self.grade, "tested": self.is_tested, "text": str(self)}
        return vars(self) | words


@dataclass(frozen=True)
class MapVerdict:
    """What a map shows of its data: three answers, each with its number, chance and a word.

    Attributes
    ----------
    layout : Layout
        Overall order: whether large distances hold, and whether columns rise along the map. Its
        `grade` is "good", "fair", "trivial" (no more than unrelated columns have), "poor" or
        "hardly any".
    neighborhoods : Picture or None
        Whether near rows are near on the map; None where there are too few rows.
    groups : GroupsFound
        How many of the `visible` groups are `found` in the data, `torn` or `scattered`.
    filled_share : float
        Share of the cells of the table that were filled in. If it is above 0, the numbers are means
        over plausible fillings.
    doubt : str
        Why the map cannot be judged, in words; "" where it can.

    See Also
    --------
    dualfold.judging.map_verdict : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging import map_verdict
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = map_verdict(X, 2 * X)
    >>> found.layout.grade, found.neighborhoods.grade, found.groups.grade
    ('good', 'good', 'not tested')
    """

    layout: Layout
    neighborhoods: Picture | None
    groups: GroupsFound
    filled_share: float = 0.0
    doubt: str = ""

    @property
    def shows_nothing(self) -> bool:
        """Whether the map shows neither order nor neighbourhoods nor groups.

        Returns
        -------
        bool
            True where none of the three is shown.
        """
        near = self.neighborhoods
        return bool(self.doubt) or (
            self.layout.grade not in SHOWN_GRADES
            and (near is None or near.grade not in SHOWN_GRADES)
            and self.groups.grade not in ("all", "most")
        )

    @property
    def headline(self) -> str:
        """What can be read off the map and what cannot.

        Returns
        -------
        str
            One sentence.
        """
        if self.doubt:
            return f"It cannot be judged: {self.doubt}."
        shown, missing = self._parts()
        if shown and missing:
            text = f"Shows {_list_in_words(shown, 'and')}, not {_list_in_words(missing, 'nor')}"
        elif shown:
            text = f"Shows {_list_in_words(shown, 'and')}"
        else:
            neither = "neither " if len(missing) > 1 else "no "
            text = f"Shows {neither}{_list_in_words(missing, 'nor')}"
        return f"{text}{self._words_of_other_groups()}."

    def _parts(self) -> tuple[list[str], list[str]]:
        """What it shows, and what it does not."""
        shown, missing = list[str](), list[str]()
        grade, columns = self.layout.grade, self.layout.column_words
        order = f"overall order ({columns})" if columns else "overall order"
        if grade in SHOWN_GRADES:
            shown.append(order if grade == "good" else f"roughly {order}")
        else:
            missing.append(UNRELATED_ORDER if grade == TRIVIAL else "overall order")
        near = self.neighborhoods
        if near is not None and near.is_judged:
            if near.grade in SHOWN_GRADES:
                shown.append(f"{'' if near.grade == 'good' else 'roughly '}who is near whom")
            else:
                missing.append("who is near whom")
        groups = self.groups
        if groups.grade == "all":
            shown.append(f"{groups.visible} groups of the data")
        elif groups.grade == "most":
            shown.append(f"groups of the data ({groups.found} of {groups.visible})")
        return shown, missing

    def _words_of_other_groups(self) -> str:
        groups = self.groups
        if groups.are_false:
            count = groups.torn + groups.scattered
            of_all = "" if count == groups.visible else f"{count} of "
            whole = f", but joined they make up {groups.joined}" if groups.joined else ""
            return f"; {of_all}its {groups.visible} visible groups are no groups of the data{whole}"
        if groups.grade == "undecided":
            return f"; it is undecided whether its {groups.visible} visible groups are in the data"
        if groups.grade == "some":
            found = f"{groups.found} of its {groups.visible} visible groups"
            return f"; {found} {'is' if groups.found == 1 else 'are'} found in the data, too"
        return ""

    def __str__(self) -> str:
        if self.doubt:
            return self.headline
        lines = [
            self.headline,
            f"  Overall order: {self.layout}.",
            *(
                []
                if self.neighborhoods is None
                else [f"  Neighbourhoods: {_low(self.neighborhoods)}"]
            ),
            f"  Groups: {self.groups}.",
        ]
        return "\n".join(lines)

    @property
    def short(self) -> str:
        """The three grades.

        Returns
        -------
        str
            A few words for a caption or a table.
        """
        near = self.neighborhoods
        if self.doubt:
            return "cannot be judged"
        words = [f"order: {self.layout.grade}"]
        if near is not None:
            words.append(f"neighbours: {near.grade} ({percent(near.kept)} kept)")
        if self.groups.is_tested:
            words.append(f"groups: {self.groups.found} of {self.groups.visible}")
        return "; ".join(words)

    def to_dict(self) -> dict[str, Any]:
        """The three answers with their numbers and sentences.

        Returns
        -------
        dict
            Ready for JSON.
        """
        near = self.neighborhoods
        return {
            "schema": "dualfold.map_verdict/1",
            "headline": self.headline,
            "short": self.short,
            "layout": self.layout.to_dict(),
            "neighborhoods": None if near is None else near.to_dict(),
            "groups": self.groups.to_dict(),
            "filled_share": self.filled_share,
            "doubt": self.doubt,
            "text": str(self),
        }


def mean_verdict(
    verdicts: Sequence[MapVerdict], filled_share: float = 0.0, doubt: str = ""
) -> MapVerdict:
    """The mean of verdicts on one map, by several plausible fillings of its table.

    Columns are those of the first filling, groups those of the middle one by how many are found;
    that a group is none of the data is not said of filled cells.
    filled_share, doubt : as in `MapVerdict`
    """
    first = verdicts[0]
    layouts = [one.layout for one in verdicts]
    pictures = [one.neighborhoods for one in verdicts if one.neighborhoods is not None]
    if len(verdicts) == 1:
        return replace(first, filled_share=filled_share, doubt=doubt)
    layout = replace(
        first.layout,
        distances=mean_estimate([one.distances for one in layouts], 0),
        chance=float(np.mean([one.chance for one in layouts])),
        unrelated=next((one.unrelated for one in layouts if one.unrelated is not None), None),
    )
    near = mean_picture(pictures, filled_share, doubt) if pictures else None
    groups = sorted((one.groups for one in verdicts), key=lambda one: one.found)
    middle = groups[(len(groups) - 1) // 2].without_denials()
    return MapVerdict(layout, near, middle, filled_share, doubt)


def _list_in_words(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _low(picture: Picture) -> str:
    text = str(picture)
    return text[0].lower() + text[1:]
