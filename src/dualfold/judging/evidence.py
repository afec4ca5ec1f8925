"""Evidence about the maps of a table: its rows as measures take them, its columns for words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.quality.space import Space

__all__ = ["MapEvidence"]

# Columns of numbers that are looked at; of wider tables those that follow the axes best.
MAX_NUMBER_COLUMNS = 300
# Whole numbers of a class that are names of groups.
MAX_CLASS_NUMBERS = 30


@dataclass(frozen=True, eq=False)
class MapEvidence:
    """Evidence by which maps of a table are judged.

    spaces : the rows as measures take them; where cells were filled in, plausible fillings
    features : names of the columns of the rows
    feature_columns : the column of the table that each of them was made from
    order_columns : columns in which order is looked for, where the rows have none of their own
    weights : how much each row counts among those that keep their neighbours; None: all alike
    filled_share, doubt : of the cells; why maps cannot be judged, or ""
    labels : columns of words, dates and ordered levels, by name
    orders : of these the ones with an order, and their levels from low to high
    numbers : names of the columns of numbers, and a matrix of them
    classes : columns that were named or found as classes
    terms, term_weights : of the texts of the rows; None where they have none
    """

    spaces: Sequence[Space]
    features: Sequence[str]
    feature_columns: Sequence[Hashable]
    order_columns: Mapping[str, Array] | None = None
    weights: Array | None = None
    filled_share: float = 0.0
    doubt: str = ""
    labels: Mapping[str, Array] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    numbers: tuple[Sequence[str], Any] | None = None
    classes: Sequence[str] = ()
    terms: Sequence[str] | None = None
    term_weights: Any = None

    def telling_columns(self, points: Array) -> dict[str, Array]:
        """Columns that may tell groups on a map apart: of many numbers those that follow axes."""
        if self.numbers is None:
            return dict(self.labels)
        names, X = self.numbers
        chosen = np.arange(len(names))
        if len(names) > MAX_NUMBER_COLUMNS:
            follows = _strongest_correlations(X, points)
            chosen = np.sort(np.argsort(-follows, kind="stable")[:MAX_NUMBER_COLUMNS])
        columns = X[:, chosen]
        dense = columns.toarray() if hasattr(columns, "toarray") else np.asarray(columns)
        numbers = {names[int(at)]: column for at, column in zip(chosen, dense.T, strict=True)}
        return {**self.labels, **numbers}

    def with_class_words(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        """The columns, in which classes of few whole numbers are words."""
        words = {
            name: np.array([str(value) for value in columns[name]], dtype=object)
            for name in self.classes
            if name in columns and _are_few_whole_numbers(np.asarray(columns[name]))
        }
        return {**columns, **words}


def _are_few_whole_numbers(values: Array) -> bool:
    return values.dtype.kind in "iu" and len(np.unique(values)) <= MAX_CLASS_NUMBERS


def _strongest_correlations(X: Any, points: Array) -> Array:
    """Correlation of each column with the axis that it follows best, without its sign.

    0 where a column has missing values.
    """
    centred = points - points.mean(axis=0)
    centred = centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), np.finfo(float).tiny)
    n = X.shape[0]
    sums = np.asarray(X.sum(axis=0), dtype=float).ravel()
    squares = (X.multiply(X) if hasattr(X, "multiply") else X * X).sum(axis=0)
    spread = np.sqrt(np.maximum(np.asarray(squares, dtype=float).ravel() - sums**2 / n, 0))
    along = np.abs(np.asarray(X.T @ centred)).max(axis=1)
    shares = np.divide(along, spread, out=np.zeros(len(sums)), where=spread > 0)
    return np.asarray(np.nan_to_num(shares))
