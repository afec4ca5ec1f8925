"""Several methods on one table, side by side."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.embed import refuse_scaled_distances
from dualfold.cli.html_page import refuse_images, write_html
from dualfold.cli.input_table import notices_of, read
from dualfold.cli.job import SCORED_NEIGHBORS, FittedMap, Job, fit_map
from dualfold.cli.neighbor_cache import Surroundings, measured_neighbors
from dualfold.cli.output_files import check_places
from dualfold.cli.verdict_words import short_verdict
from dualfold.cli.wording import shown
from dualfold.errors import DualfoldError, InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading

ACROSS = 4  # maps in a row of the picture
MEASURES = ("t_similarity", "trustworthiness", "continuity", "distance_correlation")


@dataclass(frozen=True)
class CompareRequest:
    """Everything that `dualfold compare` was asked for."""

    source: str
    reading: Reading
    jobs: tuple[Job, ...]
    output: str | None
    picture: str | None
    html: str | None
    images: tuple[int, int] | None
    force: bool
    html_mb: float = 20.0
    spreadsheet: bool = False


def compare_methods(request: CompareRequest, console: Console) -> dict[str, Any]:
    """Run each method and measure its map; returns what `--json` prints."""
    check_places(
        request.source, request.output, request.force,
        pictures=(request.picture,), html=request.html,
    )  # fmt: skip
    data = read(request.source, request.reading, console)
    refuse_images(data, request.images)
    if data.X.shape[0] <= 2 * SCORED_NEIGHBORS + 1:
        raise InvalidInput(
            f"comparing needs more than {2 * SCORED_NEIGHBORS + 1} rows, so that neighbours mean "
            f"something, but {request.source} has {data.X.shape[0]}"
        )
    refuse_scaled_distances(request.reading, *request.jobs)
    rows, maps = list[dict[str, Any]](), list[FittedMap]()
    least = measured_neighbors(data, SCORED_NEIGHBORS, whole=True)
    around = Surroundings(data, request.jobs, console, least)
    for place, job in enumerate(request.jobs):
        name = job.method.name
        console.prefix = f"{place + 1} of {len(request.jobs)}, "
        try:
            result = fit_map(job, data, console, around)
        except (DualfoldError, MemoryError) as error:
            reason = shown(error.message) if isinstance(error, DualfoldError) else "out of memory"
            rows.append({"method": name, "error": reason})
            console.note(f"{name}: {reason}")
            continue
        maps.append(result)
        rows.append(_row(around, result, console))
    console.prefix = ""
    if not maps:
        raise InvalidInput("none of the methods gave a map; see the notes above")
    _add_pictures(rows, len(data.table.rows), around.space.about)
    _write(request, data, maps, rows, around, console)
    return {
        "schema": "dualfold.compare/1",
        "dualfold": __version__,
        "source": request.source,
        "reading": request.reading.settings(),
        "rows": len(data.table.rows),
        "features": list(data.table.names),
        "results": rows,
        "scales_differ": data.scales_differ,
        "notices": notices_of(data),
        "verdict": _verdict(rows),
        "output": request.output,
        "picture": request.picture,
        "html": request.html,
    }


def _row(around: Surroundings, result: FittedMap, console: Console) -> dict[str, Any]:
    from dualfold.quality import report
    from dualfold.quality.estimate import sample_size

    points, certificate = result.points, result.certificate
    with console.doing(f"measuring {result.job.method.name}"):
        drawn = sample_size(len(points))
        found = report(around.space, points, n_neighbors=SCORED_NEIGHBORS, sample=drawn)
    return {
        "method": result.job.method.name,
        **{name: float(found.measures[name]) for name in MEASURES},
        "sampled": found.sampled,
        "certificate": certificate.to_dict(),
        "short_verdict": short_verdict(certificate),
        "verdict": result.verdict,
        "explained_variance_ratio": result.explained,
        "settings": result.job.settings(),
        "seconds": result.seconds,
    }


def best_of(rows: list[dict[str, Any]], measure: str) -> str:
    """The method with the largest value of a measure."""
    known = [row for row in rows if "error" not in row]
    return str(max(known, key=lambda row: row[measure])["method"])


def _add_pictures(rows: list[dict[str, Any]], n: int, space: str) -> None:
    """How good a picture each map is, beside chance and beside the others."""
    from dualfold.quality import Picture

    kept = {row["method"]: row["t_similarity"] for row in rows if "error" not in row}
    for row in rows:
        if "error" not in row:
            others = {name: value for name, value in kept.items() if name != row["method"]}
            picture = Picture(row["t_similarity"], n, SCORED_NEIGHBORS, others, space)
            row["picture_quality"] = picture.to_dict() | {"sampled": row["sampled"]}


def _verdict(rows: list[dict[str, Any]]) -> str:
    from dualfold.quality.picture import MIN_FAIR_SHARE, percent

    near, far = best_of(rows, "t_similarity"), best_of(rows, "distance_correlation")
    best = next(row["picture_quality"] for row in rows if row["method"] == near)
    numbers = f"({percent(best['kept'])}; a random map: {percent(best['chance'])})"
    if best["beyond_chance"] < MIN_FAIR_SHARE:
        return f"None of these maps keeps many neighbours; {near} keeps most {numbers}."
    if near == far:
        return f"{near} keeps both neighbours {numbers} and distances best."
    return f"{near} keeps neighbours best {numbers}, {far} distances."


def _write(
    request: CompareRequest,
    data: Prepared,
    maps: list[FittedMap],
    rows: list[dict[str, Any]],
    around: Surroundings,
    console: Console,
) -> None:
    from dualfold.data import write_table
    from dualfold.data.atomic_files import atomic_file

    if request.picture is not None:
        with console.doing("drawing"), console.noting_warnings([]):
            drawn = _picture(request, data, maps, rows)
        with atomic_file(Path(request.picture), overwrite=request.force) as file:
            file.write(drawn)
    if request.output is not None:
        columns: dict[str, Any] = {}
        for name in (request.reading.identifier, request.reading.color):
            if name is not None:
                columns[name] = data.label(name)
        for result in maps:
            for axis, name in enumerate(result.axis_names):
                columns[name] = result.points[:, axis]
        metadata = {"schema": "dualfold.compare/1", "dualfold": __version__, "results": rows}
        write_table(
            request.output, columns, overwrite=request.force, metadata=metadata,
            spreadsheet=request.spreadsheet,
        )  # fmt: skip
    if request.html is not None:
        write_html(
            request.html, data, maps, around, console,
            images=request.images, force=request.force, most_mb=request.html_mb,
        )  # fmt: skip


def _picture(
    request: CompareRequest, data: Prepared, maps: list[FittedMap], rows: list[dict[str, Any]]
) -> bytes:
    from dualfold.view.figures import Panel, figure_bytes, gallery

    kept = {row["method"]: row for row in rows}
    panels = [
        Panel(
            result.points[:, :3],
            data.colors,
            result.job.method.name,
            f"{kept[result.job.method.name]['short_verdict']}\n"
            f"{100 * kept[result.job.method.name]['t_similarity']:.0f} % of neighbours kept",
            result.job.method.lengths,
        )
        for result in maps
    ]
    lines = [panels[start : start + ACROSS] for start in range(0, len(panels), ACROSS)]
    names = [request.reading.color or ""] * len(lines)
    assert request.picture is not None
    return figure_bytes(gallery(lines, color_names=names), request.picture)


def print_table(rows: list[dict[str, Any]]) -> None:
    """The comparison as a table on standard output."""
    from rich import box
    from rich.console import Console as Terminal
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    heads = ("neighbours kept", "trustworthiness", "continuity", "distances", "seconds")
    table.add_column("method", style="bold", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    table.add_column("certificate")
    for row in rows:
        if "error" in row:
            table.add_row(row["method"], *[""] * len(heads), f"no map: {row['error']}")
            continue
        cells = [f"{row[name]:.3f}" for name in MEASURES]
        table.add_row(row["method"], *cells, f"{row['seconds']:.2f}", row["short_verdict"])
    Terminal(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)
