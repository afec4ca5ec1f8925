"""`dualfold data`: small tables to try the other commands on."""

from __future__ import annotations

from dataclasses import dataclass

from dualfold.cli import options as o
from dualfold.cli.commands import try_next
from dualfold.cli.console import Console
from dualfold.cli.usage import whole_number
from dualfold.errors import counted

SERIES_NAME = "customers-by-month"
DEFAULT_CUSTOMERS = 300
EXAMPLE_NAMES = ("penguins-like", "roll", "s-curve", "helix", SERIES_NAME)


@dataclass(frozen=True)
class DataOptions:
    """Options of `dualfold data`, as typed."""

    name: str = o.own_argument(
        "NAME",
        f"Which table: {', '.join(EXAMPLE_NAMES)}.",
        callback=o.one_of(*EXAMPLE_NAMES),
        autocompletion=o.completion(*EXAMPLE_NAMES),
    )
    output: str | None = o.own_output(
        "Where it goes; default: NAME.csv. Of customers-by-month, a folder; default: here."
    )
    rows: int | None = o.own_option("--rows -n", "How many rows.", "N", parser=whole_number(1))
    seed: int = o.own_option(
        "--seed", "Another one gives other rows.", "N", default=0, parser=whole_number(0)
    )
    force: bool = False
    quiet: bool = False


def data(options: DataOptions) -> None:
    """Write a small table to try the other commands on. It is made up, not measured.

    \b
    Examples:
      dualfold data penguins-like
      dualfold data roll
      dualfold data roll --rows 60 --seed 1 -o new.csv
      dualfold data customers-by-month        jan.csv, feb.csv and mar.csv
    """
    from dualfold.data.data_sets import EXAMPLE_TABLES, example_table
    from dualfold.data.table_writer import write_table

    if options.name == SERIES_NAME:
        _write_months(options)
        return
    name, output = options.name, options.output or f"{options.name}.csv"
    columns = example_table(name, options.rows, options.seed)
    write_table(output, columns, overwrite=options.force)
    console = Console(quiet=options.quiet)
    if output == "-":
        return
    count = len(next(iter(columns.values())))
    console.say(
        f"{counted(count, 'row')} × {len(columns)} columns in {output}: "
        f"{EXAMPLE_TABLES[name][2]}, made up"
    )
    color = ["--color", "species"] if "species" in columns else []
    console.say(try_next(["dualfold", "recommend", output, *color]))


def _write_months(options: DataOptions) -> None:
    """A table for each month, for `dualfold series`."""
    from pathlib import Path

    from dualfold.data.customers import customers_by_month
    from dualfold.data.table_writer import check_table_place, write_table
    from dualfold.errors import InvalidInput

    folder = Path(options.output or ".")
    if options.output == "-" or not folder.is_dir():
        raise InvalidInput(
            f"three tables are written, so -o must be a folder that exists, and {options.output} "
            "is none; make it first, or leave -o out"
        )
    count = DEFAULT_CUSTOMERS if options.rows is None else options.rows
    months = customers_by_month(count, options.seed)
    paths = {month: folder / f"{month}.csv" for month in months}
    for path in paths.values():  # all of them or none
        check_table_place(path, overwrite=options.force)
    for month, columns in months.items():
        write_table(paths[month], columns, overwrite=options.force)
    console = Console(quiet=options.quiet)
    names = [str(path) for path in paths.values()]
    console.say(
        f"{counted(count, 'row')} × {len(columns)} columns in each of {', '.join(names)}: "
        "customers of a shop in three months, made up"
    )
    words = ["dualfold", "series", *names, "--id", "customer", "--color", "kind"]
    console.say(try_next([*words, "--html", "months.html"]))
