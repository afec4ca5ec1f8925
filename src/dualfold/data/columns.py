"""From named columns to a matrix: what is a feature, what a label, what is left out.

Every decision is written down as a notice, a plain sentence: a table that is
silently misread costs more than one that is refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

# Below this many rows, whole numbers are all different or in order by chance too often.
MANY_ROWS = 20
IDENTIFIER = re.compile(
    r"(?:.*[_\s.-])?(?:id|ids|uuid|guid|idx|index|key|row|rownum|row[_ ]?number|nr|no|number)\.?"
    r"|unnamed: 0|.*[a-z]I[dD]",
)
ANSWER = re.compile(r"label|labels|class|classes|target|y|cluster", re.IGNORECASE)
# A number in its Sunday clothes: a currency before, digits in groups, a unit after.
DRESSED_NUMBER = re.compile(r"[-+$€£¥\s]*\d[\d.,'’_\s]*(?:[eE][-+]?\d+)?\s*[^\W\d]{0,5}[%°²³]?\.?")
DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}.*")


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
    notices: Sequence[str] = (),
) -> Table:
    """Sort the columns of a data frame into features, labels and those left out."""
    frame.columns = [str(name) for name in frame.columns]
    _check_names(frame, exclude, label_columns, keep)
    said = list(notices)
    features: list[str] = []
    labels: dict[str, NDArray[Any]] = {}
    for name in frame.columns:
        kind = _kind(frame[name], name, keep)
        if name in exclude:
            continue
        if name in label_columns or kind in ("text", "date", "boolean"):
            labels[name] = _label_values(frame[name])
        if name in label_columns:
            continue
        if kind == "number":
            features.append(name)
        said += _column_notice(frame[name], name, kind)
    if not features:
        raise InvalidInput(_no_feature_left(frame, exclude, label_columns, said))
    said += _doubtful(frame, features)
    rows = np.arange(len(frame), dtype=np.int64)
    return Table(_matrix(frame, features), tuple(features), labels, tuple(said), rows)


def _check_names(
    frame: pd.DataFrame,
    exclude: Sequence[str],
    label_columns: Sequence[str],
    keep: Sequence[str],
) -> None:
    names = list(frame.columns)
    twice = (
        sorted({name for name in names if names.count(name) > 1})
        if len(set(names)) < len(names)
        else []
    )
    if twice:
        raise InvalidInput(
            f"column names must differ, but {listed(twice)} appear more than once; rename them"
        )
    for parameter, wanted in (
        ("exclude", exclude),
        ("label_columns", label_columns),
        ("keep", keep),
    ):
        for name in wanted:
            if name not in frame.columns:
                close = difflib.get_close_matches(name, names, n=3) or names
                raise InvalidInput(
                    f"{parameter} names '{name}', but there is no such column; "
                    f"there is {listed(close)}"
                )


def _kind(column: pd.Series[Any], name: str, keep: Sequence[str]) -> str:
    from pandas.api import types

    if bool(column.isna().all()):
        return "empty"
    if types.is_bool_dtype(column.dtype):
        return "number" if name in keep else "boolean"
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return "identifier" if name not in keep and _numbers_rows(column, name) else "number"
    if name in keep:
        raise InvalidInput(
            f"keep names '{name}', but its values are no numbers, as {column.dropna().iloc[0]!r}"
        )
    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    first = str(column.dropna().iloc[0]).strip()
    return "date" if DATE.fullmatch(first) else "text"


def _numbers_rows(column: pd.Series[Any], name: str) -> bool:
    """Whether a column of whole numbers names the rows rather than describing them."""
    from pandas.api import types

    n = len(column)
    if n < 3 or not types.is_integer_dtype(column.dtype) or column.hasnans:
        return False
    values = column.to_numpy()
    if not _all_different(column):
        return False
    counted = values[0] in (0, 1) and np.array_equal(values, values[0] + np.arange(n))
    if counted or IDENTIFIER.fullmatch(name) or IDENTIFIER.fullmatch(name.lower()):
        return True
    consecutive = int(values.max()) - int(values.min()) == n - 1
    in_order = column.is_monotonic_increasing or column.is_monotonic_decreasing
    return n >= MANY_ROWS and (consecutive or in_order)


def _all_different(column: pd.Series[Any]) -> bool:
    # Most columns repeat a value early on, and a short look is much cheaper.
    return column.head(1000).is_unique and column.is_unique


def _label_values(column: pd.Series[Any]) -> NDArray[Any]:
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype) and not types.is_extension_array_dtype(column.dtype):
        return column.to_numpy()
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        return column.to_numpy()
    values = column.astype(object)
    array = np.empty(len(values), dtype=object)
    array[:] = values.where(column.notna(), None).to_numpy()
    return array


def _column_notice(column: pd.Series[Any], name: str, kind: str) -> list[str]:
    if kind == "empty":
        return [f"'{name}' is empty and was left out"]
    if kind == "identifier":
        return [
            f"'{name}' looks like row numbers or identifiers (whole numbers, all different) and "
            f"was left out; keep=['{name}'] uses it"
        ]
    if kind == "boolean":
        return [
            f"'{name}' is true or false and was kept as a label; keep=['{name}'] uses it as 0/1"
        ]
    if kind == "date":
        return [f"'{name}' holds dates and was kept as a label"]
    if kind == "text":
        offender = _offending_number(column)
        if offender:
            return [
                f"'{name}' was kept as a label although most of it looks like numbers: {offender}"
            ]
        return [f"'{name}' holds text and was kept as a label"]
    return []


def _offending_number(column: pd.Series[Any]) -> str:
    """Why a column that looks like numbers was read as text, or nothing."""
    known = column.dropna().head(1000)
    words = [str(value).strip() for value in known]
    if 2 * sum(bool(DRESSED_NUMBER.fullmatch(word)) for word in words) < len(words):
        return ""
    for row, word in zip(column.dropna().index, column.dropna(), strict=True):
        try:
            float(word)
        except (TypeError, ValueError):
            text = str(word).strip()
            return f"{text!r} in row {int(row) + 1} is no plain number{_remedy(text)}"
    return ""


def _remedy(text: str) -> str:
    grouped = re.fullmatch(r"[-+]?\d{1,3}([,.'’_ ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?", text)
    if grouped:
        return f"; thousands={grouped[1]!r} reads it"
    return "; change it in the file (no units or words, empty where missing) to use the column"


def _doubtful(frame: pd.DataFrame, features: list[str]) -> list[str]:
    from pandas.api import types

    said = []
    whole = [name for name in features if types.is_integer_dtype(frame[name].dtype)]
    distinct = [name for name in whole if len(frame) >= MANY_ROWS and _all_different(frame[name])]
    if distinct:
        said.append(
            f"{listed(distinct)}: whole numbers, all different, used as features; "
            "if they only name the rows, exclude them"
        )
    answers = [name for name in whole if ANSWER.fullmatch(name) and len(features) > 1]
    if answers:
        said.append(
            f"{listed(answers)}: used as a feature; if it is the answer rather than a "
            f"measurement, label_columns={answers} keeps it apart"
        )
    return said


def _no_feature_left(
    frame: pd.DataFrame, exclude: Sequence[str], label_columns: Sequence[str], said: list[str]
) -> str:
    asked = [name for name in (*exclude, *label_columns) if name in frame.columns]
    reasons = "; ".join(said[-5:])
    return (
        f"at least one column of numbers is needed, but of the {len(frame.columns)} columns "
        f"({listed(frame.columns, 10)}) none is left"
        + (f"; asked to be left out or kept apart: {listed(asked)}" if asked else "")
        + (f"; {reasons}" if reasons else "")
    )


def _matrix(frame: pd.DataFrame, features: list[str]) -> NDArray[np.floating[Any]]:
    """The features as one array, float32 if all of them are stored so."""
    dtypes = {frame[name].dtype for name in features}
    small = all(isinstance(d, np.dtype) and d in (np.float16, np.float32) for d in dtypes)
    wanted = np.float32 if small else np.float64
    X = np.empty((len(frame), len(features)), dtype=wanted)
    columns = [_numbers(frame[name], wanted) for name in features]
    # By blocks of rows, so that the strided writes stay in the cache.
    for start in range(0, len(frame), 1024):
        for place, column in enumerate(columns):
            X[start : start + 1024, place] = column[start : start + 1024]
    return X


def _numbers(column: pd.Series[Any], wanted: type[np.floating[Any]]) -> NDArray[Any]:
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()  # no copy: cast while it is put in place
    return column.to_numpy(dtype=wanted, na_value=np.nan)
