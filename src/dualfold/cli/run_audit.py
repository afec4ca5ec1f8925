"""Auditing a map of a table: what `dualfold audit` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dualfold import __version__
from dualfold.cli.audit import AuditOptions
from dualfold.cli.commands import reading_words, try_next
from dualfold.cli.console import Console
from dualfold.cli.output_files import stem, write_content, write_picture, written_lines
from dualfold.cli.stored_map import read_map_and_table
from dualfold.cli.wording import command_texts
from dualfold.data.table_writer import write_table
from dualfold.exploration.table_meaning import label_columns

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.judging import Audit


def run_audit(options: AuditOptions) -> None:
    """Read table and map, audit the map, write."""
    console = Console(quiet=options.quiet)
    stored, data = read_map_and_table(options, console)
    with console.stage("auditing"):
        from dualfold.judging import audit

        labels, metric = data.label(data.reading.color), _metric(data)
        X = next(data.plausible_tables())  # what was filled in has less noise than data have
        found = audit(
            X,
            stored.points,
            labels=labels,
            method=options.method,
            metric=metric,
            sample_weight=data.weights,
        )
    judged = found.to_dict()
    summary = judged | {
        "picture_quality": judged["picture"],  # "picture" is a file, as in other commands
        "dualfold": __version__,
        "source": options.file,
        "embedding": options.embedding,
        "method": options.method,
        "notices": command_texts(data.notices),
        "output": options.output,
        "picture": options.picture,
        "html": options.html,
    }
    _write(options, data, found, summary, console)
    if options.html is not None:
        _write_page(options, data, found, console)
    if not options.as_json:
        typer.echo(f"{found}\n\nFor a methods section:\n{found.paragraph}")
    console.finish(summary, _last_lines(options), as_json=options.as_json)


def _metric(data: Prepared) -> str:
    return "manhattan" if data.reading.mixed == "gower" else "euclidean"


def _write(
    options: AuditOptions,
    data: Prepared,
    judged: Audit,
    summary: dict[str, object],
    console: Console,
) -> None:
    """The judgement of each point, and the map coloured by it."""
    if options.output is not None:
        frame = judged.points_frame()
        columns: dict[str, Array] = dict(data.row_names)
        columns |= {str(key): frame[key].to_numpy() for key in frame}
        write_table(options.output, columns, overwrite=options.force, metadata=summary)
    if options.picture is not None:
        from dualfold.view.audit_page import audit_figure
        from dualfold.view.figures import figure_bytes

        with console.stage("drawing"):
            figure = audit_figure(judged, title=Path(options.embedding).name)
            picture = figure_bytes(figure, options.picture)
        write_picture(options.picture, picture, force=options.force)


def _write_page(options: AuditOptions, data: Prepared, judged: Audit, console: Console) -> None:
    from dualfold.view.audit_page import audit_content

    with console.stage("measuring the map for the page"):
        content = audit_content(judged, data.X, name=stem(options.embedding), metric=_metric(data))
    # The labels stand under the name of their column.
    own = {name: values for name, values in content.columns.items() if name != "label"}
    content = replace(
        content,
        columns=own | label_columns(data),
        features=data.numbers,
        names=data.label(data.reading.identifier),
        rows=data.rows + 1,
        title=f"audit of {Path(options.embedding).name}",
        notes=data.notices,
    )
    write_content(options, content, console)


def _last_lines(options: AuditOptions) -> list[str]:
    """Lines on what was written where, and the next command."""
    lines = written_lines(
        {
            "What is said of each point": options.output,
            "Picture, coloured by the audit,": options.picture,
            "Page": options.html,
        }
    )
    if options.html is not None or options.file == "-":
        return lines
    words = ["dualfold", "audit", options.file, options.embedding]
    words += reading_words(options.reading)
    return [*lines, try_next([*words, "--html", f"{stem(options.embedding)}.audit.html"])]
