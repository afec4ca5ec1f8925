"""`dualfold embed`: from a table to a certified map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import embed_words, jobs_of, reading_words, refuse_labels, try_next
from dualfold.cli.console import Console
from dualfold.cli.embed_tiles import embed_tiles, is_in_tiles
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.html_page import refuse_images, write_maps
from dualfold.cli.map_files import output_columns, write_files
from dualfold.cli.method_options import flag_of, option_words
from dualfold.cli.output_files import default_output, refuse_bad_outputs, stem, written_lines
from dualfold.cli.wording import command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.descriptions import DESCRIPTIONS
from dualfold.exploration.axis_remarks import close_axes_remarks, far_rows_remarks, variance_line
from dualfold.exploration.input_table import (
    read_input,
    reading_for,
    refuse_scaled_distances,
)
from dualfold.exploration.job import SCORED_NEIGHBORS, FittedMap, Job, fit_map, picture_quality
from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.exploration.verdict_words import both_parts

if TYPE_CHECKING:
    from dualfold.data import Prepared

# Columns that are named at the end; of more, the first ones.
MAX_NAMED_COLUMNS = 20
# Files that hold the certificate and the settings themselves.
METADATA_ENDINGS = (".parquet", ".h5ad")


@dataclass(frozen=True)
class EmbedOptions:
    """What is typed after `dualfold embed`."""

    file: str
    method: str | None = o.own_option(
        "--method -m",
        "See `dualfold methods`. Default: pca, or famd where there are categories; auto tries "
        "some, as `dualfold recommend` does.",
        "|".join(DESCRIPTIONS),
        callback=o.method_or_auto,
        autocompletion=o.completion(*DESCRIPTIONS, "auto"),
    )
    n_components: str = "2"
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = None
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20.0
    images: str | None = None
    save_model: str | None = o.own_option(
        "--save-model",
        "Keep the map as a file that `dualfold transform` places new rows with.",
        "OUT.dualfold",
    )
    loadings: str | None = o.own_option(
        "--loadings",
        "A table of what each column has to do with each axis: loadings of pca, and correlations.",
        "OUT.csv",
    )
    biplot: str | None = o.own_option(
        "--biplot", "Draw the map with the columns as arrows.", "OUT.png"
    )
    memory_limit: str | None = o.own_option(
        "--memory-limit",
        "Read the table in tiles and keep under SIZE, as 2GB: Parquet (folders too), Zarr, .npy.",
        "SIZE",
    )
    scheduler: str | None = o.own_option(
        "--scheduler",
        "Read it in tiles on the Dask cluster at ADDRESS, as tcp://host:8786.",
        "ADDRESS",
    )
    landmark_rows: int | None = o.own_option(
        "--landmark-rows",
        "Of tables in tiles: rows that methods with a graph are fitted on; they place the others "
        "(10000).",
        "N",
        min=3,
    )
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False
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
    o.picture_shape(options.images)  # refused before any work
    console = Console(quiet=options.quiet)
    if is_in_tiles(options):
        summary, lines = embed_tiles(options, console)
    else:
        if options.landmark_rows is not None:
            raise typer.BadParameter(
                "--landmark-rows is for tables in tiles; give --memory-limit, too"
            )
        plan = _plan(options, console)
        summary = _make_map(plan, console)
        lines = _last_lines(plan, summary)
    console.finish(summary, lines, as_json=options.as_json)
    certified = summary["certificate"]["holds"]
    if options.quiet and not certified:  # an answer that may be wrong is never kept quiet
        Console().note(summary["verdict"])
    if options.strict and not certified:
        raise typer.Exit(UNCERTIFIED_EXIT)


@dataclass(frozen=True, eq=False)
class Plan:
    """What `embed` does: the options with all that was left to the table, and the job.

    data : the table, where it was read to decide; advice : the recommendation of --method auto
    """

    options: EmbedOptions
    job: Job
    data: Prepared | None = None
    advice: Any = None


def _plan(options: EmbedOptions, console: Console) -> Plan:
    """Choose the method, the output and the reading where no option says which."""
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
    return Plan(options, job, data, advice)


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


def _make_map(plan: Plan, console: Console) -> dict[str, Any]:
    """Read, embed, certify, write; returns what `--json` prints."""
    options, job, data = plan.options, plan.job, plan.data
    refuse_bad_outputs(options, options.file)
    begin = perf_counter()
    data = read_input(options.file, options.reading, console) if data is None else data
    refuse_images(data, o.picture_shape(options.images))
    read_seconds = perf_counter() - begin
    refuse_scaled_distances(options.reading, job)
    least = neighbors_to_measure(data, SCORED_NEIGHBORS, whole=options.html is not None)
    cache = NeighborCache(data, [job], console, least)
    result = fit_map(job, data, console, cache)
    quality = picture_quality(result, cache, data, console)
    remarks = [*close_axes_remarks(result, data.X), *far_rows_remarks(result, data)]
    for remark in remarks:
        console.note(remark)
    columns = output_columns(data, result)
    summary = _summary(options, data, result, columns, quality, remarks)
    write_files(options, data, result, columns, summary, console)
    if options.html is not None:
        write_maps(options, data, [result], cache, console)
    total = perf_counter() - begin
    return summary | {
        **{kind: getattr(options, kind) for kind in ("output", "picture", "biplot", "loadings")},
        "html": options.html,
        "model": options.save_model,
        "seconds": {"read": read_seconds, "embed": result.seconds, "total": total},
        **({} if plan.advice is None else {"recommendation": plan.advice.to_dict()}),
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
        "reading": data.reading.settings(),  # with what was found out about its words
        "rows": len(data.table.rows),
        "columns": data.sources,
        "features": list(data.table.names),
        "encodings": data.stored_encodings,
        "coordinates": list(columns)[-result.points.shape[1] :],
        "notices": command_texts([*data.notices, *result.notices, *remarks]),
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


def _last_lines(plan: Plan, summary: dict[str, Any]) -> list[str]:
    """What was written where, one verdict, and the next command worth trying."""
    from dualfold.data.notices import quoted_names

    options = plan.options
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
    return [*lines, summary["verdict"], try_next(_next_words(plan, summary))]


def _next_words(plan: Plan, summary: dict[str, Any]) -> list[str]:
    """A picture first, then other kinds of map."""
    options, job = plan.options, plan.job
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
