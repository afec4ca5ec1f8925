"""Columns in which a few rows hold most of the variance, and the logarithms that mend them.

A row with 1000 times the usual revenue leaves all others a spot on the map. The measure is the
share of a column's variance that 1 % of the rows hold: 8 % if it is normal, 3 % if uniform, 22 % if
exponential, half of it and more for incomes, sales and counts of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.data.notices import MANY_ROWS
from dualfold.data.scales import (
    MIN_SPECTRUM_COLUMNS,
    column_limits,
    different_units,
    shares_range,
)

TAIL_ROWS_SHARE = 0.01
# A third of the variance in 1 % of the rows is more than an exponential column has in any sample of
# 1,000 rows; smaller ones need more: docs/dev/notes/reading-tables.md.
MIN_TAIL_SHARE = 1 / 3
CHANCE_BASE = 0.25
CHANCE_FACTOR = 3.0
# Beside a heavy column, those with this part of its limit are treated alike: the votes for one
# candidate and for another.
ALIKE_RATIO = 0.4
MIN_ALIKE_SHARE = 0.27
# A logarithm helps if it leaves no more than this part of the share: of rare zeros and ones none.
MAX_LEFT_RATIO = 0.7
# Nearly all values are above the unit, so that log(1 + x/unit) is a logarithm of these.
UNIT_QUANTILE = 0.1
# More columns of one kind than this are one block: genes, words, items.
MIN_BLOCK_COLUMNS = 50
# So many columns are of one kind even where their ranges differ, as those of genes do.
MIN_LIKE_COLUMNS = 500
# Entries that are looked at; of more, every second row and so on.
MAX_LOOKED_NUMBERS = 5_000_000


@dataclass(frozen=True)
class HeavyTails:
    """The columns with heavy tails.

    units : each with the unit of its logarithm, log(1 + x/unit)
    share : the largest share of a column's variance that `n_rows` of the `n` rows hold
    """

    units: dict[str, float]
    share: float
    n_rows: int
    n: int


def heavy_tails(X: Array, names: tuple[str, ...]) -> HeavyTails | None:
    """The columns without negative values whose variance is held by few rows; None without."""
    rows = X[:: max(1, -(-X.size // MAX_LOOKED_NUMBERS))]
    n = len(rows)
    if n < MANY_ROWS:
        return None
    low, high = column_limits(rows)
    before, after, units = np.zeros(len(names)), np.ones(len(names)), np.ones(len(names))
    for place in np.flatnonzero((low >= 0) & (high > low)):
        column = rows[:, place].astype(np.float64)
        column = column[np.isfinite(column)]
        before[place] = tail_share(column)
        if before[place] > MIN_ALIKE_SHARE:
            units[place] = _unit(column)
            after[place] = tail_share(np.log1p(column / units[place]))
    helped = after <= MAX_LEFT_RATIO * before
    least = min_tail_share(n)
    heavy = helped & (before >= least)
    for block in _blocks(rows, names, low):
        most = 2 * int(heavy[block].sum()) > len(block) and bool((low[block] >= 0).all())
        heavy[block] = helped[block] = most
        units[block] = np.median(units[block])
    if not heavy.any():
        return None
    chosen = heavy | (helped & (before >= max(MIN_ALIKE_SHARE, ALIKE_RATIO * least)))
    unit_of = {names[place]: float(units[place]) for place in np.flatnonzero(chosen)}
    return HeavyTails(unit_of, float(before[chosen].max()), _tail_rows(n), n)


def tail_share(column: Array) -> float:
    """The share of the variance that 1 % of the rows hold, those farthest from the mean."""
    largest = float(np.abs(column).max(initial=0.0))
    if largest == 0:
        return 0.0
    part = column / largest  # whose squares do not overflow
    squares = (part - part.mean()) ** 2
    total, count = float(squares.sum()), _tail_rows(len(column))
    if total == 0:
        return 0.0
    return float(np.partition(squares, len(squares) - count)[-count:].sum()) / total


def min_tail_share(n: int) -> float:
    """The share from which on the tail of a column of n rows is heavy."""
    return max(MIN_TAIL_SHARE, CHANCE_BASE + CHANCE_FACTOR / float(np.sqrt(n)))


def _tail_rows(n: int) -> int:
    return max(1, round(TAIL_ROWS_SHARE * n))


def _unit(column: Array) -> float:
    """1 for counts, else a value that most are above."""
    if _is_whole(column):
        return 1.0
    return float(np.quantile(column[column > 0], UNIT_QUANTILE))


def _is_whole(column: Array) -> bool:
    return np.array_equal(column, np.floor(column), equal_nan=True)


def _blocks(X: Array, names: Sequence[str], low: Array) -> list[Array]:
    """Columns of one unit, which are treated alike, as far as that is known."""
    everything = np.arange(len(names))
    if len(names) >= MIN_SPECTRUM_COLUMNS and shares_range(X, names):
        return [everything]
    stems = np.array([re.sub(r"\d+", "#", str(name)) for name in names])
    each, sizes = np.unique(stems, return_counts=True)
    numbered = [
        stem
        for stem, size in zip(each.tolist(), sizes.tolist(), strict=True)
        if "#" in stem and size >= MIN_SPECTRUM_COLUMNS
    ]
    blocks = [np.flatnonzero(stems == stem) for stem in numbered]
    if len(names) < MIN_BLOCK_COLUMNS:
        return blocks
    free = (low >= 0) & ~np.isin(stems, numbered)
    whole = np.array([_is_whole(X[:, column]) for column in everything])
    counts, others = np.flatnonzero(whole & free), np.flatnonzero(~whole & free)
    if len(counts) >= MIN_BLOCK_COLUMNS:
        blocks.append(counts)
    if len(others) >= MIN_BLOCK_COLUMNS and (
        len(others) >= MIN_LIKE_COLUMNS or different_units(X[:, others], names) is None
    ):
        blocks.append(others)
    return blocks
