"""A map laid over another one: its points turned, stretched evenly and shifted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import DamagedFile
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, map_from_parts, parts_of
from dualfold.methods.maps.parts import Parts

# A stored rotation is one up to rounding.
ROTATION_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class MovedMap(OutOfSampleMap):
    """y ↦ scale·yR + shift of the points y of another map; R is a rotation or reflection."""

    map: OutOfSampleMap
    rotation: Array
    scale: float
    shift: Array

    kind: ClassVar[str] = "moved"

    def __call__(self, X: Rows) -> Array:
        return self.moved(self.map(X))

    def moved(self, points: Array) -> Array:
        """Points of the inner map, laid over the other one."""
        return np.asarray(
            self.scale * (np.asarray(points, dtype=float) @ self.rotation) + self.shift
        )

    def moved_back(self, points: Array) -> Array:
        """Points of this map as those of the inner one."""
        inner = (np.asarray(points, dtype=float) - self.shift) / self.scale
        return np.asarray(inner @ self.rotation.T)

    def unmoved(self) -> OutOfSampleMap:
        return self.map.unmoved()

    @property
    def n_coordinates(self) -> int:
        return self.map.n_coordinates

    @property
    def n_columns(self) -> int:
        return self.map.n_columns

    def parts(self) -> Parts:
        parts = Parts(self.kind, {"scale": float(self.scale)})
        parts.put_inner("map", parts_of(self.map))
        parts.put("rotation", self.rotation, "answer")
        parts.put("shift", self.shift, "answer")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> MovedMap:
        inner = map_from_parts(parts.inner("map"))
        d = inner.n_coordinates
        rotation, shift = parts.array("rotation", [d, d]), parts.array("shift", [d])
        scale = parts.number("scale", above=0)
        with np.errstate(over="ignore", invalid="ignore"):
            off = float(np.abs(rotation @ rotation.T - np.eye(d)).max(initial=0.0))
        if not off <= ROTATION_TOLERANCE or scale is None:
            raise DamagedFile("its map is laid over another one by what is no rotation")
        return cls(inner, rotation, float(scale), shift)

    def stored_points(self) -> Array | None:
        points = self.map.stored_points()
        return None if points is None else self.moved(points)

    def fitted_rows(self) -> tuple[Rows, Metric] | None:
        return self.map.fitted_rows()

    def column_means(self) -> Array | None:
        return self.map.column_means()

    def compared_rows(self, X: Rows) -> Rows:
        return self.map.compared_rows(X)

    def frozen_parameters(self) -> dict[str, object]:
        return self.map.frozen_parameters()
