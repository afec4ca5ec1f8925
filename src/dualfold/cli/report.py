"""How good a picture of the data a map is, whoever made it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.input_table import notices_of
from dualfold.cli.job import Job
from dualfold.cli.neighbor_cache import Surroundings, measured_neighbors
from dualfold.cli.output_files import check_places
from dualfold.cli.stored_map import StoredMap, known_method, read_again, stored_job, stored_map
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading


@dataclass(frozen=True)
class ReportRequest:
    """Everything that `dualfold report` was asked for."""

    source: str
    reading: Reading
    embedding: str
    n_neighbors: int
    sample: int | None
    output: str | None
    picture: str | None
    force: bool
    spreadsheet: bool = False


def report_map(request: ReportRequest, console: Console) -> tuple[dict[str, Any], str]:
    """Measure the map; returns what `--json` prints, and the report in words."""
    if os.path.realpath(request.source) == os.path.realpath(request.embedding):
        raise InvalidInput(
            f"{request.embedding} is the table itself; give a map of it, as `dualfold embed` makes"
        )
    check_places(
        request.source, request.output, request.force,
        pictures=(request.picture,), inputs=(request.embedding,),
    )  # fmt: skip
    with console.doing(f"reading {request.embedding}"):
        stored = stored_map(request.embedding)
    data = read_again(request.source, request.reading, stored, console)
    found = _measured(request, stored, data, console)
    summary: dict[str, Any] = found.to_dict() | {
        "dualfold": __version__,
        "source": request.source,
        "embedding": request.embedding,
        "notices": notices_of(data),
        "output": request.output,
        "picture": request.picture,
    }
    picture = None
    if request.picture is not None:
        from dualfold.view.figures import figure_bytes
        from dualfold.view.quality_figures import quality_map_figure

        with console.doing("drawing"), console.noting_warnings([]):
            trust = found.per_point["trustworthiness"]
            figure = quality_map_figure(
                stored.points, trust, title=Path(request.embedding).name, verdict=found.verdict
            )
            picture = figure_bytes(figure, request.picture)
    _write(request, data, found, summary, picture)
    return summary, str(found)


def _measured(request: ReportRequest, stored: StoredMap, data: Prepared, console: Console) -> Any:
    from dualfold.quality import report
    from dualfold.quality.estimate import sample_size

    settings = stored.metadata.get("settings")
    known = known_method(settings)
    jobs = [stored_job(settings, stored.path)] if known else []
    sample = sample_size(len(stored.points), request.sample)
    least = measured_neighbors(data, request.n_neighbors, whole=sample is None)
    around = Surroundings(data, jobs, console, least)
    with console.doing("measuring"), console.noting_warnings([]):
        graph = _graph_of(jobs[0], data, around) if jobs and sample is None else None
        return report(
            around.space,
            stored.points,
            labels=_classes(data),
            graph=graph,
            n_neighbors=request.n_neighbors,
            sample=sample,
        )


def _graph_of(job: Job, data: Prepared, around: Surroundings) -> Any:
    """The graph whose geodesics a map is to keep; straight distances are not its own."""
    if not job.method.along_graph:
        return None
    graph = job.estimator(graph=around.known(job.n_neighbors)).graph_of(data.X)
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
    request: ReportRequest,
    data: Prepared,
    found: Any,
    summary: dict[str, Any],
    picture: bytes | None,
) -> None:
    from dualfold.data import write_table
    from dualfold.data.atomic_files import atomic_file

    if request.output is not None:
        name = data.reading.identifier
        columns = {} if name is None else {name: data.label(name)}
        columns |= found.per_point
        write_table(
            request.output, columns, overwrite=request.force, metadata=summary,
            spreadsheet=request.spreadsheet,
        )  # fmt: skip
    if picture is not None and request.picture is not None:
        with atomic_file(Path(request.picture), overwrite=request.force) as file:
            file.write(picture)
