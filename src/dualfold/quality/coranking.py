"""Ranks before and after: the co-ranking matrix and the curves that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric, Seed
from dualfold.errors import InvalidInput
from dualfold.kernels.threads import row_slices
from dualfold.quality.estimate import (
    Estimate,
    MeasuredWeights,
    drawn_rows,
    estimate_of_mean,
    interval_of_means,
    mean_over_rows,
    measured_weights,
    values_at_all_points,
)
from dualfold.quality.rank_counts import Ranks
from dualfold.quality.ranks import ListedNeighbors, listed_neighbors
from dualfold.quality.space import MapPoints, Measured, Space, both_spaces, neighbor_count
from dualfold.quality.tied_lists import kept_by_size

_LIST_ENTRIES_PER_CHUNK = 1 << 22
# Of longer curves limits are computed at this many sizes and interpolated between them.
MAX_CURVE_LIMITS = 200


@dataclass(frozen=True, eq=False)
class CoRanking:
    """Counts of the pairs with rank k in X and rank l in Y, up to a largest rank.

    counts : [k−1, l−1] = #{(i, j): ρ_ij = k, r_ij = l}. A perfect map has n on the
        diagonal and 0 elsewhere; below the diagonal are intruders, above it the lost. Of ranks
        that points share in X it is the nearest to r_ij; of orders that a map leaves open the
        mean (then no integers).
    n, sampled : the number of points, and of those that were measured (n: all)

    Lee and Verleysen, "Quality assessment of dimensionality reduction" (2009).
    """

    counts: Array
    n: int
    sampled: int

    @property
    def max_rank(self) -> int:
        """The largest rank that has a row and a column of its own."""
        return len(self.counts)

    def q_nx(self) -> Array:
        """The share of K nearest neighbours kept, for K = 1 … max_rank."""
        within = np.cumsum(np.cumsum(self.counts, axis=0), axis=1).diagonal()
        return np.asarray(within / (np.arange(1, self.max_rank + 1) * self.sampled))


def co_ranking(
    X: Measured,
    Y: MapPoints,
    max_rank: int = 100,
    *,
    metric: Metric = "euclidean",
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> CoRanking:
    """The co-ranking matrix up to `max_rank`, exact, from neighbour lists of that length.

    Memory is O(n·max_rank + max_rank²); max_rank = n−1 gives the whole matrix.
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(max_rank, x.n), drawn_rows(x.n, sample, random_state)
    return co_ranking_of(listed_neighbors(x, y, k, rows))


def co_ranking_of(listed: ListedNeighbors) -> CoRanking:
    """From lists of neighbours with their ranks."""
    m, k = listed.after.shape
    counts = np.zeros(k * k)
    untied = np.arange(m) if listed.tied is None else np.delete(np.arange(m), listed.tied.places)
    step = max(1, _LIST_ENTRIES_PER_CHUNK // k)
    for part in row_slices(len(untied), step):
        row, column = np.nonzero(listed.ranks_before.first[untied[part]] <= k)
        first, last = (rank[untied[part]][row, column] for rank in listed.ranks_before)
        rank = np.clip(column + 1, first, last)
        counts += np.bincount((rank - 1) * k + column, minlength=k * k)
    counts = counts.reshape(k, k)
    if listed.tied is None:
        return CoRanking(counts.astype(np.int64), listed.n, m)
    return CoRanking(counts + listed.tied.counts[:k, :k], listed.n, m)


@dataclass(frozen=True, eq=False)
class NeighborhoodCurve:
    """Neighbours kept as the neighbourhood grows: one number for each size K.

    sizes : K = 1 … max_rank
    q_nx : mean over i of |{j in M_K(i): ρ_ij ≤ K}| / K, the neighbours kept,  0 to 1
    chance : what a random map keeps, K/(n−1), and more where points tie in X
    r_nx : (Q_NX(K) − chance)/(1 − chance): 0 is chance, 1 perfect (K < n−1)
    lcmc : Q_NX(K) − chance, largest at `best_size`
    auc : Σ R_NX(K)/K / Σ 1/K, the area under R_NX over log K up to max_rank
    auc_per_point : the same of each point (NaN where not sampled)
    low, high : limits of the 95 % interval of Q_NX(K) of all points, for each K on its own; equal
        to q_nx if all were measured

    Lee, Peluffo-Ordóñez and Verleysen, "Multi-scale similarities in stochastic neighbour
    embedding" (2015), for R_NX and its area.
    """

    sizes: Array
    q_nx: Array
    r_nx: Array
    lcmc: Array
    low: Array
    high: Array
    auc: float
    auc_per_point: Array
    n: int
    chance: Array

    @property
    def max_rank(self) -> int:
        """The largest neighbourhood measured."""
        return len(self.sizes)

    def bands(self) -> tuple[Array, Array]:
        """`low` and `high` on the scale of R_NX."""
        return _beyond_chance(self.low, self.chance), _beyond_chance(self.high, self.chance)

    @property
    def best_size(self) -> int:
        """K at which most is kept beyond chance: where "local" ends."""
        return int(self.sizes[np.argmax(self.lcmc)])

    @property
    def q_local(self) -> float:
        """Mean of Q_NX up to `best_size`."""
        return float(self.q_nx[: self.best_size].mean())

    @property
    def q_global(self) -> float:
        """Mean of Q_NX beyond `best_size`; NaN if the curve ends there."""
        beyond = self.q_nx[self.best_size :]
        return float(beyond.mean()) if len(beyond) else float("nan")


def neighborhood_curve(
    X: Measured,
    Y: MapPoints,
    max_rank: int | None = None,
    *,
    metric: Metric = "euclidean",
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> NeighborhoodCurve:
    """Share of neighbours that a map keeps, for every size of the neighbourhood.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    max_rank : int ≥ 1 or None, default=None
        Largest neighbourhood; None: n_samples − 2.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in the mean over points, 0 or more; None: all alike. Neighbours
        are counted without weights, so that whole numbers are not repeated rows.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    NeighborhoodCurve
        Arrays over the sizes K = 1 … `max_rank`: `sizes`; `q_nx`, the share of neighbours kept,
        with the limits `low` and `high`; `chance`, what a random map keeps; `r_nx`, the share kept
        beyond chance (0: chance, 1: perfect); `lcmc`, the difference. Numbers: `auc`, the area
        under `r_nx` over log K; `best_size`, the size at which most is kept beyond chance;
        `q_local` and `q_global`, the mean of `q_nx` up to that size and beyond. `auc_per_point` has
        the area of each point.

    Raises
    ------
    InvalidInput
        If there are fewer than three points.

    See Also
    --------
    t_similarity : The share at one size.
    dualfold.view.curve_figure : The curve as a figure.

    Notes
    -----
    With a `max_rank` below n/4 the neighbour lists suffice. The whole curve orders all points
    around each point, O(n² log n): for more than 20,000 points take a `sample`. 1,000 points give
    most curves to ±0.02.

    References
    ----------
    .. [1] J. A. Lee and M. Verleysen, "Quality assessment of dimensionality reduction: rank-based
       criteria", Neurocomputing, 72(7–9), 1431–1443, 2009.
    .. [2] J. A. Lee, D. H. Peluffo-Ordóñez and M. Verleysen, "Multi-scale similarities in
       stochastic neighbour embedding: reducing dimensionality while preserving both local and
       global structure", Neurocomputing, 169, 246–261, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import neighborhood_curve
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> curve = neighborhood_curve(X, X[:, :2])
    >>> curve.max_rank, round(curve.auc, 2)
    (78, 0.46)
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    rows = drawn_rows(x.n, sample, random_state, sample_weight)
    if x.n < 3:
        raise InvalidInput(f"a curve needs at least three points; there are {x.n}")
    weights = measured_weights(sample_weight, rows, x.n)
    if max_rank is None or max_rank > x.n // 4:  # longer lists than that cost more than sorting
        k = x.n - 2 if max_rank is None else min(neighbor_count(max_rank, x.n), x.n - 2)
        return _curve_by_sorting(x, y, rows, k, weights)
    listed = listed_neighbors(x, y, neighbor_count(max_rank, x.n), rows)
    return curve_of(replace(listed, weights=weights))


def curve_of(listed: ListedNeighbors) -> NeighborhoodCurve:
    """From lists of neighbours with their ranks."""
    m = len(listed.after)
    k = min(listed.after.shape[1], listed.n - 2)
    chance = mean_over_rows(listed.ties.last[:, :k], listed.weights) / (listed.n - 1)
    sums = _CurveSums(chance, m, listed.n, listed.weights)
    step = max(1, _LIST_ENTRIES_PER_CHUNK // k)
    means = np.full(m, -1)
    if listed.tied is not None:
        means[listed.tied.places] = np.arange(len(listed.tied.places))
    for part in row_slices(m, step):
        row, column = np.nonzero(listed.ranks_before.first[part, :k] <= k)
        worse = np.maximum(listed.ranks_before.first[part][row, column] - 1, column)
        rises = np.bincount(row * k + worse, minlength=(part.stop - part.start) * k)
        kept = np.cumsum(rises.reshape(-1, k), axis=1).astype(float)
        tied = np.flatnonzero(means[part] >= 0)
        if listed.tied is not None:
            kept[tied] = listed.tied.kept[means[part][tied], :k]
        sums.add(kept, part)
    return sums.curve(listed.rows)


class _CurveSums:
    """Sums of neighbours kept over points, for each size K."""

    def __init__(self, chance: Array, m: int, n: int, weights: MeasuredWeights | None) -> None:
        k, self._weights = len(chance), weights
        self.chance, self.n, self.sizes = chance, n, np.arange(1, k + 1)
        self.areas, self._parts = np.empty(m), dict[int, Array]()
        # Sizes at which limits are computed: all of them, or about this many.
        few = np.unique(np.geomspace(1, k, MAX_CURVE_LIMITS).round().astype(int))
        self._few = (self.sizes if k <= MAX_CURVE_LIMITS else few) - 1
        self._values = np.empty((m if m < n else 0, len(self._few)))

    def add(self, kept: Array, places: slice) -> None:
        """Rows of how many of the K nearest are kept."""
        q = kept / self.sizes
        counted = q if self._weights is None else q * self._weights.shares[places, None]
        self._parts[places.start] = counted.sum(axis=0)
        self.areas[places] = _area(_beyond_chance(q, self.chance), self.sizes)
        if len(self._values):
            self._values[places] = q[:, self._few]

    def curve(self, rows: Array | None) -> NeighborhoodCurve:
        m, n, sizes, chance = len(self.areas), self.n, self.sizes, self.chance
        total = m if self._weights is None else 1
        q = np.sum([self._parts[start] for start in sorted(self._parts)], axis=0) / total
        low = high = q
        if m < n:
            limits = interval_of_means(self._values, n, (0.0, 1.0), self._weights)
            at = np.log(sizes[self._few])
            offsets = (np.interp(np.log(sizes), at, limit - q[self._few]) for limit in limits)
            low, high = (np.clip(q + part, 0.0, 1.0) for part in offsets)
        r = _beyond_chance(q, chance)
        worst = _area(_beyond_chance(np.zeros(len(q)), chance), sizes)
        area = estimate_of_mean(self.areas, n, (float(worst), 1.0), self._weights)
        # The mean of the areas and the area of the mean are the same sum, in another order.
        auc = area if isinstance(area, Estimate) else float(_area(r, sizes))
        every = values_at_all_points(self.areas, rows, n)
        return NeighborhoodCurve(sizes, q, r, q - chance, low, high, auc, every, n, chance)


def _beyond_chance(q: Array, chance: Array) -> Array:
    """Neighbours kept, rescaled so that chance is 0 and perfect 1; 1 where chance is perfect."""
    left = 1 - chance
    return np.asarray(np.where(left > 0, (q - chance) / np.where(left > 0, left, 1.0), 1.0))


def _area(r: Array, sizes: Array) -> Array:
    return np.asarray((r / sizes).sum(axis=-1) / (1 / sizes).sum())


def _curve_by_sorting(
    x: Space, y: Space, rows: Array | None, k: int, weights: MeasuredWeights | None
) -> NeighborhoodCurve:
    """All points ordered around each row, a tile of rows at a time."""
    n, m = x.n, x.n if rows is None else len(rows)
    sizes = np.arange(1, k + 1)
    counts = np.ones(m, dtype=np.int64) if weights is None else m * weights.shares
    reached: dict[int, Array] = {}

    def tile(places: slice, names: Array) -> None:
        kept, beyond = np.empty((len(names), k)), np.zeros(k, dtype=counts.dtype)
        before, after = x.true_rows(names), y.true_rows(names)
        widths = x.tie_widths(names, before)
        for row in range(len(names)):
            name = names[row]
            ranks, ordered = _ranks_of_row(before[row], widths[row], name)
            beyond += counts[places.start + row] * (ordered.last[:k] - sizes)
            shown, _ = _ranks_of_row(after[row], np.zeros(n), name)
            kept[row] = kept_by_size(ranks.first, shown, k)
        reached[places.start] = beyond
        sums.add(kept, places)

    tied = np.zeros(k, dtype=counts.dtype)
    for _ in range(2):  # again where ties, counted in the first pass, raise what chance keeps
        sums = _CurveSums((m * sizes + tied) / (m * (n - 1)), m, n, weights)
        x.each_tile(tile, rows)
        seen = np.sum([reached[start] for start in sorted(reached)], axis=0)
        if np.array_equal(seen, tied):
            break
        tied = seen
    return sums.curve(rows)


def _ranks_of_row(distances: Array, widths: Array, name: int) -> tuple[Ranks, Ranks]:
    """The ranks of all other points, in their order and nearest first."""
    order = np.argsort(distances)[:-1]  # itself, at infinity, is the last
    near, width = distances[order], widths[order]
    ordered = Ranks(
        1 + np.searchsorted(near, near - width, side="left"),
        np.searchsorted(near, near + width, side="right"),
    )
    position = np.empty(len(distances), dtype=np.int64)
    position[order] = np.arange(len(order))
    position = np.delete(position, name)
    return Ranks(*(part[position] for part in ordered)), ordered
