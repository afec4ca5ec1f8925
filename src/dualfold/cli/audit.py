"""`dualfold audit`: judge a map of a table, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, field

import typer

from dualfold.cli import options as o
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.methods.descriptions import DESCRIPTIONS


@dataclass(frozen=True)
class AuditOptions:
    """Options of `dualfold audit`, as typed."""

    file: str
    embedding: str
    method: str | None = o.own_option(
        "--method -m",
        "What made the map, if it is one of `dualfold methods`: it is run again on data without "
        "groups, with other seeds and on subsamples.",
        "METHOD",
        section=o.METHOD_SECTION,
        autocompletion=o.completion(*DESCRIPTIONS),
        callback=o.method_if_named,
    )
    reading: Reading = field(default=DEFAULT_READING, metadata=o.REPORT_READING)
    output: str | None = o.own_output("What is said of each point, as a table.")
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20
    force: bool = False
    as_json: bool = False
    quiet: bool = False


def audit(options: AuditOptions) -> None:
    """Which points and groups of a map to believe.

    \b
    Examples:
      dualfold audit cells.csv umap.csv
      dualfold audit iris.csv iris.pca.csv --color species --method pca
      dualfold audit cells.parquet tsne.csv --html audit.html -o points.csv

    It names points at wrong places, groups that the data do not have, and what no map of this
    size can show. The map may be anybody's: UMAP's, t-SNE's, the table behind a figure; each of
    its rows must be a row of FILE. --color names the column that groups are called after. What
    is tested, and at which level, is in docs/audit-tests.md; the last paragraph is for a methods
    section.
    """
    if options.output == "-":
        raise typer.BadParameter("the audit goes to standard output; give -o a file")
    from dualfold.cli.run_audit import run_audit  # the numerics

    run_audit(options)
