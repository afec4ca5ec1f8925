"""Names of groups by columns: what differs in each from the rest of its surroundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.column_differences import Difference, group_differences
from dualfold.judging.named_groups import NameFigure

__all__ = ["ColumnName", "names_by_columns"]

# Differences of which the second of a name is chosen, and the share of rows it may lose.
MAX_CANDIDATES = 6
MAX_LOSS = 0.1
# Differences of a group that are told.
MAX_LISTED_DIFFERENCES = 3
# Of a number in the middle of a column: the part of the group that "medium" is about.
MIDDLE_SHARES = (0.05, 0.95)
# Levels of a category that say nothing without its name; so do those of a letter or two.
BARE_LEVELS = frozenset(("yes", "no", "true", "false", "none", "other", "unknown", "high", "low"))
MIN_LEVEL_LETTERS = 3


@dataclass(frozen=True, eq=False)
class ColumnName:
    """Name of a group by columns.

    figures : the parts of the name with their counts
    has_all : whether a row has all of them
    differences : those of the name, then others, the largest first
    """

    figures: tuple[NameFigure, ...]
    has_all: Array
    differences: tuple[Difference, ...]


def names_by_columns(
    columns: Mapping[str, Array],
    codes: Array,
    count: int,
    orders: Mapping[str, Sequence[str]] | None = None,
    random_state: int = 0,
) -> list[ColumnName]:
    """The name of each group: two parts at most, and a third where another has the same two.

    columns : name → one value for each row; codes : the group of each row, −1 for none
    """
    differences = group_differences(columns, codes, count, orders, random_state)
    table = _Columns(columns)
    chosen = [
        _best_pair(_candidates(own), table, codes == code) for code, own in enumerate(differences)
    ]
    for twins in _same_names(chosen):
        rows = np.flatnonzero(np.isin(codes, twins))
        among = np.searchsorted(twins, codes[rows])
        some = {name: values[rows] for name, values in columns.items()}
        between = group_differences(some, among, len(twins), orders, random_state)
        for code, own in zip(twins, between, strict=True):
            chosen[code] += _other_columns(own, chosen[code])[:1]
    return [
        _column_name(parts, differences[code], table, codes == code)
        for code, parts in enumerate(chosen)
    ]


def _candidates(differences: Sequence[Difference]) -> list[Difference]:
    """The best differences, and the best of a category though many numbers differ more."""
    best, others = list(differences[:MAX_CANDIDATES]), differences[MAX_CANDIDATES:]
    if any(one.is_category for one in best):
        return best
    return best + [one for one in others if one.is_category][:1]


class _Columns:
    """Columns, with the words of a category made once."""

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self._columns = columns
        self._words: dict[str, Array] = {}

    def rows_with(self, one: Difference, inside: Array) -> Array:
        """The rows with the level, or on the group's side of the middle between both medians."""
        values = self._columns[one.column]
        if one.is_category:
            if one.column not in self._words:
                self._words[one.column] = np.array(list(map(str, values.tolist())), dtype=object)
            return np.asarray(self._words[one.column] == one.where, dtype=bool)
        if values.dtype.kind == "M":
            seconds = values.astype("datetime64[s]").astype(float)
            values = np.where(np.isnat(values), np.nan, seconds)
        numbers = np.asarray(values, dtype=float)
        known = np.isfinite(numbers)
        if one.where == "medium":
            low, high = np.quantile(numbers[inside & known], MIDDLE_SHARES)
            return np.asarray(known & (numbers >= low) & (numbers <= high))
        middle = (np.median(numbers[inside & known]) + np.median(numbers[~inside & known])) / 2
        return np.asarray(known & (numbers > middle if one.where == "high" else numbers < middle))


def _best_pair(
    differences: Sequence[Difference], table: _Columns, inside: Array
) -> list[Difference]:
    """The category that tells most, and the difference that tells most together with it."""
    if not differences:
        return []
    first = next((one for one in differences if one.is_category), differences[0])
    has = table.rows_with(first, inside)

    def share_difference(rows: Array) -> float:
        return float(rows[inside].mean() - rows[~inside].mean())

    others = [one for one in differences if one.column != first.column]
    scores = [share_difference(has & table.rows_with(one, inside)) for one in others]
    if not scores or max(scores) < share_difference(has) - MAX_LOSS:
        return [first]
    ties = [one for one, score in zip(others, scores, strict=True) if score == max(scores)]
    second = next((one for one in ties if one.is_category), ties[0])
    return sorted([first, second], key=lambda one: not one.is_category)


def _same_names(chosen: Sequence[Sequence[Difference]]) -> list[list[int]]:
    """Groups that have the same name, in rising order."""
    same: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for code, own in enumerate(chosen):
        if own:
            same.setdefault(tuple((one.column, one.where) for one in own), []).append(code)
    return [codes for codes in same.values() if len(codes) > 1]


def _other_columns(
    differences: Sequence[Difference], parts: Sequence[Difference]
) -> list[Difference]:
    known = {part.column for part in parts}
    return [difference for difference in differences if difference.column not in known]


def _column_name(
    parts: Sequence[Difference], differences: Sequence[Difference], table: _Columns, inside: Array
) -> ColumnName:
    figures, has_all = [], np.full(len(inside), bool(parts))
    for part in parts:
        has = table.rows_with(part, inside)
        has_all &= has
        figures.append(NameFigure(_words(part), int(has[inside].sum()), int(has[~inside].sum())))
    listed = [*parts, *_other_columns(differences, parts)][:MAX_LISTED_DIFFERENCES]
    return ColumnName(tuple(figures), has_all, tuple(listed))


def _words(one: Difference) -> str:
    """The level of a category where that says enough, else with its column.

    >>> level = Difference("sex", 1.0, "female", "", "", is_category=True)
    >>> _words(level), _words(Difference("paid_late", 1.0, "yes", "", "", is_category=True))
    ('female', 'paid late yes')
    """
    title = one.column.replace("_", " ")
    letters = sum(map(str.isalpha, one.where))
    tells = letters >= MIN_LEVEL_LETTERS or not one.where.isascii()
    is_clear = one.is_category and tells and one.where.lower() not in BARE_LEVELS
    return one.where if is_clear else f"{title} {one.where}"
