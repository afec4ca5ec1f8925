"""`dualfold methods`: what each method is, and the options of one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from dualfold.cli.console import print_json
from dualfold.cli.method_options import coordinates_option, method_options
from dualfold.cli.options import Json, completion, method_name
from dualfold.descriptions import DESCRIPTIONS, SIZES_MEAN, Description

# In a pipe there is no width to fit into: one line for each row is easier to grep.
PIPE_COLUMNS = 1000


@dataclass(frozen=True)
class MethodsOptions:
    """What is typed after `dualfold methods`."""

    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="One method, with its options.",
            autocompletion=completion(*DESCRIPTIONS),
        ),
    ] = None
    as_json: Json = False


def methods(options: MethodsOptions) -> None:
    """What each method preserves, optimises and needs, and how far it goes.

    \b
    Examples:
      dualfold methods
      dualfold methods isomap
      dualfold methods --json
    """
    if options.name is not None:
        _print_method(DESCRIPTIONS[method_name(options.name, "NAME")], as_json=options.as_json)
    elif options.as_json:
        rows = [method.words() for method in DESCRIPTIONS.values()]
        print_json({"methods": rows, "practical_size_means": SIZES_MEAN})
    else:
        columns = ("name", "preserves", "needs", "new points", "practical size", "certificate")
        _print_table([method.words() for method in DESCRIPTIONS.values()], columns)
        typer.echo(SIZES_MEAN)


def _print_method(method: Description, *, as_json: bool) -> None:
    rows = option_rows(method)
    if as_json:
        print_json(method.words() | {"options": rows})
        return
    for key, words in method.words().items():
        if key != "name" and words:
            typer.echo(f"{key:<15} {words}")
    typer.echo(f"\nOptions of `dualfold embed FILE -m {method.name}`:")
    _print_table(rows, ("option", "values", "default", "meaning"))


def option_rows(method: Description) -> list[dict[str, str]]:
    """The options of a method, one row each."""
    rows = []
    for option in (coordinates_option(method.name), *method_options(method.name)):
        flag = f"{option.flag}/{option.off}" if option.is_switch else option.flag
        row = (flag, option.values, option.usual, option.help)
        rows.append(dict(zip(("option", "values", "default", "meaning"), row, strict=True)))
    return rows


def _print_table(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    from rich import box
    from rich.console import Console as Terminal
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    first = columns[0]
    for column in columns:
        table.add_column(column, no_wrap=column == first, style="bold" if column == first else "")
    for row in rows:
        table.add_row(*(row[column] for column in columns))
    width = None if sys.stdout.isatty() else PIPE_COLUMNS
    Terminal(highlight=False, width=width, markup=False).print(table)
