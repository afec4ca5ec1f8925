"""`dualfold series`: maps of the same rows at several times, between which points move."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from dualfold.cli import options as o
from dualfold.cli.usage import number
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.methods.descriptions import SERIES_METHODS


def link_weight(text: str) -> float | str:
    """auto, or a number that is 0 or more."""
    return text if text == "auto" else float(number(0)(text))


@dataclass(frozen=True)
class SeriesOptions:
    """Options of `dualfold series`, as typed."""

    tables: list[str] = o.own_argument(  # noqa: RUF009 (it returns a field)
        "TABLE…", "Two tables or more, in the order of time; formats as of `dualfold embed`."
    )
    method: str = o.own_option(
        "--method -m",
        f"{', '.join(SERIES_METHODS)}.",
        "METHOD",
        section=o.METHOD_SECTION,
        default=SERIES_METHODS[0],
        callback=o.one_of(*SERIES_METHODS),
        autocompletion=o.completion(*SERIES_METHODS),
    )
    mu: str = o.own_option(
        "--mu",
        "Weight of staying near from slice to slice: auto, or a number; 0 lets each map be alone.",
        "auto|NUMBER",
        section=o.METHOD_SECTION,
        default="auto",
    )
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = o.own_output(
        "Coordinates of all slices in one table, with slice and id; - for standard output."
    )
    html: str | None = None
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False


def series(options: SeriesOptions) -> None:
    """Map tables of the same rows at several times.

    \b
    Examples:
      dualfold data customers-by-month
      dualfold series jan.csv feb.csv mar.csv --id customer --html months.html
      dualfold series 2023.csv 2024.csv --id firm --method pca -o maps.csv

    All tables are read as one: the same columns, scale and imputation. --id names the column that
    says who is who. For rows that moved more than resampling would move them it names the columns
    that changed most, in spreads: standard deviations of the column over all tables.
    """
    o.refuse_two_on_stdout(options.output, as_json=options.as_json)
    if options.reading.identifier is None:
        raise typer.BadParameter("--id COLUMN is needed: the column that says who is who")
    if len(options.tables) < 2:
        raise typer.BadParameter("a series needs two tables or more; name the next one, too")
    from dualfold.cli.run_series import run_series  # the numerics

    run_series(options)
