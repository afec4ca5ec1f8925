"""New rows on a map of attraction and repulsion: each finds its own place among the old points.

A new row x has affinities p_j to its nearest old rows, as the old ones have to one another, and
goes where they balance the repulsion of all old points:

    minimise over y   ρ·Σ p_j log(1 + ‖y − y_j‖²) + log Σ_j 1/(1 + ‖y − y_j‖²)

(with the forces of t-SNE, `points/forces.py`) from the mean Σ p_j y_j. Old points stay, and new
ones do not see one another, so that a row's place does not depend on which others come along.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import RowNumbers, RowsFarAway, warn
from dualfold.graph.graph import Lists
from dualfold.graph.neighbors import nearest
from dualfold.kernels.threads import in_threads, row_slices, thread_count
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.maps.parts import Parts, refuse_functions
from dualfold.methods.points.forces import Field, Forces
from dualfold.methods.points.tsne.student import STUDENT
from dualfold.weights.perplexity import conditional_affinities

# Steps of the fixed-point iteration; this share of each is taken, and none is longer than the
# forces are wide.
FIXED_POINT_STEPS = 60
STEP_SHARE = 0.5
CHUNK_ROWS = 1024
# Forces that a stored map may have, by their names.
STORED_FORCES: tuple[Forces, ...] = (STUDENT,)
# No two rows are farther apart than this many times the longest distance from one row: by the
# triangle inequality, or by that of the lengths that squared ones are of. Others have none.
DIAMETER_FACTORS = dict.fromkeys(
    ("euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "canberra", "hamming"), 2.0
) | dict.fromkeys(("sqeuclidean", "cosine", "correlation"), 4.0)
# Room for the rounding of distances, some of which are computed in float32.
DISTANCE_ROUNDING = 1e-5


@dataclass(frozen=True, eq=False)
class AttractionMap(OutOfSampleMap):
    """The place of new rows where attraction and repulsion balance.

    features, points : the old rows and their places
    n_neighbors, perplexity : how many old rows attract a new one, and the perplexity of their
        affinities (None: all are equal)
    attraction : ρ; infinite: the mean of the neighbours, by their affinities
    metric : of the features
    forces : of the map

    A row that is equal to an old one takes its place.
    """

    features: Rows
    points: Array
    n_neighbors: int
    perplexity: float | None
    attraction: float = 1.0
    metric: Metric = "euclidean"
    forces: Forces = STUDENT

    kind: ClassVar[str] = "neighbours"

    def __call__(self, X: Rows) -> Array:
        neighbors = nearest(self.features, self.n_neighbors, queries=X, metric=self.metric)
        near, distances = neighbors.indices, neighbors.distances
        self._warn_of_far_rows(distances[:, 0])
        n, k = near.shape
        lists = Lists.of_equal(near, distances)
        affinities = conditional_affinities(lists, self.perplexity)[0].reshape(n, k)
        places = np.empty((n, self.points.shape[1]))
        field = self._field  # made before threads need it

        def work(rows: slice) -> None:
            places[rows] = self._balanced_points(near[rows], affinities[rows], field)

        in_threads(work, row_slices(n, CHUNK_ROWS), thread_count())
        same = distances[:, 0] == 0
        places[same] = self._old[near[same, 0]]
        return places

    def parts(self) -> Parts:
        refuse_functions(self.metric, self.features)
        names = ("n_neighbors", "perplexity", "metric")
        parts = Parts(self.kind, {name: getattr(self, name) for name in names})
        # JSON has no number for infinity.
        if self.forces is not STUDENT:
            parts.facts["forces"] = self.forces.name
        parts.facts["attraction"] = None if self.attraction == np.inf else self.attraction
        parts.put("features", self.features)
        parts.put("points", self.points, "answer")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> AttractionMap:
        features, points = parts.features_and_points()
        n_neighbors = parts.integer("n_neighbors", 1, len(points))
        perplexity = parts.number("perplexity", above=0, optional=True)
        stated = parts.number("attraction", above=0, optional=True)
        attraction = float("inf") if stated is None else stated
        known = {forces.name: forces for forces in STORED_FORCES}
        name = parts.word("forces", list(known)) if "forces" in parts.facts else STUDENT.name
        metric = parts.metric()
        return cls(features, points, n_neighbors, perplexity, attraction, metric, known[name])

    def stored_points(self) -> Array:
        return self.points

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.features, self.metric

    def _warn_of_far_rows(self, distances: Array) -> None:
        """`RowsFarAway` for rows with these distances to the nearest old one."""
        far = np.flatnonzero(distances > self._width)
        if len(far):
            warn(
                RowsFarAway(
                    f"{len(far):,} of {len(distances):,} new rows, ",
                    RowNumbers(*far),
                    ", are farther from every old row than old rows are from one another, so that "
                    "their places say nothing about them; look at units and columns. "
                    "quality.conformal_p_values tells which rows are unlike the old ones",
                )
            )

    @cached_property
    def _width(self) -> float:
        """No two old rows are farther apart; infinite where their metric does not tell."""
        factor = DIAMETER_FACTORS.get(self.metric) if isinstance(self.metric, str) else None
        if factor is None:
            return np.inf
        n = len(self.points)
        first = nearest(self.features, n, queries=self.features[:1], metric=self.metric)
        return factor * (1 + DISTANCE_ROUNDING) * float(first.distances.max())

    @cached_property
    def _old(self) -> Array:
        return np.ascontiguousarray(self.points, dtype=float)

    @cached_property
    def _field(self) -> Field | None:
        """Repulsion of the old points, for any new rows; None where neighbours alone count."""
        return self.forces.field(self._old) if np.isfinite(self.attraction) else None

    def _balanced_points(self, near: Array, affinities: Array, field: Field | None) -> Array:
        """The places of some rows; nothing here mixes two of them."""
        neighbors = self._old[near]  # rows × neighbours × coordinates
        width = neighbors.shape[2]
        Y = np.column_stack([(affinities * neighbors[:, :, c]).sum(axis=1) for c in range(width)])
        if field is None:
            return Y
        strengths, longest = self.attraction * affinities, self.forces.width
        for _ in range(FIXED_POINT_STEPS):
            offsets = [Y[:, c, None] - neighbors[:, :, c] for c in range(width)]
            squares = np.asarray(sum(offset * offset for offset in offsets))
            weights = self.forces.pull_weights(strengths, squares)
            attraction = np.column_stack([(weights * offset).sum(axis=1) for offset in offsets])
            force = attraction - field(Y)
            step = STEP_SHARE * force / weights.sum(axis=1)[:, None]
            length = np.sqrt((step * step).sum(axis=1))
            Y = Y - step * (longest / np.maximum(length, longest))[:, None]
        return Y
