"""The model of imputation, fitted to the cells that are there and judged on some of them.

Expectation and maximisation go over the known cells alone. Iterated PCA has the same fixed point
but for one thing: it takes its own guesses for observations, and so finds ever more of what it has
put in. Here a guess counts with its uncertainty. How many components there are is decided by cells
that were known and kept from the fit; of noise there are none, and means are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.imputation import MIN_NOISE, Imputation, KnownPatterns, expected_scores
from dualfold.kernels.reports import steps

# Numbers of components that are tried: one after the other while cells kept from the fit gain.
COMPONENT_COUNTS = (1, 2, 3, 5, 8)
# Further numbers that are tried after the last one that gained.
MAX_VAIN_ATTEMPTS = 2
# Of the known cells in each of the folds by which the number is chosen.
HELD_OUT_SHARE = 0.1
HELD_OUT_FOLDS = 3
# A larger number must gain this many standard errors: by chance one does in 40 tables of noise.
MIN_GAIN_ERRORS = 2.0
# Rows are drawn where there are more cells than this: W is known well from fewer.
MAX_FIT_CELLS = 400_000
MAX_FOLD_CELLS = 80_000
MAX_FOLD_COLUMNS = 1_000
# Predicted multiply-adds of the last fit, a few seconds, and of each that chooses a number.
MAX_FLOPS = 1e10
MAX_FOLD_FLOPS = 1e9
MIN_ROUNDS = 5
# Of a small inverse, times the cube of its size: it takes as long as these.
INVERSE_FLOPS = 20.0
# Steps and their length at the end, in units of the scale; a choice needs fewer digits.
MAX_ROUNDS = 300
MAX_FOLD_ROUNDS = 40
STEP_TOLERANCE = 1e-5
FOLD_STEP_TOLERANCE = 1e-3
# Errors of a column are kept by this many quantiles; a column with fewer values has those of all.
ERROR_QUANTILES = 64
MIN_ERROR_CELLS = 8


def fitted_imputation(
    X: Array, start: Imputation, *, counts: Sequence[int] = COMPONENT_COUNTS, seed: int = 0
) -> Imputation:
    """The model of the rows of X that predicts cells kept from it best.

    start : the means and the scales of the known cells
    counts : the numbers of components that are tried
    """
    rng = np.random.default_rng(seed)
    with steps("filling in missing values", 1.0) as done:
        sample = _Cells.of(X, start, MAX_FOLD_CELLS, rng).with_fewer_columns(start.levels, rng)
        folds = [_held_out(sample, start.levels, rng) for _ in range(HELD_OUT_FOLDS)]
        count, stretch = _chosen_count(sample, folds, counts)
        done(0.5)
        cells = _Cells.of(X, start, MAX_FIT_CELLS, rng)
        fit = _maximised_fit(cells, count, _FULL_EFFORT)
        done(0.5)
    errors = _left_out_errors(cells, fit)
    return replace(
        start,
        mean=start.mean + start.scale * fit.offset,
        components=fit.components,
        noise=fit.noise,
        errors=_quantiles(errors, cells.known),
        stretch=stretch,
        n_rows=len(cells.values),
        converged=fit.converged,
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """Known cells in units of the scale, 0 elsewhere."""

    values: Array
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Array, start: Imputation, most: int, rng: np.random.Generator) -> _Cells:
        n, width = X.shape
        count = max(min(n, 2 * width, 200), most // max(1, width))
        if count < n:
            X = X[np.sort(rng.choice(n, count, replace=False))]
        known = np.isfinite(X) & (start.scale > 0)
        unit = np.where(start.scale > 0, start.scale, 1.0)
        with np.errstate(invalid="ignore"):
            return cls(np.where(known, (X - start.mean) / unit, 0.0), known)

    def with_fewer_columns(self, levels: Sequence[Any], rng: np.random.Generator) -> _Cells:
        """Some columns of a wide table of numbers: they show how many components there are."""
        width = self.values.shape[1]
        if levels or width <= MAX_FOLD_COLUMNS:
            return self
        columns = np.sort(rng.choice(width, MAX_FOLD_COLUMNS, replace=False))
        return _Cells(self.values[:, columns], self.known[:, columns])

    def without_cells(self, held: NDArray[np.bool_]) -> _Cells:
        return _Cells(np.where(held, 0.0, self.values), self.known & ~held)


@dataclass(frozen=True, eq=False)
class _Fit:
    offset: Array
    components: Array
    noise: float
    converged: bool


@dataclass(frozen=True)
class _Effort:
    """When an iteration ends: predicted multiply-adds, steps, and the length of a step."""

    flops: float
    rounds: int
    tolerance: float


_FULL_EFFORT = _Effort(MAX_FLOPS, MAX_ROUNDS, STEP_TOLERANCE)
_FOLD_EFFORT = _Effort(MAX_FOLD_FLOPS, MAX_FOLD_ROUNDS, FOLD_STEP_TOLERANCE)


def _maximised_fit(cells: _Cells, count: int, effort: _Effort) -> _Fit:
    """Expectation and maximisation, with scores scaled to the variance 1 after every step.

    The scaling (parameter expansion: Liu, Rubin and Wu, 1998) spares most of the steps.
    """
    n, width = cells.values.shape
    known = cells.known.astype(np.float64)
    counts = np.maximum(known.sum(axis=0), 1.0)
    total = max(1.0, float(known.sum()))
    offset = cells.values.sum(axis=0) / counts
    W = _first_components(cells, count)
    squares = float(np.square(known * (cells.values - offset)).sum())
    noise = max(MIN_NOISE, squares / total)
    if not count:
        return _Fit(offset, W, noise, converged=True)
    patterns = KnownPatterns.of(cells.known)
    flops = 4.0 * n * width * (count + 1) ** 2 + INVERSE_FLOPS * len(patterns.known) * count**3
    rounds = int(np.clip(effort.flops / flops, MIN_ROUNDS, effort.rounds))
    for _ in range(rounds):
        before = W
        centred = known * (cells.values - offset)
        z, inverse = expected_scores(centred, patterns, W, noise)
        covariance = noise * inverse
        W, offset, noise = _maximum(cells, known, z, covariance, noise)
        second = (z.T @ z + covariance.sum(axis=0)) / n
        W = W @ np.linalg.cholesky(second + MIN_NOISE * np.eye(count))
        if np.square(W - before).sum() <= effort.tolerance**2 * width:
            return _Fit(offset, W, noise, converged=True)
    return _Fit(offset, W, noise, converged=rounds == effort.rounds)


def _maximum(
    cells: _Cells, known: Array, z: Array, covariance: Array, noise: float
) -> tuple[Array, Array, float]:
    """The components, offsets and noise that are likeliest by expected scores.

    Components have the prior N(0, 1): a column with few values has short ones.
    """
    n, k = z.shape
    ones = np.column_stack([z, np.ones(n)])
    moments = ones[:, :, None] * ones[:, None, :]
    moments[:, :k, :k] += covariance
    sums = (known.T @ moments.reshape(n, -1)).reshape(-1, k + 1, k + 1)
    prior = np.diag(np.append(np.full(k, noise), MIN_NOISE))
    right = cells.values.T @ ones
    solved = np.linalg.solve(sums + prior, right[:, :, None])[:, :, 0]
    squares = float(np.square(cells.values).sum()) - float((solved * (2 * right)).sum())
    squares += float(np.einsum("pi,pij,pj->", solved, sums, solved))
    noise = max(MIN_NOISE, squares / max(1.0, float(known.sum())))
    return solved[:, :k], solved[:, k], noise


def _first_components(cells: _Cells, count: int) -> Array:
    """About the principal components of the table with 0 in its holes."""
    width = cells.values.shape[1]
    W = np.random.default_rng(0).standard_normal((width, count))
    for _ in range(5 if count else 0):
        W = np.linalg.qr(cells.values.T @ (cells.values @ W))[0]
    return np.asarray(W)


def _chosen_count(
    cells: _Cells, folds: Sequence[NDArray[np.bool_]], counts: Sequence[int]
) -> tuple[int, float]:
    """The number of components by cells kept from the fit, and how far off these are.

    The latter in units of the errors that cells within the fit have when they are left out.
    """
    best, errors, vain = 0, _fold_errors(cells, folds, 0), 0
    most = min(cells.values.shape[1] - 1, len(cells.values) - 2)
    for count in (count for count in counts if count <= most):
        tried = _fold_errors(cells, folds, count)
        gains = errors.by_row - tried.by_row
        chance = float(np.sqrt(np.square(gains).sum()))
        if float(gains.sum()) > MIN_GAIN_ERRORS * chance:
            best, errors, vain = count, tried, 0
        else:
            vain += 1
        if vain == MAX_VAIN_ATTEMPTS:
            break
    return best, errors.stretch


@dataclass(frozen=True, eq=False)
class _FoldErrors:
    """Squared errors of held-out cells, added up by row; and their size by the model's own."""

    by_row: Array
    stretch: float


def _held_out(
    cells: _Cells, levels: tuple[tuple[int, ...], ...], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """A tenth of the known cells; the columns of one category go together."""
    held = rng.random(cells.known.shape) < HELD_OUT_SHARE
    for places in levels:
        held[:, list(places)] = held[:, places[:1]]
    return held & cells.known


def _fold_errors(cells: _Cells, folds: Sequence[NDArray[np.bool_]], count: int) -> _FoldErrors:
    by_row = np.zeros(len(cells.values))
    outer, inner = 0.0, 0.0
    for held in folds:
        rest = cells.without_cells(held)
        fit = _maximised_fit(rest, count, _FOLD_EFFORT)
        centred = np.where(rest.known, rest.values - fit.offset, 0.0)
        z, inverse = expected_scores(
            centred, KnownPatterns.of(rest.known), fit.components, fit.noise
        )
        off = np.where(held, cells.values - fit.offset - z @ fit.components.T, 0.0)
        by_row += np.square(off).sum(axis=1)
        model = fit.noise * (1 + _leverages(fit.components, inverse))
        outer += float(np.sum(np.square(off) / model))
        inside = _left_out_errors(rest, fit)
        share = held.sum(axis=0) / np.maximum(rest.known.sum(axis=0), 1)
        inner += float(np.sum(np.square(inside).sum(axis=0) * share))
    stretch = np.sqrt(outer / inner) if inner > 0 else 1.0
    return _FoldErrors(by_row, float(max(1.0, stretch)))


def _leverages(W: Array, inverse: Array) -> Array:
    """wᵀ(WᵀW + σ²I)⁻¹w for every cell."""
    k = W.shape[1]
    products = (W[:, :, None] * W[:, None, :]).reshape(len(W), k * k)
    return inverse.reshape(len(inverse), k * k) @ products.T


def _left_out_errors(cells: _Cells, fit: _Fit) -> Array:
    """Errors of known cells when each is predicted by the others of its row, in units of the
    model's deviation; 0 elsewhere."""
    centred = np.where(cells.known, cells.values - fit.offset, 0.0)
    z, inverse = expected_scores(centred, KnownPatterns.of(cells.known), fit.components, fit.noise)
    leverage = np.minimum(_leverages(fit.components, inverse), 1 - 1e-9)
    off = np.where(cells.known, centred - z @ fit.components.T, 0.0)
    # The error is off/(1 − h), its variance σ²/(1 − h).
    return np.asarray(off / np.sqrt(fit.noise * (1 - leverage)))


def _quantiles(errors: Array, known: NDArray[np.bool_]) -> Array:
    """Quantiles of the errors of each column; of all columns where a column has few."""
    steps = (np.arange(ERROR_QUANTILES) + 0.5) / ERROR_QUANTILES
    counts, every = known.sum(axis=0), errors[known]
    if not len(every):
        return np.zeros((len(counts), ERROR_QUANTILES))
    ordered = np.sort(np.where(known, errors, np.inf), axis=0)
    places = np.minimum(steps * counts[:, None], np.maximum(counts - 1, 0)[:, None])
    quantiles = np.take_along_axis(ordered, places.astype(np.int64).T, axis=0).T
    enough = (counts >= MIN_ERROR_CELLS)[:, None]
    return np.where(enough, quantiles, np.quantile(every, steps))
