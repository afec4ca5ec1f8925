"""Are new rows like the old ones? A conformal p-value for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest

__all__ = ["conformal_p_values"]


def conformal_p_values(
    old: Any,
    new: Any,
    *,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    n_jobs: int | None = None,
) -> Array:
    """For each new row: how seldom an old row lies as far out as it does, 1/(n+1) to 1.

        a(x) = d_k(x) / mean of d_k over the k nearest old rows of x
        p(x) = (1 + number of old rows i with a(i) ≥ a(x)) / (n + 1)

    d_k is the distance to the k-th nearest old row (of an old row: among the others). The ratio is
    local: far out of a dense group counts, though another group may be thinner. New rows drawn as
    the old ones were have p ≤ 0.05 about once in 20 times, whatever the distribution, because
    then all n + 1 rows are exchangeable. Nearly: the neighbours of an old row know that row and so
    have a shorter reach, which makes p-values in few dimensions somewhat too large.

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
    among = nearest(old, n_neighbors, metric=metric, n_jobs=n_jobs)
    found = nearest(old, n_neighbors, queries=new, metric=metric, n_jobs=n_jobs)
    reach = among.distances[:, -1]
    # Repeated rows have a reach of 0: what is next to them counts as near only if it is one, too.
    least = 1e-9 * float(reach.max(initial=0.0)) or 1.0
    scores = [
        lists.distances[:, -1] / np.maximum(reach[lists.indices].mean(axis=1), least)
        for lists in (among, found)
    ]
    below = np.searchsorted(np.sort(scores[0]), scores[1], side="left")
    return np.asarray((1 + n - below) / (n + 1))
