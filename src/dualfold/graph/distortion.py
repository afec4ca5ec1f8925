"""How far a map changed the distances, measured on pairs of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dualfold.arrays import Array, Seed
from dualfold.certificate import Certificate
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph.number_rows import as_array, rows_in_units
from dualfold.inputs import random_generator
from dualfold.kernels.sparse import canonical_rows
from dualfold.kernels.threads import row_slices

QUANTILE_LEVELS = (0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0)
# A block of differences that stays in the cache takes half the time of a larger one.
BLOCK_NUMBERS = 2**17
# Of sparse rows: squares of numbers from here to its inverse have room.
MIN_SAFE_NUMBER = 2.0**-400
ABOUT_TEXT = "the distances between the rows as given; nothing was optimised"


@dataclass(frozen=True, kw_only=True)
class Distortion(Certificate):
    """The ratios ‖y_i − y_j‖²/‖x_i − x_j‖² over pairs of points; `print` it.

    Nothing was optimised, so this is a measurement: `value` is the share of the pairs whose ratio
    lies within 1±eps, `bound` is 1, all of them, and `gap` the share that may be missing (1 − low).
    It holds where no pair is missing: the tolerance is 0.

    level : always "measured", but for `chance` (1 − confidence; 0 where all pairs were seen)
    eps : the change of squared distances that is allowed
    n_pairs, exhaustive : how many pairs were measured, and whether these are all
    mean : the mean ratio; 1: on average distances neither grow nor shrink
    quantiles : ((level, ratio), …), from the smallest ratio seen to the largest
    share : of the pairs whose ratio lies within 1±eps
    low, high : the share among *all* pairs lies between them with `confidence`
        (Clopper and Pearson; both equal `share` when every pair was measured)
    duplicates : pairs of equal points among those measured; they have no ratio
    """

    eps: float
    n_pairs: int
    exhaustive: bool
    duplicates: int
    mean: float
    quantiles: tuple[tuple[float, float], ...]
    share: float
    low: float
    high: float
    confidence: float

    schema: ClassVar[str] = "dualfold.distortion/1"
    optimum: ClassVar[str] = ""

    def __str__(self) -> str:
        if self.level != "measured":
            return super().__str__()
        least, most = self.quantiles[0][1], self.quantiles[-1][1]
        words = (
            f"measured: {_percent(self.share)} of {self.n_pairs} pairs keep their squared distance "
            f"within 1±{self.eps:g}"
        )
        if self.exhaustive:
            words += " (all pairs were looked at)"
        else:
            words += (
                f" (of all pairs: {_percent(self.low)} to {_percent(self.high)}, "
                f"{100 * self.confidence:g} % sure)"
            )
        return f"{words}; ratios from {least:.3g} to {most:.3g}, mean {self.mean:.3g}"


def measured_distortion(
    X: Any,
    Y: Any,
    *,
    eps: float = 0.1,
    n_pairs: int = 100_000,
    confidence: float = 0.99,
    random_state: Seed = 0,
) -> Distortion:
    """Ratios of squared distances in Y to those in X, over pairs of rows.

    All pairs are measured where there are no more than `n_pairs`, else `n_pairs` random ones.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data; a sparse matrix is not filled.
    Y : array-like or sparse matrix of shape (n_samples, n_components)
        Map, one row for each row of X.
    eps : float ≥ 0, default=0.1
        Pairs whose ratio is within 1±`eps` count as kept.
    n_pairs : int ≥ 1, default=100000
        Largest number of pairs.
    confidence : float in (0, 1), default=0.99
        Confidence of the interval of the share of all pairs that are kept.
    random_state : int, Generator or None, default=0
        Seed of the random pairs.

    Returns
    -------
    Distortion
        A certificate of level "measured"; `print` it. `share` of the measured pairs is kept; among
        all pairs the share lies between `low` and `high` with this confidence. `mean` and
        `quantiles` are of the ratios; `exhaustive` says whether all pairs were measured.

    Raises
    ------
    InvalidInput
        If the tables have different numbers of rows, or a parameter is out of its range.

    See Also
    --------
    dualfold.methods.random_projection : Maps for which a bound of these ratios is known.

    References
    ----------
    .. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
       the case of the binomial", Biometrika, 26(4), 404–413, 1934.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import measured_distortion
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> found = measured_distortion(X, 1.01 * X)
    >>> found.n_pairs, found.share, round(found.mean, 4)
    (1225, 1.0, 1.0201)
    """
    X = X if sp.issparse(X) else as_array(X, "X")
    Y = Y if sp.issparse(Y) else as_array(Y, "Y")
    if X.ndim != 2 or Y.ndim != 2:
        raise InvalidInput(
            Argument("X"),
            f" has the shape {X.shape} and ",
            Argument("Y"),
            f" {Y.shape}; they must be tables with a row for each point",
        )
    if n_pairs < 1 or not 0 < confidence < 1 or not eps >= 0:
        raise InvalidInput(
            Argument("n_pairs", n_pairs),
            " must be 1 or more, ",
            Argument("confidence", confidence),
            " lies between 0 and 1, and ",
            Argument("eps", eps),
            " is 0 or more",
        )
    n = X.shape[0]
    if n != Y.shape[0] or n < 2:
        raise InvalidInput(
            Argument("X"),
            f" has {counted(n, 'row')} and ",
            Argument("Y"),
            f" has {Y.shape[0]}; they must be the same points, two or more",
        )
    exhaustive = n * (n - 1) // 2 <= n_pairs
    first, second = np.triu_indices(n, 1) if exhaustive else drawn_pairs(n, n_pairs, random_state)
    return distortion_of_pairs(
        X, Y, first, second, eps=eps, exhaustive=exhaustive, confidence=confidence
    )


def distortion_of_pairs(
    X: Any,
    Y: ArrayLike,
    first: Array,
    second: Array,
    *,
    eps: float = 0.1,
    exhaustive: bool = False,
    confidence: float = 0.99,
) -> Distortion:
    """Distortion of given pairs: row first[i] of X and of Y with row second[i].

    They are independent draws, or all pairs where `exhaustive`; `eps` and `confidence` are those
    of `measured_distortion`.
    """
    (before, unit), (after, map_unit) = (_squared_distances(rows, first, second) for rows in (X, Y))
    differ = before > 0
    if not differ.any():
        raise InvalidInput("all points are equal: there is no distance that could be changed")
    unit_ratios, power = after[differ] / before[differ], 2 * (map_unit - unit)
    with np.errstate(over="ignore"):
        ratios = np.ldexp(unit_ratios, power)
        same = np.array_equal(np.ldexp(ratios, -power), unit_ratios)
    if not same:
        raise InvalidInput(
            "the units of the two tables are so far apart that ratios of squared distances leave "
            "double precision; multiply one of them by a constant first"
        )
    count, inside = len(ratios), int(np.sum(np.abs(ratios - 1) <= eps))
    low, high = (inside / count,) * 2 if exhaustive else _binomial_bounds(inside, count, confidence)
    return Distortion(
        level="measured",
        gap=1 - low,
        value=inside / count,
        bound=1.0,
        tolerance=0.0,
        about=ABOUT_TEXT,
        chance=0.0 if exhaustive else 1 - confidence,
        eps=eps,
        n_pairs=count,
        exhaustive=exhaustive,
        duplicates=int(np.sum(~differ)),
        mean=float(ratios.mean()),
        quantiles=tuple(
            zip(QUANTILE_LEVELS, np.quantile(ratios, QUANTILE_LEVELS).tolist(), strict=True)
        ),
        share=inside / count,
        low=low,
        high=high,
        confidence=confidence,
    )


def drawn_pairs(n: int, count: int, seed: Seed) -> tuple[Array, Array]:
    """Independent pairs i ≠ j, all equally likely."""
    rng = random_generator(seed)
    first, second = rng.integers(n, size=count), rng.integers(n - 1, size=count)
    return first, second + (second >= first)


def _squared_distances(X: Any, first: Array, second: Array) -> tuple[Array, int]:
    """Squared distances of rows times 2^-power, whose squares have room, and the power."""
    if sp.issparse(X):
        rows, power = canonical_rows(X, "X"), 0
        largest = float(np.abs(rows.data).max(initial=0.0))
        if largest and not MIN_SAFE_NUMBER < largest < 1 / MIN_SAFE_NUMBER:
            power = int(np.frexp(largest)[1])
            scaled = np.ldexp(rows.data.astype(float), -power)
            rows = sp.csr_array((scaled, rows.indices, rows.indptr), shape=rows.shape)
    else:
        rows, power = rows_in_units(X)
    squares = np.empty(len(first))
    step = max(1, BLOCK_NUMBERS // rows.shape[1])
    for part in row_slices(len(first), step):
        if sp.issparse(rows):
            offsets = rows[first[part]].astype(float) - rows[second[part]].astype(float)
            squares[part] = np.asarray(offsets.multiply(offsets).sum(axis=1)).ravel()
        else:
            offsets = np.subtract(rows[first[part]], rows[second[part]], dtype=float)
            squares[part] = np.einsum("ij,ij->i", offsets, offsets)
    return squares, power


def _binomial_bounds(inside: int, count: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson: exact bounds of a share from independent draws."""
    tail = (1 - confidence) / 2
    low = betaincinv(inside, count - inside + 1, tail) if inside else 0.0
    high = betaincinv(inside + 1, count - inside, 1 - tail) if inside < count else 1.0
    return float(low), float(high)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
