"""Columns in which the rows of a group differ from all other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.stats import rankdata

from dualfold.arrays import Array
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.picture import percent

__all__ = ["Difference", "group_differences"]

# Rows times columns that are ranked: a second or two.
MAX_RANKED_NUMBERS = 4_000_000
MIN_RANKED_ROWS = 1_000
# A row of the group has more than a row of the others in at least 75 of 100 pairs (2·0.75 − 1).
MIN_EFFECT = 0.5
# The middle is that of the group itself, which flatters the effect.
MIDDLE_WEIGHT = 0.75
# Of all groups and columns together, under permuted rows.
ERROR_LEVEL = 0.01
MAX_LEVELS = 50
# Groups that are compared with one another, in a second or two.
MAX_COMPARED_GROUPS = 200


@dataclass(frozen=True)
class Difference:
    """A column in which the rows of a group differ from all others.

    effect : 2·P − 1, with P the probability that a row of the group has more than one of the
        others (ties count half); of a level of a category the difference of its shares
    where : "high", "low" or "medium" of a number or date, the level of a category
    inside, outside : the quarters of the values (first, third) in the group and in the others, or
        the share of the level, in words
    """

    column: str
    effect: float
    where: str
    inside: str
    outside: str
    is_category: bool = False

    @property
    def weight(self) -> float:
        """For their order: the middle of a column says less than one of its ends."""
        return abs(self.effect) * (MIDDLE_WEIGHT if self.where == "medium" else 1.0)

    @property
    def short(self) -> str:
        """The column and where in it the group lies."""
        return (
            f"{self.column} = {self.where}" if self.is_category else f"{self.column} {self.where}"
        )

    def __str__(self) -> str:
        if self.is_category:
            return f"{self.short} {self.inside} ({self.outside} elsewhere)"
        return f"{self.short} ({self.inside} against {self.outside})"


def group_differences(
    columns: Mapping[str, Any],
    codes: Array,
    count: int,
    orders: Mapping[str, Sequence[str]] | None = None,
    random_state: int = 0,
) -> list[list[Difference]]:
    """For each group the columns that differ in it from all other rows, the best first.

    columns : name → one value for each row: numbers, dates or words; missing values are left out
    codes : the group of each row, −1 for none; the first 200 are compared
    orders : column → its levels from low to high, of columns that hold their places, from 0
    """
    rows = _ranked_rows(len(codes), len(columns), random_state)
    codes = codes[rows]
    found: list[list[Difference]] = [[] for _ in range(count)]
    compared = min(count, MAX_COMPARED_GROUPS)
    tests = max(1, compared * len(columns))
    for name in columns:
        values = np.asarray(columns[name])[rows]
        for code, one in _differences_of(
            name, values, codes, compared, tests, levels=(orders or {}).get(name, ())
        ):
            found[code].append(one)
    return [sorted(own, key=lambda one: -one.weight) for own in found]


def _ranked_rows(n: int, width: int, seed: int) -> Array:
    size = max(MIN_RANKED_ROWS, MAX_RANKED_NUMBERS // max(width, 1))
    rows = drawn_rows(n, size, seed) if size < n else None
    return np.arange(n) if rows is None else rows


def _differences_of(
    name: str, values: Array, codes: Array, count: int, tests: int, *, levels: Sequence[str] = ()
) -> list[tuple[int, Difference]]:
    """The groups in which this column differs, each with the difference."""
    if values.dtype.kind in "biufM":
        return _of_numbers(name, values, codes, count, tests, levels=levels)
    present = np.array([value is not None and value == value for value in values.tolist()], bool)
    words, codes = np.array(list(map(str, values[present].tolist()))), codes[present]
    known, inverse, counts = np.unique(words, return_inverse=True, return_counts=True)
    if len(known) < 2 or 2 * len(known) > len(words):
        return []  # text that names the rows
    found = []
    for code in range(count):
        inside = codes == code
        size, others = int(inside.sum()), int((~inside).sum())
        if not size or not others:
            continue
        own = np.bincount(inverse[inside], minlength=len(known))
        frequent = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
        effects = own[frequent] / size - (counts - own)[frequent] / others
        best = int(np.argmax(effects))
        effect, level = float(effects[best]), int(frequent[best])
        if effect < max(MIN_EFFECT, _chance(size, others, tests * len(frequent))):
            continue
        shares = percent(own[level] / size), percent((counts - own)[level] / others)
        found.append(
            (
                code,
                Difference(name, effect, str(known[level]), shares[0], shares[1], is_category=True),
            )
        )
    return found


def _of_numbers(
    name: str, values: Array, codes: Array, count: int, tests: int, *, levels: Sequence[str] = ()
) -> list[tuple[int, Difference]]:
    dates = values.dtype.kind == "M"
    numbers = values.astype("datetime64[s]").astype(np.int64).astype(float) if dates else values
    numbers = np.where(np.isnat(values), np.nan, numbers) if dates else numbers.astype(float)
    known = np.isfinite(numbers)
    numbers, codes = numbers[known], codes[known]
    if len(numbers) < 2 or numbers.min() == numbers.max():
        return []
    ranks = rankdata(numbers)
    found = []
    for code in range(count):
        inside = codes == code
        size, others = int(inside.sum()), int((~inside).sum())
        if not size or not others:
            continue
        effect = _effect(ranks, inside)
        least = max(MIN_EFFECT, _chance(size, others, 2 * tests))
        where = "high" if effect > 0 else "low"
        if abs(effect) < least:  # it may lie between the others
            effect = _effect(rankdata(-np.abs(numbers - np.median(numbers[inside]))), inside)
            where = "medium"
        if abs(effect) < least:
            continue
        step = (numbers.max() - numbers.min()) / 1000
        ends = [_quarters(numbers[part], step, levels, dates=dates) for part in (inside, ~inside)]
        found.append((code, Difference(name, effect, where, ends[0], ends[1])))
    return found


def _effect(ranks: Array, inside: Array) -> float:
    """2·P − 1 of the rows inside against the others, from ranks with ties at their means."""
    size, others = int(inside.sum()), int((~inside).sum())
    above = ranks[inside].sum() - size * (size + 1) / 2
    return float(2 * above / (size * others) - 1)


def _chance(size: int, others: int, tests: int) -> float:
    """Effect that permuted rows pass in one of 100 cases, all groups and columns together."""
    spread = np.sqrt((size + others + 1) / (3 * size * others))
    return float(spread * NormalDist().inv_cdf(1 - ERROR_LEVEL / (2 * tests)))


def _quarters(values: Array, step: float, levels: Sequence[str], *, dates: bool) -> str:
    """The first and the third quartile, each a value of the table where that is short."""
    low, high = np.quantile(values, [0.25, 0.75], method="nearest")
    if dates:
        low, high = (
            str(np.datetime64(int(end), "s").astype("datetime64[D]")) for end in (low, high)
        )
    elif levels:
        low, high = (levels[int(end)] for end in (low, high))
    else:
        low, high = (_number_text(float(end), step) for end in (low, high))
    return low if low == high else f"{low} … {high}"


def _number_text(value: float, step: float) -> str:
    """As fine as `step`, whole numbers whole.

    >>> _number_text(1977.0, 0.07), _number_text(0.123456, 0.001), _number_text(123456.0, 900)
    ('1977', '0.123', '123456')
    """
    if value.is_integer() or step >= 1:
        return str(round(value))
    decimals = max(0, int(np.ceil(-np.log10(step)))) if step > 0 else 6
    return f"{value:.4g}" if decimals > 8 else f"{value:.{decimals}f}".rstrip("0").rstrip(".")
