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
from dualfold.cli.html_page import write_content
from dualfold.cli.output_files import (
    UNNAMED_ENDINGS,
    refuse_bad_outputs,
    stem,
    write_map,
    write_picture,
    written_lines,
)
from dualfold.cli.wording import command_texts
from dualfold.data.prepared import colors_of
from dualfold.data.reading import Reading, reading_of
from dualfold.errors import counted
from dualfold.exploration.placed_rows import MAX_OLD_POINTS, PlacedRows
from dualfold.models import load_model
from dualfold.models.old_and_new_rows import judged_prepared_rows, old_rows
from dualfold.view.figures import figure_bytes, map_figure

if TYPE_CHECKING:
    from dualfold.data.columns import Table
    from dualfold.data.preparation import PreparedRows
    from dualfold.models import Model
    from dualfold.view.page import PageContent
from dualfold.cli.transform import TransformOptions


def run_transform(options: TransformOptions) -> None:
    """Place new rows, write."""
    source = options.file
    output = options.output or ("-" if source == "-" else f"{stem(source)}.placed.csv")
    o.refuse_two_on_stdout(output, as_json=options.as_json)
    console = Console(quiet=options.quiet)
    summary = _place_rows(replace(options, output=output), console)
    where = "standard output" if output == "-" else output
    lines = [f"{counted(summary['rows'], 'row')} placed on the map of {options.model} → {where}"]
    lines += written_lines({"Picture": options.picture, "Page": options.html})
    lines.append(summary["verdict"])
    if output != "-" and source != "-":
        words = ["dualfold", "report", source, output]
        words += reading_words(reading_of(summary["reading"]))
        lines.append(try_next(words))
    console.finish(summary, lines, as_json=options.as_json)


def _place_rows(options: TransformOptions, console: Console) -> dict[str, Any]:
    """Read the model and the rows, place them, write; returns what `--json` prints."""
    begin = perf_counter()
    with console.stage(f"reading {options.model}"):
        model = load_model(options.model)
    refuse_bad_outputs(options, options.file, options.model)
    with console.stage(f"reading {options.file}"):
        new = model.prepared_rows(options.file, options.reading)
    table, notices = new.table, new.notices
    for notice in notices:
        console.note(notice)
    with console.stage("placing"):
        points = model.map(new.X)
        foreign = judged_prepared_rows(model, new.X)
    columns = _columns(options, model, table, points, foreign)
    placed = "Placed; the model holds no old rows, so the new ones could not be judged."
    summary: dict[str, Any] = {
        "schema": "dualfold.transform/1",
        "dualfold": __version__,
        "source": options.file,
        "model": options.model,
        "model_settings": _settings_of(model),
        "rows": len(table.rows),
        "coordinates": list(columns)[-points.shape[1] :],
        "reading": _reading_without_model(model, table, options).settings(),
        "foreign": None if foreign is None else foreign.to_dict(),
        "notices": command_texts(notices),
        "verdict": placed if foreign is None else str(foreign),
    }
    picture = None
    if options.picture is not None:
        with console.stage("drawing"), console.note_warnings([]):
            picture = _picture(options, model, table, points, summary["verdict"])
    write_map(options, columns, summary, table.rows)
    write_picture(options.picture, picture, force=options.force)
    if options.html is not None:
        with console.stage("measuring the map for the page"):
            content = _page(options, model, new, points, foreign)
        write_content(options, content, console)
    files = {"output": options.output, "picture": options.picture, "html": options.html}
    return summary | files | {"seconds": perf_counter() - begin}


def _settings_of(model: Model) -> dict[str, Any]:
    """What states the problem of the map, and how missing values and scales were treated."""
    method, reading = model.stated_method, model.preparation.reading
    if method is None:
        return model.problem.to_json()
    scaling = {"standardize": reading.standardize, "missing": reading.missing}
    return model.problem.settings(method) | scaling


def _reading_without_model(model: Model, table: Table, options: TransformOptions) -> Reading:
    """How NEW_FILE is read to get the same columns again, by commands that see no model."""
    own = options.reading.after(model.preparation.reading)
    there = {*table.labels, *table.names}
    labels = {name: getattr(own, name) for name in ("color", "identifier", "labels")}
    kept: dict[str, Any] = {
        name: value if value in there else None for name, value in labels.items()
    }
    numbers = [name for name, values in table.labels.items() if values.dtype.kind in "iuf"]
    unused = [name for name in numbers if name not in kept.values()]
    keep = tuple(name for name in own.keep if name in there)
    return replace(own, exclude=tuple(unused), keep=keep, weight=None, **kept)


def _columns(
    options: TransformOptions, model: Model, table: Table, points: Any, foreign: Any
) -> dict[str, Any]:
    """What names the rows, colours, judgement and coordinates, coordinates last."""
    reading, output = options.reading, options.output
    features = {one.name for one in model.preparation.encodings}
    named = {name: v for name, v in table.row_names.items() if name not in features}
    columns: dict[str, Any] = {}
    if reading.identifier is not None:
        columns[reading.identifier] = table.labels[reading.identifier]
    elif named and not str(output).lower().endswith(UNNAMED_ENDINGS):
        columns |= named
    elif len(table.rows) and table.rows[-1] != len(table.rows) - 1:
        columns["row"] = table.rows + 1
    if reading.color is not None:
        columns[reading.color] = table.labels[reading.color]
    if foreign is not None:
        columns |= {"p_value": foreign.p_values, "distance": foreign.distances}
    for axis in range(points.shape[1]):
        columns[f"{model.method}_{axis + 1}"] = points[:, axis]
    return columns


def _title(options: TransformOptions) -> str:
    return f"{options.file} on {Path(options.model).name}"


def _page(
    options: TransformOptions, model: Model, new: PreparedRows, points: Any, foreign: Any
) -> PageContent:
    """Old and new rows on one map."""
    identifier, color = options.reading.identifier, options.reading.color
    title = _title(options)
    return PlacedRows(model, new, points, foreign, title, identifier, color).page_content()


def _picture(
    options: TransformOptions, model: Model, table: Table, points: Any, verdict: str
) -> bytes:
    """The new points, and before grey ones of rows that the model holds."""
    color, old = options.reading.color, old_rows(model)
    figure = map_figure(
        points,
        None if color is None else colors_of(table.labels[color]),
        title=_title(options),
        verdict=verdict,
        color_name=color or "",
        behind=None if old is None else model.map(old[0][:MAX_OLD_POINTS]),
    )
    return figure_bytes(figure, str(options.picture))
