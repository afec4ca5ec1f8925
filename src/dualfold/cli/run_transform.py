"""New rows placed on a stored map: what `dualfold transform` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import reading_words, try_next
from dualfold.cli.console import Console
from dualfold.cli.output_files import (
    UNNAMED_ENDINGS,
    refuse_bad_outputs,
    stem,
    write_content,
    write_map,
    write_picture,
    written_lines,
)
from dualfold.cli.transform import TransformOptions
from dualfold.cli.wording import command_texts
from dualfold.data.reading import Reading
from dualfold.errors import counted
from dualfold.exploration.placed_rows import PlacedRows
from dualfold.models import load_model
from dualfold.models.old_and_new_rows import judged_prepared_rows
from dualfold.view.figures import figure_bytes

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.models import Model


def run_transform(options: TransformOptions) -> None:
    """Place new rows, write."""
    source = options.file
    output = options.output or ("-" if source == "-" else f"{stem(source)}.placed.csv")
    o.refuse_two_on_stdout(output, as_json=options.as_json)
    options, console = replace(options, output=output), Console(quiet=options.quiet)
    begin = perf_counter()
    placed = _placed_rows(options, console)
    reading = _reading_without_model(placed, options)
    columns = _columns(options, placed)
    summary = _summary(options, placed, list(columns), reading)
    _write(options, placed, columns, summary, console)
    files = {"output": output, "picture": options.picture, "html": options.html}
    where = "standard output" if output == "-" else output
    count = counted(len(placed.points), "row")
    lines = [f"{count} placed on the map of {options.model} → {where}"]
    lines += written_lines({"Picture": options.picture, "Page": options.html})
    lines.append(placed.verdict)
    if output != "-" and source != "-":
        words = ["dualfold", "report", source, output, *reading_words(reading)]
        lines.append(try_next(words))
    seconds = {"seconds": perf_counter() - begin}
    console.finish(summary | files | seconds, lines, as_json=options.as_json)


def _placed_rows(options: TransformOptions, console: Console) -> PlacedRows:
    """Read the model and the rows, and place them."""
    with console.stage(f"reading {options.model}"):
        model = load_model(options.model)
    refuse_bad_outputs(options, options.file, options.model)
    with console.stage(f"reading {options.file}"):
        new = model.prepared_rows(options.file, options.reading)
    for notice in new.notices:
        console.note(notice)
    with console.stage("placing"):
        points = model.map(new.X)
        foreign = judged_prepared_rows(model, new.X)
    title = f"{options.file} on {Path(options.model).name}"
    identifier, color = options.reading.identifier, options.reading.color
    return PlacedRows(model, new, points, foreign, title, identifier, color)


def _summary(
    options: TransformOptions, placed: PlacedRows, columns: list[str], reading: Reading
) -> dict[str, object]:
    """Summary that is stored with the points, and printed by `--json`."""
    foreign = placed.foreign
    return {
        "schema": "dualfold.transform/1",
        "dualfold": __version__,
        "source": options.file,
        "model": options.model,
        "model_settings": _settings_of(placed.model),
        "rows": len(placed.points),
        "coordinates": columns[-placed.points.shape[1] :],
        "reading": reading.settings(),
        "foreign": None if foreign is None else foreign.to_dict(),
        "notices": command_texts(placed.new.notices),
        "verdict": placed.verdict,
    }


def _write(
    options: TransformOptions,
    placed: PlacedRows,
    columns: dict[str, Array],
    summary: dict[str, object],
    console: Console,
) -> None:
    """The points, the picture, the page."""
    picture = None
    if options.picture is not None:
        with console.stage("drawing"), console.note_warnings([]):
            picture = figure_bytes(placed.figure(), options.picture)
    write_map(options, columns, summary, placed.new.table.rows)
    write_picture(options.picture, picture, force=options.force)
    if options.html is not None:
        with console.stage("measuring the map for the page"):
            content = placed.page_content()
        write_content(options, content, console)


def _settings_of(model: Model) -> dict[str, object]:
    """Settings that state the problem of the map, and how gaps and scales were treated."""
    method, reading = model.stated_method, model.preparation.reading
    if method is None:
        return model.problem.to_json()
    scaling = {"standardize": reading.standardize, "missing": reading.missing}
    return model.problem.settings(method) | scaling


def _reading_without_model(placed: PlacedRows, options: TransformOptions) -> Reading:
    """Reading of NEW_FILE that gives the same columns again, for commands that see no model."""
    table, own = placed.new.table, options.reading.after(placed.model.preparation.reading)
    there = {*table.labels, *table.names}
    labels = {name: getattr(own, name) for name in ("color", "identifier", "labels")}
    kept: dict[str, Any] = {
        name: value if value in there else None for name, value in labels.items()
    }
    numbers = [name for name, values in table.labels.items() if values.dtype.kind in "iuf"]
    unused = [name for name in numbers if name not in kept.values()]
    keep = tuple(name for name in own.keep if name in there)
    return replace(own, exclude=tuple(unused), keep=keep, weight=None, **kept)


def _columns(options: TransformOptions, placed: PlacedRows) -> dict[str, Array]:
    """Names of the rows, colours, judgement and coordinates, coordinates last."""
    reading, output, table = options.reading, options.output, placed.new.table
    points, foreign = placed.points, placed.foreign
    features = {encoding.name for encoding in placed.model.preparation.encodings}
    named = {name: v for name, v in table.row_names.items() if name not in features}
    columns: dict[str, Array] = {}
    if reading.identifier is not None:
        columns[reading.identifier] = table.labels[reading.identifier]
    elif named and not str(output).lower().endswith(UNNAMED_ENDINGS):
        columns |= named
    elif len(table.rows) and table.rows[-1] != len(table.rows) - 1:
        columns["row"] = table.rows + 1
    if reading.color is not None:
        columns[reading.color] = table.labels[reading.color]
    if foreign is not None:
        columns["p_value"] = foreign.p_values
        if foreign.distances is not None:
            columns["distance"] = foreign.distances
    for axis in range(points.shape[1]):
        columns[f"{placed.model.method}_{axis + 1}"] = points[:, axis]
    return columns
