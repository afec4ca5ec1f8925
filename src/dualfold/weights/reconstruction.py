"""LLE's weights: each point as an affine combination of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.graph import Lists
from dualfold.weights.batches import batches, offsets


def reconstruction_weights(X: Any, lists: Lists, *, ridge: float = 1e-3) -> sp.csr_array:
    """W minimising Σ_i ‖x_i − Σ_j w_ij x_j‖² with Σ_j w_ij = 1 over i's list.

    From the local Gram matrices G with `ridge`·trace(G) added to their diagonal
    (`ridge` itself where the trace is 0: only duplicates around). Rows of any length;
    a point without neighbours keeps an empty row.
    """
    n = len(lists)
    weights = np.empty(len(lists.indices))
    for rows, places in batches(lists, X.shape[1]):
        weights[places] = affine_weights(offsets(X, lists.indices[places], rows), ridge)
    return sp.csr_array((weights, lists.indices, lists.indptr), shape=(n, n))


def reconstruction_error(W: sp.csr_array) -> Callable[[Array], Array]:
    """Z ↦ (I − W)ᵀ(I − W)Z, the square never formed."""
    M = sp.csr_array(sp.eye_array(W.shape[0], format="csr") - W)
    transposed = M.T.tocsr()
    return lambda Z: np.asarray(transposed @ (M @ Z))


def affine_weights(around: Array, ridge: float) -> Array:
    """For each batch entry the weights, adding up to 1, that bring Σ w_j·offset_j nearest 0.

    `around` holds offsets of neighbours from a point: batch × neighbours × features.
    """
    return gram_weights(around @ around.transpose(0, 2, 1), ridge)


def gram_weights(gram: Array, ridge: float) -> Array:
    """The same from the Gram matrices of the offsets: batch × neighbours × neighbours."""
    count = gram.shape[1]
    trace = np.einsum("bii->b", gram)
    diagonal = np.arange(count)
    gram[:, diagonal, diagonal] += np.where(trace > 0, ridge * trace, ridge)[:, None]
    try:
        solved = np.linalg.solve(gram, np.ones((len(gram), count, 1)))[..., 0]
    except np.linalg.LinAlgError as error:
        raise InvalidInput(
            Argument("reg"),
            f" is {ridge:g}, and some neighbourhoods have more neighbours than dimensions, so that "
            "many weights are equally good; give a share above 0, as ",
            Argument("reg", 0.001),
        ) from error
    return np.asarray(solved / solved.sum(axis=1, keepdims=True))
