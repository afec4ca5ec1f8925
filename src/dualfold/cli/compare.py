"""`dualfold compare`: several methods on one table, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import COMPARED_METHODS, embed_words, jobs_of, try_next
from dualfold.cli.console import Console, print_table
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.html_page import write_content
from dualfold.cli.output_files import refuse_bad_outputs, stem, write_picture, written_lines
from dualfold.cli.wording import command_text, command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.errors import DualfoldError, InvalidInput
from dualfold.exploration.input_table import (
    read_input,
    reading_for,
    refuse_labels,
    refuse_scaled_distances,
    refuse_weight,
)
from dualfold.exploration.job import SCORED_NEIGHBORS, FittedMap, Job, fit_map
from dualfold.exploration.map_page import maps_content, refuse_images
from dualfold.exploration.map_quality import verdict_of_points
from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.exploration.verdict_words import short_verdict

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.quality.map_verdict import MapVerdict

MAPS_PER_LINE = 4  # of the picture
COMPARED_MEASURES = ("t_similarity", "trustworthiness", "continuity", "distance_correlation")
NUMBER_HEADS = ("neighbours kept", "trustworthiness", "continuity", "distances", "seconds")
# What each map shows, in words.
WORD_HEADS = ("order", "neighbours", "groups")


@dataclass(frozen=True)
class CompareOptions:
    """What is typed after `dualfold compare`."""

    file: str
    methods: str = o.own_option(
        "--methods",
        "Methods with commas between them.",
        "A,B,…",
        section=o.METHOD_SECTION,
        default=COMPARED_METHODS,
        autocompletion=o.next_method,
    )
    n_components: str = "2"
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = o.own_output("All coordinates in one table.")
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20
    images: str | None = None
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False
    method_options: Mapping[str, Any] = field(default_factory=dict)


def compare(options: CompareOptions) -> None:
    """Several methods on one table, side by side.

    \b
    Examples:
      dualfold compare iris.csv --color species --picture iris.png
      dualfold compare roll.csv --methods pca,isomap,lle,mvu --html roll.html
      dualfold compare cells.parquet --methods pca,eigenmaps -o all.parquet
      dualfold compare roll.csv --methods pca,isomap,lle -k 12 --pieces separate

    For each method: what its map keeps, what is proved, how long it took.
    An option of a method (`dualfold methods NAME`) goes to all of the methods that have it.
    """
    jobs = jobs_of(_method_names(options.methods), options)
    if options.reading.mixed == "gower":
        jobs = tuple(job.by_manhattan() for job in jobs)
    with o.usage_errors():
        refuse_labels(options.reading.labels, *jobs)
        refuse_weight(options.reading.weight, *jobs)
    if options.output == "-":
        raise typer.BadParameter("the table of results goes to standard output; give -o a file")
    options = replace(options, reading=reading_for(options.reading, *jobs))
    console = Console(quiet=options.quiet)
    summary = _compare_jobs(options, jobs, console)
    if not options.as_json:
        rows, count = map(_table_row, summary["results"]), len(NUMBER_HEADS)
        heads = ("method", *NUMBER_HEADS, *WORD_HEADS, "certificate")
        print_table(heads, rows, pipe_width=150, numbers=count)
    lines = _last_lines(options, jobs, summary)
    console.finish(summary, lines, as_json=options.as_json)
    certified = ["error" not in row and row["certificate"]["holds"] for row in summary["results"]]
    if options.strict and not all(certified):
        raise typer.Exit(UNCERTIFIED_EXIT)


def _method_names(text: str) -> list[str]:
    """Names with commas between them, each once."""
    names = [o.method_name(word.strip(), "--methods") for word in text.split(",") if word.strip()]
    if not names:
        usual = "name one method or more, with commas: pca,isomap,lle"
        raise typer.BadParameter(usual, param_hint="--methods")
    return list(dict.fromkeys(names))


def _compare_jobs(
    options: CompareOptions, jobs: tuple[Job, ...], console: Console
) -> dict[str, Any]:
    """Run each method and measure its map; returns what `--json` prints."""
    images = o.picture_shape(options.images)
    refuse_bad_outputs(options, options.file)
    data = read_input(options.file, options.reading, console)
    refuse_images(data, images)
    if data.X.shape[0] <= 2 * SCORED_NEIGHBORS + 1:
        raise InvalidInput(
            f"comparing needs more than {2 * SCORED_NEIGHBORS + 1} rows, so that neighbours mean "
            f"something, but {options.file} has {data.X.shape[0]}"
        )
    refuse_scaled_distances(options.reading, *jobs)
    least = neighbors_to_measure(data, SCORED_NEIGHBORS, whole=True)
    cache = NeighborCache(data, jobs, console, least)
    rows, maps, verdicts = _results(jobs, data, cache, console)
    _write(options, data, maps, rows, console)
    if options.html is not None:
        notes = [*data.notices, *(notice for one in maps for notice in one.notices)]
        content = maps_content(
            data, maps, cache, console, notes=notes, images=images, verdicts=verdicts
        )
        write_content(options, content, console)
    return {
        "schema": "dualfold.compare/1",
        "dualfold": __version__,
        "source": options.file,
        "reading": options.reading.settings(),
        "rows": len(data.table.rows),
        "features": list(data.table.names),
        "results": rows,
        "scales_differ": data.scales_differ,
        "notices": command_texts(data.notices),
        "verdict": _verdict(rows),
        "output": options.output,
        "picture": options.picture,
        "html": options.html,
    }


def _results(
    jobs: tuple[Job, ...], data: Prepared, cache: NeighborCache, console: Console
) -> tuple[list[dict[str, Any]], list[FittedMap], list[MapVerdict]]:
    """A row for each method, and the maps of those that gave one, with what each shows."""
    rows, maps = list[dict[str, Any]](), list[FittedMap]()
    verdicts: list[MapVerdict] = []
    for place, job in enumerate(jobs):
        name = job.method.name
        console.prefix = f"{place + 1} of {len(jobs)}, "
        try:
            result = fit_map(job, data, console, cache)
        except (DualfoldError, MemoryError) as error:
            reason = "out of memory"
            if isinstance(error, DualfoldError):
                reason = command_text(error.message)
            rows.append({"method": name, "error": reason})
            console.note(f"{name}: {reason}")
            continue
        maps.append(result)
        row, shown = _row(data, cache, result, console)
        rows.append(row)
        verdicts.append(shown)
    console.prefix = ""
    if not maps:
        raise InvalidInput("none of the methods gave a map; see the notes above")
    _add_pictures(rows)
    return rows, maps, verdicts


def _row(
    data: Prepared, cache: NeighborCache, result: FittedMap, console: Console
) -> tuple[dict[str, Any], MapVerdict]:
    from dualfold.quality import report
    from dualfold.quality.estimate import sample_size
    from dualfold.quality.quality_report import mean_report

    points, certificate = result.points, result.certificate
    with console.stage(f"measuring {result.job.method.name}"):
        sample = sample_size(len(points))
        found = mean_report(
            [
                report(
                    space,
                    points,
                    n_neighbors=SCORED_NEIGHBORS,
                    sample=sample,
                    kruskal=False,
                    sample_weight=data.weights,
                )
                for space in cache.spaces
            ],
            data.filled_share,
            data.doubt,
        )
    shown = verdict_of_points(points, found.picture, cache, data, console)
    row = {
        "method": result.job.method.name,
        **{name: float(found.measures[name]) for name in COMPARED_MEASURES},
        "sampled": found.sampled,
        "picture_quality": found.picture,
        "map_verdict": shown.to_dict(),
        "certificate": certificate.to_dict(),
        "short_verdict": short_verdict(certificate),
        "verdict": result.verdict,
        "explained_variance_ratio": result.variance_shares,
        "settings": result.job.settings(),
        "seconds": result.seconds,
    }
    return row, shown


def _best_method(rows: list[dict[str, Any]], measure: str) -> str:
    """The method with the largest value of a measure."""
    known = [row for row in rows if "error" not in row]
    return str(max(known, key=lambda row: row[measure])["method"])


def _add_pictures(rows: list[dict[str, Any]]) -> None:
    """How good a picture each map is, compared with chance and with the other maps."""
    kept = {row["method"]: row["t_similarity"] for row in rows if "error" not in row}
    for row in rows:
        if "error" not in row:
            others = {name: value for name, value in kept.items() if name != row["method"]}
            picture = replace(row["picture_quality"], rivals=others)
            row["picture_quality"] = picture.to_dict() | {"sampled": row["sampled"]}


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Which map answers which of the three questions best."""
    from dualfold.quality.map_layout import SHOWN_GRADES
    from dualfold.quality.picture import percent

    known = [row for row in rows if "error" not in row]
    near = max(known, key=lambda row: row["t_similarity"])
    best = near["picture_quality"]
    numbers = f"({percent(best['kept'])}; a random map: {percent(best['chance'])})"
    if best["grade"] in SHOWN_GRADES:
        parts = [f"Who is near whom: {near['method']} keeps most neighbours {numbers}"]
    else:
        text = f"None of these maps keeps many neighbours; {near['method']} keeps most {numbers}"
        parts = [text]
    order = max(known, key=lambda row: _order_strength(row["map_verdict"]["layout"]))
    word = order["map_verdict"]["layout"]["grade"]
    shows = f"{order['method']} shows most ({word})"
    parts.append(f"Overall order: {shows if word in SHOWN_GRADES else 'none of them shows it'}")
    groups = max(known, key=lambda row: row["map_verdict"]["groups"]["found"])
    found = groups["map_verdict"]["groups"]
    if found["found"]:
        counts = f"{found['found']} of {found['visible']} visible ones are in the data"
        parts.append(f"Groups: {groups['method']} shows most ({counts})")
    return ". ".join(parts) + "."


def _order_strength(layout: dict[str, Any]) -> tuple[int, float]:
    from dualfold.quality.map_layout import LAYOUT_WORDS

    return -LAYOUT_WORDS.index(layout["grade"]), layout["beyond_chance"]


def _write(
    options: CompareOptions,
    data: Prepared,
    maps: list[FittedMap],
    rows: list[dict[str, Any]],
    console: Console,
) -> None:
    from dualfold.data.table_writer import write_table

    if options.picture is not None:
        with console.stage("drawing"), console.note_warnings([]):
            picture = _picture(options, data, maps, rows)
        write_picture(options.picture, picture, force=options.force)
    if options.output is not None:
        columns: dict[str, Any] = dict(data.row_names)
        if options.reading.color is not None:
            columns[options.reading.color] = data.label(options.reading.color)
        for result in maps:
            for axis, name in enumerate(result.axis_names):
                columns[name] = result.points[:, axis]
        write_table(
            options.output,
            columns,
            overwrite=options.force,
            metadata={"schema": "dualfold.compare/1", "dualfold": __version__, "results": rows},
            spreadsheet=options.spreadsheet,
        )


def _picture(
    options: CompareOptions, data: Prepared, maps: list[FittedMap], rows: list[dict[str, Any]]
) -> bytes:
    from dualfold.view.figures import figure_bytes, gallery

    words = [_panel_words(row) for row in rows if "error" not in row]
    panels = [one.panel(data.colors, shown) for one, shown in zip(maps, words, strict=True)]
    starts = range(0, len(panels), MAPS_PER_LINE)
    lines = [panels[start : start + MAPS_PER_LINE] for start in starts]
    names = [data.color_name or ""] * len(lines)
    return figure_bytes(gallery(lines, color_names=names), str(options.picture))


def _panel_words(row: dict[str, Any]) -> str:
    return str(row["map_verdict"]["short"].replace("; ", "\n"))


def _table_row(row: dict[str, Any]) -> list[str]:
    """The cells of a method in the table on standard output."""
    if "error" in row:
        empty = [""] * len(NUMBER_HEADS + WORD_HEADS)
        return [row["method"], *empty, f"no map: {row['error']}"]
    cells = [f"{row[name]:.3f}" for name in COMPARED_MEASURES]
    shown = row["map_verdict"]
    groups = shown["groups"]
    counts = f" ({groups['found']} of {groups['visible']})" if groups["tested"] else ""
    words = shown["layout"]["grade"], shown["neighborhoods"]["grade"], groups["grade"] + counts
    return [row["method"], *cells, f"{row['seconds']:.2f}", *words, row["short_verdict"]]


def _last_lines(
    options: CompareOptions, jobs: tuple[Job, ...], summary: dict[str, Any]
) -> list[str]:
    """What the numbers are, what was written where, and the next command."""
    from dualfold.quality.picture import AS_PREPARED

    first = next(row for row in summary["results"] if "error" not in row)
    space, sampled, n = first["picture_quality"]["space"], first["sampled"], summary["rows"]
    by = "" if space == AS_PREPARED else f" {space}"
    on = "" if sampled == n else f", measured on {sampled:,} of {n:,} points"
    lines = [
        "Except for seconds, 1 is the best number in each column; neighbours are the "
        f"{SCORED_NEIGHBORS} nearest{by}{on}."
    ]
    lines += written_lines(
        {"Coordinates": options.output, "Picture": options.picture, "Page": options.html}
    )
    best = _best_method(summary["results"], "t_similarity")
    settings = next(job.settings() for job in jobs if job.method.name == best)
    differ = summary["scales_differ"]
    words = embed_words(options.file, settings, options.reading, standardize=differ)
    words += ["--picture", f"{stem(options.file)}.{best}.png"]
    return [*lines, summary["verdict"], try_next(words)]
