"""Maps that were written before: their points, their settings, and the table they are of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dualfold.cli.reading import Data, Reading, read
from dualfold.cli.talk import Voice
from dualfold.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class StoredMap:
    """The coordinates of a file, with what was stored beside them (nothing: {})."""

    path: str
    points: Any
    labels: dict[str, Any]
    metadata: dict[str, Any]


def stored_map(path: str) -> StoredMap:
    """Read a map that `dualfold embed`, or anybody, wrote."""
    from dualfold.data import read_metadata, read_table
    from dualfold.data.annotated import h5ad_coordinates

    if not Path(path).is_file():
        raise InvalidInput(f"there is no map {path}; `dualfold embed` writes one")
    metadata = read_metadata(path) or {}
    coordinates = metadata.get("coordinates")
    if path.endswith(".h5ad") and metadata:
        key = f"X_{metadata['settings']['method']}"
        return StoredMap(path, h5ad_coordinates(Path(path), key), {}, metadata)
    table = read_table(path, features=coordinates)
    points = table.X
    if coordinates is not None and points.shape[1] != len(coordinates):
        points = points[:, -len(coordinates) :]  # an .npy file: coordinates are the last
    return StoredMap(path, points, dict(table.labels), metadata)


def read_again(reading: Reading, stored: StoredMap, voice: Voice) -> Data:
    """The table that the map is of, read as it was then; options that are given go first."""
    settings = dict(stored.metadata.get("reading", {}))
    asked = {
        key: value
        for key, value in reading.settings().items()
        if value not in (None, [], False, "raise")
    }
    data = read(Reading.again(reading.source, settings | asked), voice)
    n = len(data.table.rows)
    if n != len(stored.points):
        raise InvalidInput(
            f"{stored.path} has {len(stored.points)} points and {reading.source} has {n} rows; "
            "each point must be a row: give the table the map was made of, with the same "
            "--missing and the like"
        )
    name = data.reading.identifier
    if name is not None and name in stored.labels:
        ours, theirs = data.table.labels[name], stored.labels[name]
        if [str(value) for value in ours] != [str(value) for value in theirs]:
            raise InvalidInput(
                f"the rows of {reading.source} and {stored.path} have different '{name}', or "
                "another order; bring both into the same one"
            )
    return data
