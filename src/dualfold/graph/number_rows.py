"""Rows that a search works on: finite float32 or float64 numbers, in C order.

Nothing is rounded on the way in. Small integers become float32 and others float64, which
hold them exactly; from integers beyond 2^53 the smallest of their column is subtracted, an
exact shift that changes no distance; what fits neither way is refused. float32 data and
memory maps are used as they are, never copied to float64 as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, InPython, InvalidInput, Message, RowNumbers, TooLarge, counted
from dualfold.graph.distances import chunks
from dualfold.kernels.arithmetic import MIN_SQUARE_SUM
from dualfold.kernels.sparse import canonical_rows

# Squares of larger numbers, and of smaller differences, leave the range of double precision.
_MAX_VALUE = 1e150
_MIN_EXTENT = 1e-140
# Within these, fourth powers and sums of them have room, too.
_SAFE_VALUE = 1e70
_SAFE_EXTENT = 1e-70
# Estimators return sums of squares over all entries (variances, eigenvalues), which must be doubles
# with all their digits: the sum is at most this, and the square of the widest column's extent at
# least `MIN_SQUARE_SUM`.
MAX_SQUARE_SUM = 2.0**1020
# Rows that show, in most tables, that columns are wide enough.
SAMPLE_ROWS = 256
# Integers up to here are float64 numbers.
_MAX_EXACT_INTEGER = 2**53


class OutOfRange(InvalidInput):
    """Numbers whose squares leave double precision; in other units, X·2^-power, they do not."""

    power: int = 0


def in_units(X: Any, power: int) -> np.ndarray:
    """X·2^-power as an array of doubles; refused where an entry would be rounded."""
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    with np.errstate(over="ignore"):
        scaled = np.ldexp(rows, -power)
        same = np.array_equal(np.ldexp(scaled, power), rows)
    if not same or np.abs(scaled).max(initial=0.0) > _MAX_VALUE:
        raise InvalidInput(
            Argument("X"),
            f" holds numbers around 2^{power} beside others so small that no unit has room for the "
            "squares of both in double precision; leave out, or rescale, some columns",
        )
    return scaled


def refuse_units(X: Any, *, fitted: bool, name: str = "X") -> None:
    """Refuse numbers in units so large or small that sums of their squares are no doubles.

    The rule of all estimators, whose results have squares of the units of X. A power of 2 as
    factor changes no digit, so that the remedy costs nothing.

    fitted : whether X is fitted: of new rows the extent does not count
    name : the argument that X is
    """
    numbers = X.data if sp.issparse(X) else X
    if numbers.dtype != np.float64 or not numbers.size:
        return  # squares of float32 and of integers have room
    largest = max(float(numbers.max()), -float(numbers.min()))
    if largest > (MAX_SQUARE_SUM / (X.shape[0] * X.shape[1])) ** 0.5:
        raise InvalidInput(
            Argument(name),
            f" holds numbers up to {largest:.1e}, and the squares of these data overflow; look "
            "whether the largest are marks for missing values, or divide all by "
            f"2^{_power_of(largest)}, which changes no digit",
        )
    extent = widest_extent(X) if fitted else 0.0
    if 0 < extent < MIN_SQUARE_SUM**0.5:
        raise InvalidInput(
            "all rows of ",
            Argument(name),
            f" lie within {extent:.1e} of each other, and the squares of these data vanish in "
            f"double precision; multiply all by 2^{-_power_of(extent)}, which changes no digit",
        )


def refuse_column_units(deviations: np.ndarray) -> None:
    """Refuse columns that are divided by their deviation where its square is no double."""
    size = np.abs(deviations)
    far = np.flatnonzero((size < MIN_SQUARE_SUM**0.5) | (size > MIN_SQUARE_SUM**-0.5))
    if len(far):
        column, power = int(far[0]), _power_of(size[far[0]])
        raise InvalidInput(
            Argument("X"),
            f": column {column} (counted from 0) spreads by {size[column]:.1e}, and squares of it "
            f"leave double precision; multiply it by 2^{-power}, which changes no digit",
        )


def _power_of(size: float) -> int:
    """The power of 2 near `size` that is a double, as its inverse is."""
    return int(np.clip(np.frexp(size)[1], -1022, 1022))


def widest_extent(X: Any) -> float:
    """Largest extent of a column, or a lower bound of it that is enough."""
    for rows in (X[:SAMPLE_ROWS], X):
        ends = rows.max(axis=0), rows.min(axis=0)
        high, low = (end.toarray() if sp.issparse(end) else end for end in ends)
        extent = float((high.astype(float) - low).max(initial=0.0))
        if X.shape[0] <= SAMPLE_ROWS or extent >= MIN_SQUARE_SUM**0.5:
            break
    return extent


def _out_of_range(largest: float, *parts: str) -> OutOfRange:
    error = OutOfRange(*parts)
    error.power = int(np.frexp(largest)[1])
    return error


def rows_of_numbers(X: Any, name: str = "X") -> np.ndarray:
    """X as a two-dimensional C-ordered float32 or float64 array of finite numbers.

    Differences of rows are those of X exactly; large integers may be shifted.
    """
    return _rows_of({name: X}, _MIN_EXTENT, _MAX_VALUE)[0]


def rows_in_units(X: Any, name: str = "X") -> tuple[np.ndarray, int]:
    """Rows of numbers times 2^-power, so that fourth powers have room, and the power.

    It is 0 for all tables but those in units far from 1; no digit changes.
    """
    try:
        return _rows_of({name: X}, _SAFE_EXTENT, _SAFE_VALUE)[0], 0
    except OutOfRange as out:
        return rows_of_numbers(in_units(X, out.power), name), out.power


def rows_alike(X: Any, queries: Any) -> tuple[np.ndarray, np.ndarray]:
    """X and queries as rows of the same type, with the same shift."""
    rows, asked = _rows_of({"X": X, "queries": queries}, _MIN_EXTENT, _MAX_VALUE)
    refuse_other_columns(rows.shape[1], asked.shape[1])
    wide = np.result_type(rows, asked)
    return np.ascontiguousarray(rows, dtype=wide), np.ascontiguousarray(asked, dtype=wide)


def refuse_other_columns(width: int, asked: int) -> None:
    """Raise where queries have another number of columns than X."""
    if width != asked:
        raise InvalidInput(
            Argument("queries"),
            f" have {counted(asked, 'column')} but ",
            Argument("X"),
            f" has {width}; give both the same columns",
        )


def _rows_of(tables: dict[str, Any], least: float, most: float) -> list[np.ndarray]:
    arrays = []
    for name, X in tables.items():
        rows = exact_numbers(canonical_rows(X, name).toarray() if sp.issparse(X) else X, name)
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise InvalidInput(
                Argument(name),
                " must be a table with one row per point and at least one column; its shape "
                f"is {rows.shape}. For points on a line pass {name}.reshape(-1, 1)",
            )
        if rows.shape[0] >= 2**31 - 1:
            raise TooLarge(
                Argument(name),
                f" has {rows.shape[0]} rows; the search counts up to 2^31 - 2. Sample it",
            )
        arrays.append(rows)
    if any(exceeds_float64(rows) for rows in arrays):
        arrays = _shifted_integers(arrays, _argument_names(tables))
    ready = {name: _contiguous_floats(rows) for name, rows in zip(tables, arrays, strict=True)}
    _check_range(ready, least, most)
    return list(ready.values())


def as_array(X: Any, name: str) -> np.ndarray:
    """X as an array; rows of different lengths are refused."""
    try:
        return np.asarray(X)
    except ValueError:
        raise InvalidInput(
            Argument(name), " has rows of different lengths; a table needs the same columns in each"
        ) from None


def exact_numbers(X: Any, name: str) -> np.ndarray:
    """X as an array of real numbers; InvalidInput where that would round or drop something."""
    if np.ma.is_masked(X):
        raise InvalidInput(
            Argument(name), f" has masked entries; fill ({name}.filled) or drop them first"
        )
    X = as_array(X, name)
    if X.dtype.kind in "iub" or X.dtype in (np.float16, np.float32, np.float64):
        return X
    if X.dtype.kind not in "fO":
        raise InvalidInput(
            Argument(name),
            f" must hold real numbers, its type is {X.dtype}; encode or drop the other "
            f"columns, or convert them yourself: {name}.astype(float)",
        )
    try:
        near = X.astype(np.float64)
        same = (near.astype(X.dtype) == X) | ((near != near) & (X != X))
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            Argument(name),
            f" must hold numbers, its type is {X.dtype}; encode or drop the other columns",
        ) from None
    if not np.asarray(same, dtype=bool).all():
        raise InvalidInput(
            Argument(name),
            f" holds numbers of type {X.dtype} that double precision has to round; round them "
            f"yourself if that is meant: {name}.astype(float)",
        )
    return near


def exceeds_float64(rows: np.ndarray) -> bool:
    """Whether float64 does not hold all of these integers."""
    if rows.dtype.kind not in "iu" or rows.dtype.itemsize < 8 or not rows.size:
        return False
    return bool(int(rows.max()) > _MAX_EXACT_INTEGER or int(rows.min()) < -_MAX_EXACT_INTEGER)


def _argument_names(tables: dict[str, Any]) -> Message:
    """X, or X and queries."""
    first, *others = (Argument(name) for name in tables)
    return Message(first, *(part for other in others for part in (" and ", other)))


def _shifted_integers(tables: list[np.ndarray], name: Message) -> list[np.ndarray]:
    """Integers less the smallest of their column in all tables, which float64 then holds."""
    if any(rows.dtype.kind not in "iu" for rows in tables):
        raise InvalidInput(
            "one of ",
            name,
            " has integers beyond 2^53, which double precision cannot hold, and the other has "
            "fractions; subtract the same integer from both, then use float64",
        )
    if len({rows.shape[1] for rows in tables}) > 1:
        return tables  # refused by the caller
    filled = [rows for rows in tables if len(rows)]
    columns = range(filled[0].shape[1])
    low = [min(int(rows[:, j].min()) for rows in filled) for j in columns]
    high = [max(int(rows[:, j].max()) for rows in filled) for j in columns]
    widest = max(b - a for a, b in zip(low, high, strict=True))
    if widest > _MAX_EXACT_INTEGER:
        raise InvalidInput(
            "a column of ",
            name,
            f" has integers {widest} apart; double precision tells integers apart up to a range "
            "of 2^53. Divide them by a constant, or drop digits",
        )
    shifted = [np.empty(rows.shape) for rows in tables]
    for rows, out in zip(tables, shifted, strict=True):
        for j, least in enumerate(low):
            # 0 <= x - least <= 2^53 fits; unsigned x beside a negative least are small.
            kind = np.int64 if least < 0 or rows.dtype.kind == "i" else np.uint64
            out[:, j] = rows[:, j].astype(kind) - kind(least)
    return shifted


def _contiguous_floats(rows: np.ndarray) -> np.ndarray:
    small = rows.dtype.kind in "iub" and rows.dtype.itemsize <= 2
    narrow = small or rows.dtype in (np.float16, np.float32)
    return np.ascontiguousarray(rows, dtype=np.float32 if narrow else np.float64)


def _check_range(tables: dict[str, np.ndarray], least: float, most: float) -> None:
    names, extent = _argument_names(tables), 0.0
    ends = [end for name, rows in tables.items() if len(rows) for end in _column_ends(rows, name)]
    if ends and len({len(end) for end in ends}) == 1:
        extent = float((np.max(ends, axis=0) - np.min(ends, axis=0)).max())
    largest = max((float(np.abs(end).max()) for end in ends), default=0.0)
    if largest > most:
        raise _out_of_range(
            largest,
            names,
            f" holds numbers beyond {most:g}, whose squares overflow; divide by a constant first",
        )
    if 0 < extent < least:
        raise _out_of_range(
            extent,
            "all rows of ",
            names,
            f" lie within {extent:.1e} of each other and the squares of such differences vanish "
            "in double precision; multiply by a constant first",
        )


def _column_ends(X: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest number of each column; NaN and infinity are refused."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for rows in chunks(len(X), X.shape[1]):
        np.minimum(low, X[rows].min(axis=0), out=low)  # NaN wins in both
        np.maximum(high, X[rows].max(axis=0), out=high)
        if not (np.isfinite(low) & np.isfinite(high)).all():
            bad = np.flatnonzero(~np.isfinite(X[rows]).all(axis=1))[0] + rows.start
            raise InvalidInput(
                Argument(name),
                " must be finite; ",
                RowNumbers(bad),
                " holds NaN or infinity. Fill or drop such values first",
                InPython(" (sklearn.impute, DataFrame.dropna)"),
            )
    return low, high
