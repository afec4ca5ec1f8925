"""The nearest of each point before and after, and where each side finds the other's.

ρ_ij is the rank of j among the points around i in X, r_ij that in Y, both from 1; N_k(i) are the
k nearest of i in X, by (distance, index), M_k(i) those in Y. Points that are equally far in X,
within the rounding of the distances, share their ranks, from `first` to `last`: ρ_ij is the one of
them that is nearest to r_ij. Of points that are equally far in Y everything is the mean over their
orders (`tied_lists`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.quality.estimate import (
    MeasuredWeights,
    drawn_rows,
    estimate_of_mean,
    mean_over_rows,
    measured_weights,
    values_or_mean,
)
from dualfold.quality.picture import Picture
from dualfold.quality.rank_counts import Ranks
from dualfold.quality.space import (
    MapPoints,
    Measured,
    Space,
    both_spaces,
    distinct_rows,
    neighbor_count,
)
from dualfold.quality.tied_lists import (
    OrderMeans,
    TiedLists,
    order_means,
    ranks_of_listed,
    tied_lists,
    ties_distance,
)


@dataclass(frozen=True, eq=False)
class ListedNeighbors:
    """The k nearest of each point before and after.

    before, after : m×k, the nearest points in X and in Y, nearest first
    ties : the ranks in X of `before`
    ranks_before : the ranks in X of `after` (ρ_ij for j in M_k); n where they are beyond k and
        were not counted
    tied : of the points with ties in Y, the means over their orders
    rows : the sampled points, or None for all n
    weights : of these points in means over points; None: all count alike
    """

    before: Array
    after: Array
    ties: Ranks
    ranks_before: Ranks
    tied: OrderMeans | None
    rows: Array | None
    n: int
    weights: MeasuredWeights | None = field(default=None, kw_only=True)

    def kept_shares(self, k: int) -> Array:
        """|{j in M_k: ρ_ij ≤ k}| / k of each point: the neighbours kept."""
        kept = np.count_nonzero(self.ranks_before.first[:, :k] <= k, axis=1).astype(float)
        return _with_means(self.tied, "kept", k, kept) / k

    def chance_shares(self, k: int) -> Array:
        """Share that a random map keeps of each point: k/(n − 1), more where the k-th ties in X."""
        return np.asarray(self.ties.last[:, k - 1] / (self.n - 1))


def listed_neighbors(x: Space, y: Space, k: int, rows: Array | None) -> ListedNeighbors:
    """The k nearest on both sides of the points `rows` (None: of all)."""
    before, after = tied_lists(x, k, rows, rounded=True), tied_lists(y, k, rows, rounded=False)
    return neighbors_of_lists(x, before, after.indices, order_means(x, y, after, rows), rows)


def neighbors_of_lists(
    x: Space, before: TiedLists, after: Array, tied: OrderMeans | None, rows: Array | None
) -> ListedNeighbors:
    """From lists of neighbours; `tied` may be of longer ones."""
    ranks = ranks_of_listed(x, before, after, rows)
    return ListedNeighbors(before.indices, after, before.ranks, ranks, tied, rows, x.n)


@dataclass(frozen=True, eq=False)
class NeighborRanks(ListedNeighbors):
    """The k nearest of each point before and after, and where each finds the other.

    ranks_after : the ranks in Y of `before` (r_ij for j in N_k)

    Everything here is also known for fewer neighbours: each measure takes its own
    `n_neighbors` up to k, so a curve over k costs one search.
    """

    ranks_after: Ranks

    def trustworthiness(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> float | Array:
        """See `dualfold.quality.trustworthiness`."""
        k = self._count(n_neighbors)
        return self._per_point_or_mean(
            trusted_shares(self.ranks_before, self.tied, k, self.n), per_point
        )

    def continuity(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> float | Array:
        """See `dualfold.quality.continuity`."""
        k = self._count(n_neighbors)
        return self._per_point_or_mean(
            continued_shares(self.ties, self.ranks_after, k, self.n), per_point
        )

    def mean_relative_rank_errors(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> tuple[float | Array, float | Array]:
        """See `dualfold.quality.mean_relative_rank_errors`."""
        k = self._count(n_neighbors)
        position = np.arange(1, k + 1)
        worst = np.sum(np.abs(self.n - 2 * position + 1) / position)
        listed = Ranks(*(part[:, :k] for part in self.ranks_before))
        intruders = (ties_distance(position, listed) / position).sum(axis=1)
        intruders = _with_means(self.tied, "errors", k, intruders) / worst
        first, last = (part[:, :k].astype(np.int64) for part in self.ranks_after)
        above = mean_excess(first, last, self.ties.last[:, :k])
        under = mean_excess(-last, -first, -self.ties.first[:, :k].astype(np.int64))
        lost = ((above + under) / position).sum(axis=1) / worst
        return (
            self._per_point_or_mean(intruders, per_point),
            self._per_point_or_mean(lost, per_point),
        )

    def t_similarity(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> float | Array:
        """See `dualfold.quality.t_similarity`."""
        return self._per_point_or_mean(self.kept_shares(self._count(n_neighbors)), per_point)

    def lcmc(self, n_neighbors: int | None = None, *, per_point: bool = False) -> float | Array:
        """See `dualfold.quality.lcmc`."""
        return kept_beyond_chance(self, self._count(n_neighbors), per_point)

    def _per_point_or_mean(self, values: Array, per_point: bool) -> float | Array:
        bounds = (0.0, 1.0)
        return values_or_mean(values, self.rows, self.n, bounds, per_point, self.weights)

    def _count(self, k: int | None) -> int:
        most = self.before.shape[1]
        if k is not None and not 1 <= k <= most:
            raise InvalidInput(
                f"these ranks were taken of {most} neighbours; ",
                Argument("n_neighbors", k),
                f" needs its own neighbor_ranks(X, Y, {k})",
            )
        return most if k is None else int(k)


def neighbor_ranks(
    X: Measured,
    Y: MapPoints,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> NeighborRanks:
    """All that trustworthiness, continuity, rank errors and t-similarity are made of.

    One pass over each side serves every measure:

        ranks = neighbor_ranks(X, Y, 10)
        ranks.trustworthiness(), ranks.continuity(), ranks.t_similarity(5)

    Exact, ties included. Ranks are counted, never sorted: O(n²D) products in float32 with
    a float64 decision of every close call, O(n(D + k)) memory. Points with ties on the map are
    sorted, each on its own.
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k = neighbor_count(n_neighbors, x.n)
    rows = drawn_rows(x.n, sample, random_state, sample_weight)
    before, after = tied_lists(x, k, rows, rounded=True), tied_lists(y, k, rows, rounded=False)
    ranks = ranks_of_lists(x, y, before, after.indices, order_means(x, y, after, rows), rows)
    return replace(ranks, weights=measured_weights(sample_weight, rows, x.n))


def ranks_of_lists(
    x: Space,
    y: Space,
    before: TiedLists,
    after: Array,
    tied: OrderMeans | None,
    rows: Array | None,
) -> NeighborRanks:
    """As `neighbors_of_lists`, with the ranks of each side's in the other, counted."""
    ranks = x.ranks(after, rows, rounded=True), y.ranks(before.indices, rows)
    both = before.indices, after
    return NeighborRanks(*both, before.ranks, ranks[0], tied, rows, x.n, ranks[1])


def check_half(k: int, n: int) -> None:
    if 2 * k >= n:
        raise InvalidInput(
            Argument("n_neighbors"),
            f" must be less than half the number of points ({n}), else the measure leaves 0 "
            f"to 1; it is {k}",
        )


def trusted_shares(ranks_before: Ranks, tied: OrderMeans | None, k: int, n: int) -> Array:
    """The trustworthiness of each point."""
    excess = np.maximum(ranks_before.first[:, :k].astype(np.int64) - k, 0).sum(axis=1)
    return 1.0 - _with_means(tied, "excess", k, excess.astype(float)) * _worst(k, n)


def continued_shares(ties: Ranks, ranks_after: Ranks, k: int, n: int) -> Array:
    """The continuity of each point."""
    first, last = (part[:, :k].astype(np.int64) for part in ranks_after)
    excess = mean_excess(first, last, np.maximum(ties.last[:, :k], k)).sum(axis=1)
    return np.asarray(1.0 - excess * _worst(k, n))


def _worst(k: int, n: int) -> float:
    """1 over the largest sum of ranks beyond k."""
    check_half(k, n)
    return 2.0 / (k * (2.0 * n - 3.0 * k - 1.0))


def _with_means(tied: OrderMeans | None, name: str, k: int, values: Array) -> Array:
    """Numbers of all points, with the means over orders where points tie in Y."""
    if tied is not None:
        values[tied.places] = getattr(tied, name)[:, k - 1]
    return values


def mean_excess(first: Array, last: Array, free: Array) -> Array:
    """The mean of max(0, r − free) over r = first … last."""
    most, least = np.maximum(last - free, 0), np.maximum(first - 1 - free, 0)
    return np.asarray((most * (most + 1) - least * (least + 1)) / (2 * (last - first + 1)))


def kept_beyond_chance(listed: ListedNeighbors, k: int, per_point: bool) -> float | Array:
    """The local continuity meta-criterion."""
    chance = listed.chance_shares(k)
    beyond = listed.kept_shares(k) - chance
    bounds = -float(chance.max()), 1 - float(chance.min())
    return values_or_mean(beyond, listed.rows, listed.n, bounds, per_point, listed.weights)


def t_similarity(
    X: Measured,
    Y: MapPoints,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Share of each point's k nearest neighbours in X that it keeps on the map.

    ::

        mean over i of |{j in M_k(i): ρ_ij ≤ k}| / k

    M_k(i) are the k nearest of point i on the map, and ρ_ij is the rank of j around i in X. From 0
    to 1; 1: every neighbour is kept. Random points keep k/(n − 1), and more where points tie in X:
    there j is kept if it is as near as the k-th neighbour.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=10
        Number k of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
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
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or too few.

    See Also
    --------
    lcmc : The same beyond chance.
    neighborhood_curve : The same for every k.

    Notes
    -----
    Both searches are exact. Memory is O(n·k).

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", §2.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import t_similarity
    >>> line = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    >>> t_similarity(line, line[[1, 0, 2, 3, 4]], 1)  # the first two changed places
    0.8
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state, sample_weight)
    kept = listed_neighbors(x, y, k, rows).kept_shares(k)
    weights = measured_weights(sample_weight, rows, x.n)
    return values_or_mean(kept, rows, x.n, (0.0, 1.0), per_point, weights)


def picture_of(
    X: Measured,
    Y: MapPoints,
    n_neighbors: int,
    *,
    rivals: Mapping[str, float] | None = None,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
) -> Picture:
    """Picture of the map Y: `t_similarity` beside what a random map keeps.

    rivals : what other maps of the same points keep, by name
    sample_weight : how much each point counts in means over points; None: all alike
    """
    x, y = both_spaces(X, Y, "euclidean", None)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state, sample_weight)
    listed = listed_neighbors(x, y, k, rows)
    weights = measured_weights(sample_weight, rows, x.n)
    kept = estimate_of_mean(listed.kept_shares(k), x.n, (0.0, 1.0), weights)
    chance = float(mean_over_rows(listed.chance_shares(k), weights))
    picture = Picture(kept, x.n, k, rivals or {}, x.about, chance)
    return replace(picture, places=distinct_rows(y), distinct_rows=distinct_rows(x))


def trustworthiness(
    X: Measured,
    Y: MapPoints,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Trustworthiness: whether neighbours on the map are neighbours in the data.

        mean over i of  1 − 2/(k(2n − 3k − 1)) · Σ_{j in M_k(i)} max(0, ρ_ij − k)

    M_k(i) are the k nearest of point i on the map, and ρ_ij is the rank of j around i in X. From 0
    to 1; 1: no neighbour on the map is an intruder. Random maps have about 1/2.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=5
        Number k of neighbours that make a neighbourhood; less than n/2, as in scikit-learn.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
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
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If `n_neighbors` is n/2 or more, or X and Y have different numbers of rows.

    See Also
    --------
    continuity : Whether neighbours in the data are neighbours on the map.

    Notes
    -----
    Equal to `sklearn.manifold.trustworthiness` where no distances tie, without its matrices of all
    pairs: memory is O(n·k).

    References
    ----------
    .. [1] J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection methods: an
       experimental study", International Conference on Artificial Neural Networks, 485–491, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import trustworthiness
    >>> X = np.arange(10.0)[:, None]
    >>> trustworthiness(X, 3 * X, n_neighbors=2)
    1.0
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state, sample_weight)
    check_half(k, x.n)
    after = tied_lists(y, k, rows, rounded=False)
    ranks = x.ranks(after.indices, rows, rounded=True)
    values = trusted_shares(ranks, order_means(x, y, after, rows), k, x.n)
    weights = measured_weights(sample_weight, rows, x.n)
    return values_or_mean(values, rows, x.n, (0.0, 1.0), per_point, weights)


def continuity(
    X: Measured,
    Y: MapPoints,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Continuity: whether neighbours in the data are neighbours on the map.

        mean over i of  1 − 2/(k(2n − 3k − 1)) · Σ_{j in N_k(i)} max(0, r_ij − max(k, u_ij))

    N_k(i) are the k nearest of point i in X, and r_ij is the rank of j around i on the map. u_ij is
    the last of the ranks that j shares in X with points as far as it; where none does, this is
    trustworthiness with the sides exchanged. From 0 to 1; 1: no neighbour was torn away.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=5
        Number k of neighbours that make a neighbourhood; less than n/2, as in scikit-learn.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
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
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If `n_neighbors` is n/2 or more, or X and Y have different numbers of rows.

    See Also
    --------
    trustworthiness : Whether neighbours on the map are neighbours in the data.

    References
    ----------
    .. [1] J. Venna and S. Kaski, "Neighborhood preservation in nonlinear projection methods: an
       experimental study", International Conference on Artificial Neural Networks, 485–491, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import continuity
    >>> X = np.arange(10.0)[:, None]
    >>> continuity(X, 3 * X, n_neighbors=2)
    1.0
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state, sample_weight)
    check_half(k, x.n)
    before = tied_lists(x, k, rows, rounded=True)
    values = continued_shares(before.ranks, y.ranks(before.indices, rows), k, x.n)
    weights = measured_weights(sample_weight, rows, x.n)
    return values_or_mean(values, rows, x.n, (0.0, 1.0), per_point, weights)


def mean_relative_rank_errors(
    X: Measured,
    Y: MapPoints,
    *,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> tuple[float | Array, float | Array]:
    """Mean relative errors of the ranks of neighbours, on the map and in the data.

    ::

        mean over i of  Σ_{j in M_k(i)} |ρ_ij − r_ij| / r_ij / C   (neighbours on the map)
        mean over i of  Σ_{j in N_k(i)} |ρ_ij − r_ij| / ρ_ij / C   (neighbours in the data)
        C = Σ_{m=1..k} |n − 2m + 1| / m

    ρ_ij is the rank of j around i in X and r_ij that on the map. From 0 to 1 for k < n/2; 0: every
    neighbour has its rank. Unlike trustworthiness they also see neighbours that changed places,
    unless these tie in X.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=10
        Number k of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
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
    on_map : float or ndarray of shape (n_samples,)
        The error over neighbours on the map; intruders make it large.
    in_data : float or ndarray of shape (n_samples,)
        The error over neighbours in the data; lost neighbours make it large.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or too few.

    See Also
    --------
    trustworthiness : Intruders alone.
    continuity : Lost neighbours alone.

    References
    ----------
    .. [1] J. A. Lee and M. Verleysen, *Nonlinear Dimensionality Reduction*,
       Springer, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import mean_relative_rank_errors
    >>> line = np.arange(8.0)[:, None] ** 1.5
    >>> mean_relative_rank_errors(line, 2 * line, n_neighbors=3)
    (0.0, 0.0)
    """
    ranks = neighbor_ranks(
        X,
        Y,
        n_neighbors,
        metric=metric,
        sample=sample,
        sample_weight=sample_weight,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return ranks.mean_relative_rank_errors(per_point=per_point)


def lcmc(
    X: Measured,
    Y: MapPoints,
    *,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Local continuity meta-criterion: the share of neighbours kept beyond chance.

        t_similarity(k) − k/(n − 1)

    From −k/(n − 1) to 1 − k/(n − 1); 0: no better than chance. Where points tie in X, more than k
    are as near as the k-th: chance is their share.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=10
        Number k of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
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
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or too few.

    See Also
    --------
    t_similarity : The share itself.

    References
    ----------
    .. [1] L. Chen and A. Buja, "Local multidimensional scaling for nonlinear dimension reduction,
       graph drawing, and proximity analysis", Journal of the American Statistical Association,
       104(485), 209–219, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import lcmc
    >>> line = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    >>> lcmc(line, line, n_neighbors=1)
    0.75
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state, sample_weight)
    listed = listed_neighbors(x, y, k, rows)
    listed = replace(listed, weights=measured_weights(sample_weight, rows, x.n))
    return kept_beyond_chance(listed, k, per_point)
