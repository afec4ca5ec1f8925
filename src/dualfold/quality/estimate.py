"""Numbers measured on a sample, with confidence intervals for all points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtri, stdtrit

from dualfold.arrays import Array, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import random_generator
from dualfold.weights.row_weights import RowWeights, validated_weights

INTERVAL_CONFIDENCE = 0.95
# Up to here all rows are measured; the work grows with the square: docs/dev/notes/quality.md
MAX_FULL_ROWS = 5_000
# Gives most measures to ±0.02: docs/calibration.md
DEFAULT_SAMPLE_ROWS = 1_000
# Any number that no other draw adds to its seed.
SAMPLE_STREAM = 0x5A4D504C
# A jackknife of fewer rows would leave out one of two: no pair would be left.
MIN_JACKKNIFE_ROWS = 4
# θ of `_upper_limits` as log(θ/(1 − θ)): its ends, and steps that halve them to 1e-6.
MAX_LOGIT = 25.0
BISECTION_STEPS = 26
# Nearer to 0 the roots of `_upper_limits` are rounding, and far below the quantile.
MIN_ROOT = 0.3


class Estimate(float):
    """A float with the limits of its confidence interval.

    low, high : the value over all points lies between them with `confidence`
    sampled : how many points were measured

    How often these limits hold the value, also where a map is wrong at a handful of points, is in
    docs/calibration.md.
    """

    low: float
    high: float
    sampled: int
    confidence: float

    def __new__(cls, value: float, low: float, high: float, sampled: int) -> Self:
        number = super().__new__(cls, value)
        number.low, number.high = float(low), float(high)
        number.sampled, number.confidence = sampled, INTERVAL_CONFIDENCE
        return number

    def __repr__(self) -> str:
        return (
            f"{float(self):.4g} ({self.low:.4g} to {self.high:.4g}, {self.sampled} sampled points)"
        )

    def __reduce__(self) -> Any:
        return type(self), (float(self), self.low, self.high, self.sampled)


def limits_of(value: float) -> tuple[float, float]:
    """The limits of an estimate; the number itself where all points were measured."""
    number = float(value)
    return (value.low, value.high) if isinstance(value, Estimate) else (number, number)


def sample_size(n: int, asked: int | None = None) -> int | None:
    """Number of n rows to measure on: `asked`, or the default; None is all of them."""
    wanted = asked if asked is not None else (DEFAULT_SAMPLE_ROWS if n > MAX_FULL_ROWS else None)
    return None if wanted is None or wanted >= n else wanted


def drawn_rows(
    n: int, sample: int | None, random_state: Seed, sample_weight: ArrayLike | None = None
) -> Array | None:
    """`sample` different rows in ascending order, of those with a weight above 0; None for all.

    Where fewer have such a weight these are drawn.
    """
    if sample is None:
        return None
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 2:
        raise InvalidInput(
            Argument("sample"),
            f" must be a number of points, two or more, or None for all; it is {sample!r}",
        )
    if sample >= n:
        return None
    rng = random_generator(stream_of_samples(random_state))
    if sample_weight is None:
        return np.sort(rng.choice(n, int(sample), replace=False)).astype(np.int32)
    counting = np.flatnonzero(validated_weights(sample_weight, n))
    places = rng.choice(len(counting), min(int(sample), len(counting)), replace=False)
    return np.sort(counting[places]).astype(np.int32)


def stream_of_samples(random_state: Seed) -> Any:
    """A seed of its own: with the same number landmarks and subsamples are drawn, and a measure
    on the rows that a map was fitted to says nothing about the others."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return [int(random_state), SAMPLE_STREAM]
    return random_state


@dataclass(frozen=True, eq=False)
class MeasuredWeights:
    """Weights of the measured rows in a mean over rows.

    A weight says how much a row counts, not how many rows were seen: limits are those of as many
    equal weights as are as uneven, never more than the rows that were measured.

    shares : of each measured row, together 1
    effective_rows : (Σw)²/Σw² of the measured rows, or their part of that of all rows, if it is
        less: a sample may have missed the rows that count most
    left : of the rows that count, the share that was not measured, or that of their weights, if it
        is more
    """

    shares: Array
    effective_rows: float
    left: float

    def mean(self, values: Array) -> Array:
        """The weighted mean over rows, the first axis."""
        return np.asarray(self.shares @ values)


def measured_weights(
    sample_weight: ArrayLike | None, rows: Array | None, n: int
) -> MeasuredWeights | None:
    """The weights of the measured rows of n, validated; None where all rows count alike."""
    if sample_weight is None:
        return None
    given = validated_weights(sample_weight, n)
    given = given / given.max()
    if given.all() and given.min() == 1:
        return None
    of_rows = given if rows is None else given[rows]
    every, seen = (RowWeights(weights[weights > 0]) for weights in (given, of_rows))
    measured = len(seen.values) / len(every.values)
    return MeasuredWeights(
        of_rows / seen.total,
        min(seen.effective_rows, measured * every.effective_rows),
        max(1 - measured, 1 - seen.total / every.total) if measured < 1 else 0.0,
    )


def mean_over_rows(values: Array, weights: MeasuredWeights | None) -> Array:
    """The mean over the first axis."""
    return np.asarray(values.mean(axis=0)) if weights is None else weights.mean(values)


def estimate_of_mean(
    values: Array, n: int, bounds: tuple[float, float], weights: MeasuredWeights | None = None
) -> float:
    """The mean of values of all n points, or its estimate from fewer.

    `bounds` are those of every single value; see `interval_of_means`.
    """
    m, mean = len(values), float(mean_over_rows(values, weights))
    if m == n:
        return mean
    low, high = interval_of_means(values[:, None], n, bounds, weights)
    return Estimate(mean, low[0], high[0], m)


def mean_estimate(values: Sequence[float], sampled: int) -> float:
    """The mean of one number over several plausible tables; its limits hold all of theirs.

    sampled : the points that were measured, where the numbers do not say it
    """
    if len(values) == 1:
        return values[0]
    lows, highs = zip(*map(limits_of, values), strict=True)
    sampled = values[0].sampled if isinstance(values[0], Estimate) else sampled
    return Estimate(float(np.mean(values)), min(lows), max(highs), sampled)


def interval_of_means(
    values: Array, n: int, bounds: tuple[float, float], weights: MeasuredWeights | None = None
) -> tuple[Array, Array]:
    """Limits of the means over all n points, from the m×q values of m points drawn without
    replacement; every value lies within `bounds`.

    Points that were not drawn may have any value within the bounds, so a sample without an error
    does not prove a map without errors. The upper limit is the quantile of Σ W_i x_i, W uniform on
    the simplex and one of the x_i the upper bound itself: for values 0 and 1 that of Clopper and
    Pearson (Learned-Miller and Thomas, "A new confidence interval for the mean of a bounded random
    variable", 2019), times √(1 − m/n) around the mean, for draws without replacement.

    Of weighted rows W is Dirichlet with their shares of the effective rows as parameters: for
    values 0 and 1 the limits of Korn and Graubard ("Confidence intervals for proportions with
    small expected number of positive counts estimated from survey data", 1998).
    """
    least, most = bounds
    width, mean = most - least, mean_over_rows(values, weights)
    if not width > 0:
        return mean, mean
    shares = np.clip((values - least) / width, 0.0, 1.0)
    counts = None if weights is None else weights.shares * weights.effective_rows
    shrink = np.sqrt(1 - len(values) / n if weights is None else weights.left)
    above, below = (
        width * shrink * np.maximum(_upper_limits(part, counts) - mean_over_rows(part, weights), 0)
        for part in (shares, 1 - shares)
    )
    return np.maximum(least, mean - below), np.minimum(most, mean + above)


def _upper_limits(shares: Array, counts: Array | None = None) -> Array:
    """The upper limits of means of the columns, whose entries lie between 0 and 1.

    counts : how many rows each row stands for, as the shape of its E_i; None: one

    Σ W_i x_i ≤ t has the probability that Σ E_i (x_i − t) ≤ 0, E_i exponential variables, by the
    saddle point of Σ −log(1 − s(x_i − t)): with 1 − s(x_i − t) ∝ 1 − θx_i it is at
    t(θ) = Σ x_i w_i / Σ w_i, w_i = 1/(1 − θx_i), and its normal quantile is r + log(u/r)/r
    (Lugannani and Rice; Barndorff-Nielsen). θ between 0 and 1 is found by bisection.
    """
    wanted = -ndtri((1 - INTERVAL_CONFIDENCE) / 2)
    low, high = (np.full(shares.shape[1], end) for end in (-MAX_LOGIT, MAX_LOGIT))
    limits = np.ones(shares.shape[1])
    times = 1.0 if counts is None else counts[:, None]
    total = float(len(shares) if counts is None else counts.sum())
    for _ in range(BISECTION_STEPS):
        logit = (low + high) / 2
        theta, last = expit(logit), 1 + np.exp(logit)  # 1/(1 − θ): the weight of the bound
        weights = 1 / (1 - theta * shares)
        counted = times * weights
        limits = (np.sum(counted * shares, axis=0) + last) / (counted.sum(axis=0) + last)
        logs = (times * np.log(weights)).sum(axis=0) + np.log(last)
        ratio = -2 * (logs + (total + 1) * np.log(1 - theta * limits))
        spread = (times * np.square((shares - limits) * weights)).sum(axis=0)
        u = theta * np.sqrt(spread + np.square((1 - limits) * last))
        r = np.sqrt(np.maximum(ratio, MIN_ROOT**2))
        with np.errstate(divide="ignore"):
            quantile = np.where(ratio > MIN_ROOT**2, r + np.log(u / r) / r, 0.0)
        nearer = quantile < wanted
        low, high = np.where(nearer, logit, low), np.where(nearer, high, logit)
    return limits


def estimate_of_pair_sums(
    sums: Array,
    inner: Array | None,
    n: int,
    statistic: Callable[[Array], Array],
    bounds: tuple[float, float],
) -> float:
    """A function of sums over all pairs of n points, or its estimate from the pairs of m of them.

    sums, inner : m×q, for each drawn point the sums over its pairs with all points, and with the
        drawn ones; `inner` is None where all points were drawn
    statistic : takes the q totals, or m×q together

    A pair of two points that were not drawn was not seen, but each of the two was, beside drawn
    points: where a number of a pair is a_i + a_j, its mean over such pairs is twice that over the
    pairs of drawn and other points less that over the pairs of drawn ones, exactly. What is left is
    estimated by leaving out one drawn point after the other (the jackknife).
    """
    total, m = sums.sum(axis=0), len(sums)
    if inner is None:
        return float(statistic(total))
    within, across = inner.sum(axis=0), total - inner.sum(axis=0)
    value = float(np.clip(statistic(_pair_totals(within, across, m, n)), *bounds))
    if m < MIN_JACKKNIFE_ROWS or not np.isfinite(value):
        return Estimate(value, *bounds, m)
    outer = sums - inner
    without = statistic(_pair_totals(within - 2 * inner, across - outer + inner, m - 1, n))
    variance = (m - 1) / m * float(np.square(without - without.mean()).sum())
    half = float(stdtrit(m - 1, 0.5 + INTERVAL_CONFIDENCE / 2) * np.sqrt(variance))
    return Estimate(value, max(bounds[0], value - half), min(bounds[1], value + half), m)


def _pair_totals(within: Array, across: Array, m: int, n: int) -> Array:
    """Totals over all ordered pairs, from those of m drawn points among themselves and with the
    others."""
    others = n - m
    mean = 2 * across / (m * others) - within / (m * (m - 1))
    return np.asarray(within + 2 * across + others * (others - 1) * mean)


def values_at_all_points(values: Array, rows: Array | None, n: int) -> Array:
    """Values for all points: NaN where a point was not sampled."""
    if rows is None:
        return values
    every = np.full(n, np.nan)
    every[rows] = values
    return every


def values_or_mean(
    values: Array,
    rows: Array | None,
    n: int,
    bounds: tuple[float, float],
    per_point: bool,
    weights: MeasuredWeights | None = None,
) -> float | Array:
    """Values of a measure, a number for each point, or their mean."""
    if per_point:
        return values_at_all_points(values, rows, n)
    return estimate_of_mean(values, n, bounds, weights)
