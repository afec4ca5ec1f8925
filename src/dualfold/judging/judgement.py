"""Judgement of a map: overall order, neighbourhoods, groups, and what they mean.

All that a terminal, a page, a picture or a file says of a map is read from one `Judgement`. What is
found out about a map is a field of it; `Judgement.answers` says how it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.evidence import MapEvidence
from dualfold.judging.group_names import with_names
from dualfold.judging.map_meaning import MapMeaning, map_meaning
from dualfold.judging.named_groups import CANNOT_TELL, NamedGroups
from dualfold.judging.nested_groups import nested_groups
from dualfold.quality.estimate import mean_estimate, sample_size
from dualfold.quality.map_layout import SHOWN_GRADES, TRIVIAL, Layout, layout_of
from dualfold.quality.picture import Picture, mean_picture, percent
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import EuclideanSpace, MapPoints, Space, both_spaces

__all__ = ["Judgement", "MapAnswer", "judged_map", "map_judgement", "mean_judgement"]

# Neighbours of each row that are counted again on the map; maps of fewer rows are not judged.
N_NEIGHBORS = 10
# Plausible fillings in which order and groups are looked for: these are means over many rows,
# and a second filling shows whether the first decided.
ORDER_TABLES = 2
# What is missing where two axes show a part of everything, whatever the columns are.
UNRELATED_ORDER = "more overall order than unrelated columns have"


@dataclass(frozen=True)
class MapAnswer:
    """MapAnswer to one question about a map, as every outlet tells it.

    question : in a few words, as on a page
    grade : one word; "" where it has none
    text : a sentence
    title : begins its line on a terminal; "" where another line says it
    short : a few words beside the grade
    caption : in a line of all answers under a picture; "": not there
    column, cell : its column in a table of maps, and what stands there; "": no column
    key, facts : its name in JSON, and its numbers, JSON-ready; "": not there
    """

    question: str
    grade: str
    text: str
    title: str = ""
    short: str = ""
    caption: str = ""
    column: str = ""
    cell: str = ""
    key: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """On a terminal."""
        text = self.text[0].lower() + self.text[1:]
        return f"  {self.title}: {text.removesuffix('.')}."

    @property
    def page_entry(self) -> dict[str, str]:
        """As a page takes it."""
        names = "question", "grade", "short", "text"
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Judgement:
    """Judgement of a map: three answers, each with its number, chance and a word.

    Attributes
    ----------
    layout : Layout or None
        Overall order: whether large distances hold, and whether columns rise along the map. Its
        `grade` is "good", "fair", "trivial" (no more than unrelated columns have), "poor" or
        "hardly any". None where nothing was measured.
    neighborhoods : Picture or None
        Whether near rows are near on the map; None where there are too few rows.
    groups : NamedGroups or None
        The groups of the map with their verdicts, and how many of the `visible` ones are `found` in
        the data. They have names and finer groups where somebody asked.
    meaning : MapMeaning or None
        The columns that axes follow; None where nobody asked.
    remarks : tuple of str
        What not to read from the map: axes that cannot be told apart, rows far out, copies.
    filled_share : float
        Share of the cells of the table that were filled in. If it is above 0, the numbers are means
        over plausible fillings.
    doubt : str
        Why the map cannot be judged, in words; "" where it can.

    See Also
    --------
    dualfold.judging.map_judgement : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging import map_judgement
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = map_judgement(X, 2 * X)
    >>> found.layout.grade, found.neighborhoods.grade, found.groups.grade
    ('good', 'good', 'not tested')
    """

    layout: Layout | None = None
    neighborhoods: Picture | None = None
    groups: NamedGroups | None = None
    meaning: MapMeaning | None = None
    remarks: tuple[str, ...] = ()
    filled_share: float = 0.0
    doubt: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether anything was measured.

        Returns
        -------
        bool
            False for maps of too few rows.
        """
        return self.layout is not None

    @property
    def order_grade(self) -> str:
        """Grade of its overall order.

        Returns
        -------
        str
            A word; "" where it was not measured.
        """
        return "" if self.layout is None else self.layout.grade

    @property
    def order_strength(self) -> float:
        """Order of distances that it keeps beyond chance.

        Returns
        -------
        float
            1: all; 0: as chance does; −1: not measured.
        """
        return -1.0 if self.layout is None else self.layout.beyond_chance

    @property
    def group_counts(self) -> tuple[int, int]:
        """Number of its visible groups that the data have, and of all visible ones.

        Returns
        -------
        tuple of int
            How many are found in the data, and how many are visible; 0 where no test was made.
        """
        if self.groups is None or not self.groups.is_tested:
            return 0, 0
        return self.groups.found, self.groups.visible

    @property
    def shows_groups(self) -> bool:
        """Whether most of its visible groups are groups of the data.

        Returns
        -------
        bool
            False where groups were not tested.
        """
        return self.groups is not None and self.groups.grade in ("all", "most")

    @property
    def shows_nothing(self) -> bool:
        """Whether the map shows neither order nor neighbourhoods nor groups.

        Returns
        -------
        bool
            True where none of the three is shown.
        """
        near = self.neighborhoods
        if self.layout is None:
            return False
        return bool(self.doubt) or (
            self.layout.grade not in SHOWN_GRADES
            and (near is None or near.grade not in SHOWN_GRADES)
            and not self.shows_groups
        )

    @property
    def answers(self) -> tuple[MapAnswer, ...]:
        """All that is told of the map, in the order in which it is told.

        Returns
        -------
        tuple of MapAnswer
            Overall order, neighbourhoods, groups, and what was filled in, as far as they are known.
        """
        each = (
            _order_answer(self.layout),
            _neighbors_answer(self.neighborhoods),
            _groups_answer(self.groups),
            _filling_answer(self.filled_share),
        )
        return tuple(answer for answer in each if answer is not None)

    @property
    def headline(self) -> str:
        """Sentence on what can be read off the map and what cannot.

        Returns
        -------
        str
            One sentence.
        """
        if self.doubt:
            return f"It cannot be judged: {self.doubt}."
        shown, missing = self._parts()
        if not shown + missing:
            return "Nothing was measured."
        if shown and missing:
            text = f"Shows {_list_in_words(shown, 'and')}, not {_list_in_words(missing, 'nor')}"
        elif shown:
            text = f"Shows {_list_in_words(shown, 'and')}"
        else:
            neither = "neither " if len(missing) > 1 else "no "
            text = f"Shows {neither}{_list_in_words(missing, 'nor')}"
        return f"{text}{_words_of_other_groups(self.groups)}."

    def _parts(self) -> tuple[list[str], list[str]]:
        """Parts that it shows, and parts that it does not."""
        shown, missing = list[str](), list[str]()
        layout, near, groups = self.layout, self.neighborhoods, self.groups
        if layout is not None:
            columns = layout.column_words
            order = f"overall order ({columns})" if columns else "overall order"
            if layout.grade in SHOWN_GRADES:
                shown.append(order if layout.grade == "good" else f"roughly {order}")
            else:
                missing.append(UNRELATED_ORDER if layout.grade == TRIVIAL else "overall order")
        if near is not None and near.is_judged:
            if near.grade in SHOWN_GRADES:
                shown.append(f"{'' if near.grade == 'good' else 'roughly '}who is near whom")
            else:
                missing.append("who is near whom")
        if groups is not None and groups.grade == "all":
            shown.append(f"{groups.visible} groups of the data")
        elif groups is not None and groups.grade == "most":
            shown.append(f"groups of the data ({groups.found} of {groups.visible})")
        return shown, missing

    def __str__(self) -> str:
        if self.doubt:
            return self.headline
        return "\n".join([self.headline, *(one.line for one in self.answers if one.title)])

    @property
    def short(self) -> str:
        """The three grades.

        Returns
        -------
        str
            A few words for a caption or a table.
        """
        if self.doubt:
            return "cannot be judged"
        return "; ".join(one.caption for one in self.answers if one.caption)

    def of_rows(self, rows: Array) -> Judgement:
        """The judgement with the groups of some rows of the map alone.

        Parameters
        ----------
        rows : ndarray of int
            Row numbers.

        Returns
        -------
        Judgement
            The judgement of the whole map, its groups without other rows.
        """
        return replace(self, groups=None if self.groups is None else self.groups.of_rows(rows))

    def to_dict(self) -> dict[str, object]:
        """The three answers with their numbers and sentences.

        Returns
        -------
        dict
            Ready for JSON.
        """
        facts: dict[str, object] = {"layout": None, "neighborhoods": None, "groups": None}
        facts |= {answer.key: answer.facts for answer in self.answers if answer.key}
        return {
            "schema": "dualfold.map_verdict/1",
            "headline": self.headline,
            "short": self.short,
            **facts,
            "filled_share": self.filled_share,
            "doubt": self.doubt,
            "text": str(self),
        }


def _order_answer(layout: Layout | None) -> MapAnswer | None:
    if layout is None:
        return None
    grade = layout.grade
    return MapAnswer(
        "Overall order",
        grade,
        str(layout),
        title="Overall order",
        short=grade,
        caption=f"order: {grade}",
        column="order",
        cell=grade,
        key="layout",
        facts=layout.to_dict(),
    )


def _neighbors_answer(near: Picture | None) -> MapAnswer | None:
    if near is None:
        return None
    grade, kept = near.grade, f"{percent(near.kept)} kept"
    return MapAnswer(
        "Who is near whom",
        grade,
        str(near),
        title="Neighbourhoods",
        short=f"{grade}, {kept}" if near.is_judged else grade,
        caption=f"neighbours: {grade} ({kept})",
        column="neighbours",
        cell=grade,
        key="neighborhoods",
        facts=near.to_dict(),
    )


def _groups_answer(groups: NamedGroups | None) -> MapAnswer | None:
    if groups is None:
        return None
    grade, tested = groups.grade, groups.is_tested
    counts = f"{groups.found} of {groups.visible}"
    return MapAnswer(
        "Groups",
        grade,
        groups.summary,
        title="Groups",
        short=f"{counts} found" if tested else grade,
        caption=f"groups: {counts}" if tested else "",
        column="groups",
        cell=f"{grade} ({counts})" if tested else grade,
        key="groups",
        facts=groups.counts,
    )


def _filling_answer(share: float) -> MapAnswer | None:
    """Answer on what was filled in; on a terminal the line of neighbours says it."""
    if share <= 0:
        return None
    cells = f"{percent(share)} of the cells"
    text = (
        f"{cells} of the table are missing and were filled in; the figures are means over "
        "plausible fillings"
    )
    return MapAnswer("Filled in", "", text, short=cells)


def _words_of_other_groups(groups: NamedGroups | None) -> str:
    """Words of the headline on groups that are not shown as groups of the data."""
    if groups is None:
        return ""
    if groups.are_false:
        count = groups.n_torn + groups.n_scattered
        of_all = "" if count == groups.visible else f"{count} of "
        whole = f", but joined they make up {groups.joined}" if groups.joined else ""
        return f"; {of_all}its {groups.visible} visible groups are no groups of the data{whole}"
    if groups.grade == CANNOT_TELL:
        count = groups.n_torn + groups.n_scattered
        if not count:
            return f"; nobody can tell whether its {groups.visible} visible groups are in the data"
        verb = "is" if count == 1 else "are"
        return (
            f"; {count} of its {groups.visible} visible groups {verb} not found in the data, of "
            "the others nobody can tell"
        )
    if groups.grade == "some":
        count = groups.found
        verb = "is" if count == 1 else "are"
        return f"; {count} of its {groups.visible} visible groups {verb} found in the data, too"
    return ""


def map_judgement(
    X: Any,
    Y: Any,
    *,
    columns: Mapping[str, Any] | None = None,
    metric: Any = "euclidean",
    sample_weight: Any = None,
    random_state: int = 0,
) -> Judgement:
    """Judge a map by its data: overall order, neighbourhoods, groups.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    columns : mapping or None, default=None
        Names and values of columns in which overall order is looked for; None: the columns of X.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in the share of neighbours kept, 0 or more; None: all alike.
        Order and groups count every point once.
    random_state : int, default=0
        Seed of samples and permutations.

    Returns
    -------
    Judgement
        The three answers; `print` it.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows.

    See Also
    --------
    dualfold.audit : Tests of groups, points and statements about distances.
    dualfold.quality.report : All measures of a map.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.judging import map_judgement
    >>> t = np.linspace(0, 9, 60)
    >>> X = np.column_stack([t, t**2, np.sin(t)])
    >>> found = map_judgement(X, X[:, 1:])
    >>> found.layout.grade, found.neighborhoods.grade, found.groups.grade
    ('good', 'good', 'not tested')
    """
    x, y = both_spaces(X, Y, metric, None)
    near = None
    if x.n > N_NEIGHBORS:
        near = _kept_neighbors(x, y, sample_weight, random_state)
    layout = layout_of(x, y.points, columns, random_state=random_state)
    groups = nested_groups(x, y.points, n_levels=1, random_state=random_state)
    return Judgement(layout, near, groups)


def _kept_neighbors(
    x: Space,
    Y: MapPoints,
    weights: Array | None,
    random_state: int = 0,
    rivals: Mapping[str, float] | None = None,
) -> Picture:
    """Neighbours that the map keeps; of many rows a sample is asked."""
    return picture_of(
        x,
        Y,
        N_NEIGHBORS,
        rivals=rivals,
        sample=sample_size(x.n),
        sample_weight=weights,
        random_state=random_state,
    )


def judged_map(
    evidence: MapEvidence,
    Y: Array,
    *,
    stage: Callable[[str], AbstractContextManager[None]],
    near: Picture | None = None,
    rivals: Mapping[str, Array] | None = None,
    named: bool = True,
) -> Judgement:
    """All that is found out about a map of a table, step by step.

    stage : shows what is done meanwhile
    near : its neighbourhoods, where they were measured before
    rivals : other maps of the rows, by name, with which its neighbourhoods are compared
    named : whether axes and groups are put into words
    """
    if near is None and len(Y) <= N_NEIGHBORS:
        doubt = f"{len(Y)} rows are too few, {N_NEIGHBORS + 1} are needed"
        return Judgement(doubt=doubt)
    if near is None:
        with stage("counting kept neighbours"):
            near = _neighborhoods(evidence, Y, rivals or {})
    with stage("looking for order and groups"):
        judgement = _order_and_groups(evidence, Y, near, n_levels=3 if named else 1)
    if not named:
        return judgement
    with stage("naming axes and groups"):
        return _with_words(judgement, evidence, np.asarray(Y, dtype=float))


def _neighborhoods(evidence: MapEvidence, Y: Array, rivals: Mapping[str, Array]) -> Picture:
    """Neighbours that the map keeps, beside chance and other maps: the mean over fillings."""

    def picture(points: Array, kept: Mapping[str, float] | None = None) -> Picture:
        each = [
            _kept_neighbors(space, points, evidence.weights, rivals=kept)
            for space in evidence.spaces
        ]
        return mean_picture(each, evidence.filled_share, evidence.doubt)

    return picture(Y, {name: picture(points).kept for name, points in rivals.items()})


def _order_and_groups(evidence: MapEvidence, Y: Array, near: Picture, n_levels: int) -> Judgement:
    """Judgement with overall order and groups: the mean over some fillings."""
    y = EuclideanSpace(Y, None, "Y")
    each = [
        Judgement(
            layout_of(
                space,
                y.points,
                evidence.order_columns,
                names=evidence.features,
                blocks=evidence.feature_columns,
            ),
            near,
            nested_groups(space, y.points, n_levels=n_levels),
        )
        for space in evidence.spaces[:ORDER_TABLES]
    ]
    mean = mean_judgement(each, evidence.filled_share, evidence.doubt)
    return replace(mean, neighborhoods=near)


def _with_words(judgement: Judgement, evidence: MapEvidence, points: Array) -> Judgement:
    """Judgement with what axes and groups mean in the words of columns or terms."""
    columns = evidence.telling_columns(points)
    assert judgement.groups is not None
    groups = with_names(
        judgement.groups,
        evidence.with_class_words(columns),
        terms=evidence.terms or (),
        weights=None if evidence.terms is None else evidence.term_weights,
        orders=evidence.orders,
    )
    return replace(judgement, meaning=map_meaning(columns, points), groups=groups)


def mean_judgement(
    judgements: Sequence[Judgement], filled_share: float = 0.0, doubt: str = ""
) -> Judgement:
    """The mean of judgements on one map, by several plausible fillings of its table.

    Columns are those of the first filling, groups those of the middle one by how many are found;
    that a group is none of the data is not said of filled cells.
    filled_share, doubt : as in `Judgement`
    """
    first = replace(judgements[0], filled_share=filled_share, doubt=doubt)
    if len(judgements) == 1:
        return first
    layouts = [one.layout for one in judgements if one.layout is not None]
    pictures = [one.neighborhoods for one in judgements if one.neighborhoods is not None]
    groups = [one.groups for one in judgements if one.groups is not None]
    layout = replace(
        layouts[0],
        distances=mean_estimate([one.distances for one in layouts], 0),
        chance=float(np.mean([one.chance for one in layouts])),
        unrelated=next((one.unrelated for one in layouts if one.unrelated is not None), None),
    )
    near = mean_picture(pictures, filled_share, doubt) if pictures else None
    by_count = sorted(groups, key=lambda one: one.found)
    middle = by_count[(len(by_count) - 1) // 2].without_denials()
    return replace(first, layout=layout, neighborhoods=near, groups=middle)


def _list_in_words(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
