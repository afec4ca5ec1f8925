"""Columns measured in different units: how much their scales differ, and standardising them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array, Rows
from dualfold.errors import InvalidInput
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.row_weights import weighted_rows

# Squares of more, summed over any number of rows, do not fit into a float64 (1.8e308).
MAX_VALUE = 1e140
# Interquartile ranges that differ more than this are different units, and one drowns the others.
MAX_SPREAD_RATIO = 10.0
# Quartiles of few rows differ by chance, e.g. of 5 rows tenfold among 20,000 columns of one unit.
CHANCE_ROWS = 100
# Rows that quartiles are taken of: their error is then 2 %, nothing beside a ratio of 10.
MAX_SAMPLED_ROWS = 10_000
# Pixels and spectra have more columns than this; of fewer, half begin alike by chance.
MIN_SPECTRUM_COLUMNS = 8
WAVELENGTH_PATTERN = re.compile(r"\d+(?:\.\d+)?\s*[^\W\d]{0,3}")


def column_limits(X: Any) -> tuple[Array, Array]:
    """The smallest and the largest value of each column, missing values left out."""
    if not isinstance(X, np.ndarray):
        least, most = X.min(axis=0).toarray(), X.max(axis=0).toarray()
        return np.asarray(least, dtype=np.float64).ravel(), np.asarray(most).ravel()
    # fmin and fmax ignore NaN; infinite values are missing, too, and rare.
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    if not np.isfinite(low).all() or not np.isfinite(high).all():
        known = np.where(np.isfinite(X), X, np.nan)
        low, high = np.fmin.reduce(known, axis=0), np.fmax.reduce(known, axis=0)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Standard:
    """The standardisation (x − mean)/deviation, also for rows that come later.

    The deviation of a constant column is infinite: whatever is in it becomes 0.
    """

    mean: Array
    deviation: Array

    def apply(self, X: Any) -> Array:
        return np.asarray(np.subtract(X, self.mean, dtype=np.float64) / self.deviation)


def standard_of(
    X: Rows, indicators: Array | None = None, sample_weight: Array | None = None
) -> Standard:
    """The means and standard deviations of the columns of X.

    sample_weight : validated weights of the rows
    indicators : which columns are the 0 and 1 of a category; with a share p of the rows in it
        they are divided by √p (factor analysis of mixed data), so that a column of categories
        weighs as much as its levels less one
    """
    if not isinstance(X, np.ndarray):
        raise InvalidInput(
            "standardizing would fill a sparse matrix with numbers; scale its columns without "
            "shifting them, or give it as a dense table"
        )
    largest = np.abs(X).max(axis=0)
    if float(largest.max(initial=0.0)) > MAX_VALUE:
        raise InvalidInput(
            f"the largest value is {largest.max():.1e}, and the squares of such numbers overflow; "
            "look whether it is a mark for a missing value, or divide the column by a constant"
        )
    X, weights = weighted_rows(X, sample_weight)
    mean = column_means(X, weights)
    deviation = column_deviations(X, mean, weights, constant=np.inf)
    if indicators is not None:
        shares = np.sqrt(np.maximum(mean, 0.0))
        deviation = np.where(indicators & np.isfinite(deviation), shares, deviation)
    return Standard(mean, deviation)


def gower_standard(X: Rows, indicators: Array, count: int) -> Standard:
    """Scaling that makes the Manhattan distance of two rows Gower's, the mean over `count` columns.

    A number differs by its share of the range, a category by 0 or 1: half for each of the two
    levels that differ.
    """
    low, high = column_limits(X)
    width = np.where(indicators, 2.0, high - low)
    shift = np.where(indicators, 0.0, low)
    return Standard(shift, np.where(width > 0, width * count, np.inf))


def spreads(X: Array) -> Array:
    """The interquartile range of each column; of one without, as a rare count, its deviation."""
    rows = X[:: -(-len(X) // MAX_SAMPLED_ROWS)].astype(np.float64)
    rows[~np.isfinite(rows)] = np.nan
    known = np.isfinite(rows).sum(axis=0)
    rows.sort(axis=0)  # missing values go last
    places = [np.rint(share * np.maximum(known - 1, 0)).astype(np.int64) for share in (0.25, 0.75)]
    low, high = (np.take_along_axis(rows, place[None], axis=0)[0] for place in places)
    # The mean distance is a deviation that cannot overflow.
    deviation = np.nanmean(np.abs(rows / 2 - low / 2), axis=0) * 2
    return np.where(high > low, high - low, deviation)


def different_units(X: Rows, names: Sequence[str]) -> tuple[int, int, float] | None:
    """(a narrow column, the widest, how often it is wider) where scales differ much, else None.

    Columns that share a range are one unit whatever their spread: pixels, spectra, coordinates.
    """
    if not isinstance(X, np.ndarray) or shares_range(X, names):
        return None
    widths = spreads(X)
    varying = np.flatnonzero(widths > 0)
    if len(varying) < 2:
        return None
    order = varying[np.argsort(widths[varying], kind="stable")]
    # Among hundreds of columns a few are nearly always empty; that is no other unit.
    narrow, wide = order[len(order) // 20], order[-1]
    ratio = float(widths[wide] / widths[narrow])
    chance = np.exp(max(0.0, 6 / np.sqrt(len(X)) - 6 / np.sqrt(CHANCE_ROWS)))
    return (int(narrow), int(wide), ratio) if ratio > MAX_SPREAD_RATIO * chance else None


def shares_range(X: Array, names: Sequence[str]) -> bool:
    """Whether columns lie in one range: pixels, spectra, coordinates.

    They do where most begin at the same value and reach half as high as the highest (pixels);
    where their names are numbers, as wavelengths are; or where their ranges have a value in
    common and differ less than tenfold.
    """
    low, high = column_limits(X)
    varying = high > low
    if varying.sum() < 2:
        return False
    low, high = low[varying], high[varying]
    bottom, top = float(low.min()), float(high.max())
    same = np.mean(low <= bottom + 0.01 * (top - bottom))
    reaching = np.mean(high >= bottom + 0.5 * (top - bottom))
    many = len(names) >= MIN_SPECTRUM_COLUMNS
    if many and same > 0.5 and reaching > 0.5:
        return True
    if many and all(WAVELENGTH_PATTERN.fullmatch(str(name).strip()) for name in names):
        return True
    widths = high - low
    return bool(low.max() <= high.min() and widths.max() <= MAX_SPREAD_RATIO * widths.min())
