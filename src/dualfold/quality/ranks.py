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
from dualfold.quality.space import EuclideanSpace, Space, space_of

__all__ = ["NeighborRanks", "both_spaces", "neighbor_count", "neighbor_ranks"]


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


def both_spaces(X: Any, Y: Any, metric: Any, n_jobs: int | None) -> tuple[Space, EuclideanSpace]:
    """X with its metric and Y as a Euclidean map, checked to be as many points."""
    x = space_of(X, metric, n_jobs)
    y = Y if isinstance(Y, EuclideanSpace) else EuclideanSpace(Y, n_jobs, "Y")
    if x.n != y.n:
        raise InvalidInput(
            Argument("X"),
            f" has {x.n} rows and ",
            Argument("Y"),
            f" has {y.n}; they must be the same points, as many embedded points as there are rows",
        )
    return x, y


def neighbor_count(k: Any, n: int) -> int:
    """k, if there are as many other points."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < n:
        raise InvalidInput(
            Argument("n_neighbors"),
            f" must be a whole number from 1 to {n - 1} for {n} points; it is {k!r}",
        )
    return int(k)


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
