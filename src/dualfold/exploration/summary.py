"""What is kept of a map: its columns, its settings and verdict, the model that places new rows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dualfold import __version__
from dualfold.models import Model
from dualfold.models.model import both_sides, reference_rows, storable_map
from dualfold.models.stated_problem import StatedProblem

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.exploration.exploration import Exploration
    from dualfold.exploration.fitted_map import FittedMap


def output_columns(data: Prepared, result: FittedMap) -> dict[str, Array]:
    """Columns that name the rows and colour them, and the coordinates, which come last."""
    columns: dict[str, Array] = dict(data.row_names)
    if data.reading.color is not None:
        columns[data.reading.color] = data.label(data.reading.color)
    return columns | coordinate_columns(result, columns)


def coordinate_columns(result: FittedMap, taken: Container[str] = ()) -> dict[str, Array]:
    """The coordinates by names that are not taken."""
    columns = {}
    for axis, name in enumerate(result.axis_names):
        while name in taken:
            name += "_new"
        columns[name] = result.points[:, axis]
    return columns


def appended_columns(
    source: Mapping[str, Array], data: Prepared, result: FittedMap
) -> dict[str, Array]:
    """The columns of the source with the coordinates beside them; empty for rows left out."""
    n = len(next(iter(source.values())))
    columns = dict(source)
    for name, values in coordinate_columns(result, columns).items():
        columns[name] = np.full(n, np.nan, dtype=values.dtype)
        columns[name][data.rows] = values
    return columns


def summary_of(
    exploration: Exploration,
    *,
    coordinates: Sequence[str] | None = None,
    appended: bool | None = None,
    notices: Sequence[str] | None = None,
) -> dict[str, object]:
    """All that is kept of a map beside its coordinates, JSON-ready.

    coordinates : names of the columns that hold them; None: as `output_columns` names them
    appended : whether they stand beside the columns of the table; None: nothing is said of it
    notices : as a command says them; None: as they are
    """
    data, result, judgement = exploration.data, exploration.fitted, exploration.judgement
    near, meaning, groups = judgement.neighborhoods, judgement.meaning, judgement.groups
    reading = data.reading
    scaling = {"standardize": reading.standardize, "missing": reading.missing}
    if coordinates is None:
        coordinates = list(output_columns(data, result))[-result.points.shape[1] :]
    return {
        "schema": "dualfold.embedding/1",
        "dualfold": __version__,
        "source": data.source,
        "settings": result.plan.settings() | scaling,
        "reading": reading.settings(),
        "rows": len(data.table.rows),
        "columns": data.sources,
        "features": list(data.table.names),
        "encodings": data.stored_encodings,
        "coordinates": list(coordinates),
        "notices": list(exploration.notes if notices is None else notices),
        "scales_differ": data.scales_differ,
        "filled_share": data.filled_share,
        "verdict": exploration.verdict,
        "solved": result.solved,
        "map_verdict": judgement.to_dict() if judgement.is_measured else None,
        "picture_quality": None if near is None else near.to_dict(),
        "meaning": None if meaning is None else meaning.to_dict(),
        "named_groups": None if groups is None else groups.to_dict(),
        "certificate": result.certificate.to_dict(),
        "eigenvalues": result.values,
        "explained_variance_ratio": result.variance_shares,
        **_column_points(result),
        "t_similarity": None if near is None else float(near.kept),
        "t_similarity_rows": exploration.sampled,
        **({} if exploration.advice is None else {"recommendation": exploration.advice.to_dict()}),
        **({} if appended is None else {"appended": appended}),
    }


def _column_points(result: FittedMap) -> dict[str, object]:
    """The places of the columns, where a map has some."""
    points = result.column_points
    if points is None:
        return {}
    return {"column_points": {name: [*map(float, place)] for name, place in points.items()}}


def model_of_map(exploration: Exploration) -> Model:
    """The map as a model that places new rows; not every rule of new rows can be stored."""
    data, result = exploration.data, exploration.fitted
    rule = storable_map(result.estimator)
    return Model(
        map=rule,
        method=result.plan.method.name,
        preparation=data.preparation,
        problem=StatedProblem.of(result.plan.estimator(), weighted=data.reading.weight is not None),
        certificate=result.certificate.to_dict(),
        both_sides=both_sides(result.estimator),
        # Maps by a graph hold their rows already.
        reference=reference_rows(data.X) if hasattr(rule, "encode") else None,
    )
