"""The Gaussian model behind PCA: covariance, precision, likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """x ~ N(mean, covariance): principal components plus the same noise in all directions.

    components, variances : orthonormal rows, and the variance along each
    noise : the variance in every other direction
    scale : what features were divided by, or None

    Tipping and Bishop, "Probabilistic principal component analysis" (1999).
    """

    mean: Array
    components: Array
    variances: Array
    noise: float
    scale: Array | None

    def covariance(self) -> Array:
        """CᵀΛC + σ²(I − CᵀC), in the data's units."""
        C, noise = self.components.astype(float, copy=False), self.noise
        covariance = (C.T * np.maximum(self.variances - noise, 0)) @ C
        covariance[np.diag_indices_from(covariance)] += noise
        return self._in_units(covariance, 1)

    def precision(self) -> Array:
        """Inverse of the covariance, or the pseudo-inverse where there is no noise."""
        C, noise, variances = self.components.astype(float), self.noise, self.variances
        if noise == 0:
            negligible = len(C.T) * np.finfo(variances.dtype).eps * variances.max(initial=0)
            real = variances > negligible
            inverse = np.where(real, 1 / np.where(real, variances, 1), 0)
            return self._in_units((C.T * inverse) @ C, -1)
        kept = np.maximum(variances - noise, 0)
        precision = -(C.T * (kept / (noise * (noise + kept)))) @ C
        precision[np.diag_indices_from(precision)] += 1 / noise
        return self._in_units(precision, -1)

    def log_likelihoods(self, rows: Array) -> Array:
        """The log-likelihood of each row."""
        rows = rows - self.mean
        precision = self.precision()
        sign, logdet = np.linalg.slogdet(precision)
        logdet = logdet if sign > 0 else -np.inf
        spread = np.einsum("ij,ij->i", rows @ precision, rows)
        return np.asarray(-0.5 * (spread + rows.shape[1] * np.log(2 * np.pi) - logdet))

    def _in_units(self, matrix: Array, power: int) -> Array:
        if self.scale is None:
            return matrix
        units = self.scale**power
        return np.asarray(matrix * np.outer(units, units))


def gaussian_model(fitted: Any) -> GaussianModel:
    """Gaussian model of a fitted PCA."""
    return GaussianModel(
        fitted.mean_,
        fitted.components_,
        fitted.explained_variance_,
        fitted.noise_variance_,
        fitted.scale_,
    )
