"""`dualfold embed`: from a table to a certified map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.axis_remarks import (
    biplot_bytes,
    close_axes_remarks,
    far_rows_remarks,
    loadings_columns,
    variance_line,
)
from dualfold.cli.commands import embed_words, jobs_of, reading_words, refuse_labels, try_next
from dualfold.cli.console import Console
from dualfold.cli.embed_tiles import embed_tiles, is_in_tiles
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.html_page import PageFile, refuse_images, write_maps
from dualfold.cli.input_table import (
    notices_of,
    read_input,
    reading_for,
    refuse_scaled_distances,
)
from dualfold.cli.job import SCORED_NEIGHBORS, FittedMap, Job, fit_map, picture_quality
from dualfold.cli.method_options import flag_of, option_words
from dualfold.cli.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.cli.output_files import (
    default_output,
    refuse_bad_outputs,
    stem,
    write_picture,
    written_lines,
)
from dualfold.cli.verdict_words import both_parts
from dualfold.cli.wording import command_text
from dualfold.data.reading import DEFAULT_READING
from dualfold.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.data import Prepared

# Columns that are named at the end; of more, the first ones.
MAX_NAMED_COLUMNS = 20
# Files that hold the certificate and the settings themselves.
METADATA_ENDINGS = (".parquet", ".h5ad")


@dataclass(frozen=True)
class EmbedOptions:
    """What is typed after `dualfold embed`."""

    file: o.File
    method: o.Method = None
    n_components: o.Components = "2"
    n_neighbors: o.Neighbors = None
    reading: o.TableReading = DEFAULT_READING
    output: o.MapOutput = None
    picture: o.Picture = None
    html: o.Html = None
    html_mb: o.HtmlMb = 20.0
    images: o.Images = None
    save_model: Annotated[
        str | None,
        o.option(
            "--save-model",
            "Keep the map as a file that `dualfold transform` places new rows with.",
            metavar="OUT.dualfold",
        ),
    ] = None
    loadings: Annotated[
        str | None,
        o.option(
            "--loadings",
            "A table of what each column has to do with each axis: loadings of pca, and "
            "correlations.",
            metavar="OUT.csv",
        ),
    ] = None
    biplot: Annotated[
        str | None,
        o.option("--biplot", "Draw the map with the columns as arrows.", metavar="OUT.png"),
    ] = None
    memory_limit: Annotated[
        str | None,
        o.option(
            "--memory-limit",
            "Read the table in tiles and keep under SIZE, as 2GB: Parquet (folders too), Zarr, "
            ".npy.",
            metavar="SIZE",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        o.option(
            "--scheduler",
            "Read it in tiles on the Dask cluster at ADDRESS, as tcp://host:8786.",
            metavar="ADDRESS",
        ),
    ] = None
    landmark_rows: Annotated[
        int | None,
        o.option(
            "--landmark-rows",
            "Of tables in tiles: rows that methods with a graph are fitted on; they place the "
            "others (10000).",
            metavar="N",
            min=3,
        ),
    ] = None
    force: o.Force = False
    spreadsheet: o.Spreadsheet = False
    strict: o.Strict = False
    as_json: o.Json = False
    quiet: o.Quiet = False
    method_options: Mapping[str, Any] = field(default_factory=dict)


def embed(options: EmbedOptions) -> None:
    """A table becomes a certified map.

    \b
    Examples:
      dualfold embed iris.csv --color species --picture iris.png
      dualfold embed cells.parquet -m eigenmaps -k 15 --id cell --color type -p cells.pdf
      dualfold embed sales.csv --auto --category region --missing drop -o sales.map.csv
      dualfold embed roll.csv -m isomap --save-model roll.dualfold --html roll.html
      dualfold embed roll.csv -m isomap --landmarks 200 --pieces separate
      dualfold embed roll.csv --method auto            as `dualfold recommend` says
      dualfold embed big.parquet --memory-limit 2GB    larger than memory: tile by tile
      cat table.csv | dualfold embed - -o - > map.csv

    A method has further options: `dualfold methods isomap`, or `dualfold embed -m isomap --help`.

    Numbers, categories and dates are used, other text becomes labels; scales that differ are
    made equal, gaps filled in, columns that say nothing left out, and all of it is said. The
    certificate and all settings are stored with the coordinates (OUT.json, or inside
    a Parquet or h5ad file).
    """
    o.refuse_two_on_stdout(options.output, as_json=options.as_json)
    images = o.picture_shape(options.images)
    console = Console(quiet=options.quiet)
    if is_in_tiles(options):
        summary, lines = embed_tiles(options, console)
    else:
        if options.landmark_rows is not None:
            raise typer.BadParameter(
                "--landmark-rows is for tables in tiles; give --memory-limit, too"
            )
        summary, lines = _embed_table(options, images, console)
    console.finish(summary, lines, as_json=options.as_json)
    certified = summary["certificate"]["holds"]
    if options.quiet and not certified:  # an answer that may be wrong is never kept quiet
        Console().note(summary["verdict"])
    if options.strict and not certified:
        raise typer.Exit(UNCERTIFIED_EXIT)


def _embed_table(
    options: EmbedOptions, images: tuple[int, int] | None, console: Console
) -> tuple[dict[str, Any], list[str]]:
    """Read, embed, certify, write: what `--json` prints, and the last lines."""
    method, data, advice = options.method, None, None
    if method == "auto":
        options, data, advice = _with_recommendation(options, console)
        method = advice.method
    elif method is None and not options.method_options:  # the table says which
        data = read_input(options.file, options.reading, console)
    if method is None and options.reading.mixed == "gower":
        method = "mds"
    method = method or ("famd" if data is not None and data.has_categories else "pca")
    options = replace(options, output=options.output or default_output(options.file, method))
    o.refuse_two_on_stdout(options.output, as_json=options.as_json)
    (job,) = jobs_of([method], options)
    job = job.by_manhattan() if options.reading.mixed == "gower" else job
    refuse_labels(options.reading.labels, job)
    if data is None:
        options = replace(options, reading=reading_for(options.reading, job))
    summary = _make_map(options, job, images, data, console)
    if advice is not None:
        summary["recommendation"] = advice.to_dict()
    return summary, _last_lines(options, job, summary)


def _with_recommendation(options: EmbedOptions, console: Console) -> tuple[EmbedOptions, Any, Any]:
    """The options with the neighbours that are recommended, the table, and the recommendation."""
    from dualfold.cli.recommend import recommendation_for

    for name in options.method_options:
        raise typer.BadParameter(
            f"{flag_of(name)} is an option of one method; name it instead of --method auto"
        )
    advice, data = recommendation_for(options.file, options.reading, options.n_components, console)
    if DESCRIPTIONS[advice.method].needs_graph:
        options = replace(options, n_neighbors=options.n_neighbors or advice.n_neighbors)
    console.say(advice.verdict)
    return options, data, advice


def _make_map(
    options: EmbedOptions,
    job: Job,
    images: tuple[int, int] | None,
    data: Prepared | None,
    console: Console,
) -> dict[str, Any]:
    """The map in its files; returns what `--json` prints.

    data : the table, where it was read before
    """
    refuse_bad_outputs(
        (options.file,),
        force=options.force,
        tables=(options.output, options.loadings),
        pictures=(options.picture, options.biplot),
        html=options.html,
        model=options.save_model,
    )
    begin = perf_counter()
    data = read_input(options.file, options.reading, console) if data is None else data
    refuse_images(data, images)
    read_seconds = perf_counter() - begin
    refuse_scaled_distances(options.reading, job)
    least = neighbors_to_measure(data, SCORED_NEIGHBORS, whole=options.html is not None)
    cache = NeighborCache(data, [job], console, least)
    result = fit_map(job, data, console, cache)
    quality = picture_quality(result, cache, data, console)
    far = map(command_text, far_rows_remarks(result, data))
    remarks = [*close_axes_remarks(result, data.X), *far]
    for remark in remarks:
        console.note(remark)
    columns = output_columns(data, result)
    summary = _summary(options, data, result, columns, quality, remarks)
    _write(options, data, result, columns, summary, console)
    if options.html is not None:
        file = PageFile(options.html, options.html_mb, options.force, images)
        write_maps(file, data, [result], cache, console)
    total = perf_counter() - begin
    return summary | {
        **{kind: getattr(options, kind) for kind in ("output", "picture", "biplot", "loadings")},
        "html": options.html,
        "model": options.save_model,
        "seconds": {"read": read_seconds, "embed": result.seconds, "total": total},
    }


def _summary(
    options: EmbedOptions,
    data: Prepared,
    result: FittedMap,
    columns: dict[str, Any],
    quality: Any,
    remarks: list[str],
) -> dict[str, Any]:
    """What is stored with the coordinates, JSON-ready."""
    reading = options.reading
    scaling = {"standardize": reading.standardize, "missing": reading.missing}
    return {
        "schema": "dualfold.embedding/1",
        "dualfold": __version__,
        "source": options.file,
        "settings": result.job.settings() | scaling,
        "reading": reading.settings(),
        "rows": len(data.table.rows),
        "columns": data.sources,
        "features": list(data.table.names),
        "encodings": data.stored_encodings,
        "coordinates": list(columns)[-result.points.shape[1] :],
        "notices": [*notices_of(data), *result.notices, *remarks],
        "scales_differ": data.scales_differ,
        "verdict": both_parts(result.verdict, quality),
        "solved": result.verdict,
        "picture_quality": None if quality is None else quality.to_dict(),
        "certificate": result.certificate.to_dict(),
        "eigenvalues": result.values,
        "explained_variance_ratio": result.variance_shares,
        "t_similarity": None if quality is None else float(quality.kept),
        "t_similarity_rows": getattr(getattr(quality, "kept", 0), "sampled", len(result.points)),
    }


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


def _write(
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

    force, spreadsheet = options.force, options.spreadsheet
    pictures = _pictures(options, data, result, summary["verdict"], console)
    # Not every rule of new points can be stored in a file.
    model: Any = None if options.save_model is None else _model(data, result, summary)
    write_table(
        str(options.output),
        columns,
        overwrite=force,
        metadata=summary,
        onto=options.file if options.file.lower().endswith(".h5ad") else None,
        rows=data.table.rows,
        spreadsheet=spreadsheet,
    )
    for path, content in pictures.items():
        write_picture(path, content, force=force)
    if options.save_model is not None:
        save_model(options.save_model, model, overwrite=force)
    if options.loadings is not None:
        loadings = loadings_columns(result, data)
        write_table(options.loadings, loadings, overwrite=force, spreadsheet=spreadsheet)


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
                color_name=options.reading.color or "",
                axis_names=result.axis_titles[:3],
                equal=method.lengths,
            )
            drawn[options.picture] = figure_bytes(figure, options.picture)
    return drawn


def _model(data: Prepared, result: FittedMap, summary: dict[str, Any]) -> Any:
    """The map as a model that places new rows."""
    import numpy as np

    from dualfold.saved import Model, both_sides, kept_rows, storable_map

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


def _last_lines(options: EmbedOptions, job: Job, summary: dict[str, Any]) -> list[str]:
    """What was written where, one verdict, and the next command worth trying."""
    from dualfold.data.notices import quoted_names

    output, model, columns = str(options.output), options.save_model, summary["columns"]
    d, width = len(summary["coordinates"]), len(columns)
    where = "standard output" if output == "-" else output
    coordinates = f"{d} coordinate{'s' if d > 1 else ''} in {where}"
    lines = [f"{summary['rows']:,} rows × {width:,} columns → {coordinates}"]
    if output != "-" and not output.endswith(METADATA_ENDINGS):
        lines[0] += f" (certificate and settings in {Path(output).name}.json)"
    lines.append(f"Columns used: {quoted_names(columns, MAX_NAMED_COLUMNS)}")
    files = {"Picture": options.picture, "Biplot": options.biplot, "Loadings": options.loadings}
    lines += written_lines(files)
    if options.html is not None:
        lines.append(f"Page in {options.html}; open it in a browser, it needs no network")
    if model is not None:
        lines.append(
            f"Model in {model}; `dualfold transform {quote(model)} NEW_FILE` places new rows; it "
            "holds rows of the table, to judge them by"
        )
    if (sampled := summary["t_similarity_rows"]) < summary["rows"]:
        lines.append(f"Neighbours were counted on {sampled:,} of the rows")
    lines += variance_line(summary["explained_variance_ratio"])
    return [*lines, summary["verdict"], try_next(_next_words(options, job, summary))]


def _next_words(options: EmbedOptions, job: Job, summary: dict[str, Any]) -> list[str]:
    """A picture first, then other kinds of map."""
    method, source, reading = job.method.name, options.file, options.reading
    differ = summary["scales_differ"]
    if options.picture is not None or options.html is not None:
        rivals = [name for name in ("pca", "isomap", "eigenmaps") if name != method]
        words = ["dualfold", "compare", source, "--methods", ",".join([method, *rivals])]
        words += reading_words(reading, standardize=differ)
        words += option_words(job.method, summary["settings"])
        return [*words, "--picture", f"{stem(source)}.compare.png"]
    words = embed_words(source, summary["settings"], reading, standardize=differ)
    name = "map" if source == "-" else stem(source)
    words += ["--picture", f"{name}.{method}.png"]
    output = str(options.output)
    if output != default_output(source, method):
        words += ["--output", output]
    return [*words, "--force"] if output != "-" else words
