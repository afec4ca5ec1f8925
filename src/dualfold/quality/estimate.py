"""Numbers measured on a sample, with confidence intervals for all points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.special import stdtrit

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import random_generator

INTERVAL_CONFIDENCE = 0.95
# Up to here all rows are measured; the work grows with the square: docs/dev/notes/quality.md
MAX_FULL_ROWS = 5_000
# Gives most measures to ±0.01.
DEFAULT_SAMPLE_ROWS = 1_000


class Estimate(float):
    """A float with the limits of its confidence interval.

    low, high : the value over all points lies between them with `confidence`
        (Student's interval, corrected for sampling without replacement)
    sampled : how many points were measured
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


def sample_size(n: int, asked: int | None = None) -> int | None:
    """How many of n rows to measure on: `asked`, or the default; None is all of them."""
    wanted = asked if asked is not None else (DEFAULT_SAMPLE_ROWS if n > MAX_FULL_ROWS else None)
    return None if wanted is None or wanted >= n else wanted


def drawn_rows(n: int, sample: int | None, random_state: Any) -> Array | None:
    """`sample` different rows in ascending order; None for all of them."""
    if sample is None:
        return None
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 2:
        raise InvalidInput(
            Argument("sample"),
            f" must be a number of points, two or more, or None for all; it is {sample!r}",
        )
    if sample >= n:
        return None
    rng = random_generator(random_state)
    return np.sort(rng.choice(n, int(sample), replace=False)).astype(np.int32)


def estimate_of_mean(values: Array, n: int, bounds: tuple[float, float]) -> float:
    """The mean of values of all n points, or its estimate from fewer."""
    m = len(values)
    mean = float(values.mean())
    if m == n:
        return mean
    half = _half_width(float(values.var(ddof=1)) / m, m, n)
    return Estimate(mean, max(bounds[0], mean - half), min(bounds[1], mean + half), m)


def estimate_of_sums(
    sums: Array, n: int, statistic: Callable[[Array], Array], bounds: tuple[float, float]
) -> float:
    """A function of the column sums of all rows, or its estimate from fewer.

    `statistic` takes the totals, q of them or m×q together. The variance comes from
    leaving out one row after the other (the jackknife).
    """
    total, m = sums.sum(axis=0), len(sums)
    value = float(statistic(total))
    if m == n or not np.isfinite(value):
        return value
    without = np.asarray(statistic(total - sums))
    half = _half_width((m - 1) / m * float(np.square(without - without.mean()).sum()), m, n)
    return Estimate(value, max(bounds[0], value - half), min(bounds[1], value + half), m)


def _half_width(variance: float, m: int, n: int) -> float:
    return float(stdtrit(m - 1, 0.5 + INTERVAL_CONFIDENCE / 2) * np.sqrt(variance * (1 - m / n)))


def values_at_all_points(values: Array, rows: Array | None, n: int) -> Array:
    """One value for each point: NaN where it was not sampled."""
    if rows is None:
        return values
    every = np.full(n, np.nan)
    every[rows] = values
    return every


def values_or_mean(
    values: Array, rows: Array | None, n: int, bounds: tuple[float, float], per_point: bool
) -> float | Array:
    """What a measure returns: its values, one for each point, or their mean."""
    return (
        values_at_all_points(values, rows, n) if per_point else estimate_of_mean(values, n, bounds)
    )
