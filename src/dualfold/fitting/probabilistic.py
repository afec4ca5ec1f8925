"""The Gaussian model behind PCA: covariance, precision, likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfold.arrays import Array
from dualfold.inputs import numbers_of


class ProbabilisticModel:
    """x ~ N(mean, covariance): principal components plus the same noise in all directions.

    Tipping and Bishop, "Probabilistic principal component analysis" (1999).
    """

    components_: Array
    explained_variance_: Array
    noise_variance_: float
    mean_: Array
    scale_: Array | None

    def get_covariance(self) -> Array:
        """CᵀΛC + σ²(I − CᵀC): the covariance of the probabilistic model, in the data's units.

        σ² is `noise_variance_`, the mean of the variances not kept. It does not depend
        on `whiten`, which changes the coordinates and not the model.
        """
        C, noise = self.components_, self.noise_variance_
        covariance = (C.T * np.maximum(self.explained_variance_ - noise, 0)) @ C
        covariance[np.diag_indices_from(covariance)] += noise
        return self._in_units(covariance, 1)

    def get_precision(self) -> Array:
        """The inverse of `get_covariance`, in O(D²·n_components) (orthonormal components).

        Without noise and with directions of no extent there is no inverse; this is then
        the pseudo-inverse.
        """
        C, noise, variances = self.components_, self.noise_variance_, self.explained_variance_
        if noise == 0:
            faint = len(C.T) * np.finfo(variances.dtype).eps * variances.max(initial=0)
            real = variances > faint
            inverse = np.where(real, 1 / np.where(real, variances, 1), 0)
            return self._in_units((C.T * inverse) @ C, -1)
        kept = np.maximum(variances - noise, 0)
        precision = -(C.T * (kept / (noise * (noise + kept)))) @ C
        precision[np.diag_indices_from(precision)] += 1 / noise
        return self._in_units(precision, -1)

    def _in_units(self, matrix: Array, power: int) -> Array:
        if self.scale_ is None:
            return matrix
        units = self.scale_**power
        return np.asarray(matrix * np.outer(units, units))

    def score_samples(self, X: Any) -> Array:
        """The log-likelihood of each row under the probabilistic model (Tipping and Bishop)."""
        check_is_fitted(self)
        rows = validate_data(self, numbers_of(X), dtype=[np.float64, np.float32], reset=False)
        rows = rows - self.mean_
        precision = self.get_precision()
        sign, logdet = np.linalg.slogdet(precision)
        logdet = logdet if sign > 0 else -np.inf
        spread = np.einsum("ij,ij->i", rows @ precision, rows)
        return np.asarray(-0.5 * (spread + rows.shape[1] * np.log(2 * np.pi) - logdet))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows of X."""
        return float(np.mean(self.score_samples(X)))
