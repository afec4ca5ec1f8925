"""Tables of the same rows at several times, read as one table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dualfold.data.notices import quoted_names
from dualfold.data.reading import DEFAULT_VALUES, OPTION_SUBJECTS, Reading
from dualfold.data.table_reader import source_frame
from dualfold.errors import Argument, InvalidInput, Message, counted
from dualfold.exploration.input_table import read_input, seconds_to_read

if TYPE_CHECKING:
    import pandas as pd

    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener

# Of wrong ids the first ones are named.
MAX_NAMED_IDS = 3


@dataclass(frozen=True, eq=False)
class SeriesTables:
    """Slices of a series, prepared together: one encoding, one scale, one imputation.

    names : of the slices; data : all rows, one slice after the other
    slice_of_row, ids : of each row of `data`
    notices : what was decided while the tables were joined
    """

    names: tuple[str, ...]
    data: Prepared
    slice_of_row: Any
    ids: Any
    notices: tuple[str, ...]

    @property
    def rows_by_slice(self) -> list[Any]:
        """The rows of `data` of each slice."""
        return [np.flatnonzero(self.slice_of_row == t) for t in range(len(self.names))]

    @property
    def ids_by_slice(self) -> list[Any]:
        return [self.ids[rows] for rows in self.rows_by_slice]


def read_series(tables: Sequence[Any], reading: Reading, listener: Listener) -> SeriesTables:
    """Read tables (files or data frames) as slices of one series; refuse what cannot be one."""
    if len(tables) < 2:
        raise InvalidInput(
            f"a series needs two tables or more, but {len(tables)} was given; name the next one"
        )
    column = reading.identifier
    if column is None:
        raise InvalidInput(
            "a series needs to know who is who: ",
            Argument("identifier", "COLUMN"),
            " names the column with the ids",
        )
    names = slice_names(tables)
    frames, notices, reading = _frames(tables, names, reading, listener)
    parts = [_ids_of(frame, name, column) for frame, name in zip(frames, names, strict=True)]
    notices += _shared_ids(parts, names)
    joined, reading, more = _joined_table(frames, names, reading)
    notices += more
    for notice in notices:
        listener.note(notice)
    data = read_input(joined, reading, listener)
    which = np.repeat(np.arange(len(names)), [len(frame) for frame in frames])
    ids = np.concatenate(parts)
    return SeriesTables(names, data, which[data.rows], ids[data.rows], tuple(notices))


def slice_names(tables: Sequence[Any]) -> tuple[str, ...]:
    """Names of files without folder and ending where these differ, else the whole paths."""
    files = [isinstance(one, str | os.PathLike) for one in tables]
    stems = [
        Path(one).name.removesuffix(".gz").rsplit(".", 1)[0] if file else f"slice {place + 1}"
        for place, (one, file) in enumerate(zip(tables, files, strict=True))
    ]
    if len(set(stems)) == len(stems):
        return tuple(stems)
    paths = [
        os.fspath(one) if f else stem for one, f, stem in zip(tables, files, stems, strict=True)
    ]
    if len(set(paths)) == len(paths):
        return tuple(paths)
    return tuple(f"{path} ({place + 1})" for place, path in enumerate(paths))


def _frames(
    tables: Sequence[Any], names: Sequence[str], reading: Reading, listener: Listener
) -> tuple[list[pd.DataFrame], list[str], Reading]:
    """The columns of each table, and the reading of what they become together."""
    frames: list[pd.DataFrame] = []
    notices: list[str] = []
    decimal = reading.decimal
    for table, name in zip(tables, names, strict=True):
        if isinstance(table, str | os.PathLike):
            path = os.fspath(table)
            with listener.stage(f"reading {path}", seconds_to_read(path)):
                frame, remarks, own = source_frame(table, reading)
            notices += [Message(f"{name}: ", one) for one in remarks]
            decimal = own.decimal or decimal
        else:
            frame = table.to_pandas() if hasattr(table, "to_pandas") else table
            if not hasattr(frame, "iloc") or len(frame) == 0:
                raise InvalidInput(f"{name} must be a file or a data frame with rows")
        frames.append(frame.rename(columns=str).reset_index(drop=True))
    file_fields = {one for one, about in OPTION_SUBJECTS.items() if about == "file"}
    plain = {one: DEFAULT_VALUES[one] for one in file_fields}
    return frames, notices, replace(reading, **plain, decimal=decimal)


def _ids_of(frame: pd.DataFrame, name: str, column: str) -> Any:
    """The ids of a slice as text; missing, empty and repeated ones are refused."""
    if column not in frame:
        raise InvalidInput(
            Argument("identifier", column),
            f" names no column of {name}, which has {quoted_names(frame.columns)}",
        )
    ids = np.array([_id_word(value) for value in frame[column]], dtype=object)
    empty = np.flatnonzero(ids == "")
    if len(empty):
        listed = ", ".join(str(row + 1) for row in empty[:MAX_NAMED_IDS])
        raise InvalidInput(
            f"{counted(len(empty), 'row')} of {name} "
            f"{'has' if len(empty) == 1 else 'have'} no id in '{column}' (row {listed}"
            f"{', …' if len(empty) > MAX_NAMED_IDS else ''}); fill it in, or leave these rows out"
        )
    words, counts = np.unique(ids.astype(str), return_counts=True)
    twice = words[counts > 1]
    if len(twice):
        listed = ", ".join(repr(str(one)) for one in twice[:MAX_NAMED_IDS])
        raise InvalidInput(
            f"an id may occur once in a table, but {counted(len(twice), 'id')} of '{column}' "
            f"in {name} {'occurs' if len(twice) == 1 else 'occur'} several times ({listed}"
            f"{', …' if len(twice) > MAX_NAMED_IDS else ''}); keep one row for each, or name "
            "another column with ",
            Argument("identifier"),
        )
    return ids


def _id_word(value: Any) -> str:
    """An id as text: 7, 7.0 and " 7 " are the same one; "" for none."""
    if value is None or value != value:  # NaN differs from itself
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _shared_ids(parts: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Number of ids that neighbouring slices share; none is refused."""
    remarks = []
    for before, after in zip(range(len(parts) - 1), range(1, len(parts)), strict=True):
        shared = len(set(parts[before]) & set(parts[after]))
        if not shared:
            raise InvalidInput(
                f"{names[before]} and {names[after]} share no id (as {parts[before][0]!r} and "
                f"{parts[after][0]!r}), so no row can be followed; are ids written the same way "
                "in both, and is this the right column in ",
                Argument("identifier"),
                "?",
            )
        remarks.append(f"{names[before]} and {names[after]} share {counted(shared, 'id')}")
    return remarks


def _joined_table(
    frames: Sequence[pd.DataFrame], names: Sequence[str], reading: Reading
) -> tuple[pd.DataFrame, Reading, list[str]]:
    """All rows as one table, without columns that a table lacks or that only name the table."""
    joined = pd.concat(frames, ignore_index=True, sort=False)
    notices: list[str] = []
    left_out: list[str] = []
    needed = {*reading.label_fields, *reading.exclude}
    for column in map(str, joined):
        lacking = [name for name, one in zip(names, frames, strict=True) if column not in one]
        if lacking and column not in reading.exclude:
            words = f"'{column}' is not in {', '.join(lacking)}"
            if column in needed:
                notices.append(f"{words}: its rows have no value there")
            else:
                notices.append(f"{words} and was left out, since rows there would get guesses")
                left_out.append(column)
        elif column not in needed and column not in reading.keep and _dates_slices(frames, column):
            left_out.append(column)
            notices.append(
                Message(
                    f"'{column}' is the same in all rows of a table and differs between tables; it "
                    "says which table it is and was left out; ",
                    Argument("keep", column),
                    " uses it",
                )
            )
    return joined, replace(reading, exclude=(*reading.exclude, *left_out)), notices


def _dates_slices(frames: Sequence[pd.DataFrame], column: str) -> bool:
    """Whether a column has one value in each slice, and not the same in all."""
    if any(len(frame) < 2 or frame[column].nunique(dropna=False) != 1 for frame in frames):
        return False
    return len({str(frame[column].iloc[0]) for frame in frames}) > 1
