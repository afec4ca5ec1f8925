"""Two penalties for functions that are not linear on the local tangent planes.

Each neighbourhood gives a few rows; stacked they are a sparse F, and vᵀFᵀFv is the sum
of the penalties of all neighbourhoods. FᵀF itself is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.graph.graph import Lists
from dualfold.weights.batches import batches, offsets, stacked_rows


def tangent_alignment(X: Any, lists: Lists, *, n_components: int) -> sp.csr_array:
    """F whose rows span, for each list, what no affine function of the tangent gives.

    With Θ the k×d local tangent coordinates (the leading left singular vectors of the
    centred neighbours), the rows of one list are an orthonormal basis of the complement
    of [1 Θ]: ‖F_i v‖² is the squared distance of v, on the list, from the affine
    functions of Θ. k − d − 1 rows a list.
    """
    return _stacked_for_lists(
        X, lists, lambda around: _orthogonal_complement(_affine_functions(around, n_components))
    )


def tangent_hessian(X: Any, lists: Lists, *, n_components: int) -> sp.csr_array:
    """F whose rows estimate, for each list, the second derivatives of a function.

    The products of any two tangent coordinates, made orthogonal to [1 Θ] and to one
    another (Gram–Schmidt, by QR): d(d+1)/2 rows a list, which vanish on affine functions.
    """
    a, b = np.triu_indices(n_components)

    def rows(around: Array) -> Array:
        affine = _affine_functions(around, n_components)
        tangent = affine[:, :, 1:]
        functions = np.concatenate([affine, tangent[:, :, a] * tangent[:, :, b]], axis=2)
        return np.linalg.qr(functions)[0][:, :, n_components + 1 :].transpose(0, 2, 1)

    return _stacked_for_lists(X, lists, rows)


def _affine_functions(around: Array, n_components: int) -> Array:
    """[1/√k Θ]: an orthonormal basis of the affine functions on each tangent plane."""
    count, width = around.shape[1:]
    constant = np.full((len(around), count, 1), 1 / np.sqrt(count))
    if width < count:
        tangent = np.linalg.svd(around, full_matrices=False)[0][:, :, :n_components]
    else:
        # Squares lose half the digits of the small singular values, not the large ones.
        gram = around @ around.transpose(0, 2, 1)
        tangent = np.linalg.eigh(gram)[1][:, :, : -n_components - 1 : -1]
    return np.concatenate([constant, tangent], axis=2)


def _orthogonal_complement(functions: Array) -> Array:
    """Orthonormal rows orthogonal to the given columns, for each of a batch."""
    Q = np.linalg.qr(functions, mode="complete")[0]
    return np.asarray(Q[:, :, functions.shape[2] :].transpose(0, 2, 1))


def _stacked_for_lists(X: Any, lists: Lists, rows_of: Callable[[Array], Array]) -> sp.csr_array:
    def parts() -> Iterable[tuple[Array, Array]]:
        for _, places in batches(lists, X.shape[1]):
            neighbors = lists.indices[places]
            entries = rows_of(offsets(X, neighbors))
            yield entries, np.broadcast_to(neighbors[:, None], entries.shape)

    return stacked_rows(parts(), len(lists))
