"""`dualfold data`: small tables to try the other commands on."""

from __future__ import annotations

from typing import Annotated

import typer

from dualfold.cli import options as o
from dualfold.cli.console import Console

NAMES = ("penguins-like", "roll", "s-curve", "helix")


def data(
    name: Annotated[
        str,
        typer.Argument(metavar="|".join(NAMES), callback=o.one_of(*NAMES),
                       autocompletion=o.beginning(*NAMES), help="Which table."),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="Where it goes; default: NAME.csv."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", "-n", min=1, help="How many rows.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another one gives other rows.")] = 0,
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Write a small table to try the other commands on. It is made up, not measured.

    \b
    Examples:
      dualfold data penguins-like
      dualfold data roll
      dualfold data roll --rows 60 --seed 1 -o new.csv
    """
    from dualfold.cli.closing import try_next
    from dualfold.data import write_table
    from dualfold.data.data_sets import EXAMPLE_TABLES, example_table

    output = output or f"{name}.csv"
    columns = example_table(name, rows, seed)
    write_table(output, columns, overwrite=force)
    console = Console(quiet=quiet)
    if output == "-":
        return
    count = len(next(iter(columns.values())))
    console.say(
        f"{count:,} rows × {len(columns)} columns in {output}: {EXAMPLE_TABLES[name][2]}, made up"
    )
    color = ["--color", "species"] if "species" in columns else []
    console.say(try_next(["dualfold", "recommend", output, *color]))
