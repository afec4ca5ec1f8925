"""Maps that were written before: their points, their settings, and the table they are of.

Such a file may hold anything. What it says about its problem is checked for form here and shown
to the user; what it says about its quality is not used.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.output_files import refuse_bad_outputs
from dualfold.data import read_table
from dualfold.data.h5ad import h5ad_coordinates
from dualfold.data.reading import Reading, reading_of
from dualfold.data.table_writer import read_metadata
from dualfold.errors import Argument, InvalidInput, Message, counted
from dualfold.exploration.input_table import read_input
from dualfold.exploration.plan import Plan
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.cli.audit import AuditOptions
    from dualfold.cli.report import ReportOptions
    from dualfold.data import Prepared
    from dualfold.models import Model


@dataclass(frozen=True, eq=False)
class StoredMap:
    """The coordinates of a file, with what was stored beside them (nothing: {}).

    plan : the method and options that the file states, where its settings are needed
    """

    path: str
    points: Any
    labels: dict[str, Array]
    metadata: dict[str, Any]
    plan: Plan | None = None

    @property
    def settings(self) -> Any:
        """The settings that it states, in any form."""
        return self.metadata.get("settings")


def read_stored_map(path: str, *, needs_settings: bool = False) -> StoredMap:
    """Read a map that `dualfold embed`, or another program, wrote.

    needs_settings : refuse a map that states no method of dualfold
    """
    if not Path(path).is_file():
        raise InvalidInput(f"there is no map {path}; `dualfold embed` writes one")
    metadata = _metadata_of(path)
    annotated = bool(path.endswith(".h5ad") and metadata)
    coordinates = metadata.get("coordinates")
    plan = stored_plan(metadata.get("settings"), path) if needs_settings else None
    if coordinates is not None and not _are_names(coordinates):
        raise InvalidInput(f"{path}: its 'coordinates' are no list of different column names")
    if annotated:
        plan = plan or stored_plan(metadata.get("settings"), path)
        points = h5ad_coordinates(Path(path), f"X_{plan.method.name}")
        return StoredMap(path, points, {}, metadata, plan)
    # Rows of the table that are not on the map have no coordinates beside their columns.
    appended = metadata.get("appended") is True
    table = read_table(path, Reading(missing="drop" if appended else "auto"), features=coordinates)
    points = table.X
    if coordinates is not None and points.shape[1] != len(coordinates):
        points = points[:, -len(coordinates) :]  # an .npy file: coordinates are the last
    return StoredMap(path, points, dict(table.labels), metadata, plan)


def _metadata_of(path: str) -> dict[str, Any]:
    """Metadata stored with a map, {} for one of another program."""
    try:
        metadata = read_metadata(path) or {}
    except (ValueError, RecursionError) as error:  # no JSON, or no text
        raise InvalidInput(f"what is stored with {path} is no JSON ({error})") from error
    if not isinstance(metadata, dict):
        raise InvalidInput(f"what is stored with {path} is no JSON object")
    return metadata


def _are_names(names: Any) -> bool:
    plain = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return plain and 0 < len(names) == len(set(names))


def is_known_method(settings: Any) -> bool:
    """Whether stored settings name a method that there is."""
    method = settings.get("method") if isinstance(settings, dict) else None
    return isinstance(method, str) and method in DESCRIPTIONS


def stored_plan(settings: Any, path: str) -> Plan:
    """The plan with stored settings, if they are settings at all."""
    if not is_known_method(settings):
        raise InvalidInput(
            f"{path} has no settings of dualfold beside it ({path}.json or inside a Parquet or "
            "h5ad file), so it is not known which problem it solves; `dualfold report` "
            "measures any map"
        )
    from dualfold.models.stated_problem import StatedProblem

    try:
        StatedProblem.of_settings(settings).new_estimator()
    except InvalidInput as error:
        raise InvalidInput(f"{path}: ", error.message) from error
    return Plan.from_settings(settings)


def read_map_and_table(
    options: ReportOptions | AuditOptions, console: Console
) -> tuple[StoredMap, Prepared]:
    """The map and the table that it is of, once all that cannot be written is refused."""
    source, embedding = options.file, options.embedding
    if os.path.realpath(source) == os.path.realpath(embedding):
        raise InvalidInput(
            f"{embedding} is the table itself; give a map of it, as `dualfold embed` makes"
        )
    refuse_bad_outputs(options, source, embedding)
    with console.stage(f"reading {embedding}"):
        stored = read_stored_map(embedding)
    return stored, read_table_of(stored, source, options.reading, console)


def read_table_of(stored: StoredMap, source: str, reading: Reading, console: Console) -> Prepared:
    """The table that the map is of, read as it was then."""
    columns = stored.metadata.get("columns")
    used = () if columns is None or not _are_names(columns) else tuple(columns)
    first = _stored_reading(stored) if stored.metadata else None
    data = _same_table(source, replace(reading, used_columns=used), first, console)
    n = len(data.table.rows)
    if n != len(stored.points):
        raise InvalidInput(
            f"{stored.path} has {counted(len(stored.points), 'point')} and {source} has "
            f"{counted(n, 'row')}; "
            "each point must be a row: give the table the map was made of, with the same ",
            Argument("missing"),
            " and the like",
        )
    _refuse_other_order(stored, data, source)
    return data


def read_table_of_model(model: Model, source: str, reading: Reading, console: Console) -> Prepared:
    """The table that the map of a model is of, read as it was then."""
    preparation = model.preparation
    first = preparation.reading if preparation.is_fitted else None
    return _same_table(source, reading, first, console)


def _same_table(source: str, reading: Reading, first: Reading | None, console: Console) -> Prepared:
    """A table that is read as it was at `first`; None: nothing states how.

    Options that are given go before; where they make another table of it, a note says so.
    """
    if first is None:
        return read_input(source, reading, console)
    if first.mixed == "counts":  # all columns are used, or the levels of a long table are
        reading = replace(reading, used_columns=())
    changes = reading.differences(first)
    if changes:
        options = [part for one in changes.items() for part in (" and ", Argument(*one))][1:]
        console.note(
            Message(
                *options,
                " was not set when the map was made: it is judged by another table than its own; "
                "without the option it is judged by its own",
            )
        )
    return read_input(source, reading.after(first), console)


def _stored_reading(stored: StoredMap) -> Reading:
    """Reading that a file states, if it states it in the right form."""
    stated = stored.metadata.get("reading")
    if not isinstance(stated, dict | None):
        raise InvalidInput(f"{stored.path} states how its table was read in an unknown form")
    try:
        return reading_of(stated or {})
    except InvalidInput as error:
        raise InvalidInput(f"{stored.path}: ", error.message) from error


def _refuse_other_order(stored: StoredMap, data: Prepared, source: str) -> None:
    """Rows whose names are not those of the points, or in another order."""
    asked, row_names = data.reading.identifier, next(iter(data.table.row_names), None)
    name = asked or row_names
    if name is None or name not in stored.labels:
        return
    ours = [str(value) for value in data.row_names[name]]
    theirs = [str(value) for value in stored.labels[name]]
    # Names that were found may be written in another way, but are not in another order.
    if ours != theirs and (asked or sorted(ours) == sorted(theirs)):
        raise InvalidInput(
            f"the rows of {source} and {stored.path} have different '{name}', or "
            "another order; bring both into the same one"
        )
