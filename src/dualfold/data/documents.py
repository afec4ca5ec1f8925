"""Tables in documents of other programs: JSON lines and spreadsheets."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.data.dialect import Opener
from dualfold.data.limits import parse_json, refuse_oversized_archive, unreadable_as_damaged
from dualfold.data.notices import quoted_names
from dualfold.errors import Argument, InvalidInput, MissingDependency

if TYPE_CHECKING:
    import pandas as pd


def json_lines_frame(opener: Opener, name: str) -> pd.DataFrame:
    """The columns of a file with one JSON object a line; a key that a line lacks is a gap."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    with opener() as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                with unreadable_as_damaged(f"line {number} of {name}", "JSON lines"):
                    rows.append(parse_json(line))
                if not isinstance(rows[-1], dict):
                    raise InvalidInput(
                        f"line {number} of {name} is no JSON object, as "
                        '{"a": 1.5, "b": "red"}; each line is a row'
                    )
    return pd.DataFrame.from_records(rows)


def spreadsheet_frame(
    place: Path | io.BytesIO, name: str, sheet: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """The columns of a sheet of an .xlsx file, the first by default, and what is said of others."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingDependency(
            "spreadsheets need openpyxl, which is not installed: pip install 'dualfold[xlsx]'"
        ) from error
    import pandas as pd

    refuse_oversized_archive(place, name, ".xlsx")
    with unreadable_as_damaged(name, ".xlsx"):
        sheets = openpyxl.load_workbook(place, read_only=True).sheetnames
        if sheet is not None and sheet not in sheets:
            raise InvalidInput(
                Argument("array", sheet),
                f" names no sheet of {name}; it holds {quoted_names(sheets)}",
            )
        cells = pd.read_excel(place, sheet_name=sheet or 0, engine="openpyxl", dtype=object)
        typed = _typed_cells(cells)
    others = [one for one in sheets if one != (sheet or sheets[0])]
    said = f"{name} has further sheets, {quoted_names(others)}, which were not read"
    return typed, [said] if others else []


def _typed_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells as they are stored; text that is a number is one, unless it would lose a zero."""
    import pandas as pd

    frame = cells.infer_objects()
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        words = column.dropna()
        if pd.api.types.infer_dtype(words) not in ("string", "mixed", "mixed-integer"):
            continue
        if not words.astype(str).str.fullmatch(r"\s*0\d+\s*").any():
            with contextlib.suppress(ValueError, TypeError):
                frame.isetitem(place, pd.to_numeric(column).to_numpy())
    return frame
