"""Weights of rows, validated: how often each row counts.

A method whose problem is made of sums over rows takes them so:

1. its problem function has `sample_weight=None` and begins with
   `data, weights = weighted_rows(X, sample_weight)`: rows of weight 0 are gone, and `weights` is
   None where none were given, so that sums without weights keep their bits;
2. sums are those of `column_means`, `column_deviations`, `scatter`, `point_gram`, `row_space`,
   which take `weights` last, with `row_total(data, weights)` in the place of n;
3. its estimator has `fit = fit_with_weights` and `fit_transform = fit_transform_with_weights`
   (`methods/fitting/weighted_fit.py`), and its description `weighted=True`.

The two laws follow and are tested for every such method (tests/methods/test_row_weights.py):
integer weights are repeated rows, and a common factor changes nothing that does not depend on n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Rows
from dualfold.errors import Argument, InPython, InvalidInput, RowNumbers

# Weights count rows. Beyond 2⁵³ doubles do not tell a row more from a row less.
MAX_TOTAL = 2.0**53


class TakesWeights(Protocol):
    """Description of a method that may take weights of rows, or masses, in `fit`."""

    @property
    def weighted(self) -> bool: ...
    @property
    def masses(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Positive numbers, one for each row: the row counts as this many.

    about : what was done to the numbers that were given, in words; "" for nothing
    """

    values: Array
    about: str = ""

    @cached_property
    def total(self) -> float:
        """Their sum, which is in the place of the number of rows."""
        return math.fsum(self.values)

    @cached_property
    def roots(self) -> Array:
        """Their square roots: rows multiplied by them have the weighted products."""
        return np.sqrt(self.values)

    @cached_property
    def effective_rows(self) -> float:
        """(Σw)²/Σw², the number of equal weights that are as uneven: the size of a sample."""
        shares = self.values / self.values.max()
        return float(shares.sum() ** 2 / np.square(shares).sum())


def row_total(X: Rows, weights: RowWeights | None) -> Any:
    """The number of rows of X, an int, or the sum of their weights."""
    return X.shape[0] if weights is None else weights.total


def weighted_rows(
    X: Rows, sample_weight: RowWeights | ArrayLike | None
) -> tuple[Any, RowWeights | None]:
    """The rows of X with a positive weight, and these weights; X itself where all count.

    sample_weight : None for no weights; an array is validated
    """
    if sample_weight is None or isinstance(sample_weight, RowWeights):
        return X, sample_weight
    given = validated_weights(sample_weight, X.shape[0])
    return present_rows(X, given), counting_weights(given)


def present_rows(X: Rows, given: Array | None) -> Any:
    """The rows of X whose weight is not 0; X itself where that is every row."""
    return X if given is None or given.all() else X[np.flatnonzero(given)]


def counting_weights(given: Array) -> RowWeights:
    """The positive ones of validated weights, as they count.

    Weights that add up to at most 1 (shares, probabilities) count no rows: they are multiplied so
    that their sum is their number. Divisors such as Σw − 1 mean something then.
    """
    positive = given[given > 0]
    total = math.fsum(positive)
    if total > 1:
        return RowWeights(positive)
    size = positive / positive.max()
    count = len(positive)
    if count == 1:
        raise InvalidInput(
            Argument("sample_weight"),
            " is above 0 for one row, which counts once; at least 2 rows are needed",
        )
    about = f"rows with weights that add up to {total:.3g}; they are counted as {count} rows"
    return RowWeights(size * (count / math.fsum(size)), about)


def weights_of_all_rows(given: Array) -> Array:
    """Validated weights as they count, also those that are 0."""
    values = np.zeros(len(given))
    values[given > 0] = counting_weights(given).values
    return values


def validated_weights(
    sample_weight: ArrayLike | None, n: int, argument: str = "sample_weight"
) -> Array:
    """The weights of n rows as they were given, in float64, or an error that says what is wrong.

    >>> validated_weights([2, 0, 1], 3)
    array([2., 0., 1.])
    """
    name = Argument(argument)
    if np.ma.is_masked(sample_weight):
        raise InvalidInput(name, " has masked entries; fill them in, or leave these rows out")
    given = np.asarray(sample_weight)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1 or len(given) != n:
        shape = f"{len(given)} numbers" if given.ndim == 1 else f"the shape {given.shape}"
        raise InvalidInput(name, f" has {shape} for {n} rows; it needs one number for each row")
    weights = _as_doubles(given, name)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(
            name,
            f" is {weights[row]} in ",
            RowNumbers(row),
            "; weights are finite numbers, 0 or more. Give a row that should not count the weight "
            "0, or leave it out"
            if argument != "masses"
            else "; masses are finite numbers above 0. Leave out rows that should not count",
        )
    if not weights.any():
        raise InvalidInput(
            name,
            " is zero for every row; at least one row needs a weight above 0. Leave the weights "
            "out for rows that count alike",
            InPython(f" ({argument}=None)"),
        )
    if math.fsum(weights / MAX_TOTAL) > 1:
        raise InvalidInput(
            name,
            f" adds up to {weights.sum():.3g}, and more than 2^53 rows cannot be counted; "
            "divide the weights by a constant",
        )
    return weights


def validated_masses(masses: ArrayLike, n: int, argument: str = "masses") -> Array:
    """The masses of n points, divided by their mean, or an error that says what is wrong.

    >>> validated_masses([1, 3], 2)
    array([0.5, 1.5])
    """
    given = validated_weights(masses, n, argument)
    if not given.all():
        raise InvalidInput(
            Argument(argument),
            " is 0 in ",
            RowNumbers(int(np.argmin(given))),
            ", and a point without mass is not determined; give it a small mass, or leave the row "
            "out",
        )
    size = given / given.max()
    return np.asarray(size / (math.fsum(size) / n))


def fit_weights(
    method: TakesWeights, weights: Array | None, argument: str = "sample_weight"
) -> dict[str, Any]:
    """Weights of rows by the argument of a method's `fit` that takes them; {} for None, or none."""
    if weights is None:
        return {}
    if method.weighted:
        return {"sample_weight": weights}
    return {"masses": validated_masses(weights, len(weights), argument)} if method.masses else {}


def _as_doubles(given: Array, name: Argument) -> Array:
    try:
        if given.dtype.kind in "fiubO":
            return given.astype(float)
    except (TypeError, ValueError):  # objects that are no numbers
        pass
    raise InvalidInput(
        name,
        f" must hold numbers, its type is {given.dtype}; give a column of numbers",
    )
