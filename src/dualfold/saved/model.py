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
from dualfold.data.atomic_files import atomic_file
from dualfold.data.columns import refuse_lacking
from dualfold.data.encoding import Encoding, encoded_columns, features_of, from_json, indicators
from dualfold.data.notices import quoted_names
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.saved import sound
from dualfold.saved.archive import read_archive, write_archive
from dualfold.saved.parts import Parts, PlacingMap, coordinates_of, map_of, parts_of, width_of


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
        return coordinates_of(self.map)

    def transform(self, X: Any) -> Array:
        """The places of new rows: an array with `columns` in this order, or a data frame."""
        if hasattr(X, "iloc") and self.encodings:
            X = self.encoded({str(name): column for name, column in X.items()})[0]
        if X.shape[1] != len(self.columns):
            raise InvalidInput(
                f"the rows have {X.shape[1]} columns, the model was made for "
                f"{len(self.columns)} ({quoted_names(self.columns)})"
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
        X = encoded_columns(encodings, table)
        means = getattr(self.map, "mean", None) if self.means is None else self.means
        if means is not None:
            X = np.where(~np.isfinite(X) & indicators(encodings), means, X)
        new = {one.name: one.unknown(table[one.name]) for one in encodings}
        said = [
            f"'{name}' has values that no old row had ({quoted_names(values, 3)}): counted as "
            "unknown"
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
    with atomic_file(Path(path), overwrite=overwrite) as file:
        write_archive(file, header, parts.arrays)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; DamagedFile where its parts are none of a model."""
    header, arrays = read_archive(Path(path))
    try:
        return _model_of(header, arrays)
    except DamagedFile as error:
        raise DamagedFile(f"{path} is damaged: ", error.message, "; save it again") from error
    except RecursionError as error:
        raise DamagedFile(f"{path} is damaged: its header is nested too deep") from error


def _model_of(header: dict[str, Any], arrays: dict[str, Array]) -> Model:
    stated = sound.mapping(header, "map")
    parts = Parts(stated.get("kind", ""), dict(sound.mapping(stated, "facts")), arrays)
    settings = dict(sound.mapping(header, "settings"))
    columns, method = header.get("columns"), header.get("method")
    named = isinstance(columns, list) and all(isinstance(column, str) for column in columns)
    if not isinstance(method, str) or not named or not isinstance(columns, list):
        raise DamagedFile("it names no method, or its columns in an unknown form")
    rule, width = map_of(parts), len(columns)
    if width_of(rule) != width:
        raise DamagedFile(f"its map takes {width_of(rule)} columns, and it names {width}")
    encodings = from_json(settings.get("encodings") or ())
    if encodings and features_of(encodings) != tuple(columns):
        raise DamagedFile("its columns are not those that it states how to make")
    beside = {name: arrays.get(f"model_{name}") for name in ("means", "shift", "scale")}
    for name, array in beside.items():
        if array is not None:
            limits: Any = {"above": 0.0, "infinite": True} if name == "scale" else {}
            sound.numbers(array, f"model_{name}", [width], **limits)
    reference = arrays.get("model_reference")
    if reference is not None:
        sound.numbers(reference, "model_reference", [None, width])
    return Model(
        map=rule,
        method=method,
        columns=tuple(columns),
        settings=settings,
        certificate=dict(sound.mapping(header, "certificate")),
        both_sides=_both_sides(parts),
        reference=reference,
        **beside,
    )


def _both_sides(parts: Parts) -> BothSides | None:
    factor, weights = parts.get("unfolding_factor"), parts.get("unfolding_weights")
    if factor is None and weights is None:
        return None
    sound.numbers(factor, "unfolding_factor", [None, None])
    sound.table(weights, "unfolding_weights", [len(factor), len(factor)])
    return BothSides(factor, sp.csr_array(weights))
