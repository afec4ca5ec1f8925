"""The command `dualfold`; its subcommands that make maps and check them are beside this."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from dualfold import __version__
from dualfold.cli import checking, making
from dualfold.cli.commands import MethodGroup
from dualfold.cli.console import Console, plainly, print_json
from dualfold.cli.example_table import data
from dualfold.cli.method_list import methods
from dualfold.cli.options import Json, Quiet
from dualfold.cli.recommend import recommend


class Commands(MethodGroup):
    """Those of `dualfold`."""

    method_commands = making.METHOD_COMMANDS


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failure, 2 wrong usage, 3 neither proved nor measured to the "
    "tolerance (under --strict, and of `certify`), 130 interrupted. DUALFOLD_DEBUG=1 shows where "
    "an error came from. NO_COLOR=1 takes the colours away.",
)


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
      dualfold demo                                    see what it does, offline, in seconds
      dualfold embed table.csv --picture map.png       a table of numbers becomes a map
      dualfold recommend table.csv                     which method suits it, and why
      dualfold compare table.csv -p maps.png           several methods side by side
      dualfold report table.csv table.pca.csv          how good a picture a map is
      dualfold audit table.csv umap.csv                which points and groups to believe
      dualfold certify table.csv table.pca.csv         check a stored map again
      dualfold data penguins-like                      a small table to try this on
      dualfold methods                                 what each method preserves
      dualfold methods isomap                          the options of one

    Every map comes with a certificate: how far from the best possible one it can be.
    """


@app.command()
@plainly
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "dualfold-demo"
    ),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Every method on a swiss roll and on handwritten digits, offline, in seconds.

    \b
    Examples:
      dualfold demo
      dualfold demo --output /tmp/maps

    Writes a picture of all maps, a page to explore, the data and the coordinates. Its own
    files from an earlier run are replaced.
    """
    from dualfold.cli import demo as tour
    from dualfold.data.atomic_files import check_folder

    check_folder(output)  # before the work, not after
    console, notices = Console(quiet=quiet), list[str]()
    with console.doing("loading"):
        shown = tour.examples()
    found = []
    for example in shown:
        line = []
        for result in tour.results(example, console, notices):
            line.append(result)
            if not as_json:
                typer.echo(tour.in_a_line(result))
        found.append(line)
    with console.doing("drawing"):
        drawn = tour.picture(found)
    with console.doing("making the page"):
        written = tour.write(output, found, drawn, tour.page(found[1]))
    if as_json:
        print_json(
            {
                "results": [result.words() for line in found for result in line],
                "written": [str(path) for path in written],
                "notices": notices,
            }
        )
    console.say(
        "\nt-similarity: the share of each point's 10 nearest neighbours that the map keeps."
    )
    console.say(f"\nAll maps in one picture:  {written[0]}")
    console.say(f"A page to explore:        {written[1]}  (open it in a browser)")
    console.say(
        f"Data and coordinates:     {', '.join(path.name for path in written[2:])} beside it"
    )
    console.say(f"\nTry next:  {tour.next_command(output)}")


for command in (
    making.METHOD_COMMANDS["embed"].plain(),
    making.transform,
    making.METHOD_COMMANDS["compare"].plain(),
    recommend,
    checking.report,
    checking.audit,
    checking.certify,
    data,
    methods,
):
    app.command()(plainly(command))


def main() -> None:
    """Entry point of the `dualfold` command."""
    _open_closed_streams()
    app(prog_name="dualfold")


def _open_closed_streams() -> None:
    """Whoever starts us may have closed them (`>&-`), and Python then has none.

    Nothing is read, nobody hears what is said, and what was to be written is an error.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull)  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
