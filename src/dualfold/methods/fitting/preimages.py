"""From points of a kernel PCA back to rows: a regression that is learnt, and fixed points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.methods.maps.kernel_map import KernelFeatures, KernelMap
from dualfold.weights.kernel_matrix import Kernel

# Steps of the fixed-point iteration, and the motion, as a share of the rows' extent, that ends it.
MAX_STEPS = 200
MOTION_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RidgePreimages:
    """Kernel ridge regression from points to rows, as scikit-learn has it.

    points : of the fitted rows; coefficients : (K + αI)⁻¹X with K the kernel of the points
    """

    kernel: Kernel
    points: Array
    coefficients: Array

    @classmethod
    def fit(cls, kernel: Kernel, points: Array, X: Array, alpha: float) -> RidgePreimages:
        """Learn the rows X from their points.

        Bakır, Weston and Schölkopf, "Learning to find pre-images" (2004).
        """
        K = kernel.matrix(points)
        K[np.diag_indices(len(K))] += alpha
        try:
            coefficients = scipy.linalg.solve(K, X, assume_a="pos", overwrite_a=True)
        except np.linalg.LinAlgError as trouble:
            raise InvalidInput(
                "the ridge regression from points to rows has no solution: the kernel of the "
                "points is singular; raise ",
                Argument("alpha", alpha),
            ) from trouble
        return cls(kernel, points, coefficients)

    def __call__(self, points: Array) -> Array:
        """The rows of points."""
        return self.kernel.between(points, self.points) @ self.coefficients


@dataclass(frozen=True, eq=False)
class FixedPointPreimages:
    """Rows z of an rbf kernel whose feature φ(z) is nearest to a point of the map.

    A point y stands for Σ w_i φ(x_i), w = Cy + b; z ← Σ w_i k(z, x_i) x_i / Σ w_i k(z, x_i) climbs
    towards the largest ⟨φ(z), Σ w_i φ(x_i)⟩. Where some w_i are negative a step may fall; then
    the iteration ends there.

    Mika, Schölkopf, Smola, Müller, Scholz and Rätsch, "Kernel PCA and de-noising in feature spaces"
    (1998).
    """

    features: KernelFeatures
    coefficients: Array  # C, m×d
    base: Array  # b, the mean of all φ(x_i) by the same rows
    points: Array  # of the rows, to begin at the nearest

    @classmethod
    def of(cls, rule: KernelMap, points: Array, masses: Array) -> FixedPointPreimages:
        """Preimages of a map of rows with these points and masses; landmarks are whitened."""
        features, linear = rule.features, rule.linear
        inner = np.asarray(linear.components).T
        if features.whitening is None:
            return cls(features, inner - np.outer(masses, inner.sum(axis=0)), masses, points)
        whitening = features.whitening
        return cls(features, whitening @ inner, whitening @ linear.mean, points)

    def __call__(self, points: Array, starts: Array) -> Array:
        """The rows of points, from `starts` or the nearest fitted row, whichever is better."""
        rows = np.asarray(self.features.rows, dtype=float)
        weights = points @ self.coefficients.T + self.base
        nearest = rows[_nearest(points, self.points)]
        z, value = starts, self._values(starts, weights)[0]
        other = self._values(nearest, weights)[0]
        z = np.where((other > value)[:, None], nearest, z)
        value = np.maximum(value, other)
        left = np.arange(len(z))
        extent = float(np.ptp(rows, axis=0).max(initial=0.0))
        for _ in range(MAX_STEPS):
            if not len(left):
                break
            current, kernels = self._values(z[left], weights[left])
            climbing = current > 0
            left = left[climbing]
            if not len(left):
                break
            step = (kernels[climbing] / current[climbing, None]) @ rows
            reached = self._values(step, weights[left])[0]
            better = reached > value[left]
            moved = np.abs(step - z[left]).max(axis=1) > MOTION_TOLERANCE * extent
            z[left[better]], value[left[better]] = step[better], reached[better]
            left = left[better & moved]
        return z

    def _values(self, z: Array, weights: Array) -> tuple[Array, Array]:
        """Σ w_i k(z, x_i) of each z, and its terms."""
        features = self.features
        shifted = features.shifted_rows(z), features.shifted_rows(features.rows)
        terms = weights * features.kernel.between(*shifted)
        return terms.sum(axis=1), terms


def _nearest(points: Array, fitted: Array) -> Array:
    """For each point the number of the nearest fitted one."""
    squares = np.square(fitted).sum(axis=1) - 2 * (points @ fitted.T)
    return np.asarray(squares.argmin(axis=1))
