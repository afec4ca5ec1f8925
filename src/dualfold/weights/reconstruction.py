"""LLE's weights: each point as an affine combination of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.graph.graph import Lists

Array = np.ndarray[Any, np.dtype[Any]]

# Numbers in one batch of neighbourhoods, 64 MB of doubles: enough to keep LAPACK's
# batches busy, small against any data that needs batching.
BATCH = 2**23


def reconstruction_weights(X: Any, lists: Lists, *, ridge: float = 1e-3) -> sp.csr_array:
    """W minimising Σ_i ‖x_i − Σ_j w_ij x_j‖² with Σ_j w_ij = 1 over i's list.

    From the local Gram matrices G with `ridge`·trace(G) added to their diagonal
    (`ridge` itself where the trace is 0: only duplicates around). Rows of any length;
    a point without neighbours keeps an empty row.
    """
    n = len(lists)
    weights = np.empty(len(lists.indices))
    counts = lists.counts
    for count in np.unique(counts[counts > 0]):
        owners = np.flatnonzero(counts == count)
        batch = max(1, BATCH // (int(count) * (X.shape[1] + int(count))))
        for start in range(0, len(owners), batch):
            rows = owners[start : start + batch]
            places = lists.indptr[rows][:, None] + np.arange(count)
            weights[places] = _affine_weights(X, rows, lists.indices[places], ridge)
    return sp.csr_array((weights, lists.indices, lists.indptr), shape=(n, n))


def reconstruction_error(W: sp.csr_array) -> Callable[[Array], Array]:
    """Z ↦ (I − W)ᵀ(I − W)Z, the square never formed."""
    M = sp.csr_array(sp.eye_array(W.shape[0], format="csr") - W)
    transposed = M.T.tocsr()
    return lambda Z: np.asarray(transposed @ (M @ Z))


def _affine_weights(X: Any, rows: Array, neighbors: Array, ridge: float) -> Array:
    """The weights of a batch of points, one row each, adding up to 1."""
    count = neighbors.shape[1]
    offsets = _rows(X, neighbors.ravel()).reshape(*neighbors.shape, -1) - _rows(X, rows)[:, None]
    gram = offsets @ offsets.transpose(0, 2, 1)
    trace = np.einsum("bii->b", gram)
    gram[:, np.arange(count), np.arange(count)] += np.where(trace > 0, ridge * trace, ridge)[
        :, None
    ]
    solved = np.linalg.solve(gram, np.ones((len(rows), count, 1)))[..., 0]
    return np.asarray(solved / solved.sum(axis=1, keepdims=True))


def _rows(X: Any, rows: Array) -> Array:
    if sp.issparse(X):
        return np.asarray(X[rows].toarray(), dtype=float)
    picked = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return np.asarray(picked, dtype=float)
