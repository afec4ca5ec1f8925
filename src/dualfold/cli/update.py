"""`dualfold update`: a stored map grows by new rows, and says how stale it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from dualfold.cli import options as o
from dualfold.cli.usage import number
from dualfold.data.reading import DEFAULT_READING, Reading


@dataclass(frozen=True)
class UpdateOptions:
    """Options of `dualfold update`, as typed."""

    model: str = o.own_argument("MODEL", "A file made by `embed --save-model` or by this command.")
    files: list[str] | None = o.own_argument(  # noqa: RUF009
        "[NEW_FILE]...", "Rows with the same columns, or - for CSV.", default=None
    )
    reading: Reading = field(
        default=DEFAULT_READING, metadata={"fields": (*o.FILE_FIELDS, "missing")}
    )
    old: list[str] | None = o.own_option(  # noqa: RUF009
        "--old",
        "The table that the map was made of, for models that keep no rows (pca and other linear "
        "maps); repeat it for tables that came before the last fit, in their order.",
        "FILE",
    )
    without: str | None = o.own_option(
        "--without",
        "Rows of the map that leave: 3,7,20-40. They are counted from 1, fitted ones first, then "
        "added ones in the order in which they came.",
        "ROWS",
    )
    refit: bool = o.own_option(
        "--refit",
        "Fit again to all rows, and lay the new map over the old one.",
        default=False,
        section=o.METHOD_SECTION,
    )
    max_gap: float = o.own_option(
        "--max-gap",
        "Distance from the best map of all rows beyond which to fit again.",
        "GAP",
        default=0.1,
        section=o.JUDGING_SECTION,
        parser=number(0),
    )
    max_foreign: float = o.own_option(
        "--max-foreign",
        "Share of new rows in places of their own beyond which to fit again.",
        "SHARE",
        default=0.2,
        section=o.JUDGING_SECTION,
        parser=number(0, 1),
    )
    level: float = o.own_option(
        "--level",
        "Share of updates by rows of the old kind that may raise a false alarm.",
        "SHARE",
        default=0.005,
        section=o.JUDGING_SECTION,
        parser=number(0, 1),
    )
    staleness: bool = o.own_option(
        "--staleness/--no-staleness",
        "Certify how far the map is from the best one of all rows; may take as long as a fit.",
        default=True,
        section=o.JUDGING_SECTION,
    )
    save_model: str | None = o.own_output(
        "Where the grown model goes. Default: it replaces MODEL, once all is done."
    )
    output: str | None = o.own_option(
        "--map",
        "Write the points of all rows: .csv, .tsv (.gz), .parquet, .npy.",
        "FILE",
        section=o.OUTPUT_SECTION,
    )
    force: bool = False
    strict: bool = o.own_option(
        "--strict", "Exit code 3 where the verdict is to fit again.", default=False
    )
    as_json: bool = False
    quiet: bool = False


def update(options: UpdateOptions) -> None:
    """A stored map grows by new rows.

    \b
    Examples:
      dualfold embed roll.csv -m isomap --save-model roll.dualfold
      dualfold update roll.dualfold new.csv
      dualfold update roll.dualfold monday.csv tuesday.csv -o grown.dualfold
      dualfold update roll.dualfold new.csv --without 3,7,20-40 --map all.csv
      dualfold update roll.dualfold new.csv --refit
      dualfold update pca.dualfold new.csv --old table.csv

    Old points stay where they are, and new rows are placed as `transform` places them.
    How far the map is from the best one of all rows is certified where it can be, and the
    verdict says: keep, keep but look here, or fit again. The file changes only at the end.
    """
    from dualfold.cli.run_update import run_update  # the numerics

    run_update(options)
