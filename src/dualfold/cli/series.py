"""`dualfold series`: maps of the same rows at several times, between which points move."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import reading_words, try_next
from dualfold.cli.console import Console
from dualfold.cli.exit_codes import finish_certified
from dualfold.cli.output_files import refuse_bad_outputs, written_lines
from dualfold.cli.usage import number
from dualfold.cli.wording import command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.errors import counted
from dualfold.exploration.method_choice import SERIES_METHODS

if TYPE_CHECKING:
    from dualfold.exploration.series import Series

# Moves that are printed; the page and --json have more.
MAX_PRINTED_MOVES = 10


def _weight(text: str) -> float | str:
    """auto, or a number that is 0 or more."""
    return text if text == "auto" else float(number(0)(text))


@dataclass(frozen=True)
class SeriesOptions:
    """What is typed after `dualfold series`."""

    tables: list[str] = o.own_argument(  # noqa: RUF009 (it returns a field)
        "TABLE…", "Two tables or more, in the order of time; formats as of `dualfold embed`."
    )
    method: str = o.own_option(
        "--method -m",
        f"{', '.join(SERIES_METHODS)}.",
        "METHOD",
        section=o.METHOD_SECTION,
        default=SERIES_METHODS[0],
        callback=o.one_of(*SERIES_METHODS),
        autocompletion=o.completion(*SERIES_METHODS),
    )
    mu: str = o.own_option(
        "--mu",
        "Weight of staying near from slice to slice: auto, or a number; 0 lets each map be alone.",
        "auto|NUMBER",
        section=o.METHOD_SECTION,
        default="auto",
    )
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = o.own_output(
        "Coordinates of all slices in one table, with slice and id; - for standard output."
    )
    html: str | None = None
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False


def series(options: SeriesOptions) -> None:
    """Map tables of the same rows at several times.

    \b
    Examples:
      dualfold data customers-by-month
      dualfold series jan.csv feb.csv mar.csv --id customer --html months.html
      dualfold series 2023.csv 2024.csv --id firm --method pca -o maps.csv

    All tables are read as one: the same columns, scale and imputation. --id names the column that
    says who is who. For rows that moved more than resampling would move them it names the columns
    that changed most, in spreads: standard deviations of the column over all tables.
    """
    o.refuse_two_on_stdout(options.output, as_json=options.as_json)
    if options.reading.identifier is None:
        raise typer.BadParameter("--id COLUMN is needed: the column that says who is who")
    if len(options.tables) < 2:
        raise typer.BadParameter("a series needs two tables or more; name the next one, too")
    console = Console(quiet=options.quiet)
    refuse_bad_outputs(options, *options.tables)
    begin = perf_counter()
    found = _explored_series(options, console)
    summary = found.to_dict() | {
        "dualfold": __version__,
        "sources": options.tables,
        "notices": command_texts(found.notes),
        "output": options.output,
        "html": options.html,
    }
    _write(options, found, summary, console)
    summary["seconds"] = perf_counter() - begin
    finish_certified(
        console,
        options,
        summary,
        _last_lines(options, found),
        certificate=found.aligned.certificate_,
        verdict=found.verdict,
    )


def _explored_series(options: SeriesOptions, console: Console) -> Series:
    from dualfold.exploration.series import explore_series

    k = options.n_neighbors
    more: dict[str, Any] = {} if k is None else {"n_neighbors": k}
    method: Any = options.method
    return explore_series(
        options.tables,
        method=method,
        mu=_weight(options.mu),
        reading=options.reading,
        listener=console,
        **more,
    )


def _write(
    options: SeriesOptions, found: Series, summary: dict[str, Any], console: Console
) -> None:
    """The coordinates and the page."""
    if options.output is not None:
        from dualfold.data.table_writer import write_table

        write_table(
            options.output,
            found.columns(),
            overwrite=options.force,
            metadata=summary,
            spreadsheet=options.spreadsheet,
        )
    if options.html is not None:
        from dualfold.view.series_page import make_series_page

        with console.stage("making the page"):
            content = found.page_content(Path(options.html).stem)
            page = make_series_page(content, command_texts(found.notes))
        for notice in page.notices:
            console.note(notice)
        page.write(options.html, overwrite=options.force)


def _last_lines(options: SeriesOptions, found: Series) -> list[str]:
    """What happened, what was written where, the verdict, and the next command."""
    tables = found.tables
    lines = [
        f"{counted(len(tables.ids), 'row')} of {len(tables.names)} tables on maps of one frame"
    ]
    lines += [str(one) for one in found.exchanges]
    moved = [one for one in found.moves if one.beyond_chance]
    if moved:
        lines.append("Moved most, beyond resampling, and what changed:")
        lines += [f"  {one}" for one in moved[:MAX_PRINTED_MOVES]]
    else:
        lines.append("No row moved more than resampling would move it.")
    lines.append(f"Weight of the links: {found.aligned.mu_reason_}.")
    lines += written_lines({"Coordinates": options.output, "Page": options.html})
    lines.append(found.verdict)
    if options.html is None:
        words = ["dualfold", "series", *options.tables, "--method", options.method]
        words += [*reading_words(options.reading), "--html", "series.html"]
        lines.append(try_next(words))
    return lines
