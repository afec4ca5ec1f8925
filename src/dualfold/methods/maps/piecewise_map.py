"""Maps made of other maps: pieces laid side by side, coordinates scaled afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import Argument, DamagedFile, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.methods.maps.out_of_sample import (
    OutOfSampleMap,
    StoredAnswer,
    map_from_parts,
    parts_of,
)
from dualfold.methods.maps.parts import Parts, refuse_functions
from dualfold.trace.lift import Solve
from dualfold.trace.problem import TraceProblem


@dataclass(frozen=True, eq=False)
class PiecewiseMap(OutOfSampleMap):
    """A new point goes by the map of the piece that its nearest old point belongs to.

    features, metric : the old points, and how near is measured
    owner : the piece of each of them
    points : where they are
    offsets : by how far each piece was moved, a row a piece
    maps : one for each piece; None for a single point, beside which new ones take its place
    """

    features: Rows
    metric: Metric
    owner: Array
    points: Array
    offsets: Array
    maps: tuple[Callable[[Rows], Array] | None, ...]

    kind: ClassVar[str] = "pieces"

    def __call__(self, X: Rows) -> Array:
        if is_precomputed(self.metric):
            raise InvalidInput(
                "new points cannot be placed with ",
                Argument("pieces", "separate"),
                " and ",
                Argument("metric", "precomputed"),
                "; use ",
                Argument("pieces", "join"),
            )
        from dualfold.graph.neighbors import nearest  # `RescaledMap` needs no search

        closest = nearest(self.features, 1, queries=X, metric=self.metric).indices[:, 0]
        owner = self.owner[closest]
        places = self.points[closest].copy()
        for piece in np.unique(owner):
            rows = np.flatnonzero(owner == piece)
            rule = self.maps[piece]
            if rule is not None:
                points_of_piece = rule(X[rows])
                places[rows] = 0.0
                places[rows, : points_of_piece.shape[1]] = points_of_piece
                places[rows] += self.offsets[piece]
        return places

    def parts(self) -> Parts:
        refuse_functions(self.metric, self.features)
        single = [rule is None for rule in self.maps]
        parts = Parts(self.kind, {"metric": self.metric, "single_points": single})
        parts.put("features", self.features)
        parts.put("owner", self.owner)
        parts.put("points", self.points, "answer")
        parts.put("offsets", self.offsets, "answer")
        for number, rule in enumerate(self.maps, 1):
            if rule is not None:
                parts.put_inner(f"piece_{number}", parts_of(rule))
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> PiecewiseMap:
        single = parts.facts.get("single_points")
        if not isinstance(single, list) or not single or any(type(s) is not bool for s in single):
            raise DamagedFile("it states its pieces in an unknown form")
        features, points = parts.features_and_points()
        (n, width), pieces = features.shape, len(single)
        offsets = parts.array("offsets", [pieces, points.shape[1]])
        owner = parts.indices("owner", [n], pieces)
        maps = tuple(
            None if is_single else map_from_parts(parts.inner(f"piece_{number}"))
            for number, is_single in enumerate(single, 1)
        )
        for part in maps:
            if part and (part.n_columns != width or part.n_coordinates > points.shape[1]):
                raise DamagedFile(
                    "its pieces are of other columns, or have more coordinates than it"
                )
        return cls(features, parts.metric(), owner, points, offsets, maps)

    def piece_maps(self) -> tuple[Any, ...]:
        return self.maps

    def stored_points(self) -> Array:
        return self.points

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.features, self.metric


@dataclass(frozen=True, eq=False)
class RescaledMap(OutOfSampleMap):
    """Coordinates multiplied by `times` (a diffusion time) or divided by `over` (whitening)."""

    map: OutOfSampleMap
    times: Array | None = None
    over: Array | None = None

    kind: ClassVar[str] = "rescaled"

    def __call__(self, X: Rows) -> Array:
        points = self.map(X)
        points = points if self.times is None else points * self.times
        return points if self.over is None else points / self.over

    @property
    def n_coordinates(self) -> int:
        return self.map.n_coordinates

    @property
    def n_columns(self) -> int:
        return self.map.n_columns

    def parts(self) -> Parts:
        parts = Parts(self.kind)
        parts.put_inner("map", parts_of(self.map))
        parts.put("times", self.times, "answer")
        parts.put("over", self.over, "answer")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> RescaledMap:
        inner = map_from_parts(parts.inner("map"))
        factors = (parts.optional_array(n, [inner.n_coordinates]) for n in ("times", "over"))
        return cls(inner, *factors)

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        return self.map.stored_answer(problem, solve)

    def fitted_rows(self) -> tuple[Rows, Metric] | None:
        return self.map.fitted_rows()

    def frozen_parameters(self) -> dict[str, object]:
        return self.map.frozen_parameters()
