"""Who moved most between the maps of a series, and which of its columns changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.errors import counted
from dualfold.weights.encoding import MISSING_LEVEL_NAME

if TYPE_CHECKING:
    from dualfold.arrays import Array, Matrix
    from dualfold.exploration.series_tables import SeriesTables
    from dualfold.weights.encoding import Encoding

# Columns that are named for a move.
MAX_REASONS = 3
# Smaller changes of a column, in its standard deviations, explain no move.
MIN_REASON_SPREADS = 0.3


@dataclass(frozen=True)
class RowMove:
    """Row between two slices that follow each other.

    movement : length of its way on the map; beyond_chance : whether resampling moves it less
    reasons : the columns that changed most, in words; () where none changed much
    """

    id: str
    before: str
    after: str
    movement: float
    beyond_chance: bool
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        why = ", ".join(self.reasons) or "its own columns hardly changed"
        return f"{self.id}, {self.before} → {self.after}: {why}"


@dataclass(frozen=True)
class Exchange:
    """Ids that came and went from one slice to the next."""

    before: str
    after: str
    came: tuple[str, ...]
    went: tuple[str, ...]

    def __str__(self) -> str:
        came, went = counted(len(self.came), "row"), counted(len(self.went), "row")
        return f"{self.before} → {self.after}: {came} came, {went} went"


def moves_of(tables: SeriesTables, aligned: Any, count: int) -> tuple[RowMove, ...]:
    """The largest moves: first those beyond resampling, then by length; at most `count`."""
    rows = tables.rows_by_slice
    lengths = [
        (not beyond, -float(length), t, int(a), int(b))
        for t, links in enumerate(aligned.links_)
        for (a, b), length, beyond in zip(
            links, aligned.movement_[t], aligned.drift_[t], strict=True
        )
    ]
    spreads = _spreads(tables.data.X)
    moves = []
    for calm, length, t, a, b in sorted(lengths)[:count]:
        before, after = int(rows[t][a]), int(rows[t + 1][b])
        reasons = column_changes(tables, before, after, spreads)
        names = tables.names[t], tables.names[t + 1]
        moves.append(RowMove(str(tables.ids[before]), *names, -length, not calm, reasons))
    return tuple(moves)


def column_changes(
    tables: SeriesTables, before: int, after: int, spreads: Array | None = None
) -> tuple[str, ...]:
    """The columns in which two rows of the joined table differ most, the largest first.

    A change is counted in standard deviations of the column over all rows of all slices. Values
    that were filled in have not been seen, so they are no reason.
    """
    data = tables.data
    spreads = _spreads(data.X) if spreads is None else spreads
    change = _row(data.X, after) - _row(data.X, before)
    steps = np.divide(change, spreads, out=np.zeros(len(change)), where=spreads > 0)
    if data.filled is not None:
        steps[data.filled.hole[before] | data.filled.hole[after]] = 0.0
    changes, place = [], 0
    for one in data.encodings:
        width = len(one.features)
        changes.append(_change(one, steps[place : place + width], tables, before, after, place))
        place += width
    large = sorted(
        (one for one in changes if one[0] >= MIN_REASON_SPREADS), key=lambda one: -one[0]
    )
    return tuple(words for _, words in large[:MAX_REASONS])


def _change(
    encoding: Encoding, steps: Array, tables: SeriesTables, before: int, after: int, place: int
) -> tuple[float, str]:
    """The size of a column's change in spreads, and its words."""
    name = encoding.name
    if encoding.kind == "category":
        # Two indicators change at once: the longer of the two steps is the size.
        size = float(np.abs(steps).max(initial=0.0))
        levels = [_level(encoding, tables.data.table.X, row, place) for row in (before, after)]
        return (size if levels[0] != levels[1] else 0.0), f"{name} from {levels[0]} to {levels[1]}"
    if encoding.kind == "season":
        return float(np.linalg.norm(steps)), f"{name} at another time of the year"
    size = float(abs(steps[0]))
    way = ("later" if steps[0] > 0 else "earlier") if encoding.kind == "time" else ""
    way = way or ("up" if steps[0] > 0 else "down")
    return size, f"{name} {way} {size:.1f} spreads"


def _level(encoding: Encoding, X: Matrix, row: int, place: int) -> str:
    cells = _row(X, row)[place : place + len(encoding.levels)]
    return str(encoding.levels[int(np.argmax(cells))] or MISSING_LEVEL_NAME)


def _row(X: Matrix, row: int) -> Array:
    cells = X[[row]]
    return np.asarray(cells if isinstance(cells, np.ndarray) else cells.toarray(), float).ravel()


def _spreads(X: Matrix) -> Array:
    if isinstance(X, np.ndarray):
        return X.std(axis=0)
    dense_mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(squares - dense_mean**2, 0.0))


def exchanges_of(names: Sequence[str], ids: Sequence[Array]) -> tuple[Exchange, ...]:
    """Ids that came and went between slices that follow each other, in the order of the tables."""
    exchanges = []
    for t in range(len(names) - 1):
        old, new = set(ids[t]), set(ids[t + 1])
        came = tuple(str(one) for one in ids[t + 1] if one not in old)
        went = tuple(str(one) for one in ids[t] if one not in new)
        exchanges.append(Exchange(names[t], names[t + 1], came, went))
    return tuple(exchanges)
