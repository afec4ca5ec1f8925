"""Data in the coordinates of its own row space, of the directions with enough variance.

A projection that *minimises* something must not look where the data has no extent:
directions with Xv = 0 would win. The leading principal directions Q leave them out,
and with a share of the variance below 1 also negligible ones that are only noise.

Two routes to the same space: the eigenvectors of the D×D scatter are Q itself; those
of the n×n Gram matrix (n < D) give Q as combinations of rows, so that for sparse data
no dense n×D or D×r matrix is ever formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.weights.column_moments import column_means
from dualfold.weights.covariance import scatter
from dualfold.weights.gram import point_gram, refuse_scale
from dualfold.weights.row_passes import combined_rows, numeric_table, projected_rows
from dualfold.weights.row_weights import RowWeights, row_total

# All eigenvectors of a larger matrix would take more than some minutes.
MAX_DIRECTIONS = 10_000
# Numbers in a block of coordinates: all n×r of them are never in memory together.
BLOCK_NUMBERS = 2**23
# Of the largest eigenvalue of a Gram matrix: a direction made from rows has a relative error of
# u·λ_max/λ (1e-6 here), so that smaller ones cannot be distinguished.
MIN_EIGENVALUE_SHARE = 1e-10


@dataclass(frozen=True, eq=False)
class RowSpace(ABC):
    """Z = (X − 1·meanᵀ)Q for r directions Q with the standard deviations `deviations`.

    data, mean : X and what is taken from its rows; share : of the variance that Z holds
    """

    data: Any
    mean: Array
    deviations: Array
    share: float

    @abstractmethod
    def coordinates(self, columns: slice) -> Array:
        """Some columns of Z."""

    @abstractmethod
    def adjoint(self, G: Array) -> Array:
        """ZᵀG."""

    @abstractmethod
    def directions(self, V: Array) -> Array:
        """QV: directions of the reduced coordinates among the original features, D×d."""

    @abstractmethod
    def shares(self, G: Array) -> Array:
        """QᵀG of directions G among the original features, D×d."""

    @abstractmethod
    def as_white(self) -> RowSpace:
        """Space with every direction scaled to ZᵀZ = I.

        Only the coordinates change, not the problem: it keeps B = ZᵀDegZ well
        conditioned however small the variance of the last direction is.
        """

    def weighted_mean(self, weights: Array) -> Array:
        """Σ w_i x_i / Σ w_i over the original features."""
        offset = combined_rows(self.data, weights[:, None], self.mean)[:, 0]
        return np.asarray(self.mean + offset / weights.sum())

    def form(self, times: Callable[[Array], Array]) -> Array:
        """ZᵀSZ (r×r) for a symmetric S known by its products."""
        size, n = len(self.deviations), self.data.shape[0]
        width = max(16, BLOCK_NUMBERS // n)
        blocks = [
            self.adjoint(times(self.coordinates(slice(start, start + width))))
            for start in range(0, size, width)
        ]
        whole = np.hstack(blocks)
        return np.asarray((whole + whole.T) / 2)


@dataclass(frozen=True, eq=False)
class FeatureSpace(RowSpace):
    """Q known by its entries, D×r."""

    basis: Array

    def coordinates(self, columns: slice) -> Array:
        return projected_rows(self.data, self.basis[:, columns], self.mean)

    def adjoint(self, G: Array) -> Array:
        return self.basis.T @ combined_rows(self.data, G, self.mean)

    def directions(self, V: Array) -> Array:
        return np.asarray(self.basis @ V)

    def shares(self, G: Array) -> Array:
        return self.basis.T @ G

    def as_white(self) -> FeatureSpace:
        return self.as_white_for(self.data.shape[0])

    def as_white_for(self, n: float) -> FeatureSpace:
        """Space with ZᵀZ = I for n rows, which need not be in memory."""
        return replace(self, basis=self.basis / (self.deviations * np.sqrt(n)))

    def congruent(self, matrix: Array) -> Array:
        """QᵀMQ of a symmetric matrix of the features."""
        image = self.basis.T @ matrix @ self.basis
        return np.asarray((image + image.T) / 2)


@dataclass(frozen=True, eq=False)
class PointSpace(RowSpace):
    """Q = (X − 1·meanᵀ)ᵀ·combinations, with Z = `images` (both n×r) in memory."""

    combinations: Array
    images: Array

    def coordinates(self, columns: slice) -> Array:
        return self.images[:, columns]

    def adjoint(self, G: Array) -> Array:
        return self.images.T @ G

    def directions(self, V: Array) -> Array:
        return combined_rows(self.data, self.combinations @ V, self.mean)

    def shares(self, G: Array) -> Array:
        return self.combinations.T @ projected_rows(self.data, G, self.mean)

    def as_white(self) -> RowSpace:
        lengths = self.deviations * np.sqrt(self.data.shape[0])
        combinations, images = self.combinations / lengths, self.images / lengths
        return replace(self, combinations=combinations, images=images)


@dataclass(frozen=True, eq=False)
class WholeSpace(RowSpace):
    """A row space of orthonormal directions, and others, `flat` (D×m), along which no row differs.

    The latter have coordinates, too, which are 0 for every row.
    """

    inner: RowSpace
    flat: Array

    @classmethod
    def of(cls, inner: RowSpace, count: int) -> WholeSpace:
        """The row space with `count` of the directions beside it, drawn with a fixed seed."""
        flat = np.random.default_rng(0).standard_normal((len(inner.mean), count))
        for _ in range(2):  # twice is enough (Kahan)
            flat = np.linalg.qr(flat - inner.directions(inner.shares(flat)))[0]
        flat[np.abs(flat) < 1e-12] = 0  # features that vary, where others do not
        deviations = np.concatenate([inner.deviations, np.zeros(count)])
        return cls(inner.data, inner.mean, deviations, inner.share, inner, flat)

    @property
    def n_inner(self) -> int:
        """Number of coordinates of the row space; those beyond are flat."""
        return len(self.inner.deviations)

    def coordinates(self, columns: slice) -> Array:
        Z = self.inner.coordinates(slice(0, self.n_inner))
        return np.hstack([Z, np.zeros((len(Z), self.flat.shape[1]))])[:, columns]

    def adjoint(self, G: Array) -> Array:
        return np.vstack([self.inner.adjoint(G), np.zeros((self.flat.shape[1], G.shape[1]))])

    def directions(self, V: Array) -> Array:
        return self.inner.directions(V[: self.n_inner]) + self.flat @ V[self.n_inner :]

    def shares(self, G: Array) -> Array:
        return np.vstack([self.inner.shares(G), self.flat.T @ G])

    def as_white(self) -> RowSpace:
        return replace(self, inner=self.inner.as_white())


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Sums over n rows: scatter Σ(x − x̄)(x − x̄)ᵀ, D×D, and mean x̄.

    n : their number, or the sum of their weights
    """

    n: float
    scatter: Array
    mean: Array


def row_space(
    X: Rows,
    *,
    variance_kept: float = 0.99,
    least: int = 1,
    units: Array | None = None,
    centred: bool = True,
    weights: RowWeights | None = None,
) -> RowSpace:
    """The fewest leading principal directions of X that hold `variance_kept` of the variance.

    There are `least` of them or more, if the data has that many. 1.0 keeps every direction
    whose variance stands out from rounding. With `units`, D numbers, variances are those of
    features divided by them (for n ≥ D), and the directions are orthonormal in these units.
    Without `centred` nothing is taken off the rows: mean squares are in place of variances.
    With `weights` mean and variances are weighted.
    It goes through the smaller of the n×n and D×D matrices, which may have 10,000 rows:
    sparse data with more points *and* more features than that is refused (`TooLarge`).
    """
    if not 0 < variance_kept <= 1:
        raise InvalidInput(
            Argument("variance_kept"),
            f" is {variance_kept}; it is a share above 0 and at most 1 (1: the whole row space)",
        )
    data = numeric_table(X)
    n, width = data.shape
    if min(n, width) > MAX_DIRECTIONS:
        raise TooLarge(
            f"the data has {n} points and {width} features; reducing it to its row space takes "
            f"all eigenvectors of the smaller side, which may have {MAX_DIRECTIONS}. Bring "
            "the features down first: methods.random_projection, or a selection of columns"
        )
    mass = row_total(data, weights)
    if n < width:
        mean = column_means(data, weights) if centred else np.zeros(width)
        gram = point_gram(data, mean, precision=np.float64, weights=weights)
        refuse_scale(float(np.trace(gram)), data)
        values, U = _spectrum(gram, MIN_EIGENVALUE_SHARE)
        count = _leading_count(values, variance_kept, least)
        lengths, U = np.sqrt(values[:count]), U[:, :count]
        share = float(values[:count].sum() / values.sum())
        combinations, images = U / lengths, U * lengths
        if weights is not None:
            combinations *= weights.roots[:, None]
            # U·lengths/√w would magnify the rounding of rows with small weights.
            images = projected_rows(data, combined_rows(data, combinations, mean), mean)
        return PointSpace(data, mean, lengths / np.sqrt(mass), share, combinations, images)
    total, mean = scatter(data, precision=np.float64, weights=weights)
    if not centred:
        total, mean = total + mass * np.outer(mean, mean), np.zeros(width)
    return feature_space(data, RowMoments(mass, total, mean), variance_kept, least, units)


def feature_space(
    data: Any,
    moments: RowMoments,
    variance_kept: float = 1.0,
    least: int = 1,
    units: Array | None = None,
) -> FeatureSpace:
    """Leading principal directions of rows whose moments are known; `data` may be None."""
    n, total, mean = moments.n, moments.scatter, moments.mean
    width = len(mean)
    total = total if units is None else total / np.outer(units, units)
    # The rounding of LAPACK grows with the size, that of the sums with √(their length).
    values, Q = _spectrum(total, 4 * np.finfo(float).eps * (width + np.sqrt(n)))
    count = _leading_count(values, variance_kept, least)
    share = float(values[:count].sum() / values.sum())
    basis = Q[:, :count] if units is None else Q[:, :count] / units[:, None]
    return FeatureSpace(data, mean, np.sqrt(values[:count] / n), share, basis)


def _spectrum(matrix: Array, faint: float) -> tuple[Array, Array]:
    """Eigenvalues from the largest down to `faint` times it, with their vectors."""
    if not np.isfinite(matrix).all():
        raise InvalidInput("the data holds NaN or infinite entries; fill or drop them first")
    # LAPACK rescales matrices far from 1 by itself, but rounds then; a power of 2 does not.
    power = int(np.frexp(np.abs(matrix).max(initial=0.0))[1])
    power = power if abs(power) > 400 else 0
    values, vectors = scipy.linalg.eigh(np.ldexp(matrix, -power) if power else matrix, driver="evd")
    values = np.ldexp(values, power) if power else values
    count = int(np.sum(values > faint * max(float(values[-1]), 0.0)))
    if count == 0:
        raise InvalidInput(
            "all points are equal: the data has no direction to project on (or squares of their "
            "differences vanish; then multiply them by a constant first)"
        )
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def _leading_count(values: Array, variance_kept: float, least: int) -> int:
    if variance_kept == 1:
        return len(values)
    reached = np.cumsum(values) >= variance_kept * values.sum()
    return max(int(np.argmax(reached)) + 1, min(least, len(values)))
