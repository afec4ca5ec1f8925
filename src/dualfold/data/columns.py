"""From named columns to a matrix: what is a feature, what a label, what is left out.

Every decision is written down as a notice, a plain sentence: a table that is
silently misread costs more than one that is refused.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualfold.data.dates import NAMED_MONTH, YEAR_MONTH
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    Column = NDArray[Any] | pd.Series[Any]

# Below this many rows, whole numbers are all different or in order by chance too often.
MANY_ROWS = 20
IDENTIFIER = re.compile(
    r"(?:.*[_\s.-])?(?:id|ids|identifier|uuid|guid|idx|index|key|row|rownum|row[_ ]?number"
    r"|nr|no|number)\.?"
    r"|unnamed: 0|.*[a-z]I[dD]",
)
# Names that say it even where values repeat: a patient_id of many visits is no measurement.
NAMED_IDENTIFIER = re.compile(r"(?:.*[_\s.-])?(?:id|ids|identifier|uuid|guid)|.*[a-z]I[dD]")
# Identifiers come one or two to a table; more columns of that kind are measurements.
FEW_DISTINCT = 2
ANSWER = re.compile(r"label|labels|class|classes|target|y|cluster", re.IGNORECASE)
# A number in its Sunday clothes: a currency before, digits in groups, a unit after.
DRESSED_NUMBER = re.compile(r"[-+$€£¥\s]*\d[\d.,'’_\s]*(?:[eE][-+]?\d+)?\s*[^\W\d]{0,5}[%°²³]?\.?")
PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}.*"
    rf"|{YEAR_MONTH.pattern}|{NAMED_MONTH.pattern}",
    re.IGNORECASE,
)

# More digits than a float64 or an int64 holds; a number as text, and a name by its length.
LONG_NUMBER = re.compile(r"\d{19,}")
NESTED = (list, tuple, dict, np.ndarray)

KEPT_APART = ("label", "text", "date", "boolean", "long number")
SENTENCES = {
    "empty": "empty, left out",
    "identifier": "row numbers or identifiers by their looks (whole numbers, all different), "
    "left out; keep=[…] uses them",
    "named": "identifiers by their name, left out; keep=[…] uses them",
    "odd one": "whole numbers, all different, as identifiers are, left out; keep=[…] uses them",
    "boolean": "true or false, kept as labels; keep=[…] uses them as 0 and 1",
    "date": "dates, kept as labels",
    "nested": "lists or records in each cell, left out; make columns of them to use them",
    "long number": "whole numbers of 19 digits or more, as identifiers have, kept as labels",
    "text": "text, kept as labels",
}


@dataclass(frozen=True)
class Table:
    """A matrix of numbers and what was read beside it.

    X: n×D, float64 or float32 as stored, or a SciPy CSR array for sparse files.
    names: one name a column of X.
    labels: the columns kept apart, by name: text, dates, yes/no, or asked for.
    notices: plain sentences about everything that was left out, kept apart or filled.
    rows: which rows of the file these are, counted from 0 without the header.
    """

    X: NDArray[np.floating[Any]] | csr_array[Any]
    names: tuple[str, ...]
    labels: dict[str, NDArray[Any]]
    notices: tuple[str, ...]
    rows: NDArray[np.int64]


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Names in quotes, the first few of them."""
    names = list(names)
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def table_of_frame(
    frame: pd.DataFrame,
    *,
    exclude: Sequence[str],
    label_columns: Sequence[str],
    keep: Sequence[str],
    features: Sequence[str] | None = None,
    notices: Sequence[str] = (),
) -> Table:
    """Sort the columns of a data frame into features, labels and those left out."""
    if features is not None:
        names = [str(name) for name in frame.columns]
        refuse_lacking(features, names)
        keep, exclude = features, ()
        label_columns = [name for name in names if name not in features]
    _check_names([str(name) for name in frame.columns], exclude, label_columns, keep)
    columns = {str(name): _plain(column) for name, column in frame.items()}
    kinds = {
        name: "label" if name in label_columns else _kind(column, name, name in keep)
        for name, column in columns.items()
        if name not in exclude
    }
    kinds = _without_odd_ones(kinds, len(frame))
    used = [name for name, kind in kinds.items() if kind in ("number", "distinct")]
    labels = {name: _label_values(columns[name]) for name in kinds if kinds[name] in KEPT_APART}
    said = [*notices, *_kind_notices(columns, kinds)]
    if not used:
        asked = [*exclude, *label_columns]
        raise InvalidInput(
            f"at least one column of numbers is needed, but of the {len(columns)} columns "
            f"({listed(columns, 10)}) none is left"
            + (f"; asked to be left out or kept apart: {listed(asked)}" if asked else "")
            + "".join(f"; {notice}" for notice in said)
        )
    matrix = _matrix([columns[name] for name in used])
    rows = np.arange(len(matrix), dtype=np.int64)
    return Table(matrix, tuple(used), labels, (*said, *_doubtful(columns, kinds)), rows)


def refuse_lacking(needed: Sequence[str], names: Sequence[str]) -> None:
    """Raise for columns that are needed by name and are not there."""
    there = set(names)
    lacking = [name for name in needed if name not in there]
    if not lacking:
        return
    close = {name: difflib.get_close_matches(name, names, n=1) for name in lacking[:5]}
    hints = [f"'{name}' may be '{found[0]}'" for name, found in close.items() if found]
    raise InvalidInput(
        f"{len(lacking)} column{'s are' if len(lacking) > 1 else ' is'} needed that the table has "
        f"not: {listed(lacking)}; it has {listed(names, 10)}"
        + (f" ({'; '.join(hints)})" if hints else "")
        + ". Columns are matched by name; rename them"
    )


def _without_odd_ones(kinds: dict[str, str], rows: int) -> dict[str, str]:
    """One or two columns of all-distinct whole numbers beside others name the rows."""
    distinct = [name for name, kind in kinds.items() if kind == "distinct"]
    beside = any(kind == "number" for kind in kinds.values())
    if rows < MANY_ROWS or not beside or len(distinct) > FEW_DISTINCT:
        return kinds
    return kinds | dict.fromkeys(distinct, "odd one")


def _check_names(
    names: list[str], exclude: Sequence[str], label_columns: Sequence[str], keep: Sequence[str]
) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidInput(
            f"column names must differ, but {listed(twice)} "
            f"{'appears' if len(twice) == 1 else 'appear'} more than once; rename them"
        )
    for parameter, wanted in (
        ("exclude", exclude),
        ("label_columns", label_columns),
        ("keep", keep),
    ):
        for name in wanted:
            if name not in names:
                close = difflib.get_close_matches(name, names, n=3) or names
                raise InvalidInput(
                    f"{parameter} names '{name}', but there is no such column; "
                    f"there is {listed(close)}"
                )


def _plain(column: pd.Series[Any]) -> Column:
    """A NumPy array if the column is one of numbers: much faster to ask than a pandas column."""
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return column.to_numpy() if dtype.kind in "iuf" else column
    if types.is_bool_dtype(dtype) or not types.is_numeric_dtype(dtype):
        return column
    if types.is_integer_dtype(dtype) and not column.hasnans:
        return column.to_numpy(dtype=np.int64)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _kind(column: Column, name: str, keep: bool) -> str:
    """What a column is, in one word; distinct is a number that may be an identifier."""
    if isinstance(column, np.ndarray):
        named = not keep and _named_identifier(name)
        if column.dtype.kind == "f":
            if np.isnan(column[:1]).all() and np.isnan(column).all():
                return "empty"
            return "named" if named and _whole(column) else "number"
        if keep or not _all_different(column):
            return "named" if named else "number"
        return "identifier" if _numbers_rows(column, name) else "distinct"
    from pandas.api import types

    known = column.dropna()
    if len(known) == 0:
        return "empty"
    if types.infer_dtype(known) == "boolean":
        return "number" if keep else "boolean"
    if keep:
        raise InvalidInput(
            f"keep names '{name}', but its values are no numbers, as {known.iloc[0]!r}"
        )
    if isinstance(known.iloc[0], NESTED):
        return "nested"
    if LONG_NUMBER.fullmatch(str(known.iloc[0]).strip()):
        return "long number"
    if types.is_datetime64_any_dtype(column.dtype) or DATE.fullmatch(str(known.iloc[0]).strip()):
        return "date"
    return "text"


def _named_identifier(name: str) -> bool:
    return bool(NAMED_IDENTIFIER.fullmatch(name) or NAMED_IDENTIFIER.fullmatch(name.lower()))


def _whole(column: NDArray[Any]) -> bool:
    """Whole numbers, perhaps with gaps, which made them floating ones."""
    known = column[np.isfinite(column)]
    return bool(np.array_equal(known, np.floor(known)))


def _all_different(values: NDArray[Any]) -> bool:
    # Most columns repeat a value early on, and a short look is much cheaper.
    return all(len(np.unique(part)) == len(part) for part in (values[:100], values))


def _numbers_rows(values: NDArray[Any], name: str) -> bool:
    """Whether whole numbers, all different, name the rows rather than describing them."""
    n = len(values)
    if n < 3:
        return False
    counted = values[0] in (0, 1) and np.array_equal(values, values[0] + np.arange(n))
    if counted or IDENTIFIER.fullmatch(name) or IDENTIFIER.fullmatch(name.lower()):
        return True
    consecutive = int(values.max()) - int(values.min()) == n - 1
    rising = values[1:] > values[:-1]
    return n >= MANY_ROWS and bool(consecutive or rising.all() or not rising.any())


def _label_values(column: Column) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "bM":
        return column.to_numpy()
    array = np.empty(len(column), dtype=object)
    array[:] = column.astype(object).where(column.notna(), None).to_numpy()
    return array


def _kind_notices(columns: dict[str, Column], kinds: dict[str, str]) -> list[str]:
    """One sentence for each kind of column that is not a feature, and each spoilt number."""
    offenders = {
        name: _offending_number(columns[name]) for name, kind in kinds.items() if kind == "text"
    }
    said = [
        f"'{name}' was kept as a label although most of it looks like numbers: {offender}"
        for name, offender in offenders.items()
        if offender
    ]
    for kind, sentence in SENTENCES.items():
        names = [name for name in kinds if kinds[name] == kind and not offenders.get(name)]
        if names:
            said.append(f"{listed(names)}: {sentence}")
    return said


def _offending_number(column: Column) -> str:
    """Why a column that looks like numbers was read as text, or nothing."""
    assert not isinstance(column, np.ndarray)
    known = column.dropna()
    words = [str(value).strip() for value in known.head(1000)]
    if 2 * sum(bool(DRESSED_NUMBER.fullmatch(word)) for word in words) <= len(words):
        return ""
    for row, value in zip(known.index, known, strict=True):
        text = str(value).strip()
        if not PLAIN_NUMBER.fullmatch(text):
            return f"{text!r} in row {int(row) + 1} is no plain number{_remedy(text)}"
    return ""


def _remedy(text: str) -> str:
    grouped = re.fullmatch(r"[-+]?\d{1,3}([,.'’_ ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?", text)
    if grouped:
        return f"; thousands={grouped[1]!r} reads it"
    return "; change it in the file (no units or words, empty where missing) to use the column"


def _doubtful(columns: dict[str, Column], kinds: dict[str, str]) -> list[str]:
    said = []
    distinct = [name for name, kind in kinds.items() if kind == "distinct"]
    if distinct and len(columns[distinct[0]]) >= MANY_ROWS:
        said.append(
            f"{listed(distinct)}: whole numbers, all different, used as features; "
            "if they only name the rows, exclude them"
        )
    used = [name for name, kind in kinds.items() if kind in ("number", "distinct")]
    answers = [name for name in used if ANSWER.fullmatch(name) and columns[name].dtype.kind in "iu"]
    if answers and len(used) > 1:
        said.append(
            f"{listed(answers)}: used as a feature; if it is the answer rather than a "
            f"measurement, label_columns={answers} keeps it apart"
        )
    return said


def _matrix(columns: list[Column]) -> NDArray[np.floating[Any]]:
    """The features as one array, float32 if all of them are stored so."""
    # What is no array here is true or false, perhaps with gaps.
    arrays = [c if isinstance(c, np.ndarray) else c.astype(np.float64).to_numpy() for c in columns]
    small = all(array.dtype in (np.float16, np.float32) for array in arrays)
    X = np.empty((len(arrays[0]), len(arrays)), dtype=np.float32 if small else np.float64)
    # By blocks of rows, so that the strided writes stay in the cache.
    for start in range(0, len(X), 1024):
        for place, array in enumerate(arrays):
            X[start : start + 1024, place] = array[start : start + 1024]
    return X
