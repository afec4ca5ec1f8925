"""The commands that make maps: embed, transform, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dualfold.cli import embed_tiles as tiles
from dualfold.cli import options as o
from dualfold.cli.commands import MethodCommand, refuse_unshared
from dualfold.cli.console import UNCERTIFIED, Console, print_json
from dualfold.cli.output_files import default_output, stem
from dualfold.cli.reading_options import OF_NEW_ROWS, reads_table
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.cli.job import Job

COMPARED = "pca,isomap,lle,eigenmaps"
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="OUT", help="Where the coordinates go: .csv, .tsv "
                 "(.gz), .parquet, .npy, .h5ad, or - for standard output. Default: FILE's name "
                 "with the method in it, here."),
]  # fmt: skip


@reads_table()
def embed(
    file: o.File,
    method: o.Method = None,
    n_components: o.Components = "2",
    n_neighbors: o.Neighbors = None,
    reading: Reading = DEFAULT_READING,
    output: Output = None,
    picture: o.Picture = None,
    html: o.Html = None,
    html_mb: o.HtmlMb = 20.0,
    images: o.Images = None,
    save_model: Annotated[
        str | None,
        typer.Option("--save-model", metavar="OUT.dualfold", help="Keep the map as a file that "
                     "`dualfold transform` places new rows with."),
    ] = None,
    loadings: Annotated[
        str | None,
        typer.Option("--loadings", metavar="OUT.csv", help="A table of what each column has to do "
                     "with each axis: loadings of pca, and correlations."),
    ] = None,
    biplot: Annotated[
        str | None,
        typer.Option("--biplot", metavar="OUT.png", help="Draw the map with the columns as "
                     "arrows."),
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option("--memory-limit", metavar="SIZE", help="Read the table in tiles and keep "
                     "under SIZE, as 2GB: Parquet (folders too), Zarr, .npy."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Read it in tiles on the Dask cluster "
                     "at ADDRESS, as tcp://host:8786."),
    ] = None,
    landmark_rows: Annotated[
        int | None,
        typer.Option("--landmark-rows", metavar="N", min=3, help="Of tables in tiles: rows that "
                     "methods with a graph are fitted on; they place the others (10000)."),
    ] = None,
    force: o.Force = False,
    spreadsheet: o.Spreadsheet = False,
    strict: o.Strict = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    *,
    options: Mapping[str, Any],
) -> None:  # fmt: skip
    """A table becomes a certified map.

    \b
    Examples:
      dualfold embed iris.csv --color species --picture iris.png
      dualfold embed cells.parquet -m eigenmaps -k 15 --id cell --color type -p cells.pdf
      dualfold embed sales.csv --auto --category region --missing drop -o sales.map.csv
      dualfold embed roll.csv -m isomap --save-model roll.dualfold --html roll.html
      dualfold embed roll.csv -m isomap --landmarks 200 --pieces separate
      dualfold embed roll.csv --method auto            as `dualfold recommend` says
      dualfold embed big.parquet --memory-limit 2GB    larger than memory: tile by tile
      cat table.csv | dualfold embed - -o - > map.csv

    A method has further options: `dualfold methods isomap`, or `dualfold embed -m isomap --help`.

    Numbers, categories and dates are used, other text becomes labels; scales that differ are
    made equal, gaps filled in, columns that say nothing left out, and all of it is said. The
    certificate and all settings are stored with the coordinates (OUT.json, or inside
    a Parquet or h5ad file).
    """
    from dualfold.cli.closing import after_embed, finish
    from dualfold.cli.embed import Request, embed_table
    from dualfold.cli.input_table import read, reading_for

    refuse_two_on_stdout(as_json, output)
    shape = o.picture_shape(images)
    console, data, advice = Console(quiet=quiet), None, None
    if tiles.wanted(file, memory_limit, scheduler):
        tiles.refuse_extras(method, picture, html, images, save_model, loadings, biplot)
        (job,) = jobs_of([method or "pca"], n_components, n_neighbors, options)
        output = output or tiles.default_tiles_output(file, job.method.name)
        asked = (memory_limit, scheduler, landmark_rows, force)
        summary = tiles.embed_tiles(tiles.TilesRequest(file, reading, job, output, *asked), console)
        lines = [summary["verdict"], f"Coordinates in {output}"]
        return finish(summary, lines, console, as_json, strict)
    if landmark_rows is not None:
        raise typer.BadParameter("--landmark-rows is for tables in tiles; give --memory-limit, too")
    if method == "auto":
        from dualfold.cli.recommend import recommended

        advice, data = recommended(file, reading, n_components, console)
        method = advice.method
        if DESCRIPTIONS[method].needs_graph:
            n_neighbors = n_neighbors or advice.n_neighbors
        console.say(advice.verdict)
    elif method is None and not options:  # the table says which; options are those of pca
        data = read(file, reading, console)
    if method is None and reading.mixed == "gower":
        method = "mds"
    method = method or ("famd" if data is not None and data.has_categories else "pca")
    output = output or default_output(file, method)
    refuse_two_on_stdout(as_json, output)
    (job,) = jobs_of([method], n_components, n_neighbors, options)
    job = job.by_manhattan() if reading.mixed == "gower" else job
    refuse_labels(reading.labels, job)
    reading = reading if data is not None else reading_for(reading, job)
    request = Request(
        file,
        reading,
        job,
        output,
        picture,
        html,
        shape,
        save_model,
        force,
        loadings,
        biplot,
        html_mb,
        spreadsheet,
    )
    summary = embed_table(request, console, data)
    if advice is not None:
        summary["recommendation"] = advice.to_dict()
    return finish(summary, after_embed(request, summary), console, as_json, strict)


@reads_table(OF_NEW_ROWS)
def transform(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A file made by `embed --save-model`.")
    ],
    file: Annotated[
        str, typer.Argument(metavar="NEW_FILE", help="Rows with the same columns, or - for CSV.")
    ],
    reading: Reading = DEFAULT_READING,
    output: Output = None,
    picture: o.Picture = None,
    force: o.Force = False,
    spreadsheet: o.Spreadsheet = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """New rows on an existing map.

    \b
    Examples:
      dualfold embed roll.csv -m isomap --save-model roll.dualfold
      dualfold transform roll.dualfold new.csv
      dualfold transform roll.dualfold new.csv --id name -o placed.parquet -p placed.png
      cat new.csv | dualfold transform roll.dualfold - -o - > placed.csv

    Columns are matched by name, in any order; further ones are not used. Standardising
    and filled gaps are those of the rows the map was made of. The model file is data
    (arrays and JSON in a zip); nothing in it is ever run.
    """
    from dualfold.cli.closing import after_transform
    from dualfold.cli.transform import TransformRequest, transform_table

    output = output or ("-" if file == "-" else f"{stem(file)}.placed.csv")
    refuse_two_on_stdout(as_json, output)
    request = TransformRequest(model, file, reading, output, picture, force, spreadsheet)
    console = Console(quiet=quiet)
    summary = transform_table(request, console)
    if as_json:
        print_json(summary)
    for line in after_transform(request, summary):
        console.say(line)


@reads_table()
def compare(
    file: o.File,
    methods: Annotated[
        str,
        typer.Option("--methods", metavar="A,B,…", autocompletion=o.next_method,
                     help="Methods with commas between them."),
    ] = COMPARED,
    n_components: o.Components = "2",
    n_neighbors: o.Neighbors = None,
    reading: Reading = DEFAULT_READING,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="All coordinates in one table."),
    ] = None,
    picture: o.Picture = None,
    html: o.Html = None,
    html_mb: o.HtmlMb = 20.0,
    images: o.Images = None,
    force: o.Force = False,
    spreadsheet: o.Spreadsheet = False,
    strict: o.Strict = False,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
    *,
    options: Mapping[str, Any],
) -> None:  # fmt: skip
    """Several methods on one table: what each keeps, what is proved, how long it took.

    \b
    Examples:
      dualfold compare iris.csv --color species --picture iris.png
      dualfold compare roll.csv --methods pca,isomap,lle,eigenmaps,mvu --html roll.html
      dualfold compare cells.parquet --methods pca,eigenmaps -o all.parquet --json
      dualfold compare roll.csv --methods pca,isomap,lle -k 12 --pieces separate

    An option of a method (`dualfold methods NAME`) goes to all of the methods that have it.
    """
    from dualfold.cli import compare as comparing
    from dualfold.cli.closing import after_compare
    from dualfold.cli.input_table import reading_for

    chosen = tuple(o.several_methods(methods))
    jobs = jobs_of(chosen, n_components, n_neighbors, options)
    if reading.mixed == "gower":
        jobs = tuple(job.by_manhattan() for job in jobs)
    refuse_labels(reading.labels, *jobs)
    reading = reading_for(reading, *jobs)
    if output == "-":
        raise typer.BadParameter("the table of results goes to standard output; give -o a file")
    request = comparing.CompareRequest(
        file, reading, jobs, output, picture, html,
        o.picture_shape(images), force, html_mb, spreadsheet,
    )  # fmt: skip
    console = Console(quiet=quiet)
    summary = comparing.compare_methods(request, console)
    if as_json:
        print_json(summary)
    else:
        comparing.print_table(summary["results"])
    for line in after_compare(request, summary):
        console.say(line)
    rows = [row for row in summary["results"] if "error" not in row]
    if strict and not (len(rows) == len(chosen) and all(r["certificate"]["holds"] for r in rows)):
        raise typer.Exit(UNCERTIFIED)


def jobs_of(
    methods: Sequence[str], n_components: str, n_neighbors: int | None, options: Mapping[str, Any]
) -> tuple[Job, ...]:
    """One job a method; each gets those of the options that it has."""
    from dualfold.cli.job import Job

    given = dict(options) | ({} if n_neighbors is None else {"n_neighbors": n_neighbors})
    refuse_unshared(given, methods)
    rows = [DESCRIPTIONS[name] for name in methods]
    return tuple(
        Job(
            row,
            o.coordinates(n_components, row.name),
            {name: value for name, value in given.items() if name in row.options},
        )
        for row in rows
    )


def refuse_labels(labels: str | None, *jobs: Job) -> None:
    """Classes that nobody reads, and methods without the classes that they need."""
    able = [job for job in jobs if job.method.takes_labels]
    using = [job for job in able if job.uses_labels]
    if labels is None and using:
        raise typer.BadParameter(
            f"{using[0].method.name} learns from classes; --labels COLUMN says which column holds "
            "them"
        )
    if labels is not None and not using:
        instead = "give --supervised, too" if able else "--color colours by a column"
        raise typer.BadParameter(
            f"--labels has no use for {' and '.join(job.method.name for job in jobs)}; {instead}"
        )


def refuse_two_on_stdout(as_json: bool, output: str | None) -> None:
    """Standard output holds one thing."""
    if as_json and output == "-":
        raise typer.BadParameter(
            "--json and the coordinates both want standard output; give -o a file name"
        )


METHOD_COMMANDS = {
    "embed": MethodCommand(embed, ("-m", "--method"), "pca"),
    "compare": MethodCommand(compare, ("--methods",), COMPARED),
}
