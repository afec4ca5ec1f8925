"""What methods ask of a table in tiles (`dualfold.methods.fitting.tiles.TiledRows`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from dualfold.arrays import Array, Rows
from dualfold.graph import Neighbors
from dualfold.methods.fitting.estimator import Estimator
from dualfold.methods.fitting.moments import Moments
from dualfold.scale.classes import ClassMoments, class_moments_of
from dualfold.scale.landmark_fit import fit_landmarks
from dualfold.scale.lists import neighbors
from dualfold.scale.placing import as_memory_map, on_every_tile
from dualfold.scale.tile_moments import (
    encoded_moments,
    encodings_of,
    moments_of,
    profile_moments,
)
from dualfold.scale.tiled_table import TiledTable, gather_rows, is_tiled, table


def rows_for_fits(X: Rows) -> RowsForFits | None:
    """X as methods read it, if it is a table in tiles."""
    return RowsForFits(table(X)) if is_tiled(X) else None


@dataclass(frozen=True, eq=False)
class RowsForFits:
    """A table in tiles, as `TiledRows` describes it."""

    table: TiledTable

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def width(self) -> int:
        return self.table.width

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.table.dtype

    @property
    def meta(self) -> Any:
        return self.table.meta

    @property
    def is_frame(self) -> bool:
        return self.table.is_frame

    def moments(self, weights: Array | None = None) -> Moments:
        return moments_of(self.table, weights)

    def class_moments(self, y: object, weights: Array | None = None) -> ClassMoments:
        return class_moments_of(self.table, y, weights)

    def encodings(self) -> Any:
        return encodings_of(self.table)

    def encoded_moments(self, encodings: Any, weights: Array | None = None) -> Moments:
        return encoded_moments(self.table, encodings, weights)

    def profile_moments(self, weights: Array | None = None) -> Moments:
        return profile_moments(self.table, weights)

    def neighbors(self, count: int) -> Neighbors:
        return neighbors(self.table, count)

    def as_one_array(self) -> Any:
        return as_memory_map(self.table)

    def rows_at(self, numbers: Array) -> Array:
        rows: Array = gather_rows(self.table, numbers)
        return rows

    def fit_landmarks(self, estimator: Estimator, weights: Array | None = None) -> None:
        fit_landmarks(estimator, self.table, weights)

    def transform_with(self, estimator: Estimator) -> Any:
        validate_data(estimator, self.meta, reset=False, skip_check_array=True)
        names = [str(name) for name in estimator.get_feature_names_out()]
        return on_every_tile(self.table, estimator, "transform", names, self.dtype)

    def inverse_transform_with(self, estimator: Estimator) -> Any:
        wide = int(estimator.n_features_in_)
        names = getattr(estimator, "feature_names_in_", np.arange(wide).astype(str))
        return on_every_tile(
            self.table, estimator, "inverse_transform", [str(n) for n in names], self.dtype
        )
