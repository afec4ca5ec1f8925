"""Groups of a map: one letter, one name and one verdict for each, wherever they are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.column_differences import Difference
from dualfold.quality.picture import percent

__all__ = ["CANNOT_TELL", "FOUND", "NOT_FOUND", "NameFigure", "NamedGroup", "NamedGroups"]

FOUND, NOT_FOUND, CANNOT_TELL = "found", "not found", "cannot tell"
# Verdicts of the tests of `groups.py`; where these decide neither way nobody can tell.
VERDICTS = {"group": FOUND, "torn": NOT_FOUND, "scattered": NOT_FOUND}
VERDICT_WORDS = {
    FOUND: "found in the data",
    NOT_FOUND: "not found in the data",
    CANNOT_TELL: "cannot tell whether the data have it",
}
FILLED_REASON = "cells were filled in, which may blur its border"
# Groups that are listed in a few lines, of one level and of all; letters in one line.
MAX_LISTED_GROUPS = 6
MAX_PRINTED_GROUPS = 12
MAX_LISTED_LETTERS = 8


@dataclass(frozen=True)
class NameFigure:
    """Part of a name and how many rows have it.

    Attributes
    ----------
    words : str
        The term, the level of a category, or a column with "high", "low" or "medium".
    inside : int
        Rows of the group that have it.
    outside : int
        Rows of its surroundings outside of the group that have it.

    Examples
    --------
    >>> from dualfold.judging.named_groups import NameFigure
    >>> NameFigure("soup", 40, 3).words
    'soup'
    """

    words: str
    inside: int
    outside: int


@dataclass(frozen=True, eq=False)
class NamedGroup:
    """A group that a map shows, with its name and what the data say about it.

    Attributes
    ----------
    letter : str
        "A" is the largest; finer groups have the letter of the group that they lie in and a number.
    rows : ndarray of int
        Its rows, counted from 0.
    place : tuple of float
        Coordinates of the row in its middle.
    level : int
        Level of zoom at which it appears: 1, 2 or 3, the finest.
    parent : int
        Position of the group that it lies in, in the list of all groups; −1: the whole map.
    finding : str
        What the tests of an audit say about it among the groups beside it: "group", "torn",
        "scattered" or "undecided"; "" where it was not tested.
    reason : str
        Why it was not found, or why nobody can tell.
    name : str
        Two to four terms, or what differs in columns; "" where the data have no such group, or
        nothing tells it from its surroundings.
    made_of : str
        Whether it was compared by "terms" or by "columns"; "" where nobody asked for a name.
    figures : tuple of NameFigure
        What the name is made of, with how many rows have each, inside and outside.
    inside : int
        Rows of the group that have one of these terms, or all of these parts of columns.
    outside : int
        Rows of the surroundings outside of the group that have.
    around : int
        Number of rows of its surroundings outside of it.
    differences : tuple of Difference
        Columns in which it differs from its surroundings, those of its name first.

    See Also
    --------
    dualfold.view.named_groups : Finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging.named_groups import NamedGroup, NameFigure
    >>> soup = NamedGroup("A", np.arange(2), (0.0, 0.0), finding="group", name="soup",
    ...     made_of="terms", figures=(NameFigure("soup", 2, 1),), inside=2, outside=1, around=8)
    >>> print(soup)
    A: soup; 2 rows; 2 of them and 1 of 8 around have it; found in the data
    """

    letter: str
    rows: Array = field(repr=False)
    place: tuple[float, ...] = ()
    level: int = 1
    parent: int = -1
    finding: str = ""
    reason: str = ""
    name: str = ""
    made_of: str = ""
    figures: tuple[NameFigure, ...] = ()
    inside: int = 0
    outside: int = 0
    around: int = 0
    differences: tuple[Difference, ...] = ()

    @property
    def size(self) -> int:
        """Number of its rows.

        Returns
        -------
        int
            At least 1.
        """
        return len(self.rows)

    @property
    def verdict(self) -> str:
        """Whether the data have this group among its surroundings, at the level 0.05.

        Returns
        -------
        str
            "found", "not found" or "cannot tell".
        """
        return VERDICTS.get(self.finding, CANNOT_TELL)

    @property
    def title(self) -> str:
        """The letter with the name.

        Returns
        -------
        str
            The letter alone where it has no name.
        """
        return f"{self.letter}: {self.name}" if self.name else self.letter

    @property
    def about(self) -> str:
        """Evidence that sets it apart, and the verdict.

        Returns
        -------
        str
            Parts of a sentence.
        """
        judged = VERDICT_WORDS[self.verdict] + (f" ({self.reason})" if self.reason else "")
        return "; ".join([*self._evidence, judged])

    @property
    def _evidence(self) -> list[str]:
        if self.verdict == NOT_FOUND or not self.made_of:
            return []
        evidence = [str(difference) for difference in self.differences]
        if self.made_of == "terms" or len(self.figures) > 1:
            shares = f"{self.inside:,} of them and {self.outside:,} of {self.around:,} around"
            have = "one of these terms" if self.made_of == "terms" else "all of this"
            have = "it" if len(self.figures) == 1 else have
            evidence = [f"{shares} have {have}", *evidence] if self.figures else evidence
        return evidence or ["nothing sets it apart"]

    def __str__(self) -> str:
        beside = "; " if self.name else ": "
        return f"{self.title}{beside}{self.size:,} rows; {self.about}"

    def to_dict(self) -> dict[str, object]:
        """All but the rows.

        Returns
        -------
        dict
            Ready for JSON.
        """
        stated = {key: value for key, value in vars(self).items() if key != "rows"}
        return stated | {
            "size": self.size,
            "verdict": self.verdict,
            "figures": [vars(figure) for figure in self.figures],
            "differences": [vars(difference) for difference in self.differences],
            "place": list(self.place),
            "text": str(self),
        }


@dataclass(frozen=True, eq=False)
class NamedGroups:
    """The groups of a map, and how many of them the data have; a sequence of `NamedGroup`.

    Attributes
    ----------
    groups : tuple of NamedGroup
        The coarsest first, then the largest. Those of level 1 are the visible groups that are
        counted; finer ones are seen when a reader zooms in.
    n_rows : int
        Number of rows of the map.
    sampled : int
        Rows whose links the tests of visible groups counted; 0: these groups were not tested.
    untested : str
        Why not.
    joined : int
        Groups of the data that there are where visible groups without a border are joined.
    least : float
        Share of the rows that a group needs to be visible.

    See Also
    --------
    dualfold.view.named_groups : Finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging.named_groups import NamedGroup, NamedGroups
    >>> halves = np.arange(400), np.arange(400, 1_000)
    >>> groups = [NamedGroup(letter, rows, finding="group") for letter, rows in zip("AB", halves)]
    >>> NamedGroups(tuple(groups), 1_000, sampled=1_000).summary
    'all: 2 of 2 visible groups are groups of the data, too (level 0.05)'
    """

    groups: tuple[NamedGroup, ...]
    n_rows: int
    sampled: int = 0
    untested: str = ""
    joined: int = 0
    least: float = 0.0

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[NamedGroup]:
        return iter(self.groups)

    def __getitem__(self, index: int) -> NamedGroup:
        return self.groups[index]

    @property
    def first(self) -> tuple[NamedGroup, ...]:
        """The groups of level 1.

        Returns
        -------
        tuple of NamedGroup
            Those that the whole map shows.
        """
        return tuple(group for group in self.groups if group.level == 1)

    @property
    def visible(self) -> int:
        """Number of groups that the whole map shows.

        Returns
        -------
        int
            0 where the map is one cloud.
        """
        return len(self.first)

    @property
    def found(self) -> int:
        """Number of visible groups that the data have.

        Returns
        -------
        int
            At most `visible`.
        """
        return self._counts["group"]

    @property
    def n_torn(self) -> int:
        """Number of visible groups that have no border to another group in the data.

        Returns
        -------
        int
            At most `visible`.
        """
        return self._counts["torn"]

    @property
    def n_scattered(self) -> int:
        """Number of visible groups that have most neighbours elsewhere in the data.

        Returns
        -------
        int
            At most `visible`.
        """
        return self._counts["scattered"]

    @property
    def _counts(self) -> Counter[str]:
        return Counter(group.finding for group in self.first)

    @property
    def is_tested(self) -> bool:
        """Whether there were groups to test, and they were.

        Returns
        -------
        bool
            False where fewer than two groups are visible.
        """
        return self.sampled > 0 and self.visible > 1

    @property
    def grade(self) -> str:
        """Share of the visible groups that the data have, in a word.

        Returns
        -------
        str
            "all", "most", "some", "none", "cannot tell", "none visible" or "not tested".
        """
        if not self.is_tested:
            return "not tested" if self.untested else "none visible"
        if self.found == self.visible:
            return "all"
        if 2 * self.found >= self.visible:
            return "most"
        return "some" if self.found else "none" if self.are_false else CANNOT_TELL

    @property
    def are_false(self) -> bool:
        """Whether most of the visible groups are no groups of the data.

        Returns
        -------
        bool
            False where they were not tested.
        """
        return self.is_tested and 2 * (self.n_torn + self.n_scattered) > self.visible

    @property
    def summary(self) -> str:
        """Sentence on the visible groups that the data have, and why others not.

        Returns
        -------
        str
            A sentence.
        """
        if self.grade == "none visible":
            least = percent(self.least)
            return (
                f"none visible: no groups of {least} of the points or more stand apart on the map"
            )
        if not self.is_tested:
            return f"not tested: {self.untested}"
        text = (
            f"{self.grade}: {self.found} of {self.visible} visible groups are groups of the data, "
            "too (level 0.05)"
        )
        open_count = self.visible - self.found - self.n_torn - self.n_scattered
        counts = {
            "{} {} torn from others": self.n_torn,
            "{} {} scattered in the data": self.n_scattered,
            "of {} the tests cannot tell": open_count,
        }
        parts = [words.format(n, "is" if n == 1 else "are") for words, n in counts.items() if n]
        whole = [f"where torn ones are joined, {self.joined} groups"] if self.joined else []
        return "; ".join([text, *parts, *whole])

    @property
    def named_share(self) -> float:
        """Share of the rows that are in a group with a name.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(np.mean(self.codes(3) >= 0)) if self.n_rows else 0.0

    def codes(self, level: int) -> Array:
        """The named group that each row is in, at a level of zoom.

        Parameters
        ----------
        level : int
            1, 2 or 3; groups of coarser levels count where there is no finer one.

        Returns
        -------
        ndarray of int
            Positions in `groups`; −1 for rows in no group that has a name.
        """
        codes = np.full(self.n_rows, -1)
        for index, group in enumerate(self.groups):
            if group.name and group.level <= level:
                codes[group.rows] = index
        return codes

    def surroundings(self, index: int) -> int:
        """The group around one that a reader sees: not one that the data lack.

        Parameters
        ----------
        index : int
            Position of a group.

        Returns
        -------
        int
            Position of the group around it; −1: the whole map.
        """
        index = self.groups[index].parent
        while index >= 0 and self.groups[index].verdict == NOT_FOUND:
            index = self.groups[index].parent
        return index

    def of_rows(self, rows: Array) -> NamedGroups:
        """The groups on a map that shows some of the rows; figures stay those of all.

        Parameters
        ----------
        rows : ndarray of int
            Row numbers, in rising order.

        Returns
        -------
        NamedGroups
            With the numbers of the rows that are left.
        """
        kept = [
            replace(group, rows=np.flatnonzero(np.isin(rows, group.rows, assume_unique=True)))
            for group in self.groups
        ]
        return replace(self, groups=tuple(kept), n_rows=len(rows))

    def without_denials(self) -> NamedGroups:
        """The groups, of which none is said to be missing in the data.

        Guesses in filled cells blur the border of a group; they do not show that there is none.

        Returns
        -------
        NamedGroups
            Where a group was not found, nobody can tell.
        """
        open_groups = [
            replace(group, finding="undecided", reason=FILLED_REASON)
            if group.verdict == NOT_FOUND
            else group
            for group in self.groups
        ]
        return replace(self, groups=tuple(open_groups), joined=0)

    @property
    def lines(self) -> list[str]:
        """The visible groups that are not missing in the data, and what else there is.

        Returns
        -------
        list of str
            A line for each of the largest; empty where no groups are visible.
        """
        shown = [group for group in self.first if group.verdict != NOT_FOUND]
        missing = [group.letter for group in self.first if group.verdict == NOT_FOUND]
        if not self.first:
            return []
        count = len(self.first)
        text = f"The map shows {count} group{'' if count == 1 else 's'}"
        if missing and not shown:
            return [f"{text}; none of them is found in the data"]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            text += f"; {_letters_in_words(missing)} {verb} {VERDICT_WORDS[NOT_FOUND]}"
        if len(shown) > MAX_LISTED_GROUPS:
            text += f"; the largest {MAX_LISTED_GROUPS}{' of the others' if missing else ''}"
        elif missing:
            text += "; the others" if len(shown) > 1 else "; the other"
        finer = sum(bool(group.name) for group in self.groups if group.level > 1)
        groups = "1 finer group has" if finer == 1 else f"{finer} finer groups have"
        return [
            f"{text}:",
            *(f"  {group}" for group in shown[:MAX_LISTED_GROUPS]),
            *([f"  {groups} a name, too, which a page shows closer up"] if finer else []),
        ]

    def __str__(self) -> str:
        if not self.groups:
            return "no groups stand apart on the map"
        named = [group for group in self.groups if group.name]
        lines = [f"{len(named)} of {len(self)} groups have a name"]
        lines += [f"{'  ' * group.level}{group}" for group in named[:MAX_PRINTED_GROUPS]]
        if len(named) > MAX_PRINTED_GROUPS:
            lines.append(f"  and {len(named) - MAX_PRINTED_GROUPS} more")
        return "\n".join(lines)

    @property
    def counts(self) -> dict[str, object]:
        """Counts of the visible groups, and of those that the data have.

        Returns
        -------
        dict
            Ready for JSON.
        """
        return {
            "visible": self.visible,
            "found": self.found,
            "torn": self.n_torn,
            "scattered": self.n_scattered,
            "sampled": self.sampled,
            "joined": self.joined,
            "grade": self.grade,
            "reason": self.untested,
            "tested": self.is_tested,
            "text": self.summary,
        }

    def to_dict(self) -> dict[str, object]:
        """All groups.

        Returns
        -------
        dict
            Ready for JSON.
        """
        return self.counts | {
            "groups": [group.to_dict() for group in self.groups],
            "named": sum(bool(group.name) for group in self.groups),
            "named_share": self.named_share,
            "lines": self.lines,
        }


def _letters_in_words(letters: Sequence[str]) -> str:
    shown = letters[:MAX_LISTED_LETTERS]
    if len(shown) < len(letters):
        return f"{', '.join(shown)} and {len(letters) - len(shown)} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
