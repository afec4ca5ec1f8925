"""From a table of numbers to a certified map in one command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.axis_remarks import (
    close_axes_remark,
    drawn_biplot,
    far_rows_remarks,
    loadings_columns,
)
from dualfold.cli.console import Console
from dualfold.cli.html_page import refuse_images, write_html
from dualfold.cli.input_table import notices_of, read
from dualfold.cli.job import SCORED_NEIGHBORS, FittedMap, Job, fit_map, picture_of
from dualfold.cli.neighbor_cache import Surroundings, measured_neighbors
from dualfold.cli.output_files import check_places
from dualfold.cli.verdict_words import both_parts
from dualfold.cli.wording import shown
from dualfold.errors import Argument, InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading


@dataclass(frozen=True)
class Request:
    """Everything that `dualfold embed` was asked for."""

    source: str
    reading: Reading
    job: Job
    output: str
    picture: str | None = None
    html: str | None = None
    images: tuple[int, int] | None = None
    model: str | None = None
    force: bool = False
    loadings: str | None = None
    biplot: str | None = None
    html_mb: float = 20.0
    spreadsheet: bool = False

    def settings(self, job: Job) -> dict[str, Any]:
        """What must be known to get the same numbers of the `job` again, JSON-ready."""
        reading = self.reading
        more = {"standardize": reading.standardize, "missing": reading.missing}
        return job.settings() | more


def embed_table(request: Request, console: Console, data: Prepared | None = None) -> dict[str, Any]:
    """Read, embed, certify, write; returns what `--json` prints.

    data : the table, where it was read before
    """
    check_places(
        request.source, request.output, request.force,
        pictures=(request.picture, request.biplot), html=request.html, models=(request.model,),
        tables=(request.loadings,),
    )  # fmt: skip
    begin = perf_counter()
    data = read(request.source, request.reading, console) if data is None else data
    refuse_images(data, request.images)
    began = perf_counter()
    refuse_scaled_distances(request.reading, request.job)
    least = measured_neighbors(data, SCORED_NEIGHBORS, whole=request.html is not None)
    around = Surroundings(data, [request.job], console, least)
    result = fit_map(request.job, data, console, around)
    picture = picture_of(result, around, data, console)
    far = map(shown, far_rows_remarks(result, data))
    remarks = [*close_axes_remark(result, data.X), *far]
    for remark in remarks:
        console.note(remark)
    columns = output_columns(data, result)
    summary: dict[str, Any] = {
        "schema": "dualfold.embedding/1",
        "dualfold": __version__,
        "source": request.source,
        "settings": request.settings(result.job),
        "reading": request.reading.settings(),
        "rows": len(data.table.rows),
        "columns": data.sources,
        "features": list(data.table.names),
        "encodings": data.stored_encodings,
        "coordinates": list(columns)[-result.points.shape[1] :],
        "notices": [*notices_of(data), *result.notices, *remarks],
        "scales_differ": data.scales_differ,
        "verdict": both_parts(result.verdict, picture),
        "solved": result.verdict,
        "picture_quality": None if picture is None else picture.to_dict(),
        "certificate": result.certificate.to_dict(),
        "eigenvalues": result.values,
        "explained_variance_ratio": result.explained,
        "t_similarity": None if picture is None else float(picture.kept),
        "t_similarity_rows": getattr(getattr(picture, "kept", 0), "sampled", len(result.points)),
    }
    drawn = _pictures(request, data, result, summary["verdict"], console)
    # Before anything is written: not every rule of new points can be kept in a file.
    kept_model = None if request.model is None else model(data, result, summary)
    _write(request, data, columns, summary, drawn, kept_model)
    if request.loadings is not None:
        from dualfold.data import write_table

        write_table(
            request.loadings, loadings_columns(result, data), overwrite=request.force,
            spreadsheet=request.spreadsheet,
        )  # fmt: skip
    if request.html is not None:
        write_html(
            request.html, data, [result], around, console,
            images=request.images, force=request.force, most_mb=request.html_mb,
        )  # fmt: skip
    seconds = {"read": began - begin, "embed": result.seconds, "total": perf_counter() - begin}
    kinds = ("output", "picture", "biplot", "loadings", "html", "model")
    return summary | {kind: getattr(request, kind) for kind in kinds} | {"seconds": seconds}


def refuse_scaled_distances(reading: Reading, *jobs: Job) -> None:
    """Distances are no columns: scaling them column by column makes other ones."""
    given = [job for job in jobs if job.options.get("metric") == "precomputed"]
    if given and reading.standardize:
        raise InvalidInput(
            "the table holds distances (",
            Argument("metric", "precomputed"),
            "), which cannot be standardised; leave out ",
            Argument("standardize"),
        )
    for job in jobs if given else ():
        if "metric" not in job.method.options:
            raise InvalidInput(
                f"{job.method.name} needs columns of numbers and the table holds distances (",
                Argument("metric", "precomputed"),
                "); take a method that has the option",
            )


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


def _pictures(
    request: Request, data: Prepared, result: FittedMap, verdict: str, console: Console
) -> dict[str, bytes]:
    """The files of --picture and --biplot, drawn and not yet written."""
    if request.picture is None and request.biplot is None:
        return {}
    from dualfold.view.figures import figure_bytes, map_figure

    name, d = request.job.method.name, result.points.shape[1]
    source = request.source
    title = f"{'standard input' if source == '-' else Path(source).name}, {name}"
    drawn = {}
    # matplotlib warns of letters its font lacks and of tight layouts; neither is for a user
    with console.doing("drawing"), console.noting_warnings([]):
        if request.biplot is not None:
            drawn[request.biplot] = drawn_biplot(
                request.biplot, result, data, title=title, verdict=verdict
            )
        if request.picture is not None:
            figure = map_figure(
                result.points,
                data.colors,
                title=title + (f" (first two of {d} coordinates)" if d > 3 else ""),
                verdict=verdict,
                color_name=request.reading.color or "",
                axis_names=result.axis_titles[:3],
                equal=request.job.method.lengths,
            )
            drawn[request.picture] = figure_bytes(figure, request.picture)
    return drawn


def _write(
    request: Request,
    data: Prepared,
    columns: dict[str, Any],
    summary: dict[str, Any],
    pictures: dict[str, bytes],
    kept_model: Any,
) -> None:
    from dualfold.data import write_table
    from dualfold.data.atomic_files import atomic_file

    source = request.source
    onto = source if source.lower().endswith(".h5ad") else None
    write_table(
        request.output, columns, overwrite=request.force, metadata=summary,
        onto=onto, rows=data.table.rows, spreadsheet=request.spreadsheet,
    )  # fmt: skip
    for path, content in pictures.items():
        with atomic_file(Path(path), overwrite=request.force) as file:
            file.write(content)
    if request.model is not None:
        from dualfold.saved import save_model

        save_model(request.model, kept_model, overwrite=request.force)


def model(data: Prepared, result: FittedMap, summary: dict[str, Any]) -> Any:
    """The map as a model that places new rows."""
    import numpy as np

    from dualfold.saved import Model, both_sides, kept_rows, storable_map

    X = data.table.X
    rule = storable_map(result.estimator)
    # Maps by a graph hold their rows already.
    some = kept_rows(data.X) if hasattr(rule, "encode") else None
    standard = data.standard
    keys = ("dualfold", "settings", "reading", "encodings")
    return Model(
        map=rule,
        method=result.job.method.name,
        columns=data.table.names,
        means=np.asarray(X.mean(axis=0), dtype=float).ravel(),
        shift=None if standard is None else standard.mean,
        scale=None if standard is None else standard.deviation,
        settings={key: summary[key] for key in keys},
        certificate=summary["certificate"],
        both_sides=both_sides(result.estimator),
        reference=None if some is None else data.X[some].astype(np.float32),
    )
