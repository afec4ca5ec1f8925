"""What was decided about the columns of a table, each decision as a plain sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.column_kinds import KINDS
from dualfold.errors import Argument, Message

if TYPE_CHECKING:
    import pandas as pd

    Column = Array | pd.Series[Any]

# Below this many rows, whole numbers are all different or in order by chance too often.
MANY_ROWS = 20
# A number that is written with a currency before it, digits in groups, or a unit after it.
DRESSED_NUMBER = re.compile(r"[-+$€£¥\s]*\d[\d.,'’_\s]*(?:[eE][-+]?\d+)?\s*[^\W\d]{0,5}[%°²³]?\.?")
ORDINAL_PATTERN = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
# A list of numbers in brackets, two or more.
VECTOR_TEXT = re.compile(r"[\[(]\s*[-+\d.][-+\d.eE]*(?:[\s,;]+[-+\d.][-+\d.eE]*)+\s*[\])]")
PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# A column is prose from so many words a row on, where most rows differ.
MIN_PROSE_WORDS = 7
MIN_DIFFERENT_PROSE = 0.8
MAX_PROSE_ROWS = 200
MAX_PROSE_LETTERS = 200
# A remedy names this many columns; for more it names the argument alone.
MAX_SPELT_NAMES = 3


def quoted_names(names: Iterable[object], most: int = 5) -> str:
    """Names in quotes, the first few of them."""
    names = list(names)
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def column_argument(argument: str, names: list[str]) -> Argument:
    """The argument with these columns, where they are few."""
    return Argument(argument, names) if len(names) <= MAX_SPELT_NAMES else Argument(argument)


def kind_notices(
    columns: dict[str, Column], kinds: dict[str, str], others: Sequence[str] = ()
) -> list[Message]:
    """A sentence for each kind of column that is not a feature, and each unreadable number.

    others : columns that have a notice of their own
    """
    kinds = {name: kind for name, kind in kinds.items() if name not in others}
    offenders = {
        name: _offending_number(columns[name]) for name, kind in kinds.items() if kind == "text"
    }
    notices = [
        Message(
            f"'{name}' was kept as a label although most of it looks like numbers: ",
            offender,
            "; ",
            Argument("category", [name]),
            " takes its values as names",
        )
        for name, offender in offenders.items()
        if offender
    ]
    for kind, row in KINDS.items():
        names = [name for name in kinds if kinds[name] == kind and not offenders.get(name)]
        if names and row.sentence:
            words = f"{quoted_names(names)}: {row.sentence}"
            notices.append(Message(words, *_kind_remedy(kind, names)))
    return notices


def prose_notices(
    columns: dict[str, Column], kinds: dict[str, str], others: Collection[str]
) -> list[Message]:
    """An offer for each column that plainly is prose, or holds a list of numbers in each cell.

    others : columns that are used anyway; without them any text is offered
    """
    offers = {
        name: ("vectors", "lists of numbers", "them")
        if _is_vectors(columns[name])
        else ("text", "prose" if _is_prose(columns[name]) else "text", "its words")
        for name, kind in kinds.items()
        if (kind in ("text", "nested") and _is_vectors(columns[name]))
        or (kind == "text" and (not others or _is_prose(columns[name])))
    }
    return [
        Message(f"'{name}' holds {what}; ", Argument(option, name), f" makes a map of {them}")
        for name, (option, what, them) in offers.items()
    ]


def _is_vectors(column: Column) -> bool:
    """Whether the first cell that is not empty holds a list of numbers, or one written as text."""
    assert not isinstance(column, np.ndarray)
    first = next(iter(column.dropna().head(1)), None)
    if isinstance(first, str):
        return VECTOR_TEXT.fullmatch(first.strip()) is not None
    if not isinstance(first, list | tuple | np.ndarray) or len(first) < 2:
        return False
    return np.asarray(first[:MAX_PROSE_ROWS]).dtype.kind in "biuf"


def _is_prose(column: Column) -> bool:
    """Whether most of some values are sentences, in scripts with or without blanks."""
    assert not isinstance(column, np.ndarray)
    texts = [str(value) for value in column.dropna().head(MAX_PROSE_ROWS)]
    if len(texts) < MANY_ROWS or len(set(texts)) < MIN_DIFFERENT_PROSE * len(texts):
        return False
    lengths = [max(_words_with_letters(text), _letters_without_blanks(text)) for text in texts]
    return float(np.median(lengths)) >= MIN_PROSE_WORDS


def _words_with_letters(text: str) -> int:
    return sum(any(map(str.isalpha, word)) for word in text.split())


def _letters_without_blanks(text: str) -> int:
    """Words that the letters of Thai, Chinese and other such scripts may stand for."""
    return sum(letter >= "\u0e00" for letter in text[:MAX_PROSE_LETTERS]) // 3


def _kind_remedy(kind: str, names: list[str]) -> Sequence[str]:
    """Words on how to use columns of this kind that were left out, or how to leave them out."""
    them = "it" if len(names) == 1 else "them"
    if KINDS[kind].is_guessed:
        return ("; ", column_argument("exclude", names), f" leaves {them} out")
    if not KINDS[kind].is_keepable:
        return ()
    how = " as 0 and 1" if kind == "boolean" else ""
    return ("; ", column_argument("keep", names), f" uses {them}{how}")


def _offending_number(column: Column) -> Message:
    """Why a column that looks like numbers was read as text, or nothing."""
    assert not isinstance(column, np.ndarray)
    known = column.dropna()
    if not looks_like_number(column):
        return Message()
    for row, value in zip(known.index, known, strict=True):
        text = str(value).strip()
        if not PLAIN_NUMBER.fullmatch(text):
            return Message(f"{text!r} in row {int(row) + 1} is no plain number; ", *_remedy(text))
    return Message()


def looks_like_number(column: Column) -> bool:
    """Whether most of a column of text is numbers with something around them."""
    assert not isinstance(column, np.ndarray)
    words = [str(value).strip() for value in column.dropna().head(1000)]
    dressed = sum(
        bool(DRESSED_NUMBER.fullmatch(word)) and not ORDINAL_PATTERN.fullmatch(word)
        for word in words
    )
    return 2 * dressed > len(words)


def _remedy(text: str) -> Sequence[str]:
    grouped = re.fullmatch(r"[-+]?\d{1,3}([,.'’_ ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?", text)
    if grouped:
        return (Argument("thousands", grouped[1]), " reads it")
    return ("change it in the file (no units or words, empty where missing) to use the column",)


def rising_notice(names: list[str]) -> Message:
    """The notice about columns that are used, but may only name the rows."""
    single = len(names) == 1
    return Message(
        f"{quoted_names(names)}: whole numbers that rise from row to row, used as "
        f"{'a feature' if single else 'features'}; if {'it' if single else 'they'} only "
        f"{'names' if single else 'name'} the rows, ",
        column_argument("exclude", names),
        f" leaves {'it' if single else 'them'} out",
    )


def color_notice(name: str) -> Message:
    """That a column to colour by is no feature, and how it becomes one."""
    return Message(
        f"'{name}' colours the map and is not used as a feature; ",
        Argument("keep", [name]),
        " uses it, too",
    )


def order_notices(orders: Mapping[str, tuple[str, ...]]) -> list[Message]:
    """A notice for the columns of each order that was guessed."""
    notices = []
    for levels in dict.fromkeys(orders.values()):
        names = [name for name in orders if orders[name] == levels]
        single = len(names) == 1
        notices.append(
            Message(
                f"{quoted_names(names)}: answers in words, used in their order ("
                f"{' < '.join(levels)}); ",
                column_argument("category", names),
                f" takes {'it' if single else 'them'} as categories without one",
            )
        )
    return notices
