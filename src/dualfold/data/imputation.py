"""Missing values by a model of the rows, for the rows at hand and for rows that come later.

The model is probabilistic principal components (Tipping and Bishop, 1999): in units of `scale`,

    x = mean + W z + noise,    z ~ N(0, I),    noise ~ N(0, σ²)

`imputation_fit` fits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array

CELLS_PER_CHUNK = 1_000_000
# σ² of columns of variance 1: nearer to 0 steps get short, and nothing is measured that well.
MIN_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class Imputation:
    """Rule by which missing values are filled in, also in rows that come later.

    mean, scale : of the columns; the scale of a constant one is 0
    components : W, a row for each column; without columns where means are all there is
    noise : σ²
    levels : for each category the places of its columns, which are shares that add up to 1
    errors : quantiles of the errors of known cells left out one at a time, in units of the
        model's deviation, a row for each column; for draws
    stretch : by how much cells that were kept from the fit are farther off than these
    n_rows : how many rows it was fitted to
    converged : whether the iteration had ended
    """

    mean: Array
    scale: Array
    components: Array
    noise: float
    levels: tuple[tuple[int, ...], ...] = ()
    errors: Array | None = field(default=None, repr=False)
    stretch: float = 1.0
    n_rows: int = 0
    converged: bool = True

    @property
    def n_components(self) -> int:
        return int(self.components.shape[1])

    def imputed(self, X: Array) -> Array:
        """X with its missing and infinite values replaced by what the others let expect."""
        filled = np.array(X, dtype=np.float64)
        for rows, hole in _chunks_with_holes(X):
            z, _ = self._scores(filled[rows], hole)
            part = np.where(hole, self._values(z), filled[rows])
            filled[rows] = _with_shares(part, hole, self.levels)
        return filled

    def drawn_rows(self, X: Array, rng: np.random.Generator) -> Array:
        """X with random values in its holes: the expected ones, with their errors."""
        filled = np.array(X, dtype=np.float64)
        for rows, hole in _chunks_with_holes(X):
            z, inverse = self._scores(filled[rows], hole)
            if self.n_components:
                spread = np.linalg.cholesky(inverse) * np.sqrt(self.noise) * self.stretch
                z = z + np.einsum("nij,nj->ni", spread, rng.standard_normal(z.shape))
            errors = self.scale * np.sqrt(self.noise) * self.stretch * self._errors(hole, rng)
            errors[:, [column for places in self.levels for column in places]] = 0.0
            part = np.where(hole, self._values(z) + errors, filled[rows])
            filled[rows] = _with_drawn_levels(part, hole, self.levels, rng)
        return filled

    def _values(self, z: Array) -> Array:
        return self.mean + self.scale * (z @ self.components.T)

    def _scores(self, X: Array, hole: NDArray[np.bool_]) -> tuple[Array, Array]:
        """The expected z of rows, and (WᵀW + σ²I)⁻¹ over the cells that each has."""
        unit = np.where(self.scale > 0, self.scale, 1.0)
        with np.errstate(invalid="ignore"):
            known = np.where(hole, 0.0, (X - self.mean) / unit)
        return expected_scores(known, KnownPatterns.of(~hole), self.components, self.noise)

    def _errors(self, hole: NDArray[np.bool_], rng: np.random.Generator) -> Array:
        if self.errors is None:
            return rng.standard_normal(hole.shape)
        places = rng.integers(self.errors.shape[1], size=hole.shape)
        return self.errors[np.arange(hole.shape[1]), places]


def mean_imputation(mean: Array, scale: Array, levels: Sequence[Sequence[int]] = ()) -> Imputation:
    """Without components: every missing value is the mean of its column."""
    return Imputation(mean, scale, np.zeros((len(mean), 0)), 1.0, tuple(map(tuple, levels)))


def expected_scores(
    values: Array, patterns: KnownPatterns, W: Array, noise: float
) -> tuple[Array, Array]:
    """The expected z of rows with 0 in their holes, and (WᵀW + σ²I)⁻¹ over their known cells."""
    k = W.shape[1]
    products = (W[:, :, None] * W[:, None, :]).reshape(len(W), k * k)
    inner = (patterns.known @ products).reshape(len(patterns.known), k, k)
    inverse = np.linalg.inv(inner + noise * np.eye(k)) if k else inner
    inverse = inverse[patterns.place]
    return np.einsum("nij,nj->ni", inverse, values @ W), inverse


@dataclass(frozen=True, eq=False)
class KnownPatterns:
    """Which cells rows have: each pattern once, as 0 and 1, and the pattern of every row.

    Most tables have few of them, and a matrix is inverted for each.
    """

    known: Array
    place: NDArray[np.int64]

    @classmethod
    def of(cls, known: NDArray[np.bool_]) -> KnownPatterns:
        """`known` : n×width, where rows have values."""
        bits = np.ascontiguousarray(np.packbits(known, axis=1))
        keys = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
        return cls(known[first].astype(np.float64), pattern.ravel())


def _chunks_with_holes(X: Array) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Row numbers of rows with missing values, a chunk at a time, and where these are."""
    step = max(1, CELLS_PER_CHUNK // max(1, X.shape[1]))
    for begin in range(0, len(X), step):
        hole = ~np.isfinite(X[begin : begin + step])
        rows = np.flatnonzero(hole.any(axis=1))
        if len(rows):
            yield begin + rows, hole[rows]


def _with_shares(X: Array, hole: NDArray[np.bool_], levels: Sequence[Sequence[int]]) -> Array:
    """Missing categories as shares of their levels: none below 0, together 1."""
    for places in levels:
        rows = np.flatnonzero(hole[:, places[0]])
        shares = np.maximum(X[np.ix_(rows, np.asarray(places))], 0.0)
        total = shares.sum(axis=1, keepdims=True)
        X[np.ix_(rows, np.asarray(places))] = np.where(
            total > 0, shares / np.maximum(total, 1e-300), 0.0
        )
    return X


def _with_drawn_levels(
    X: Array, hole: NDArray[np.bool_], levels: Sequence[Sequence[int]], rng: np.random.Generator
) -> Array:
    """Missing categories as one level each, drawn by their shares."""
    X = _with_shares(X, hole, levels)
    for places in levels:
        rows = np.flatnonzero(hole[:, places[0]])
        cells = np.ix_(rows, np.asarray(places))
        steps = np.cumsum(X[cells], axis=1)
        drawn = (rng.random((len(rows), 1)) * steps[:, -1:] > steps).sum(axis=1)
        level = np.minimum(drawn, len(places) - 1)
        X[cells] = level[:, None] == np.arange(len(places))
    return X
