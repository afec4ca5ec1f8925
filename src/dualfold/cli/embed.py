"""From a table of numbers to a certified embedding in one command."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.registry import certified
from dualfold.cli.request import SCORED_NEIGHBORS, Request
from dualfold.cli.talk import Voice
from dualfold.cli.verdict import verdict
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Table
    from dualfold.embedding import Embedding
    from dualfold.graph import Graph

# Scales that differ more than this are rarely meant: one unit drowns the others.
MOST_SCALE_RATIO = 100.0
# Counting kept neighbours means two exact searches; up to here they take a moment.
MOST_ROWS_TO_SCORE = 10_000


def embed_table(request: Request, voice: Voice) -> dict[str, Any]:
    """Read, embed, certify, write; returns what `--json` prints."""
    _check_places(request)
    heard: list[str] = []
    begin = perf_counter()
    with voice.doing("loading"):
        import dualfold.embedding  # noqa: F401 (heavy; told apart from reading)
    with voice.doing(f"reading {request.source}"):
        table = _table(request)
    for notice in table.notices:
        voice.note(notice)
    X, remarks = _features(table, request)
    for remark in remarks:
        voice.note(remark)
    read = perf_counter()
    with voice.telling_warnings(heard):
        graph = _graph(request, X, voice)
        with voice.doing("solving and certifying"):
            embedding = certified(request.method, X, graph, n_components=request.n_components)
    solved = perf_counter()
    with voice.doing("counting kept neighbours"):
        kept = _kept_neighbors(X, embedding.points)
    summary: dict[str, Any] = {
        "schema": "dualfold.embedding/1",
        "dualfold": __version__,
        "source": request.source,
        "settings": request.settings(),
        "rows": len(table.rows),
        "features": list(table.names),
        "notices": [*table.notices, *remarks, *heard],
        "verdict": verdict(request.method, embedding.certificate, request.n_components),
        "certificate": embedding.certificate.to_dict(),
        "eigenvalues": [float(value) for value in embedding.values],
        "t_similarity": kept,
    }
    picture = _picture(request, table, embedding, summary["verdict"], voice)
    _write(request, table, embedding, summary, picture)
    seconds = {"read": read - begin, "embed": solved - read, "total": perf_counter() - begin}
    return summary | {"output": request.output, "picture": request.picture, "seconds": seconds}


def _check_places(request: Request) -> None:
    """Before any work: what cannot be written at the end is refused now."""
    from dualfold.data.whole_file import check_place
    from dualfold.data.writing import check_table_place
    from dualfold.view.figures import picture_format

    if request.output != "-":
        check_table_place(Path(request.output), overwrite=request.force)
        if request.source != "-" and os.path.realpath(request.output) == os.path.realpath(
            request.source
        ):
            raise InvalidInput(
                f"the output {request.output} is the table itself; give another name by -o"
            )
    if request.picture is not None:
        picture_format(request.picture)
        check_place(Path(request.picture), overwrite=request.force)


def _table(request: Request) -> Table:
    from dualfold.data import read_table

    apart = {"--color": request.color, "--id": request.identifier}
    try:
        return read_table(
            request.source,
            format=request.format,
            exclude=request.exclude,
            label_columns=tuple(dict.fromkeys(name for name in apart.values() if name)),
            keep=request.keep,
            missing=request.missing,
            thousands=request.thousands,
            array=request.array,
        )
    except InvalidInput as error:
        # The library knows one argument where the command line has two.
        for option, name in apart.items():
            if name and f"label_columns names '{name}'" in str(error):
                raise InvalidInput(str(error).replace("label_columns", option, 1)) from error
        raise


def _features(table: Table, request: Request) -> tuple[Any, list[str]]:
    from dualfold.data.columns import listed
    from dualfold.data.scales import standardized

    n, width = table.X.shape
    room, d = (n - 1 if request.method.needs == "graph" else width), request.n_components
    if d > room:
        given = (
            f"{n} rows allow {room}"
            if request.method.needs == "graph"
            else f"there are only {width} columns of numbers ({listed(table.names)})"
            if width > 1
            else f"'{table.names[0]}' is the only column of numbers"
        )
        raise InvalidInput(f"{d} coordinates were asked for, but {given}; lower n_components")
    if request.standardize:
        return standardized(table.X), []
    return table.X, _scale_remarks(table)


def _scale_remarks(table: Table) -> list[str]:
    import numpy as np

    from dualfold.data.scales import ranges

    found = ranges(table.X)
    varying = np.flatnonzero(found)
    if len(varying) < 2:
        return []
    order = varying[np.argsort(found[varying], kind="stable")]
    # Among hundreds of pixels a few are nearly always empty; that is no other unit.
    narrow, wide = order[len(order) // 20], order[-1]
    ratio = found[wide] / found[narrow]
    if ratio < MOST_SCALE_RATIO:
        return []
    return [
        f"the columns differ in scale: '{table.names[wide]}' spans {ratio:,.0f} times as much "
        f"as '{table.names[narrow]}' and so decides the distances; --standardize gives every "
        "column the same weight"
    ]


def _graph(request: Request, X: Any, voice: Voice) -> Graph | None:
    if request.method.needs != "graph":
        return None
    from dualfold.graph import joined, knn, one_piece

    with voice.doing("finding neighbours"):
        graph = knn(X, request.n_neighbors)
        return joined(graph) if request.pieces == "join" else one_piece(graph)


def _kept_neighbors(X: Any, points: Any) -> float | None:
    from dualfold.quality import t_similarity

    n = X.shape[0]
    if not SCORED_NEIGHBORS < n <= MOST_ROWS_TO_SCORE:
        return None
    return float(t_similarity(X, points, SCORED_NEIGHBORS))


def _picture(
    request: Request, table: Table, embedding: Embedding, verdict: str, voice: Voice
) -> bytes | None:
    if request.picture is None:
        return None
    from dualfold.view.figures import figure_bytes, map_figure

    name, d = request.method.name, request.n_components
    source = "standard input" if request.source == "-" else Path(request.source).name
    # matplotlib warns of letters its font lacks and of tight layouts; neither is for a user
    with voice.doing("drawing"), voice.telling_warnings([]):
        figure = map_figure(
            embedding.points,
            None if request.color is None else table.labels[request.color],
            title=f"{source}, {name}" + (f" (first two of {d} coordinates)" if d > 3 else ""),
            verdict=verdict,
            color_name=request.color or "",
            axis_names=[f"{name} {axis + 1}" for axis in range(min(d, 3))],
            equal=request.method.lengths,
        )
        return figure_bytes(figure, request.picture)


def _write(
    request: Request,
    table: Table,
    embedding: Embedding,
    summary: dict[str, Any],
    picture: bytes | None,
) -> None:
    from dualfold.data import write_table
    from dualfold.data.whole_file import whole_file

    columns: dict[str, Any] = {}
    if request.identifier is not None:
        columns[request.identifier] = table.labels[request.identifier]
    elif len(table.rows) and table.rows[-1] != len(table.rows) - 1:
        columns["row"] = table.rows + 1  # some were left out: say which remain
    if request.color is not None:
        columns[request.color] = table.labels[request.color]
    for axis in range(request.n_components):
        name = f"{request.method.name}_{axis + 1}"
        while name in columns:
            name += "_new"
        columns[name] = embedding.points[:, axis]
    write_table(request.output, columns, overwrite=request.force, metadata=summary)
    if picture is not None and request.picture is not None:
        with whole_file(Path(request.picture), overwrite=request.force) as file:
            file.write(picture)
