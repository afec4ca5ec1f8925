"""The forces that move points in PCA by descent, for plotting and for checking.

    F_X = Σ_j c^X_ij (y_i − y_j),   F_Y = Σ_j c^Y_ij (y_i − y_j),   ∇f = −8(F_X − F_Y)

c are the double-centred squared distances, c_ij = −2⟨x_i − x̄, x_j − x̄⟩: a pair with c^X_ij < 0
is pulled together by the data, one with c^X_ij > 0 pushed apart; in Y it is the other way
round. Rows of c add up to 0, so F_X = 2X_c(X_cᵀY_c) and F_Y = 2Y_c(Y_cᵀY_c): O(nDd).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.point_pca.point_descent import centred_points, kernel_times
from dualfold.weights.rows import column_means

# All pairs of so many points in the plane are 128 MB.
MOST_PAIRED = 2_000


@dataclass(frozen=True, eq=False)
class Forces:
    """n×d arrays: `of_data` (F_X), `of_points` (F_Y), and where a descent moves each point."""

    of_data: Array
    of_points: Array

    @property
    def descent(self) -> Array:
        """−∇f = 8(F_X − F_Y)."""
        return 8 * (self.of_data - self.of_points)


def point_forces(X: Any, Y: Any) -> Forces:
    """F_X and F_Y on every point.

    >>> forces = point_forces([[0.0], [1.0], [5.0]], [[0.0], [1.0], [5.0]])
    >>> bool((forces.descent == 0).all())  # Y = X: nothing moves
    True
    """
    data, points = centred_points(X, Y)
    of_data = 2 * kernel_times(data, column_means(data), points)
    return Forces(of_data, 2 * points @ (points.T @ points))


def pair_forces(X: Any, Y: Any) -> tuple[Array, Array]:
    """c^X_ij (y_i − y_j) and c^Y_ij (y_i − y_j), n×n×d each: the definition, for few points."""
    data, points = centred_points(X, Y)
    n = len(points)
    if n > MOST_PAIRED:
        raise TooLarge(
            f"{n} points have {n * n} pairs; up to {MOST_PAIRED} points are taken. point_forces "
            "gives the sums for any number"
        )
    centred = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=float)
    between = points[:, None, :] - points[None, :, :]
    pulls = (double_centred(centred), double_centred(points))
    return pulls[0][:, :, None] * between, pulls[1][:, :, None] * between


def double_centred(points: Array) -> Array:
    """H·E·H of the squared distances E, from the distances themselves (n×n)."""
    squares = cdist(points, points, "sqeuclidean")  # without n×n×D differences
    squares -= squares.mean(axis=1, keepdims=True)
    squares -= squares.mean(axis=0, keepdims=True)
    return np.asarray(squares)
