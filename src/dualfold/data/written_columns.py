"""The columns of a file as they are written in it, to write something beside them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from dualfold.data.reading import Reading
from dualfold.errors import Argument, InvalidInput

# Files whose columns have names.
TABLE_FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet")


def written_columns(source: str | os.PathLike[str], reading: Reading) -> dict[str, Any]:
    """All columns of a file by name, as many rows as are read of it; text stays as it is."""
    from dualfold.data.array_files import parquet_frame
    from dualfold.data.delimited import written_frame
    from dualfold.data.layout import different_names
    from dualfold.data.spreadsheet import spreadsheet_frame
    from dualfold.data.table_reader import json_lines_frame, locate_source, opener_of

    file, name, kind = locate_source(source, reading.format)
    if kind in ("csv", "tsv"):
        tabs = replace(reading, separator=reading.separator or "\t")
        frame = written_frame(opener_of(file, name), name, tabs if kind == "tsv" else reading)
    elif kind == "jsonl":
        frame = json_lines_frame(opener_of(file, name), name)
    elif kind == "xlsx":
        frame, _ = spreadsheet_frame(file, name, reading)
    else:
        frame = parquet_frame(file, name)
    names, _ = different_names([str(title) for title in frame.columns])
    return {name: frame.iloc[:, column].to_numpy() for column, name in enumerate(names)}


def refuse_unnamed(source: str | os.PathLike[str], reading: Reading) -> None:
    """Refuse what has no columns with names, or can be read once only."""
    from dualfold.data.table_reader import locate_source

    if os.fspath(source) == "-":
        raise InvalidInput(Argument("append"), " reads FILE twice; give a file instead of -")
    _, name, kind = locate_source(source, reading.format)
    if kind not in TABLE_FORMATS:
        raise InvalidInput(
            Argument("append"), f" writes beside columns with names, and {name} is a matrix"
        )
