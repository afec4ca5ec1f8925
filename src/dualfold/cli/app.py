"""The command `dualfold`; each of its commands has a file beside this one."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from dualfold import __version__
from dualfold.cli.audit import audit
from dualfold.cli.certify import certify
from dualfold.cli.commands import add_command
from dualfold.cli.compare import compare
from dualfold.cli.demo import demo
from dualfold.cli.embed import embed
from dualfold.cli.example_table import data
from dualfold.cli.help_topics import help
from dualfold.cli.method_list import methods
from dualfold.cli.recommend import recommend
from dualfold.cli.report import report
from dualfold.cli.series import series
from dualfold.cli.transform import transform
from dualfold.cli.update import update
from dualfold.cli.usage import CommandGroup

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failure, 2 wrong usage, 3 neither proved nor measured to the "
    "tolerance, 130 interrupted (`dualfold help exit-codes`). DUALFOLD_DEBUG=1 shows where "
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
      dualfold demo                              see what it does, offline
      dualfold data penguins-like                a small table to try
      dualfold embed table.csv -p map.png        a table becomes a map
      dualfold series jan.csv feb.csv --id name  who moved between tables, and why
      dualfold recommend table.csv               which method suits it, and why
      dualfold compare table.csv -p maps.png     several methods side by side
      dualfold report table.csv table.pca.csv    how good a picture a map is
      dualfold audit table.csv umap.csv          what to believe of a map
      dualfold certify table.csv table.pca.csv   check a stored map again
      dualfold methods                           what each method preserves
      dualfold methods isomap                    the options of one method

    Every map comes with a certificate: a bound on how far it can be from the best answer, or,
    where no bound is known, a sentence that says so.
    """


for command in (
    demo,
    embed,
    transform,
    update,
    series,
    compare,
    recommend,
    report,
    audit,
    certify,
    data,
    methods,
    help,
):
    add_command(app, command)


def main() -> None:
    """Entry point of the `dualfold` command."""
    _open_closed_streams()
    app(prog_name="dualfold")


def _open_closed_streams() -> None:
    """A caller may have closed them (`>&-`), and Python then has none.

    Nothing can be read, messages are lost, and data for standard output are an error.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull)  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
