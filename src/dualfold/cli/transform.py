"""New rows on an existing map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.output_files import check_places
from dualfold.cli.stored_map import stored_reading
from dualfold.cli.wording import shown
from dualfold.errors import Argument, InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Reading, Table
    from dualfold.saved import Model

# Old points behind the new ones.
SHOWN_OLD = 5_000


@dataclass(frozen=True)
class TransformRequest:
    """Everything that `dualfold transform` was asked for."""

    model: str
    source: str
    reading: Reading
    output: str
    picture: str | None
    force: bool
    spreadsheet: bool = False


def transform_table(request: TransformRequest, console: Console) -> dict[str, Any]:
    """Read the model and the rows, place them, write; returns what `--json` prints."""
    begin = perf_counter()
    with console.doing(f"reading {request.model}"):
        from dualfold.saved import judged_rows, load_model

        model = load_model(request.model)
    check_places(
        request.source, request.output, request.force,
        pictures=(request.picture,), inputs=(request.model,),
    )  # fmt: skip
    with console.doing(f"reading {request.source}"):
        table, notices = _rows(model, request)
    for notice in notices:
        console.note(notice)
    with console.doing("placing"):
        points = model.transform(table.X)
        foreign = judged_rows(model, table.X)
    columns = _columns(model, table, points, foreign, request.reading)
    summary: dict[str, Any] = {
        "schema": "dualfold.transform/1",
        "dualfold": __version__,
        "source": request.source,
        "model": request.model,
        "model_settings": model.settings.get("settings", model.settings),
        "rows": len(table.rows),
        "coordinates": list(columns)[-points.shape[1] :],
        "reading": _reading(model, table, request).settings(),
        "foreign": None if foreign is None else foreign.to_dict(),
        "notices": [shown(notice) for notice in notices],
        "verdict": _verdict(foreign),
    }
    picture = None
    if request.picture is not None:
        with console.doing("drawing"), console.noting_warnings([]):
            picture = _picture(request, model, table, points, summary["verdict"])
    from dualfold.data import write_table
    from dualfold.data.atomic_files import atomic_file

    source = request.source
    write_table(
        request.output, columns, overwrite=request.force, metadata=summary,
        onto=source if source.endswith(".h5ad") else None, rows=table.rows,
        spreadsheet=request.spreadsheet,
    )  # fmt: skip
    if picture is not None and request.picture is not None:
        with atomic_file(Path(request.picture), overwrite=request.force) as file:
            file.write(picture)
    places = {"output": request.output, "picture": request.picture}
    return summary | places | {"seconds": perf_counter() - begin}


def _rows(model: Model, request: TransformRequest) -> tuple[Table, list[str]]:
    """The new rows with the model's columns in its order, without gaps."""
    from dualfold.data import read_table

    reading = request.reading
    first = stored_reading(model.settings.get("reading"), "the model")
    written = replace(reading.after(first, "notation"), missing="keep")
    if model.encodings:
        return _mixed_rows(model, request, written)
    table = read_table(request.source, written, features=model.columns)
    notices = list(table.notices)
    unnamed = tuple(f"column_{place + 1}" for place in range(table.X.shape[1]))
    if table.names == unnamed and len(unnamed) == len(model.columns) and unnamed != model.columns:
        notices.append("the rows have no column names; they were taken in the model's order")
        X = table.X
    else:
        X = model.matching_columns(table.X, table.names)
    table = replace(table, X=X, names=model.columns, notices=())
    return _complete(table, model, reading, notices)


def _mixed_rows(
    model: Model, request: TransformRequest, written: Reading
) -> tuple[Table, list[str]]:
    """New rows of a mixed table, as the old ones were encoded."""
    from dualfold.data.table_reader import raw_table

    numbers = [one.name for one in model.encodings if one.kind in ("number", "log")]
    table = raw_table(request.source, written, features=numbers, mixed=True)
    columns = table.labels | dict(zip(table.names, table.X.T, strict=True))
    X, said = model.encoded_table(columns)
    table = replace(table, X=X, names=model.columns, notices=())
    return _complete(table, model, request.reading, said)


def _complete(
    table: Table, model: Model, reading: Reading, notices: list[str]
) -> tuple[Table, list[str]]:
    """The rows without gaps, and with the labels that were asked for."""
    from dualfold.data.missing_values import without_missing_values
    from dualfold.data.notices import quoted_names

    for option, name in (("color", reading.color), ("identifier", reading.identifier)):
        if name is not None and name not in table.labels:
            raise InvalidInput(
                Argument(option, name),
                f" names no label; there is {quoted_names(table.labels) or 'none'}",
            )
    if reading.missing in ("auto", "mean", "impute") and model.means is not None:
        return _filled(table, model, notices)
    table = without_missing_values(table, reading.missing)
    return table, [*notices, *table.notices]


def _filled(table: Table, model: Model, notices: list[str]) -> tuple[Table, list[str]]:
    """Gaps as the means of the rows that the map was made of, not of the new ones."""
    import numpy as np

    from dualfold.data.missing_values import without_missing_values

    if not isinstance(table.X, np.ndarray) or model.means is None:
        return without_missing_values(table, "mean"), notices
    hole = ~np.isfinite(table.X)
    if not hole.any():
        return table, notices
    X = np.where(hole, model.means, table.X)
    said = f"{int(hole.sum())} missing values were filled with the means of the model's own rows"
    return replace(table, X=X), [*notices, said]


def _reading(model: Model, table: Table, request: TransformRequest) -> Reading:
    """How NEW_FILE is read to get the same columns again, by commands that see no model."""
    first = stored_reading(model.settings.get("reading"), "the model")
    own = request.reading.after(first)
    there = {*table.labels, *table.names}
    apart = {name: getattr(own, name) for name in ("color", "identifier", "labels")}
    kept: dict[str, Any] = {
        name: value if value in there else None for name, value in apart.items()
    }
    numbers = [name for name, values in table.labels.items() if values.dtype.kind in "iuf"]
    unused = [name for name in numbers if name not in kept.values()]
    keep = tuple(name for name in own.keep if name in there)
    return replace(own, exclude=tuple(unused), keep=keep, **kept)


def _verdict(foreign: Any) -> str:
    if foreign is None:
        return "Placed; the model holds no old rows, so the new ones could not be judged."
    return f"{foreign}"


def _columns(
    model: Model, table: Table, points: Any, foreign: Any, reading: Reading
) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name in (reading.identifier, reading.color):
        if name is not None:
            columns[name] = table.labels[name]
    if reading.identifier is None and len(table.rows) and table.rows[-1] != len(table.rows) - 1:
        columns["row"] = table.rows + 1
    if foreign is not None:
        columns["p_value"] = foreign.p_values
    for axis in range(points.shape[1]):
        columns[f"{model.method}_{axis + 1}"] = points[:, axis]
    return columns


def _old_points(model: Model) -> Any:
    """Where rows that the model holds lie, to be drawn behind the new ones."""
    from dualfold.saved import old_rows

    found = old_rows(model)
    return None if found is None else model.map(found[0][:SHOWN_OLD])


def _picture(
    request: TransformRequest, model: Model, table: Table, points: Any, verdict: str
) -> bytes:
    from dualfold.data.prepared import colors_of
    from dualfold.view.figures import figure_bytes, map_figure

    color = request.reading.color
    figure = map_figure(
        points,
        None if color is None else colors_of(table.labels[color]),
        title=f"{request.source} on {Path(request.model).name}",
        verdict=verdict,
        color_name=color or "",
        behind=_old_points(model),
    )
    assert request.picture is not None
    return figure_bytes(figure, request.picture)
