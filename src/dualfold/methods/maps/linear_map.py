"""Linear maps of the features, and the lifts of trace problems that end in one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.errors import InvalidInput
from dualfold.methods.maps.out_of_sample import (
    OutOfSampleMap,
    StoredAnswer,
    float_array,
    vectors_behind,
)
from dualfold.methods.maps.parts import Parts
from dualfold.trace.doubts import FLAT_COLUMN_RATIO, StoredPoints
from dualfold.trace.lift import Lift, Solve, unit_columns
from dualfold.trace.metric import Identity
from dualfold.trace.problem import TraceProblem
from dualfold.weights.gram import gram_kind
from dualfold.weights.reduction import RowSpace, WholeSpace
from dualfold.weights.row_passes import combined_rows, numeric_table, projected_rows
from dualfold.weights.row_weights import RowWeights, row_total


@dataclass(frozen=True, eq=False)
class LinearMap(OutOfSampleMap):
    """Linear map z = C·((x − mean)/scale), and the way back.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Vector that is subtracted.
    components : ndarray or sparse matrix of shape (n_components, n_features)
        The matrix C, one row for each coordinate.
    scale : ndarray of shape (n_features,) or None, default=None
        Positive numbers that the columns are divided by; None divides by none.

    See Also
    --------
    random_map : Linear maps that are drawn at random.
    dualfold.PCA : The linear map with the least error.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.maps import LinearMap
    >>> rule = LinearMap(np.array([1.0, 0.0]), np.array([[1.0, 0.0]]))
    >>> rule.encode(np.array([[3.0, 5.0]])), rule.decode(np.array([[2.0]]))
    (array([[2.]]), array([[3., 0.]]))
    """

    mean: Array
    components: Any
    scale: Array | None = None

    kind: ClassVar[str] = "linear"

    @cached_property
    def orthonormal(self) -> bool:
        """Whether the rows of C are orthonormal (to rounding), so that Cᵀ undoes C."""
        C = self.components.astype(float, copy=False)
        square = (C @ C.T).toarray() if sp.issparse(C) else C @ C.T
        return bool(np.abs(square - np.eye(len(square))).max() < 1e-12 * max(C.shape))

    @cached_property
    def inverse(self) -> Array:
        """The transposed pseudo-inverse of C, d×D; C itself if its rows are orthonormal."""
        C = self.components.toarray() if sp.issparse(self.components) else self.components
        C = C.astype(float, copy=False)
        return C if self.orthonormal else np.linalg.pinv(C).T

    def encode(self, X: Rows) -> Array:
        """Compute the coordinates of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of numbers; a dense X is read in tiles, a sparse X is not filled.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates.
        """
        rows = numeric_table(X)
        self._refuse_width(rows.shape[1], len(self.mean), "features")
        directions = self.components.T
        if self.scale is not None:
            directions = (
                sp.csr_array(sp.diags_array(1 / self.scale) @ directions)
                if sp.issparse(directions)
                else (directions / self.scale[:, None]).astype(directions.dtype, copy=False)
            )
        return projected_rows(rows, directions, self.mean if self.mean.any() else None)

    __call__ = encode  # as every map of new points

    def decode(self, Z: Any) -> Array:
        """Compute the nearest rows that have these coordinates.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows of features; decode(encode(X)) projects X.
        """
        points = np.asarray(Z, dtype=float)
        self._refuse_width(points.shape[-1], self.components.shape[0], "coordinates")
        features = points @ self.inverse
        return (features if self.scale is None else features * self.scale) + self.mean

    @property
    def n_coordinates(self) -> int:
        return int(self.components.shape[0])

    @property
    def n_columns(self) -> int:
        return len(self.mean)

    def parts(self) -> Parts:
        parts = Parts(self.kind)
        parts.put("mean", self.mean, "placing")
        parts.put("components", self.components, "answer")
        parts.put("scale", self.scale)
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> LinearMap:
        mean = parts.array("mean", [None])
        components = parts.table("components", [None, len(mean)])
        # A column that did not vary has an infinite scale.
        scale = parts.optional_array("scale", [len(mean)], above=0, infinite=True)
        return cls(mean, components, scale)

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        lift = problem.lift
        if not isinstance(lift, LinearLift):
            return super().stored_answer(problem, solve)
        directions = np.ascontiguousarray(float_array(self.components).T)
        if lift.vectors_are_components:
            return StoredAnswer(directions, row_by_row=False)
        V = vectors_behind(problem, self.encode(lift.data), solve)
        return StoredAnswer(lift.with_flat_directions(V, directions), row_by_row=False)

    def column_means(self) -> Array:
        return self.mean

    def compared_rows(self, X: Rows) -> Rows:
        return X if self.scale is None else X / self.scale

    def _refuse_width(self, given: int, needed: int, what: str) -> None:
        if given != needed:
            raise InvalidInput(
                f"the points have {given} {what}, this map was made for {needed}; pass the same "
                "columns as when it was fitted"
            )


class LinearLift(Lift):
    """A lift whose points are linear images of the rows of a table."""

    is_flat_at_zero: ClassVar[bool] = True
    data: Any

    @property
    def vectors_are_components(self) -> bool:
        """Whether the vectors are directions of the features, the components of the map."""
        return False

    def with_flat_directions(self, V: Array, directions: Array) -> Array:
        """V, with vectors that the points say nothing of read from the features' directions."""
        return V

    def linear_map(self, V: Array, values: Array) -> LinearMap:
        """The map from features to coordinates that the vectors V stand for."""
        raise NotImplementedError

    def n_points(self, n: int) -> int:
        return int(self.data.shape[0])

    def rows_to_compare(self) -> Rows:
        return self.data


@dataclass(frozen=True, eq=False)
class ProjectionLift(LinearLift):
    """(X − mean)V/scale: the points are linear images of the data (PCA, MDS, LPP, …).

    With a `space` the vectors live in its r reduced coordinates and its directions
    bring them back to the features. Without `data`, None, there are no points, only the map.
    `weights` are those of the rows in the problem; points do not depend on them.
    """

    data: Any
    mean: Array
    scale: Array | None = None
    space: RowSpace | None = None
    weights: RowWeights | None = None

    rows_are_points: ClassVar[bool] = False

    @property
    def vectors_are_components(self) -> bool:
        return self.space is None

    def linear_map(self, V: Array, values: Array) -> LinearMap:
        directions = V if self.space is None else self.space.directions(V)
        return LinearMap(self.mean, np.ascontiguousarray(directions.T), self.scale)

    def __call__(self, V: Array, values: Array) -> Array:
        if self.data is None:
            return np.zeros((0, V.shape[1]))
        return self.linear_map(V, values).encode(self.data)

    def points_around_mean(self, points: Array) -> Array:
        """Points around their mean, the weighted one where rows have weights."""
        if self.weights is None:
            return points - points.mean(axis=0, dtype=float)
        return points - self.weights.values @ points / self.weights.total

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        points = stored.points
        if self.space is not None:
            centred = self.points_around_mean(points)
            return np.linalg.solve(self.space.form(lambda Z: Z), self.space.adjoint(centred))
        if not isinstance(problem.metric, Identity):
            # Where features outnumber rows, points do not determine the directions that they
            # come from: an answer is computed, and rotated so that its points are nearest.
            U = solve(problem)
            left, _, right = np.linalg.svd(self(U, np.zeros(U.shape[1])).T @ points)
            return np.asarray(U @ (left @ right))
        # XᵀHXv = nθv, so v is XᵀHy at length 1, and Σ w(x − x̄)y with weights.
        units = unit_columns(points)
        units = units if self.weights is None else self.weights.values[:, None] * units
        moments = combined_rows(self.data, units, self.mean)
        return unit_columns(moments if self.scale is None else moments / self.scale[:, None])


@dataclass(frozen=True, eq=False)
class WholeSpaceLift(ProjectionLift):
    """Projection lift whose vectors may stand for directions along which no row differs, too."""

    is_flat_at_zero: ClassVar[bool] = False

    def __call__(self, V: Array, values: Array) -> Array:
        points = super().__call__(V, values)
        points[:, self.flat_columns(V)] = 0  # but for rounding
        return points

    def with_flat_directions(self, V: Array, directions: Array) -> Array:
        assert isinstance(self.space, WholeSpace)
        flat, V = self.flat_columns(V), V.copy()
        V[self.space.n_inner :, flat] = self.space.flat.T @ directions[:, flat]
        return V

    def flat_columns(self, V: Array) -> Array:
        assert isinstance(self.space, WholeSpace)
        lengths = [np.linalg.norm(part, axis=0) for part in np.split(V, [self.space.n_inner])]
        return np.flatnonzero(lengths[1] > lengths[0])

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        """Columns without extent stand for flat directions, one each."""
        assert isinstance(self.space, WholeSpace)
        inner, r = self.space.inner, self.space.n_inner
        points = self.points_around_mean(stored.points)
        V = np.zeros((problem.n, points.shape[1]))
        V[:r] = np.linalg.solve(inner.form(lambda Z: Z), inner.adjoint(points))
        # An answer has the length 1 in the metric; what is left of it in the rows' space is not.
        squares = np.einsum("ij,ij->j", V, problem.metric.times(V))
        flat = np.flatnonzero(squares <= FLAT_COLUMN_RATIO**2)[: problem.n - r]
        V[:, flat] = 0
        V[r + np.arange(len(flat)), flat] = 1
        V[:, flat] /= np.sqrt(np.einsum("ij,ij->j", V, problem.metric.times(V))[flat])
        return V


def projection_lift(
    data: Any, mean: Array, space: RowSpace | None, weights: RowWeights | None = None
) -> ProjectionLift:
    """The lift of vectors in the coordinates of `space`, or of the features where it is None."""
    kind = WholeSpaceLift if isinstance(space, WholeSpace) else ProjectionLift
    return kind(data, mean, space=space, weights=weights)


@dataclass(frozen=True, eq=False)
class GramProjectionLift(LinearLift):
    """V√(mλ) for eigenvectors V, values λ of the points' Gram matrix over m, the `divisor`.

    The same points as `ProjectionLift` gives for the features' covariance; the components
    are combinations of rows, XᵀHV/√(mλ). A direction without extent (λ = 0 to
    rounding) has no component: its row is 0. `divisor` None is the number of points.
    With `weights` w the vectors are those of rows multiplied by √w, and the points are computed
    from the components: V√(mλ)/√w would magnify the rounding of rows with small weights.
    """

    data: Any
    mean: Array
    scale: Array | None = None
    divisor: float | None = None
    weights: RowWeights | None = None

    def linear_map(self, V: Array, values: Array) -> LinearMap:
        n, m = self.data.shape[0], self._divisor
        # What the rounding of n sums leaves where the exact eigenvalue is 0.
        rounding = np.sqrt(n) * np.finfo(gram_kind(self.data, weights=self.weights)).eps
        real = values > rounding * max(float(np.max(values)), 0.0)
        lengths = np.sqrt(m * np.where(real, values, 1.0))
        V = V if self.weights is None else self.weights.roots[:, None] * V
        directions = combined_rows(self.data, np.where(real, V / lengths, 0.0), self.mean)
        directions = directions if self.scale is None else directions / self.scale[:, None]
        return LinearMap(self.mean, np.ascontiguousarray(directions.T), self.scale)

    def __call__(self, V: Array, values: Array) -> Array:
        if self.weights is not None:
            return self.linear_map(V, values).encode(self.data)
        return V * np.sqrt(self._divisor * np.maximum(values, 0.0))

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        roots = 1.0 if self.weights is None else self.weights.roots[:, None]
        return unit_columns(roots * stored.points)

    @property
    def _divisor(self) -> float:
        return row_total(self.data, self.weights) if self.divisor is None else self.divisor
