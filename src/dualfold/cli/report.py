"""`dualfold report`: how good a picture of the data a map is, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, field

import typer

from dualfold.cli import options as o
from dualfold.cli.usage import whole_number
from dualfold.data.reading import DEFAULT_READING, Reading


@dataclass(frozen=True)
class ReportOptions:
    """Options of `dualfold report`, as typed."""

    file: str
    embedding: str
    n_neighbors: int = o.own_option(
        "--n-neighbors -k",
        "Neighbours that are compared.",
        "N",
        default=10,
        section=o.MEASURES_SECTION,
        parser=whole_number(1),
    )
    sample: int | None = o.own_option(
        "--sample",
        "Ask only that many points; every number then has bounds. Default: all up to 5,000 rows, "
        "else 1,000.",
        "N",
        section=o.MEASURES_SECTION,
        parser=whole_number(10),
    )
    reading: Reading = field(default=DEFAULT_READING, metadata=o.REPORT_READING)
    output: str | None = o.own_output("Measures of each point as a table.")
    picture: str | None = None
    force: bool = False
    spreadsheet: bool = False
    as_json: bool = False
    quiet: bool = False


def report(options: ReportOptions) -> None:
    """How good a picture of the data a map is, whoever made it.

    \b
    Examples:
      dualfold report iris.csv iris.pca.csv
      dualfold report iris.csv iris.pca.csv --color species --picture quality.png
      dualfold report cells.parquet umap.csv -o reliability.csv --json

    A map of `dualfold embed` brings its settings along, so FILE is read as it was then.
    The picture is the map coloured by the trustworthiness of each point.
    """
    if options.output == "-":
        raise typer.BadParameter("the report goes to standard output; give -o a file")
    from dualfold.cli.run_report import run_report  # the numerics

    run_report(options)
