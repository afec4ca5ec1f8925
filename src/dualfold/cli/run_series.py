"""Maps of a series of tables: what `dualfold series` does."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.commands import reading_words, try_next
from dualfold.cli.console import Console
from dualfold.cli.exit_codes import finish_certified
from dualfold.cli.output_files import refuse_bad_outputs, written_lines
from dualfold.cli.series import SeriesOptions, link_weight
from dualfold.cli.wording import command_texts
from dualfold.data.table_writer import write_table
from dualfold.errors import counted

if TYPE_CHECKING:
    from dualfold.exploration.series import Series

# Moves that are printed; the page and --json have more.
MAX_PRINTED_MOVES = 10


def run_series(options: SeriesOptions) -> None:
    """Map all tables of a series, write."""
    console = Console(quiet=options.quiet)
    refuse_bad_outputs(options, *options.tables)
    begin = perf_counter()
    series = _explored_series(options, console)
    summary = series.to_dict() | {
        "dualfold": __version__,
        "sources": options.tables,
        "notices": command_texts(series.notes),
        "output": options.output,
        "html": options.html,
    }
    _write(options, series, summary, console)
    summary["seconds"] = perf_counter() - begin
    finish_certified(
        console,
        options,
        summary,
        _last_lines(options, series),
        certificate=series.aligned.certificate_,
        verdict=series.verdict,
    )


def _explored_series(options: SeriesOptions, console: Console) -> Series:
    from dualfold.exploration.series import explore_series

    k = options.n_neighbors
    more: dict[str, Any] = {} if k is None else {"n_neighbors": k}
    method: Any = options.method
    return explore_series(
        options.tables,
        method=method,
        mu=link_weight(options.mu),
        reading=options.reading,
        listener=console,
        **more,
    )


def _write(
    options: SeriesOptions, series: Series, summary: dict[str, object], console: Console
) -> None:
    """The coordinates and the page."""
    if options.output is not None:
        write_table(
            options.output,
            series.columns(),
            overwrite=options.force,
            metadata=summary,
            spreadsheet=options.spreadsheet,
        )
    if options.html is not None:
        from dualfold.view.series_page import make_series_page

        with console.stage("making the page"):
            content = series.page_content(Path(options.html).stem)
            page = make_series_page(content, command_texts(series.notes))
        for notice in page.notices:
            console.note(notice)
        page.write(options.html, overwrite=options.force)


def _last_lines(options: SeriesOptions, series: Series) -> list[str]:
    """Lines on what happened, what was written where, the verdict, and the next command."""
    tables = series.tables
    lines = [
        f"{counted(len(tables.ids), 'row')} of {len(tables.names)} tables on maps of one frame"
    ]
    lines += [str(one) for one in series.exchanges]
    moved = [one for one in series.moves if one.beyond_chance]
    if moved:
        lines.append("Moved most, beyond resampling, and what changed:")
        lines += [f"  {one}" for one in moved[:MAX_PRINTED_MOVES]]
    else:
        lines.append("No row moved more than resampling would move it.")
    lines.append(f"Weight of the links: {series.aligned.mu_reason_}.")
    lines += written_lines({"Coordinates": options.output, "Page": options.html})
    lines.append(series.verdict)
    if options.html is None:
        words = ["dualfold", "series", *options.tables, "--method", options.method]
        words += [*reading_words(options.reading), "--html", "series.html"]
        lines.append(try_next(words))
    return lines
