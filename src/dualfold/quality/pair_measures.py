"""Measures over all pairs of points, from a few sums for each row.

d_ij is the distance of two points in X, δ_ij that in Y; rows of both are computed in
tiles and reduced to nine numbers each. Memory is O(n) and a tile for each thread and side.
Kruskal's stress, which sorts all pairs, takes them in slices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np

from dualfold.arrays import Array, Metric, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.pair_sums import N_PAIR_SUMS, TypicalPair, correlation_of_sums, sums_of_rows
from dualfold.kernels import kernel
from dualfold.quality.estimate import (
    Estimate,
    drawn_rows,
    estimate_of_pair_sums,
    values_at_all_points,
)
from dualfold.quality.pair_tiles import each_pair_tile
from dualfold.quality.space import MapPoints, Measured, Space, both_spaces, refuse_single_point

# Pairs sorted together: 16 bytes each and as much again for the sort.
MAX_SORTED_PAIRS = 1 << 24
_HISTOGRAM_BINS = 1 << 14

_pair_column_sums = kernel("pair_column_sums")


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over the pairs of each row, around a typical pair so that no digits are lost.

    sums : m×9, as in pair_sums.c, with `shift` taken off d and δ, and `scale` of δ off d
    inner : the same over the pairs of sampled points alone; None where all were measured
    rows : the sampled points, or None for all n
    """

    sums: Array
    inner: Array | None
    shift: Array
    scale: float
    rows: Array | None
    n: int

    def correlation(self) -> float:
        """Pearson's over all pairs; 0 where one side does not vary."""
        return self._estimate(self._correlation, (-1.0, 1.0))

    def residual_variance(self) -> float:
        """1 − correlation²."""
        r = self.correlation()
        if not isinstance(r, Estimate):
            return 1 - r**2
        ends = 1 - r.low**2, 1 - r.high**2
        most = 1.0 if r.low <= 0 <= r.high else max(ends)
        return Estimate(1 - r**2, min(ends), most, r.sampled)

    def stress(self, scale: float | str = "best", *, per_point: bool = False) -> float | Array:
        """See `dualfold.quality.stress`."""

        def of(total: Array) -> Array:
            return _stress(total, self._scale(total, scale) - self.scale)

        if not per_point:
            return self._estimate(of, (0.0, 1.0 if isinstance(scale, str) else np.inf))
        change = self._scale(self.sums.sum(axis=0), scale) - self.scale
        return values_at_all_points(_stress(self.sums, change), self.rows, self.n)

    def _estimate(self, statistic: Callable[[Array], Array], bounds: tuple[float, float]) -> float:
        return estimate_of_pair_sums(self.sums, self.inner, self.n, statistic, bounds)

    def _scale(self, total: Array, scale: float | str) -> Array:
        if not isinstance(scale, str):
            return np.asarray(float(scale))
        best = np.divide(
            total[..., 6], total[..., 7], out=np.zeros(total.shape[:-1]), where=total[..., 7] > 0
        )
        return np.asarray(self.scale + best)

    def _correlation(self, total: Array) -> Array:
        return correlation_of_sums(total, self.n, self.shift)


def _stress(total: Array, change: Array) -> Array:
    """√(Σ(e − change·δ)²/Σd²) from the sums over e = d − scale·δ."""
    left = total[..., 5] - 2 * change * total[..., 6] + change**2 * total[..., 7]
    whole = total[..., 8]
    without = np.where(np.asarray(left) > 0, np.inf, 0.0)  # all points of X are equal
    ratio = np.divide(left, whole, out=without, where=whole > 0)
    return np.asarray(np.sqrt(np.maximum(ratio, 0)))


class PairSumsCollector:
    """Collects the sums of tiles, in any order, from any thread."""

    def __init__(self, x: Space, y: Space, rows: Array | None) -> None:
        refuse_single_point(x.n)
        self._n, self._rows = x.n, rows
        first = np.zeros(1, dtype=np.int32) if rows is None else rows[:1]
        before, after = np.delete(x.rows(first)[0], first), np.delete(y.rows(first)[0], first)
        self._typical = TypicalPair.of(before, after)
        self._sums = np.zeros((x.n if rows is None else len(rows), N_PAIR_SUMS))
        # Tiles of pairs that are met once, and the first row of the one that is added next.
        self._waiting: dict[int, tuple[Array, int]] = {}
        self._next, self._lock = 0, Lock()
        self._inner = None if rows is None else np.empty_like(self._sums)

    def add(self, before: Array, after: Array, places: slice, names: Array) -> None:
        """Rows of distances of the points `names`, whose sums go to the rows `places`."""
        sums_of_rows(before, after, names, self._typical, self._sums[places])
        if self._inner is None or self._rows is None:
            return
        selves = np.arange(places.start, places.stop, dtype=np.int32)
        before, after = (np.ascontiguousarray(part[:, self._rows]) for part in (before, after))
        sums_of_rows(before, after, selves, self._typical, self._inner[places])

    def add_once(self, before: Array, after: Array, places: slice) -> None:
        """Rows of distances to the points from places.start on, of pairs that are met once."""
        height, n = before.shape
        sums = np.empty((n, N_PAIR_SUMS))
        selves = np.arange(height, dtype=np.int32)
        sums_of_rows(before, after, selves, self._typical, sums[:height])
        if n > height:
            _pair_column_sums(before, after, n, height, height, *self._typical, sums[height:])
        with self._lock:  # added in the order of the tiles, whichever thread is first
            self._waiting[places.start] = sums, height
            while self._next in self._waiting:
                ready, rows = self._waiting.pop(self._next)
                self._sums[self._next :] += ready
                self._next += rows

    def result(self) -> PairSums:
        return PairSums(self._sums, self._inner, *self._typical, self._rows, self._n)


def pair_sums(x: Space, y: Space, rows: Array | None) -> PairSums:
    """Sums from a pass over all pairs (of the sampled rows with all points)."""
    sums = PairSumsCollector(x, y, rows)
    each_pair_tile(x, y, rows, sums.add, sums.add_once)
    return sums.result()


def stress(
    X: Measured,
    Y: MapPoints,
    *,
    scale: float | str = "best",
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Normalised stress: how far the distances on the map are from those in X.

        √( Σ_ij (d_ij − α·δ_ij)² / Σ_ij d_ij² )

    d_ij is the distance of two points in X and δ_ij that on the map. 0: every distance is kept.
    Infinite where all rows of X are equal and those of Y are not.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    scale : float or "best", default="best"
        The factor α. "best" minimises over it, so that the units of the map do not matter, and the
        stress is at most 1; 1.0 compares lengths as they are.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return the stress over the pairs of each point, with the overall α.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or `scale` is neither finite nor "best".

    See Also
    --------
    nonmetric_stress : Only the order of the distances counts.
    shepard : The pairs of distances themselves.

    Notes
    -----
    One pass over all pairs: time O(n²), memory O(n).

    References
    ----------
    .. [1] J. B. Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric
       hypothesis", Psychometrika, 29(1), 1–27, 1964.
    .. [2] K. Smelser, J. Miller and S. Kobourov, "'Normalized stress' is not normalized: how to
       interpret stress correctly", IEEE BELIV Workshop, 2024, on why α matters.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import stress
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> round(stress(X, 2 * X), 6), round(stress(X, X[:, :2]), 2)
    (0.0, 0.27)
    """
    if isinstance(scale, str) and scale != "best":
        raise InvalidInput(Argument("scale"), f" must be a number or 'best'; it is {scale!r}")
    x, y = both_spaces(X, Y, metric, n_jobs)
    if not isinstance(scale, str):
        if not np.isfinite(scale):
            raise InvalidInput(Argument("scale", scale), " must be a finite number or 'best'")
        scale = float(np.ldexp(float(scale), y.power - x.power))
    return pair_sums(x, y, drawn_rows(x.n, sample, random_state)).stress(scale, per_point=per_point)


def distance_correlation(
    X: Measured,
    Y: MapPoints,
    *,
    metric: Metric = "euclidean",
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float:
    """Pearson's correlation of the distances in X and on the map, over all pairs.

    From −1 to 1. 1: distances on the map are a multiple of those in X plus a constant. This is not
    the distance correlation of Székely, which measures the dependence of two variables.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float
        The correlation; 0 where one side does not vary. Of a `sample` it has the limits `low` and
        `high` of its 95 % interval.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or fewer than two.

    See Also
    --------
    residual_variance : 1 minus its square.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import distance_correlation
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> round(distance_correlation(X, 2 * X), 6), round(distance_correlation(X, X[:, :2]), 2)
    (1.0, 0.81)
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    return pair_sums(x, y, drawn_rows(x.n, sample, random_state)).correlation()


def residual_variance(
    distances: Measured,
    points: MapPoints,
    *,
    metric: Metric = "precomputed",
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float:
    """Residual variance of given distances: 1 − R² with those of the embedded points.

    R is Pearson's correlation over all pairs of different points. 0 is perfect. Neither a scale
    between the two nor a constant that is added to every distance matters.

    Parameters
    ----------
    distances : array-like, sparse matrix or Graph
        Square matrix of distances, or a `Graph`, which stands for its geodesic distances (computed
        some rows at a time, never all together). With another `metric` a table of points.
    points : array-like of shape (n_samples, n_components)
        Map.
    metric : str or callable, default="precomputed"
        Metric of `distances`, if these are points: a name that scikit-learn knows, or a function.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float
        The residual variance; 1 where one side does not vary. Of a `sample` it has the limits `low`
        and `high` of its 95 % interval.

    Raises
    ------
    InvalidInput
        If the numbers of points differ, or there are fewer than two.

    See Also
    --------
    distance_correlation : The correlation itself.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for
       nonlinear dimensionality reduction", note 42, Science, 290(5500), 2319–2323, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import residual_variance
    >>> line = np.arange(6.0)
    >>> distances = np.abs(line[:, None] - line)
    >>> round(residual_variance(distances, line[:, None]), 6)
    0.0
    """
    x, y = both_spaces(distances, points, metric, n_jobs)
    return pair_sums(x, y, drawn_rows(x.n, sample, random_state)).residual_variance()


def nonmetric_stress(
    X: Measured,
    Y: MapPoints,
    *,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Kruskal's stress-1: the part of the map's distances that no rising curve explains.

        min over rising f of √( Σ_ij (δ_ij − f(d_ij))² / Σ_ij δ_ij² )

    From 0 to 1; 0: the order of all distances is kept. A map of equal points keeps any order and
    has 0: look at `stress`, too.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        The stress. Of a `sample` it has no interval: far pairs, which bend the curve, are few in a
        sample. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or fewer than two.

    See Also
    --------
    stress : Lengths count, not only their order.

    Notes
    -----
    Pairs at equal distance in X get equal f (the secondary approach to ties). The curve is exact:
    pairs are taken in slices of d that are small enough to sort, each slice in one pass over the
    data. That is n²/33,000,000 passes: for more than 20,000 points take a `sample`.

    References
    ----------
    .. [1] J. B. Kruskal, "Nonmetric multidimensional scaling: a numerical method", Psychometrika,
       29(2), 115–129, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import nonmetric_stress
    >>> line = np.arange(6.0)[:, None]
    >>> round(nonmetric_stress(line, 2 * line + 1), 6)
    0.0
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    refuse_single_point(x.n)
    rows = drawn_rows(x.n, sample, random_state)
    starts, heights = rising_curve(x, y, rows)
    sums = np.empty((x.n if rows is None else len(rows), 2))
    inner = None if rows is None else np.empty_like(sums)

    def tile(places: slice, names: Array) -> None:
        before, after = x.true_rows(names), y.true_rows(names)
        fitted = heights[np.searchsorted(starts, before, side="right") - 1]
        fitted[np.arange(len(names)), names] = after[np.arange(len(names)), names] = 0.0
        squares = np.square(after - fitted), np.square(after)
        sums[places] = np.stack([part.sum(axis=1) for part in squares], axis=1)
        if inner is not None:
            inner[places] = np.stack([part[:, rows].sum(axis=1) for part in squares], axis=1)

    x.each_tile(tile, rows)
    if per_point:
        return values_at_all_points(_root_share(sums), rows, x.n)
    return float(estimate_of_pair_sums(sums, inner, x.n, _root_share, (0.0, 1.0)))


def _root_share(total: Array) -> Array:
    part, whole = total[..., 0], total[..., 1]
    share = np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
    return np.asarray(np.sqrt(np.maximum(share, 0)))


def rising_curve(x: Space, y: Space, rows: Array | None) -> tuple[Array, Array]:
    """The best rising step function of d: (where each step starts, its height)."""
    edges = _slice_edges(x, rows)
    steps = [
        pool_violators(*_merged_ties(*_pairs_between(x, y, rows, low, high)))
        for low, high in pairwise(edges)
    ]
    starts, heights, _ = pool_violators(
        *(np.concatenate(part) for part in zip(*steps, strict=True))
    )
    starts[0] = 0.0
    return starts, heights


def pool_violators(values: Array, heights: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Adjacent violators pooled: (start, height, weight) of each step.

    Pooling what was pooled in parts gives what pooling the whole would.
    """
    from scipy.optimize import isotonic_regression

    if len(values) == 0:
        return values, heights, weights
    fit = isotonic_regression(heights, weights=weights)
    first = fit.blocks[:-1]
    return values[first], fit.x[first], np.add.reduceat(weights, first)


def _merged_ties(before: Array, after: Array) -> tuple[Array, Array, Array]:
    if len(before) == 0:
        return before, after, after
    order = np.argsort(before)
    before, after = before[order], after[order]
    first = np.flatnonzero(np.diff(before, prepend=-1.0))
    counts = np.diff(np.append(first, len(before))).astype(float)
    return before[first], np.add.reduceat(after, first) / counts, counts


def _slice_edges(x: Space, rows: Array | None) -> Array:
    """Distances that cut all pairs into slices of about `PAIRS`."""
    m = x.n if rows is None else len(rows)
    total = m * (x.n - 1) // (2 if rows is None else 1)
    if total <= MAX_SORTED_PAIRS:
        return np.array([-1.0, np.inf])
    # The largest distance from one point, doubled, bounds all of a true metric; what lies
    # beyond (dissimilarities) falls into the last slice.
    first = x.rows(np.zeros(1, dtype=np.int32))[0]
    top = 2.0 * float(first[np.isfinite(first)].max())
    if top == 0:
        return np.array([-1.0, np.inf])
    parts: list[Array] = []

    def tile(_: slice, names: Array) -> None:
        before = x.true_rows(names)
        scaled = np.minimum(
            before[np.isfinite(before)] * (_HISTOGRAM_BINS / top), _HISTOGRAM_BINS - 1
        )
        parts.append(np.bincount(scaled.astype(np.int64), minlength=_HISTOGRAM_BINS))

    x.each_tile(tile, rows)
    counts = np.cumsum(np.sum(parts, axis=0)) / (2 if rows is None else 1)
    cuts = np.searchsorted(counts, np.arange(MAX_SORTED_PAIRS, total, MAX_SORTED_PAIRS))
    return np.unique(np.concatenate([[-1.0], (cuts + 1) * (top / _HISTOGRAM_BINS), [np.inf]]))


def _pairs_between(
    x: Space, y: Space, rows: Array | None, low: float, high: float
) -> tuple[Array, Array]:
    """(d, δ) of the pairs with low <= d < high; each pair once when all rows are asked."""
    parts: dict[int, tuple[Array, Array]] = {}

    def tile(places: slice, names: Array) -> None:
        before, after = x.true_rows(names), y.true_rows(names)
        wanted = (before >= low) & (before < high)
        if rows is None:
            wanted &= np.arange(x.n) > names[:, None]
        parts[places.start] = before[wanted], after[wanted]

    x.each_tile(tile, rows)
    pairs = [parts[start] for start in sorted(parts)]
    return np.concatenate([d for d, _ in pairs]), np.concatenate([s for _, s in pairs])
