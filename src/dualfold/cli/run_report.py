"""A map measured against its table: what `dualfold report` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer

from dualfold import __version__
from dualfold.cli.commands import reading_words, try_next
from dualfold.cli.console import Console, printable
from dualfold.cli.output_files import stem, write_picture, written_lines
from dualfold.cli.report import ReportOptions
from dualfold.cli.stored_map import StoredMap, is_known_method, read_map_and_table, stored_plan
from dualfold.cli.wording import command_texts
from dualfold.data.table_writer import write_table
from dualfold.exploration.plan import Plan

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.exploration.neighbor_cache import NeighborCache
    from dualfold.graph import Graph
    from dualfold.judging import Judgement
    from dualfold.quality import QualityReport


def run_report(options: ReportOptions) -> None:
    """Read table and map, measure and judge the map, write."""
    console = Console(quiet=options.quiet)
    stored, data = read_map_and_table(options, console)
    quality, judgement = _quality(options, stored, data, console)
    summary: dict[str, object] = quality.to_dict() | {
        "map_verdict": judgement.to_dict(),
        "dualfold": __version__,
        "source": options.file,
        "embedding": options.embedding,
        "notices": command_texts(data.notices),
        "output": options.output,
        "picture": options.picture,
    }
    _write(options, stored, data, quality, summary, console)
    if not options.as_json:
        typer.echo(printable(f"{judgement}\n\n{quality}"))
    console.finish(summary, _last_lines(options), as_json=options.as_json)


def _quality(
    options: ReportOptions, stored: StoredMap, data: Prepared, console: Console
) -> tuple[QualityReport, Judgement]:
    """The measures, by the graph of the map's method where it has one; what the map shows."""
    # Loaded once the table was read, so that a wrong file is refused without delay.
    from dualfold.exploration.map_judgement import judgement_of_points, mean_quality
    from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
    from dualfold.quality.estimate import sample_size

    known = is_known_method(stored.settings)
    plans = [stored_plan(stored.settings, stored.path)] if known else []
    k, sample = options.n_neighbors, sample_size(len(stored.points), options.sample)
    least = neighbors_to_measure(data, k, whole=sample is None)
    cache = NeighborCache(data, plans, console, least)
    points, of_distances = stored.points, bool(plans) and plans[0].of_distances
    with console.stage("measuring"), console.note_warnings([]):
        graph = _graph_of(plans[0], data, cache) if plans and sample is None else None
        labels = _classes(data)
        quality = mean_quality(
            points, data, cache, labels=labels, graph=graph, n_neighbors=k, sample=sample
        )
    judgement = judgement_of_points(
        points, quality.picture, data, cache, console, of_distances=of_distances
    )
    return quality, judgement


def _graph_of(plan: Plan, data: Prepared, cache: NeighborCache) -> Graph | None:
    """The graph whose geodesics a map is to keep; straight distances are not its own."""
    if not plan.method.along_graph:
        return None
    graph = plan.estimator(graph=cache.lists(plan.n_neighbors)).graph_of(data.X)
    return graph if graph.n_pieces == 1 else None


def _classes(data: Prepared) -> Array | None:
    """The colours, where they are classes: words, or a few whole numbers."""
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
    quality: QualityReport,
    summary: dict[str, object],
    console: Console,
) -> None:
    """The measures of each point, and the map coloured by one of them."""
    picture = None
    if options.picture is not None:
        from dualfold.view.figures import figure_bytes
        from dualfold.view.quality_figures import quality_map_figure

        with console.stage("drawing"), console.note_warnings([]):
            trust, title = quality.per_point["trustworthiness"], Path(options.embedding).name
            figure = quality_map_figure(stored.points, trust, title=title, verdict=quality.verdict)
            picture = figure_bytes(figure, options.picture)
    if options.output is not None:
        write_table(
            options.output,
            dict(data.row_names) | quality.per_point,
            overwrite=options.force,
            metadata=summary,
            spreadsheet=options.spreadsheet,
        )
    write_picture(options.picture, picture, force=options.force)


def _last_lines(options: ReportOptions) -> list[str]:
    """Lines on what was written where, and the next command."""
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
