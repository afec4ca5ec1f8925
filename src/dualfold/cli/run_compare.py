"""Several methods run on one table: what `dualfold compare` does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import embed_words, plans_of, try_next
from dualfold.cli.compare import CompareOptions
from dualfold.cli.console import Console
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.output_files import (
    refuse_bad_outputs,
    stem,
    write_content,
    write_picture,
    written_lines,
)
from dualfold.cli.terminal import print_table
from dualfold.cli.wording import command_text, command_texts
from dualfold.data.table_writer import write_table
from dualfold.errors import InvalidInput
from dualfold.exploration.input_table import (
    read_input,
    reading_for,
    refuse_images,
    refuse_labels,
    refuse_scaled_distances,
    refuse_weight,
)
from dualfold.exploration.plan import SCORED_NEIGHBORS, Plan

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.exploration.comparison import Comparison

MAPS_PER_LINE = 4  # of the picture


def run_compare(options: CompareOptions) -> None:
    """Run all methods, write, print the table of results."""
    plans = plans_of(_method_names(options.methods), options)
    if options.reading.mixed == "gower":
        plans = tuple(plan.by_manhattan() for plan in plans)
    with o.usage_errors():
        refuse_labels(options.reading.labels, *plans)
        refuse_weight(options.reading.weight, *plans)
    if options.output == "-":
        raise typer.BadParameter("the table of results goes to standard output; give -o a file")
    options = replace(options, reading=reading_for(options.reading, *plans))
    console = Console(quiet=options.quiet)
    o.picture_shape(options.images)  # refused before any work
    refuse_bad_outputs(options, options.file)
    comparison = _compared(options, plans, console)
    _write(options, comparison, console)
    if not options.as_json:
        heads, cells = comparison.heads, comparison.cells
        print_table(heads, cells, pipe_width=150, numbers=comparison.n_numbers)
    summary, lines = _summary(options, comparison), _last_lines(options, plans, comparison)
    console.finish(summary, lines, as_json=options.as_json)
    if options.strict and not all(row.holds for row in comparison.rows):
        raise typer.Exit(UNCERTIFIED_EXIT)


def _method_names(text: str) -> list[str]:
    """Names with commas between them, each once."""
    names = [o.method_name(word.strip(), "--methods") for word in text.split(",") if word.strip()]
    if not names:
        usual = "name one method or more, with commas: pca,isomap,lle"
        raise typer.BadParameter(usual, param_hint="--methods")
    return list(dict.fromkeys(names))


def _compared(options: CompareOptions, plans: tuple[Plan, ...], console: Console) -> Comparison:
    """Read the table, and compare the methods on it."""
    data = read_input(options.file, options.reading, console)
    refuse_images(data, o.picture_shape(options.images))
    if data.X.shape[0] <= 2 * SCORED_NEIGHBORS + 1:
        raise InvalidInput(
            f"comparing needs more than {2 * SCORED_NEIGHBORS + 1} rows, so that neighbours mean "
            f"something, but {options.file} has {data.X.shape[0]}"
        )
    refuse_scaled_distances(options.reading, *plans)
    # Loaded once the table was read, so that a wrong file is refused without delay.
    from dualfold.exploration.comparison import compared_maps

    comparison = compared_maps(plans, data, console, named=options.html is not None)
    return comparison.with_reasons(command_text)


def _summary(options: CompareOptions, comparison: Comparison) -> dict[str, object]:
    """Summary that `--json` prints."""
    data = comparison.data
    return {
        "schema": "dualfold.compare/1",
        "dualfold": __version__,
        "source": options.file,
        "reading": options.reading.settings(),
        "rows": len(data.table.rows),
        "features": list(data.table.names),
        "results": comparison.results,
        "scales_differ": data.scales_differ,
        "notices": command_texts(data.notices),
        "verdict": comparison.verdict,
        "output": options.output,
        "picture": options.picture,
        "html": options.html,
    }


def _write(options: CompareOptions, comparison: Comparison, console: Console) -> None:
    """The picture, the coordinates, the page."""
    from dualfold.exploration.map_page import maps_content
    from dualfold.exploration.summary import coordinate_columns

    data, maps = comparison.data, comparison.maps
    if options.picture is not None:
        with console.stage("drawing"), console.note_warnings([]):
            picture = _picture(options, comparison)
        write_picture(options.picture, picture, force=options.force)
    if options.output is not None:
        columns: dict[str, Array] = dict(data.row_names)
        if options.reading.color is not None:
            columns[options.reading.color] = data.label(options.reading.color)
        for row in maps:
            columns |= coordinate_columns(row.fitted)
        results = comparison.results
        write_table(
            options.output,
            columns,
            overwrite=options.force,
            metadata={"schema": "dualfold.compare/1", "dualfold": __version__, "results": results},
            spreadsheet=options.spreadsheet,
        )
    if options.html is not None:
        content = maps_content(
            data,
            [row.fitted for row in maps],
            [row.judgement for row in maps],
            comparison.neighbors,
            console,
            notes=[*data.notices, *(notice for row in maps for notice in row.fitted.notices)],
            images=o.picture_shape(options.images),
        )
        write_content(options, content, console)


def _picture(options: CompareOptions, comparison: Comparison) -> bytes:
    from dualfold.view.figures import figure_bytes, gallery

    data = comparison.data
    panels = [
        row.fitted.panel(data.colors, row.judgement.short.replace("; ", "\n"))
        for row in comparison.maps
    ]
    starts = range(0, len(panels), MAPS_PER_LINE)
    lines = [panels[start : start + MAPS_PER_LINE] for start in starts]
    names = [data.color_name or ""] * len(lines)
    return figure_bytes(gallery(lines, color_names=names), str(options.picture))


def _last_lines(
    options: CompareOptions, plans: tuple[Plan, ...], comparison: Comparison
) -> list[str]:
    """Lines on what the numbers are, what was written where, and the next command."""
    quality, n = comparison.maps[0].quality, len(comparison.data.table.rows)
    space, sampled = quality.picture.space, quality.sampled
    by = f" {space}" if space else ""
    on = "" if sampled == n else f", measured on {sampled:,} of {n:,} points"
    lines = [
        "Except for seconds, 1 is the best number in each column; neighbours are the "
        f"{SCORED_NEIGHBORS} nearest{by}{on}."
    ]
    lines += written_lines(
        {"Coordinates": options.output, "Picture": options.picture, "Page": options.html}
    )
    best = comparison.best.method
    settings = next(plan.settings() for plan in plans if plan.method.name == best)
    differ = comparison.data.scales_differ
    words = embed_words(options.file, settings, options.reading, standardize=differ)
    words += ["--picture", f"{stem(options.file)}.{best}.png"]
    return [*lines, comparison.verdict, try_next(words)]
