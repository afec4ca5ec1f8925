"""A table becomes a map: what `dualfold embed` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from dualfold.cli import options as o
from dualfold.cli.commands import embed_words, plans_of, reading_words, try_next
from dualfold.cli.console import Console
from dualfold.cli.embed import EmbedOptions
from dualfold.cli.exit_codes import finish_certified
from dualfold.cli.method_options import flag_of, option_words
from dualfold.cli.output_files import (
    default_output,
    refuse_bad_outputs,
    stem,
    write_content,
    written_lines,
)
from dualfold.data.notices import quoted_names
from dualfold.data.written_columns import refuse_unnamed
from dualfold.errors import counted
from dualfold.exploration.input_table import refuse_images, refuse_labels, refuse_weight
from dualfold.exploration.method_choice import chosen_plan, compared_coordinates
from dualfold.exploration.plan import Plan

if TYPE_CHECKING:
    from dualfold.exploration.exploration import Exploration

# Columns that are named at the end; of more, the first ones.
MAX_NAMED_COLUMNS = 20


# Files that hold the certificate and the settings themselves.
METADATA_ENDINGS = (".parquet", ".h5ad")


def run_embed(options: EmbedOptions) -> None:
    """Make a map of a table, in memory or in tiles."""
    console = Console(quiet=options.quiet)
    if is_in_tiles(options):
        from dualfold.cli.embed_tiles import embed_tiles  # Dask

        embed_tiles(options, console)
        return
    if options.landmark_rows is not None:
        raise typer.BadParameter("--landmark-rows is for tables in tiles; give --memory-limit, too")
    options, plan = _plan(options, console)
    explored_map, summary = _make_map(options, plan, console)
    lines = _last_lines(options, explored_map)
    finish_certified(
        console,
        options,
        summary,
        lines,
        certificate=explored_map.certificate,
        verdict=explored_map.verdict,
    )


def is_in_tiles(options: EmbedOptions) -> bool:
    """Whether the table is read in tiles: by an option, or since it is a folder of files."""
    limited = options.memory_limit is not None or options.scheduler is not None
    return limited or Path(options.file).is_dir()


def _plan(options: EmbedOptions, console: Console) -> tuple[EmbedOptions, Plan]:
    """The options with an output, and what will be done; wrong usage is refused here."""
    method, typed = options.method, options.method_options
    if options.question is not None and method != "auto":
        raise typer.BadParameter(f"--question {options.question} is only asked with --method auto")
    for name in typed if method == "auto" else ():
        raise typer.BadParameter(
            f"{flag_of(name)} is an option of one method; name it instead of --method auto"
        )
    if method is None and typed:  # they were read as those of pca
        method = "pca"
    asked = options.n_components
    d = int(asked) if asked is not None and asked.isdecimal() else asked
    if method == "auto":
        with o.usage_errors():
            compared_coordinates(d)
    plan = chosen_plan(options.file, method, options.reading, d, console, options.question)
    name = plan.method.name
    output = options.output or default_output(options.file, name)
    o.refuse_two_on_stdout(output, as_json=options.as_json)
    (chosen,) = plans_of([name], options)
    plan = plan.with_choices(chosen.n_components, chosen.options)
    with o.usage_errors():
        refuse_labels(options.reading.labels, plan)
        refuse_weight(options.reading.weight, plan)
    if options.reading.mixed == "gower":
        plan = plan.by_manhattan()
    return replace(options, output=output, reading=plan.reading_of(options.reading)), plan


def _make_map(
    options: EmbedOptions, plan: Plan, console: Console
) -> tuple[Exploration, dict[str, object]]:
    """Read, embed, certify, judge, write; the map, and what `--json` prints."""
    images = o.picture_shape(options.images)
    refuse_bad_outputs(options, options.file)
    if options.append:
        refuse_unnamed(options.file, options.reading)
    begin = perf_counter()
    table = plan.read(options.file, options.reading, console)
    refuse_images(table, images)
    read_seconds = perf_counter() - begin
    # Loaded once the table was read, so that a wrong file is refused without delay.
    from dualfold.cli.map_files import write_files
    from dualfold.exploration.exploration import explored

    explored_map = explored(plan, table, console, for_page=options.html is not None)
    stored = write_files(options, explored_map, console)
    if options.html is not None:
        content = explored_map.page_content(console, images=images, with_text=not options.no_text)
        write_content(options, content, console)
    total = perf_counter() - begin
    files = {kind: getattr(options, kind) for kind in ("output", "picture", "biplot", "loadings")}
    return explored_map, {
        **stored,
        **files,
        "html": options.html,
        "model": options.save_model,
        "seconds": {"read": read_seconds, "embed": explored_map.fitted.seconds, "total": total},
    }


def _last_lines(options: EmbedOptions, explored_map: Exploration) -> list[str]:
    """Lines on what was written where, what was found, and the next command worth trying."""
    output, model, columns = str(options.output), options.save_model, explored_map.data.sources
    where = "standard output" if output == "-" else output
    shape = f"{counted(len(explored_map.points), 'row')} × {counted(len(columns), 'column')}"
    lines = [f"{shape} → {counted(explored_map.points.shape[1], 'coordinate')} in {where}"]
    if output != "-" and not output.endswith(METADATA_ENDINGS):
        lines[0] += f" (certificate and settings in {Path(output).name}.json)"
    lines.append(f"Columns used: {quoted_names(columns, MAX_NAMED_COLUMNS)}")
    if explored_map.fitted.column_points is not None:
        where = options.loadings or "--loadings OUT.csv writes them as a table"
        lines.append(f"Points of the columns: 'column_points' in the settings; {where}")
    files = {"Picture": options.picture, "Biplot": options.biplot, "Loadings": options.loadings}
    lines += written_lines(files)
    if options.html is not None:
        lines.append(f"Page in {options.html}; open it in a browser, it needs no network")
    if model is not None:
        lines.append(
            f"Model in {model}; `dualfold transform {quote(model)} NEW_FILE` places new rows; the "
            "model contains rows of the table, and new rows are compared with them"
        )
    if explored_map.sampled < len(explored_map.points):
        lines.append(f"Neighbours were counted on {explored_map.sampled:,} of the rows")
    lines += explored_map.findings
    return [*lines, try_next(_next_words(options, explored_map))]


def _next_words(options: EmbedOptions, explored_map: Exploration) -> list[str]:
    """A picture first, then other kinds of map; never what would replace the map."""
    plan, source, reading = explored_map.fitted.plan, options.file, options.reading
    method, settings, differ = plan.method.name, plan.settings(), explored_map.data.scales_differ
    if options.picture is not None or options.html is not None:
        rivals = [name for name in ("pca", "isomap", "eigenmaps") if name != method]
        words = ["dualfold", "compare", source, "--methods", ",".join([method, *rivals])]
        words += reading_words(reading, standardize=differ)
        words += option_words(plan.method, settings)
        return [*words, "--picture", f"{stem(source)}.compare.png"]
    output = str(options.output)
    is_file = "-" not in (source, output)
    if is_file and not differ:
        return ["dualfold", "report", source, output, "--picture", f"{stem(output)}.quality.png"]
    words = embed_words(source, settings, reading, standardize=differ)
    name = f"{'map' if source == '-' else stem(source)}.{method}"
    words += ["--picture", f"{name}.png"]
    return [*words, "--output", f"{name}.standardized.csv"] if is_file else words
