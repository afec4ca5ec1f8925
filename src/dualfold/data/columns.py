"""From named columns to a matrix: what is a feature, what a label, what is left out.

Every decision is written down as a notice, a plain sentence: a table that is
silently misread costs more than one that is refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.answer_scales import ordered_answers
from dualfold.data.cell_words import understood_words
from dualfold.data.column_kinds import KINDS
from dualfold.data.identifiers import identifier_kinds, names_of_rows
from dualfold.data.layout import with_different_names
from dualfold.data.notices import (
    color_notice,
    kind_notices,
    looks_like_number,
    order_notices,
    prose_notices,
    quoted_names,
    rising_notice,
)
from dualfold.data.reading import Reading
from dualfold.data.targets import named_targets, suspected_targets, target_notices
from dualfold.errors import Argument, InvalidInput, Message, counted
from dualfold.weights.written_dates import DATE_PATTERN, as_dates

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    Column = Array | pd.Series[Any]

# More digits than fit into float64 or int64: an identifier by its length.
LONG_NUMBER_PATTERN = re.compile(r"\d{19,}")
NESTED_TYPES = (list, tuple, dict, np.ndarray)

# Digits with a zero before them: a number would have lost it.
CODE_PATTERN = re.compile(r"0\d+")

FEATURE_USES = ("number", "encoded")
# Text that repeats is a category: at most this many levels, of this many rows on average.
MAX_GUESSED_LEVELS = 50
MIN_ROWS_PER_LEVEL = 5

# The columns that are used, left out and kept apart, whatever they look like.
Roles = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Table:
    """A matrix of numbers and what was read beside it.

    X: n×D, float64 or float32 as stored, or a SciPy CSR array for sparse files.
    names: one name for each column of X.
    labels: the columns kept apart, by name: text, dates, yes/no, or asked for.
    notices: plain sentences about everything that was left out, kept apart or filled.
    rows: which rows of the file these are, counted from 0 without the header.
    kinds: the labels that are features of a mixed table, each with its kind.
    targets: the labels that would be features, but look like the answer; the best first.
    orders: the levels of ordered categories, the lowest first.
    row_names: the column that was found to name the rows, by its name, as it is in the file.
    crossed: whether rows are levels of a column of a long table, and no rows of the source.
    choices: fields of `Reading` that were found out and decide how rows that come later are read.
    """

    X: NDArray[np.floating[Any]] | csr_array[Any]
    names: tuple[str, ...]
    labels: dict[str, Array]
    notices: tuple[str, ...]
    rows: NDArray[np.int64]
    kinds: Mapping[str, str] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    row_names: Mapping[str, Array] = field(default_factory=dict)
    crossed: bool = False


def table_of_frame(
    frame: pd.DataFrame,
    reading: Reading,
    *,
    features: Sequence[str] | None = None,
    notices: Sequence[str] = (),
    mixed: bool = False,
) -> Table:
    """Sort the columns of a data frame into features, labels and those left out.

    mixed : whether categories and dates are features too, and numbers may be lacking
    """
    frame, renamed = with_different_names(frame)
    names = list(frame.columns)
    reading = reading.for_columns(names)
    understood = understood_words(frame, reading, features or ())
    frame, notices = understood.frame, [*notices, *renamed, *understood.notices]
    roles = _column_roles(names, reading, features)
    columns = {str(name): _plain_column(column) for name, column in frame.items()}
    kinds, orders = _kinds_and_orders(columns, roles, reading, features, mixed=mixed)
    # The columns of an existing map are named by it: notices about them were given then.
    named = [] if features is not None else _named_targets(kinds, names, reading)
    guesses = mixed and reading.guesses and not reading.used_columns
    suspects = suspected_targets(named, columns) if guesses else []
    doubtful = [] if suspects else named
    kinds |= dict.fromkeys(suspects, "target")
    used = [name for name, kind in kinds.items() if KINDS[kind].use == "number"]
    beside = {name: kind for name, kind in kinds.items() if KINDS[kind].use == "encoded"}
    labels = {
        name: _label_values(columns[name])
        for name, kind in kinds.items()
        if KINDS[kind].use == "label" or name in beside or name in reading.label_fields
    }
    sentences = [*notices, *kind_notices(columns, kinds, (*suspects, *doubtful))]
    if mixed and features is None:
        sentences += _color_notices(columns, reading)
        sentences += [] if reading.is_of_text else prose_notices(columns, kinds, used or beside)
    free = reading.is_of_text or (features is not None and mixed)
    if not used and not beside and not free:
        _refuse_nothing_used(columns, [*roles[1], *roles[2]], sentences)
    rows = np.arange(len(frame), dtype=np.int64)
    matrix = _matrix([columns[name] for name in used]) if used else np.empty((len(rows), 0))
    rising = [name for name in used if kinds[name] == "distinct" and name not in doubtful]
    sentences += [rising_notice(rising)] if rising else []
    sentences += target_notices(suspects, doubtful, reading.color)
    sentences += order_notices({name: orders[name] for name in orders if name in beside})
    name = _names_of_rows(columns, kinds, reading)
    row_names = {} if name is None else {name: _label_values(columns[name])}
    kept = (tuple(suspects), orders | reading.orders, understood.choices, row_names)
    return Table(matrix, tuple(used), labels, tuple(sentences), rows, beside, *kept)


def _kinds_and_orders(
    columns: dict[str, Column],
    roles: Roles,
    reading: Reading,
    features: Sequence[str] | None,
    *,
    mixed: bool,
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Kind of each column that is not left out, and the levels of those that are answers."""
    keep, exclude, label_columns = roles
    no_features = frozenset(label_columns)
    if reading.is_of_text and features is None:  # lists are labels where they are vectors
        lists = {name for name in no_features if _holds_lists(columns[name])}
        no_features -= lists - set(reading.vectors)
    kinds = {
        name: (
            "label"
            if name in no_features
            else _column_kind(column, name, name in keep, mixed, reading.as_given)
        )
        for name, column in columns.items()
        if name not in exclude
    }
    # A new row may lack what the rows of its map have.
    kinds |= {name: "number" for name in features or () if kinds[name] == "empty"}
    kinds |= _identifiers(kinds, columns, {*keep, *reading.used_columns})
    orders: dict[str, tuple[str, ...]] = {}
    if mixed:
        kinds |= _mixed_kinds(kinds, columns, reading)
        orders = _known_orders(kinds, columns, reading)
        kinds |= dict.fromkeys(orders, "answers")
    return kinds, orders


def _column_roles(names: list[str], reading: Reading, features: Sequence[str] | None) -> Roles:
    """The columns that are used, left out and kept apart whatever they look like."""
    if features is not None:
        refuse_lacking(features, names)
        return tuple(features), (), tuple(name for name in names if name not in features)
    _check_asked(names, reading)
    restricted = bool(reading.used_columns) or reading.is_of_text
    others = [name for name in names if restricted and name not in reading.meant_columns]
    return reading.keep, reading.excluded_columns, (*reading.kept_apart, *others)


def _refuse_nothing_used(
    columns: dict[str, Column], asked: list[str], notices: list[str]
) -> NoReturn:
    raise InvalidInput(
        f"at least one column of numbers is needed, but of {counted(len(columns), 'column')} "
        f"({quoted_names(columns, 10)}) none is left"
        + (f"; asked to be left out or kept apart: {quoted_names(asked)}" if asked else ""),
        *(part for notice in notices for part in ("; ", notice)),
    )


def _color_notices(columns: dict[str, Column], reading: Reading) -> list[Message]:
    """That the column to colour by would be a feature, if it were not named for that."""
    name = reading.color
    if name is None or name not in reading.kept_apart or reading.used_columns:
        return []
    kind = {name: _column_kind(columns[name], name, False, True)}
    kind |= _mixed_kinds(kind, columns, reading) | _identifiers(kind, columns, set())
    return [color_notice(name)] if KINDS[kind[name]].use in FEATURE_USES else []


def _named_targets(kinds: dict[str, str], names: list[str], reading: Reading) -> list[str]:
    used = [name for name, kind in kinds.items() if KINDS[kind].use in FEATURE_USES]
    return named_targets(used, names, reading.used_fields)


def _mixed_kinds(
    kinds: dict[str, str], columns: dict[str, Column], reading: Reading
) -> dict[str, str]:
    """The kinds of columns that are features of a mixed table though they are no numbers."""
    asked = dict.fromkeys(reading.category, "category") | dict.fromkeys(reading.season, "season")
    asked |= dict.fromkeys(reading.orders, "ordered")
    asked |= {name: "category" for name, kind in kinds.items() if kind == "kept text"}
    if reading.mixed not in ("famd", "gower"):
        return asked
    guessed = {}
    for name, kind in kinds.items():
        column = columns[name]
        if isinstance(column, np.ndarray) or kind == "label":
            continue
        if kind == "boolean":
            guessed[name] = "yes or no"
        elif kind == "date" and as_dates(_label_values(column)) is not None:
            guessed[name] = "time"
        elif kind == "text" and not looks_like_number(column):
            levels = column.nunique()
            if 2 <= levels <= min(MAX_GUESSED_LEVELS, len(column) // MIN_ROWS_PER_LEVEL):
                guessed[name] = "category"
    return guessed | asked


def _known_orders(
    kinds: dict[str, str], columns: dict[str, Column], reading: Reading
) -> dict[str, tuple[str, ...]]:
    """The columns of words that are answers of a known scale, with their levels in order."""
    if not reading.guesses or reading.mixed == "numbers":
        return {}
    levels = {}
    for name, kind in kinds.items():
        column = columns[name]
        if name in reading.used_fields or isinstance(column, np.ndarray):
            continue
        if kind in ("text", "category"):
            words = column.dropna().unique()
            # Answers repeat; names of rows do not.
            if len(words) <= min(MAX_GUESSED_LEVELS, len(column) // 2):
                levels[name] = [str(word) for word in words]
    return ordered_answers(levels)


def refuse_lacking(needed: Sequence[str], names: Sequence[str]) -> None:
    """Raise for columns that are needed by name and are not there."""
    there = set(names)
    lacking = [name for name in needed if name not in there]
    if not lacking:
        return
    close = {name: difflib.get_close_matches(name, names, n=1) for name in lacking[:5]}
    hints = [f"'{name}' may be '{alike[0]}'" for name, alike in close.items() if alike]
    raise InvalidInput(
        f"the table lacks {len(lacking)} column{'s' if len(lacking) > 1 else ''} that "
        f"{'are' if len(lacking) > 1 else 'is'} needed: {quoted_names(lacking)}; it has "
        f"{quoted_names(names, 10)}"
        + (f" ({'; '.join(hints)})" if hints else "")
        + ". Columns are matched by name; rename them"
    )


def _identifiers(
    kinds: dict[str, str], columns: dict[str, Column], meant: set[str]
) -> dict[str, str]:
    """The kinds of columns of numbers that name the rows, or seem to."""
    numbers = {
        name: column
        for name, column in columns.items()
        if isinstance(column, np.ndarray) and kinds.get(name) == "number" and name not in meant
    }
    first = next(iter(columns), "")
    return identifier_kinds(numbers, first)


def _names_of_rows(
    columns: dict[str, Column], kinds: dict[str, str], reading: Reading
) -> str | None:
    """The column that names the rows: of those that are neither features nor asked for."""
    free = {
        name: columns[name]
        for name, kind in kinds.items()
        if KINDS[kind].names_rows and name not in reading.label_fields
        if not _holds_lists(columns[name])
    }
    numbers = {name: values for name, values in free.items() if isinstance(values, np.ndarray)}
    words = {name: values for name, values in free.items() if name not in numbers}
    return names_of_rows(numbers, words)


def _check_asked(names: list[str], reading: Reading) -> None:
    """Raise for a column that is asked for and is not there."""
    asked = [(name, "exclude") for name in reading.excluded_columns]
    asked += [*reading.label_fields.items(), *reading.used_fields.items()]
    for name, argument in asked:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=3)
            meant = " or ".join(f"'{name_alike}'" for name_alike in close)
            raise InvalidInput(
                Argument(argument, name),
                f" names no column; did you mean {meant}?"
                if close
                else f" names no column; the columns are {quoted_names(names)}",
            )


def _plain_column(column: pd.Series[Any]) -> Column:
    """A NumPy array if the column is one of numbers: much faster to ask than a pandas column."""
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return column.to_numpy()
    if types.is_timedelta64_dtype(dtype):
        days: Array = column.to_numpy() / np.timedelta64(1, "D")
        return days
    if types.is_object_dtype(dtype) and types.infer_dtype(column, skipna=True) == "decimal":
        return column.astype(np.float64).to_numpy()
    if isinstance(dtype, np.dtype):
        return column
    if types.is_bool_dtype(dtype) or not types.is_numeric_dtype(dtype):
        return column
    if types.is_integer_dtype(dtype) and not column.hasnans:
        return column.to_numpy(dtype=np.int64)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _column_kind(column: Column, name: str, keep: bool, mixed: bool, given: bool = False) -> str:
    """Kind of a column, in one word, by its values alone.

    given : whether numbers are used as they are, and so true and false as 1 and 0
    """
    if isinstance(column, np.ndarray):
        unknown = column.dtype.kind == "f" and np.isnan(column[:1]).all()
        return "empty" if unknown and np.isnan(column).all() else "number"
    from pandas.api import types

    known = column.dropna()
    if len(known) == 0:
        return "empty"
    if types.infer_dtype(known) == "boolean":
        return "number" if given or (keep and not mixed) else "boolean"
    if keep and mixed and not isinstance(known.iloc[0], NESTED_TYPES):
        return "kept text"
    if keep:
        raise InvalidInput(
            f"'{name}' cannot be used, since its values are not numbers, for example "
            f"{known.iloc[0]!r}"
        )
    if isinstance(known.iloc[0], NESTED_TYPES):
        return "nested"
    if _is_code(known):
        return "code"
    if LONG_NUMBER_PATTERN.fullmatch(str(known.iloc[0]).strip()):
        return "long number"
    if types.is_datetime64_any_dtype(column.dtype) or DATE_PATTERN.fullmatch(
        str(known.iloc[0]).strip()
    ):
        return "date"
    return "text"


def _holds_lists(column: Column) -> bool:
    if isinstance(column, np.ndarray) or column.dtype != object:
        return False
    first = column.first_valid_index()
    return first is not None and isinstance(column[first], NESTED_TYPES)


def _is_code(known: Any) -> bool:
    """Digits alone, of which some begin with a zero: postcodes, numbers of articles."""
    if not isinstance(known.iloc[0], str) or not known.iloc[0].strip().isdecimal():
        return False
    words = known.astype(str).str.strip()
    return bool(
        words.str.fullmatch(r"\d+").all() and words.str.fullmatch(CODE_PATTERN.pattern).any()
    )


def _label_values(column: Column) -> Array:
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "bM":
        return column.to_numpy()
    array = np.empty(len(column), dtype=object)
    array[:] = column.astype(object).where(column.notna(), None).to_numpy()
    return array


def _matrix(columns: list[Column]) -> NDArray[np.floating[Any]]:
    """The features as one array, float32 if all of them are stored so."""
    # What is no array here is true or false, perhaps with missing values.
    arrays = [c if isinstance(c, np.ndarray) else c.astype(np.float64).to_numpy() for c in columns]
    small = all(array.dtype in (np.float16, np.float32) for array in arrays)
    X = np.empty((len(arrays[0]), len(arrays)), dtype=np.float32 if small else np.float64)
    # By blocks of rows, so that the strided writes stay in the cache.
    for start in range(0, len(X), 1024):
        for column, array in enumerate(arrays):
            X[start : start + 1024, column] = array[start : start + 1024]
    return X
