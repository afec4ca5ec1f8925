"""New rows on a map of least stress: each goes where its distances to the old points fit best.

    minimise over y   Σ_j (‖y − y_j‖ − δ_j)²

δ_j the distances to the fitted rows. Old points stay, and new ones do not see one another. A step
of majorisation, y ← y − force/n, never raises this sum; two of them are followed by a longer one
along the line that they make, where that is lower still.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import InvalidInput
from dualfold.graph.metrics import is_euclidean, is_precomputed, metric_distances
from dualfold.kernels.threads import row_slices
from dualfold.methods.maps.landmark_map import Triangulation
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.maps.parts import Parts, refuse_functions
from dualfold.methods.points.stress.pair_sums import row_sums_and_forces

# Steps of majorisation, and the move that ends them, as a share of the extent of the map.
MAX_PLACING_STEPS = 400
LAST_MOVE_SHARE = 1e-8
# Along the line of two steps, the longest multiple of the last one that is tried.
MAX_STRETCH = 50.0
# Distances of new rows to old ones that are held at a time.
BLOCK_NUMBERS = 2**22


def exact_distances(X: Rows, others: Any, metric: Metric) -> Array:
    """Distances that are 0 for equal rows; products of rows, which are faster, do not tell."""
    if is_euclidean(metric) and not sp.issparse(X) and not sp.issparse(others):
        return np.asarray(cdist(np.asarray(X, dtype=float), np.asarray(others, dtype=float)))
    return metric_distances(X, others, metric)


@dataclass(frozen=True, eq=False)
class StressMap(OutOfSampleMap):
    """The place of new rows that fits their distances to the fitted ones best.

    features, points : the fitted rows (None where distances are given) and their places
    metric : of the features

    A row at distance 0 from a fitted one takes its place.
    """

    features: Any
    points: Array
    metric: Metric = "euclidean"

    kind: ClassVar[str] = "stress"

    def __call__(self, X: Rows) -> Array:
        places = np.empty((X.shape[0], self.points.shape[1]))
        for rows in row_slices(X.shape[0], max(1, BLOCK_NUMBERS // len(self.points))):
            places[rows] = self._places(self._distances(X[rows]))
        return places

    def parts(self) -> Parts:
        refuse_functions(self.metric, self.features)
        parts = Parts(self.kind, {"metric": self.metric})
        parts.put("features", self.features)
        parts.put("points", self.points, "answer")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> StressMap:
        features, points = parts.features_and_points()
        return cls(features, points, parts.metric())

    def stored_points(self) -> Array:
        return self.points

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.features, self.metric

    def _distances(self, X: Rows) -> Array:
        D = X if is_precomputed(self.metric) else exact_distances(X, self.features, self.metric)
        D = np.ascontiguousarray(D, dtype=float)
        if D.shape[1] != len(self.points):
            raise InvalidInput(
                f"distances to the {len(self.points)} fitted rows are needed, one for each column; "
                f"the shape is {D.shape}"
            )
        return D

    @cached_property
    def _old(self) -> Array:
        return np.ascontiguousarray(self.points, dtype=float)

    @cached_property
    def _start(self) -> Triangulation:
        """Least squares of squared distances, exact where all distances are those of the map."""
        centred = self._old - self._old.mean(axis=0)
        scatter = centred.T @ centred
        directions = centred @ np.linalg.pinv(scatter, hermitian=True) / 2
        squares = np.square(centred).sum(axis=1)
        return Triangulation(directions, squares + squares.mean())

    def _places(self, D: Array) -> Array:
        """Points of least stress of rows with distances D; each stops when its own steps end."""
        old, n = self._old, len(self._old)
        near = np.argmin(D, axis=1)
        same = D[np.arange(len(D)), near] == 0
        places = np.where(same[:, None], old[near], self._start(D) + old.mean(axis=0))
        end = LAST_MOVE_SHARE * float(np.ptp(old, axis=0).max(initial=0.0))
        moving = np.flatnonzero(~same)
        given = D[moving]
        _, force = row_sums_and_forces(places[moving], old, given)
        for _ in range(MAX_PLACING_STEPS // 2):
            if not len(moving):
                break
            first = places[moving] - force / n
            _, force = row_sums_and_forces(first, old, given)
            second = first - force / n
            places[moving], force = self._beyond_two_steps(given, places[moving], first, second)
            left = np.abs(second - first).max(axis=1) > end
            if not left.all():
                moving, given, force = moving[left], given[left], force[left]
        return places

    def _beyond_two_steps(
        self, D: Array, start: Array, first: Array, second: Array
    ) -> tuple[Array, Array]:
        """Points and forces beyond two steps (Aitken's limit) where that is lower, else second."""
        earlier, later = first - start, second - first
        change = np.linalg.norm(earlier - later, axis=1)
        ratio = np.linalg.norm(later, axis=1) / np.where(change > 0, change, 1.0)
        beyond = second + np.minimum(ratio, MAX_STRETCH)[:, None] * later
        (sums, force), (sums_beyond, force_beyond) = (
            row_sums_and_forces(moving, self._old, D) for moving in (second, beyond)
        )
        lower = (sums_beyond[:, 0] < sums[:, 0])[:, None]
        return np.where(lower, beyond, second), np.where(lower, force_beyond, force)
