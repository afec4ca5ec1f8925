"""Measures that compare neighbourhoods before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.graph.neighbors import nearest

Array = np.ndarray[Any, np.dtype[Any]]


def t_similarity(
    X: Any, Y: Any, t: int = 10, *, metric: Any = "euclidean", per_point: bool = False
) -> float | Array:
    """The share of each point's t nearest neighbours in X that it keeps in Y.

    The mean over all points (1: every neighbour kept), or one number a point. Both
    neighbour searches are exact, with ties broken by index. Memory is O(n·t).

    Tucker, "Dimensionality reduction and the Fenchel game", §2.
    """
    if X.shape[0] != np.shape(Y)[0]:
        raise InvalidInput(
            f"X has {X.shape[0]} rows and Y has {np.shape(Y)[0]}; they must be the same points"
        )
    before = nearest(X, t, metric=metric).indices
    after = nearest(np.asarray(Y), t).indices
    # Two lists of t distinct numbers share as many as their sorted union repeats.
    together = np.sort(np.hstack([before, after]), axis=1)
    kept = np.count_nonzero(together[:, 1:] == together[:, :-1], axis=1) / t
    return kept if per_point else float(kept.mean())
