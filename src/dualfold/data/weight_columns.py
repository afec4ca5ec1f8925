"""Columns that look like weights of rows: counts of a cross table, weights of a survey."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.data.columns import Table
from dualfold.data.reading import Reading
from dualfold.errors import Argument, Message

# What counts of rows are called, by R, SQL and people.
COUNT_NAMES = frozenset({"freq", "frequency", "count", "counts", "n", "weight", "weights", "wt"})
SURVEY_NAMES = frozenset(
    {
        "design_weight",
        "final_weight",
        "person_weight",
        "pweight",
        "sample_weight",
        "sampling_weight",
        "survey_weight",
        "wgt",
    }
)
# Weights of a survey are often divided by their mean; a body's weight is 1 by no accident.
UNIT_MEAN_NAMES = frozenset({"weight", "weights", "wt"})
UNIT_MEAN_TOLERANCE = 0.01


def weight_remarks(table: Table, reading: Reading) -> list[Message]:
    """A sentence that offers a column of numbers as weights, where it plainly is that."""
    if reading.weight is not None or not reading.guesses or not isinstance(table.X, np.ndarray):
        return []
    for column, name in enumerate(table.names):
        if name in reading.meant_columns:
            continue
        words = _words_for(table, name, table.X[:, column])
        if words:
            return [
                Message(
                    f"'{name}' looks like {words}, and is used as a column like the others; ",
                    Argument("weight", name),
                    " counts each row that often instead",
                )
            ]
    return []


def _words_for(table: Table, name: str, values: Array) -> str:
    """Words for what the numbers of a column look like; "" where they may be anything."""
    plain = name.strip().lower().replace(" ", "_").replace("-", "_").replace(".", "_")
    if not np.isfinite(values).all() or values.min() < 0 or values.min() == values.max():
        return ""
    whole = bool((values % 1 == 0).all())
    if plain in COUNT_NAMES and whole and len(table.names) == 1 and _is_cross_table(table):
        return "a number of rows"
    unit = abs(float(values.mean()) - 1) <= UNIT_MEAN_TOLERANCE and values.min() > 0 and not whole
    if plain in SURVEY_NAMES or (plain in UNIT_MEAN_NAMES and unit):
        return "weights of a survey"
    return ""


def _is_cross_table(table: Table) -> bool:
    """Whether all other columns are words, in different combinations."""
    columns = [column for column in table.labels.values() if column.dtype == object]
    return bool(columns) and len(set(zip(*columns, strict=True))) == len(table.rows)
