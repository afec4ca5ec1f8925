"""The first columns of X: texts by their rule, or vectors that the user has."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.columns import refuse_lacking
from dualfold.data.notices import quoted_names
from dualfold.data.reading import spelt_names
from dualfold.data.text.text_rule import TextRule, unit_rows
from dualfold.errors import Argument, DamagedFile, InvalidInput, counted
from dualfold.methods.maps.parts import Parts
from dualfold.weights.encoding import words_of

__all__ = ["TextBlock", "joined_texts", "vector_rows"]

MAX_WIDTH = 1_000_000
MAX_QUOTED_LETTERS = 60


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Rule by which texts or vectors of a table become the first columns of X.

    columns : of text
    vectors : names, patterns or a .npy file; () where the rows come from the text
    width : how many columns of X they make
    rule : of the texts; None with vectors
    """

    columns: tuple[str, ...]
    vectors: tuple[str, ...]
    width: int
    rule: TextRule | None

    def rows(self, table: Mapping[str, Any]) -> Array:
        """The rows of a table by its columns; NaN where there is nothing to compare.

        Vectors of a file are in `table` under its name.
        """
        if self.rule is not None:
            refuse_lacking(self.columns, list(table))
            vectors = self.rule.rows(joined_texts(table, self.columns))
        else:
            n = len(next(iter(table.values())))
            vectors = vector_rows(table, self.vectors, np.arange(n))
        if vectors.shape[1] != self.width:
            raise InvalidInput(
                Argument("vectors"),
                f" have {vectors.shape[1]} numbers, those of the map had {self.width}",
            )
        vectors[~vectors.any(axis=1)] = np.nan
        return vectors

    def put_into(self, parts: Parts) -> dict[str, Any]:
        """Add its arrays to what a file holds; the other facts are returned, JSON-ready."""
        facts: dict[str, Any] = {
            "columns": list(self.columns),
            "vectors": list(self.vectors),
            "width": self.width,
        }
        return facts if self.rule is None else facts | self.rule.put_into(parts)

    @classmethod
    def from_file(cls, parts: Parts, facts: Any) -> TextBlock:
        """The block that a file states, if it is one."""
        if not isinstance(facts, dict):
            raise DamagedFile("it states its texts in an unknown form")
        columns, vectors, width = (facts.get(name) for name in ("columns", "vectors", "width"))
        lists = all(
            isinstance(names, list) and all(isinstance(name, str) for name in names)
            for names in (columns, vectors)
        )
        if not lists or type(width) is not int or not 1 <= width <= MAX_WIDTH:
            raise DamagedFile("it names the columns of its texts in an unknown form")
        rule = None if vectors else TextRule.from_file(parts, facts)
        if rule is not None and (rule.n_components != width or not columns):
            raise DamagedFile("its texts make other columns than it states")
        return cls(tuple(columns or ()), tuple(vectors or ()), width, rule)


def joined_texts(columns: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The text of each row; several columns are joined, an empty line between them."""
    parts = [words_of(columns[name]) for name in names]
    return ["\n\n".join(filter(None, row)) for row in zip(*parts, strict=True)]


def vector_rows(
    columns: Mapping[str, Any],
    patterns: Sequence[str],
    rows: Array,
    n_rows: int | None = None,
) -> Array:
    """The vectors of rows: of .npy files, of columns of lists, of columns of numbers.

    rows : the rows of the source, counted from 0, that are wanted; n_rows : how many it has, by
        default up to the last of these; a file has as many
    """
    n_rows = int(rows[-1]) + 1 if n_rows is None and len(rows) else n_rows or 0
    parts = []
    for name in spelt_names(patterns, list(columns)):
        if name in columns:
            parts.append(_column_vectors(name, columns[name]))
        elif name.lower().endswith(".npy"):
            parts.append(_file_vectors(name, rows, n_rows))
        else:
            raise InvalidInput(
                Argument("vectors", name),
                " is neither a column (or a pattern for names of columns, as dim_*) nor a file "
                f"that ends in .npy; the columns are {quoted_names(columns, 10)}",
            )
    vectors = np.concatenate(parts, axis=1)
    if not np.isfinite(vectors).all():
        bad = int(rows[np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0]]) + 1
        raise InvalidInput(
            Argument("vectors", " ".join(patterns)),
            f" holds missing or infinite numbers, first in row {bad}; leave such rows out",
        )
    return unit_rows(vectors)


def _column_vectors(name: str, values: object) -> Array:
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=float).reshape(len(values), -1)
    rows = []
    for row, cell in enumerate(values.tolist()):
        try:
            rows.append(np.asarray(_numbers_in(cell), dtype=float).ravel())
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                Argument("vectors", name),
                " must hold numbers, or lists of numbers; row "
                f"{row + 1} holds {shorten(str(cell), MAX_QUOTED_LETTERS)}",
            ) from error
        if len(rows[-1]) != len(rows[0]) or not len(rows[0]):
            raise InvalidInput(
                Argument("vectors", name),
                f" must hold lists of one length; row {row + 1} has "
                f"{counted(len(rows[-1]), 'number')}, and row 1 has {len(rows[0])}",
            )
    return np.array(rows, dtype=float)


def _numbers_in(value: object) -> Any:
    """The numbers of a list, also where it is written as text, as in files of text.

    >>> _numbers_in("[0.5, -1e3]"), _numbers_in("[1. 2.5]"), _numbers_in("3;4")
    (['0.5', '-1e3'], ['1.', '2.5'], ['3', '4'])
    """
    if not isinstance(value, str):
        return value
    return value.strip().strip("[](){}").replace(",", " ").replace(";", " ").split()


def _file_vectors(path: str, rows: Array, n_rows: int) -> Array:
    if not os.path.isfile(path):
        raise InvalidInput(Argument("vectors", path), " is no file and no column")
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InvalidInput(
            Argument("vectors", path), " is no file of numbers as numpy.save writes it"
        ) from error
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise InvalidInput(
            Argument("vectors", path),
            f" must hold a matrix of numbers; it holds {vectors.dtype} of shape {vectors.shape}",
        )
    if len(vectors) != n_rows:
        raise InvalidInput(
            Argument("vectors", path),
            f" has {len(vectors):,} rows, and the table has {n_rows:,}; a row for each is needed, "
            "in the same order",
        )
    return np.asarray(vectors[rows], dtype=float)
