"""Gaps filled by iterated regularised principal component analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.scales import Standard, standard_of

DEFAULT_COMPONENTS = 2
STEP_TOLERANCE = 1e-6
# Multiply-adds at most: some seconds. What is wider stops after a few rounds.
MAX_FLOPS, MAX_ROUNDS, MIN_ROUNDS = 2e10, 1000, 5


def pca_imputed(
    X: Array,
    *,
    n_components: int = DEFAULT_COMPONENTS,
    standardize: bool = True,
    indicators: Array | None = None,
) -> tuple[Array, bool]:
    """X with its gaps (NaN) filled, and whether the iteration had settled.

    Gaps begin at the mean of their column. Then in turn: the principal components of the filled
    table, each shrunk by the share of noise in its variance, (λ − σ²)/λ with σ² the mean of
    the variances left over; gaps take the fitted values; means and deviations are taken anew. So a
    value is filled by what rows that are alike have there, and not more surely than that.

    indicators : columns that are the 0 and 1 of categories; their gaps become shares

    Josse and Husson, "Handling missing values in exploratory multivariate data analysis
    methods" (2012).
    """
    hole = ~np.isfinite(X)
    filled = np.where(hole, np.nan, X).astype(np.float64)
    filled = np.where(hole, np.nanmean(filled, axis=0), filled)
    n, width = X.shape
    count = min(n_components, width - 1, n - 2)
    if not hole.any() or count < 1:
        return filled, True
    small = min(n, width)
    rounds = int(np.clip(MAX_FLOPS / (n * width * small + small**3), MIN_ROUNDS, MAX_ROUNDS))
    for _ in range(rounds):
        standard = _standard(filled, standardize, indicators)
        fitted = _shrunk_fit(standard.apply(filled), count)
        scale = np.where(np.isinf(standard.deviation), 0.0, standard.deviation)
        new = (fitted * scale + standard.mean)[hole]
        step = ((new - filled[hole]) / np.broadcast_to(_unit(scale), X.shape)[hole]) ** 2
        filled[hole] = new
        if float(step.mean()) <= STEP_TOLERANCE**2:
            return filled, True
    return filled, False


def _standard(filled: Array, standardize: bool, indicators: Array | None) -> Standard:
    found = standard_of(filled, indicators)
    if standardize:
        return found
    plain: Any = np.ones(filled.shape[1])
    return Standard(found.mean, plain)


def _unit(scale: Array) -> Array:
    return np.where(scale > 0, scale, 1.0)


def _shrunk_fit(Z: Array, count: int) -> Array:
    """The part of centred rows that shrunk principal components make up."""
    n, width = Z.shape
    wide = width > n
    values, vectors = np.linalg.eigh((Z @ Z.T if wide else Z.T @ Z) / n)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    rank = min(n - 1, width)
    noise = values[count:rank].sum() / max(1, rank - count)
    kept = values[:count]
    shrunk = np.where(kept > noise, (kept - noise) / np.where(kept > 0, kept, 1.0), 0.0)
    V = vectors[:, :count]
    return np.asarray((V * shrunk) @ (V.T @ Z) if wide else (Z @ V) * shrunk @ V.T)
