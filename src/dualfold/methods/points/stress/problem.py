"""The problem of least stress: given distances, weights of pairs, and how many coordinates.

    minimise  σ(Y) = Σ_{i<j} w_ij (‖y_i − y_j‖ − δ_ij)²

A distance that is NaN is missing, as if its weight were 0. In the ordinal (non-metric) problem only
the order of the distances counts: δ is replaced by the nearest disparities in this order
(`disparities.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.threads import row_slices
from dualfold.weights.gram import refuse_asymmetry

# Rows of a matrix that are looked at together.
BLOCK_ROWS = 512
# Squares of longer distances overflow in sums, those of shorter ones underflow.
MAX_DISTANCE = 1e140
MIN_DISTANCE = 1e-140


@dataclass(frozen=True, eq=False)
class StressProblem:
    """Given distances and what is asked of points.

    distances : n×n, symmetric, in float64; NaN where one is missing
    count : number of coordinates
    weights : n×n, symmetric, not negative; None for 1
    ordinal : whether the order of the distances alone counts
    """

    distances: Array
    count: int
    weights: Array | None = None
    ordinal: bool = False

    @property
    def n(self) -> int:
        return len(self.distances)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether distances are missing."""
        return bool(np.isnan(self.distances.sum()))

    @property
    def has_unit_weights(self) -> bool:
        """Whether all pairs count, and all the same."""
        return self.weights is None and not self.has_gaps

    @cached_property
    def curvatures(self) -> Array:
        """c with V ⪯ diag(c) on what points can be, V the Laplacian of the weights.

        V is nH for weights of 1, H = I − 11ᵀ/n, and centred points see n; no Laplacian exceeds
        twice its diagonal.
        """
        if self.has_unit_weights:
            return np.full(self.n, float(self.n))
        return 2 * np.array([float(self.weights_of(i).sum()) for i in range(self.n)])

    @cached_property
    def mean_squares(self) -> Array:
        """Means of the known squared distances of each point."""
        return np.array([float(np.nanmean(np.square(row))) for row in self.distances])

    def weights_of(self, i: int) -> Array:
        """The weights of the pairs of point i; 0 where a distance is missing, and of i itself."""
        known = ~np.isnan(self.distances[i])
        weights = known.astype(float) if self.weights is None else self.weights[i] * known
        weights[i] = 0.0
        return np.asarray(weights)

    def checked_points(self, points: ArrayLike) -> Array:
        """Points as an n×d array, d at most `count`."""
        Y = np.asarray(points, dtype=float)
        if Y.ndim != 2 or len(Y) != self.n:
            raise InvalidInput(
                f"the points must be an array of {self.n} rows; the shape is {Y.shape}"
            )
        return np.ascontiguousarray(Y)


def stress_problem(
    distances: Any, n_components: int = 2, *, weights: Any = None, ordinal: bool = False
) -> StressProblem:
    """The problem of `distances` (n×n), checked; a matrix that is symmetric is not copied."""
    D = _symmetric(distances, "distances")
    _refuse_odd_distances(D)
    if n_components < 1:
        raise InvalidInput(Argument("n_components", n_components), " must be 1 or more")
    W = None if weights is None else _weights_of_pairs(weights, D)
    problem = StressProblem(D, int(n_components), W, ordinal)
    _refuse_pieces(problem)
    return problem


def _weights_of_pairs(given: ArrayLike, D: Array) -> Array | None:
    """The weights, checked; None where they are 1 for all pairs."""
    W, name = _symmetric(given, "weights"), Argument("weights")
    if W.shape != D.shape:
        raise InvalidInput(name, f" has the shape {W.shape}, and the distances have {D.shape}")
    if not (W >= 0).all():
        raise InvalidInput(name, f" must be numbers, none below 0; the smallest is {W.min():g}")
    largest = float(W.max())
    sizes = largest, largest * float(np.fmax.reduce(D, axis=None))
    if max(sizes) > MAX_DISTANCE or any(0 < size < MIN_DISTANCE for size in sizes):
        raise InvalidInput(
            name,
            f" is up to {largest:g}, and squares of weights times distances are no doubles; "
            "multiply all weights by a constant",
        )
    others = np.count_nonzero(W != 1) - np.count_nonzero(np.diagonal(W) != 1)
    return W if others else None


def _symmetric(given: ArrayLike, name: str) -> Array:
    """The square matrix in float64, rows one after the other; the mean with its transpose."""
    D = np.ascontiguousarray(given, dtype=float)
    if np.isinf(D).any():
        raise InvalidInput(Argument(name), " must be finite; some are infinite")
    refuse_asymmetry(D, name)
    if len(D) < 2:
        raise InvalidInput(Argument(name), f" must be of 2 points or more; there is {len(D)}")
    if all(
        np.array_equal(D[rows], D[:, rows].T, equal_nan=True)
        for rows in row_slices(len(D), BLOCK_ROWS)
    ):
        return D
    return np.asarray((D + D.T) / 2)


def _refuse_odd_distances(D: Array) -> None:
    with np.errstate(invalid="ignore"):
        most, least = float(np.fmax.reduce(D, axis=None)), float(np.fmin.reduce(D, axis=None))
    if least < 0:
        raise InvalidInput(f"distances must not be negative; the smallest is {least:g}")
    if np.any(np.diagonal(D) > 0):
        raise InvalidInput("the distance of a point to itself must be 0; the diagonal has others")
    if most > MAX_DISTANCE or 0 < most < MIN_DISTANCE:
        raise InvalidInput(
            f"the largest distance is {most:g}, and its square is no double; give distances in "
            "other units"
        )


def _refuse_pieces(problem: StressProblem) -> None:
    """Pairs without distances must leave the points connected: nothing else holds them together."""
    if problem.has_unit_weights:
        return
    known = np.array([problem.weights_of(i) > 0 for i in range(problem.n)])
    count, piece = connected_components(known, directed=False)
    if count > 1:
        alone = int(np.flatnonzero(piece != piece[0])[0])
        raise InvalidInput(
            f"the known distances of weight above 0 leave the points in {count} pieces: none joins "
            f"point {alone} to point 0, and their places would mean nothing. Give more distances, "
            "or embed each piece on its own"
        )
