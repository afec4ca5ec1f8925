"""Contingency tables: what is read as counts, and which tables look like some."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data.columns import Table
from dualfold.data.notices import quoted_names
from dualfold.data.reading import Reading
from dualfold.errors import Argument, InvalidInput, Message

if TYPE_CHECKING:
    from dualfold.data.prepared import Prepared

# docs/dev/notes/correspondence.md has the tables that these limits were tried on.
# A table with more rows is rarely one of categories: an offer would be wrong more often than right.
MAX_OFFERED_ROWS = 200
MIN_OFFERED_SIDE = 3
# Columns that count the same things are of one order of magnitude; measurements are of several.
MAX_TOTAL_RATIO = 50
# Answers on a scale, ranks and years are whole numbers, too; counts have zeros or a wide range.
MIN_COUNT_RATIO = 5
YEARS = (1500, 2100)
COUNTS_OFFER = Message(
    "all columns are whole numbers of one kind, as in a contingency table: if they are counts, ",
    Argument("method", "correspondence"),
    " maps rows and columns together",
)


def table_of_counts(table: Table, reading: Reading) -> Table:
    """The table as counts: a column of text names the rows, or two name the cells of a long table.

    Text in further columns and numbers below 0 are refused; gaps are, where they are not dropped.
    """
    texts = [name for name in table.labels if name not in reading.label_fields]
    if len(texts) == 2 and len(table.names) == 1 and not reading.label_fields:
        table = _crossed_table(table, texts[0], texts[1])
        texts = texts[:1]
    if len(texts) > 1:
        raise InvalidInput(
            f"a table of counts has one column of names, and '{texts[1]}' holds no numbers, too; ",
            Argument("exclude", [texts[1]]),
            " leaves it out. A long table needs two columns of categories and one of counts",
        )
    _refuse_negative(table)
    if texts:
        table = replace(table, row_names={texts[0]: table.labels[texts[0]]})
    return replace(table, notices=(*table.notices, *_sum_notices(table)))


def _crossed_table(table: Table, first: str, second: str) -> Table:
    """The counts of a long table: a row for each level of one column, a column for the other's."""
    words = [[str(word) for word in table.labels[name]] for name in (first, second)]
    levels = [list(dict.fromkeys(values)) for values in words]
    places = [
        [known.index(word) for word in values] for values, known in zip(words, levels, strict=True)
    ]
    X = np.zeros((len(levels[0]), len(levels[1])))
    np.add.at(X, tuple(places), np.asarray(table.X, dtype=float)[:, 0])
    notice = (
        f"'{table.names[0]}' was added up for each '{first}' (the rows) and each '{second}' (the "
        "columns)"
    )
    return replace(
        table,
        X=X,
        names=tuple(levels[1]),
        labels={first: np.array(levels[0], dtype=object)},
        rows=np.arange(len(X), dtype=np.int64),
        notices=(*table.notices, notice),
        crossed=True,
    )


def _refuse_negative(table: Table) -> None:
    X: Any = table.X
    entries = X.data if sp.issparse(X) else X
    if not entries.size or not (entries < 0).any():
        return
    rows, columns = np.nonzero((X < 0).toarray() if sp.issparse(X) else X < 0)
    row, column = int(rows[0]), int(columns[0])
    raise InvalidInput(
        f"'{table.names[column]}' is {X[row, column]:g} in row {table.rows[row] + 1}, and counts "
        "are 0 or more; ",
        Argument("exclude", [table.names[column]]),
        " leaves the column out",
    )


def _sum_notices(table: Table) -> list[Message]:
    """That a column or a row holds the sums of the others, which would be counted twice."""
    X: Any = table.X
    if sp.issparse(X) or min(X.shape) < 3 or not np.isfinite(X).all():
        return []
    sums = [table.names[column] for column in _sums_of_others(X)]
    notices = []
    if sums:
        its = "it is the sum" if len(sums) == 1 else "each is the sum"
        words = f"{quoted_names(sums)}: {its} of the other columns, which counts them twice; "
        notices.append(Message(words, Argument("exclude", sums), " leaves it out"))
    rows = [int(table.rows[column]) + 1 for column in _sums_of_others(X.T)]
    if rows:
        notices.append(
            Message(f"row {rows[0]} is the sum of the other rows, which counts them twice")
        )
    return notices


def _sums_of_others(X: Array) -> list[int]:
    totals = X.sum(axis=1)
    return [column for column in range(X.shape[1]) if np.array_equal(2 * X[:, column], totals)]


def looks_like_counts(data: Prepared) -> bool:
    """Whether a table plainly looks like a contingency table, so that it is worth an offer.

    Its columns are whole numbers ≥ 0 of one order of magnitude, all of them used; one column of
    words names the rows. Tables that are long, or without names of rows, are not offered it.
    """
    table = data.table if data.raw is None else data.raw
    X: Any = table.X
    names = table.row_names
    if sp.issparse(X) or X.dtype.kind not in "iuf" or data.reading.mixed != "famd":
        return False
    if not MIN_OFFERED_SIDE <= X.shape[0] <= MAX_OFFERED_ROWS or X.shape[1] < MIN_OFFERED_SIDE:
        return False
    words = all(isinstance(value, str) for values in names.values() for value in values)
    if set(table.labels) != set(names) or not words:
        return False
    return _are_like_counts(np.asarray(X, dtype=float))


def _are_like_counts(X: Array) -> bool:
    if not np.isfinite(X).all() or (X < 0).any() or (np.floor(X) != X).any():
        return False
    sums, most = X.sum(axis=0), X.max(axis=0)
    if not sums.all() or not X.sum(axis=1).all() or most.max() < 2 * MIN_COUNT_RATIO:
        return False
    if sums.max() > MAX_TOTAL_RATIO * sums.min():
        return False
    if ((YEARS[0] <= X) & (YEARS[1] >= X)).all(axis=0).any():
        return False
    least = np.maximum(X.min(axis=0), 1.0)
    spread = (most >= MIN_COUNT_RATIO * least).mean() > 0.5
    square = X.shape[0] == X.shape[1] and (  # distances, similarities
        np.array_equal(X, X.T) or not np.diagonal(X).any()
    )
    return bool(spread and not square)
