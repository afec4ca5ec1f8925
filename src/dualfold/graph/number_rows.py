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

from dualfold.errors import Argument, InPython, InvalidInput, Message, TooLarge
from dualfold.graph.distances import chunks
from dualfold.kernels.sparse import canonical_rows

# Squares of larger numbers, and of smaller differences, leave the range of double precision.
_MAX_VALUE = 1e150
_MIN_EXTENT = 1e-140
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
    if not np.array_equal(np.ldexp(scaled, power), rows):
        raise InvalidInput(
            Argument("X"),
            f" holds numbers around 2^{power} beside others so small that no unit has room for the "
            "squares of both in double precision; leave out, or rescale, some columns",
        )
    return scaled


def _out_of_range(largest: float, *parts: str) -> OutOfRange:
    error = OutOfRange(*parts)
    error.power = int(np.frexp(largest)[1])
    return error


def rows_of_numbers(X: Any, name: str = "X") -> np.ndarray:
    """X as a two-dimensional C-ordered float32 or float64 array of finite numbers.

    Differences of rows are those of X exactly; large integers may be shifted.
    """
    return _rows_of({name: X})[0]


def rows_alike(X: Any, queries: Any) -> tuple[np.ndarray, np.ndarray]:
    """X and queries as rows of the same type, with the same shift."""
    rows, asked = _rows_of({"X": X, "queries": queries})
    refuse_other_columns(rows.shape[1], asked.shape[1])
    wide = np.result_type(rows, asked)
    return np.ascontiguousarray(rows, dtype=wide), np.ascontiguousarray(asked, dtype=wide)


def refuse_other_columns(width: int, asked: int) -> None:
    """Raise where queries have another number of columns than X."""
    if width != asked:
        raise InvalidInput(
            Argument("queries"),
            f" have {asked} columns but ",
            Argument("X"),
            f" has {width}; give both the same columns",
        )


def _rows_of(tables: dict[str, Any]) -> list[np.ndarray]:
    found = []
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
        found.append(rows)
    if any(_exceeds_float64(rows) for rows in found):
        found = _shifted_integers(found, _argument_names(tables))
    ready = {name: _contiguous_floats(rows) for name, rows in zip(tables, found, strict=True)}
    _check_range(ready)
    return list(ready.values())


def exact_numbers(X: Any, name: str) -> np.ndarray:
    """X as an array of real numbers; InvalidInput where that would round or drop something."""
    if np.ma.is_masked(X):
        raise InvalidInput(
            Argument(name), f" has masked entries; fill ({name}.filled) or drop them first"
        )
    X = np.asarray(X)
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


def _exceeds_float64(rows: np.ndarray) -> bool:
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


def _check_range(tables: dict[str, np.ndarray]) -> None:
    names, extent = _argument_names(tables), 0.0
    ends = [end for name, rows in tables.items() if len(rows) for end in _column_ends(rows, name)]
    if ends and len({len(end) for end in ends}) == 1:
        extent = float((np.max(ends, axis=0) - np.min(ends, axis=0)).max())
    largest = max((float(np.abs(end).max()) for end in ends), default=0.0)
    if largest > _MAX_VALUE:
        raise _out_of_range(
            largest,
            names,
            f" holds numbers beyond {_MAX_VALUE:g}, whose squares overflow; divide by a constant "
            "first",
        )
    if 0 < extent < _MIN_EXTENT:
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
                f" must be finite; row {bad} holds NaN or infinity. Fill or drop such values first",
                InPython(" (sklearn.impute, DataFrame.dropna)"),
            )
    return low, high
