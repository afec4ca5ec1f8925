"""Points known by their distances to landmarks.

Scaling the m landmarks alone gives eigenvectors V and values Λ. Any further point x
with squared distances δ_x to them then lies at

    y = ½ Λ^-½ Vᵀ (δ̄ − δ_x),     δ̄ the mean squared distances of the landmarks,

which is least squares for the inner products; a landmark comes back where it was.

de Silva and Tenenbaum, "Sparse multidimensional scaling using landmark points" (2004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualfold.arrays import Array, Metric, Rows
from dualfold.certificate import bound_text
from dualfold.errors import InvalidInput
from dualfold.graph.attachment import nearest_graph_points
from dualfold.graph.geodesics import Landmarks, geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.kernels.threads import in_shares, row_slices, thin_tiles
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, StoredAnswer, float_array
from dualfold.methods.maps.parts import Parts
from dualfold.methods.maps.stored_graph import graph_from_parts, put_graph
from dualfold.trace.doubts import StoredPoints
from dualfold.trace.lift import Lift, Solve, rayleigh_matrix, unit_columns
from dualfold.trace.problem import TraceProblem

# Distances that are in memory together, as float64.
BLOCK_NUMBERS = 2**21
# Directions of the landmarks' matrix are known from stored points where its singular value is
# above this share of the column's eigenvalue. Coordinates stored in float32 determine fewer.
RESOLVED_RATIO = 1e-6
RESOLVED_RATIO_FLOAT32 = 0.1


@dataclass(frozen=True, eq=False)
class Triangulation:
    """From distances to landmarks to points.

    directions : m×d, ½VΛ^-½ (a column of zeros where λ ≤ 0: no extent)
    mean_squares : m, the mean squared distance of each landmark to all of them
    """

    directions: Array
    mean_squares: Array

    @classmethod
    def of(cls, V: Array, values: Array, mean_squares: Array) -> Triangulation:
        """The map of a solved problem: vectors V, eigenvalues `values`, and δ̄ = `mean_squares`."""
        extent = values > 0
        scales = np.zeros(len(values))
        scales[extent] = 0.5 / np.sqrt(values[extent])
        return cls(V * scales, np.asarray(mean_squares, dtype=float))

    def __call__(self, distances: Array) -> Array:
        """Points (p×d) from distances to the landmarks (p×m), block by block in float64."""
        if distances.shape[1] != len(self.mean_squares):
            raise InvalidInput(
                f"distances to {len(self.mean_squares)} landmarks are needed, one for each column; "
                f"the shape is {distances.shape}"
            )
        points = np.empty((len(distances), self.directions.shape[1]))

        def share(slices: list[slice]) -> None:
            for rows in slices:
                block = np.square(distances[rows], dtype=float)
                points[rows] = np.subtract(self.mean_squares, block, out=block) @ self.directions

        in_shares(share, thin_tiles(distances))
        return points


@dataclass(frozen=True, eq=False)
class DistancesMap(OutOfSampleMap):
    """New points by their distances to old ones; `distances` is a function of the new points."""

    distances: Callable[[Rows], Array]
    place: Triangulation

    def __call__(self, X: Rows) -> Array:
        return self.place(np.asarray(self.distances(X)))


@dataclass(frozen=True, eq=False)
class LandmarkLift(Lift):
    """The lift of a problem about landmarks alone: every point of the graph."""

    landmarks: Landmarks

    rows_are_points: ClassVar[bool] = False
    is_flat_at_zero: ClassVar[bool] = True

    @property
    def mean_squares(self) -> Array:
        """The mean squared distance of each landmark to all landmarks: δ̄."""
        between = self.landmarks.distances[:, self.landmarks.indices]
        return np.asarray(np.square(between, dtype=float).mean(axis=0))

    def __call__(self, V: Array, values: Array) -> Array:
        return Triangulation.of(V, values, self.mean_squares)(self.landmarks.distances.T)

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        """V with M·V·Θ^-½ = the landmarks' points, M = ½(δ̄ − δ) between landmarks.

        These points are not VΘ^½: M holds the shortest paths as they were rounded in either
        direction, the problem their mean. So V is computed from M itself, by least squares, in
        the directions that M determines.
        """
        landmark_points = stored.points[self.landmarks.indices]
        V = unit_columns(landmark_points)
        values = np.diagonal(rayleigh_matrix(problem, V))
        if not np.all(values > 0):
            return V
        squares = np.square(self.landmarks.distances[:, self.landmarks.indices].T, dtype=float)
        M = (self.mean_squares - squares) / 2
        missing = landmark_points * np.sqrt(values) - M @ V
        left, sizes, right = np.linalg.svd(M)
        ratio = RESOLVED_RATIO_FLOAT32 if stored.single else RESOLVED_RATIO
        resolved = sizes[:, None] > ratio * values
        sizes = np.where(sizes > 0, sizes, 1.0)
        V = V + right.T @ np.where(resolved, (left.T @ missing) / sizes[:, None], 0.0)
        return _orthonormal_from_last(V)

    def n_points(self, n: int) -> int:
        return int(self.landmarks.distances.shape[1])

    def centred_points(self, problem: TraceProblem, points: Array) -> Array:
        """Around the mean of the landmarks."""
        return points - points[self.landmarks.indices].mean(axis=0)

    def agreement_text(self, n_points: int, distance: float) -> str:
        agreement = bound_text(distance, 1)
        return f"all {n_points:,} points were placed again and agree to {agreement} of the extent"


def _orthonormal_from_last(V: Array) -> Array:
    """Orthonormal columns: the last one stays as it is, the first is changed most.

    An error of the last vector (θ small) along the first (θ large) moves points by the ratio of
    their sizes, so stored points determine it well. An error the other way round hardly moves
    them, and they hardly determine it.
    """
    Q, R = np.linalg.qr(V[:, ::-1])
    return np.asarray((Q * np.where(np.diagonal(R) < 0, -1.0, 1.0))[:, ::-1])


def triangulation(problem: TraceProblem, V: Array, values: Array) -> Triangulation:
    """Triangulation by the answer (V, values) of an exact or landmark Isomap problem.

    For the exact one every point is a landmark; its mean squares δ̄ are read off the
    diagonal of K = −½HΔH: δ̄_i = K_ii + tr K/n.
    """
    if isinstance(problem.lift, LandmarkLift):
        return Triangulation.of(V, values, problem.lift.mean_squares)
    diagonal = np.asarray(np.diagonal(problem.A), dtype=float)
    return Triangulation.of(V, values, diagonal + diagonal.mean())


def geodesics_to_new(
    graph: Graph, X: Rows, *, landmarks: Landmarks | None = None
) -> Iterator[tuple[slice, Array]]:
    """Distances from new points to landmarks (None: to all points), some rows at a time.

    A new point enters the graph by its neighbours: min over them of ‖x − x_j‖ + g_jk.
    A point of the graph is its own nearest neighbour and gets its own geodesics. Those
    of the neighbours are computed when needed; nothing n×n is kept.
    """
    neighbors, distances = nearest_graph_points(graph, X)
    # Exact placing holds the geodesics of up to k neighbours of each new point.
    width = neighbors.shape[1] * graph.n if landmarks is None else len(landmarks.indices)
    for rows in row_slices(len(neighbors), max(1, BLOCK_NUMBERS // width)):
        near, lengths = neighbors[rows], distances[rows]
        if landmarks is None:
            sources, places = np.unique(near, return_inverse=True)
            geodesics = geodesic_distances(graph, sources, dtype=np.float64)
            places = places.reshape(near.shape)
        else:
            geodesics, places = landmarks.distances.T, near
        shortest = np.full((len(near), geodesics.shape[1]), np.inf)
        for j in range(near.shape[1]):
            np.minimum(shortest, geodesics[places[:, j]] + lengths[:, j, None], out=shortest)
        yield rows, shortest


@dataclass(frozen=True, eq=False)
class GeodesicMap(OutOfSampleMap):
    """New points of an Isomap: by their geodesics to its landmarks (None: to all points)."""

    graph: Graph
    place: Triangulation
    landmarks: Landmarks | None = None

    kind: ClassVar[str] = "geodesic"

    @classmethod
    def of(cls, graph: Graph, problem: TraceProblem, V: Array, values: Array) -> GeodesicMap:
        """The map of an answer (V, values) to an exact or landmark Isomap problem of `graph`."""
        landmarks = getattr(problem.lift, "landmarks", None)
        return cls(graph, triangulation(problem, V, values), landmarks)

    def __call__(self, X: Rows) -> Array:
        blocks = geodesics_to_new(self.graph, X, landmarks=self.landmarks)
        return np.vstack([self.place(distances) for _, distances in blocks])

    @property
    def n_coordinates(self) -> int:
        return int(self.place.directions.shape[-1])

    def parts(self) -> Parts:
        parts = Parts(self.kind)
        put_graph(parts, self.graph)
        parts.put("directions", self.place.directions, "answer")
        parts.put("mean_squares", self.place.mean_squares, "answer")
        if self.landmarks is not None:
            # Their geodesics, m×n numbers, are computed again in seconds on reading.
            parts.put("landmarks", self.landmarks.indices)
            parts.facts["landmark_precision"] = str(self.landmarks.distances.dtype)
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> GeodesicMap:
        graph = graph_from_parts(parts)
        indices = parts.get("landmarks")
        m = graph.n
        if indices is not None:
            m = len(parts.indices("landmarks", [None], graph.n))
            precision = parts.word("landmark_precision", ("float32", "float64"))
        directions = parts.array("directions", [m, None])
        squares = parts.array("mean_squares", [m])
        landmarks = None
        if indices is not None:
            distances = geodesic_distances(graph, indices, dtype=np.dtype(precision))
            landmarks = Landmarks(indices, distances)
        return cls(graph, Triangulation(directions, squares), landmarks)

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        return StoredAnswer(unit_columns(float_array(self.place.directions)))

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.graph.points, self.graph.metric
