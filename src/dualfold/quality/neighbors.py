"""Measures that compare neighbourhoods before (X) and after (Y).

ρ_ij is the rank of j among the points around i in X, r_ij that in Y, both from 1 and by
(distance, index); N_k(i) are the k nearest of i in X, M_k(i) those in Y.
"""

from __future__ import annotations

from typing import Any

from dualfold.arrays import Array
from dualfold.quality.estimate import drawn_rows, values_or_mean
from dualfold.quality.ranks import (
    both_spaces,
    check_half,
    kept_ranks,
    kept_share,
    neighbor_count,
    neighbor_ranks,
)
from dualfold.quality.space import Space

__all__ = [
    "continuity",
    "lcmc",
    "mean_relative_rank_errors",
    "t_similarity",
    "trustworthiness",
]


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
