"""Estimators that end in a linear map of the features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from dualfold.arrays import Array
from dualfold.certificate import Certificate
from dualfold.embedding import Embedding
from dualfold.estimators.base import CertifiedEstimator
from dualfold.maps.linear import LinearMap
from dualfold.scale.table import is_tiled
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution, with_signs


class LinearEstimator(CertifiedEstimator):
    """z = C(x − mean) with C = `components_` (a row a coordinate), and the way back."""

    components_: Any
    mean_: Array
    certificate_: Any

    def inverse_transform(self, X: Any) -> Array:
        """The points of the data space whose coordinates are the rows of X.

        Among all such points the one nearest to the mean: for orthonormal components
        mean + zC, else by the pseudo-inverse.
        """
        if is_tiled(X):
            return self._inverse_tiles(X)
        check_is_fitted(self)
        points = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        return self._linear_map.decode(points).astype(points.dtype, copy=False)

    def _keep_map(self, embedding: Embedding, kind: Any) -> None:
        """Sets what fitting leaves behind, from the answer of a problem whose lift is linear."""
        map_ = self._keep_answer(embedding.problem, embedding.solution, embedding.certificate, kind)
        turned = np.einsum("ij,ij->i", self.components_, map_.components) < 0
        points = embedding.points * np.where(turned, -1.0, 1.0)
        self.embedding_ = points.astype(kind, copy=False)

    def _keep_answer(
        self, problem: TraceProblem, solution: Solution, certificate: Certificate, kind: Any
    ) -> LinearMap:
        """The same without the points: of a table in tiles they are made when asked for."""
        lift: Any = problem.lift
        map_: LinearMap = lift.linear_map(solution.vectors, solution.values)
        self.components_ = signed(map_.components).astype(kind, copy=False)
        self.mean_ = map_.mean.astype(kind, copy=False)
        self.n_components_ = len(self.components_)
        self.eigenvalues_ = solution.values
        self.certificate_ = certificate
        return map_

    def placing_map(self) -> Callable[[Any], Array]:
        """The linear map, with what scales its coordinates."""
        check_is_fitted(self)
        return self._linear_map

    @property
    def _linear_map(self) -> LinearMap:
        return LinearMap(self.mean_, self.components_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def signed(components: Array) -> Array:
    """Rows whose entry of largest modulus is positive, as scikit-learn has them."""
    return np.ascontiguousarray(with_signs(components.T).T)
