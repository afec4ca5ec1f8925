"""The files of a map that `dualfold embed` makes: coordinates, pictures, model, loadings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.output_files import write_map, write_picture
from dualfold.exploration.axis_remarks import biplot_bytes, loadings_columns
from dualfold.exploration.job import FittedMap

if TYPE_CHECKING:
    from dualfold.cli.embed import EmbedOptions
    from dualfold.data import Prepared


def output_columns(data: Prepared, result: FittedMap) -> dict[str, Any]:
    """Names, colours and coordinates, coordinates last."""
    columns: dict[str, Any] = {}
    reading, rows = data.reading, data.table.rows
    if reading.identifier is not None:
        columns[reading.identifier] = data.label(reading.identifier)
    elif len(rows) and rows[-1] != len(rows) - 1:
        columns["row"] = rows + 1  # some were left out: say which remain
    if reading.color is not None:
        columns[reading.color] = data.label(reading.color)
    for axis, name in enumerate(result.axis_names):
        while name in columns:
            name += "_new"
        columns[name] = result.points[:, axis]
    return columns


def write_files(
    options: EmbedOptions,
    data: Prepared,
    result: FittedMap,
    columns: dict[str, Any],
    summary: dict[str, Any],
    console: Console,
) -> None:
    """The coordinates, pictures, model and loadings; all are made before the first is written."""
    from dualfold.data import write_table
    from dualfold.saved import save_model

    force = options.force
    pictures = _pictures(options, data, result, summary["verdict"], console)
    # Not every rule of new points can be stored in a file.
    model: Any = None if options.save_model is None else _model(data, result, summary)
    write_map(options, columns, summary, data.table.rows)
    for path, content in pictures.items():
        write_picture(path, content, force=force)
    if options.save_model is not None:
        save_model(options.save_model, model, overwrite=force)
    if options.loadings is not None:
        loadings = loadings_columns(result, data)
        apostrophes = options.spreadsheet
        write_table(options.loadings, loadings, overwrite=force, spreadsheet=apostrophes)


def _pictures(
    options: EmbedOptions, data: Prepared, result: FittedMap, verdict: str, console: Console
) -> dict[str, bytes]:
    """The files of --biplot and --picture, not yet written."""
    if options.picture is None and options.biplot is None:
        return {}
    from dualfold.view.figures import figure_bytes, map_figure

    method, d = result.job.method, result.points.shape[1]
    name = "standard input" if options.file == "-" else Path(options.file).name
    title = f"{name}, {method.name}"
    drawn = {}
    # matplotlib warns of letters its font lacks and of tight layouts; neither is for a user
    with console.stage("drawing"), console.note_warnings([]):
        if options.biplot is not None:
            drawn[options.biplot] = biplot_bytes(
                options.biplot, result, data, title=title, verdict=verdict
            )
        if options.picture is not None:
            figure = map_figure(
                result.points,
                data.colors,
                title=title + (f" (first two of {d} coordinates)" if d > 3 else ""),
                verdict=verdict,
                color_name=data.color_name or "",
                axis_names=result.axis_titles[:3],
                equal=method.lengths,
            )
            drawn[options.picture] = figure_bytes(figure, options.picture)
    return drawn


def _model(data: Prepared, result: FittedMap, summary: dict[str, Any]) -> Any:
    """The map as a model that places new rows."""
    import numpy as np

    from dualfold.saved import Model
    from dualfold.saved.foreign_rows import kept_rows
    from dualfold.saved.model import both_sides, storable_map

    rule = storable_map(result.estimator)
    # Maps by a graph hold their rows already.
    rows = kept_rows(data.X) if hasattr(rule, "encode") else None
    standard = data.standard
    return Model(
        map=rule,
        method=result.job.method.name,
        columns=data.table.names,
        means=np.asarray(data.table.X.mean(axis=0), dtype=float).ravel(),
        shift=None if standard is None else standard.mean,
        scale=None if standard is None else standard.deviation,
        settings={key: summary[key] for key in ("dualfold", "settings", "reading", "encodings")},
        certificate=summary["certificate"],
        both_sides=both_sides(result.estimator),
        reference=None if rows is None else data.X[rows].astype(np.float32),
    )
