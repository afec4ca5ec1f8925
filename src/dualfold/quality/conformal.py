"""Are new rows like the old ones? A conformal p-value for each, and its distance from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.graph.number_rows import as_array

# Old rows whose distances from one another say what their spread is.
MAX_SPREAD_ROWS = 200


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """New rows against old ones.

    p_values : conformal, one for each new row
    distances : of each new row from its nearest old row, in spreads; infinite where the old rows
        are all equal and this one differs
    old_distance : the longest distance of an old row from its nearest other one, in spreads

    A spread is the median distance between two old rows that differ, among at most 200 of them;
    where these are all equal, of the others from them.
    """

    p_values: Array
    distances: Array
    old_distance: float


def conformal_p_values(
    old: Any,
    new: Any,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> Array:
    """Conformal p-values of new rows: the share of old rows that lie as far out.

    ::

        a(x) = d_k(x) / mean of d_k over the k nearest old rows of x
        p(x) = (1 + number of old rows i with a(i) ≥ a(x)) / (n + 1)

    d_k is the distance to the k-th nearest old row (of an old row: among the others). The ratio is
    local: a row outside of a dense group counts as far, though another group may be sparser.

    Parameters
    ----------
    old : array-like or sparse matrix of shape (n_samples, n_features)
        Rows that a map was made of.
    new : array-like or sparse matrix of shape (n_new, n_features)
        Rows to compare with them, with the same columns.
    n_neighbors : int ≥ 1, default=5
        Number k of neighbours; fewer than old rows.
    metric : str or callable, default="euclidean"
        Metric of the rows, as in `dualfold.graph.nearest`.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_new,)
        A p-value for each new row, from 1/(n + 1) to 1. Small: few old rows lie as far out.

    Raises
    ------
    InvalidInput
        If `n_neighbors` is not from 1 to n − 1, or columns differ.

    Notes
    -----
    The p-values assume exchangeable rows: a new row that was drawn as the old ones were has p ≤
    0.05 at most about once in 20 times, whatever the distribution. They say nothing about rows of
    another time or place, for which every p-value may be small or large. No p-value is below 1/(n +
    1): with 18 old rows or fewer, none says that a row is foreign. The level is approximate. An old
    row is among the neighbours of its neighbours, which makes their d_k shorter, and p-values in
    few dimensions are somewhat too large (docs/calibration.md).

    References
    ----------
    .. [1] V. Vovk, A. Gammerman and G. Shafer, *Algorithmic Learning in a Random World*, chapter 2,
       Springer, 2005.
    .. [2] M. M. Breunig, H.-P. Kriegel, R. T. Ng and J. Sander, "LOF: identifying density-based
       local outliers", ACM SIGMOD, 93–104, 2000. The ratio a(x) is theirs without smoothing.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import conformal_p_values
    >>> old = np.random.default_rng(0).normal(size=(199, 2))
    >>> p = conformal_p_values(old, np.array([[0.0, 0.0], [9.0, 9.0]]))
    >>> p[0] > 0.05, float(p[1])
    (np.True_, 0.005)
    """
    return compared_rows(old, new, n_neighbors=n_neighbors, metric=metric, n_jobs=n_jobs).p_values


def compared_rows(
    old: Any,
    new: Any,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> ComparedRows:
    """The p-values of `conformal_p_values`, and how far each new row is in spreads of the old."""
    old = old if sp.issparse(old) else as_array(old, "old")
    n = old.shape[0] if old.ndim else 0
    if not 1 <= n_neighbors < n:
        raise InvalidInput(
            Argument("n_neighbors", n_neighbors),
            f" must be from 1 to {n - 1}, fewer than the {n} old rows",
        )
    lists_of_old = nearest(old, n_neighbors, metric=metric, n_jobs=n_jobs)
    lists_of_new = nearest(old, n_neighbors, queries=new, metric=metric, n_jobs=n_jobs)
    radius = lists_of_old.distances[:, -1]
    # Duplicates have d_k = 0: a row next to them counts as near only if it is one, too.
    least = 1e-9 * float(radius.max(initial=0.0)) or 1.0
    scores = [
        lists.distances[:, -1] / np.maximum(radius[lists.indices].mean(axis=1), least)
        for lists in (lists_of_old, lists_of_new)
    ]
    below = np.searchsorted(np.sort(scores[0]), scores[1], side="left")
    spread = _median_distance(old, metric, n_jobs)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances, from_old = (
            np.nan_to_num(lists.distances[:, 0] / spread, nan=0.0, posinf=np.inf)
            for lists in (lists_of_new, lists_of_old)
        )
    return ComparedRows(np.asarray((1 + n - below) / (n + 1)), distances, float(from_old.max()))


def _median_distance(old: Any, metric: Metric, n_jobs: int | None) -> float:
    """The median distance between two old rows that differ; 0 if none do."""
    n = old.shape[0]
    rows = np.random.default_rng(0).permutation(n)[:MAX_SPREAD_ROWS]
    pairs = nearest(old[np.sort(rows)], len(rows) - 1, metric=metric, n_jobs=n_jobs).distances
    if len(rows) < n and not (pairs > 0).any():  # rows that differ are rare: all, from one of these
        pairs = nearest(old[rows[:1]], 1, queries=old, metric=metric, n_jobs=n_jobs).distances
    return float(np.median(pairs[pairs > 0])) if (pairs > 0).any() else 0.0
