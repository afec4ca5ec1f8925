"""Names of groups by columns: what differs in each from the rest of its surroundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.group_names import Difference, group_differences

__all__ = ["NameFigure", "figures_by_columns"]

# Differences of which the second of a name is chosen, and the share of rows it may lose.
MAX_CANDIDATES = 6
MAX_LOSS = 0.1
# Groups that are compared with one another, in a second or two.
MAX_COMPARED_GROUPS = 200
# Of a number in the middle of a column: the part of the group that "medium" is about.
MIDDLE_SHARES = (0.05, 0.95)
# Levels of a category that say nothing without its name; so do those of a letter or two.
BARE_LEVELS = frozenset(("yes", "no", "true", "false", "none", "other", "unknown", "high", "low"))
MIN_LEVEL_LETTERS = 3


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
    >>> from dualfold.judging.column_names import NameFigure
    >>> NameFigure("soup", 40, 3).words
    'soup'
    """

    words: str
    inside: int
    outside: int


def figures_by_columns(
    columns: Mapping[str, Array],
    codes: Array,
    count: int,
    orders: Mapping[str, Sequence[str]] | None = None,
    random_state: int = 0,
) -> list[tuple[list[NameFigure], Array]]:
    """For each group the parts of its name, and for each row whether it has all of them.

    There are two parts at most, and a third where another group has the same two.

    columns : name → one value for each row; codes : the group of each row, −1 for none
    """
    found = group_differences(
        columns,
        codes,
        count,
        orders,
        random_state,
        most_compared=MAX_COMPARED_GROUPS,
        most_listed=len(columns),
    )
    found = [_candidates(own) for own in found]
    table = _Columns(columns)
    chosen = [_best_pair(own, table, codes == code) for code, own in enumerate(found)]
    for twins in _same_names(chosen):
        rows = np.flatnonzero(np.isin(codes, twins))
        among = np.searchsorted(twins, codes[rows])
        some = {name: values[rows] for name, values in columns.items()}
        apart = group_differences(some, among, len(twins), orders, random_state)
        for code, own in zip(twins, apart, strict=True):
            known = {one.column for one in chosen[code]}
            chosen[code] += [one for one in own if one.column not in known][:1]
    return [_figures(own, table, codes == code) for code, own in enumerate(chosen)]


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
    """Category that tells most, and what tells most together with it."""
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


def _figures(
    differences: Sequence[Difference], table: _Columns, inside: Array
) -> tuple[list[NameFigure], Array]:
    figures, has_all = [], np.full(len(inside), bool(differences))
    for one in differences:
        has = table.rows_with(one, inside)
        has_all &= has
        figures.append(NameFigure(_words(one), int(has[inside].sum()), int(has[~inside].sum())))
    return figures, has_all


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
