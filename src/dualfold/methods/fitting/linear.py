"""Estimators that end in a linear map of the features, and how their answers become one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from dualfold.arrays import Array, DType, Rows
from dualfold.certificate import Certificate
from dualfold.embedding import Embedding
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import (
    Estimator,
    Stage,
    Statement,
    fit_stage,
    linear_statement,
)
from dualfold.methods.fitting.tiles import TiledRows, tiled_rows
from dualfold.methods.maps.linear_map import LinearMap
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution, with_signs


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Answer of a linear fit: z = C(x − mean) with C = `components`, a row a coordinate.

    values, certificate : the values of the problem, and how far from optimal they can be
    points : of the fitted rows; None for a table in tiles, whose points are made when asked for
    attributes : further fitted attributes of the method, by name
    """

    components: Any
    mean: Array
    values: Array
    certificate: Certificate
    points: Array | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LinearMethod:
    """A method that seeks a linear map, as data.

    fit : of rows X
    problem : that a fit would solve, of rows X and a number of coordinates
    fit_tiles : of a table in tiles and its classes
    """

    fit: Callable[[Any, FitContext, Stage], LinearFit]
    problem: Callable[[Any, int, FitContext], TraceProblem]
    fit_tiles: Callable[[TiledRows, Any, FitContext], LinearFit]


def linear_fit(embedding: Embedding, kind: DType, **attributes: Any) -> LinearFit:
    """The linear map of an answer, and the fitted points; both of the precision `kind`.

    The mean stays in float64: rounded to float32, one far from 0 would be off by the spread.
    """
    fit = linear_fit_of_tiles(
        embedding.problem, embedding.solution, embedding.certificate, kind, **attributes
    )
    map_ = _map_of(embedding.problem, embedding.solution)
    negated = np.einsum("ij,ij->i", fit.components, map_.components) < 0
    points = embedding.points * np.where(negated, -1.0, 1.0)
    return LinearFit(
        fit.components,
        fit.mean,
        fit.values,
        fit.certificate,
        points.astype(kind, copy=False),
        attributes,
    )


def linear_fit_of_tiles(
    problem: TraceProblem, solution: Solution, certificate: Any, kind: DType, **attributes: Any
) -> LinearFit:
    """The linear map of an answer, without points."""
    map_ = _map_of(problem, solution)
    components = normalize_signs(map_.components).astype(kind, copy=False)
    return LinearFit(components, map_.mean, solution.values, certificate, None, attributes)


def _map_of(problem: TraceProblem, solution: Solution) -> LinearMap:
    lift: Any = problem.lift
    map_: LinearMap = lift.linear_map(solution.vectors, solution.values)
    return map_


def normalize_signs(components: Array) -> Array:
    """Rows whose entry of largest modulus is positive, as scikit-learn has them."""
    return np.ascontiguousarray(with_signs(components.T).T)


class LinearEstimator(Estimator):
    """z = C(x − mean) with C = `components_` (a row a coordinate), and the way back."""

    components_: Any
    mean_: Array
    certificate_: Any

    def _method(self) -> LinearMethod:
        raise NotImplementedError

    def _fit(self, X: Rows, context: FitContext) -> None:
        self._keep(self._method().fit(X, context, partial(fit_stage, self)))
        if len(self.embedding_) < X.shape[0]:  # rows of weight 0 are placed
            self.embedding_ = self.placing_map()(X).astype(X.dtype, copy=False)

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        self._keep(self._method().fit_tiles(rows, y, context))

    def _keep(self, fit: LinearFit) -> None:
        self.components_, self.mean_ = fit.components, fit.mean
        self.n_components_ = len(fit.components)
        self.eigenvalues_, self.certificate_ = fit.values, fit.certificate
        if fit.points is not None:
            self.embedding_ = fit.points
        for name, value in fit.attributes.items():
            setattr(self, name, value)

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        return linear_statement(self._method().problem(X, count, context))

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows whose coordinates are those of X.

        Among all such rows it is the one nearest to the mean: mean + zC for orthonormal components
        C, else by the pseudo-inverse.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Points of the map.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in the space of the data.
        """
        check_is_fitted(self)
        rows = tiled_rows(X)
        if rows is not None:
            return rows.inverse_transform_with(self)
        points = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        return self._linear_map().decode(points).astype(points.dtype, copy=False)

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the linear map that places new rows.

        Returns
        -------
        LinearMap
            The function x ↦ C(x − mean), with the scales of features and coordinates.
        """
        check_is_fitted(self)
        return self._linear_map()

    def _linear_map(self) -> LinearMap:
        return LinearMap(self.mean_, self.components_, getattr(self, "scale_", None))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
