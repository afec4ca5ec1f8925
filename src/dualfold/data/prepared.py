"""From a file, a data frame or an array to the matrix that methods take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.data import arrays
from dualfold.data.columns import Table, table_of_frame
from dualfold.data.dates import ambiguous_dates, as_dates
from dualfold.data.gaps import complete
from dualfold.data.reading import ABOUT, AS_IT_IS, Reading
from dualfold.data.scales import Standard, ranges, standard_of
from dualfold.data.tables import read_table, table_of_matrix
from dualfold.errors import Argument, InvalidInput, Message

# Scales that differ more than this are rarely meant: one unit drowns the others.
MOST_SCALE_RATIO = 100.0


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that is ready for a method.

    X : the features as methods take them, scaled where that was asked for
    table : what was read, before scaling
    standard : the shift and the scale of each column; None where nothing was scaled
    source : the name of the file, or what else it was
    reading : how it was read
    remarks : what should be known before the numbers are believed, beside the table's notices
    """

    X: Any
    table: Table
    standard: Standard | None
    source: str
    reading: Reading
    remarks: tuple[Message, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        return self.table.names

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which rows of the source these are, counted from 0."""
        return self.table.rows

    @property
    def labels(self) -> dict[str, NDArray[Any]]:
        """The columns that were kept apart, by name."""
        return self.table.labels

    @property
    def notices(self) -> tuple[str, ...]:
        """Plain sentences about everything that was decided or should be looked at."""
        return (*self.table.notices, *self.remarks)

    @property
    def scales_differ(self) -> bool:
        """Whether one column drowns the others, so that standardizing was recommended."""
        return any("standardize" in remark.arguments for remark in self.remarks)

    def label(self, name: str | None) -> Any:
        """The column of that name that was kept apart; None for None."""
        return None if name is None else self.labels[name]

    @property
    def classes(self) -> Any:
        """The classes that methods learn from, if their column was named."""
        return self.label(self.reading.labels)

    @property
    def colors(self) -> Any:
        """The column to colour by, if one was named; dates in words are dates."""
        values = self.label(self.reading.color)
        return None if values is None else colors_of(values)


def prepare(source: Any, reading: Reading = AS_IT_IS) -> Prepared:
    """The matrix that methods take, with names, labels and everything that was decided.

    The command line prepares every table with this function, so the same file and the same
    choices give the same X here.

    source : a file that `read_table` reads ("-": standard input), a data frame of pandas or
        polars, or an array or sparse matrix of n rows
    """
    table = _table(source, reading)
    file = isinstance(source, str | os.PathLike)
    name = os.fspath(source) if file else f"the {type(source).__name__}"
    remarks, X, standard = _color_remarks(table, reading.color), table.X, None
    if reading.standardize:
        standard = standard_of(table.X)
        X = standard.applied(table.X)
    else:
        remarks = [*_scale_remarks(table), *remarks]
    return Prepared(X, table, standard, name, reading, tuple(remarks))


def colors_of(values: NDArray[Any]) -> NDArray[Any]:
    """What is drawn as colours; dates in words become dates, so that they have an order."""
    dates = as_dates(values)
    return values if dates is None else dates


def _table(source: Any, reading: Reading) -> Table:
    if isinstance(source, str | os.PathLike):
        return read_table(source, reading)
    for name in reading.given():
        if ABOUT[name] != "columns":
            kind = type(source).__name__
            raise InvalidInput(Argument(name), f" is about files, and this is a {kind}")
    source = source.to_pandas() if hasattr(source, "to_pandas") else source
    if hasattr(source, "iloc"):
        if len(source) == 0:
            raise InvalidInput("the data frame has no rows; one is needed")
        # Rows are counted from 0 in what is said about them.
        return complete(table_of_frame(source.reset_index(drop=True), reading), reading.missing)
    if hasattr(source, "tocsr"):
        return table_of_matrix(arrays.sparse_table(source), reading)
    return table_of_matrix(arrays.dense_table(np.asarray(source), "the array"), reading)


def _color_remarks(table: Table, color: str | None) -> list[Message]:
    if color is None or not ambiguous_dates(table.labels[color]):
        return []
    return [
        Message(
            Argument("color", color),
            ": nothing tells the days from the months of dates as "
            f"'{table.labels[color][0]}', so they are coloured as words without an order; write "
            "them as 2021-12-31",
        )
    ]


def _scale_remarks(table: Table) -> list[Message]:
    found = ranges(table.X)
    varying = np.flatnonzero(found)
    if len(varying) < 2:
        return []
    order = varying[np.argsort(found[varying], kind="stable")]
    # Among hundreds of pixels a few are nearly always empty; that is no other unit.
    narrow, wide = order[len(order) // 20], order[-1]
    ratio = found[wide] / found[narrow]
    if not ratio >= MOST_SCALE_RATIO:  # nor where a gap makes it NaN
        return []
    times = f"{ratio:,.0f}" if ratio < 1e9 else f"{ratio:.0e}"
    return [
        Message(
            f"the columns differ in scale: '{table.names[wide]}' spans {times} times as much "
            f"as '{table.names[narrow]}' and so decides the distances; ",
            Argument("standardize", True),
            " gives every column the same weight",
        )
    ]
