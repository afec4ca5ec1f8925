"""Ranks before and after: the co-ranking matrix and the curves that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.threads import row_slices
from dualfold.quality.estimate import Estimate, drawn_rows, estimate_of_mean, values_at_all_points
from dualfold.quality.space import Space, both_spaces, neighbor_count

_LIST_ENTRIES_PER_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class CoRanking:
    """How many pairs have rank k in X and rank l in Y, up to a largest rank.

    counts : [k−1, l−1] = #{(i, j): ρ_ij = k, r_ij = l}. A perfect map has n on the
        diagonal and 0 elsewhere; below the diagonal are intruders, above it the lost.
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
    X: Any,
    Y: Any,
    max_rank: int = 100,
    *,
    metric: Any = "euclidean",
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> CoRanking:
    """The co-ranking matrix up to `max_rank`, exact, from neighbour lists of that length.

    Memory is O(n·max_rank + max_rank²); max_rank = n−1 gives the whole matrix.
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(max_rank, x.n), drawn_rows(x.n, sample, random_state)
    return co_ranking_of(x.nearest(k, rows)[0], y.nearest(k, rows)[0], x.n)


def co_ranking_of(before: Array, after: Array, n: int) -> CoRanking:
    """From lists of neighbours, nearest first."""
    k = before.shape[1]
    counts = np.zeros(k * k, dtype=np.int64)
    step = max(1, _LIST_ENTRIES_PER_CHUNK // k)
    for some in row_slices(len(before), step):
        _, rank, other = common_ranks(before[some], after[some])
        counts += np.bincount(rank * k + other, minlength=k * k)
    return CoRanking(counts.reshape(k, k), n, len(before))


def common_ranks(before: Array, after: Array) -> tuple[Array, Array, Array]:
    """(row, place in `before`, place in `after`) of every neighbour in both lists."""
    k = before.shape[1]
    both = np.hstack([before, after]).astype(np.int64)
    place = np.argsort(both, axis=1, kind="stable")  # equal names: the one of `before` first
    ordered = np.take_along_axis(both, place, axis=1)
    row, at = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
    return row, place[row, at], place[row, at + 1] - k


@dataclass(frozen=True, eq=False)
class NeighborhoodCurve:
    """Neighbours kept as the neighbourhood grows: one number for each size K.

    sizes : K = 1 … max_rank
    q_nx : mean over i of |N_K(i) ∩ M_K(i)| / K,  0 to 1
    r_nx : ((n−1)·Q_NX(K) − K)/(n−1−K): 0 is chance, 1 perfect (K < n−1)
    lcmc : Q_NX(K) − K/(n−1), largest at `best_size`
    auc : Σ R_NX(K)/K / Σ 1/K, the area under R_NX over log K up to max_rank
    auc_per_point : the same of each point (NaN where not sampled)
    low, high : 95 % bounds of Q_NX of all points; equal to q_nx if all were measured

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

    @property
    def max_rank(self) -> int:
        """The largest neighbourhood measured."""
        return len(self.sizes)

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
    X: Any,
    Y: Any,
    max_rank: int | None = None,
    *,
    metric: Any = "euclidean",
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NeighborhoodCurve:
    """Q_NX, R_NX and LCMC for every neighbourhood size up to `max_rank` (None: n−2).

    With a `max_rank` the neighbour lists suffice. The whole curve orders all n points around
    each: O(n² log n), so beyond some 20,000 points take a `sample` (1,000 points give most
    curves to ±0.01).
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    rows = drawn_rows(x.n, sample, random_state)
    if x.n < 3:
        raise InvalidInput(f"a curve needs at least three points; there are {x.n}")
    if max_rank is None or max_rank > x.n // 4:  # longer lists than that cost more than sorting
        k = x.n - 2 if max_rank is None else min(neighbor_count(max_rank, x.n), x.n - 2)
        return _curve(*_sorted_sums(x, y, rows, k), rows, x.n)
    k = neighbor_count(max_rank, x.n)
    return curve_of(x.nearest(k, rows)[0], y.nearest(k, rows)[0], rows, x.n)


def curve_of(before: Array, after: Array, rows: Array | None, n: int) -> NeighborhoodCurve:
    """From lists of neighbours, nearest first."""
    m, k = before.shape
    k = min(k, n - 2)
    totals, squares, areas = np.zeros(k), np.zeros(k), np.empty(m)
    step = max(1, _LIST_ENTRIES_PER_CHUNK // k)
    for some in row_slices(m, step):
        row, rank, other = common_ranks(before[some], after[some])
        worse = np.maximum(rank, other)
        kept = np.zeros((some.stop - some.start, max(k, before.shape[1])), dtype=np.int64)
        np.add.at(kept, (row, worse), 1)
        _add_rows(kept[:, :k], totals, squares, areas[some], n)
    return _curve(totals, squares, areas, rows, n)


def _add_rows(kept: Array, totals: Array, squares: Array, areas: Array, n: int) -> None:
    """Rows of how many neighbours are first kept at each size K."""
    sizes = np.arange(1, kept.shape[1] + 1)
    q = np.cumsum(kept, axis=1) / sizes
    totals += q.sum(axis=0)
    squares += np.square(q).sum(axis=0)
    areas[:] = _area(_beyond_chance(q, sizes, n), sizes)


def _beyond_chance(q: Array, sizes: Array, n: int) -> Array:
    return np.asarray(((n - 1) * q - sizes) / (n - 1 - sizes))


def _area(r: Array, sizes: Array) -> Array:
    return np.asarray((r / sizes).sum(axis=-1) / (1 / sizes).sum())


def _sorted_sums(x: Space, y: Space, rows: Array | None, k: int) -> tuple[Array, Array, Array]:
    """All points ordered around each row, a tile of rows at a time."""
    from threading import Lock

    n = x.n
    areas = np.empty(n if rows is None else len(rows))
    parts: dict[int, tuple[Array, Array]] = {}
    lock = Lock()

    def tile(places: slice, names: Array) -> None:
        kept = np.zeros((len(names), n), dtype=np.int64)
        for row, (before, after) in enumerate(
            zip(x.true_rows(names), y.true_rows(names), strict=True)
        ):
            worse = np.maximum(_ranks_of(before), _ranks_of(after))
            kept[row] = np.bincount(worse, minlength=n)
        totals, squares = np.zeros(k), np.zeros(k)
        _add_rows(kept[:, :k], totals, squares, areas[places], n)
        with lock:
            parts[places.start] = totals, squares

    x.each_tile(tile, rows)
    every = [parts[start] for start in sorted(parts)]
    return sum(p[0] for p in every), sum(p[1] for p in every), areas  # type: ignore[return-value]


def _ranks_of(distances: Array) -> Array:
    """Ranks from 0 by (distance, index)."""
    order = np.argsort(distances)
    ordered = distances[order]
    if (ordered[1:] == ordered[:-1]).any():  # the fast sort leaves ties in any order
        order = np.argsort(distances, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _curve(
    totals: Array, squares: Array, areas: Array, rows: Array | None, n: int
) -> NeighborhoodCurve:
    m, sizes = len(areas), np.arange(1, len(totals) + 1)
    q = totals / m
    low = high = q
    if m < n:
        spread = np.sqrt(np.maximum(squares / m - q**2, 0) / max(m - 1, 1) * (1 - m / n))
        low, high = np.maximum(q - 1.96 * spread, 0), np.minimum(q + 1.96 * spread, 1)
    r = _beyond_chance(q, sizes, n)
    area = estimate_of_mean(areas, n, (-1.0, 1.0))
    # The mean of the areas and the area of the mean are the same sum, in another order.
    auc = area if isinstance(area, Estimate) else float(_area(r, sizes))
    return NeighborhoodCurve(
        sizes, q, r, q - sizes / (n - 1), low, high, auc, values_at_all_points(areas, rows, n), n
    )
