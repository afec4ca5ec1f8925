"""Kinds of column: what a column of a table is, by its values and by what was asked for.

A further kind is a row of `KINDS`; where it becomes columns of X, `weights/encoding.py` says how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dualfold.weights.encoding import Category, Encoding, Ordered, Season, Time

MISSING_LEVEL_KIND = "category or missing"


@dataclass(frozen=True)
class ColumnKind:
    """Kind of column: what becomes of such columns, and what is said of them.

    use : "number", a column of X as it is; "encoded", columns of X by `encoding`; "label", kept
        beside X; "none", left out
    sentence : about such columns; "" where there is none, or one elsewhere
    names_rows : whether the column may name the rows
    is_keepable : whether `keep` uses it
    is_guessed : whether it is used without having been asked for
    """

    use: Literal["number", "encoded", "label", "none"]
    sentence: str = ""
    encoding: type[Encoding] | None = None
    names_rows: bool = False
    is_keepable: bool = False
    is_guessed: bool = False


# In the order of their sentences.
KINDS: dict[str, ColumnKind] = {
    "empty": ColumnKind("none", "empty, left out"),
    "identifier": ColumnKind(
        "none",
        "row numbers or row names, which are identifiers, left out",
        names_rows=True,
        is_keepable=True,
    ),
    "named": ColumnKind(
        "none", "named like identifiers, left out", names_rows=True, is_keepable=True
    ),
    "boolean": ColumnKind("label", "true or false, kept as labels", is_keepable=True),
    "date": ColumnKind("label", "dates, kept as labels"),
    "nested": ColumnKind(
        "none", "lists or records in each cell, left out; make columns of them to use them"
    ),
    "long number": ColumnKind(
        "label",
        "whole numbers of 19 digits or more, as identifiers have, kept as labels",
        names_rows=True,
    ),
    "code": ColumnKind(
        "label",
        "codes (digits with a zero before them), kept as labels",
        names_rows=True,
        is_keepable=True,
    ),
    "text": ColumnKind("label", "text, kept as labels", names_rows=True),
    "category": ColumnKind(
        "encoded", "categories, used as such", encoding=Category, is_guessed=True
    ),
    "yes or no": ColumnKind(
        "encoded", "yes or no, used as categories", encoding=Category, is_guessed=True
    ),
    "ordered": ColumnKind(
        "encoded", "categories with an order, used by their places in it", encoding=Ordered
    ),
    "time": ColumnKind("encoded", "dates, used as time (days)", encoding=Time, is_guessed=True),
    "season": ColumnKind("encoded", "dates, used as the time of the year", encoding=Season),
    # Answers in words of a known scale.
    "answers": ColumnKind("encoded", encoding=Ordered),
    MISSING_LEVEL_KIND: ColumnKind("encoded", encoding=Category),
    "number": ColumnKind("number"),
    # Whole numbers that rise from row to row, and may only name the rows.
    "distinct": ColumnKind("number"),
    # What was asked to be kept apart, and what looks like the target.
    "label": ColumnKind("label", names_rows=True),
    "target": ColumnKind("label"),
    # Text that `keep` names, until it is a category.
    "kept text": ColumnKind("none"),
}
