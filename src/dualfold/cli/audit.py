"""`dualfold audit`: judge anybody's map of a table."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.html_page import put
from dualfold.cli.input_table import notices_of
from dualfold.cli.output_files import check_places, stem
from dualfold.cli.stored_map import StoredMap, read_again, stored_map
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    from dualfold.auditing import Audit
    from dualfold.data import Prepared, Reading


@dataclass(frozen=True)
class AuditRequest:
    """Everything that `dualfold audit` was asked for."""

    source: str
    reading: Reading
    embedding: str
    method: str | None
    output: str | None
    picture: str | None
    html: str | None
    force: bool
    html_mb: float = 20.0


def audit_map(request: AuditRequest, console: Console) -> tuple[dict[str, Any], str]:
    """Judge the map; returns what `--json` prints, and the audit in words."""
    if os.path.realpath(request.source) == os.path.realpath(request.embedding):
        raise InvalidInput(
            f"{request.embedding} is the table itself; give a map of it, as `dualfold embed` makes"
        )
    check_places(
        request.source, request.output, request.force, pictures=(request.picture,),
        html=request.html, inputs=(request.embedding,),
    )  # fmt: skip
    with console.doing(f"reading {request.embedding}"):
        stored = stored_map(request.embedding)
    data = read_again(request.source, request.reading, stored, console)
    metric = "manhattan" if data.reading.mixed == "gower" else "euclidean"
    with console.doing("auditing"):
        from dualfold.auditing import audit

        found = audit(
            data.X, stored.points, labels=data.label(data.reading.color), method=request.method,
            metric=metric,
        )  # fmt: skip
    summary = found.to_dict() | {
        "dualfold": __version__,
        "source": request.source,
        "embedding": request.embedding,
        "method": request.method,
        "notices": notices_of(data),
        "output": request.output,
        "picture": request.picture,
        "html": request.html,
    }
    _write(request, stored, data, found, summary, console, metric)
    return summary, f"{found}\n\nFor a methods section:\n{found.paragraph}"


def _write(
    request: AuditRequest,
    stored: StoredMap,
    data: Prepared,
    found: Audit,
    summary: dict[str, Any],
    console: Console,
    metric: str,
) -> None:
    from dualfold.data import write_table
    from dualfold.data.atomic_files import atomic_file
    from dualfold.data.prepared import colors_of

    name = data.reading.identifier
    if request.output is not None:
        frame = found.points_frame()
        columns = {} if name is None else {name: data.label(name)}
        columns |= {str(key): frame[key].to_numpy() for key in frame}
        write_table(request.output, columns, overwrite=request.force, metadata=summary)
    if request.picture is not None:
        from dualfold.view.audit_page import audit_figure
        from dualfold.view.figures import figure_bytes

        with console.doing("drawing"):
            figure = audit_figure(found, title=Path(request.embedding).name)
            picture = figure_bytes(figure, request.picture)
        with atomic_file(Path(request.picture), overwrite=request.force) as file:
            file.write(picture)
    if request.html is not None:
        from dualfold.view.audit_page import audit_content
        from dualfold.view.page import make_page

        with console.doing("making the page"):
            content = audit_content(found, data.X, name=stem(request.embedding), metric=metric)
            labels = {key: colors_of(values) for key, values in data.table.labels.items()}
            content = replace(
                content,
                columns=content.columns | labels,
                features=data.numbers,
                names=data.label(name),
                title=f"audit of {Path(request.embedding).name}",
                notes=notices_of(data),
                most_mb=request.html_mb or None,
            )
            page = make_page(content)
        put(page, request.html, console, force=request.force)
