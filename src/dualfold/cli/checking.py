"""The commands that check maps: report, audit, certify."""

from __future__ import annotations

from typing import Annotated

import typer

from dualfold.cli import options as o
from dualfold.cli.console import UNCERTIFIED, Console, print_json, printable
from dualfold.cli.reading_options import OF_FILE, OF_REPORT, reads_table
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.descriptions import DESCRIPTIONS

Embedding = Annotated[
    str,
    typer.Argument(metavar="EMBEDDING", help="A map of FILE, one point a row, made by anybody."),
]


@reads_table(OF_REPORT)
def report(
    file: o.File,
    embedding: Embedding,
    n_neighbors: Annotated[
        int, typer.Option("--n-neighbors", "-k", min=1, help="Neighbours that are compared.")
    ] = 10,
    sample: Annotated[
        int | None,
        typer.Option(min=10, help="Ask only that many points; every number then has bounds. "
                     "Default: all up to 5,000 rows, else 1,000."),
    ] = None,
    reading: Reading = DEFAULT_READING,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="Measures of each point as a table."),
    ] = None,
    picture: o.Picture = None,
    force: o.Force = False,
    spreadsheet: o.Spreadsheet = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """How good a picture of the data a map is, whoever made it.

    \b
    Examples:
      dualfold report iris.csv iris.pca.csv
      dualfold report iris.csv iris.pca.csv --color species --picture quality.png
      dualfold report cells.parquet umap.csv -o reliability.csv --json

    A map of `dualfold embed` brings its settings along, so FILE is read as it was then.
    The picture is the map coloured by the trustworthiness of each point.
    """
    from dualfold.cli import report as reporting
    from dualfold.cli.closing import after_report

    if output == "-":
        raise typer.BadParameter("the report goes to standard output; give -o a file")
    request = reporting.ReportRequest(
        file, reading, embedding, n_neighbors, sample, output, picture, force, spreadsheet
    )
    console = Console(quiet=quiet)
    summary, words = reporting.report_map(request, console)
    if as_json:
        print_json(summary)
    else:
        typer.echo(printable(words))
    for line in after_report(request):
        console.say(line)


@reads_table(OF_REPORT)
def audit(
    file: o.File,
    embedding: Embedding,
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", metavar="METHOD", autocompletion=o.beginning(*DESCRIPTIONS),
                     callback=lambda name: name if name is None else o.method_name(name),
                     help="What made the map, if it is one of `dualfold methods`: it is run again "
                     "on data without groups, with other seeds and on subsamples."),
    ] = None,
    reading: Reading = DEFAULT_READING,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="What is said of each point, as a "
                     "table."),
    ] = None,
    picture: o.Picture = None,
    html: o.Html = None,
    html_mb: o.HtmlMb = 20.0,
    force: o.Force = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Judge a map: dubious points, groups that the data do not have, what it cannot show.

    \b
    Examples:
      dualfold audit cells.csv umap.csv
      dualfold audit iris.csv iris.pca.csv --color species --method pca
      dualfold audit cells.parquet tsne.csv --html audit.html -o points.csv --json

    The map may be anybody's: UMAP's, t-SNE's, the table behind a figure; each of its rows must be
    a row of FILE. --color names the column that groups are called after. What is tested, and at
    which level, is in docs/audit.md; the last paragraph is for a methods section.
    """
    from dualfold.cli.audit import AuditRequest, audit_map
    from dualfold.cli.closing import after_audit

    if output == "-":
        raise typer.BadParameter("the audit goes to standard output; give -o a file")
    request = AuditRequest(file, reading, embedding, method, output, picture, html, force, html_mb)
    console = Console(quiet=quiet)
    summary, words = audit_map(request, console)
    if as_json:
        print_json(summary)
    else:
        typer.echo(words)
    for line in after_audit(request):
        console.say(line)


@reads_table(OF_FILE)
def certify(
    file: o.File,
    embedding: Annotated[
        str,
        typer.Argument(metavar="EMBEDDING", help="A map that `dualfold embed` wrote, or a model "
                       "of `--save-model`."),
    ],
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="For mvu: the model saved with the map, which holds "
                     "its dual weights."),
    ] = None,
    tolerance: o.Tolerance = 1e-4,
    fresh: o.Fresh = False,
    reading: Reading = DEFAULT_READING,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Check a stored map against its data again; exit code 3 if it does not hold.

    \b
    Examples:
      dualfold certify iris.csv iris.pca.csv
      dualfold certify roll.csv roll.mvu.csv --model roll.dualfold
      dualfold certify roll.csv roll.dualfold --tolerance 0.02
      dualfold certify iris.csv iris.pca.csv --quiet && echo good

    The problem is stated anew from FILE and the stored settings (which are shown: they say
    what is judged), the stored points are judged as anybody's would be, and each of them is
    placed again. Vectors that the file does not keep exactly (float32 points, independent
    coordinates, Fisher discriminants) are computed again; nothing in the file is believed.
    Exit code 0: proved, or measured, to the tolerance you give; 3: anything else, as
    "within 12 %".
    """
    from dualfold.cli import certify as certifying
    from dualfold.cli.closing import after_certify

    console = Console(quiet=quiet)
    request = certifying.CertifyRequest(file, reading, embedding, model, tolerance, fresh)
    summary = certifying.certify_map(request, console)
    if as_json:
        print_json(summary)
    for line in after_certify(request, summary):
        console.say(line)
    if not summary["holds"]:
        if quiet:
            Console().note(summary["verdict"])
        raise typer.Exit(UNCERTIFIED)
