"""`dualfold methods`: what each method is, and the options of one."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from dualfold.cli import options as o
from dualfold.cli.console import print_json, print_table
from dualfold.cli.method_options import coordinates_option, method_options
from dualfold.descriptions import DESCRIPTIONS, SIZES_MEAN, Description

# In a pipe there is no width to fit into: one line for each row is easier to grep.
PIPE_WIDTH = 1000
OPTION_HEADS = ("option", "values", "default", "meaning")


@dataclass(frozen=True)
class MethodsOptions:
    """What is typed after `dualfold methods`."""

    name: str | None = o.own_argument(
        "[NAME]",
        "One method, with its options.",
        default=None,
        autocompletion=o.completion(*DESCRIPTIONS),
    )
    as_json: bool = False


def methods(options: MethodsOptions) -> None:
    """What each method preserves and needs; the options of one.

    \b
    Examples:
      dualfold methods
      dualfold methods isomap
      dualfold methods --json
    """
    if options.name is not None:
        _print_method(DESCRIPTIONS[o.method_name(options.name, "NAME")], as_json=options.as_json)
    elif options.as_json:
        rows = [method.words() for method in DESCRIPTIONS.values()]
        print_json({"methods": rows, "practical_size_means": SIZES_MEAN})
    else:
        heads = ("name", "preserves", "needs", "new points", "practical size", "certificate")
        _print_rows([method.words() for method in DESCRIPTIONS.values()], heads)
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
    _print_rows(rows, OPTION_HEADS)


def option_rows(method: Description) -> list[dict[str, str]]:
    """The options of a method, one row each."""
    rows = []
    for option in (coordinates_option(method.name), *method_options(method.name)):
        flag = f"{option.flag}/{option.off}" if option.is_switch else option.flag
        row = (flag, option.values, option.usual, option.help)
        rows.append(dict(zip(OPTION_HEADS, row, strict=True)))
    return rows


def _print_rows(rows: list[dict[str, str]], heads: tuple[str, ...]) -> None:
    cells = ([row[head] for head in heads] for row in rows)
    print_table(heads, cells, pipe_width=PIPE_WIDTH)
