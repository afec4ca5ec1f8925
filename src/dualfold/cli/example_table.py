"""`dualfold data`: small tables to try the other commands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from dualfold.cli import options as o
from dualfold.cli.commands import try_next
from dualfold.cli.console import Console

EXAMPLE_NAMES = ("penguins-like", "roll", "s-curve", "helix")


@dataclass(frozen=True)
class DataOptions:
    """What is typed after `dualfold data`."""

    name: Annotated[
        str,
        typer.Argument(
            metavar="|".join(EXAMPLE_NAMES),
            callback=o.one_of(*EXAMPLE_NAMES),
            autocompletion=o.completion(*EXAMPLE_NAMES),
            help="Which table.",
        ),
    ]
    output: Annotated[
        str | None, o.option("--output -o", "Where it goes; default: NAME.csv.", metavar="OUT")
    ] = None
    rows: Annotated[int | None, o.option("--rows -n", "How many rows.", min=1)] = None
    seed: Annotated[int, o.option("--seed", "Another one gives other rows.", min=0)] = 0
    force: o.Force = False
    quiet: o.Quiet = False


def data(options: DataOptions) -> None:
    """Write a small table to try the other commands on. It is made up, not measured.

    \b
    Examples:
      dualfold data penguins-like
      dualfold data roll
      dualfold data roll --rows 60 --seed 1 -o new.csv
    """
    from dualfold.data import write_table
    from dualfold.data.data_sets import EXAMPLE_TABLES, example_table

    name, output = options.name, options.output or f"{options.name}.csv"
    columns = example_table(name, options.rows, options.seed)
    write_table(output, columns, overwrite=options.force)
    console = Console(quiet=options.quiet)
    if output == "-":
        return
    count = len(next(iter(columns.values())))
    console.say(
        f"{count:,} rows × {len(columns)} columns in {output}: {EXAMPLE_TABLES[name][2]}, made up"
    )
    color = ["--color", "species"] if "species" in columns else []
    console.say(try_next(["dualfold", "recommend", output, *color]))
