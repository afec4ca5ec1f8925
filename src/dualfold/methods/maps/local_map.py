"""New points as combinations of their neighbours, there and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.methods.maps.out_of_sample import (
    OutOfSampleMap,
    StoredAnswer,
    float_array,
    vectors_behind,
)
from dualfold.methods.maps.parts import Parts
from dualfold.trace.lift import Solve
from dualfold.trace.problem import TraceProblem
from dualfold.weights.batches import BATCH_NUMBERS, dense_rows, rescaled_offsets
from dualfold.weights.reconstruction import affine_weights, gram_weights


@dataclass(frozen=True, eq=False)
class LocalWeightsMap(OutOfSampleMap):
    """Map y = Σ_j w_j y_j, with the affine weights that rebuild x from its nearest fitted rows.

    A row that coincides with a fitted row gets its point.

    Parameters
    ----------
    features : ndarray or sparse matrix of shape (n_samples, n_features)
        The fitted rows.
    points : ndarray of shape (n_samples, n_components)
        Their points.
    n_neighbors : int
        Number of fitted rows that rebuild a new one.
    ridge : float
        Share of the trace of the local Gram matrix that is added to its diagonal, so that weights
        stay small.

    See Also
    --------
    dualfold.LocallyLinearEmbedding : The method whose new rows it places.

    References
    ----------
    .. [1] L. K. Saul and S. T. Roweis, "Think globally, fit locally: Unsupervised learning of low
       dimensional manifolds", Journal of Machine Learning Research, 4, 119–155, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.maps.local_map import LocalWeightsMap
    >>> rows = np.array([[0.0], [1.0], [2.0]])
    >>> LocalWeightsMap(rows, 10 * rows, 2, 1e-9)(np.array([[1.5]])).round(6)
    array([[15.]])
    """

    features: Rows
    points: Array
    n_neighbors: int
    ridge: float

    kind: ClassVar[str] = "local weights"

    def __call__(self, X: Rows) -> Array:
        return self._combinations(X, self.features, self.points)

    def inverse(self, Y: Any) -> Array:
        """Compute features of points on the map, by weights among its points.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Points on the map.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows of features.
        """
        rows, places = np.arange(self.features.shape[0]), np.asarray(Y)
        # Old points that a caller has in float32 coincide with old points in float32.
        single = places.dtype == np.float32
        known = self.points.astype(np.float32) if single else self.points
        return self._combinations(places, known, dense_rows(self.features, rows))

    def _combinations(self, queries: Any, known: Any, images: Array) -> Array:
        """Combinations of images of the nearest `known` points, by weights that rebuild queries."""
        neighbors = nearest(known, self.n_neighbors, queries=queries)
        near = neighbors.indices
        combined = np.empty((len(near), images.shape[1]))
        height = max(1, BATCH_NUMBERS // (near.shape[1] * (known.shape[1] + near.shape[1])))
        for start in range(0, len(near), height):
            rows = np.arange(start, min(start + height, len(near)))
            offsets = dense_rows(known, near[rows].ravel()).reshape(len(rows), near.shape[1], -1)
            offsets = offsets - dense_rows(queries, rows)[:, None]
            weights = affine_weights(rescaled_offsets(offsets), self.ridge)
            combined[rows] = np.einsum("bk,bkd->bd", weights, images[near[rows]])
        same = neighbors.distances[:, 0] == 0
        combined[same] = images[near[same, 0]]
        return combined

    def parts(self) -> Parts:
        parts = Parts(self.kind, {"n_neighbors": self.n_neighbors, "ridge": self.ridge})
        parts.put("features", self.features)
        parts.put("points", self.points, "answer")
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> LocalWeightsMap:
        features, points = parts.features_and_points()
        n_neighbors = parts.integer("n_neighbors", 1, len(points))
        return cls(features, points, n_neighbors, parts.number("ridge", least=0))

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        return StoredAnswer(vectors_behind(problem, float_array(self.points), solve))

    def stored_points(self) -> Array:
        return self.points

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.features, "euclidean"


@dataclass(frozen=True, eq=False)
class LocalDistancesMap(OutOfSampleMap):
    """Local weights from distances alone: rows of X hold those to every old point.

    The Gram matrix of the neighbours around the new point is G_ab = ½(δ_a² + δ_b² − d_ab²).
    """

    distances: Any
    points: Array
    n_neighbors: int
    ridge: float

    def __call__(self, X: Rows) -> Array:
        if sp.issparse(X) or sp.issparse(self.distances):
            raise InvalidInput(
                "new points are placed by dense precomputed distances; these are sparse: give "
                "every distance from the new points to the old ones, or fit on features"
            )
        rows = np.asarray(X, dtype=float)
        near = np.argsort(rows, axis=1, kind="stable")[:, : self.n_neighbors]
        lengths = np.take_along_axis(rows, near, axis=1)
        between = np.asarray(self.distances)[near[:, :, None], near[:, None, :]].astype(float)
        gram = (lengths[:, :, None] ** 2 + lengths[:, None, :] ** 2 - between**2) / 2
        weights = gram_weights(gram, self.ridge)
        points = np.einsum("bk,bkd->bd", weights, self.points[near])
        same = lengths[:, 0] == 0
        points[same] = self.points[near[same, 0]]
        return np.asarray(points)
