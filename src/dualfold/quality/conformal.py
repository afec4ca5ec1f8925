"""Are new rows like the old ones? A conformal p-value for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest


def conformal_p_values(
    old: Any,
    new: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    n_jobs: int | None = None,
) -> Array:
    """For each new row the share of old rows that lie as far out as it does, 1/(n+1) to 1.

        a(x) = d_k(x) / mean of d_k over the k nearest old rows of x
        p(x) = (1 + number of old rows i with a(i) ≥ a(x)) / (n + 1)

    d_k is the distance to the k-th nearest old row (of an old row: among the others). The ratio is
    local: a row outside of a dense group counts as far, though another group may be sparser. New
    rows drawn as the old ones were have p ≤ 0.05 about once in 20 times, whatever the distribution,
    because then all n + 1 rows are exchangeable. This is approximate: an old row is among the
    neighbours of its neighbours, whose d_k is shorter for that, and p-values in few dimensions are
    somewhat too large.

    old, new : tables with the same columns; n_neighbors : k
    metric : as for `graph.nearest`; n_jobs : threads (None: all cores)

    Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World* (2005), chapter 2; the
    ratio is that of Breunig, Kriegel, Ng and Sander, "LOF" (2000), without its smoothing.

    >>> import numpy as np
    >>> old = np.random.default_rng(0).normal(size=(199, 2))
    >>> p = conformal_p_values(old, np.array([[0.0, 0.0], [9.0, 9.0]]))
    >>> p[0] > 0.05, float(p[1])
    (np.True_, 0.005)
    """
    n = old.shape[0]
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
    return np.asarray((1 + n - below) / (n + 1))
