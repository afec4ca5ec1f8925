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
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.graph.attachment import nearest_graph_points
from dualfold.graph.geodesics import Landmarks, geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.kernels.threads import in_shares, row_slices, thin_tiles
from dualfold.trace.problem import TraceProblem

# Numbers in a tile of distances: 16 MB in float64.
TILE = 2**21


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
        """Points (p×d) from distances to the landmarks (p×m), tile by tile in float64."""
        if distances.shape[1] != len(self.mean_squares):
            raise InvalidInput(
                f"distances to {len(self.mean_squares)} landmarks are needed, one for each column; "
                f"the shape is {distances.shape}"
            )
        points = np.empty((len(distances), self.directions.shape[1]))

        def share(slices: list[slice]) -> None:
            for rows in slices:
                tile = np.square(distances[rows], dtype=float)
                points[rows] = np.subtract(self.mean_squares, tile, out=tile) @ self.directions

        in_shares(share, thin_tiles(distances))
        return points


@dataclass(frozen=True, eq=False)
class DistancesMap:
    """New points by their distances to old ones; `distances` is a function of the new points."""

    distances: Callable[[Any], Array]
    place: Triangulation

    def __call__(self, X: Any) -> Array:
        return self.place(np.asarray(self.distances(X)))


@dataclass(frozen=True, eq=False)
class FromLandmarks:
    """The lift of a problem about landmarks alone: every point of the graph."""

    landmarks: Landmarks

    @property
    def mean_squares(self) -> Array:
        """The mean squared distance of each landmark to all landmarks: δ̄."""
        between = self.landmarks.distances[:, self.landmarks.indices]
        return np.asarray(np.square(between, dtype=float).mean(axis=0))

    def __call__(self, V: Array, values: Array) -> Array:
        return Triangulation.of(V, values, self.mean_squares)(self.landmarks.distances.T)


def triangulation(problem: TraceProblem, V: Array, values: Array) -> Triangulation:
    """How the answer (V, values) of an exact or landmark Isomap problem places points.

    For the exact one every point is a landmark; its mean squares δ̄ are read off the
    diagonal of K = −½HΔH: δ̄_i = K_ii + tr K/n.
    """
    if isinstance(problem.lift, FromLandmarks):
        return Triangulation.of(V, values, problem.lift.mean_squares)
    diagonal = np.asarray(np.diagonal(problem.A), dtype=float)
    return Triangulation.of(V, values, diagonal + diagonal.mean())


def geodesics_to_new(
    graph: Graph, X: Any, *, landmarks: Landmarks | None = None
) -> Iterator[tuple[slice, Array]]:
    """Distances from new points to landmarks (None: to all points), some rows at a time.

    A new point enters the graph by its neighbours: min over them of ‖x − x_j‖ + g_jk.
    A point of the graph is its own nearest neighbour and gets its own geodesics. Those
    of the neighbours are computed when needed; nothing n×n is kept.
    """
    entries, gaps = nearest_graph_points(graph, X)
    # Exact placing holds the geodesics of up to k neighbours a new point at a time.
    wide = entries.shape[1] * graph.n if landmarks is None else len(landmarks.indices)
    height = max(1, TILE // wide)
    for rows in row_slices(len(entries), height):
        near, away = entries[rows], gaps[rows]
        if landmarks is None:
            sources, where = np.unique(near, return_inverse=True)
            ways = geodesic_distances(graph, sources, dtype=np.float64)
            where = where.reshape(near.shape)
        else:
            ways, where = landmarks.distances.T, near
        best = np.full((len(near), ways.shape[1]), np.inf)
        for j in range(near.shape[1]):
            np.minimum(best, ways[where[:, j]] + away[:, j, None], out=best)
        yield rows, best


def placed(
    graph: Graph, X: Any, place: Triangulation, *, landmarks: Landmarks | None = None
) -> Array:
    """New points X among the embedded ones of `graph`, by their geodesics to the landmarks.

    `place` turns distances into coordinates; without `landmarks` every old point is one.
    """
    parts = [place(distances) for _, distances in geodesics_to_new(graph, X, landmarks=landmarks)]
    return np.vstack(parts)


@dataclass(frozen=True, eq=False)
class GeodesicMap:
    """New points of an Isomap: by their geodesics to its landmarks (None: to all points)."""

    graph: Graph
    place: Triangulation
    landmarks: Landmarks | None = None

    def __call__(self, X: Any) -> Array:
        return placed(self.graph, X, self.place, landmarks=self.landmarks)
