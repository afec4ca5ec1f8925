"""`dualfold report`: how good a picture of the data a map is, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import reading_words, try_next
from dualfold.cli.console import Console, printable
from dualfold.cli.output_files import stem, write_picture, written_lines
from dualfold.cli.stored_map import StoredMap, is_known_method, read_map_and_table, stored_plan
from dualfold.cli.usage import whole_number
from dualfold.cli.wording import command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.exploration.plan import Plan

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.judging import Judgement
    from dualfold.quality import QualityReport


@dataclass(frozen=True)
class ReportOptions:
    """What is typed after `dualfold report`."""

    file: str
    embedding: str
    n_neighbors: int = o.own_option(
        "--n-neighbors -k",
        "Neighbours that are compared.",
        "N",
        default=10,
        section=o.MEASURES_SECTION,
        parser=whole_number(1),
    )
    sample: int | None = o.own_option(
        "--sample",
        "Ask only that many points; every number then has bounds. Default: all up to 5,000 rows, "
        "else 1,000.",
        "N",
        section=o.MEASURES_SECTION,
        parser=whole_number(10),
    )
    reading: Reading = field(default=DEFAULT_READING, metadata=o.REPORT_READING)
    output: str | None = o.own_output("Measures of each point as a table.")
    picture: str | None = None
    force: bool = False
    spreadsheet: bool = False
    as_json: bool = False
    quiet: bool = False


def report(options: ReportOptions) -> None:
    """How good a picture of the data a map is, whoever made it.

    \b
    Examples:
      dualfold report iris.csv iris.pca.csv
      dualfold report iris.csv iris.pca.csv --color species --picture quality.png
      dualfold report cells.parquet umap.csv -o reliability.csv --json

    A map of `dualfold embed` brings its settings along, so FILE is read as it was then.
    The picture is the map coloured by the trustworthiness of each point.
    """
    if options.output == "-":
        raise typer.BadParameter("the report goes to standard output; give -o a file")
    console = Console(quiet=options.quiet)
    stored, data = read_map_and_table(options, console)
    found, shown = _quality(options, stored, data, console)
    summary: dict[str, Any] = found.to_dict() | {
        "map_verdict": shown.to_dict(),
        "dualfold": __version__,
        "source": options.file,
        "embedding": options.embedding,
        "notices": command_texts(data.notices),
        "output": options.output,
        "picture": options.picture,
    }
    _write(options, stored, data, found, summary, console)
    if not options.as_json:
        typer.echo(printable(f"{shown}\n\n{found}"))
    console.finish(summary, _last_lines(options), as_json=options.as_json)


def _quality(
    options: ReportOptions, stored: StoredMap, data: Prepared, console: Console
) -> tuple[QualityReport, Judgement]:
    """The measures, by the graph of the map's method where it has one; what the map shows."""
    from dualfold.exploration.map_judgement import table_evidence
    from dualfold.judging.judgement import judged_map
    from dualfold.quality import report
    from dualfold.quality.estimate import sample_size
    from dualfold.quality.quality_report import mean_report

    known = is_known_method(stored.settings)
    plans = [stored_plan(stored.settings, stored.path)] if known else []
    sample = sample_size(len(stored.points), options.sample)
    least = neighbors_to_measure(data, options.n_neighbors, whole=sample is None)
    cache = NeighborCache(data, plans, console, least)
    with console.stage("measuring"), console.note_warnings([]):
        graph = _graph_of(plans[0], data, cache) if plans and sample is None else None
        found = [
            report(
                space,
                stored.points,
                labels=_classes(data),
                graph=graph,
                n_neighbors=options.n_neighbors,
                sample=sample,
                sample_weight=data.weights,
            )
            for space in cache.spaces
        ]
    whole = mean_report(found, data.filled_share, data.doubt)
    of_distances = bool(plans) and plans[0].of_distances
    evidence = table_evidence(data, cache, of_distances=of_distances)
    near, stage = whole.picture, console.stage
    return whole, judged_map(evidence, stored.points, near=near, named=False, stage=stage)


def _graph_of(plan: Plan, data: Prepared, cache: NeighborCache) -> Any:
    """The graph whose geodesics a map is to keep; straight distances are not its own."""
    if not plan.method.along_graph:
        return None
    graph = plan.estimator(graph=cache.lists(plan.n_neighbors)).graph_of(data.X)
    return graph if graph.n_pieces == 1 else None


def _classes(data: Prepared) -> Any:
    """The colours, where they are classes: words, or a few whole numbers."""
    import numpy as np

    values = data.label(data.reading.color)
    if values is None or data.colors is not values:  # dates are no classes
        return None
    words = np.array([str(value) for value in values])
    count = len(np.unique(words))
    few = values.dtype.kind in "OUTb" or (values.dtype.kind in "iu" and count <= 20)
    return words if few and 1 < count <= len(words) // 2 else None


def _write(
    options: ReportOptions,
    stored: StoredMap,
    data: Prepared,
    found: Any,
    summary: dict[str, Any],
    console: Console,
) -> None:
    """The measures of each point, and the map coloured by one of them."""
    from dualfold.data.table_writer import write_table

    picture = None
    if options.picture is not None:
        from dualfold.view.figures import figure_bytes
        from dualfold.view.quality_figures import quality_map_figure

        with console.stage("drawing"), console.note_warnings([]):
            trust, title = found.per_point["trustworthiness"], Path(options.embedding).name
            figure = quality_map_figure(stored.points, trust, title=title, verdict=found.verdict)
            picture = figure_bytes(figure, options.picture)
    if options.output is not None:
        write_table(
            options.output,
            dict(data.row_names) | found.per_point,
            overwrite=options.force,
            metadata=summary,
            spreadsheet=options.spreadsheet,
        )
    write_picture(options.picture, picture, force=options.force)


def _last_lines(options: ReportOptions) -> list[str]:
    """What was written where, and the next command."""
    lines = written_lines(
        {
            "Measures of each point": options.output,
            "Picture, coloured by trustworthiness,": options.picture,
        }
    )
    source, embedding = options.file, options.embedding
    if options.picture is not None:
        return [*lines, try_next(["dualfold", "certify", source, embedding])]
    words = ["dualfold", "report", source, embedding, *reading_words(options.reading)]
    return [*lines, try_next([*words, "--picture", f"{stem(embedding)}.quality.png"])]
