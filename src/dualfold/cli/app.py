"""The commands and their options. What they do is in the modules beside this one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dualfold import __version__
from dualfold.cli.registry import METHODS, Method, named
from dualfold.cli.request import Request, closing_words, default_output
from dualfold.cli.talk import UNCERTIFIED, Voice, plainly, print_json

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failure, 2 wrong usage, 3 not certified under --strict, "
    "130 interrupted. DUALFOLD_DEBUG=1 shows where an error came from.",
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dualfold {__version__}")
        raise typer.Exit()


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Dimensionality reduction you can check.

    \b
    Examples:
      dualfold demo                                see what it does, offline, in seconds
      dualfold embed table.csv --picture map.png   a table of numbers becomes a map
      dualfold methods                             what each method preserves

    Every map comes with a certificate: how far from the best possible one it can be.
    """


@app.command()
@plainly
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "dualfold-demo"
    ),
    force: Annotated[
        bool, typer.Option("--force", help="Accepted for symmetry: the demo replaces its files.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Every method on a swiss roll and on handwritten digits, offline, in seconds.

    \b
    Examples:
      dualfold demo
      dualfold demo --output /tmp/maps

    Writes a picture of all maps, the data and the coordinates. Its own files from an
    earlier run are replaced.
    """
    from dualfold.cli import demo as tour

    voice, heard = Voice(quiet=quiet), list[str]()
    with voice.doing("loading"):
        shown = tour.examples()
    found = []
    for example in shown:
        line = []
        for result in tour.results(example, voice, heard):
            line.append(result)
            if not as_json:
                typer.echo(tour.in_a_line(result))
        found.append(line)
    with voice.doing("drawing"):
        written = tour.write(output, found, tour.picture(found))
    if as_json:
        print_json(
            {
                "results": [result.words() for line in found for result in line],
                "written": [str(path) for path in written],
                "notices": heard,
            }
        )
    voice.say("\nt-similarity: the share of each point's 10 nearest neighbours that the map keeps.")
    voice.say(f"\nAll maps in one picture:  {written[0]}")
    voice.say(f"Data and coordinates:     {', '.join(path.name for path in written[1:])} beside it")
    voice.say(f"\nTry next:  {tour.next_command(output)}")


def _method(name: str) -> str:
    try:
        return named(name).name
    except LookupError as error:
        raise typer.BadParameter(str(error.args[0])) from None


def _one_of(*words: str) -> Callable[[str], str]:
    def checked(value: str) -> str:
        if value not in words:
            raise typer.BadParameter(f"{value!r} is none of {', '.join(words)}")
        return value

    return checked


@app.command()
@plainly
def embed(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A table (CSV, TSV, Parquet, NPY, NPZ, MTX) or -.")
    ],
    method: Annotated[
        str,
        typer.Option("--method", "-m", metavar="|".join(METHODS), callback=_method,
                     help="See `dualfold methods`."),
    ] = "pca",
    n_components: Annotated[
        int, typer.Option("--n-components", "-d", min=1, help="How many coordinates.")
    ] = 2,
    n_neighbors: Annotated[
        int, typer.Option("--n-neighbors", "-k", min=1, help="For methods that need a graph.")
    ] = 10,
    color: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Colour by it; it is not used as a feature."),
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Names the rows; copied to the output."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Leave out (repeatable).")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Use although it looks like an identifier or yes/no "
                     "(repeatable)."),
    ] = None,
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Give every column the same weight.")
    ] = False,
    missing: Annotated[
        str,
        typer.Option(metavar="raise|drop|mean", callback=_one_of("raise", "drop", "mean"),
                     help="Rows with missing values: refuse, leave out, fill with the mean."),
    ] = "raise",
    pieces: Annotated[
        str,
        typer.Option(metavar="join|raise", callback=_one_of("join", "raise"),
                     help="A graph in several pieces: join by the shortest links, or refuse."),
    ] = "join",
    format: Annotated[
        str | None, typer.Option(metavar="csv|tsv|parquet|npy|npz|mtx", help="If the ending of "
                                 "FILE does not say it.")
    ] = None,
    thousands: Annotated[
        str | None, typer.Option(metavar="MARK", help="Separator of thousands in a text file.")
    ] = None,
    array: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which array of an .npz file.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="Where the coordinates go: .csv, .tsv "
                     "(.gz), .parquet, .npy, or - for standard output. Default: FILE's name with "
                     "the method in it, here."),
    ] = None,
    picture: Annotated[
        str | None, typer.Option("--picture", "-p", metavar="OUT.png",
                                 help="Draw the map: .png, .pdf, .svg, .jpg.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 3 if the certificate does not hold.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """A table of numbers becomes a certified map.

    \b
    Examples:
      dualfold embed iris.csv --color species --picture iris.png
      dualfold embed cells.parquet -m eigenmaps -k 15 --id cell --color type -p cells.pdf
      dualfold embed sales.csv --standardize --missing mean -o sales.map.csv
      cat table.csv | dualfold embed - -o - > map.csv

    Columns of numbers are used; text becomes labels, and what is left out is said. The
    certificate and all settings are stored with the coordinates (OUT.json, or inside
    a Parquet file).
    """
    from dualfold.cli.embed import embed_table

    output = output or default_output(file, method)
    if as_json and output == "-":
        raise typer.BadParameter(
            "--json and the coordinates both want standard output; give -o a file name"
        )
    voice = Voice(quiet=quiet)
    request = Request(
        source=file, method=METHODS[method], n_components=n_components, n_neighbors=n_neighbors,
        color=color, identifier=identifier, exclude=tuple(exclude or ()), keep=tuple(keep or ()),
        missing=missing, standardize=standardize, pieces=pieces, format=format,
        thousands=thousands, array=array, output=output, picture=picture, force=force,
    )  # fmt: skip
    summary = embed_table(request, voice)
    if as_json:
        print_json(summary)
    for line in closing_words(request, summary):
        voice.say(line)
    certified = summary["certificate"]["level"] != "failed"
    if quiet and not certified:  # an answer that may be wrong is never kept quiet
        Voice().note(summary["verdict"])
    if strict and not certified:
        raise typer.Exit(UNCERTIFIED)


@app.command()
@plainly
def methods(as_json: Json = False) -> None:
    """What each method preserves, optimises and needs.

    \b
    Examples:
      dualfold methods
      dualfold methods --json
    """
    if as_json:
        print_json({"methods": [method.words() for method in METHODS.values()]})
    else:
        _print_methods(list(METHODS.values()))


def _print_methods(listed: list[Method]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "preserves", "optimises", "needs", "certificate"):
        table.add_column(column, no_wrap=column == "name", style="bold" if column == "name" else "")
    for method in listed:
        row = method.words()
        table.add_row(*(row[str(column.header)] for column in table.columns))
    # In a pipe there is no width to fit into: one line a method is easier to grep.
    Console(highlight=False, width=None if sys.stdout.isatty() else 160).print(table)


def main() -> None:
    """Entry point of the `dualfold` command."""
    app(prog_name="dualfold")
