"""`dualfold transform`: new rows on an existing map."""

from __future__ import annotations

from dataclasses import dataclass, field

from dualfold.cli import options as o
from dualfold.data.reading import DEFAULT_READING, Reading


@dataclass(frozen=True)
class TransformOptions:
    """Options of `dualfold transform`, as typed."""

    model: str = o.own_argument("MODEL", "A file made by `embed --save-model`.")
    file: str = o.own_argument("NEW_FILE", "Rows with the same columns, or - for CSV.")
    reading: Reading = field(default=DEFAULT_READING, metadata=o.NEW_ROWS_READING)
    output: str | None = None
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20
    force: bool = False
    spreadsheet: bool = False
    as_json: bool = False
    quiet: bool = False


def transform(options: TransformOptions) -> None:
    """New rows on an existing map.

    \b
    Examples:
      dualfold embed roll.csv -m isomap --save-model roll.dualfold
      dualfold transform roll.dualfold new.csv
      dualfold transform roll.dualfold new.csv --id name -p placed.png
      dualfold transform roll.dualfold new.csv --html placed.html
      cat new.csv | dualfold transform roll.dualfold - -o - > placed.csv

    The page of --html shows old and new rows together.
    Columns are matched by name, in any order; further ones are not used. Standardising
    and filled gaps are those of the rows the map was made of. The model file is data
    (arrays and JSON in a zip); nothing in it is ever run.
    """
    from dualfold.cli.run_transform import run_transform  # the numerics

    run_transform(options)
