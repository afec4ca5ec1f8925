"""The nearest of each point before and after, and where each side finds the other's.

ρ_ij is the rank of j among the points around i in X, r_ij that in Y, both from 1 and by
(distance, index); N_k(i) are the k nearest of i in X, M_k(i) those in Y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.quality.estimate import drawn_rows, values_or_mean
from dualfold.quality.space import Space, both_spaces, neighbor_count


@dataclass(frozen=True, eq=False)
class NeighborRanks:
    """The k nearest of each point before and after, and where each finds the other.

    before, after : m×k, the nearest points in X and in Y, nearest first
    ranks_before : the ranks in X of `after` (ρ_ij for j in M_k)
    ranks_after : the ranks in Y of `before` (r_ij for j in N_k)
    rows : the sampled points, or None for all n

    Everything here is also known for fewer neighbours: each measure takes its own
    `n_neighbors` up to k, so a curve over k costs one search.
    """

    before: Array
    after: Array
    ranks_before: Array
    ranks_after: Array
    rows: Array | None
    n: int

    def trustworthiness(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> float | Array:
        """See `dualfold.quality.trustworthiness`."""
        return self._per_point_or_mean(
            kept_ranks(self.ranks_before, self._count(n_neighbors), self.n), per_point
        )

    def continuity(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> float | Array:
        """See `dualfold.quality.continuity`."""
        return self._per_point_or_mean(
            kept_ranks(self.ranks_after, self._count(n_neighbors), self.n), per_point
        )

    def mean_relative_rank_errors(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> tuple[float | Array, float | Array]:
        """See `dualfold.quality.mean_relative_rank_errors`."""
        k = self._count(n_neighbors)
        errors = (rank_errors(ranks, k, self.n) for ranks in (self.ranks_before, self.ranks_after))
        first, second = (self._per_point_or_mean(error, per_point) for error in errors)
        return first, second

    def t_similarity(
        self, n_neighbors: int | None = None, *, per_point: bool = False
    ) -> float | Array:
        """See `dualfold.quality.t_similarity`."""
        k = self._count(n_neighbors)
        return self._per_point_or_mean(kept_share(self.before, self.after, k), per_point)

    def lcmc(self, n_neighbors: int | None = None, *, per_point: bool = False) -> float | Array:
        """See `dualfold.quality.lcmc`."""
        k = self._count(n_neighbors)
        chance = k / (self.n - 1)
        return self._per_point_or_mean(
            kept_share(self.before, self.after, k) - chance, per_point, low=-chance
        )

    def _per_point_or_mean(self, values: Array, per_point: bool, low: float = 0.0) -> float | Array:
        return values_or_mean(values, self.rows, self.n, (low, 1.0), per_point)

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
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    metric: Any = "euclidean",
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NeighborRanks:
    """All that trustworthiness, continuity, rank errors and t-similarity are made of.

    One pass over each side serves every measure:

        ranks = neighbor_ranks(X, Y, 10)
        ranks.trustworthiness(), ranks.continuity(), ranks.t_similarity(5)

    Exact, ties included. Ranks are counted, never sorted: O(n²D) products in float32 with
    a float64 decision of every close call, O(n(D + k)) memory.
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k = neighbor_count(n_neighbors, x.n)
    rows = drawn_rows(x.n, sample, random_state)
    before, after = x.nearest(k, rows)[0], y.nearest(k, rows)[0]
    return NeighborRanks(before, after, x.ranks(after, rows), y.ranks(before, rows), rows, x.n)


def check_half(k: int, n: int) -> None:
    if 2 * k >= n:
        raise InvalidInput(
            Argument("n_neighbors"),
            f" must be less than half the number of points ({n}), else the measure leaves 0 "
            f"to 1; it is {k}",
        )


def kept_ranks(ranks: Array, k: int, n: int) -> Array:
    check_half(k, n)
    beyond = np.maximum(ranks[:, :k].astype(np.int64) - k, 0).sum(axis=1)
    return np.asarray(1.0 - beyond * (2.0 / (k * (2.0 * n - 3.0 * k - 1.0))))


def rank_errors(ranks: Array, k: int, n: int) -> Array:
    place = np.arange(1, k + 1)
    worst = np.sum(np.abs(n - 2 * place + 1) / place)
    return np.asarray((np.abs(ranks[:, :k] - place) / place).sum(axis=1) / worst)


def kept_share(before: Array, after: Array, k: int) -> Array:
    # Two lists of k distinct numbers share as many as their sorted union repeats.
    together = np.sort(np.hstack([before[:, :k], after[:, :k]]), axis=1)
    return np.count_nonzero(together[:, 1:] == together[:, :-1], axis=1) / k


def t_similarity(
    X: Any,
    Y: Any,
    n_neighbors: int = 10,
    *,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """The share of each point's k = `n_neighbors` nearest in X that it keeps in Y.

        mean over i of |N_k(i) ∩ M_k(i)| / k,   0 to 1; 1: every neighbour kept

    Random points keep k/(n−1). With `per_point=True` one number for each point. Both searches
    are exact, with ties broken by index. Memory is O(n·k).

    Tucker, "Dimensionality reduction and the Fenchel game", §2.

    >>> import numpy as np
    >>> line = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    >>> t_similarity(line, line[[1, 0, 2, 3, 4]], 1)  # the first two changed places
    0.8
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state)
    kept = kept_share(x.nearest(k, rows)[0], y.nearest(k, rows)[0], k)
    return values_or_mean(kept, rows, x.n, (0.0, 1.0), per_point)


def trustworthiness(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Can the neighbours seen on the map be believed? 0 to 1; 1: none is an intruder.

        mean over i of  1 − 2/(k(2n − 3k − 1)) · Σ_{j in M_k(i)} max(0, ρ_ij − k)

    Points near on the map that were far in X cost by how far they were, in ranks. Random
    maps score about 1/2. As in scikit-learn `n_neighbors` must be less than n/2; equal to
    `sklearn.manifold.trustworthiness` where no distances tie, without its n×n matrices.

    X : a table (dense, sparse, float32, memory map), a `Graph` (its geodesics), or
        distances with metric="precomputed"
    per_point : one value for each point; their mean is the measure
    sample : measure on that many random points; returns an `Estimate`, a float
        with `low` and `high` (95 %)

    Venna and Kaski, "Neighborhood preservation in nonlinear projection methods" (2001).

    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> trustworthiness(X, 3 * X, n_neighbors=2)
    1.0
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    return _one_sided(x, y, n_neighbors, per_point, sample, random_state)


def continuity(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Are the neighbours of X still near on the map? 0 to 1; 1: none was torn away.

        mean over i of  1 − 2/(k(2n − 3k − 1)) · Σ_{j in N_k(i)} max(0, r_ij − k)

    It is trustworthiness with the sides exchanged. Arguments as there.

    Venna and Kaski (2001).
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    return _one_sided(y, x, n_neighbors, per_point, sample, random_state)


def mean_relative_rank_errors(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> tuple[float | Array, float | Array]:
    """How wrong the ranks of neighbours are, relatively: (of those in Y, of those in X).

        mean over i of  Σ_{j in M_k(i)} |ρ_ij − r_ij| / r_ij / C   (intruders weigh in)
        mean over i of  Σ_{j in N_k(i)} |ρ_ij − r_ij| / ρ_ij / C   (lost ones weigh in)
        C = Σ_{m=1..k} |n − 2m + 1| / m

    0 to 1 for k < n/2; 0: every neighbour has its rank. Unlike trustworthiness they also
    see neighbours that merely changed places.

    Lee and Verleysen, Nonlinear Dimensionality Reduction (2007).
    """
    ranks = neighbor_ranks(
        X, Y, n_neighbors, metric=metric, sample=sample, random_state=random_state, n_jobs=n_jobs
    )
    return ranks.mean_relative_rank_errors(per_point=per_point)


def lcmc(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """The local continuity meta-criterion: neighbours kept beyond chance.

        t_similarity(k) − k/(n−1),   −k/(n−1) to 1 − k/(n−1); 0: no better than chance

    Chen and Buja, "Local multidimensional scaling" (2009).
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state)
    chance = k / (x.n - 1)
    beyond = kept_share(x.nearest(k, rows)[0], y.nearest(k, rows)[0], k) - chance
    return values_or_mean(beyond, rows, x.n, (-chance, 1 - chance), per_point)


def _one_sided(
    true: Space, listed: Space, k: Any, per_point: bool, sample: int | None, random_state: Any
) -> float | Array:
    """1 − penalty of the ranks in `true` of the k nearest in `listed`."""
    n = true.n
    k = neighbor_count(k, n)
    check_half(k, n)
    rows = drawn_rows(n, sample, random_state)
    values = kept_ranks(true.ranks(listed.nearest(k, rows)[0], rows), k, n)
    return values_or_mean(values, rows, n, (0.0, 1.0), per_point)
