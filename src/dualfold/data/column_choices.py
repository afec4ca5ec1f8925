"""Choices about columns before a map is made: redundant ones, logarithms, encodings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dualfold.arrays import Array
from dualfold.data.column_kinds import KINDS, MISSING_LEVEL_KIND
from dualfold.data.columns import Table
from dualfold.data.heavy_tails import HeavyTails, heavy_tails
from dualfold.data.notices import MANY_ROWS, column_argument, quoted_names
from dualfold.data.reading import Reading
from dualfold.data.scales import MIN_SPECTRUM_COLUMNS, column_limits, shares_range
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.weights.encoding import (
    MISSING_LEVEL,
    Category,
    Encoding,
    Logarithm,
    Number,
    Ordered,
    category,
    encoded_columns,
    features_of,
)

# A column of positive numbers is very skewed from here on (an exponential one has 2).
MIN_SKEWNESS = 2.5
# A logarithm is taken where it leaves no more than this.
MAX_LOG_SKEWNESS = 1.25


def without_redundant_columns(table: Table, reading: Reading) -> Table:
    """The table without columns that are constant or equal to another one.

    Pixels and spectra are all kept, since they belong together; of coordinates, equal ones.
    """
    X, names = table.X, table.names
    if not isinstance(X, np.ndarray) or len(names) < 2 or len(X) < 2:
        return table
    together = shares_range(X, names)
    if together and len(names) >= MIN_SPECTRUM_COLUMNS:
        return table
    low, high = column_limits(X)
    constant = [name for name, same in zip(names, ~(high > low), strict=True) if same]
    equal = _equal_columns(X, names)
    constant = [name for name in constant if name not in reading.meant_columns]
    equal = {
        name: first
        for name, first in equal.items()
        if name not in (*constant, *reading.meant_columns)
    }
    notices = list[Message]()
    if equal and together:
        notices.append(_equal_notice(equal, left_out=False))
        equal = {}
    left = [
        column for column, name in enumerate(names) if name not in constant and name not in equal
    ]
    if constant:
        words = f"{quoted_names(constant)}: the same value in every row, left out; "
        notices.append(Message(words, column_argument("keep", constant), _uses(constant)))
    if equal:
        notices.append(_equal_notice(equal, left_out=True))
    if not notices or (not left and not table.kinds):
        return table
    kept = tuple(names[column] for column in left)
    return replace(table, X=X[:, left], names=kept, notices=(*table.notices, *notices))


def _equal_notice(equal: dict[str, str], *, left_out: bool) -> Message:
    """That columns equal others, and what became of them."""
    names = list(equal)
    same = ", ".join(f"'{name}' (as '{first}')" for name, first in list(equal.items())[:5])
    more = f" and {len(equal) - 5} more" if len(equal) > 5 else ""
    words = f"{same}{more}: equal to another column in every row, "
    if left_out:
        return Message(f"{words}left out; ", column_argument("keep", names), _uses(names))
    them = "it" if len(names) == 1 else "them"
    return Message(
        f"{words}used as coordinates of one unit are; ",
        column_argument("exclude", names),
        f" leaves {them} out",
    )


def _uses(names: list[str]) -> str:
    return f" uses {'it' if len(names) == 1 else 'them'}"


def _equal_columns(X: Array, names: tuple[str, ...]) -> dict[str, str]:
    """Columns that equal an earlier one in every row, each with that one."""
    first: dict[bytes, int] = {}
    equal = {}
    for column, name in enumerate(names):
        key = np.ascontiguousarray(X[:, column]).tobytes()
        if key in first:
            equal[name] = names[first[key]]
        else:
            first[key] = column
    return equal


def logarithms(table: Table, reading: Reading) -> tuple[dict[str, float], list[Message]]:
    """The columns to take the logarithm of, each with its unit (0: log x), and notices."""
    if reading.as_given:
        return dict.fromkeys(reading.log, 0.0), []
    skewed = _skewed_columns(table) if reading.auto else []
    chosen = dict.fromkeys([*reading.log, *skewed], 0.0)
    notices = list[Message]()
    if skewed:
        its = "its logarithm was" if len(skewed) == 1 else "their logarithms were"
        notices.append(Message(f"{quoted_names(skewed)}: very skewed, {its} taken"))
    tails = heavy_tails(table.X, table.names) if isinstance(table.X, np.ndarray) else None
    if tails is None:
        return chosen, notices
    asked = {*chosen, *reading.used_fields}
    heavy = {name: unit for name, unit in tails.units.items() if name not in asked}
    if heavy and reading.takes_logs:
        return chosen | heavy, [*notices, _tail_notice(list(heavy), tails, taken=True)]
    return chosen, [*notices, _tail_notice(list(heavy), tails, taken=False)] if heavy else notices


def _tail_notice(names: list[str], tails: HeavyTails, *, taken: bool) -> Message:
    """That few rows hold the variance of columns, and what was done or can be done."""
    single = len(names) == 1
    rows = "1 row holds" if tails.n_rows == 1 else f"{tails.n_rows:,} of {tails.n:,} rows hold"
    whose = "its variance" if single else "a column's variance"
    held = f"{rows} {'' if single else 'up to '}{100 * tails.share:.0f} % of {whose}"
    logs = "its logarithm" if single else "their logarithms"
    if taken:
        words = f"{quoted_names(names)}: {held}, so {logs} {'was' if single else 'were'} taken; "
        return Message(words, Argument("tails", "keep"), f" leaves {'it' if single else 'them'}")
    words = f"{quoted_names(names)}: {held}, so that few rows decide the distances; "
    return Message(words, column_argument("log", names), f" takes {logs}")


def _skewed_columns(table: Table) -> list[str]:
    X, names = table.X, table.names
    if not isinstance(X, np.ndarray) or len(X) < MANY_ROWS or not names:
        return []
    low, high = column_limits(X)
    positive = np.flatnonzero((low > 0) & (high > 10 * low))
    if len(positive) == 0 or shares_range(X, names):
        return []
    skewed = [p for p in positive if _skewness(X[:, p]) > MIN_SKEWNESS]
    return [names[p] for p in skewed if abs(_skewness(np.log(X[:, p]))) < MAX_LOG_SKEWNESS]


def _skewness(column: Array) -> float:
    known = column[np.isfinite(column)].astype(np.float64)
    centred = known - known.mean()
    spread = float(centred.std())
    return float(np.mean((centred / spread) ** 3)) if spread > 0 else 0.0


def encoded_table(table: Table, logs: dict[str, float]) -> tuple[Table, tuple[Encoding, ...]]:
    """The table whose X has the columns of all features, and the encoding of each column."""
    plain = tuple(
        Logarithm(name, unit=logs[name]) if name in logs else Number(name) for name in table.names
    )
    beside = tuple(_encoding_for(name, kind, table) for name, kind in table.kinds.items())
    empty = [
        encoding.name for encoding in beside if encoding.is_category and len(encoding.levels) < 2
    ]
    beside = tuple(encoding for encoding in beside if encoding.name not in empty)
    encodings = (*plain, *beside)
    notices = [] if not empty else [f"{quoted_names(empty)}: the same value in every row, left out"]
    if not beside and not logs:
        return replace(table, notices=(*table.notices, *notices)), encodings
    places = {name: column for column, name in enumerate(table.names)}
    numbers = {name: table.X[:, column] for name, column in places.items()}
    X = encoded_columns(encodings, table.labels | numbers)
    full = replace(table, X=X, names=features_of(encodings), notices=(*table.notices, *notices))
    return full, encodings


def _encoding_for(name: str, kind: str, table: Table) -> Encoding:
    made = KINDS[kind].encoding
    assert made is not None
    if made is Ordered:
        levels = table.orders[name]
        unknown = Ordered(name, levels).unknown(table.labels[name])
        if unknown:
            raise InvalidInput(
                Argument("ordered", f"{name}={','.join(levels)}"),
                f" leaves out {quoted_names(unknown)}, which the column holds too; name every "
                "level, the lowest first",
            )
        return Ordered(name, levels)
    if made is not Category:
        return made(name)
    encoding = category(name, table.labels[name])
    if kind == MISSING_LEVEL_KIND:
        return replace(encoding, levels=(*encoding.levels, MISSING_LEVEL))
    return encoding
