"""Which columns have values at all, and where a missing value tells something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from dualfold.arrays import Array
from dualfold.data.column_kinds import KINDS, MISSING_LEVEL_KIND
from dualfold.data.columns import MIN_ROWS_PER_LEVEL, Table
from dualfold.data.filled_cells import MIN_KNOWN_SHARE
from dualfold.data.notices import column_argument, quoted_names
from dualfold.data.reading import Reading
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.weights.encoding import Category, words_of

# Level of the test whether a category is missing by chance, over all other columns together.
TEST_LEVEL = 0.01
# Of longer tables some rows are tested.
MAX_TESTED_ROWS = 10_000
# Of the rows that have values at all.
MIN_ROWS_LEFT_SHARE = 0.5


def without_empty_columns(table: Table, reading: Reading) -> Table:
    """The table without columns that are mostly empty, where values are to be imputed.

    Columns that were asked for stay, and categories that are not missing by chance: in these,
    missing becomes a level of its own.
    """
    if reading.missing not in ("auto", "impute") or not isinstance(table.X, np.ndarray):
        return table
    there = {name: np.isfinite(table.X[:, column]) for column, name in enumerate(table.names)}
    there |= {name: _has_value(table.labels[name]) for name in table.kinds}
    if all(known.all() for known in there.values()):
        return table
    telling = _telling_columns(table, there)
    table = replace(
        table,
        kinds={**table.kinds, **dict.fromkeys(telling, MISSING_LEVEL_KIND)},
        notices=(*table.notices, *map(_telling_message, telling.items())),
    )
    shares = {name: float(known.mean()) for name, known in there.items()}
    empty = [
        name
        for name, share in shares.items()
        if share < MIN_KNOWN_SHARE and name not in telling and name not in reading.used_fields
    ]
    if len(empty) == len(shares):
        raise _all_empty(shares)
    _refuse_few_rows(there, empty, telling)
    return _without_columns(table, empty, shares) if empty else table


def _has_value(column: object) -> NDArray[np.bool_]:
    return np.array([bool(word) for word in words_of(column)], dtype=bool)


def _all_empty(shares: dict[str, float]) -> InvalidInput:
    fullest = max(shares, key=lambda name: shares[name])
    return InvalidInput(
        f"all {len(shares)} columns are mostly empty ('{fullest}' has most values, "
        f"{100 * shares[fullest]:.0f} %), so that a map would show what is filled in; ",
        column_argument("keep", list(shares)),
        " uses them all the same, and ",
        Argument("missing", "mean"),
        " fills them with means",
    )


def _refuse_few_rows(
    there: dict[str, NDArray[np.bool_]], empty: list[str], telling: dict[str, str]
) -> None:
    """A map of a few rows that happen to have values is no map of the table.

    Rows without any value are no rows, and do not count.
    """
    kept = np.array(
        [known | (name in telling) for name, known in there.items() if name not in empty]
    )
    rows = np.any(list(there.values()), axis=0)
    left = rows & (kept.mean(axis=0) >= MIN_KNOWN_SHARE)
    if left.sum() >= MIN_ROWS_LEFT_SHARE * rows.sum():
        return
    are = "is" if len(empty) == 1 else "are"
    but = f", without {quoted_names(empty)}, which {are} mostly missing" if empty else ""
    raise InvalidInput(
        f"only {left.sum()} of {rows.sum()} rows have values in a fifth of the columns{but}: the "
        "others would be invented; ",
        Argument("missing", "mean"),
        " fills all with means, and ",
        Argument("missing", "drop"),
        " takes complete rows alone",
    )


def _without_columns(table: Table, empty: list[str], shares: dict[str, float]) -> Table:
    listed = ", ".join(f"'{name}' ({100 * (1 - shares[name]):.3g} %)" for name in empty[:5])
    more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
    them = "it" if len(empty) == 1 else "them"
    notice = Message(
        f"{listed}{more}: mostly missing, left out; ",
        column_argument("keep", empty),
        f" uses {them}",
    )
    kept = [column for column, name in enumerate(table.names) if name not in empty]
    return replace(
        table,
        X=table.X[:, kept],
        names=tuple(table.names[column] for column in kept),
        kinds={name: kind for name, kind in table.kinds.items() if name not in empty},
        notices=(*table.notices, notice),
    )


def _telling_columns(table: Table, there: dict[str, NDArray[np.bool_]]) -> dict[str, str]:
    """Categories that are not missing by chance, each with the column that shows it best."""
    step = -(-len(table.rows) // MAX_TESTED_ROWS)
    telling = {}
    for name in (name for name, kind in table.kinds.items() if KINDS[kind].encoding is Category):
        known = there[name][::step]
        if min(known.sum(), (~known).sum()) < MIN_ROWS_PER_LEVEL:
            continue
        chances = {
            other: _chance(table, other, known, there[other][::step], step)
            for other in there
            if other != name
        }
        best = min(chances, key=lambda other: chances[other], default="")
        if best and chances[best] * len(chances) < TEST_LEVEL:
            telling[name] = best
    return telling


def _telling_message(pair: tuple[str, str]) -> Message:
    name, other = pair
    return Message(
        f"'{name}': rows in which it is missing differ in '{other}', so that missing is a category "
        "of its own; ",
        Argument("missing", "mean"),
        " fills in shares instead",
    )


def _chance(
    table: Table,
    other: str,
    known: NDArray[np.bool_],
    both: NDArray[np.bool_],
    step: int,
) -> float:
    """The p-value of a column's values where another column is known and where it is not."""
    group = known[both]
    if min(group.sum(), (~group).sum()) < MIN_ROWS_PER_LEVEL:
        return 1.0
    if other in table.names:
        return rank_chance(table.X[::step, table.names.index(other)][both], group)
    words = np.asarray(words_of(table.labels[other][::step]), dtype=object)[both]
    return level_chance(words, group)


def rank_chance(values: Array, group: NDArray[np.bool_]) -> float:
    """Kruskal and Wallis's test of two groups; ties share their rank."""
    _, rank, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[rank]
    ranks -= ranks.mean()
    spread = float(np.square(ranks).sum())
    if spread <= 0:
        return 1.0
    sums = sum(float(ranks[rows].sum()) ** 2 / rows.sum() for rows in (group, ~group))
    return float(chdtrc(1, (len(values) - 1) * sums / spread))


def level_chance(words: Array, group: NDArray[np.bool_]) -> float:
    """Pearson's test of levels in two groups; those of few rows are one level."""
    _, level_of_row, counts = np.unique(words.astype(str), return_inverse=True, return_counts=True)
    many = counts >= 2 * MIN_ROWS_PER_LEVEL
    if many.sum() + (not many.all()) < 2 or many.sum() == 0:
        return 1.0
    level = np.where(many, np.cumsum(many) - 1, many.sum())[level_of_row]
    table = np.array(
        [np.bincount(level[rows], minlength=level.max() + 1) for rows in (group, ~group)]
    )
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / len(words)
    squares = np.square(table - expected) / np.maximum(expected, 1e-300)
    return float(chdtrc(table.shape[1] - 1, float(squares.sum())))
