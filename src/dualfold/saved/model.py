"""A fitted map with all that is needed to place new rows, as one file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data.columns import refuse_lacking
from dualfold.data.encoding import Encoding, encoded, from_json, indicators
from dualfold.data.notices import listed
from dualfold.data.whole_file import whole_file
from dualfold.errors import InvalidInput
from dualfold.saved.archive import read_archive, write_archive
from dualfold.saved.parts import Parts, PlacingMap, map_of, parts_of


@dataclass(frozen=True, eq=False)
class BothSides:
    """An unfolding's points and dual weights, which together prove it."""

    factor: Array
    weights: sp.csr_array


@dataclass(frozen=True, eq=False)
class Model:
    """Where new rows go on an existing map.

    map : the rule of new points
    method : its name, for the names of the coordinates
    columns : the features it was made of, in their order
    means : their means, which fill gaps of new rows
    shift, scale : what standardised the features (None: nothing did); a column that did not
        vary has an infinite scale and becomes 0
    settings, certificate : how the map was made and what was proved of it, JSON-ready
    both_sides : of an unfolding
    reference : some of the rows it was made of, as the map takes them, where the map holds none:
        new rows are judged by them
    """

    map: PlacingMap
    method: str
    columns: tuple[str, ...]
    means: Array | None = None
    shift: Array | None = None
    scale: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)
    both_sides: BothSides | None = None
    reference: Array | None = None

    @property
    def encodings(self) -> tuple[Encoding, ...]:
        """How the columns of a table become `columns`; () where they are the same."""
        return from_json(self.settings.get("encodings") or ())

    @property
    def coordinates(self) -> int:
        """How many coordinates the map has."""
        inner: Any = getattr(self.map, "map", self.map)
        rows = getattr(inner, "components", None)
        if rows is not None:
            return int(rows.shape[0])
        held = inner.place.directions if hasattr(inner, "place") else inner.points
        return int(np.shape(held)[-1])

    def transform(self, X: Any) -> Array:
        """The places of new rows: an array with `columns` in this order, or a data frame."""
        if hasattr(X, "iloc") and self.encodings:
            X = self.encoded({str(name): column for name, column in X.items()})[0]
        if X.shape[1] != len(self.columns):
            raise InvalidInput(
                f"the rows have {X.shape[1]} columns, the model was made for "
                f"{len(self.columns)} ({listed(self.columns)})"
            )
        return self.map(self.prepared(X))

    def prepared(self, X: Any) -> Any:
        """Rows of `columns` as the map takes them: standardised, if its own rows were."""
        if self.shift is None or self.scale is None:
            return X
        return (np.asarray(X, dtype=np.float64) - self.shift) / self.scale

    def encoded(self, table: Mapping[str, Any]) -> tuple[Array, list[str]]:
        """Columns of a table as `columns`, and what is to be said of values nobody had before.

        What is unknown or missing in a category counts as the average of the fitted rows.
        """
        encodings = self.encodings
        refuse_lacking([one.name for one in encodings], list(table))
        X = encoded(encodings, table)
        means = getattr(self.map, "mean", None) if self.means is None else self.means
        if means is not None:
            X = np.where(~np.isfinite(X) & indicators(encodings), means, X)
        new = {one.name: one.unknown(table[one.name]) for one in encodings}
        said = [
            f"'{name}' has values that no old row had ({listed(values, 3)}): counted as unknown"
            for name, values in new.items()
            if values
        ]
        return X, said

    def matched(self, X: Any, names: Sequence[str]) -> Any:
        """The model's columns of a table, found by their names."""
        places = {name: place for place, name in enumerate(names)}
        refuse_lacking(self.columns, names)
        if tuple(names) == self.columns:
            return X
        return X[:, [places[name] for name in self.columns]]


def save_model(path: str | os.PathLike[str], model: Model, *, overwrite: bool = False) -> None:
    """Write a model whole or not at all; the file is data and runs nothing when read."""
    parts = parts_of(model.map)
    for name in ("means", "shift", "scale", "reference"):
        if getattr(model, name) is not None:
            parts.arrays[f"model_{name}"] = getattr(model, name)
    if model.both_sides is not None:
        parts.put("unfolding_factor", model.both_sides.factor)
        parts.put("unfolding_weights", model.both_sides.weights)
    header = {
        "dualfold": model.settings.get("dualfold", "unknown"),
        "method": model.method,
        "columns": list(model.columns),
        "settings": model.settings,
        "certificate": model.certificate,
        "map": {"kind": parts.kind, "facts": parts.facts},
    }
    with whole_file(Path(path), overwrite=overwrite) as file:
        write_archive(file, header, parts.arrays)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file."""
    header, arrays = read_archive(Path(path))
    try:
        parts = Parts(header["map"]["kind"], header["map"]["facts"], arrays)
        factor, weights = parts.get("unfolding_factor"), parts.get("unfolding_weights")
        columns = tuple(header["columns"])
        named = isinstance(header["method"], str) and all(isinstance(c, str) for c in columns)
        if not named or not isinstance(header["settings"], dict):
            raise InvalidInput(f"{path} has no method, columns or settings; save the model again")
        return Model(
            map=map_of(parts),
            method=header["method"],
            columns=columns,
            means=arrays.get("model_means"),
            shift=arrays.get("model_shift"),
            scale=arrays.get("model_scale"),
            settings=header["settings"],
            certificate=header["certificate"],
            both_sides=None if factor is None else BothSides(factor, weights),
            reference=_table_of(arrays.get("model_reference"), len(columns)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path} lacks a part ({error}); save the model again") from error


def _table_of(rows: Array | None, width: int) -> Array | None:
    """Stored rows, if they can be rows of these columns."""
    if rows is None:
        return None
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype.kind != "f":
        raise InvalidInput(f"the model keeps rows of another shape than {width} columns of numbers")
    if not np.isfinite(rows).all():
        raise InvalidInput("the model keeps rows with gaps; save it again")
    return rows
