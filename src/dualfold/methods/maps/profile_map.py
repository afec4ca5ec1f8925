"""Linear maps of profiles: rows of counts divided by their sums, as correspondence analysis has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput
from dualfold.methods.maps.linear_map import LinearMap, ProjectionLift
from dualfold.trace.doubts import StoredPoints
from dualfold.trace.lift import Solve, unit_columns
from dualfold.trace.problem import TraceProblem
from dualfold.weights.row_passes import combined_rows, numeric_table


def row_sums(rows: Any) -> Array:
    """The sums of rows of counts; numbers below 0 are refused."""
    entries = rows.data if sp.issparse(rows) else rows
    if entries.size and float(entries.min()) < 0:
        raise InvalidInput(
            "Negative values in data: ",
            Argument("X"),
            f" holds {float(entries.min()):g}, and counts are 0 or more",
        )
    return np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()


def profiles(X: Rows) -> Any:
    """Rows of counts divided by their sums; a row without counts stays 0."""
    rows = numeric_table(X)
    sums = row_sums(rows)
    sums = np.where(sums > 0, sums, 1.0)
    if sp.issparse(rows):
        return sp.csr_array(sp.diags_array(1 / sums) @ rows)
    return rows / sums[:, None]


def chi_square_rows(X: Rows) -> Any:
    """Rows of counts whose Euclidean distances are the χ² distances of their profiles."""
    rows = numeric_table(X)
    sums = np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel()
    roots = np.sqrt(np.where(sums > 0, sums / (sums.sum() or 1.0), 1.0))
    shares = profiles(rows)
    return sp.csr_array(shares @ sp.diags_array(1 / roots)) if sp.issparse(rows) else shares / roots


@dataclass(frozen=True, eq=False)
class ProfileMap(LinearMap):
    """The map z = C·((p − mean)/scale) of the profile p = x/Σx of a row of counts x.

    A row without counts is where the mean is.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        Profile of all rows together.
    components : ndarray of shape (n_components, n_features)
        The matrix C, one row for each coordinate.
    scale : ndarray of shape (n_features,) or None, default=None
        Positive numbers that columns are divided by; None divides by none.

    See Also
    --------
    LinearMap : Linear function of the columns.
    dualfold.CorrespondenceAnalysis : The method that makes such maps.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.maps.profile_map import ProfileMap
    >>> ProfileMap(np.array([0.5, 0.5]), np.array([[1.0, -1.0]]))(np.array([[3.0, 1.0]]))
    array([[0.5]])
    """

    kind: ClassVar[str] = "profiles"

    def encode(self, X: Rows) -> Array:
        shares = profiles(X)
        empty = np.asarray(shares.sum(axis=1)).ravel() == 0
        return np.where(empty[:, None], 0, super().encode(shares))

    __call__ = encode

    def compared_rows(self, X: Rows) -> Rows:
        return super().compared_rows(profiles(X))


@dataclass(frozen=True, eq=False)
class ProfileLift(ProjectionLift):
    """The profiles of the rows of `data`, counts, as points: (p − mean)V/scale."""

    def linear_map(self, V: Array, values: Array) -> LinearMap:
        return ProfileMap(self.mean, np.ascontiguousarray(V.T), self.scale)

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        # SᵀSv = λv, and the points are D_r^(-1/2)Sv.
        assert self.scale is not None
        points = unit_columns(stored.points)
        points = points if self.weights is None else self.weights.values[:, None] * points
        sums = combined_rows(self.data, points, np.zeros(len(self.mean)))
        sums = sums - np.outer(self.mean, sums.sum(axis=0))
        return unit_columns(sums / self.scale[:, None])
